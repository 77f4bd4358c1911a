#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a unit test, and again what failed while a CPU stalled.

usage: run-unit.py PROGRAM [ARG...]

Some tests are of limits of a second, as that after which a PF is stuck: where the machine
stands still for longer, they tell nothing.
"""

import subprocess
import sys
import textwrap
import time

from pulse import Pulse

TRIES = 3
STALL = 0.5  # seconds without a CPU, half of the least of those limits


def main(program, *args):
    """The status of its last run; what was said before is told apart, as it does not count."""
    pulse = Pulse(STALL)
    for left in reversed(range(TRIES)):
        begin = time.monotonic()
        done = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False)
        stall = pulse.since(begin) if done.returncode != 0 and left > 0 else ""
        if not stall:
            break
        print(textwrap.indent(done.stdout, "| ") + f"{stall} meanwhile: once more", flush=True)
    pulse.stop()
    print(done.stdout, end="", flush=True)
    # of a program that was killed, as a shell says it
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
