# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the EAL arguments for a board's octo ports. Pure."""

from dataclasses import dataclass, field
from typing import List

from . import boards as kinds
from . import cpulist

LCORES_PER_NODE = 4
MOST_PFS = 8  # of an octo port

# EAL is allowed this address, which no NIC has, so that it leaves all NICs alone: octo probes
# its PFs when the octo ports have the first numbers.
NO_NIC = "0000:00:00.0"


@dataclass
class Arguments:
    """What a program is to be started with, and the queues that fit."""
    eal: List[str] = field(default_factory=list)
    workers: int = 0


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


def _vdev(number, pfs):
    """A PF whose node DPDK cannot know is told it; NODE where nobody knows."""
    names = []
    for pf in pfs:
        known = pf.root_node if pf.root_node >= 0 else "NODE"
        names.append(f"pf={pf.address}" + ("" if pf.node >= 0 else f"@{known}"))
    return f"--vdev=net_octo{number}," + ",".join(names)


def _port_pfs(wire):
    return wire.pfs[:MOST_PFS]


def arguments(board, machine):
    """For all octo ports that a board can have; None if it is of no use as one."""
    wires = [w for w in board.wires if w.kind in (kinds.MULTI_PF, kinds.UNKNOWN)]
    if not wires:
        return None
    pfs = [p for w in wires for p in _port_pfs(w)]
    main, workers = choose_lcores(machine, machine.places(pfs))
    eal = []
    if workers:
        eal.append("-l " + cpulist.render(workers if main is None else [main, *workers]))
    if main is not None and main > min(workers):
        eal.append(f"--main-lcore={main}")
    eal.append(f"-a {NO_NIC}")
    eal += [_vdev(i, _port_pfs(w)) for i, w in enumerate(wires)]
    return Arguments(eal, len(workers) - (main is None))
