# SPDX-License-Identifier: BSD-3-Clause
"""How the tests are run: what fails while a CPU stalls is run again, and nothing else is."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

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

# A machine in the test stalls the first time.
BREAKS = """
import pytest
from pathlib import Path

def test_once():
    first = Path("{seen}")
    if not first.exists():
        first.touch()
        pytest.exit("the machine broke: CPU 1 is stuck", 75)
"""

# The tests' own conftest.py, which is asked what the machine did.
CONFTEST = """
import importlib.util
spec = importlib.util.spec_from_file_location("own", "PATH")
own = importlib.util.module_from_spec(spec)
spec.loader.exec_module(own)
globals().update({name: value for name, value in vars(own).items() if name[0] != "_"})
""".replace("PATH", str(env.REPO / "test/functional/conftest.py"))

# A thread of the process that is tested does not run the first time.
STARVES = """
from pathlib import Path
from octotest import threads
from octotest.process import Process

def starve(first, child):
    threads.PROC = first
    task = first / str(child.pid) / "task/1"
    task.mkdir(parents=True)
    for name, text in ("comm", "worker"), ("stat", "1 (worker) R" + 40 * " 1"), ("schedstat", "1 2 3"):
        (task / name).write_text(text)

def test_once():
    first = Path("{seen}")
    child = Process(["sleep", "99"])
    if not first.exists():
        starve(first, child)
        {fails}
"""

# What it started goes on when pytest does not, as a program of DPDK that polls.
HANGS = """
import subprocess, time

def test_that_hangs():
    left = subprocess.Popen(["setsid", "sleep", "271828"])
    time.sleep(271828)
"""

FAILS = """
def test_always():
    assert False, "it is wrong"
"""


def _run(directory, jobs=2, environ=None, **files):
    for name, text in files.items():
        (directory / f"{name if name == 'conftest' else f'test_{name}'}.py").write_text(text)
    result = directory / "result.xml"
    done = subprocess.run(
        [sys.executable, env.REPO / "devtools/run-tests.py", str(jobs), result, directory,
         "-p", "no:cacheprovider"], cwd=directory, env={**os.environ, **(environ or {})},
        stdout=subprocess.PIPE, text=True, check=False, timeout=300)
    return done, result.read_text()


# The machine's switch, and the file of those that run tests, are the test's own.
RUN = """
. {root}/devtools/autogroup.sh
autogroup={knob} autogroup_state={state}
switch_autogroups_off
echo begun
read -r _
"""


@contextlib.contextmanager
def _test_run(knob, state):
    """Somebody who runs tests until its end."""
    shell = RUN.format(root=env.REPO, knob=knob, state=state)
    with subprocess.Popen(["bash", "-eu", "-c", shell], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "begun\n"
        yield run
        run.stdin.close()
    assert run.returncode == 1  # of "read"


@pytest.mark.parametrize("before", ["0", "1"])
def test_autogroups_are_off_meanwhile(tmp_path, before):
    """Until the last run has ended, whichever began first; then as they were."""
    knob, state = tmp_path / "knob", tmp_path / "state"
    knob.write_text(f"{before}\n")
    with contextlib.ExitStack() as second:
        with _test_run(knob, state):
            assert knob.read_text() == "0\n"
            second.enter_context(_test_run(knob, state))
        assert knob.read_text() == "0\n"
    assert knob.read_text() == f"{before}\n"
    assert state.read_text() == ""


def test_autogroups_are_restored_after_a_run_that_was_killed(tmp_path):
    """By the next one."""
    knob, state = tmp_path / "knob", tmp_path / "state"
    knob.write_text("1\n")
    with contextlib.suppress(AssertionError), _test_run(knob, state) as run:
        run.kill()
    assert knob.read_text() == "0\n"
    with _test_run(knob, state):
        pass
    assert knob.read_text() == "1\n"


def test_what_fails_in_a_stall_is_run_again(tmp_path):
    """And counts as it went then; what was said before is told apart."""
    done, result = _run(tmp_path, stalls=STALLS.format(seen=tmp_path / "seen"))
    assert done.returncode == 0, done.stdout
    assert 'tests="1"' in result and 'failures="0"' in result
    assert "| FAILED" in done.stdout and "\nFAILED" not in done.stdout
    assert "test_stalls.py is run again: it failed, and CPU " in done.stdout
    assert 'reruns="1"' in result


def test_what_fails_without_a_stall_has_failed(tmp_path):
    """At once."""
    done, result = _run(tmp_path, fails=FAILS)
    assert done.returncode == 1
    assert 'tests="1"' in result and 'failures="1"' in result
    assert done.stdout.count("--- test_fails.py") == 1
    assert "run again" not in done.stdout
    assert 'reruns="0"' in result


@pytest.mark.parametrize("fails", ["assert False, 'there was no time'", "child.wait(0.1)",
                                   "child.kill(); assert False"])
def test_what_fails_without_a_cpu_is_run_again(tmp_path, fails):
    """Though CPUs live: its threads were ready to run, and did not. Whoever kills it looks."""
    done, result = _run(tmp_path, conftest=CONFTEST,
                        starves=STARVES.format(seen=tmp_path / "seen", fails=fails))
    assert done.returncode == 0, done.stdout
    assert "run again: it failed, and the machine broke: no CPU in 5 s for worker of" in done.stdout
    assert 'tests="1"' in result and 'failures="0"' in result and 'reruns="1"' in result


def test_what_fails_in_a_machine_that_stalled_is_run_again(tmp_path):
    """As one directory, which is shown as it goes."""
    done, result = _run(tmp_path, jobs=1, breaks=BREAKS.format(seen=tmp_path / "seen"))
    assert done.returncode == 0, done.stdout
    assert "is run again: it failed, and the machine broke: CPU 1 is stuck" in done.stdout
    assert 'tests="1"' in result and 'failures="0"' in result and 'reruns="1"' in result


def test_what_hangs_is_ended(tmp_path):
    """With all that it started; other files have their results, which need that time, too."""
    limit = round(env.seconds(5))
    done, result = _run(tmp_path, environ={"OCTO_TEST_FILE_SECONDS": str(limit)}, hangs=HANGS,
                        good="def test_good(): pass\n")
    assert done.returncode == 1, done.stdout
    assert f"ERROR {tmp_path}/test_hangs.py: more than {limit} s" in done.stdout
    assert "run again" not in done.stdout
    assert 'tests="1"' in result and 'failures="0"' in result
    mine = f"OCTO_TEST_RUN={os.environ.get('OCTO_TEST_RUN', '')}/"
    left = [p.name for p in Path("/proc").glob("[0-9]*")
            if "271828" in _bytes(p / "cmdline") and mine in _bytes(p / "environ")]
    assert not left


def _bytes(file):
    try:
        return file.read_bytes().decode(errors="replace")
    except OSError:
        return ""
