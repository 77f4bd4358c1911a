#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tell when a CPU had no time for a thread that wants hardly any.

usage: heartbeat.py CPU SECONDS

Prints, on a monotonic clock, from when to when it was, if that took so long, and the thread's
priority: normal or real-time. CPUs are shared fairly: with ten busy threads on it one waits
for hundredths of a second.

Where that is allowed, a process of real-time priority asks for the same CPU as often. It tells
a busy thread that keeps its CPU from a CPU that stands still, and has the kernel choose again
who runs: kernels were seen that let one busy thread have a CPU for minutes.
"""

import os
import sys
import time

PERIOD = 0.1


def beat(limit, priority):
    """Until who started it ends it, or is gone itself."""
    parent = os.getppid()
    last = time.monotonic()
    while os.getppid() == parent:
        time.sleep(PERIOD)
        now = time.monotonic()
        if now - last > limit:
            print(last, now, priority, flush=True)
        last = now


def main(cpu, limit):
    """One process, or two."""
    os.sched_setaffinity(0, {int(cpu)})
    if os.fork() > 0:
        beat(float(limit), "normal")
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:  # not allowed to
        return
    beat(float(limit), "real-time")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
