#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run files of pytest tests, some at a time: they wait for most of the time.

usage: run-tests.py JOBS RESULT.xml DIRECTORY [ARG...]

Each file is a pytest of its own, given ARG..., and is shown when it has ended.
RESULT.xml has the results of all of them. Root gives each a network of its own.
"""

import os
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COUNTS = ("errors", "failures", "skipped", "tests")
NO_TEST = 5  # pytest's status when nothing was selected

# net_af_packet hears all interfaces until it is bound to one: also those of others' tests
OWN_NETWORK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]

_printing = threading.Lock()


def run(path, xml, args):
    """One file; pytest's status and the lines that name what failed."""
    done = subprocess.run(
        [*(OWN_NETWORK if os.geteuid() == 0 else []), sys.executable, "-m", "pytest", "-q", f"--junitxml={xml}", path, *args],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", check=False)
    with _printing:
        print(f"--- {path.name}\n{done.stdout}", flush=True)
    bad = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if done.returncode not in (0, NO_TEST) and not bad:
        bad = [f"ERROR {path}: pytest ended with {done.returncode}"]
    return done.returncode, bad


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
        ended = list(pool.map(lambda pair: run(*pair, args), zip(paths, parts)))
        merge(parts, result)
    bad = [line for _, lines in ended for line in lines]
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
