# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of devtools/ that a signal ends: they give back what they took."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

# echo writes, as the kernel's file is written that adds pages, and then waits, once.
RESERVE = """
set -euo pipefail
. "$1/devtools/bench.sh"
nr_hugepages=$2 fifo=$3
echo() {
	builtin echo "$@"
	[ -e "$fifo.read" ] || { : >"$fifo.read"; read -r _ <"$fifo"; }
}
reserve_hugepages 3
"""

FUZZ = """
set -euo pipefail
root=$1 build=$2
. "$1/devtools/common.sh"
. "$1/devtools/fuzz.sh"
prepare_fuzz() {
	build_dir=$build
}
fuzz_command flow
"""

FAKE_FUZZ_FLOW = """#!/bin/sh
: >"$RUNTIME_DIRECTORY/file"
exec cat "{fifo}"
"""


def _default_signals():
    """Bash leaves ignored what is ignored when it starts, as ^C is in a job in the background."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _signalled(number: int, fifo: Path, script: str, *args: object, **environ: str) -> int:
    """Run by bash; all of its session get the signal once the fifo is read. The exit code."""
    with subprocess.Popen(["bash", "-c", script, "bash", *map(str, args)], start_new_session=True,
                          preexec_fn=_default_signals, env={**os.environ, **environ}) as running:
        try:
            while True:
                with contextlib.suppress(OSError):  # nobody has opened it
                    writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
                    break
                assert running.poll() is None
                time.sleep(0.01)
            os.killpg(running.pid, number)
            running.wait(env.seconds(30))
            os.close(writer)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    return running.returncode


@pytest.fixture(name="fifo")
def _fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_bench_gives_hugepages_back(tmp_path, fifo, number):
    """Also those that were added before the signal, but not yet counted."""
    pages = tmp_path / "nr_hugepages"
    pages.write_text("5\n")
    assert _signalled(number, fifo, RESERVE, env.REPO, pages, fifo) != 0
    assert pages.read_text() == "5\n"


def test_fuzz_leaves_no_directory(tmp_path, fifo):
    """^C ends the targets, and then their runtime directories are removed."""
    program = tmp_path / "build/test/fuzz/fuzz_flow"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE_FUZZ_FLOW.format(fifo=fifo))
    program.chmod(0o755)
    place = tmp_path / "tmp"
    place.mkdir()
    assert _signalled(signal.SIGINT, fifo, FUZZ, env.REPO, tmp_path / "build", TMPDIR=str(place))
    assert not list(place.iterdir())
