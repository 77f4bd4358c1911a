# SPDX-License-Identifier: BSD-3-Clause
"""The simulator's stand-in for a machine of test/fixtures/doctor.

The arguments that ./octo doctor prints stay as they are, but for the devices: each becomes a PF of
net_mpsim with as many queues. The PFs take no transfer rules, as those of the fixtures' NICs
(mlx5, bnxt, ice, virtio) take none that lead to another PF.
"""

import re
import shlex
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple

from . import agentnic, vdevs

LEFT_OUT = ("-l ", "--main-lcore=", "-a 0000:00:00.0")  # CPUs and PCI devices of the other machine
ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class StandIn(NamedTuple):
    """What testpmd is to be started with."""

    vdevs: List[str]
    queues: int
    lcores: str
    ports: List[str]  # that the application has then


class _Maker:
    """One PF of the simulator for each device, in the order in which they are named."""

    def __init__(self, nodes: Dict[str, int], agent: Optional[str], switch: Optional[str]) -> None:
        self.nodes = nodes
        self.agent = agent
        self.switch = switch
        self.made: Dict[str, str] = {}
        self.vdevs: List[str] = []  # in the order of the command line
        self.probed: List[str] = []  # by octo, when all octo ports have their numbers
        self.ports: List[str] = []

    def _name(self, device: str) -> str:
        """Of the PF that stands for a device."""
        return self.made.setdefault(device, f"net_mpsim{len(self.made)}")

    def _device(self, name: str, nic: str, **more: object) -> str:
        """The PF that stands for a device."""
        if not any(f"nic={nic}," in v for v in (*self.vdevs, *self.probed)):
            more.update(wire="loop", switch=self.switch)
        number = int(self._name(name)[len("net_mpsim"):])
        return vdevs.mpsim(number, nic, self.nodes.get(name, 0) & 1, caps="-mpfs", **more)

    def _lower(self, name: str, devargs: str) -> None:
        """net_af_xdp: all queues of a netdev."""
        given = dict(pair.split("=") for pair in devargs.split(","))
        assert set(given) == {"iface", "queue_count"}
        self.vdevs.append(self._device(name, name, queues=given["queue_count"]))

    def _octo(self, name: str, devargs: str) -> None:
        """net_octo over devices that stand for those that it names."""
        found = []
        for pair in devargs.split(","):
            key, _, value = pair.partition("=")
            if key == "pf":
                lower, rest = re.fullmatch(r"([^@\[]+)(.*)", value).groups()
                if ADDRESS.fullmatch(lower):
                    self.probed.append(self._device(lower, name))
                value = self._name(lower) + rest.replace("@NODE", "@0")
            if key == "agent":
                value = self.agent
            found.append(f"{key}={value}")
        found.append(f"socket_map={vdevs.SOCKET_MAP}")
        self.vdevs.append(f"--vdev={name}," + ",".join(found))
        self.ports.append(name)

    def argument(self, text: str) -> None:
        """One of EAL's."""
        if text.startswith(LEFT_OUT):
            return
        if text.startswith("-a "):
            assert ADDRESS.fullmatch(text[3:])
            self.vdevs.append(self._device(text[3:], text[3:].replace(":", "")))
            self.ports.append(self._name(text[3:]))
            return
        name, devargs = re.fullmatch(r"--vdev=(\w+),(.*)", text).groups()
        if name.startswith("net_octo"):
            self._octo(name, devargs)
        else:
            assert name.startswith("net_af_xdp")
            self._lower(name, devargs)


def make(arguments: dict, nodes: Dict[str, int], agent: Optional[str] = None,
         switch: Optional[str] = None) -> StandIn:
    """Of the arguments as JSON has them; nodes by PCI address."""
    maker = _Maker(nodes, agent, switch)
    for text in arguments["eal"]:
        maker.argument(text)
    workers = max(arguments["workers"], 1)
    # half of the workers are near each PF; lcore 0 types
    lcores = ["0@0"] + [f"{i + 1}@{2 * i // workers}" for i in range(workers)]
    return StandIn(maker.vdevs + maker.probed, workers, ",".join(lcores), maker.ports)


def agent_words(arguments: dict, address: str,
                root: Path) -> Optional[Tuple[List[str], List[str]]]:
    """EAL's and its own arguments of the octo-agent that doctor wants before, if it does.

    The representors are those of the machine, which is below a root, by their interface indices.
    """
    command = next((line for line in arguments["before"] if line.startswith("$ octo-agent ")), None)
    if command is None:
        return None
    words = shlex.split(command[2:])
    end = words.index("--")
    assert words[1].startswith("--file-prefix=") and words[2] == "-a" and end == 4
    uplink = words[3].partition(",")[0]
    pfs = sum(word == "--pf" for word in words)
    assert pfs == len(agentnic.VFS)
    own = [f"--root={root}"]
    for word in words[end + 1:]:
        word = "net_mpsim2" if word in (uplink, f"{uplink}_p0") else word
        own.append(address if word.startswith("unix:") else word)
    assert address in own and "net_mpsim2" in own
    return agentnic.representors("S"), own
