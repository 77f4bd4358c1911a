# SPDX-License-Identifier: BSD-3-Clause
"""How the tests are run: what fails while a CPU stalls is run again, and nothing else is."""

import subprocess
import sys

from octotest import env

# Stops what looks after a CPU, as a CPU that stalls would.
STALL = """
import os, signal, sys, time
from pathlib import Path

def beat():  # one that beats already
    mine = str(os.getppid())
    while True:
        for task in Path("/proc").glob("[0-9]*"):
            try:
                words = (task / "stat").read_text().rpartition(") ")[2].split()
                if words[1] == mine and "heartbeat.py" in (task / "cmdline").read_text() \\
                        and words[0] == "S" and len(os.sched_getaffinity(int(task.name))) == 1:
                    return int(task.name)
            except OSError:
                pass

def stall(seconds):
    pulse = beat()
    os.kill(pulse, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pulse, signal.SIGCONT)
"""

# Fails the first time.
STALLS = STALL + """
def test_once():
    first = Path("{seen}")
    if not first.exists():
        first.touch()
        stall(7)
        assert False, "there was no time"
"""

UNIT = STALL + """
first = Path("{seen}")
if not first.exists():
    first.touch()
    stall(1)
    sys.exit("FAILED")
print("PASSED")
"""

FAILS = """
def test_always():
    assert False, "it is wrong"
"""


def _run(directory, **files):
    for name, text in files.items():
        (directory / f"test_{name}.py").write_text(text)
    result = directory / "result.xml"
    done = subprocess.run(
        [sys.executable, env.REPO / "devtools/run-tests.py", "2", result, directory,
         "-p", "no:cacheprovider"], cwd=directory, stdout=subprocess.PIPE, text=True, check=False, timeout=300)
    return done, result.read_text()


def test_what_fails_in_a_stall_is_run_again(tmp_path):
    """And counts as it went then; what was said before is told apart."""
    done, result = _run(tmp_path, stalls=STALLS.format(seen=tmp_path / "seen"))
    assert done.returncode == 0, done.stdout
    assert 'tests="1"' in result and 'failures="0"' in result
    assert "| FAILED" in done.stdout and "\nFAILED" not in done.stdout
    assert "s meanwhile: once more" in done.stdout


def test_what_fails_without_a_stall_has_failed(tmp_path):
    """At once."""
    done, result = _run(tmp_path, fails=FAILS)
    assert done.returncode == 1
    assert 'tests="1"' in result and 'failures="1"' in result
    assert done.stdout.count("--- test_fails.py") == 1
    assert "once more" not in done.stdout


def _run_unit(*words):
    return subprocess.run([env.REPO / "devtools/run-unit.py", *words], stdout=subprocess.PIPE,
                          text=True, check=False, timeout=100)


def test_a_unit_test_that_fails_in_a_stall_is_run_again(tmp_path):
    """Of what it says, only the last counts."""
    done = _run_unit(sys.executable, "-c", UNIT.format(seen=tmp_path / "seen"))
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("| FAILED\n") and done.stdout.endswith("\nPASSED\n")


def test_a_unit_test_that_fails_without_a_stall_has_failed():
    """Whether it says so or is killed."""
    assert _run_unit("false").returncode == 1
    assert _run_unit("sh", "-c", "kill -SEGV $$").returncode == 128 + 11


def test_a_unit_test_that_is_ended_has_told_what_it_was_at():
    """Meson ends it when it takes too long."""
    done = subprocess.run(["timeout", "5", env.REPO / "devtools/run-unit.py", "sh", "-c",
                           "echo at it; exec sleep 99"],
                          stdout=subprocess.PIPE, text=True, check=False, timeout=100)
    assert done.stdout == "at it\n"
