#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tell when a CPU had no time for a thread that wants hardly any.

usage: heartbeat.py CPU SECONDS

Prints, on a monotonic clock, from when to when it was, if that took so long. CPUs are
shared fairly: with ten busy threads on it one waits for hundredths of a second.
"""

import os
import sys
import time

PERIOD = 0.1


def main(cpu, limit):
    """Until who started it ends it, or is gone itself."""
    os.sched_setaffinity(0, {int(cpu)})
    parent = os.getppid()
    last = time.monotonic()
    while os.getppid() == parent:
        time.sleep(PERIOD)
        now = time.monotonic()
        if now - last > float(limit):
            print(last, now, flush=True)
        last = now


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
