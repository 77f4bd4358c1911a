# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's example l3fwd, unmodified, over PFs that keep their Rx rings filled with mbufs.

    test - veth - net_af_packet - NIC A - net_octo0 - l3fwd

For comparison it also runs over one PF, a bare one without octo.
Its mempools have room for one ring per queue; that of port 0 is routed by 198.18.0.0/24.
"""

import re
from typing import Iterator, Optional

import pytest

from octotest import env, packets, vdevs
from octotest.packets import Flow
from octotest.process import Process
from octotest.veth import Wire

WRITTEN = 26  # bytes in front of the IP addresses: it writes MAC addresses, TTL, checksum
FLOWS = [Flow("udp", "192.0.2.1", 1024 + 61 * i * i, "198.18.0.1", 2000 + i) for i in range(32)]
READY = r"entering main loop on lcore 0"
SHARED = r"Rx rings have (\d+) of 1024 descriptors on each of (\d) PFs: pool \S+ has"


class L3fwd(Process):
    """With queues on lcores 0 and 1; one PF is a bare one."""

    def __init__(self, cable: Wire, queues: int, pfs: int, ports: int = 1,
                 program: Optional[str] = None, **octo: object) -> None:
        config = ",".join(f"({port},{queue},{queue % 2})" for port in range(ports)
                          for queue in range(queues))
        other = [vdevs.octo(1, pfs, pfs), *vdevs.nic("B", pfs, pfs, "loop", fill_rings=1)]
        super().__init__([
            program or env.find_built("octo-l3fwd"), "--no-pci", "--no-huge", "-m", "512",
            "--lcores=0@0,1@1", f"--file-prefix={env.unique()}",
            *([vdevs.octo(pfs=pfs, **octo)] if pfs > 1 else []), *other[:ports - 1],
            *vdevs.nic("A", 0, pfs, "net_af_packet0", fill_rings=1),
            f"--vdev=net_af_packet0,iface={cable.name},blocksz=4096,"
            "framesz=2048,framecnt=2048",
            *(other[1:] if ports > 1 else []),
            "--", "-p", hex((1 << ports) - 1), "-P", "--lookup=lpm", "--parse-ptype",
            f"--config={config}"])


@pytest.fixture
def cable(program) -> Iterator[Wire]:
    """The wire."""
    program("ip")
    if env.find_built("octo-l3fwd") is None:
        pytest.skip("l3fwd is not built")
    with Wire() as wire:
        yield wire


def check_forwards(cable: Wire) -> None:
    """Every packet comes back."""
    sent = packets.numbered(FLOWS, 20)
    got = cable.exchange(sent)
    assert sorted(frame[WRITTEN:] for frame in got) == \
        sorted(bytes(packet)[WRITTEN:] for packet in sent)


def ring_size(queues: int, pfs: int) -> int:
    """As the pool of l3fwd, which is for one ring per queue, leaves for each of them."""
    others = 2 * 1024 + 2 * 256 * 3 // 2  # Tx rings and caches of two lcores
    mbufs = max(8192, queues * 1024 + 2 * 1024 + 2 * 32 + 2 * 256)
    fit = max(1024 // pfs, (mbufs - others) // (queues * pfs))
    return min(1024, 1 << fit.bit_length() - 1)


@pytest.mark.parametrize("pfs", [1, 2, 4])
@pytest.mark.parametrize("queues", [1, 2, 4, 8, 16])
def test_it_forwards_with_the_mbufs_that_it_has(cable, queues, pfs):
    """At once, and every packet; where its pool is too small for full rings that is said once."""
    app = L3fwd(cable, queues, pfs)
    app.expect(READY, timeout=60)
    check_forwards(cable)
    assert app.alive()
    app.stop()
    size = ring_size(queues, pfs)
    assert re.findall(SHARED, app.text) == ([] if size == 1024 else [(str(size), str(pfs))])


def test_two_ports_share_a_pool(cable):
    """The rings of each count with those of the other, whichever starts first."""
    app = L3fwd(cable, 4, 2, ports=2)
    app.expect(READY, timeout=60)
    check_forwards(cable)
    assert app.alive()
    app.stop()
    assert re.findall(SHARED, app.text) == [("512", "2")] * 2


def test_full_rings_take_more_than_it_has(cable):
    """What the port chooses by itself is needed: asked for full rings, the PFs do not start."""
    app = L3fwd(cable, 8, 2, rx_rings="full")
    app.expect(r"has no mbufs left for \d+ of the 1024 descriptors", timeout=60)
    app.expect(r"rte_eth_dev_start: err=-12", timeout=60)
