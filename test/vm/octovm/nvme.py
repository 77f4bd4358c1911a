# SPDX-License-Identifier: BSD-3-Clause
"""NVMe over TCP between two network namespaces of the guest, and verified I/O."""

import contextlib
import re
from typing import Iterator, List, NamedTuple, Sequence

from octotest.process import Process

from .guest import Guest

NETNS = "target"  # the guest's first namespace has the initiator
TARGET = "10.9.0.2"
INITIATOR = "10.9.0.1"
PORT = 4420
DEVICE = "/dev/nvme0n1"
NQN = "nqn.2026-11.org.octo:ram"
SECONDS = 10  # at most, for each MiB of a round
_IP = "/usr/sbin/ip"
_CONFIG = "/sys/kernel/config/nvmet"
# not by `ip netns exec`, which mounts a /sys of its own, without nvmet's tree
_INSIDE = f"nsenter --net=/run/netns/{NETNS}"


def serve(guest: Guest, netdev: str, peer_mac: str, mib: int) -> None:
    """The kernel's target with a RAM disk, at the netdev, which leaves this namespace."""
    guest.modprobe(f"brd rd_nr=1 rd_size={mib << 10}", "nvmet-tcp", "nvme-tcp")
    guest.run(f"mount -t configfs configfs /sys/kernel/config && {_IP} netns add {NETNS}")
    attach(guest, netdev, peer_mac)
    subsystem, port = f"{_CONFIG}/subsystems/{NQN}", f"{_CONFIG}/ports/1"
    guest.run(f"mkdir {subsystem} && echo 1 >{subsystem}/attr_allow_any_host &&"
              f" mkdir {subsystem}/namespaces/1 &&"
              f" echo -n /dev/ram0 >{subsystem}/namespaces/1/device_path &&"
              f" echo 1 >{subsystem}/namespaces/1/enable && mkdir {port} &&"
              f" echo tcp >{port}/addr_trtype && echo ipv4 >{port}/addr_adrfam &&"
              f" echo {TARGET} >{port}/addr_traddr && echo {PORT} >{port}/addr_trsvcid &&"
              f" {_INSIDE} ln -s {subsystem} {port}/subsystems/")


def attach(guest: Guest, netdev: str, peer_mac: str) -> None:
    """Give the target its netdev, which leaves this namespace."""
    guest.run(f"{_IP} link set {netdev} netns {NETNS}")
    for command in _addressed(netdev, TARGET, INITIATOR, peer_mac):
        guest.run(f"{_INSIDE} {command}")


def reach(guest: Guest, netdev: str, peer_mac: str) -> None:
    """Give the initiator's netdev its address."""
    for command in _addressed(netdev, INITIATOR, TARGET, peer_mac):
        guest.run(command)


def _addressed(netdev: str, address: str, peer: str, peer_mac: str) -> List[str]:
    return [f"{_IP} addr add {address}/24 dev {netdev}", f"{_IP} link set {netdev} up",
            f"{_IP} neigh replace {peer} lladdr {peer_mac} dev {netdev} nud permanent"]


def connect(guest: Guest, queue_pairs: int) -> None:
    """The kernel's initiator."""
    guest.run(f"echo -n transport=tcp,traddr={TARGET},trsvcid={PORT},nqn={NQN},"
              f"nr_io_queues={queue_pairs} >/dev/nvme-fabrics", 60)
    guest.run(f"while [ ! -b {DEVICE} ]; do usleep 10000; done", 60)
    # and one for administration
    assert int(guest.read("/sys/class/nvme/nvme0/queue_count")) == queue_pairs + 1


def disconnect(guest: Guest) -> None:
    """End all connections."""
    guest.run("echo 1 >/sys/class/nvme/nvme0/delete_controller", 60)


class Round(NamedTuple):
    """What octo-io has found."""

    mib: int
    cpus: int
    failed: int
    wrong: int


class Io:
    """octo-io in the guest, on the initiator's device."""

    def __init__(self, guest: Guest, mib: int) -> None:
        self.mib = mib
        self._limit = 120 + SECONDS * mib
        self.process: Process = guest.process("octo-io", DEVICE, str(mib))
        self.process.keep = True
        self.process.expect("ready")

    def _rounds(self, start: int) -> List[Round]:
        return [Round(*map(int, found)) for found in re.findall(
            r"round \d+: (\d+) MiB by (\d+) CPUs, (\d+) failed, (\d+) wrong",
            self.process.text[start:])]

    def _say(self, *words: object) -> int:
        start = len(self.process.text)
        self.process.send(" ".join(map(str, words)))
        return start

    def round(self, cpus: Sequence[int]) -> None:
        """Write, read and compare, without an error."""
        start = self._say("round", *cpus)
        self.process.expect(r"\bdone\b", start, self._limit)
        assert self._rounds(start) == [Round(self.mib, len(cpus), 0, 0)]

    def more(self) -> None:
        """While it is going: until one more round has begun and ended."""
        self.process.read(0)  # what has ended before
        start = len(self.process.text)
        self.process.expect(r"round [^\0]*\nround .*wrong", start, 2 * self._limit)

    def quit(self) -> None:
        """End it."""
        self.process.send("quit")
        assert self.process.wait() == 0

    @contextlib.contextmanager
    def going(self, cpus: Sequence[int]) -> Iterator[None]:
        """One round after the other, without an error."""
        start = self._say("go", *cpus)
        yield
        self._say("enough")
        self.process.expect(r"\bdone\b", start, self._limit)
        assert set(self._rounds(start)) == {Round(self.mib, len(cpus), 0, 0)}
