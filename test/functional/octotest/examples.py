# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's examples as they are, over two ports, each with a cable to the test.

    test - veth - net_af_packet - NIC A - port 0 \\
                                                  > the example
    test - veth - net_af_packet - NIC B - port 1 /

The ports are octo ports of two PFs each, or the first PF of each NIC alone.
"""

import contextlib
import re
from collections import defaultdict
from typing import Callable, Dict, Iterator, List, Optional, Sequence

import pytest

from . import env, packets, vdevs
from .process import Process
from .veth import Wire

FLOWS = packets.flows(8)
ROUNDS = 2
EACH = 20
SENT = ROUNDS * EACH * len(FLOWS)  # by check_forwards() each way
Frames = Sequence[bytes]


# Of a device {i}, whose cable is {name}. net_af_packet lets the kernel put IPv4 fragments together.
AF_PACKET = "net_af_packet{i},iface={name},blocksz=4096,framesz=2048,framecnt=2048"
PCAP = "net_pcap{i},rx_iface_in={name},tx_iface={name}"


def _wires(cables: Sequence[Wire], wire: str) -> List[str]:
    return [wire.format(i=i, name=cable.name) for i, cable in enumerate(cables)]


def over_pfs(cables: Sequence[Wire], wire: str = AF_PACKET) -> List[str]:
    """Ports 0 and 1 are the default PFs of their NICs. The other PFs follow, so that no wire,
    which is probed with the PF that has it, gets a number in between."""
    wires = _wires(cables, wire)
    nics = [vdevs.nic("AB"[i], 2 * i, 2, sliced=False) for i in range(len(cables))]
    return [*(pfs[0] for pfs in nics),
            *(f"{pfs[1]},wire={wires[i].partition(',')[0]}" for i, pfs in enumerate(nics)),
            *(f"--vdev={one}" for one in wires)]


def over_octo(cables: Sequence[Wire], wire: str = AF_PACKET) -> List[str]:
    """Ports 0 and 1 are octo ports."""
    wires = _wires(cables, wire)
    octos = [vdevs.octo(i, 2 * i) for i in range(len(cables))]
    nics = [arg for i, one in enumerate(wires)
            for arg in vdevs.nic("AB"[i], 2 * i, 2, one.partition(",")[0])]
    return octos + nics + [f"--vdev={one}" for one in wires]


PORTS = pytest.mark.parametrize("ports", [over_pfs, over_octo])
Ports = Callable[..., List[str]]


class Example(Process):
    """One of them, which is ready."""

    MEMORY = ("--no-huge", "-m", "768")

    def __init__(self, name: str, lcores: str, eal: Sequence[str], app: Sequence[str],
                 ready: str, memory: Sequence[str] = MEMORY, prefix: Optional[str] = None) -> None:
        super().__init__([
            env.find_built(f"octo-{name}"), "--no-pci", *memory, f"--lcores={lcores}",
            f"--file-prefix={prefix or env.unique()}", *eal, "--", *app])
        self.expect(ready, timeout=60)


@contextlib.contextmanager
def two_cables(*examples: str, mtu: int = 1500) -> Iterator[List[Wire]]:
    """For examples that are built, or skip."""
    for name in ("ip", *(f"octo-{example}" for example in examples)):
        if (env.find_built if name.startswith("octo-") else env.find_binary)(name) is None:
            pytest.skip(f"{name} is not there")
    with Wire(mtu) as one, Wire(mtu) as other:
        yield [one, other]


def numbered(each: int, payload: int = 64) -> List[bytes]:
    """Frames of all flows in turn."""
    return [bytes(packet) for packet in packets.numbered(FLOWS, each, payload)]


def by_flow(frames: Frames) -> Dict[bytes, List[bytes]]:
    """The frames of each flow in the order in which they came."""
    flows = defaultdict(list)
    for frame in frames:
        flows[re.search(rb"f\d+ n", frame)[0]].append(frame)
    return flows


def exchange(source: Wire, sink: Wire, sent: Frames) -> List[bytes]:
    """Send all by one cable; return as many that come by the other."""
    for frame in sent:
        source.send(frame)
    return sink.receive(len(sent))


def check_forwards(cables: Sequence[Wire], sinks: Optional[Sequence[Wire]] = None) -> None:
    """All that comes by a cable arrives by its sink, the other cable if not given: as it was,
    once, and each flow in order."""
    for _ in range(ROUNDS):
        for source, sink in zip(cables, sinks or cables[::-1]):
            sent = numbered(EACH)
            assert by_flow(exchange(source, sink, sent)) == by_flow(sent)
    for cable in cables:
        assert not cable.receive(1, timeout=0)
