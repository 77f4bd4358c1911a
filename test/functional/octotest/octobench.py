# SPDX-License-Identifier: BSD-3-Clause
"""octo-bench: what it is started with, and what it says."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from . import cores, env
from .sanitizer import Sanitizer


def program() -> Path:
    """Its file; without it the test is skipped."""
    binary = env.find_built("octo-bench")
    if binary is None:
        pytest.skip("octo-bench is not built")
    return binary


def start(*args: object, session: bool = False, **environ: str) -> subprocess.Popen:
    """The program while it runs, in a session of its own or not; skips the test without it."""
    binary = program()
    return subprocess.Popen([binary, *map(str, args)], text=True, start_new_session=session,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, **environ, "RUNTIME_DIRECTORY":
                                 str(env.runtime_base())})


def run(*args: object, **environ: str) -> subprocess.CompletedProcess:
    """The program when it is done; what its libraries leak is not its affair."""
    sanitizer = Sanitizer()
    with start(*args, **{**sanitizer.environment(), **environ}) as running:
        try:
            out, err = running.communicate(timeout=env.seconds(120))
        except subprocess.TimeoutExpired:
            running.kill()
            sanitizer.discard()
            raise
    complaints = sanitizer.complaints()
    assert not complaints, "\n".join(complaints)
    return subprocess.CompletedProcess(running.args, running.returncode,
                                       out, err)


def interrupt(*args: object, processes: int = 0) -> subprocess.CompletedProcess:
    """^C as by a terminal, when its first case and as many processes of its own have begun."""
    with start(*args, session=True) as running:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        try:
            assert any(line.startswith("==> ") for line in running.stderr)
            while processes and len(children.read_text().split()) < processes:
                assert running.poll() is None
                time.sleep(0.01)
            os.killpg(running.pid, signal.SIGINT)
            out, err = running.communicate(timeout=env.seconds(60))
        except BaseException:
            os.killpg(running.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(running.args, running.returncode, out, err)


def run_until_crash(*args: object, limit: float) -> str:
    """Run it where core files are kept; what it said if it failed, and where it crashed."""
    binary = program()
    with cores.directory() as path:
        # it may crash in a process of its own, and exits as if nothing had happened
        done = subprocess.run([binary, *map(str, args)], text=True, cwd=path, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, preexec_fn=cores.wanted,
                              timeout=env.seconds(limit),
                              env={**os.environ, "RUNTIME_DIRECTORY":
                                   str(env.runtime_base())})
        crashes = cores.report(path, binary)
    if done.returncode != 0 or (cores.are_found() and crashes):
        return f"exit code {done.returncode}\n{done.stdout}\n{crashes}"
    return ""


def refusal(*args: object, **environ: str) -> str:
    """The one line that it says when it is used wrongly."""
    done = run(*args, **environ)
    assert done.returncode == 2 and done.stdout == "", done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr
