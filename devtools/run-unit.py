#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a unit test, and again what failed while a CPU stalled.

usage: run-unit.py PROGRAM [ARG...]

Some tests are of limits of a second, as that after which a PF is stuck: where the machine
stands still for longer, they tell nothing.
"""

import signal
import subprocess
import sys
import tempfile

from pulse import Pulse

STALL = 0.5  # seconds without a CPU, half of the least of those limits


def all_of(output):
    """What is in a file."""
    output.seek(0)
    return output.read()


def run_once(words):
    """Its status and all that it printed, which is shown if it takes too long for Meson."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            done = subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, check=False)
        except SystemExit:
            print(all_of(output), end="", flush=True)
            raise
        return done.returncode, all_of(output)


def main(*words):
    """The status of its last run, which is what it was in a machine that works."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    pulse = Pulse(STALL)
    status, said = pulse.repeat(lambda: run_once(words))
    pulse.stop()
    print(said, end="", flush=True)
    # of a program that was killed, as a shell says it
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
