# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent on this host as the NIC: two PFs, one for each of the machine's nodes."""

from pathlib import Path
from typing import List

from octotest import vdevs
from octotest.agent import Agent, Dma, pf

from .qemu import Machine, Pf, memory_directory, vhost_pf

SERIAL = "org.octo.agent"  # the virtio-serial port by which a driver reaches it


def memory() -> Path:
    """A directory for the machine's memory, whose files the firmware has to know before."""
    made = memory_directory(Machine())
    for node in range(2):
        (made / f"node{node}").touch()
    return made


class Firmware(Agent):
    """The NIC, with its wire and its auditor."""

    def __init__(self, wire: str, machine_memory: Path, base: Path, queues: int) -> None:
        self._sockets = [base / f"pf{i}" for i in range(2)]
        self._queues = queues
        self.listens = base / "agent"
        super().__init__(
            [f"--vdev=net_af_packet0,iface={wire}",
             *vdevs.nic("N", wire="net_af_packet0", queues=queues)],
            [pf(f"net_mpsim{i}", path, queues=queues, node=i)
             for i, path in enumerate(self._sockets)],
            [f"--memory={node}={machine_memory / f'node{node}'}" for node in range(2)]
            + [f"--listen=unix:{self.listens}"], memory=256)
        self.keep = True

    def functions(self, mac: str) -> List[Pf]:
        """The PFs, for a machine."""
        return [vhost_pf(i, path, mac, self._queues) for i, path in enumerate(self._sockets)]

    def audited(self, direction: str) -> Dma:
        """The packets of both PFs."""
        return Dma(*(sum(n) for n in zip(*(self.packets(i, direction) for i in range(2)))))
