# SPDX-License-Identifier: BSD-3-Clause
"""The booted machine from inside: commands, testpmd, its telemetry."""

import json
import shlex
import socket
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from octotest import env
from octotest.agent import Agent
from octotest.process import Process, ProcessError
from octotest.testpmd import Testpmd, wait_until

from . import attach
from .qemu import SHELLS, Qemu, shell

# Lcore 0 types, on node 0; lcores 1 and 2 forward, one on each node.
LCORES = "0@0,1@1,2@2"


class Result(NamedTuple):
    """How a command ended."""

    status: int
    text: str


class Guest:
    """Runs commands in a machine."""

    def __init__(self, qemu: Qemu) -> None:
        self.qemu = qemu
        self.machine = qemu.machine
        self._users: Dict[int, Process] = {}  # of the shells
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.connect(str(shell(qemu.directory, 0)))

    def close(self) -> None:
        """Hang up; the machine goes on."""
        self._sock.close()

    def call(self, command: str, timeout: float = 30.0) -> Result:
        """Run a shell command to its end."""
        token = attach.new_token()
        end = attach.ending(token)
        deadline = time.monotonic() + env.seconds(timeout)
        self._sock.sendall(attach.request(token, "raw", command))
        said = b""
        while True:
            found = end.search(said)
            if found:
                return Result(int(found[1]), said[:found.start()].decode(errors="replace"))
            self._sock.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                data = self._sock.recv(65536)
            except socket.timeout:
                raise ProcessError(f"no end in time of {command!r}: {said!r}") from None
            if not data:
                raise ProcessError(f"the guest went away during {command!r}")
            said += data

    def run(self, command: str, timeout: float = 30.0) -> str:
        """Run a shell command that must succeed; what it printed."""
        status, text = self.call(command, timeout)
        if status != 0:
            raise ProcessError(f"{command!r} ended with {status}:\n{text}")
        return text

    def read(self, path: str) -> str:
        """The contents of a small file."""
        return self.run(f"cat {shlex.quote(path)}").strip()

    def minds_slots(self) -> bool:
        """Does the kernel still handle what has happened to a slot? A card that is put in
        meanwhile is switched on and, as the button's press is seen after that, off again."""
        states = self.run("for task in /proc/[0-9]*; do case $(cat $task/comm 2>/dev/null) in"
                          " irq/*-pciehp) cut -d' ' -f3 $task/stat;; esac; done").split()
        if len(states) < len(self.machine.pfs):
            raise ProcessError(f"who minds the slots? {states}")
        return any(state != "S" for state in states)

    def modprobe(self, *modules: str) -> None:
        """Load kernel modules."""
        for module in modules:
            self.run(f"modprobe {module}")

    def bind_vfio(self, addresses: Optional[Sequence[str]] = None) -> None:
        """Give PCI devices (all PFs) to vfio-pci."""
        self.modprobe("vfio-pci", "vfio_iommu_type1")
        for address in addresses or self.machine.addresses():
            device = f"/sys/bus/pci/devices/{address}"
            self.run(f"[ ! -e {device}/driver ] || echo {address} >{device}/driver/unbind;"
                     f" echo vfio-pci >{device}/driver_override;"
                     f" echo {address} >/sys/bus/pci/drivers_probe;"
                     f" [ -e {device}/driver/module/drivers/pci:vfio-pci ]")

    def plug(self, number: int) -> None:
        """Put a PF into its slot, which is empty, for vfio-pci, once nobody minds the slot."""
        monitor = self.qemu.monitor
        address = self.machine.address(number)
        wait_until("the slot is empty", lambda: not monitor.is_in(number), 60)
        wait_until("the slots rest", lambda: not self.minds_slots(), 60)
        monitor.plug(number, self.machine.pfs[number].device)
        wait_until("the device", lambda: self.call(
            f"[ -e /sys/bus/pci/devices/{address} ]").status == 0, 60)
        self.bind_vfio([address])

    def _free_shell(self) -> int:
        """A shell that nobody uses, once it has killed what its last user left."""
        number = next(n for n in range(1, SHELLS)
                      if n not in self._users or not self._users[n].alive())
        self.run(f"while [ -e /run/octo.shell.{number} ]; do usleep 10000; done")
        return number

    def prefix(self, number: int) -> List[str]:
        """What to put before a command for it to run in the guest."""
        return [sys.executable, attach.__file__, str(shell(self.qemu.directory, number))]

    def process(self, *argv: str) -> Process:
        """A program on a terminal."""
        number = self._free_shell()
        self._users[number] = Process(argv, prefix=self.prefix(number))
        return self._users[number]

    def agent(self, options: Sequence[str], under: Sequence[str] = ()) -> Agent:
        """An octo-agent without PFs, run by the command under."""
        number = self._free_shell()
        agent = Agent([], [], options, memory=64, prefix=[*self.prefix(number), *under])
        self._users[number] = agent
        return agent

    def testpmd(self, vdevs: Sequence[str] = (), under: Sequence[str] = (),
                **more: Any) -> "GuestTestpmd":
        """An interactive testpmd, with PCI devices by pci=ADDRESSES, run by the command under."""
        number = self._free_shell()
        pmd = GuestTestpmd(self, vdevs, prefix=[*self.prefix(number), *under], **more)
        self._users[number] = pmd
        return pmd


class GuestTelemetry:
    """Asks the telemetry socket of a process in the guest."""

    def __init__(self, guest: Guest, file_prefix: str) -> None:
        self._guest = guest
        self._path = f"/var/run/dpdk/{file_prefix}/dpdk_telemetry.v2"

    def get(self, command: str, *params: object) -> Any:
        """The value of a command: None when it refuses its parameters."""
        line = ",".join([command, *map(str, params)])
        text = self._guest.run(f"octo-guest telemetry {self._path} {line}")
        reply = json.loads(text)
        assert list(reply) == [command], reply
        return reply[command]

    def close(self) -> None:
        """There is nothing to hang up."""


class GuestTestpmd(Testpmd):
    """testpmd with the octo commands, on hugepages of both nodes."""

    def __init__(self, guest: Guest, vdevs: Sequence[str] = (), *,
                 eal: Sequence[str] = (), **more: Any) -> None:
        self._guest = guest
        super().__init__(vdevs, binary=str(env.find_built("octo-testpmd")),
                         memory=None, plugins=False, lcores=more.pop("lcores", LCORES),
                         eal=["--socket-mem=256,256", *eal], **more)

    @property
    def telemetry(self) -> GuestTelemetry:
        """Its telemetry, through the guest."""
        return GuestTelemetry(self._guest, self.file_prefix)
