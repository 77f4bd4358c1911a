# SPDX-License-Identifier: BSD-3-Clause
"""A veth pair: DPDK has one end, the test sends and receives at the other."""

import itertools
import os
import select
import socket
from typing import List

from . import env
from .netns import run

_serial = itertools.count()
_ETH_P_ALL = 3


class Cable:
    """`dpdk` is the name of the end for net_af_packet."""

    def __init__(self) -> None:
        tag = f"{os.getpid() % 100000}y{next(_serial)}"
        self.dpdk, self._far = f"oc{tag}", f"of{tag}"
        run("ip", "link", "add", self.dpdk, "type", "veth", "peer", "name",
            self._far)
        try:
            for end in (self.dpdk, self._far):
                run("ethtool", "-K", end, "tx", "off", "gro", "off",
                    check=False)
                self._silence(end)
                run("ip", "link", "set", end, "up")
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                         socket.htons(_ETH_P_ALL))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                    4 << 20)
            self._socket.bind((self._far, _ETH_P_ALL))
        except BaseException:
            run("ip", "link", "del", self.dpdk, check=False)
            raise

    @staticmethod
    def _silence(end: str) -> None:
        """The kernel must not speak on the cable."""
        knob = f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6"
        if os.path.exists(knob):
            with open(knob, "w", encoding="ascii") as file:
                file.write("1")

    def send(self, frame: bytes) -> None:
        """To DPDK."""
        self._socket.send(frame)

    def receive(self, number: int, timeout: float = 10) -> List[bytes]:
        """So many frames from DPDK, or fewer when no more come in time."""
        frames: List[bytes] = []
        while len(frames) < number and select.select(
                [self._socket], [], [], env.seconds(timeout))[0]:
            frame, address = self._socket.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING:
                frames.append(frame)
        return frames

    def remove(self) -> None:
        """Both ends go."""
        self._socket.close()
        run("ip", "link", "del", self.dpdk, check=False)
