# SPDX-License-Identifier: BSD-3-Clause
"""Core files of programs that crash: kept in the build directory, and read by gdb.

The kernel writes them into the working directory of the program if
/proc/sys/kernel/core_pattern is a plain name, as "core" is. Nothing here changes it.
"""

import contextlib
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

from . import env

PATTERN = Path("/proc/sys/kernel/core_pattern")


def wanted() -> None:
    """In the program, before it is executed: write core files, of any size."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def are_found() -> bool:
    """Does the kernel write core files into the working directory?"""
    pattern = PATTERN.read_text(encoding="ascii").strip()
    return not pattern.startswith(("|", "/"))


@contextlib.contextmanager
def directory() -> Iterator[Path]:
    """A working directory for a program; it stays if there is a core file in it."""
    path = env.BUILD / "cores" / env.unique("run")
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        if not list(path.glob("core*")):
            shutil.rmtree(path)


def report(path: Path, program: object) -> str:
    """Where the program's core files in this directory are, and where it crashed."""
    if not are_found():
        return (f"core files are not kept: {PATTERN} is not a plain name; "
                f"'sysctl kernel.core_pattern=core' has them kept in {path}")
    return "\n".join(f"{core}:\n{_trace(core, program)}"
                     for core in sorted(path.glob("core*")))


def _trace(core: Path, program: object) -> str:
    gdb = env.find_binary("gdb")
    if gdb is None:
        return f"gdb is not installed: gdb {program} {core} tells where it crashed"
    done = subprocess.run([gdb, "-batch", "-ex", "thread apply all backtrace", program,
                           core], text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=env.seconds(60))
    return done.stdout
