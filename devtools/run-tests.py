#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run pytest tests of processes, and once more those that the machine itself made fail.

usage: run-tests.py JOBS RESULT.xml DIRECTORY [ARG...]

With more than one job each file is a pytest of its own, given ARG..., and is shown when it
has ended; root gives each a network and mounts of its own. With one job the directory is one pytest,
which is shown as it goes. RESULT.xml has the results of all of them, and in "reruns" how
many were run again.

A pytest is run again, three times in all at most, if it failed and a stall of the machine was
measured meanwhile: a CPU had no time for a thread of normal priority for seconds (see
heartbeat.py), a thread that was ready to run got no CPU, or a virtual CPU no more timer ticks
(the pytest ends with status 75 then, and says which: see the two conftest.py). Any other
failure is final.

A file has OCTO_TEST_FILE_SECONDS at most, 1200 if not set. Then its pytest is ended with all that
it started, after a look for threads that are ready to run and get no CPU; it has failed.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pulse import Pulse

sys.path.append(str(Path(__file__).resolve().parents[1] / "test/functional"))

from octotest import env, threads  # noqa: E402

COUNTS = ("errors", "failures", "skipped", "tests")
NO_TEST = 5  # pytest's status when nothing was selected

# net_af_packet hears all interfaces until it is bound to one, also those of tests beside it,
# and EAL uses any hugetlbfs that it finds mounted
OWN_NETWORK = ["unshare", "--net", "--mount", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]

STALL = 5  # seconds without a CPU, a fraction of what any test waits for
TRIES = 3
LIMIT = float(os.environ.get("OCTO_TEST_FILE_SECONDS", "1200"))  # four times the slowest, or more
MARK = "OCTO_TEST_RUN"  # in the environment of all that a pytest starts

_printing = threading.Lock()


class Run:
    """One pytest, of a file or of a directory."""

    def __init__(self, path, xml, args, live):
        self.path, self.xml, self.reruns, self.bad = path, xml, 0, []
        own_network = OWN_NETWORK if os.geteuid() == 0 and not live else []
        files = len(list(path.glob("test_*.py"))) if path.is_dir() else 1
        self._limit = LIMIT * files
        self._starved = ""  # threads without a CPU when it was given up
        self._mark = f"{os.environ.get(MARK, '')}/{os.getpid()}-{path.name}"
        self._argv = [*own_network, sys.executable, "-m", "pytest", *([] if live else ["-q"]),
                      f"--junitxml={xml}", path, *args]
        self._live = live

    def _once(self):
        """Its status and all that it printed."""
        said = []
        self._starved = ""
        self.xml.unlink(missing_ok=True)
        timer = threading.Timer(self._limit, self._give_up, [said])
        timer.start()
        with subprocess.Popen(self._argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              env={**os.environ, MARK: self._mark}, stderr=subprocess.STDOUT,
                              text=True, errors="replace") as child:
            for line in child.stdout:
                said.append(line)
                if self._live:
                    print(line, end="", flush=True)
        timer.cancel()
        return child.returncode, "".join(said)

    def _processes(self):
        """The pytest and what it started, orphans too."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self._mark}".encode() in (process / "environ").read_bytes():
                    yield int(process.name)
            except OSError:  # it has ended, or is not ours
                pass

    def _give_up(self, said):
        """Tell why, and end them all, also what they start meanwhile."""
        said.append(f"ERROR {self.path}: more than {self._limit:.0f} s\n")
        self._starved = ", ".join(filter(None, map(threads.starved, self._processes())))
        for _ in range(600):  # one that waits for a device does not end at once
            pids = list(self._processes())
            if not pids:
                break
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def _failures(self, status, said):
        """What failed, by name."""
        bad = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if status not in (0, NO_TEST) and not bad:
            bad = [f"ERROR {self.path}: pytest ended with {status}"]
        return bad

    def __call__(self, pulse):
        """Until no stall of the machine spoils it. Earlier output is marked by "|"."""
        before = ""
        for left in reversed(range(TRIES)):
            begin = time.monotonic()
            status, said = self._once()
            self.bad = self._failures(status, said)
            stall = ""
            if self.bad and left > 0:
                stall = self._starved or self._stall(status, said, pulse, begin)
            if not stall:
                break
            self.reruns += 1
            note = f"{self.path.name} is run again: it failed, and {stall}\n"
            before += textwrap.indent(said, "| ") + note
            if self._live:
                print(note, end="", flush=True)
        if not self._live:
            with _printing:
                print(f"--- {self.path.name}\n{before}{said}", flush=True)

    @staticmethod
    def _stall(status, said, pulse, begin):
        if status == env.MACHINE_BROKE:
            return re.findall(f"{env.BROKEN}[^!\n]*|$", said)[0].strip() or env.BROKEN
        return pulse.since(begin)


def merge(runs, result):
    """One suite of all that were written."""
    suite = ElementTree.Element("testsuite", name="pytest", **dict.fromkeys(COUNTS, "0"))
    suite.set("reruns", str(sum(run.reruns for run in runs)))
    for part in (run.xml for run in runs if run.xml.exists()):
        for one in ElementTree.parse(part).iter("testsuite"):
            for count in COUNTS:
                suite.set(count, str(int(suite.get(count)) + int(one.get(count))))
            suite.extend(one)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.ElementTree(root).write(result, encoding="utf-8", xml_declaration=True)


def main(jobs, result, directory, *args):
    """0 if no test failed."""
    directory, live = Path(directory), int(jobs) == 1
    # names that come late are of tests with traffic, which take long: those first
    paths = [directory] if live else sorted(directory.glob("test_*.py"), reverse=True)
    with tempfile.TemporaryDirectory(prefix="octo-tests-") as base, \
            ThreadPoolExecutor(int(jobs)) as pool, Pulse(STALL) as pulse:
        runs = [Run(path, Path(base, f"{path.stem}.xml"), args, live) for path in paths]
        list(pool.map(lambda run: run(pulse), runs))
        merge(runs, result)
    bad = sum((run.bad for run in runs), [])
    if not live:
        print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
