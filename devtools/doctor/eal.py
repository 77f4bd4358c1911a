# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the EAL arguments for a board's octo ports. Pure."""

import re
from dataclasses import dataclass, field
from typing import List

from . import boards as kinds
from . import advice, cpulist, states

LCORES_PER_NODE = 4
MOST_PFS = 8  # of an octo port

# EAL is allowed this address, which no NIC has, so that it leaves all NICs alone: octo probes
# its PFs when the octo ports have the first numbers.
NO_NIC = "0000:00:00.0"

# Scopes of arguments
AS_IT_IS = "as it is"  # although it gains nothing
WITHOUT_HALF = "without its half-joined PFs"

NO_INTERFACE = "IFACE"  # where the netdev is not there yet, or its name cannot be in devargs


@dataclass
class Arguments:
    """What a program is to be started with, the queues that fit, and what to do and to avoid.

    tier: that the octo ports reach; empty without a port, or where nobody knows.
    """
    eal: List[str] = field(default_factory=list)
    workers: int = 0
    tier: str = ""
    why: str = ""
    before: List[str] = field(default_factory=list)
    avoid: List[str] = field(default_factory=list)
    scope: str = ""  # of the NIC: empty for all of it


def _cores(machine, node):
    """One CPU of each core; isolated ones if there are any, and CPU 0 last."""
    first = [c for c in node.cpus
             if c == min(set(machine.siblings.get(c) or [c]) & set(node.cpus) | {c})]
    isolated = [c for c in first if c in machine.isolated]
    return isolated or [c for c in first if c != 0] or first


def choose_lcores(machine, nodes):
    """(main lcore, workers): the same number of workers on each node."""
    nodes = [n for n in nodes if n.cpus]
    cores = [_cores(machine, n) for n in nodes]
    if not cores:
        return None, []
    few = min(LCORES_PER_NODE, *map(len, cores))
    workers = [c for own in cores for c in own[:few]]
    spare = [c for n in nodes for c in n.cpus
             if c not in workers and c not in machine.isolated]
    if not spare and few > 1:
        workers = [c for own in cores for c in own[:few - 1]]
        spare = [c for own in cores for c in own[few - 1:]]
    return (spare[0] if spare else None), workers


def _node_of(pf):
    return pf.place() if pf.place() >= 0 else "NODE"


def _plain_vdevs(number, pfs, addresses, more=()):
    """A PF whose node DPDK cannot know is told it; NODE where nobody knows."""
    names = [f"pf={a}" + ("" if p.node >= 0 else f"@{_node_of(p)}")
             for p, a in zip(pfs, addresses)]
    return [f"--vdev=net_octo{number}," + ",".join([*names, *more])]


def interface_of(pfs):
    """The netdev of joined PFs, as devargs may have it."""
    names = [n.name for p in pfs for n in p.netdevs]
    return names[0] if names and re.fullmatch(r"[\w.@-]{1,15}", names[0]) else NO_INTERFACE


def _joined_vdevs(number, pfs, queues):
    """Slices of the netdev's channels, each PF has every second one; and the netdev's port."""
    pfs = states.in_channel_order(pfs)
    lower, count = f"net_af_xdp{number}", len(pfs)
    slices = [f"pf={lower}[{i}::{count}]@{_node_of(p)}" for i, p in enumerate(pfs)]
    return [f"--vdev=net_octo{number},{','.join(slices)},pools=local",
            f"--vdev={lower},iface={interface_of(pfs)},queue_count={count * queues}"]


def _vdevs(number, wire, queues):
    pfs = port_pfs(wire)
    if wire.state in advice.JOINED_STATES:
        return _joined_vdevs(number, pfs, queues)
    if advice.is_by_agent(wire):
        return _plain_vdevs(number, pfs, [address for _, address, _ in states.vfs(pfs)],
                            [f"agent={advice.agent_address(number)}"])
    return _plain_vdevs(number, pfs, [p.address for p in pfs])


def port_pfs(wire):
    """Those of a wire that an octo port can have."""
    return wire.pfs[:MOST_PFS]


def _lcores(main, workers):
    eal = []
    if workers:
        eal.append("-l " + cpulist.render(workers if main is None else [main, *workers]))
    if main is not None and main > min(workers):
        eal.append(f"--main-lcore={main}")
    return eal


def _usable(wires):
    """Half-joined ones only while there are no others."""
    return [w for w in wires if w.state != states.HALF_JOINED] or wires


def _octo_arguments(wires, machine):
    usable = _usable(wires)
    pfs = [p for w in usable for p in port_pfs(w)]
    main, workers = choose_lcores(machine, machine.places(pfs))
    queues = len(workers) - (main is None)
    eal = _lcores(main, workers) + [f"-a {NO_NIC}"]
    vdevs = [_vdevs(number, wire, max(queues, 1)) for number, wire in enumerate(usable)]
    # octo ports that come before their PFs have the first numbers
    eal += [v[0] for v in vdevs] + [lower for v in vdevs for lower in v[1:]]
    found = Arguments(eal, queues, scope=WITHOUT_HALF if len(usable) < len(wires) else "")
    advice.give(found, [(w, interface_of(port_pfs(w))) for w in usable])
    return found


def arguments(board, machine):
    """For all octo ports that a board can have; None if it is of no use as one."""
    wires = [w for w in board.wires if w.kind in (kinds.MULTI_PF, kinds.UNKNOWN)]
    return _octo_arguments(wires, machine) if wires else None


def plain_arguments(board, machine):
    """For a board that gains nothing by net_octo: what works with it nonetheless."""
    wires = [w for w in board.wires if len(w.pfs) > 1]
    if wires:
        found = _octo_arguments(wires, machine)
        found.why += ". " * bool(found.why) + "All PFs are on one socket, so nothing is gained"
        found.scope = AS_IT_IS
        return found
    main, workers = choose_lcores(machine, machine.places(board.pfs))
    found = Arguments(_lcores(main, workers) + [f"-a {p.address}" for p in board.pfs],
                      len(workers) - (main is None), scope=AS_IT_IS)
    advice.give_plain(found, board)
    return found
