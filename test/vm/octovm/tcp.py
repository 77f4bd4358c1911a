# SPDX-License-Identifier: BSD-3-Clause
"""TCP connections of this kernel with themselves: tcp.py ADDRESS PORT NUMBER

The peer returns each frame with its addresses and ports exchanged. So a connection's SYN comes
back as one of the other side (a simultaneous open), and its data as an echo.

A number of bytes as a line on standard input has each connection send so many, a few at a time,
and read them again; after the line "go" they send until there is another line. The answer is a
line "N connections, N bytes, N resent": what has come back since the connections were opened, and
the segments that the kernel has sent again.
"""

import selectors
import socket
import struct
import sys
from typing import List

AT_ONCE = 4096  # bytes of a connection that are under way
ENDLESS = 1 << 40
FIRST_PORT = 20000
_TOTAL_RETRANS = 100  # its place in struct tcp_info


class Connection:
    """One of them; its bytes are not those of any other."""

    def __init__(self, address: str, port: int, number: int) -> None:
        self.number = number
        self.sent = 0
        self.returned = 0
        self.wanted = 0
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.bind(("", FIRST_PORT + number))
        self.sock.setblocking(False)
        self.sock.connect_ex((address, port))

    def fileno(self) -> int:
        """For a selector."""
        return self.sock.fileno()

    def _bytes(self, begin: int, end: int) -> bytes:
        return bytes((self.number + i + (i >> 8)) & 255 for i in range(begin, end))

    def go_on(self) -> None:
        """Send what may be sent, and take in what came."""
        end = min(self.wanted, self.returned + AT_ONCE)
        try:
            if self.sent < end:
                self.sent += self.sock.send(self._bytes(self.sent, end))
            data = self.sock.recv(65536)
        except BlockingIOError:
            return
        if data != self._bytes(self.returned, self.returned + len(data)) or not data:
            sys.exit(f"connection {self.number}: other bytes than were sent, at {self.returned}")
        self.returned += len(data)

    def events(self) -> int:
        """What it waits for."""
        may_send = self.sent < min(self.wanted, self.returned + AT_ONCE)
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if may_send else 0)

    def resent(self) -> int:
        """Segments that the kernel has sent more than once."""
        info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TOTAL_RETRANS + 4)
        return struct.unpack_from("I", info, _TOTAL_RETRANS)[0]


def wait(connections: List[Connection], line_ends_it: bool = False) -> None:
    """All send what they are to send and get it back."""
    with selectors.DefaultSelector() as selector:
        for one in connections:
            selector.register(one, one.events())
        if line_ends_it:
            selector.register(sys.stdin, selectors.EVENT_READ)
        while any(one.returned < one.wanted for one in connections):
            for key, _ in selector.select():
                if not isinstance(key.fileobj, Connection):
                    sys.stdin.readline()
                    selector.unregister(sys.stdin)
                    for one in connections:
                        one.wanted = one.sent
                    continue
                key.fileobj.go_on()
                selector.modify(key.fileobj, key.fileobj.events())


def main() -> None:
    """Serve the lines."""
    address, port, number = sys.argv[1:]
    connections = [Connection(address, int(port), i) for i in range(int(number))]
    print("ready", flush=True)
    while True:
        line = sys.stdin.readline()
        if not line:
            return
        endless = line.strip() == "go"
        for one in connections:
            one.wanted += ENDLESS if endless else int(line)
        wait(connections, endless)
        print(f"{len(connections)} connections, {sum(one.returned for one in connections)} bytes,"
              f" {sum(one.resent() for one in connections)} resent", flush=True)


if __name__ == "__main__":
    main()
