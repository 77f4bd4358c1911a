# SPDX-License-Identifier: BSD-3-Clause
"""What joins the generator to the simulated NIC."""

import os
import subprocess
from pathlib import Path

from .children import Failed

# frames of 2 KiB in blocks of a page, so that they are found one by one
AF_PACKET = "blocksz=4096,framesz=2048,framecnt=2048"
# The driver names its group of sockets by process id xor interface index, once per machine: of
# two programs and two interfaces in a row, both may have the same. These differ in one high bit.
FIRST_INDEX = 1 << 14
PREPARE_NOTHING = ()


class Shared:
    """net_memif: memory that both programs have; nothing that could be left behind."""
    kind = "sim"
    what = "shared memory (net_memif)"
    name = "net_memif0"
    commands = PREPARE_NOTHING

    def __init__(self, tag: str) -> None:
        self._common = f"socket={tag},socket-abstract=yes,id=0"
        self.generator_args = [f"--vdev=net_memif0,role=server,{self._common}"]
        self.l3fwd_args = [f"--vdev=net_memif0,role=client,{self._common}"]

    def open(self) -> None:
        """Nothing is to be done."""

    def close(self) -> None:
        """Nothing is left."""


class Veth:
    """net_af_packet on both ends of a pair of kernel interfaces."""
    kind = "veth"
    what = "a veth pair (net_af_packet)"
    name = "net_af_packet0"

    def __init__(self, tag: str) -> None:
        self._ends = (f"{tag}g", f"{tag}d")
        near, far = self._ends
        self.generator_args = [f"--vdev=net_af_packet0,iface={near},{AF_PACKET}"]
        self.l3fwd_args = [f"--vdev=net_af_packet0,iface={far},{AF_PACKET}"]
        index = FIRST_INDEX + os.getpid() % FIRST_INDEX
        self.commands = (
            f"ip link add {near} index {index} type veth peer name {far} index "
            f"{index + 2 * FIRST_INDEX}", _silence(near), _silence(far),
            f"ip link set {near} up", f"ip link set {far} up")

    def open(self) -> None:
        """By root only."""
        for command in self.commands:
            _run(command)

    def close(self) -> None:
        """Takes the other end along."""
        if Path("/sys/class/net", self._ends[0]).exists():
            _run(f"ip link del {self._ends[0]}")


def _silence(end):
    """What the kernel says by itself would be counted."""
    knob = f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6"
    return f"[ ! -e {knob} ] || echo 1 >{knob}"


def _run(command):
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": path})
    if done.returncode != 0:
        raise Failed(f"--wire veth: {command}: {done.stderr.strip()}")


def make(kind: str, tag: str):
    """The wire of this kind."""
    return Veth(tag) if kind == "veth" else Shared(tag)
