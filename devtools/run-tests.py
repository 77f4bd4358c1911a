#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run files of pytest tests, some at a time: they wait for most of the time.

usage: run-tests.py JOBS RESULT.xml DIRECTORY [ARG...]

Each file is a pytest of its own, given ARG..., and is shown when it has ended.
RESULT.xml has the results of all of them. Root gives each a network of its own.

What fails while a CPU lets nobody run but one busy thread, for seconds, as some kernels do
now and then, has told nothing of what it tests: it is run again.
"""

import os
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pulse import Pulse

COUNTS = ("errors", "failures", "skipped", "tests")
NO_TEST = 5  # pytest's status when nothing was selected

# net_af_packet hears all interfaces until it is bound to one: also those of others' tests
OWN_NETWORK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]

STALL = 5  # seconds without a CPU, a fraction of what any test waits for

_printing = threading.Lock()


def run_once(path, xml, args):
    """One file; what failed, by name, and all that it printed."""
    done = subprocess.run(
        [*(OWN_NETWORK if os.geteuid() == 0 else []), sys.executable, "-m", "pytest", "-q", f"--junitxml={xml}", path, *args],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", check=False)
    bad = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if done.returncode not in (0, NO_TEST) and not bad:
        bad = [f"ERROR {path}: pytest ended with {done.returncode}"]
    return bad, done.stdout


def run(path, xml, args, pulse):
    """The same, in a machine that works; what failed."""
    bad, said = pulse.repeat(lambda: run_once(path, xml, args))
    with _printing:
        print(f"--- {path.name}\n{said}", flush=True)
    return bad


def merge(parts, result):
    """One suite of all that were written."""
    suite = ElementTree.Element("testsuite", name="pytest", **dict.fromkeys(COUNTS, "0"))
    for part in filter(Path.exists, parts):
        for one in ElementTree.parse(part).iter("testsuite"):
            for count in COUNTS:
                suite.set(count, str(int(suite.get(count)) + int(one.get(count))))
            suite.extend(one)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.ElementTree(root).write(result, encoding="utf-8", xml_declaration=True)


def main(jobs, result, directory, *args):
    """0 if no test failed."""
    # names that come late are of tests with traffic, which take long: those first
    paths = sorted(Path(directory).glob("test_*.py"), reverse=True)
    with tempfile.TemporaryDirectory(prefix="octo-tests-") as base, \
            ThreadPoolExecutor(int(jobs)) as pool:
        parts = [Path(base, f"{path.stem}.xml") for path in paths]
        pulse = Pulse(STALL)
        bad = sum(pool.map(lambda pair: run(*pair, args, pulse), zip(paths, parts)), [])
        pulse.stop()
        merge(parts, result)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
