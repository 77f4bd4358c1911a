# SPDX-License-Identifier: BSD-3-Clause
"""What the threads of a process are at, for reports of one that does not answer."""

import time
from pathlib import Path
from typing import Dict, List

PROC = Path("/proc")
WINDOW = 0.5  # seconds, in which a thread that runs is seen to
LIMIT = 5.0  # seconds, in which a thread that is ready to run gets a CPU on any machine that lives


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


def starved(pid: int) -> str:
    """Names the threads that were ready to run for LIMIT seconds and did not; empty if all did."""
    end = time.monotonic() + LIMIT
    found = _ready(pid)
    while found and time.monotonic() < end:
        time.sleep(WINDOW / 5)
        now = _ready(pid)
        found = {task: used for task, used in found.items() if now.get(task) == used}
    names = ", ".join(_read(task / "comm") for task in found)
    return f"no CPU in {LIMIT:.0f} s for {names} of process {pid}" if found else ""


def moving(pid: int) -> bool:
    """Has a thread not been stopped?"""
    return any(stat[0] != "T" for stat in _stats(pid).values())


def _ready(pid: int) -> Dict[Path, str]:
    """CPU time and time slices of the threads that run or are ready to."""
    used = {task: _read(task / "schedstat").split() for task, stat in _stats(pid).items()
            if stat[0] == "R"}
    return {task: f"{words[0]} {words[2]}" for task, words in used.items() if len(words) == 3}


def _stats(pid: int) -> Dict[Path, List[str]]:
    """What /proc/PID/task/TID/stat has after the name in parentheses."""
    found = {task: _read(task / "stat").rpartition(") ")[2].split()
             for task in sorted((PROC / f"{pid}/task").glob("*"))}
    return {task: words for task, words in found.items() if words}


def _ticks(stat: List[str]) -> int:
    return int(stat[11]) + int(stat[12])  # of user and of system


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # the thread has ended
        return ""
