# SPDX-License-Identifier: BSD-3-Clause
"""A vhost-user client that is under the test's control, byte by byte.

Its memory is files, one for each node, which follow each other without a gap
in the addresses that it gives out. Its rings are split virtqueues.
"""

import array
import mmap
import os
import socket
import struct
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence, Tuple

from . import env

BASE = 0x100000
PIECE = 0x10000
RING = 16
HEADER = 12  # of virtio-net, with the number of merged buffers

RX, TX = 0, 1

_GET_FEATURES, _SET_FEATURES, _SET_OWNER = 1, 2, 3
_SET_MEM_TABLE = 5
_SET_VRING_NUM, _SET_VRING_ADDR, _SET_VRING_BASE = 8, 9, 10
_GET_VRING_BASE = 11
_SET_VRING_KICK, _SET_VRING_CALL = 12, 13
_GET_PROTOCOL_FEATURES, _SET_PROTOCOL_FEATURES = 15, 16
_SET_VRING_ENABLE = 18

_VERSION, _REPLY, _NEED_REPLY = 1, 4, 8
_REPLY_ACK = 1 << 3
_MERGEABLE, _INDIRECT, _PROTOCOL, _VERSION_1 = \
    1 << 15, 1 << 28, 1 << 30, 1 << 32
_NEXT, _WRITE, _IS_INDIRECT = 1, 2, 4


class Piece(NamedTuple):
    """Some bytes of the client's memory."""

    address: int
    length: int


