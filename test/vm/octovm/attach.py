# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command in the guest as if it ran here: attach.py SHELL COMMAND...

Its terminal is this one and its exit status is this program's, so whatever
drives a program on a pty drives one in the guest by this prefix.
"""

import contextlib
import os
import re
import secrets
import select
import shlex
import socket
import sys
import termios
import tty
from typing import Iterator, Sequence


def request(token: str, mode: str, command: str) -> bytes:
    """What octo-shell in the guest reads."""
    coded = command.encode()
    return f"{token} {mode} {len(coded)}\n".encode() + coded


def new_token() -> str:
    """What no output has in it."""
    return secrets.token_hex(16)


def ending(token: str) -> "re.Pattern[bytes]":
    """How octo-shell says that the command has ended."""
    return re.compile(rb"\r?\n" + re.escape(token).encode() + rb" (\d+)\r?\n")


@contextlib.contextmanager
def _raw(fd: int) -> Iterator[None]:
    """The guest's terminal echoes and edits, not this one."""
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)


def _held_back(data: bytes, token: str) -> int:
    """How many bytes at the end may be the beginning of the ending."""
    at = data.rfind(b"\n")
    line, last = data[at + 1:], token.encode() + b" "
    if at >= 0 and (last.startswith(line) or line.startswith(last)):
        return len(data) - at + (data[:at].endswith(b"\r"))
    return int(data.endswith(b"\r"))


def _relay(sock: socket.socket, token: str) -> int:
    end = ending(token)
    kept = b""
    inputs = [sock, sys.stdin]
    while True:
        ready, _, _ = select.select(inputs, [], [])
        if sys.stdin in ready:
            typed = os.read(0, 4096)
            sock.sendall(typed)
            if not typed:
                inputs.remove(sys.stdin)
        if sock not in ready:
            continue
        data = sock.recv(65536)
        kept += data
        found = end.search(kept)
        if found or not data:
            os.write(1, kept[:found.start()] if found else kept)
            return int(found[1]) if found else 255
        sure = len(kept) - _held_back(kept, token)
        os.write(1, kept[:sure])
        kept = kept[sure:]


def main(argv: Sequence[str]) -> int:
    """The command's exit status; 255 if the machine went away."""
    token = new_token()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock, _raw(0):
        sock.connect(argv[1])
        sock.sendall(request(token, "tty", "exec " + shlex.join(argv[2:])))
        return _relay(sock, token)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
