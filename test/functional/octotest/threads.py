# SPDX-License-Identifier: BSD-3-Clause
"""What the threads of a process are at, for reports of one that does not answer."""

import time
from pathlib import Path
from typing import Dict, List

WINDOW = 0.5  # seconds, in which a thread that runs is seen to


def table(pid: int) -> str:
    """Name, state, CPU, CPU time within a moment, and where it waits in the kernel."""
    before = _stats(pid)
    time.sleep(WINDOW)
    lines = ["thread           state  cpu  ticks  waits in"]
    for task, now in _stats(pid).items():
        ticks = _ticks(now) - _ticks(before.get(task, now))
        lines.append(f"{_read(task / 'comm'):<16} {now[0]:<5} {now[36]:>4} {ticks:>6}  "
                     f"{_read(task / 'wchan')}")
    return "\n".join(lines)


def _stats(pid: int) -> Dict[Path, List[str]]:
    """What /proc/PID/task/TID/stat has after the name in parentheses."""
    found = {task: _read(task / "stat").rpartition(") ")[2].split()
             for task in sorted(Path(f"/proc/{pid}/task").glob("*"))}
    return {task: words for task, words in found.items() if words}


def _ticks(stat: List[str]) -> int:
    return int(stat[11]) + int(stat[12])  # of user and of system


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # the thread has ended
        return ""
