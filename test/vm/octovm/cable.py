# SPDX-License-Identifier: BSD-3-Clause
"""The wire of a NIC on this host: a veth pair, and numbered frames on it."""

import os
import socket
import time
from collections import Counter
from typing import Dict, List, Sequence

from octotest import env
from octotest.netns import run
from octotest.packets import Flow, flow_mac

WINDOW = 32  # frames on the way: fewer than any ring on it has room for


class Cable:
    """One end for DPDK, the other for the tests."""

    def __init__(self) -> None:
        tag = env.unique("")
        self.wire, inner = f"oc{tag}"[:15], f"oi{tag}"[:15]
        run("ip", "link", "add", self.wire, "type", "veth", "peer", "name", inner)
        for name in (self.wire, inner):
            # the kernel must not speak on it
            knob = f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6"
            if os.path.exists(knob):
                with open(knob, "w", encoding="ascii") as file:
                    file.write("1")
            run("ethtool", "-K", name, "tx", "off", "rx", "off", check=False)
            run("ip", "link", "set", name, "up", "promisc", "on")
        self._sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._sock.bind((inner, 0))

    def close(self) -> None:
        """Take it away."""
        self._sock.close()
        run("ip", "link", "del", self.wire, check=False)

    def _receive(self, wait: float) -> List[bytes]:
        """Frames that came in, not those that were sent here."""
        frames = []
        self._sock.settimeout(wait)
        try:
            while True:
                data, address = self._sock.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING:
                    frames.append(data)
                self._sock.settimeout(0.0001)
        except (socket.timeout, BlockingIOError):
            return frames

    def exchange(self, flows: Sequence[Flow], each: int, mac: str,
                 size: int = 100, timeout: float = 60.0) -> Dict[int, List[int]]:
        """Send numbered frames of the flows in turn, and take the echoes.

        The numbers that came back, by flow, in the order of their coming.
        """
        back: Dict[int, List[int]] = {i: [] for i in range(len(flows))}
        waiting = each * len(flows)
        todo = [(i, n) for n in range(each) for i in range(len(flows))]
        todo.reverse()
        on_the_way = 0
        deadline = time.monotonic() + env.seconds(timeout)
        while waiting and time.monotonic() < deadline:
            while todo and on_the_way < WINDOW:
                i, n = todo.pop()
                text = f"octo {i} {n} ".encode().ljust(size - 42, b".")
                self._sock.send(bytes(flows[i].packet(flow_mac(i), mac, text)))
                on_the_way += 1
            for frame in self._receive(0.05):
                words = frame.partition(b"octo ")[2].split()
                back[int(words[0])].append(int(words[1]))
                on_the_way -= 1
                waiting -= 1
        return back


def assert_whole(back: Dict[int, List[int]], each: int) -> None:
    """Nothing was lost, doubled or reordered."""
    for i, numbers in back.items():
        missing = Counter(range(each)) - Counter(numbers)
        assert not missing, f"flow {i}: lost {sorted(missing)[:10]}, {len(numbers)} came"
        assert numbers == list(range(each)), f"flow {i} was reordered"
