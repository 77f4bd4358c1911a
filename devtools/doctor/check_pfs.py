# SPDX-License-Identifier: BSD-3-Clause
"""Judges the PFs of a board, one by one: driver, link to the CPU, kernel's own use. Pure."""

import shlex

from . import drivers, pci
from .model import IN_THE_WAY, NOTE, OVS_DATAPATH, Finding


def check_driver(pf):
    """Bound to what DPDK's driver works with?"""
    needed = drivers.kernel_driver(pf)
    if drivers.is_bound(pf):
        return _check_bound(pf)
    if needed:
        where = f"bound to {pf.driver}" if pf.driver else "without a driver"
        todo = [f"$ modprobe {needed}"] if not pf.driver else [
            f"$ dpdk-devbind.py --bind={needed} {pf.address}"]
        return [Finding(IN_THE_WAY, pf.address, f"is {where}; DPDK uses this NIC beside the "
                        f"kernel's {needed}, which it must be bound to", todo)]
    where = f"belongs to the kernel's {pf.driver}" if pf.driver else "has no driver"
    return [Finding(IN_THE_WAY, pf.address, f"{where}; DPDK needs it bound to vfio-pci",
                    ["$ modprobe vfio-pci", f"$ dpdk-devbind.py --bind=vfio-pci {pf.address}"])]


def _check_bound(pf):
    if pf.driver in drivers.UIO:
        return [Finding(NOTE, pf.address, f"is bound to {pf.driver}, which works without "
                        "protection by the IOMMU and for root only",
                        ["vfio-pci is better:", f"$ dpdk-devbind.py --bind=vfio-pci {pf.address}"])]
    if drivers.kernel_driver(pf) == "mlx5_core" and not pf.rdma and not pf.joined_to:
        return [Finding(IN_THE_WAY, pf.address, "has no RDMA device, which DPDK's mlx5 driver "
                        "reaches it by", ["$ modprobe -a mlx5_ib ib_uverbs"])]
    return []


def check_routes(pf):
    """Giving away the interface that one is connected by is hard to undo."""
    routed = [n for n in pf.netdevs if n.has_route is not False]
    if not routed or drivers.kernel_driver(pf):
        return []
    first = routed[0]
    name = first.name + (f" below {first.below}" if first.below else "")
    says = ("which may have routes, as there are more than were read" if first.has_route is None
            else "whose bridges may have routes" if first.below == OVS_DATAPATH
            else "which has routes")
    return [Finding(NOTE, pf.address, f"is the kernel's interface {name}, {says}: "
                    "you may be connected by it, and lose that when it goes to DPDK")]


def check_mode(pf):
    """NVIDIA's VPI adapters can be in either mode."""
    if not pf.infiniband_class:
        return []
    return [Finding(IN_THE_WAY, pf.address, "is in InfiniBand mode; net_octo is for Ethernet",
                    [f"$ mlxconfig -d {pf.address} set LINK_TYPE_P1=2   # _P2: second port",
                     "then boot again"])]


def check_carrier(pf):
    """No link on the wire, if the kernel knows."""
    dead = [n.name for n in pf.netdevs if n.carrier is False]
    if not dead or any(n.carrier for n in pf.netdevs):
        return []
    return [Finding(NOTE, pf.address, f"has no link ({dead[0]}): cable, or the other end",
                    [f"$ ethtool {shlex.quote(dead[0])}"])]


def lanes_expected(pf, halves):
    """Lanes that PF and slot can both have; a board in two halves splits the lanes it has."""
    known = [w for w in (pf.link.max_width, pf.parent.max_width) if w]
    if halves > 1 and pf.link.max_width == 16:
        known.append(16 // halves)
    return min(known, default=None)


def check_width(pf, halves):
    """Fewer lanes than there could be."""
    expected = lanes_expected(pf, halves)
    if not expected:
        return []
    if pf.link.width is None:
        return [Finding(IN_THE_WAY, pf.address, "tells no PCIe link: the device does not answer",
                        ["look into the kernel's log (dmesg), then reseat card, riser and cable"])]
    if pf.link.width >= expected:
        return []
    return [Finding(IN_THE_WAY if halves > 1 else NOTE, pf.address,
                    f"has {pf.link.width} PCIe lanes (x{pf.link.width}) of the {expected} that it "
                    "and its slot can have", ["reseat card, riser and harness; in the BIOS look "
                                              "at the bifurcation of the slot"])]


def check_speed(pf):
    """Fewer GT/s than both ends can do, or than the PF could in a better slot."""
    now, most = pf.link.speed, pf.link.max_speed
    if not now or not most or now >= most:
        return []
    slot = pf.parent.max_speed
    if slot and now >= slot:
        return [Finding(NOTE, pf.address, f"runs at {now:g} GT/s, which is all that its slot can "
                        f"do; the NIC could do {most:g}")]
    return [Finding(NOTE, pf.address,
                    f"runs at {now:g} GT/s and could do {min(most, slot or most):g}",
                    ["look under load again (idle links may slow down); then reseat card and "
                     "riser, and look at the slot's speed in the BIOS"])]


def check_split(board):
    """16 lanes in two slots of 8 are as they should be, though each PF could have 16."""
    most = [p.link.max_width for p in board.pfs]
    now = {pci.slot_of(p.address): p.link.width for p in board.pfs}
    halves = len(now)
    if halves < 2 or None in (*most, *now.values()) or any(
            check_width(p, halves) for p in board.pfs):
        return None
    return (f"has its {most[0]} lanes split into " if sum(now.values()) == most[0]
            else "has all its lanes, ") + " + ".join(f"x{w}" for w in now.values())


def check_vfs(pf):
    """VFs are no part of an octo port."""
    if not pf.vfs:
        return []
    return [Finding(NOTE, pf.address, f"has {pf.vfs} virtual functions; they are left out, an octo "
                    "port is made of PFs")]


def missing_half(board):
    """Why one half of a split board seems not to be there, or None."""
    if len(board.slots()) > 1:
        return None
    pf = board.pfs[0]
    lanes = max((pci.lanes_of_board(p.vpd) or 0 for p in board.pfs), default=0)
    if pf.link.max_width and lanes > pf.link.max_width:
        return (f"the board has {lanes} lanes, and its PFs can have {pf.link.max_width}: "
                "the others belong to PFs that are not there")
    if "socket direct" in pf.vpd.get("name", "").lower():
        return "it is a Socket Direct board, and has PFs in one slot only"
    return None
