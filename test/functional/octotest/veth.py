# SPDX-License-Identifier: BSD-3-Clause
"""A wire whose far end is a raw socket of the test itself."""

import itertools
import os
import select
import socket
import time
from typing import List, Sequence

import pytest
from scapy.packet import Packet

from . import env
from .netns import receive_in_order, run, silence

_serial = itertools.count()
_ETH_P_ALL = 3


class Wire:
    """A veth pair: `name` is for DPDK, the other end is spoken to here."""

    def __init__(self, mtu: int = 1500, queues: int = 1) -> None:
        if not env.IS_ROOT:
            pytest.skip("network interfaces need root")
        tag = f"{os.getpid() % 100000}v{next(_serial)}"
        self.name = f"ov{tag}"
        self._far = f"of{tag}"
        many = ("numrxqueues", queues, "numtxqueues", queues) if queues > 1 else ()
        run("ip", "link", "add", self.name, "mtu", mtu, *many, "type", "veth",
            "peer", "name", self._far, "mtu", mtu, *many)
        try:
            for end in (self.name, self._far):
                silence(end)
                run(*receive_in_order(end))
                run("ip", "link", "set", end, "up")
            # no protocol before it is bound, or it hears all other interfaces
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                    4 << 20)
            self._socket.bind((self._far, _ETH_P_ALL))
        except (AssertionError, OSError):
            self._remove()
            raise

    def _remove(self) -> None:
        run("ip", "link", "del", self.name, check=False)

    def close(self) -> None:
        """Take the pair away."""
        self._socket.close()
        self._remove()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, frame: bytes) -> None:
        """Put a frame on the wire."""
        self._socket.send(frame)

    def receive(self, number: int, timeout: float = 10.0) -> List[bytes]:
        """So many frames; fewer if they do not come in time."""
        frames: List[bytes] = []
        deadline = time.monotonic() + env.seconds(timeout)
        while len(frames) < number:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                break
            frame, address = self._socket.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING:
                frames.append(frame)
        return frames

    def exchange(self, packets: Sequence[Packet], window: int = 32
                 ) -> List[bytes]:
        """Send all, a window at a time, and take what comes back."""
        back: List[bytes] = []
        for at in range(0, len(packets), window):
            part = packets[at:at + window]
            for packet in part:
                self.send(bytes(packet))
            back += self.receive(len(part))
        return back
