# SPDX-License-Identifier: BSD-3-Clause
"""Other work for the machine, so that a program has its CPUs now and then only."""

import contextlib
import os
import subprocess
import sys
from typing import Iterator

# It ends by itself when the tests are killed.
BUSY = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1 << 20):
        pass
"""


@contextlib.contextmanager
def busy(processes: int = 0) -> Iterator[None]:
    """Run so many busy loops, one for each CPU by default."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY])
               for _ in range(processes or len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()
