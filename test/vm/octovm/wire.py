# SPDX-License-Identifier: BSD-3-Clause
"""The other end of the PFs' cables: raw frames, one datagram each, by PF."""

import select
import socket
import tempfile
import time
from pathlib import Path
from typing import List, Sequence, Tuple

from octotest import env

from .qemu import Pf


class Wire:
    """Sends frames to PFs and takes in what they send."""

    def __init__(self, pfs: int = 2) -> None:
        self._dir = tempfile.TemporaryDirectory(prefix="octowire-")
        self.frames: List[Tuple[int, bytes]] = []  # that came: PF, frame
        self._socks = []
        for i in range(pfs):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            sock.bind(self._here(i))
            self._socks.append(sock)

    def _here(self, pf: int) -> str:
        return str(Path(self._dir.name) / f"wire{pf}")

    def _there(self, pf: int) -> str:
        return str(Path(self._dir.name) / f"pf{pf}")

    def nic(self, pf: int, model: str, mac: str, **options: object) -> Pf:
        """A NIC whose cable ends here; PF i is on node i."""
        more = "".join(f",{k}={v}" for k, v in options.items())
        netdev = (f"dgram,id={{id}},local.type=unix,local.path={self._there(pf)},"
                  f"remote.type=unix,remote.path={self._here(pf)}")
        return Pf(pf % 2, f"{model},netdev={{id}},mac={mac},romfile={more}",
                  ("-netdev", netdev))

    def send(self, pf: int, frame: bytes) -> None:
        """Send a frame to a PF, once it can take it in."""
        sock = self._socks[pf]
        sock.settimeout(env.seconds(10))
        sock.sendto(frame, self._there(pf))

    def receive(self, timeout: float = 0.0) -> int:
        """Take in what there is; the number of frames so far."""
        ready, _, _ = select.select(self._socks, [], [], timeout)
        for sock in ready:
            sock.setblocking(False)
            try:
                while True:
                    self.frames.append((self._socks.index(sock), sock.recv(65536)))
            except BlockingIOError:
                pass
        return len(self.frames)

    def exchange(self, frames: Sequence[Tuple[int, bytes]], window: int = 32,
                 timeout: float = 20.0) -> List[Tuple[int, bytes]]:
        """Send the frames, each to its PF, to a guest that returns them all;
        what came back. No more than a window of them is under way: rings do
        not overflow however slow the guest is."""
        self.receive()
        self.frames.clear()
        for number, (pf, frame) in enumerate(frames):
            self.send(pf, frame)
            self.wait_for(number - window, timeout)
        self.wait_for(len(frames), timeout)
        return list(self.frames)

    def wait_for(self, number: int, timeout: float = 20.0) -> None:
        """Until so many frames came."""
        deadline = time.monotonic() + env.seconds(timeout)
        while self.receive(0.1 if len(self.frames) < number else 0) < number:
            assert time.monotonic() < deadline, \
                f"{len(self.frames)} frames came, {number} were to come"

    def close(self) -> None:
        """Cut the cables."""
        for sock in self._socks:
            sock.close()
        self._dir.cleanup()
