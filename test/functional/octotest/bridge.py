# SPDX-License-Identifier: BSD-3-Clause
"""A bridge of the kernel as the switch of a NIC: it sorts by destination address only."""

import itertools
import json
import os

from .netns import receive_in_order, run, silence

_serial = itertools.count()


class Bridge:
    """PFs, hosts and raw sockets are its ports. It floods multicast like broadcast."""

    def __init__(self) -> None:
        self._tag = f"{os.getpid() % 100000}b{next(_serial)}"
        self.name = f"ob{self._tag}"
        self._wires = 0
        run("ip", "link", "add", self.name, "type", "bridge", "mcast_snooping", 0)
        silence(self.name)
        run("ip", "link", "set", self.name, "up")

    def wire(self) -> str:
        """A veth pair: the end for DPDK, which is also the port's name."""
        name = f"w{self._tag}x{self._wires}"
        port = f"p{self._tag}x{self._wires}"
        self._wires += 1
        run("ip", "link", "add", name, "type", "veth", "peer", port)
        for end in (name, port):
            silence(end)
            run("ethtool", "-K", end, "tx", "off")
            run(*receive_in_order(end))
            run("ip", "link", "set", end, "up")
        self.join(port)
        return name

    def join(self, interface: str) -> None:
        """Make an interface a port of the bridge."""
        run("ip", "link", "set", interface, "master", self.name)

    def flood(self) -> None:
        """Send each frame to all ports, as a switch does to promiscuous PFs."""
        run("ip", "link", "set", self.name, "type", "bridge", "ageing_time", 0)

    def wire_of(self, mac: str) -> str:
        """The wire behind which the bridge has seen the address, or nothing."""
        table = json.loads(run("bridge", "-j", "fdb", "show", "br", self.name, "dynamic"))
        ports = [entry["ifname"] for entry in table if entry["mac"] == mac]
        assert len(ports) <= 1, table
        return "w" + ports[0][1:] if ports else ""

    def remove(self) -> None:
        """Take the bridge away, and its wires."""
        for i in range(self._wires):
            run("ip", "link", "del", f"w{self._tag}x{i}", check=False)
        run("ip", "link", "del", self.name, check=False)
