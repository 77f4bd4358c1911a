# SPDX-License-Identifier: BSD-3-Clause
"""A system to install to that only its own processes see."""

import contextlib
import os
import select
import subprocess
import tempfile
from pathlib import Path
from typing import Iterator, List, Sequence, Set

from . import env
from .netns import run

# What packages are installed to, and where dpkg and ldconfig keep their books.
AREAS = ("/etc", "/usr", "/var")

# A mount namespace in which all that is written to an area goes to memory, to
# $store/$area/upper. It lives as long as its standard input is open.
_SCRIPT = """
store=$1
shift
mount -t tmpfs -o mode=755 octo "$store"
for area; do
    mkdir -p "$store$area/upper" "$store$area/work"
    mount -t overlay octo "$area" -o \\
"lowerdir=$area,upperdir=$store$area/upper,workdir=$store$area/work"
done
echo ready
exec cat
"""


class NoSandbox(Exception):
    """The machine has no overlays for us."""


class Sandbox:
    """The system, and what its own processes wrote to the areas."""

    def __init__(self, pid: int, store: str, areas: Sequence[str]) -> None:
        self._prefix = ["nsenter", f"--mount=/proc/{pid}/ns/mnt",
                        f"--wd={env.REPO}", "--"]
        self._store = f"/proc/{pid}/root{store}"
        self._areas = areas

    def argv(self, *words: object) -> List[str]:
        """A command line that runs inside."""
        return [*self._prefix, *map(str, words)]

    def run(self, *words: object, check: bool = True) -> str:
        """Run a program inside; its output."""
        return run(*self.argv(*words), check=check, timeout=120)

    def written(self) -> Set[str]:
        """Files that were made, changed or removed, and new directories."""
        found = set()
        for area in self._areas:
            upper = f"{self._store}{area}/upper"
            for place, dirs, files in os.walk(upper):
                there = Path(area, os.path.relpath(place, upper))
                links = [d for d in dirs if Path(place, d).is_symlink()]
                new = [d for d in dirs if not (there / d).exists()]
                found |= {str(there / n) for n in [*files, *links, *new]}
        return found


def _await_ready(child: subprocess.Popen) -> None:
    ready, _, _ = select.select([child.stdout], [], [], env.seconds(20))
    line = child.stdout.readline() if ready else "timeout\n"
    if line != "ready\n":
        raise NoSandbox((line + child.stdout.read() if ready else line)
                        .strip().replace("\n", " "))


@contextlib.contextmanager
def made(place: str) -> Iterator[Sandbox]:
    """A sandbox that covers a place, too; it needs root, and goes."""
    covered = any(Path(area) in Path(place).parents for area in AREAS)
    areas = AREAS if covered else (*AREAS, place)
    store = tempfile.mkdtemp(prefix="octo-sandbox-", dir="/tmp")
    child = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-ec",
         _SCRIPT, "sh", store, *areas], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        _await_ready(child)
        yield Sandbox(child.pid, store, areas)
    finally:
        child.communicate()
        os.rmdir(store)
