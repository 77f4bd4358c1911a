# SPDX-License-Identifier: BSD-3-Clause
"""A player of packets in front of a simulated NIC whose PFs are plain ports.

    pcap -> plain port of NIC W -> cable -> PFs of NIC A, and back

Ports 2 and 3 are the PFs; what they receive leaves by the other one. All that
the PFs can do is switched on where a test asks for it, while they are stopped.
"""

import re
from pathlib import Path
from typing import Dict, Iterable, List, Sequence

from scapy.packet import Packet

from . import packets, vdevs
from .packets import Flow
from .testpmd import Seen, Testpmd, parse_seen

PLAYER, FAR, PF0, PF1 = range(4)
DEFAULT_KEY = bytes.fromhex(
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c"
    "6a42b73bbeac01fa")


class SimBench(Testpmd):
    """That testpmd."""

    def __init__(self, directory: Path, queues: int = 4,
                 nic: Iterable[str] = (), **more) -> None:
        self.directory = directory
        self.queues = queues
        self.wired: Sequence[int] = (PF0, PF1)  # what they send, FAR gets
        for i in range(queues):
            packets.write(self._in(i), [])
        files = "".join(f",rx_pcap={self._in(i)}" for i in range(queues)) + \
            "".join(f",tx_pcap={self._out(i)}" for i in range(queues))
        nic = list(nic) or vdevs.nic("A")
        super().__init__([f"--vdev=net_pcap0{files}",
                          vdevs.mpsim(20, "W", wire="nic:A"), *nic],
                         queues=queues, **more)

    def _in(self, queue: int) -> Path:
        return self.directory / f"in{queue}.pcap"

    def _out(self, queue: int) -> Path:
        return self.directory / f"out{queue}.pcap"

    def configure(self, *lines: str) -> None:
        """Change what can only be changed while the PFs are stopped."""
        for port in (PF0, PF1):
            self.cmd(f"port stop {port}")
        for line in lines:
            out = self.cmd(line)
            assert not re.search(r"Fail|[Ii]nvalid|Bad arg", out), out
        for port in (PF0, PF1):
            self.cmd(f"port start {port}")
        self.cmd("port config all rss all")  # lost by reconfiguration

    def offload(self, *names: str, on: bool = True,
                direction: str = "rx") -> None:
        """Switch offloads of both PFs."""
        self.configure(*(
            f"port config {port} {direction}_offload {name} "
            f"{'on' if on else 'off'}"
            for name in names for port in (PF0, PF1)))

    def play(self, frames: Sequence[Packet], ports: Sequence[int] =
             (PF0, PF1), engine: str = "io") -> List[Seen]:
        """Send the frames to the NIC; what these of its ports received."""
        packets.write(self._in(0), frames)
        self.cmds([f"port stop {PLAYER}", f"port start {PLAYER}",
                   "clear port stats all", "clear port xstats all",
                   "set portlist " + ",".join(map(str, (PLAYER, FAR, *ports))),
                   f"set fwd {engine}", "set verbose 1"])
        start = len(self.text)
        self.send("start")  # lcores print into what follows, prompt included
        self.wait_until("all frames on the wire", lambda: self.nic_value(
            "nic_wire_packets") >= len(frames))
        self.wait_until("all that arrived is seen", lambda: self._is_quiet(
            start, ports))
        self.send("stop")
        self.expect(r"\nDone\.\s+testpmd> ", start)
        self.cmds(["set verbose 0", f"port stop {PLAYER}"])
        return [s for s in parse_seen(self.text[start:])
                if s.port in ports]

    def _is_quiet(self, start: int, ports: Sequence[int]) -> bool:
        """Nothing is under way, nor was while that was looked at."""
        before = self._counts(ports)
        return (not self._is_any_inside() and self._is_all_seen(start, ports)
                and self._counts(ports) == before)

    def _counts(self, ports: Sequence[int]) -> List[int]:
        stats = (self.telemetry.get("/ethdev/xstats", p) for p in {PLAYER, FAR, *ports})
        return [s[f"{way}_good_packets"] for s in stats for way in ("rx", "tx")]

    def _is_any_inside(self) -> bool:
        """Of a NIC; what has come to a ring has arrived."""
        accounts = [self.telemetry.get("/mpsim/account", nic) for nic in "AW"]
        return any(a["in_pipelines"] or a["on_wire"] for a in accounts)

    def _is_all_seen(self, start: int, ports: Sequence[int]) -> bool:
        arrived = [self.xstat(p, "rx_good_packets") for p in ports]
        seen = parse_seen(self.text[start:])
        back = self.xstat(FAR, "rx_good_packets")
        # printed is before handed on, between which an lcore may be held up
        handed_on = sum(self.xstat(p, f"tx_{what}") for p in {PLAYER, FAR, *ports}
                        for what in ("good_packets", "errors"))
        return (handed_on == len(seen)
                and [sum(s.port == p for s in seen) for p in ports] == arrived
                and sum(s.port == FAR for s in seen) == back
                and back == sum(self.xstat(p, "tx_good_packets")
                                for p in self.wired))

    def returned(self) -> List[bytes]:
        """The frames that the far end got back."""
        return [f for i in range(self.queues)
                for f in packets.read_bytes(self._out(i))]

    def xstat(self, port: int, name: str) -> int:
        """One counter, without disturbing what is printed."""
        return self.telemetry.get("/ethdev/xstats", port)[name]

    def nic_value(self, name: str) -> int:
        """A counter of the whole NIC A."""
        return self.xstat(PF0, name)

    def drops(self) -> Dict[str, int]:
        """Counters of PF 0 that speak of drops and are not zero."""
        return {k: v for k, v in
                self.telemetry.get("/ethdev/xstats", PF0).items()
                if v and ("drops" in k or "missed" in k)}


def rule(flow: Flow, actions: str, port: int = PF0, priority: int = 0) -> str:
    """An ingress rule as testpmd takes it."""
    return (f"flow create {port} priority {priority} ingress pattern "
            f"{flow.pattern()} actions {actions} / end")


def mpfs_rule(flow: Flow, to_port: int, port: int = PF0, origin: int = PF0,
              more: str = "") -> str:
    """A transfer rule as testpmd takes it."""
    return (f"flow create {port} transfer pattern represented_port "
            f"ethdev_port_id is {origin} / {flow.pattern()} actions "
            f"{more}port_representor port_id {to_port} / end")


def by_flow(seen: Iterable[Seen]) -> Dict[str, set]:
    """Source MAC, which names the flow, to (port, queue) pairs."""
    result: Dict[str, set] = {}
    for s in seen:
        result.setdefault(s.src, set()).add((s.port, s.queue))
    return result


def shown_hash(seen: Seen) -> int:
    """The RSS hash that came with the packet; -1 if none."""
    found = re.search(r"RSS hash=0x([0-9a-f]+)", seen.text)
    return int(found[1], 16) if found else -1


def toeplitz(key: bytes, data: bytes) -> int:
    """The hash, bit by bit, as the RSS specification defines it."""
    bits = int.from_bytes(key, "big")
    length = len(key) * 8
    result = 0
    for i in range(len(data) * 8):
        if data[i // 8] >> (7 - i % 8) & 1:
            result ^= bits >> (length - 32 - i) & 0xffffffff
    return result
