# SPDX-License-Identifier: BSD-3-Clause
"""CPUs and the nodes that they, and PCI devices, are on."""

import os
import re
from pathlib import Path

MOST = 4096
PCI = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)


def parse(text):
    """The CPUs of a list such as 1,4-7, in that order; None if it is none."""
    cpus = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last >= MOST:
            return None
        cpus += range(first, last + 1)
    return cpus if len(set(cpus)) == len(cpus) else None


def usable():
    """Those that this process may run on."""
    return sorted(os.sched_getaffinity(0))


def node_of(cpu, root="/"):
    """-1 if nobody knows."""
    for path in Path(root, f"sys/devices/system/cpu/cpu{cpu}").glob("node*"):
        return int(path.name[4:])
    return -1


def pci_address(text):
    """In full, in lower case; None if it is none."""
    match = PCI.fullmatch(text)
    return f"{match[1] or '0000'}:{match[2]}:{match[3]}.{match[4]}".lower() if match else None


def node_of_pci(address, root="/"):
    """-1 if nobody knows; None if there is no such device."""
    path = Path(root, "sys/bus/pci/devices", address)
    if not path.is_dir():
        return None
    try:
        return int((path / "numa_node").read_text())
    except (OSError, ValueError):
        return -1
