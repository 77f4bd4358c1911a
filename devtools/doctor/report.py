# SPDX-License-Identifier: BSD-3-Clause
"""Writes a diagnosis for programs. Pure: returns JSON."""

import json
from dataclasses import asdict

VERSION = 1  # changes when a program that reads it would have to


def _board(number, board):
    return {"nic": number, "kind": board.kind, "same_board_by": board.evidence,
            "sure": board.sure, "name": board.pfs[0].vpd.get("name"),
            "ports": [{"kind": w.kind, "state": w.state, "pfs": [p.address for p in w.pfs]} for w in board.wires],
            "pfs": [asdict(p) for p in board.pfs]}


def text(diagnosis):
    """All of it, as one object."""
    machine = asdict(diagnosis.machine)
    del machine["pfs"]
    machine["siblings"] = {str(cpu): cpus for cpu, cpus in machine["siblings"].items()}
    return json.dumps({
        "version": VERSION, "ready": diagnosis.is_ready(), "machine": machine,
        "nics": [_board(i, b) for i, b in enumerate(diagnosis.boards)],
        "findings": [asdict(f) for f in diagnosis.findings],
        "arguments": [{"nic": n, **asdict(a)} for n, a in diagnosis.arguments]}, indent=2) + "\n"
