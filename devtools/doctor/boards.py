# SPDX-License-Identifier: BSD-3-Clause
"""Decides which PFs are of one board, and which of these lead to the same wire. Pure."""

import re

from . import pci, states
from .model import Board, Wire

NEAR_MACS = 16  # how far apart the addresses of one board's PFs are at most, by experience

# Kinds of boards and wires
MULTI_PF = "multi-PF"  # PFs on several sockets: what net_octo is for
ONE_SOCKET = "one socket"  # several PFs, all on one socket
UNKNOWN = "unknown node"  # several PFs, and the node of one is not known
SINGLE = "single PF"


def _netdev_values(pf, name):
    return {getattr(n, name) for n in pf.netdevs} - {None}


def _decisive(pf):
    """What a board has one of: equal means the same board, different means another one."""
    return (("VPD UUID", pf.vpd.get("V3")), ("VPD serial number", pf.vpd.get("SN")),
            ("system image GUID", pf.image_guid))


def _supporting(pf):
    """What tells the same board when it is equal, and nothing when it is not."""
    return (("physical port id", _netdev_values(pf, "port_id")),
            ("switch id", _netdev_values(pf, "switch_id")),
            ("PCIe serial number", {pf.serial} - {None}))


def _mac(pf):
    numbers = [int(n.mac.replace(":", ""), 16) for n in pf.netdevs if n.mac]
    return min(numbers, default=None)


def same_board(a, b):
    """Why two PFs are of one board, and whether that is sure; None if they are not."""
    if pci.slot_of(a.address) == pci.slot_of(b.address):
        return "slot", True
    if a.ids != b.ids or a.board_ids != b.board_ids:
        return None
    for (kind, of_a), (_, of_b) in zip(_decisive(a), _decisive(b)):
        if pci.is_telling(of_a) and pci.is_telling(of_b):
            return (kind, True) if of_a == of_b else None
    for (kind, of_a), (_, of_b) in zip(_supporting(a), _supporting(b)):
        if any(pci.is_telling(v) for v in of_a & of_b):
            return kind, True
    if a.all_readable and b.all_readable:
        return None
    macs = _mac(a), _mac(b)
    if None not in macs and abs(macs[0] - macs[1]) < NEAR_MACS:
        return "MAC addresses next to each other", False
    return None


def _add(boards, pf):
    """To the first board that it is of, or to one of its own."""
    for board in boards:
        for other in board.pfs:
            why = same_board(other, pf)
            if why is None:
                continue
            board.pfs.append(pf)
            if why[0] not in board.evidence:
                board.evidence.append(why[0])
            board.sure = board.sure and why[1]
            return
    boards.append(Board([pf]))


def _wire_of(pf, by_port_id):
    """PFs with the same value are of one port of the board."""
    if by_port_id:
        return min(_netdev_values(pf, "port_id"))
    for name in sorted(_netdev_values(pf, "port_name")):
        if re.fullmatch(r"p[0-9]{1,9}", name):
            return int(name[1:])
    return pci.function_of(pf.address)


def _split_wires(pfs):
    """By physical port ids if all have one, else by port or function number."""
    by_port_id = all(_netdev_values(p, "port_id") for p in pfs)
    groups = {}
    for pf in pfs:
        groups.setdefault(_wire_of(pf, by_port_id), []).append(pf)
    return [Wire(group) for group in groups.values()]


def _kind(pfs, machine):
    """Of PFs that could be one octo port."""
    if len(pfs) == 1:
        return SINGLE
    nodes = [machine.node(p.node) for p in pfs]
    if len(machine.nodes) > 1 and None in nodes:
        return UNKNOWN
    sockets = [set(n.sockets) or {f"node {n.number}"} for n in nodes if n]
    return MULTI_PF if len({min(s, key=str) for s in sockets}) > 1 else ONE_SOCKET


def _classify(board, machine):
    for wire in board.wires:
        wire.kind = _kind(wire.pfs, machine)
    kinds = [w.kind for w in board.wires]
    board.kind = next((k for k in (MULTI_PF, UNKNOWN, ONE_SOCKET) if k in kinds), SINGLE)
    if board.kind == SINGLE and len(board.pfs) > 1:
        board.kind = ONE_SOCKET


def find(machine):
    """All boards of a machine, in the order of their first PF."""
    boards = []
    for pf in machine.pfs:
        _add(boards, pf)
    for board in boards:
        board.wires = _split_wires(board.pfs)
        _classify(board, machine)
        _find_joined(board)
        for wire in board.wires:
            wire.state = states.of_wire(wire.pfs)
    return boards


def _find_joined(board):
    """Who may not read debugfs sees it by this: of all PFs of a wire one has a netdev.

    That others have theirs in network namespaces of their own looks the same: it is only likely.
    """
    for wire in board.wires:
        having = [p for p in wire.pfs if p.netdevs]
        if (wire.kind == SINGLE or len(having) != 1 or
                any(p.driver != "mlx5_core" or p.debugfs for p in wire.pfs)):
            continue
        for pf in wire.pfs:
            pf.joined_to = having[0].address
