# SPDX-License-Identifier: BSD-3-Clause
"""Judges boards: multi-PF or not, all there or not, joined by the kernel or not. Pure."""

from . import boards as kinds
from . import advice, check_pfs, check_states, states
from .model import IN_THE_WAY, NOTE, OK, Finding

def name(number):
    """As findings call a board."""
    return f"NIC {number}"


def _addresses(pfs):
    return " and ".join(p.address for p in pfs)


def _check_wire(who, wire, machine):
    if wire.kind == kinds.MULTI_PF:
        places = ", ".join(f"{p.address} on node {p.node}" for p in wire.pfs)
        return [Finding(OK, who, f"is multi-PF: {places}")]
    if wire.kind == kinds.UNKNOWN:
        return _check_unknown(who, wire, machine)
    if wire.kind == kinds.ONE_SOCKET and len(machine.sockets()) > 1:
        node = machine.node(wire.pfs[0].node)
        where = f"socket {node.sockets[0]}" if node and node.sockets else f"node {wire.pfs[0].node}"
        return [Finding(IN_THE_WAY, who, "has all its halves on one socket: "
                        f"{_addresses(wire.pfs)} are on {where}",
                        ["put one half of the card into a slot of another socket: the machine's "
                         "manual says which slot belongs to which CPU"])]
    return []


def _check_unknown(who, wire, machine):
    """The BIOS says by ACPI (_PXM) where a PCI root is; some do not."""
    lost = [p for p in wire.pfs if machine.node(p.node) is None]
    guessed = [f"{p.address} on node {p.root_node}" for p in lost if p.root_node >= 0]
    text = (f"has PFs whose node is not known (numa_node is -1): {_addresses(lost)}; the BIOS does "
            "not tell, and DPDK then takes them to be anywhere")
    if guessed:
        text += f". Other devices below the same PCI root say: {', '.join(guessed)}"
    return [Finding(IN_THE_WAY, who, text,
                    ["update the BIOS; look there for NUMA (on), node interleaving (off), SNC or "
                     "NPS, and the locality of PCIe slots",
                     "until then tell net_octo: pf=ADDRESS@NODE, as below; the machine's manual "
                     "says which slot belongs to which CPU"])]


def _check_single_wires(who, board):
    """A port of a split board that only one half has."""
    if len(board.slots()) < 2:
        return []
    return [Finding(IN_THE_WAY, who, f"lacks a PF: the port of {w.pfs[0].address} has no PF in "
                    "the other half", ["look into the kernel's log (dmesg) for the PF that failed; "
                                       "reseat the card's second half"])
            for w in board.wires if w.kind == kinds.SINGLE]


def _check_plain(who, board, machine):
    """Why a board that is not multi-PF is not."""
    why = check_pfs.missing_half(board)
    if why:
        return [Finding(IN_THE_WAY, who, f"is one half of a board: {why}",
                        ["look for the other half: riser, harness, auxiliary card, and the slot's "
                         "bifurcation in the BIOS (x8x8); lspci must show it"])]
    if len(board.slots()) == 1 and len(board.pfs) > 1:
        return [Finding(NOTE, who, f"is an ordinary NIC with {len(board.pfs)} ports: all its PFs "
                        "are in one slot, so on one socket, and each has a wire of its own; "
                        "net_octo would gain nothing")]
    if len(board.pfs) == 1:
        return [Finding(NOTE, who, "is an ordinary NIC with one PF; net_octo would gain nothing")]
    if len(machine.sockets()) < 2:
        return [Finding(NOTE, who, "has several PFs, and this machine one socket: net_octo works, "
                        "and gains nothing")]
    return []


def _check_sure(who, board):
    if board.sure:
        return []
    return [Finding(NOTE, who, "is believed to be one board because of its "
                    f"{board.evidence[-1]}; serial numbers are for root to read",
                    ["to be sure:", "$ sudo ./octo doctor"])]


def is_of_use(board):
    """Could it be an octo port that gains something?"""
    return board.kind in (kinds.MULTI_PF, kinds.UNKNOWN)


def _check_states(who, board, machine, queues):
    return [f for w in board.wires if w.kind in (kinds.MULTI_PF, kinds.UNKNOWN)
            for f in check_states.check(who, w, machine, queues)]


def _check_joined(who, board, machine, queues):
    """PFs on one socket gain nothing, and cannot be used apart either."""
    return [f for w in board.wires if w.state in advice.JOINED_STATES
            for f in check_states.check(who, w, machine, queues)]


def _check_drivers(board):
    """PFs that are half-joined have a finding that says more."""
    return [f for w in board.wires if w.state != states.HALF_JOINED
            for p in w.pfs for f in check_pfs.check_driver(p)]


def check(board, number, machine, queues):
    """All about one board with so many queues; about its PFs only if it could be an octo port."""
    who = name(number)
    found = [f for w in board.wires for f in _check_wire(who, w, machine)]
    found += _check_single_wires(who, board)
    if not is_of_use(board):
        found = found or _check_plain(who, board, machine)
        return found + _check_joined(who, board, machine, queues)
    found += _check_sure(who, board) + _check_states(who, board, machine, queues)
    split = check_pfs.check_split(board)
    found += [Finding(OK, who, split)] if split else []
    halves = len(board.slots())
    found += [f for p in board.pfs for f in check_pfs.check_routes(p)]
    found += _check_drivers(board)
    by_agent = [p for w in board.wires if advice.is_by_agent(w) for p in w.pfs]
    for pf in board.pfs:
        found += check_pfs.check_mode(pf)
        found += check_pfs.check_width(pf, halves) + check_pfs.check_speed(pf)
        found += check_pfs.check_carrier(pf)
        found += check_pfs.check_vfs(pf) if pf not in by_agent else []
    return found