class Memory:
    """Pieces of BASE, BASE + PIECE, ...: file i is at number i."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.maps: List[mmap.mmap] = []
        self.fds: List[int] = []
        self._next: Dict[int, int] = {}
        for file in files:
            self.add(file)

    def add(self, file: Path) -> None:
        """One more file."""
        fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, PIECE)
        self.fds.append(fd)
        self.maps.append(mmap.mmap(fd, PIECE))

    def close(self) -> None:
        """Let go of all."""
        for fd, mapped in zip(self.fds, self.maps):
            mapped.close()
            os.close(fd)

    def take(self, file: int, length: int, align: int = 16) -> Piece:
        """Bytes of this file that nobody else has."""
        at = -(-self._next.get(file, 0) // align) * align
        assert at + length <= PIECE
        self._next[file] = at + length
        return Piece(BASE + file * PIECE + at, length)

    def border(self, file: int, before: int, after: int) -> Piece:
        """Bytes at the end of this file and the beginning of the next."""
        return Piece(BASE + (file + 1) * PIECE - before, before + after)

    def write(self, address: int, data: bytes) -> None:
        """Anywhere."""
        for i, byte in enumerate(data):
            file, at = divmod(address - BASE + i, PIECE)
            self.maps[file][at] = byte

    def read(self, address: int, length: int) -> bytes:
        """Anywhere."""
        return bytes(self.maps[(address - BASE + i) // PIECE]
                     [(address - BASE + i) % PIECE] for i in range(length))

    def table(self) -> bytes:
        """As SET_MEM_TABLE has it."""
        regions = b"".join(
            struct.pack("<4Q", BASE + i * PIECE, PIECE, BASE + i * PIECE, 0)
            for i in range(len(self.fds)))
        return struct.pack("<2I", len(self.fds), 0) + regions


class Ring:
    """A virtqueue whose parts lie in one file."""

    def __init__(self, memory: Memory, file: int) -> None:
        self._memory = memory
        self.desc = memory.take(file, 16 * RING).address
        self.avail = memory.take(file, 4 + 2 * RING).address
        self.used = memory.take(file, 4 + 8 * RING).address
        self._next_desc = 0
        self._posted = 0

    def chain(self, pieces: Sequence[Piece], write: bool = False) -> int:
        """Write descriptors; the head."""
        head = self._next_desc
        table = self._table(pieces, write, head)
        self._memory.write(self.desc + 16 * head, table)
        self._next_desc += len(pieces)
        assert self._next_desc <= RING
        return head

    def indirect(self, table: Piece, pieces: Sequence[Piece]) -> int:
        """Write descriptors to a table elsewhere; the head."""
        self._memory.write(table.address, self._table(pieces, False, 0))
        head = self._next_desc
        self._memory.write(self.desc + 16 * head, struct.pack(
            "<QIHH", table.address, 16 * len(pieces), _IS_INDIRECT, 0))
        self._next_desc += 1
        return head

    @staticmethod
    def _table(pieces: Sequence[Piece], write: bool, first: int) -> bytes:
        last = len(pieces) - 1
        return b"".join(struct.pack(
            "<QIHH", p.address, p.length,
            (_NEXT if i < last else 0) | (_WRITE if write else 0),
            first + i + 1) for i, p in enumerate(pieces))

    def post(self, head: int) -> None:
        """Make the chain available to the device."""
        self._memory.write(self.avail + 4 + 2 * (self._posted % RING),
                           struct.pack("<H", head))
        self._posted += 1
        self._memory.write(self.avail + 2, struct.pack("<H", self._posted))

    def done(self) -> List[Tuple[int, int]]:
        """What the device gave back: (head, bytes written)."""
        nb, = struct.unpack("<H", self._memory.read(self.used + 2, 2))
        return [struct.unpack("<II", self._memory.read(
            self.used + 4 + 8 * (i % RING), 8)) for i in range(nb)]


class Client:
    """A virtio-net device with one queue pair, connected to its back end."""

    def __init__(self, path: Path, memory: Memory,
                 ring_files: Tuple[int, int] = (0, 0)) -> None:
        self.memory = memory
        self.rings = [Ring(memory, file) for file in ring_files]
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(env.seconds(10))
        self._socket.connect(str(path))
        self._events: List[int] = []
        self._negotiate()
        self.share_memory()
        for index in (RX, TX):
            self._start(index)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
        while self._events:
            os.close(self._events.pop())

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def share_memory(self) -> None:
        """Tell of all files, also while the rings are in use."""
        self._tell(_SET_MEM_TABLE, self.memory.table(), self.memory.fds)

    def stop(self) -> List[int]:
        """Take the rings back; how many entries of each were used."""
        return [struct.unpack("<II", self._ask(
            _GET_VRING_BASE, struct.pack("<II", index, 0)))[1]
            for index in (RX, TX)]

    def enable(self, index: int, on: bool) -> None:
        """One ring, as a driver with fewer queues does."""
        self._tell(_SET_VRING_ENABLE, struct.pack("<II", index, on))

    def _negotiate(self) -> None:
        offered = struct.unpack("<Q", self._ask(_GET_FEATURES))[0]
        wanted = _MERGEABLE | _INDIRECT | _PROTOCOL | _VERSION_1
        assert offered & wanted == wanted, hex(offered)
        self._send(_SET_OWNER)
        assert struct.unpack("<Q", self._ask(_GET_PROTOCOL_FEATURES))[0] \
            & _REPLY_ACK
        self._send(_SET_PROTOCOL_FEATURES, struct.pack("<Q", _REPLY_ACK))
        self._tell(_SET_FEATURES, struct.pack("<Q", wanted))

    def _start(self, index: int) -> None:
        ring = self.rings[index]
        self._tell(_SET_VRING_NUM, struct.pack("<II", index, RING))
        self._tell(_SET_VRING_BASE, struct.pack("<II", index, 0))
        self._tell(_SET_VRING_ADDR, struct.pack(
            "<IIQQQQ", index, 0, ring.desc, ring.used, ring.avail, 0))
        for message in (_SET_VRING_CALL, _SET_VRING_KICK):
            self._events.append(os.eventfd(0))
            self._tell(message, struct.pack("<Q", index), self._events[-1:])
        self.enable(index, True)

    def _send(self, message: int, body: bytes = b"",
              fds: Sequence[int] = (), flags: int = 0) -> None:
        data = struct.pack("<III", message, _VERSION | flags, len(body)) + body
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                   array.array("i", fds))] if fds else []
        self._socket.sendmsg([data], rights)

    def _receive(self, message: int) -> bytes:
        head = self._socket.recv(12, socket.MSG_WAITALL)
        assert len(head) == 12, "the back end hung up"
        answered, flags, size = struct.unpack("<III", head)
        assert answered == message and flags & _REPLY
        return self._socket.recv(size, socket.MSG_WAITALL)

    def _ask(self, message: int, body: bytes = b"") -> bytes:
        self._send(message, body)
        return self._receive(message)

    def _tell(self, message: int, body: bytes,
              fds: Sequence[int] = ()) -> None:
        self._send(message, body, fds, _NEED_REPLY)
        assert struct.unpack("<Q", self._receive(message))[0] == 0
