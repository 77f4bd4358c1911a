# SPDX-License-Identifier: BSD-3-Clause
"""The auditor's judgement of what a client may do with its descriptors.

The client is the test itself; the NIC's wire is a loop, so that a PF on node 0
receives what it sends. File 0 is on node 0, file 1 on node 1, file 2 unknown.
"""

import contextlib
from pathlib import Path
from typing import Iterator, List, NamedTuple

import pytest
from scapy.layers.l2 import Ether

from octotest import agent, vdevs
from octotest.agent import Agent, Dma
from octotest.vhostuser import HEADER, RX, TX, Client, Memory, Piece

FRAME = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:02",
                    type=0x88b5) / bytes(range(86)))
LOCAL, REMOTE, UNKNOWN = range(3)


class Bench(NamedTuple):
    """A PF and its client."""

    agent: Agent
    client: Client
    memory: Memory

    def fill(self, pieces: List[Piece]) -> None:
        """Write header and frame over the pieces."""
        data = bytes(HEADER) + FRAME
        for piece in pieces:
            self.memory.write(piece.address, data[:piece.length])
            data = data[piece.length:]
        assert not data

    def offer(self, *buffers: List[Piece]) -> None:
        """Buffers to receive to."""
        ring = self.client.rings[RX]
        for pieces in buffers:
            ring.post(ring.chain(pieces, True))

    def send(self, pieces: List[Piece]) -> None:
        """The frame."""
        self.fill(pieces)
        ring = self.client.rings[TX]
        ring.post(ring.chain(pieces))

    def wait_done(self, ring: int, number: int) -> list:
        """What the device gave back."""
        return self.agent.wait_until("buffers back", lambda: len(
            self.client.rings[ring].done()) == number and
            self.client.rings[ring].done())

    def ring(self, direction: str) -> dict:
        """As the auditor sees it."""
        return self.agent.audit(0)[0][direction]

    def check(self, direction: str, packets, nb_bytes) -> None:
        """Where they were."""
        ring = self.ring(direction)
        assert agent.dma(ring) == Dma(*packets)
        assert agent.dma(ring, "bytes") == Dma(*nb_bytes)


@contextlib.contextmanager
def _agent(tmp_path: Path) -> Iterator[Agent]:
    pf = agent.pf("net_mpsim0", tmp_path / "pf.sock", node=0)
    options = [w for node, file in ((0, 0), (1, 1), (1, 3))
               for w in ("--memory", f"{node}={tmp_path}/file{file}")]
    with Agent([vdevs.mpsim(0, "A", wire="loop")], [pf],
               options) as firmware:
        yield firmware


@contextlib.contextmanager
def _bench(tmp_path: Path, **more) -> Iterator[Bench]:
    memory = Memory([tmp_path / f"file{i}" for i in range(3)])
    try:
        with _agent(tmp_path) as firmware, \
                Client(tmp_path / "pf.sock", memory, **more) as client:
            firmware.wait_connected(1)
            yield Bench(firmware, client, memory)
    finally:
        memory.close()


@pytest.fixture
def bench(tmp_path) -> Iterator[Bench]:
    """Its rings are on the PF's node."""
    with _bench(tmp_path) as made:
        yield made


ALL = HEADER + len(FRAME)


@pytest.mark.parametrize("files, packets, nb_bytes", [
    ((0, 0), (1, 0, 0), (ALL, 0, 0)),
    ((1, 1), (0, 1, 0), (0, ALL, 0)),
    ((2, 2), (0, 0, 1), (0, 0, ALL)),
    ((1, 0), (0, 1, 0), (ALL - HEADER, HEADER, 0)),
    ((0, 1), (0, 1, 0), (HEADER, ALL - HEADER, 0)),
    ((0, 2), (0, 0, 1), (HEADER, 0, ALL - HEADER)),
    ((2, 1), (0, 1, 0), (0, ALL - HEADER, HEADER)),
])
def test_header_and_data(bench, files, packets, nb_bytes):
    """Of what a client sends, the header counts as the data does."""
    bench.send([bench.memory.take(files[0], HEADER),
                bench.memory.take(files[1], len(FRAME))])
    bench.wait_done(TX, 1)
    bench.check("tx", packets, nb_bytes)


def test_one_byte_across_the_border(bench):
    """A buffer that begins on one node and ends on the next."""
    bench.send([bench.memory.border(0, ALL - 1, 1)])
    bench.wait_done(TX, 1)
    bench.check("tx", (0, 1, 0), (ALL - 1, 1, 0))


def test_indirect_table(bench):
    """The table is not the packet; where it lies does not matter."""
    pieces = [bench.memory.take(0, HEADER), bench.memory.take(0, 50),
              bench.memory.take(0, len(FRAME) - 50)]
    bench.fill(pieces)
    ring = bench.client.rings[TX]
    ring.post(ring.indirect(bench.memory.take(1, 64), pieces))
    bench.wait_done(TX, 1)
    bench.check("tx", (1, 0, 0), (ALL, 0, 0))


def _received(bench: Bench, pieces: List[Piece]) -> bytes:
    return b"".join(bench.memory.read(*piece) for piece in pieces)


