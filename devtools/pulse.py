# SPDX-License-Identifier: BSD-3-Clause
"""Does the machine live? For who runs tests, of which none can pass while it does not."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

NOTICE = 1  # seconds in which the end of a stall is told


class Pulse:
    """Knows when a CPU stalled for so many seconds: see heartbeat.py."""

    def __init__(self, limit):
        self._limit = limit
        self._stalls = []  # (until, seconds, CPU, priority)
        self._beats = [self._start(cpu) for cpu in sorted(os.sched_getaffinity(0))]

    def _start(self, cpu):
        program = Path(__file__).with_name("heartbeat.py")
        beat = subprocess.Popen([sys.executable, program, str(cpu), str(self._limit)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, args=(cpu, beat.stdout), daemon=True).start()
        return beat

    def _listen(self, cpu, lines):
        for line in lines:
            since, until, priority = line.split()
            self._stalls.append((float(until), float(until) - float(since), cpu, priority))

    def since(self, when):
        """What to say of the longest stall that ended after that; empty without one."""
        time.sleep(NOTICE)
        found = [stall[1:] for stall in self._stalls if stall[0] > when]
        return ("CPU {1} had no time for a thread of {2} priority for {0:.1f} s"
                .format(*max(found)) if found else "")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for beat in self._beats:
            beat.kill()
            beat.wait()
