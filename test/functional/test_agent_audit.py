# SPDX-License-Identifier: BSD-3-Clause
"""The auditor of octo-agent tells by node where the PFs' DMA goes.

The client's memory is one file of hugepages, so that what its node is can be
said as for a virtual machine: PF 0 is on that node, PF 1 on another.
"""

import contextlib
from typing import Iterator, NamedTuple

import pytest

from octotest import agent, bench, env, packets, vdevs
from octotest.agent import Agent, Dma
from octotest.testpmd import Testpmd
from octotest.veth import Wire

QUEUES = 2
FLOWS = packets.flows(8)
FRAMES = packets.numbered(FLOWS, 16)
HEADER = 12  # of virtio-net

pytestmark = pytest.mark.usefixtures("root")


class Machine(NamedTuple):
    """What is audited."""

    wire: Wire
    agent: Agent
    pmd: Testpmd

    def exchange(self) -> None:
        """All frames come in by PF 0 and leave by PF 1."""
        self.pmd.start("io")
        back = self.wire.exchange(FRAMES)
        self.pmd.stop_forwarding()
        assert bench.order_of(back) == \
            bench.order_of(bytes(f) for f in FRAMES)

    def rings(self, pf: int, direction: str) -> list:
        """Of all queues of a PF."""
        return [queue[direction] for queue in self.agent.audit(pf)]


@contextlib.contextmanager
def _machine(huge_dir, tmp_path, *memory: str, nodes=(0, 1)
             ) -> Iterator[Machine]:
    """`memory`: options, where FILE is that of the client."""
    prefix = env.unique()
    file = f"{huge_dir}/{prefix}map_0"
    sockets = [tmp_path / f"pf{i}.sock" for i in range(2)]
    pfs = [agent.pf(f"net_mpsim{i}", sockets[i], queues=QUEUES,
                    node=nodes[i]) for i in range(2)]
    options = [w for m in memory
               for w in ("--memory", m.replace("FILE", file))]
    client = [f"--vdev=net_virtio_user{i},path={sockets[i]},queues={QUEUES}"
              for i in range(2)]
    with Wire() as wire, Agent(
            [f"--vdev=net_af_packet0,iface={wire.name}",
             *vdevs.nic("A", 0, 2, "net_af_packet0")], pfs,
            options) as firmware, Testpmd(
                client, plugins=False, queues=QUEUES, memory=None,
                file_prefix=prefix, eal=[f"--huge-dir={huge_dir}", "-m", 128,
                                         "--single-file-segments"]) as pmd:
        firmware.wait_connected(QUEUES)
        yield Machine(wire, firmware, pmd)
        for pf in firmware.pfs():
            for direction in agent.DIRECTIONS:
                assert firmware.packets(pf["index"], direction).all == \
                    pf[f"{direction}_packets"], (pf, direction)


def _bytes() -> int:
    return sum(len(f) + HEADER for f in FRAMES)


def _ring_nodes(rings) -> set:
    return {ring[f"{part}_node"] for ring in rings
            for part in ("desc", "avail", "used")}


def test_local_and_remote(huge_dir, tmp_path):
    """The same memory is local to one PF and remote to the other."""
    with _machine(huge_dir, tmp_path, "0=FILE") as machine:
        posted = [Dma(*map(sum, zip(*(agent.dma(r, "posted") for r in
                                      machine.rings(i, "rx")))))
                  for i in range(2)]
        assert posted[0].local == posted[0].all > 0
        assert posted[1].remote == posted[1].all > 0
        machine.exchange()
        assert machine.agent.packets(0, "rx") == Dma(len(FRAMES), 0, 0)
        assert machine.agent.packets(0, "tx") == Dma(0, 0, 0)
        assert machine.agent.packets(1, "rx") == Dma(0, 0, 0)
        assert machine.agent.packets(1, "tx") == Dma(0, len(FRAMES), 0)
        for pf, direction in ((0, "rx"), (1, "tx")):
            rings = machine.rings(pf, direction)
            assert _ring_nodes(rings) == {0}
            assert sum(agent.dma(r, "bytes")[pf] for r in rings) == _bytes()


