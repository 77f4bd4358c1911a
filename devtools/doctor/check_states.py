# SPDX-License-Identifier: BSD-3-Clause
"""Judges how the kernel presents the PFs of a wire: joined, half-joined, switchdev. Pure."""

import shlex

from . import states
from .model import IN_THE_WAY, NOTE, OK, Finding

FIRST_JOINING = (6, 9)  # Linux

HOW_TO_JOIN = [
    "joined in one netdev they would have tier exact: Linux 6.9 and newer does so with PFs that "
    "the firmware gives a group, two at most (not tried by us). To see it:",
    "$ mlxconfig -d {} -e query PF_SD_GROUP"]


def _addresses(pfs):
    return " and ".join(p.address for p in pfs)


def kernel_version(machine):
    """(major, minor); None where that is not known."""
    parts = machine.kernel.split(".")[:2]
    if len(parts) < 2 or not all(p.isdecimal() and len(p) < 5 for p in parts):
        return None
    return tuple(map(int, parts))


def _check_channels(who, netdev, wanted, pfs):
    """net_af_xdp takes channels that are there; RSS uses those without a socket, too."""
    todo = [f"$ ethtool -L {shlex.quote(netdev.name)} combined {wanted}"]
    have = netdev.channels
    if not wanted or have is None or have == wanted:
        return []
    text = f"has {have} channel{'s' * (have != 1)} ({netdev.name}), and {wanted} are wanted"
    if have < len(pfs):
        others = states.in_channel_order(pfs)[have:]
        return [Finding(IN_THE_WAY, who, f"{text}: none is on {_addresses(others)}", todo)]
    if have < wanted:
        return [Finding(IN_THE_WAY, who, text, todo)]
    return [Finding(NOTE, who, f"{text}: packets that get into the others go to the kernel", todo)]


def _check_joined(who, wire, queues):
    pfs = states.in_channel_order(wire.pfs)
    netdevs = [n for p in pfs for n in p.netdevs]
    primary, seen = pfs[0], pfs[0].joined_seen
    where = f" {netdevs[0].name}" if netdevs else ""
    found = [Finding(
        OK if seen else NOTE, who, ("is" if seen else "seems to be") +
        f" joined by the kernel in one netdev{where} (multi-PF netdev): {primary.address} is the "
        f"primary, and channel i is on PF i modulo {len(pfs)} of {_addresses(pfs)}. Ports of mlx5 "
        "over these PFs would receive nothing: the octo port is over slices of net_af_xdp",
        [] if seen else ["to be sure:", "$ sudo ./octo doctor"])]
    if not netdevs:
        return found + [Finding(IN_THE_WAY, who, "has its joined netdev in no network namespace "
                                "that doctor sees", ["look for it:", "$ ip netns"])]
    return found + _check_channels(who, netdevs[0], len(pfs) * queues, pfs)


def _check_half_joined(who, wire):
    lost = [p for p in wire.pfs if not states.is_driven(p)]
    rest = [p for p in wire.pfs if states.is_driven(p)]
    if lost:
        names = " and ".join(f"{p.address} ({p.driver or 'no driver'})" for p in lost)
        text = f"{names} is not mlx5_core's"
        todo = [f"$ dpdk-devbind.py --bind=mlx5_core {p.address}" for p in lost]
    else:
        text = "all PFs are mlx5_core's, and it has not joined them"
        todo = [f"$ devlink dev reload pci/{rest[-1].address}"]
    have = "has" if len(rest) == 1 else "have"
    return [Finding(
        IN_THE_WAY, who, f"is half-joined: {text}; {_addresses(rest)} {have} no netdev, as the kernel "
        "makes that of a group only when all of its PFs are there. Until then neither mlx5 nor "
        "net_af_xdp reaches any of them",
        [*todo, "if there is still no netdev, look into the kernel's log, and into other network "
         "namespaces (ip netns):", "$ dmesg | grep Socket-Direct"])]


def _check_apart(who, wire, machine):
    version = kernel_version(machine)
    if version and version < FIRST_JOINING:
        why = f"Linux {machine.kernel} is older than 6.9, the first that joins PFs"
    else:
        why = "the firmware gives its PFs no group, or the kernel cannot join them"
    return [Finding(NOTE, who, f"is not joined by the kernel: {why}. Its octo port has tier queue: "
                    "the address of a packet picks the PF, and rules of mlx5 only the queue", [t.format(wire.pfs[0].address) for t in HOW_TO_JOIN])]


def _switch_ids(pfs):
    return ", ".join(sorted({n.switch_id for p in pfs for n in (*p.netdevs, *p.representors)
                             if n.switch_id})) or "unknown"


def _check_switchdev(who, wire):
    pfs = wire.pfs
    return [Finding(
        NOTE, who, "is in switchdev mode, and each PF has a switch of its own (switch ids "
        f"{_switch_ids(pfs)}): rules of one do not reach the other PF",
        ["a switch that all PFs share would reach a VF of each of them, and give tier exact with "
         "octo-agent: kernels of June 2026 and newer make it of a Socket Direct group, others "
         "by multiport E-Switch (not tried by us):",
         *(f"$ devlink dev param set pci/{p.address} name esw_multiport value true cmode runtime"
           for p in pfs)])]


def _check_shared(who, wire):
    by = {states.MPESW: "multiport E-Switch", states.SD_FDB: "Socket Direct group"}.get(
        wire.pfs[0].lag, f"switch id {_switch_ids(wire.pfs)}")
    text = f"is in switchdev mode, and its PFs share a switch ({by})"
    vfs = " and ".join(address for _, address, _ in states.vfs(wire.pfs))
    if vfs:
        return [Finding(OK, who, f"{text}: the octo port is over VFs, {vfs}, and octo-agent has "
                        "the PFs")]
    # the secondary of joined PFs has no netdev, so that two ports would not start
    mark = IN_THE_WAY if any(p.joined_to for p in wire.pfs) else NOTE
    return [Finding(mark, who, f"{text}, and there is no VF of each PF that belongs to mlx5_core: "
                    "with these and octo-agent it would have tier exact",
                    [f"$ echo 1 > /sys/bus/pci/devices/{p.address}/sriov_numvfs"
                     for p in wire.pfs if not p.vfs])]


def check(who, wire, machine, queues):
    """All about one wire that could be an octo port."""
    if wire.state == states.JOINED:
        return _check_joined(who, wire, queues)
    if wire.state == states.APART:
        return _check_apart(who, wire, machine)
    checks = {states.HALF_JOINED: _check_half_joined, states.SWITCHDEV: _check_switchdev,
              states.SHARED: _check_shared}
    return checks[wire.state](who, wire) if wire.state in checks else []
