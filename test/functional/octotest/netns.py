# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces joined to DPDK by veth pairs."""

import itertools
import os
import re
import subprocess
from typing import List, Sequence

from . import env

_serial = itertools.count()


def run(*argv: object, check: bool = True, timeout: float = 60) -> str:
    """Run a program of the system; its output."""
    words = [str(a) for a in argv]
    words[0] = env.find_binary(words[0]) or words[0]
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          timeout=env.seconds(timeout), check=False)
    assert not check or done.returncode == 0, \
        f"{' '.join(words)}: {done.returncode}\n{done.stdout}"
    return done.stdout


def silence(interface: str) -> None:
    """The kernel must not speak there."""
    knob = f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6"
    if os.path.exists(knob):
        with open(knob, "w", encoding="ascii") as file:
            file.write("1")


def receive_in_order(name: str) -> List[str]:
    """Has one CPU take in all that comes by a veth. Else the one that sends does, and where
    two take turns, as the pollers of a NIC do, packets of a flow change places."""
    # /sys has the interfaces of whom it was mounted for, who may have had another network
    device = f"/sys/class/net/{name}"
    knob = f"{device}/queues/rx-0/rps_cpus"
    return ["unshare", "--mount", "sh", "-ec",
            f"[ -d {device} ] || mount -t sysfs sysfs /sys; [ -d {device} ]; "
            f"[ ! -e {knob} ] || echo 1 > {knob}"]


class Host:
    """A namespace with one interface, whose other end is a DPDK wire."""

    def __init__(self, number: int, gateway_mac: str) -> None:
        tag = f"{os.getpid() % 100000}x{next(_serial)}"
        self.number = number
        self.name = f"octo{tag}"
        self.wire = f"ow{tag}"  # in the root namespace
        self.inner = "eth0"
        self.mac = f"02:00:00:00:0a:{number:02x}"
        self.ip4 = f"10.{number}.0.2"
        self.ip6 = f"fd0{number}::2"
        self.gateway_mac = gateway_mac
        try:
            self._make()
        except AssertionError:
            self.remove()
            raise

    def _make(self) -> None:
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.wire, "type", "veth", "peer", "name",
            self.inner, "address", self.mac, "netns", self.name)
        silence(self.wire)
        self.ip("link", "set", "lo", "up")
        self._plain_offloads()
        run(*receive_in_order(self.wire))
        self.run(*receive_in_order(self.inner))
        run("ip", "link", "set", self.wire, "up")
        self.ip("link", "set", self.inner, "up")
        self._address()

    def _plain_offloads(self) -> None:
        """net_af_packet computes no checksums and cuts no segments."""
        off = [w for o in ("tx", "rx", "sg", "tso", "gso", "gro")
               for w in (o, "off")]
        run("ethtool", "-K", self.wire, *off, check=False)
        self.run("ethtool", "-K", self.inner, *off, check=False)
        left = self.run("ethtool", "-k", self.inner)
        assert "tx-checksumming: off" in left, left

    def _address(self) -> None:
        self.ip("addr", "add", f"{self.ip4}/24", "dev", self.inner)
        self.ip("addr", "add", f"{self.ip6}/64", "dev", self.inner, "nodad")

    def route_through(self) -> None:
        """Everything else is behind a router that answers no ARP."""
        for via in (f"10.{self.number}.0.1", f"fd0{self.number}::1"):
            self.neighbour(via, self.gateway_mac)
            self.ip("route", "add", "default", "via", via)

    def small_windows(self, size: int = 65536) -> None:
        """TCP with less in flight than rings hold: then nothing gets lost."""
        for name in ("tcp_rmem", "tcp_wmem"):
            self.run("sh", "-c", f"echo 4096 {size} {size} >"
                     f" /proc/sys/net/ipv4/{name}")

    def be_patient(self, seconds: float) -> None:
        """TCP waits so long for an answer: no timer runs out because a machine is busy. That
        is for connections to come: one that was ever less patient stays so."""
        for route in self.ip("-4", "route").splitlines():
            words = re.sub(r" rto_min (lock )?\S+", "", route).split()
            self.ip("route", "change", *words, "rto_min", f"{round(seconds * 1000)}ms")

    def probe_losses(self, on: bool) -> None:
        """TCP asks for what has not been answered in two round trips, or it waits."""
        self.run("sysctl", "-qw", f"net.ipv4.tcp_early_retrans={3 if on else 0}")

    def retransmitted(self) -> int:
        """Segments that TCP has sent again."""
        return self._counted("/proc/net/snmp", "Tcp:", "RetransSegs")

    def out_of_order(self) -> int:
        """Segments that have come to TCP before others that were sent before them."""
        return self._counted("/proc/net/netstat", "TcpExt:", "TCPOFOQueue")

    def refused(self) -> int:
        """Segments that have come, and TCP had no room for."""
        return self._counted("/proc/net/netstat", "TcpExt:", "TCPBacklogDrop", "TCPRcvQDrop",
                             "TCPZeroWindowDrop", "TCPOFODrop", "RcvPruned")

    def _counted(self, file: str, table: str, *wanted: str) -> int:
        names, values = (line.split() for line in self.run("cat", file).splitlines()
                         if line.startswith(table))
        return sum(int(values[names.index(name)]) for name in wanted)

    def neighbour(self, address: str, mac: str) -> None:
        """A static neighbour."""
        self.ip("neigh", "replace", address, "lladdr", mac, "dev", self.inner,
                "nud", "permanent")

    def ip(self, *words: object) -> str:
        """Run ip in the namespace."""
        return run("ip", "-n", self.name, *words)

    def argv(self, *words: object) -> List[str]:
        """A command line that runs in the namespace."""
        return [env.find_binary("ip") or "ip", "netns", "exec", self.name,
                *map(str, words)]

    def run(self, *words: object, check: bool = True,
            timeout: float = 60) -> str:
        """Run a program in the namespace."""
        return run(*self.argv(*words), check=check, timeout=timeout)

    def popen(self, words: Sequence[object], **more) -> subprocess.Popen:
        """Start a program in the namespace."""
        return subprocess.Popen(self.argv(*words), text=True,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, **more)

    def remove(self) -> None:
        """Take everything away; the interface goes with the namespace."""
        run("ip", "link", "del", self.wire, check=False)
        run("ip", "netns", "del", self.name, check=False)