@pytest.mark.parametrize("memory, nodes, place", [
    (["1=FILE"], (0, 1), "remote"),
    (["0=/dev/null", "1=FILE"], (1, 0), "local"),
    (["0=/nowhere"], (0, 1), "unknown"),
    ([], (0, 1), "unknown"),
    (["0=FILE"], (None, 1), "unknown"),
])
def test_who_is_where(huge_dir, tmp_path, memory, nodes, place):
    """The file decides, and the PF's own node; neither is guessed."""
    with _machine(huge_dir, tmp_path, *memory, nodes=nodes) as machine:
        machine.exchange()
        received = machine.agent.packets(0, "rx")
        assert getattr(received, place) == received.all == len(FRAMES)
        known = any(m.endswith("=FILE") for m in memory)
        assert (_ring_nodes(machine.rings(0, "rx")) == {-1}) != known


def test_reset(huge_dir, tmp_path):
    """Packets are forgotten, buffers are still there."""
    with _machine(huge_dir, tmp_path, "0=FILE") as machine:
        machine.exchange()
        machine.agent.reset()
        assert all(machine.agent.packets(i, d) == Dma(0, 0, 0)
                   for i in range(2) for d in agent.DIRECTIONS)
        assert all(agent.dma(r, "posted").local > 0
                   for r in machine.rings(0, "rx"))
        machine.exchange()
        assert machine.agent.packets(0, "rx") == Dma(len(FRAMES), 0, 0)


def _row(rows, pf: str, queue: int, direction: str) -> list:
    found = [r for r in rows if r[0] == pf and r[2] == str(queue)
             and r[3] == direction]
    assert len(found) == 1, rows
    return found[0]


def _check_table(machine: Machine, text: str) -> None:
    rows = agent.table_rows(text)
    assert len(rows) == 2 * QUEUES * 2
    for pf, share in ((0, "100.00%"), (1, "0.00%")):
        for queue, rings in enumerate(machine.agent.audit(pf)):
            for direction in agent.DIRECTIONS:
                row = _row(rows, f"net_mpsim{pf}", queue,
                           direction.capitalize())
                done = agent.dma(rings[direction])
                assert row[4] == "0/0/0"
                assert [int(w) for w in row[5:8]] == list(done)
                assert row[8] == (share if done.all > 0 else "-")
                assert [int(w) for w in row[9:]] == \
                    list(agent.dma(rings[direction], "posted"))


def test_table(huge_dir, tmp_path):
    """SIGUSR1 prints what telemetry says, and the agent goes on."""
    with _machine(huge_dir, tmp_path, "0=FILE") as machine:
        machine.exchange()
        _check_table(machine, machine.agent.table())
        machine.exchange()
        assert machine.agent.packets(0, "rx").local == 2 * len(FRAMES)


def test_table_at_the_end(tmp_path):
    """--audit."""
    pf = agent.pf("net_mpsim0", tmp_path / "pf.sock", queues=3)
    with Agent([vdevs.mpsim(0, "A")], [pf], ["--audit"]) as firmware:
        assert firmware.quit() == 0
        rows = agent.table_rows(firmware.text)
        assert [r[:5] for r in rows] == [
            ["net_mpsim0", "?", str(q), d, "?/?/?"]
            for q in range(3) for d in ("Rx", "Tx")]


def test_bad_parameters(tmp_path):
    """Telemetry refuses what is not there."""
    pf = agent.pf("net_mpsim0", tmp_path / "pf.sock", queues=64)
    with Agent([vdevs.mpsim(0, "A", queues=64)], [pf],
               memory=512) as firmware:
        assert len(firmware.audit(0)) == 64
        for params in ((), (1,), ("x",), (0, "x"), (0, 0, 0), (-1,)):
            assert firmware.telemetry.get("/octo_agent/audit",
                                          *params) is None
