# SPDX-License-Identifier: BSD-3-Clause
"""2 MiB hugepages for a test, given back afterwards."""

import contextlib
import fcntl
import tempfile
from pathlib import Path
from typing import Iterator

from .netns import run

NR = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


# Memory that a secondary process can map at the same address. EAL's own default
# lies where the sanitizers keep their shadow; then the kernel picks an address,
# which the secondary, laid out at random, may find taken.
SHARED = ("--base-virtaddr=0x200000000000",)


class NoHugepages(Exception):
    """The machine gives none."""


def _change(pages: int) -> int:
    """Add to the machine's pages, or take away; by how many they changed.

    Several runs of the tests may do so at the same time, hence the lock.
    """
    try:
        with NR.open("r+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = int(file.read())
            NR.write_text(str(max(0, before + pages)))
            return int(NR.read_text()) - before
    except OSError as err:
        raise NoHugepages(str(err)) from err


@contextlib.contextmanager
def reserved(pages: int) -> Iterator[str]:
    """Reserve pages and mount them; the --huge-dir."""
    got = _change(pages)
    mount = tempfile.mkdtemp(prefix="octo-huge-")
    try:
        if got < pages:
            raise NoHugepages(f"only {got} of {pages} pages could be reserved")
        out = run("mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none",
                  mount, check=False)
        if out:
            raise NoHugepages(out)
        yield mount
    finally:
        run("umount", "-l", mount, check=False)
        Path(mount).rmdir()
        _change(-got)
