# SPDX-License-Identifier: BSD-3-Clause
"""Numbered datagrams from one namespace to another: what is lost, and what overtakes.

Run as a program, it is either end: send RUN ADDRESS PORT SOURCE-PORTS RATE FILE, or receive RUN
PORT FLOWS FILE. In the file the receiver tells how far all flows have come, and the sender waits
for the slowest: no ring between them overflows where a thread that polls it gets no CPU.
"""

import contextlib
import itertools
import json
import mmap
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence

from .netns import Host

PORT = 7000
# Of the run, as an earlier one may have some under way, and of the datagram.
NUMBER = struct.Struct("!QQ")
_runs = itertools.count()
ROOM = 64 << 20  # bytes of a socket: a receiver that gets no CPU loses nothing
UNDER_WAY = 512  # datagrams at most, of all flows: fewer than any ring has room for
LOST = 10  # seconds after which the sender goes on without those that it waits for


class _Progress:
    """The number that all flows have reached, in a file for the two ends."""

    WORD = struct.Struct("=Q")

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), self.WORD.size)

    @property
    def number(self) -> int:
        """As the receiver told."""
        return self.WORD.unpack_from(self._memory)[0]

    @number.setter
    def number(self, number: int) -> None:
        self.WORD.pack_into(self._memory, 0, number)


def _await(progress: _Progress, number: int) -> None:
    """All flows have come so far, or none comes any further."""
    seen, since = progress.number, time.monotonic()
    while seen < number and time.monotonic() - since < LOST:
        time.sleep(0.001)
        if progress.number != seen:
            seen, since = progress.number, time.monotonic()


def _send(run: int, address: str, port: int, sources: Sequence[int], rate: int, path: str
          ) -> None:
    """Pairs to the flows in turn, until stdin ends; when all have come, tell how many of each."""
    socks = []
    progress = _Progress(path)
    window = UNDER_WAY // len(sources)
    for source in sources:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("", source))
        sock.connect((address, port))
        socks.append(sock)
    until = selectors.DefaultSelector()
    until.register(sys.stdin, selectors.EVENT_READ)
    number = 0
    while not until.select(2 * len(socks) / rate):
        for sock in socks:
            # close together: those are the first to change places
            sock.send(NUMBER.pack(run, number))
            sock.send(NUMBER.pack(run, number + 1))
        number += 2
        _await(progress, number - window)
    _await(progress, number - 1)
    print(number, flush=True)


def _receive(run: int, port: int, flows: int, path: str) -> None:
    """Until stdin ends; then by source port: how many came, how many after a later one, and
    how many again at once."""
    progress = _Progress(path)
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, 33, ROOM)  # SO_RCVBUFFORCE
    sock.bind(("", port))
    print("ready", flush=True)
    until = selectors.DefaultSelector()
    until.register(sys.stdin, selectors.EVENT_READ)
    until.register(sock, selectors.EVENT_READ)
    came: Dict[int, List[int]] = {}
    latest: Dict[int, int] = {}
    while True:
        ready = [key.fileobj for key, _ in until.select()]
        if sock not in ready:
            break
        data, (_, source) = sock.recvfrom(64)
        of_run, number = NUMBER.unpack(data)
        if of_run != run:
            continue
        counts = came.setdefault(source, [0, 0, 0])
        counts[0] += 1
        counts[1] += number < latest.get(source, -1)
        counts[2] += number == latest.get(source, -1)
        latest[source] = max(number, latest.get(source, -1))
        if len(latest) == flows:
            progress.number = min(latest.values())
    print(json.dumps(came), flush=True)


class Datagrams:
    """What became of them, once all is over."""

    def __init__(self) -> None:
        self.sent = 0
        self.lost = 0
        self.reordered = 0
        self.doubled = 0


@contextlib.contextmanager
def running(src: Host, dst: Host, sources: Sequence[int], rate: int = 4000
            ) -> Iterator[Datagrams]:
    """So many a second, all flows together, as long as it goes on."""
    told = Datagrams()
    program = [sys.executable, "-u", "-m", "octotest.numbered"]
    more: Dict[str, Any] = {"stdin": -1, "cwd": Path(__file__).resolve().parents[1]}
    run = str(next(_runs))
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(tempfile.NamedTemporaryFile(buffering=0))
        progress.write(bytes(_Progress.WORD.size))
        receiver = dst.popen([*program, "receive", run, str(PORT), str(len(sources)),
                              progress.name], **more)
        stack.callback(_end, receiver)
        assert receiver.stdout.readline() == "ready\n"
        sender = src.popen([*program, "send", run, dst.ip4, str(PORT),
                            ",".join(map(str, sources)), str(rate), progress.name], **more)
        stack.callback(_end, sender)
        yield told
        each = int(sender.communicate(timeout=60)[0])
        came = json.loads(receiver.communicate(timeout=60)[0])
        told.sent = each * len(sources)
        told.reordered = sum(late for _, late, _ in came.values())
        told.doubled = sum(again for _, _, again in came.values())
        told.lost = told.sent + told.doubled - sum(number for number, _, _ in came.values())


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.communicate()


def main(argv: Sequence[str]) -> None:
    """Either end."""
    if argv[1] == "send":
        _send(int(argv[2]), argv[3], int(argv[4]), [int(n) for n in argv[5].split(",")],
              int(argv[6]), argv[7])
    else:
        _receive(int(argv[2]), int(argv[3]), int(argv[4]), argv[5])


if __name__ == "__main__":
    main(sys.argv)
