# SPDX-License-Identifier: BSD-3-Clause
"""octo-bench: what it is started with, and what it says."""

import os
import subprocess

import pytest

from . import env


def start(*args: object, **environ: str) -> subprocess.Popen:
    """The program while it runs; without it the test is skipped."""
    binary = env.find_built("octo-bench")
    if binary is None:
        pytest.skip("octo-bench is not built")
    return subprocess.Popen([binary, *map(str, args)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, **environ, "RUNTIME_DIRECTORY":
                                 str(env.runtime_base())})


def run(*args: object, **environ: str) -> subprocess.CompletedProcess:
    """The program when it is done."""
    with start(*args, **environ) as running:
        try:
            out, err = running.communicate(timeout=env.seconds(120))
        except subprocess.TimeoutExpired:
            running.kill()
            raise
    return subprocess.CompletedProcess(running.args, running.returncode,
                                       out, err)


def refusal(*args: object, **environ: str) -> str:
    """The one line that it says when it is used wrongly."""
    done = run(*args, **environ)
    assert done.returncode == 1 and done.stdout == "", done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr
