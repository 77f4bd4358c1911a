# SPDX-License-Identifier: BSD-3-Clause
"""A player of packets in front of a two-PF NIC with an octo port.

    pcap -> plain port of NIC B -> cable -> NIC A -> octo port, and back

The pcap device is restarted for each play, so one testpmd serves many tests.
Queues are polled once before rules are made: then their homes are known.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from scapy.packet import Packet

from . import packets, vdevs
from .packets import Flow
from .testpmd import Seen, Testpmd
from .view import View


class Bench(Testpmd):
    """That testpmd."""

    def __init__(self, directory: Path, queues: int = 2, pfs: int = 2,
                 app: Sequence[str] = (), port: Optional[dict] = None,
                 **nic: object) -> None:
        self.directory = directory
        self.queues = queues
        for i in range(queues):
            packets.write(self._in(i), [])
        files = "".join(f",rx_pcap={self._in(i)}" for i in range(queues)) + \
            "".join(f",tx_pcap={self._out(i)}" for i in range(queues))
        args = [f"--vdev=net_pcap0{files}",
                vdevs.mpsim(20, "B", wire="nic:A"),
                *vdevs.nic("A", 0, pfs, **nic),
                vdevs.octo(0, 0, pfs, **(port or {}))]
        super().__init__(args, queues=queues, app=app)
        self.view = View(self)
        self.player = self.port("net_pcap0")
        self.far = self.port("net_mpsim20")
        self.poll_once()

    def _in(self, queue: int) -> Path:
        return self.directory / f"in{queue}.pcap"

    def _out(self, queue: int) -> Path:
        return self.directory / f"out{queue}.pcap"

    def poll_once(self) -> None:
        """Let every queue of the octo port learn its home."""
        self.cmd(f"set portlist {self.view.port}")
        self.start("io")
        self.wait_until("homes known", lambda: all(
            q["cpu"] >= 0 for q in self.view.topology()["queues"]))
        self.stop_forwarding()

    def play(self, frames: Sequence[Packet]) -> List[Seen]:
        """Send the frames; what the octo port received of them."""
        packets.write(self._in(0), frames)
        self.cmds([f"port stop {self.player}", f"port start {self.player}",
                   "clear port stats all", "clear port xstats all",
                   f"set portlist {self.player},{self.far},{self.view.port}"])
        # Each is received thrice: from the file, by octo, and coming back.
        seen = self.watch(3 * len(frames), "io")
        self.cmd(f"port stop {self.player}")  # flushes what it recorded
        return [s for s in seen if s.port == self.view.port]

    def returned(self) -> List[bytes]:
        """The frames that the far end got back."""
        return [f for i in range(self.queues)
                for f in packets.read_bytes(self._out(i))]

    def steer(self, flow: Flow, queue: int, count: bool = False) -> str:
        """Make a rule; what testpmd said."""
        return self.cmd(flow.rule(self.view.port, queue, count=count))

    def flush(self) -> None:
        """Remove all rules, and those that were destroyed just now."""
        self.cmd(f"flow flush {self.view.port}")
        self.view.await_lingering()


def landed(seen: Iterable[Seen]) -> Dict[str, Counter]:
    """Source MAC, which names the flow, to packets per queue."""
    result: Dict[str, Counter] = {}
    for packet in seen:
        result.setdefault(packet.src, Counter())[packet.queue] += 1
    return result


def order_of(frames: Iterable[bytes]) -> Dict[str, List[int]]:
    """Flow to its packet numbers in the order of the frames."""
    result: Dict[str, List[int]] = {}
    for frame in frames:
        flow, number = _label(frame)
        result.setdefault(flow, []).append(number)
    return result


def _label(frame: bytes) -> Tuple[str, int]:
    found = re.search(rb"f(\d+) n(\d+) ", frame)
    assert found, frame
    return found[1].decode(), int(found[2])
