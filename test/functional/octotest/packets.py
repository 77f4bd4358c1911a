# SPDX-License-Identifier: BSD-3-Clause
"""5-tuples as packets, as testpmd rules and as octo commands."""

import ipaddress
from pathlib import Path
from typing import Iterable, List, NamedTuple, Sequence

from scapy.layers.inet import ICMP, IP, TCP, UDP  # noqa: F401
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether  # noqa: F401
from scapy.layers.sctp import SCTP
from scapy.packet import Packet, Raw
from scapy.utils import PcapReader, wrpcap

_L4 = {"tcp": TCP, "udp": UDP, "sctp": SCTP}
COMBINATIONS = [(version, proto) for version in (4, 6) for proto in _L4]


class Flow(NamedTuple):
    """A 5-tuple."""

    proto: str
    src: str
    sport: int
    dst: str
    dport: int

    @property
    def version(self) -> int:
        """4 or 6."""
        return ipaddress.ip_address(self.src).version

    def pattern(self) -> str:
        """As the pattern of a testpmd rule."""
        return (f"eth / ipv{self.version} src is {self.src} dst is {self.dst}"
                f" / {self.proto} src is {self.sport} dst is {self.dport}"
                " / end")

    def rule(self, port: int, queue: int, verb: str = "create",
             count: bool = False) -> str:
        """As a testpmd command that sends it to a queue."""
        more = " / count" if count else ""
        return (f"flow {verb} {port} ingress pattern {self.pattern()}"
                f" actions queue index {queue}{more} / end")

    def words(self) -> str:
        """As the octo commands of testpmd take it."""
        return (f"{self.proto} {self.src} {self.sport}"
                f" {self.dst} {self.dport}")

    def key(self) -> dict:
        """As telemetry shows it."""
        return {"proto": self.proto, "src": self.src, "src_port": self.sport,
                "dst": self.dst, "dst_port": self.dport}

    def packet(self, src_mac: str = "02:00:00:00:00:01",
               dst_mac: str = "02:00:00:00:00:02",
               payload: bytes = b"octo") -> Packet:
        """One frame of the flow."""
        l3 = IP if self.version == 4 else IPv6
        l4 = _L4[self.proto](sport=self.sport, dport=self.dport)
        return (Ether(src=src_mac, dst=dst_mac)
                / l3(src=self.src, dst=self.dst) / l4 / Raw(payload))


def flows(number: int, version: int = 4, proto: str = "udp") -> List[Flow]:
    """Different flows of one kind."""
    src, dst = ("10.1.0.{}", "10.2.0.1") if version == 4 else \
        ("fd01::{}", "fd02::1")
    # Numbers that a Toeplitz hash with a repetitive key spreads, too.
    return [Flow(proto, src.format(i + 1), 1024 + i * i * 7 % 60000, dst,
                 2000 + i) for i in range(number)]


def flow_mac(index: int) -> str:
    """A source MAC that names the flow, as testpmd prints it."""
    return f"02:F1:00:00:{index >> 8:02X}:{index & 255:02X}"


def numbered(flow_list: Sequence[Flow], each: int,
             payload: int = 46) -> List[Packet]:
    """`each` frames of every flow, interleaved, numbered in the payload."""
    return [flow.packet(flow_mac(i),
                        payload=f"f{i} n{n} ".encode().ljust(payload, b"."))
            for n in range(each) for i, flow in enumerate(flow_list)]


def write(path: Path, packets: Iterable[Packet]) -> Path:
    """Save as pcap."""
    wrpcap(str(path), list(packets) or [], linktype=1)
    return path


def read_bytes(path: Path) -> List[bytes]:
    """The frames of a pcap file that may still be growing."""
    frames = []
    with PcapReader(str(path)) as reader:
        for packet in reader:
            frames.append(bytes(packet))
    return frames


def gen_flow(index: int) -> Flow:
    """The flow with that number of testpmd's flowgen engine."""
    dst = ipaddress.ip_address("10.253.0.0") + index
    return Flow("udp", "10.254.0.0", 1000, str(dst), 1001)
