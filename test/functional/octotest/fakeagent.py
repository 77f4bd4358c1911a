# SPDX-License-Identifier: BSD-3-Clause
"""An agent that only keeps books, and fails as it is told.

Written from the guide, "The agent's protocol", not from the C code.
"""

import ipaddress
import os
import select
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any, Callable, Container, Dict, List, Optional, Tuple

(HELLO, WELCOME, PUT, REMOVE, SYNCED, QUERY, PING, RESULT,
 COUNT, DEFAULT) = range(1, 11)
HEADER = struct.Struct("!4sHHII")
TUPLE = struct.Struct("!BBHHH16s16s")
PLACES_QUEUES, COUNTS, DEFAULTS = 1, 2, 4
PROTOCOLS = {6: "tcp", 17: "udp", 132: "sctp"}

Key = Tuple[str, str, int, str, int]
Rules = Dict[Key, Tuple[int, int]]  # PF and queue
# By the kind of message: an errno and words, or None.
Refuse = Callable[[int], Optional[Tuple[int, str]]]


def message(kind: int, session: int, seq: int, body: bytes = b"") -> bytes:
    """A whole message."""
    return HEADER.pack(b"OCTO", kind, len(body), session, seq) + body


def key_of(body: bytes) -> Key:
    """The 5-tuple of put, remove and query."""
    family, proto, sport, dport, zero, src, dst = TUPLE.unpack(body[:40])
    size = 4 if family == 4 else 16
    assert zero == 0 and not any(src[size:] + dst[size:])
    return (PROTOCOLS[proto], str(ipaddress.ip_address(src[:size])), sport,
            str(ipaddress.ip_address(dst[:size])), dport)


class FakeAgent:
    """Serves one port at a time on a unix socket, from the first moment as told."""

    def __init__(self, path: Path, flags: int = 0, pfs: int = 2,
                 preface: bytes = b"", refuse: Optional[Refuse] = None,
                 rules: Optional[Rules] = None, slow: float = 0.0) -> None:
        self.path = path
        self.flags = flags
        self.pfs = pfs
        self.preface = preface  # said at once to who connects first
        self.rules: Rules = rules or {}
        self.default: Optional[int] = None  # PF, as the port says
        self.log: List[int] = []
        self.sessions = 0
        self.secret = b""  # that the port said
        self.silent = False
        self.mute: Container[int] = ()  # kinds of messages that get no answer
        self.babble = b""  # is said over and over, as long as it is set
        self.babbled = 0  # bytes
        self.slow = slow  # seconds before it answers a put
        self.rests = 0  # how often all was answered, and nothing more had been said
        self.stale = False
        self.extra = False  # the next answer is said twice
        self.refuse = refuse
        self._fresh: set = set()
        self._peer: Optional[socket.socket] = None
        self._stop = threading.Event()
        if path.exists():
            os.unlink(path)
        self._ear = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ear.bind(str(path))
        self._ear.listen(4)
        self._ear.settimeout(0.05)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """As the devarg says it."""
        return f"unix:{self.path}"

    @property
    def connected(self) -> bool:
        """Is the port, and has not hung up?"""
        peer = self._peer
        try:
            return peer is not None and (
                not select.select([peer], [], [], 0)[0] or bool(peer.recv(1, socket.MSG_PEEK)))
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """Disappear; the books stay."""
        self._stop.set()
        self.hang_up()
        self._thread.join()
        self._ear.close()

    def hang_up(self) -> None:
        """End the connection."""
        peer = self._peer
        if peer is not None:
            try:
                peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __enter__(self) -> "FakeAgent":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                peer, _ = self._ear.accept()
            except socket.timeout:
                continue
            self._peer = peer
            with peer:
                try:
                    self._serve(peer)
                except OSError:
                    pass
            self._peer = None

    def _serve(self, peer: socket.socket) -> None:
        peer.settimeout(None)
        peer.sendall(self.preface)
        self.preface = b""
        data = b""
        while not self._stop.is_set():
            if self.babble:
                peer.sendall(self.babble)
                self.babbled += len(self.babble)
                if not select.select([peer], [], [], 0)[0]:
                    continue
            if not data and not select.select([peer], [], [], 0)[0]:
                self.rests += 1
            more = peer.recv(65536)
            if not more:
                return
            data += more
            while len(data) >= HEADER.size:
                magic, kind, size, session, seq = HEADER.unpack(
                    data[:HEADER.size])
                assert magic == b"OCTO"
                if len(data) < HEADER.size + size:
                    break
                body = data[HEADER.size:HEADER.size + size]
                data = data[HEADER.size + size:]
                answer = self._answer(kind, session, seq, body)
                if kind == PUT:
                    time.sleep(self.slow)
                if not self.silent and kind not in self.mute:
                    # in two halves: a stream keeps no boundaries
                    peer.sendall(answer[:7])
                    peer.sendall(answer[7:])
                    if self.extra:
                        self.extra = False
                        peer.sendall(answer)

    def _answer(self, kind: int, session: int, seq: int,
                body: bytes) -> bytes:
        self.log.append(kind)
        refused = self.refuse(kind) if self.refuse else None
        if self.stale and kind != HELLO:
            self.stale = False
            refused = (116, "no such session: begin with hello")
        if refused:
            return message(RESULT, session, seq, struct.pack(
                "!I", refused[0]) + refused[1].encode())
        if kind == HELLO:
            assert struct.unpack("!HHB3x", body[:8]) == (1, 1, self.pfs)
            self.secret = body[8:]
            self.sessions += 1
            self._fresh = set()
            return message(WELCOME, session, seq, struct.pack(
                "!HBBI", 1, self.pfs, self.flags, len(self.rules)))
        if kind == QUERY:
            key_of(body)
            return message(COUNT, session, seq, struct.pack("!QQ", 7, 420))
        self._do(kind, body)
        return message(RESULT, session, seq, struct.pack("!I", 0))

    def _do(self, kind: int, body: bytes) -> None:
        if kind == PUT:
            pf, zero, queue = struct.unpack("!BBH", body[40:])
            assert zero == 0 and pf < self.pfs
            self.rules[key_of(body)] = (pf, queue)
            self._fresh.add(key_of(body))
        elif kind == DEFAULT:
            assert self.flags & DEFAULTS and body[1:] == bytes(3)
            self.default = body[0]
        elif kind == REMOVE:
            del self.rules[key_of(body)]
        elif kind == SYNCED:
            self.rules = {k: v for k, v in self.rules.items()
                          if k in self._fresh}
