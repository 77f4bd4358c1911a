# SPDX-License-Identifier: BSD-3-Clause
"""Numbered datagrams from one namespace to another: what is lost, and what overtakes.

Run as a program, it is either end: send RUN ADDRESS PORT SOURCE-PORTS RATE, or receive RUN PORT.
What net_af_packet drops, as it is not polled in time, is counted nowhere, but its veth has it.
"""

import contextlib
import itertools
import json
import selectors
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence

from .netns import Host

PORT = 7000
# Of the run, as an earlier one may have some under way, and of the datagram.
NUMBER = struct.Struct("!QQ")
_runs = itertools.count()
ROOM = 64 << 20  # bytes of a socket: a receiver that gets no CPU loses nothing


def _send(run: int, address: str, port: int, sources: Sequence[int], rate: int) -> None:
    """Pairs to the flows in turn, until stdin ends; then tell how many each was sent."""
    socks = []
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
    print(number, flush=True)


def _receive(run: int, port: int) -> None:
    """Until stdin ends; then by source port: how many came, and how many after a later one."""
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
        counts = came.setdefault(source, [0, 0])
        counts[0] += 1
        counts[1] += number < latest.get(source, 0)
        latest[source] = max(number, latest.get(source, 0))
    print(json.dumps(came), flush=True)


class Datagrams:
    """What became of them, once all is over."""

    def __init__(self) -> None:
        self.sent = 0
        self.lost = 0
        self.reordered = 0


@contextlib.contextmanager
def running(src: Host, dst: Host, sources: Sequence[int], rate: int = 4000
            ) -> Iterator[Datagrams]:
    """So many a second, all flows together, as long as it goes on."""
    told = Datagrams()
    program = [sys.executable, "-u", "-m", "octotest.numbered"]
    more: Dict[str, Any] = {"stdin": -1, "cwd": Path(__file__).resolve().parents[1]}
    run = str(next(_runs))
    receiver = dst.popen([*program, "receive", run, str(PORT)], **more)
    sender = None
    try:
        assert receiver.stdout.readline() == "ready\n"
        sender = src.popen([*program, "send", run, dst.ip4, str(PORT),
                            ",".join(map(str, sources)), str(rate)], **more)
        yield told
        each = int(sender.communicate(timeout=60)[0])
        _await_silence(dst)
        came = json.loads(receiver.communicate(timeout=60)[0])
        told.sent = each * len(sources)
        told.lost = told.sent - sum(number for number, _ in came.values())
        told.reordered = sum(late for _, late in came.values())
    finally:
        for process in (sender, receiver):
            if process is not None:
                process.kill()
                process.communicate()


def _received(host: Host) -> str:
    """Datagrams that the kernel has taken in."""
    return host.run("grep", "^Udp:", "/proc/net/snmp")


def _await_silence(host: Host) -> None:
    before = ""
    while before != _received(host):
        before = _received(host)
        time.sleep(0.5)


def main(argv: Sequence[str]) -> None:
    """Either end."""
    if argv[1] == "send":
        _send(int(argv[2]), argv[3], int(argv[4]), [int(n) for n in argv[5].split(",")],
              int(argv[6]))
    else:
        _receive(int(argv[2]), int(argv[3]))


if __name__ == "__main__":
    main(sys.argv)
