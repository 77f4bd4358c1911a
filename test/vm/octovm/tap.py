# SPDX-License-Identifier: BSD-3-Clause
"""A virtio-net of the guest whose cable ends in a network namespace of this host."""

import contextlib
import itertools
import json
import os
import select
import socket
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple

import pytest

from octotest import env
from octotest.bridge import Bridge
from octotest.netns import run, silence
from octotest.process import Process

from . import tcp
from .qemu import Pf

ADDRESS = "10.9.0.1"
PEER = "10.9.0.2"  # answers nothing by itself: its frames are returned
PORT = 7
ETH_P_ALL = 3
MAC = "02:0c:70:00:00:01"  # of the guest's end

# XDP takes no packets that the host leaves in pieces or without a checksum.
_PLAIN = ",".join(f"{offload}=off" for offload in (
    "guest_tso4", "guest_tso6", "guest_ufo", "guest_ecn", "guest_csum", "ctrl_guest_offloads"))

_serial = itertools.count()


def lacks() -> str:
    """Why there can be none, or nothing."""
    if not env.IS_ROOT:
        return "network interfaces need root"
    return "" if Path("/dev/net/tun").exists() else "this system has no tap devices"


class Talk(NamedTuple):
    """What the connections have done since they were opened."""

    connections: int
    returned: int  # bytes
    resent: int    # segments


class Ear:
    """A raw socket on a tap."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    def heard(self) -> List[bytes]:
        """All frames that the guest has sent until now."""
        frames: List[bytes] = []
        while select.select([self._socket], [], [], 0)[0]:
            frame, address = self._socket.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING:
                frames.append(frame)
        return frames


class Tap:
    """The host's end, with a multi-queue device of QEMU behind it."""

    def __init__(self, queues: int) -> None:
        if lacks():
            pytest.skip(lacks())
        tag = f"{os.getpid() % 100000}p{next(_serial)}"
        self.name = f"ot{tag}"
        self.netns = f"octo{tag}"
        self._queues = queues
        run("ip", "tuntap", "add", self.name, "mode", "tap", "multi_queue")

    def nic(self, node: int, mac: str = MAC) -> Pf:
        """The guest's end, which hashes and has a RETA."""
        return Pf(node, f"virtio-net-pci,netdev={{id}},mac={mac},romfile=,mq=on,"
                  f"vectors={2 * self._queues + 2},rss=on,hash=on,{_PLAIN}",
                  ("-netdev", f"tap,id={{id}},ifname={self.name},script=no,downscript=no,"
                   f"vhost=off,queues={self._queues}"))

    def plug_in(self) -> None:
        """Once QEMU has it: out of the way of this machine's own network. Nothing speaks on
        it but what a test starts."""
        run("ip", "netns", "add", self.netns)
        run("ip", "link", "set", self.name, "netns", self.netns)
        self.run("sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6")
        self.run("ip", "addr", "add", f"{ADDRESS}/24", "dev", self.name)
        self.run("ip", "link", "set", self.name, "up")
        self.run("ip", "neigh", "replace", PEER, "lladdr", MAC, "nud", "permanent",
                 "dev", self.name)

    def plug_into(self, bridge: Bridge) -> None:
        """Once QEMU has it: a port of the bridge."""
        silence(self.name)
        run("ip", "link", "set", self.name, "up")
        bridge.join(self.name)

    @contextlib.contextmanager
    def listen(self) -> Iterator["Ear"]:
        """Hear what the guest sends, while the tap is in no namespace of its own."""
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as end:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            end.bind((self.name, ETH_P_ALL))
            yield Ear(end)

    def run(self, *argv: object) -> str:
        """Run a program in the namespace."""
        return run("ip", "netns", "exec", self.netns, *argv)

    def counts(self) -> Dict[str, int]:
        """Frames and losses by direction, as the host sees them: tx is to the guest."""
        link = json.loads(self.run("ip", "-s", "-j", "link", "show", "dev", self.name))[0]
        return {f"{way}_{what}": link["stats64"][way][what]
                for way in ("rx", "tx") for what in ("packets", "dropped", "errors")}

    def out_of_order(self) -> int:
        """TCP segments that came before an earlier one."""
        names, values = (line.split() for line in self.run("cat", "/proc/net/netstat").splitlines()
                         if line.startswith("TcpExt:"))
        return int(dict(zip(names, values))["TCPOFOQueue"])

    def close(self) -> None:
        """Take it away."""
        run("ip", "netns", "del", self.netns, check=False)
        run("ip", "link", "del", self.name, check=False)


class Connections:
    """TCP connections by the cable."""

    def __init__(self, tap: Tap, number: int) -> None:
        self.process = Process([sys.executable, tcp.__file__, PEER, PORT, number],
                               prefix=["ip", "netns", "exec", tap.netns])
        self.process.keep = True
        self.process.expect("ready")
        self._asked = 0

    def _say(self, line: str) -> None:
        self.process.read(0)
        self._asked = len(self.process.text)
        self.process.send(line)

    def _answer(self, timeout: float = 30.0) -> Talk:
        said = self.process.expect(r"(\d+) connections, (\d+) bytes, (\d+) resent", self._asked,
                                   timeout)
        return Talk(*map(int, said.groups()))

    def talk(self, number: int) -> Talk:
        """Each sends so many bytes and gets them back."""
        self._say(str(number))
        return self._answer()

    @contextlib.contextmanager
    def talking(self) -> Iterator[None]:
        """They send all the time, and get all back in the end."""
        self._say("go")
        yield
        self._say("enough")
        self._answer()