def test_merged_buffers(bench):
    """A packet takes as many as it needs; only what is written counts."""
    first, second, third = (bench.memory.take(file, 80)
                            for file in (0, 1, 1))
    bench.offer([first], [second], [third])
    assert agent.dma(bench.ring("rx"), "posted") == Dma(1, 2, 0)
    bench.send([bench.memory.take(0, ALL)])
    done = bench.wait_done(RX, 2)
    assert [length for _, length in done] == [80, ALL - 80]
    assert _received(bench, [first, second])[HEADER:ALL] == FRAME
    bench.check("rx", (0, 1, 0), (80, ALL - 80, 0))
    assert agent.dma(bench.ring("rx"), "posted") == Dma(0, 1, 0)


def test_rest_of_a_buffer_does_not_count(bench):
    """What is posted remotely but not written is no DMA."""
    bench.offer([bench.memory.take(0, ALL), bench.memory.take(1, 1000)])
    assert agent.dma(bench.ring("rx"), "posted") == Dma(0, 1, 0)
    bench.send([bench.memory.take(0, ALL)])
    bench.wait_done(RX, 1)
    bench.check("rx", (1, 0, 0), (ALL, 0, 0))


def test_packet_without_room(bench):
    """It is lost, and the buffer stays for one that fits."""
    bench.offer([bench.memory.take(0, ALL - 1)])
    bench.send([bench.memory.take(0, ALL)])
    bench.agent.wait_until("a drop", lambda: bench.agent.pfs()[0][
        "rx_no_buffer_drops"] == 1)
    bench.check("rx", (0, 0, 0), (0, 0, 0))
    assert agent.dma(bench.ring("rx"), "posted") == Dma(1, 0, 0)
    bench.offer([bench.memory.take(1, 1)])
    bench.send([bench.memory.take(0, ALL)])
    bench.wait_done(RX, 2)
    bench.check("rx", (0, 1, 0), (ALL - 1, 1, 0))


def test_rings_on_different_nodes(tmp_path):
    """Each ring's own."""
    with _bench(tmp_path, ring_files=(1, 0)) as bench:
        assert [bench.ring("rx")[f"{part}_node"]
                for part in ("desc", "avail", "used")] == [1] * 3
        assert [bench.ring("tx")[f"{part}_node"]
                for part in ("desc", "avail", "used")] == [0] * 3


def test_memory_that_grows(bench, tmp_path):
    """The client is told of no break, and its new memory is judged."""
    bench.send([bench.memory.take(0, ALL)])
    bench.wait_done(TX, 1)
    bench.memory.add(tmp_path / "file3")
    bench.client.share_memory()
    bench.send([bench.memory.take(3, ALL)])
    bench.wait_done(TX, 2)
    bench.offer([bench.memory.take(3, ALL)])
    bench.send([bench.memory.take(0, ALL)])
    bench.wait_done(RX, 1)
    bench.check("tx", (2, 1, 0), (2 * ALL, ALL, 0))
    bench.check("rx", (0, 1, 0), (0, ALL, 0))


def test_packet_that_is_none(bench):
    """A header without a frame was fetched all the same."""
    ring = bench.client.rings[TX]
    ring.post(ring.chain([bench.memory.take(1, HEADER)]))
    bench.wait_done(TX, 1)
    assert bench.agent.pfs()[0]["tx_malformed_drops"] == 1
    bench.check("tx", (0, 1, 0), (0, HEADER, 0))
    bench.send([bench.memory.take(0, ALL)])
    bench.wait_done(TX, 2)
    assert bench.agent.pfs()[0]["tx_packets"] == 1


@pytest.mark.parametrize("direction", [RX, TX])
@pytest.mark.parametrize("piece", [Piece(0x10, 64), Piece(1 << 63, 64)])
def test_descriptor_that_points_nowhere(bench, tmp_path, piece, direction):
    """Its ring stands still; the next client finds all in order."""
    bench.client.rings[direction].post(
        bench.client.rings[direction].chain([piece], direction == RX))
    if direction == RX:
        bench.send([bench.memory.take(0, ALL)])
        bench.agent.wait_until("a drop", lambda: bench.agent.pfs()[0][
            "rx_no_buffer_drops"] == 1)
    assert bench.client.stop()[direction] == 0
    assert bench.agent.pfs()[0]["connected"], "another would be refused"
    bench.client.close()
    bench.agent.wait_until("no client", lambda: not bench.agent.pfs()[0][
        "connected"])
    bench.agent.reset()
    with Client(tmp_path / "pf.sock", bench.memory) as client:
        bench.agent.wait_connected(1)
        again = bench._replace(client=client)
        again.offer([again.memory.take(0, ALL)])
        again.send([again.memory.take(0, ALL)])
        again.wait_done(RX, 1)
        again.check("rx", (1, 0, 0), (ALL, 0, 0))


def test_ring_that_is_switched_off(bench):
    """Nothing is written to it, nor read from it."""
    bench.offer([bench.memory.take(0, ALL)])
    bench.client.enable(RX, False)
    bench.send([bench.memory.take(0, ALL)])
    bench.agent.wait_until("a drop", lambda: bench.agent.pfs()[0][
        "rx_no_client_drops"] == 1)
    assert bench.client.rings[RX].done() == []
    bench.client.enable(RX, True)
    bench.agent.wait_connected(1)
    bench.send([bench.memory.take(0, ALL)])
    bench.wait_done(RX, 1)
    bench.check("rx", (1, 0, 0), (ALL, 0, 0))
