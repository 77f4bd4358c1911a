# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's server_node_efd: a server that receives, and two nodes that send, secondary processes.

    test - veth - net_af_packet - NIC A - net_octo0 \\             / node 0: queue 0 of each port
                                                     > the server <
    test - veth - net_af_packet - NIC B - net_octo1 /             \\ node 1: queue 1

The server gives each packet to the node of its destination address, which sends it by the
other port. The server and node 1 run on CPU 0, on socket 0, node 0 on CPU 1, on socket 1.
"""

from typing import Dict, Iterator, List

import pytest

from octotest import env, hugepages, packets, vdevs
from octotest.process import Process
from octotest.telemetry import Telemetry
from octotest.veth import Wire

NODES = 2
NB_FLOWS = 64  # to addresses 0.0.0.0 and up, in turn of node 0 and node 1
CPUS = {0: 1, 1: 0}  # of the nodes
# DPDK's library efd, of 25.11, 22.11.11 and others, answers 0 to all where it was built for CPUs
# without AVX2 and runs on one with it: then node 0 gets all packets, by whatever ports they come.
NO_AVX2 = "--force-max-simd-bitwidth=128"


class Trio:
    """The server, its nodes, and the ends of the cables."""

    def __init__(self, huge_dir: str, cables: List[Wire], devices: List[str]) -> None:
        self.cables = cables
        self.prefix = env.unique()
        self.server = self._start(
            "server", 0, 0, ["--proc-type=primary", "-m", "256", f"--huge-dir={huge_dir}",
                             NO_AVX2, *devices, *hugepages.SHARED],
            ["-p", "3", "-n", str(NODES), "-f", f"{NB_FLOWS:x}"])
        self.telemetry = Telemetry(self.prefix)
        self.nodes = [self._start("node", node + 1, CPUS[node], ["--proc-type=secondary"],
                                  ["-n", str(node)]) for node in range(NODES)]

    def _start(self, name: str, lcore: int, cpu: int, eal: List[str], app: List[str]) -> Process:
        """Each lcore has a cache in the shared pool: no two may be alike."""
        process = Process([env.find_built(f"octo-efd_{name}"), "--no-pci",
                           f"--lcores={lcore}@{cpu}", f"--file-prefix={self.prefix}", *eal,
                           "--", *app])
        process.expect("Finished Process Init", timeout=60)
        return process

    def numbers(self) -> Dict[str, int]:
        """Of all ports that there are, by their names."""
        infos = [self.telemetry.get("/ethdev/info", n) for n in range(32)]
        return {info["name"]: n for n, info in enumerate(infos) if info is not None}

    def xstats(self, name: str) -> Dict[str, int]:
        """Of a port."""
        return self.telemetry.get("/ethdev/xstats", self.numbers()[name])

    def check_forwards(self, source: int, sink: int) -> None:
        """All arrive as they were. A node's ring has room for 127."""
        for n in range(5):
            sent = [bytes(packets.Flow("udp", "192.0.2.1", 1000 + n, f"0.0.0.{i}", 53).packet(
                packets.flow_mac(i), payload=64 * b".")) for i in range(NB_FLOWS)]
            for frame in sent:
                self.cables[source].send(frame)
            assert sorted(self.cables[sink].receive(len(sent))) == sorted(sent)

    def close(self) -> None:
        """They run until they are stopped."""
        self.telemetry.close()
        for process in (*self.nodes, self.server):
            assert process.alive()
            process.stop()


def nic_devices(i: int, pfs: int, cable: Wire) -> List[str]:
    """A NIC with its cable."""
    return [f"--vdev=net_af_packet{i},iface={cable.name},blocksz=4096,framesz=2048,framecnt=2048",
            *vdevs.nic("AB"[i], 2 * i, pfs, f"net_af_packet{i}")]


@pytest.fixture
def cables(program) -> Iterator[List[Wire]]:
    """Two of them."""
    program("ip")
    if env.find_built("octo-efd_server") is None:
        pytest.skip("server_node_efd is not built")
    with Wire() as one, Wire() as other:
        yield [one, other]


def check_sent_by_each_node(trio: Trio, name: str) -> None:
    """By its queue and the PF near to it."""
    stats = trio.xstats(name)
    assert stats["tx_q0_pf1_packets"] > 0 == stats["tx_q0_pf0_packets"]
    assert stats["tx_q1_pf0_packets"] > 0 == stats["tx_q1_pf1_packets"]


def test_two_octo_ports(cables, huge_dir):
    """They are 0 and 1, the example's mask, and their PFs come after."""
    trio = Trio(huge_dir, cables, [vdevs.octo(0, 0), vdevs.octo(1, 2),
                                   *nic_devices(0, 2, cables[0]), *nic_devices(1, 2, cables[1])])
    numbers = trio.numbers()
    assert (numbers["net_octo0"], numbers["net_octo1"]) == (0, 1)
    for source in (0, 1, 0, 1):
        trio.check_forwards(source, 1 - source)
    for name in ("net_octo0", "net_octo1"):
        check_sent_by_each_node(trio, name)
    trio.close()


def test_an_octo_port_and_another(cables, huge_dir):
    """The example takes an even number of ports. The other is a bare PF that hears what it
    sends: so all comes back by the octo port."""
    trio = Trio(huge_dir, cables, [vdevs.mpsim(2, "B", wire="loop"), vdevs.octo(0, 0),
                                   *nic_devices(0, 2, cables[0])])
    numbers = trio.numbers()
    assert (numbers["net_mpsim2"], numbers["net_octo0"]) == (0, 1)
    for _ in range(4):
        trio.check_forwards(0, 0)
    check_sent_by_each_node(trio, "net_octo0")
    trio.close()
