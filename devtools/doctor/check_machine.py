# SPDX-License-Identifier: BSD-3-Clause
"""Judges the machine that PFs are to be used on: sockets, hugepages, IOMMU. Pure."""

from . import cpulist, drivers
from .model import IN_THE_WAY, NOTE, OK, Finding

ENOUGH_MB = 512  # of hugepages on a node: pools of some queues


def check_sockets(machine):
    """Without a second socket there is nothing that net_octo could save."""
    sockets, nodes = machine.sockets(), machine.nodes
    found = []
    if len(sockets) < 2:
        found.append(Finding(NOTE, "machine", "has one socket: every PF is as near as any other, "
                             "and net_octo gains nothing here"))
    else:
        found.append(Finding(OK, "machine", f"has {len(sockets)} sockets and {len(nodes)} nodes"))
    if len(sockets) > 1 and len(nodes) > len(sockets):
        found.append(Finding(NOTE, "machine", "has several nodes in a socket (SNC, NPS): CPUs on a "
                             "node without a PF use the PF that is nearest; those on a PF's own "
                             "node are best"))
    if len(sockets) > 1 and len(nodes) < len(sockets):
        found.append(Finding(IN_THE_WAY, "machine", f"has {len(sockets)} sockets, and Linux sees "
                             f"{len(nodes)} node: nobody can tell what is near",
                             ["in the BIOS switch NUMA on and node interleaving off; boot "
                              "without numa=off"]))
    if machine.virtual:
        found.append(Finding(NOTE, "machine", "is virtual: nodes and links are what its hypervisor "
                             "shows, and a NIC is one PF unless several are passed through"))
    return found


def _check_node(node):
    who = f"node {node.number}"
    if node.memory_mb == 0:
        return [Finding(IN_THE_WAY, who, "has no memory, so that packets for its CPUs lie on "
                        "another node", ["put memory modules into the slots of its socket"])]
    free = node.free_mb()
    if free >= ENOUGH_MB:
        return [Finding(OK, who, f"has {free} MiB of free hugepages")]
    largest = f"/sys/devices/system/node/node{node.number}/hugepages/hugepages-2048kB/nr_hugepages"
    todo = [f"$ echo 1024 > {largest}   # 2 GiB"]
    if free == 0:
        reserved = sum(p.total for p in node.pages)
        text = "has no free hugepages" + (": others use all of them" if reserved else "")
        return [Finding(IN_THE_WAY, who, text, todo)]
    return [Finding(NOTE, who, f"has {free} MiB of free hugepages, which is little", todo)]


def check_hugepages(machine, pfs):
    """On each node that has a PF of an octo port, and a file system to get them by."""
    found = [f for n in machine.places(pfs) for f in _check_node(n)]
    if not machine.huge_mounts:
        found.append(Finding(IN_THE_WAY, "machine", "has no hugetlbfs mounted, by which EAL gets "
                             "hugepages", ["$ mkdir -p /dev/hugepages && mount -t hugetlbfs nodev "
                                           "/dev/hugepages", "or give EAL --in-memory"]))
    return found


def _how_to_switch_on(machine):
    words = {"GenuineIntel": "intel_iommu=on iommu=pt",
             "AuthenticAMD": "iommu=pt"}.get(machine.vendor, "iommu=pt")
    bios = {"GenuineIntel": "VT-d", "AuthenticAMD": "IOMMU"}.get(machine.vendor, "the IOMMU")
    return [f"switch {bios} on in the BIOS and boot Linux with {words}",
            "or do without protection:",
            "$ echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode"]


def check_iommu(machine, pfs):
    """vfio-pci needs it; uio, and PFs that stay with the kernel, do not."""
    own = [p for p in pfs if not drivers.kernel_driver(p) and p.driver not in drivers.UIO]
    if not own:
        return _check_translated([p for p in pfs if drivers.kernel_driver(p)])
    if machine.iommu:
        return [f for p in own for f in _check_group(p)] or [
            Finding(OK, "machine", "has its IOMMU on")]
    if machine.unsafe_no_iommu:
        return [Finding(NOTE, "machine", "has its IOMMU off, and vfio is told to do without "
                        "(enable_unsafe_noiommu_mode): programs then need root, and a faulty one "
                        "can overwrite any memory")]
    return [Finding(IN_THE_WAY, "machine", "has its IOMMU off; vfio-pci cannot be used without",
                    _how_to_switch_on(machine))]


def _check_group(pf):
    """All of a group belong to user space, or none."""
    if pf.group is None:
        return [Finding(IN_THE_WAY, pf.address, "is in no IOMMU group; vfio-pci cannot be used",
                        ["look for it in the kernel's log:", "$ dmesg | grep -i iommu"])]
    others = {a: d for a, d in pf.group.drivers.items()
              if a != pf.address and d and d not in drivers.USER_DRIVERS}
    if not others:
        return []
    names = ", ".join(f"{a} ({d})" for a, d in sorted(others.items()))
    return [Finding(IN_THE_WAY, pf.address, f"is in IOMMU group {pf.group.number} with {names}; "
                    "vfio-pci takes all of a group or none",
                    ["bind those to vfio-pci, too, if nobody needs them",
                     "or put the NIC into another slot; ACS in the BIOS makes groups smaller"])]


def _check_translated(pfs):
    """mlx5 does not need the IOMMU, and is slowed down by it."""
    slow = [p.address for p in pfs if p.group and (p.group.kind or "").startswith("DMA")]
    if not slow:
        return []
    return [Finding(NOTE, "machine", f"translates what {' and '.join(slow)} read and write "
                    "(IOMMU), which costs time", ["boot Linux with iommu=pt"])]


def check_cpus(machine, pfs):
    """A PF on a node without CPUs is nobody's home."""
    found = []
    for node in machine.places(pfs):
        who = f"node {node.number}"
        if not node.cpus:
            found.append(Finding(IN_THE_WAY, who, "has no CPUs that are on: nobody "
                                 "can poll there", ["boot without maxcpus= or nr_cpus=; see "
                                                    "/sys/devices/system/cpu/offline"]))
        else:
            found.append(Finding(OK, who, f"has CPUs {cpulist.render(node.cpus)}"))
    return found
