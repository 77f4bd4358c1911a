# SPDX-License-Identifier: BSD-3-Clause
"""Builds --vdev options for simulated NICs and octo ports."""

import os
from pathlib import Path
from typing import Dict, List, Optional, Sequence

SOCKET_MAP = "0:0/1:1"
# Octo ports over slices of the first PF instead of all PFs: what does not
# depend on PFs being ports of their own is the same then.
SLICED = bool(os.environ.get("OCTO_TEST_SLICES"))


def _args(pairs: dict) -> str:
    return "".join(f",{k}={v}" for k, v in pairs.items() if v is not None)


def mpsim(index: int, nic: str, socket: int = 0, **more: object) -> str:
    """One PF of a simulated NIC."""
    return f"--vdev=net_mpsim{index},nic={nic},socket={socket}{_args(more)}"


def nic(name: str, first: int = 0, pfs: int = 2, wire: Optional[str] = None,
        arfs_on: Optional[Dict[int, int]] = None, sliced: bool = SLICED,
        **more: object) -> List[str]:
    """All PFs of a simulated NIC: PF i on socket i % 2; PF 0 has the wire."""
    args = []
    if sliced:  # as many queues for each slice as each PF would have
        more["queues"] = min(64, pfs * int(str(more.get("queues", 16))))
    for i in range(1 if sliced else pfs):
        own = dict(more if i == 0 else _per_pf(more))
        if arfs_on and i in arfs_on:
            own["arfs_entries"] = arfs_on[i]
        args.append(mpsim(first + i, name, i % 2,
                            wire=wire if i == 0 else None, **own))
    return args


def _per_pf(more: dict) -> dict:
    """Of a NIC's parameters those that each PF needs for itself."""
    keys = ("queues", "arfs_entries", "generic_entries", "max_mtu", "ignore",
            "caps", "fill_rings")
    return {k: v for k, v in more.items() if k in keys}


def pf_names(first: int = 0, pfs: int = 2) -> List[str]:
    """Names of the PFs that nic() makes."""
    return [f"net_mpsim{first + i}" for i in range(pfs)]


def slice_names(port: str, slices: int = 2) -> List[str]:
    """Every nth queue of a port is one PF's; slice I on socket I % 2."""
    return [f"{port}[{i}::{slices}]@{i % 2}" for i in range(slices)]


def octo_devargs(index: int, pfs: Sequence[str], socket_map: Optional[str]
                 = SOCKET_MAP, learn: Optional[str] = "off",
                 **more: object) -> str:
    """The octo port as `port attach` takes it.

    Strays are not to teach it anything by themselves unless a test wants it:
    "on", or None for the port's default, which is the same.
    """
    if SLICED:
        pfs = slice_names(pfs[0], len(pfs))
    legs = "".join(f",pf={pf}" for pf in pfs)
    args = _args({"socket_map": socket_map, "learn": learn, **more})
    return f"net_octo{index}{legs}{args}"


def octo(index: int = 0, first: int = 0, pfs: int = 2,
         **more: object) -> str:
    """The octo port over the PFs that nic() makes."""
    return "--vdev=" + octo_devargs(index, pf_names(first, pfs), **more)


def pcap_wire(rx: Path, tx: Path, index: int = 0) -> str:
    """A wire that plays one file and records to another."""
    return f"--vdev=net_pcap{index},rx_pcap={rx},tx_pcap={tx}"


def back_to_back(pfs: int = 2, **more: object) -> List[str]:
    """Two NICs joined by a cable, an octo port over each."""
    return [*nic("A", 0, pfs, "nic:B", **more),
            *nic("B", pfs, pfs, **more),
            octo(0, 0, pfs), octo(1, pfs, pfs)]


def looped(pfs: int = 2, **more: object) -> List[str]:
    """One NIC that hears what it sends, an octo port over it."""
    return [*nic("A", 0, pfs, "loop", **more), octo(0, 0, pfs)]
