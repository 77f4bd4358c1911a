# SPDX-License-Identifier: BSD-3-Clause
"""2 MiB hugepages for a test, given back afterwards."""

import contextlib
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


@contextlib.contextmanager
def reserved(pages: int) -> Iterator[str]:
    """Reserve pages and mount them; the --huge-dir."""
    before = int(NR.read_text()) if NR.exists() else 0
    try:
        NR.write_text(str(before + pages))
    except OSError as err:
        raise NoHugepages(str(err)) from err
    mount = tempfile.mkdtemp(prefix="octo-huge-")
    try:
        if int(NR.read_text()) < before + pages:
            raise NoHugepages(f"less than {pages} pages could be reserved")
        out = run("mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none",
                  mount, check=False)
        if out:
            raise NoHugepages(out)
        yield mount
    finally:
        run("umount", mount, check=False)
        Path(mount).rmdir()
        # another run of the tests may have taken some meanwhile
        NR.write_text(str(max(0, int(NR.read_text()) - pages)))
