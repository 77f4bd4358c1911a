# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent makes octosim's PFs a NIC for another process, by vhost-user.

    veth - net_af_packet - NIC A in octo-agent - vhost-user - testpmd

testpmd polls virtio_user PFs, bare or as an octo port, and sends back.
"""

import contextlib
import signal
from typing import Iterator, List, NamedTuple

import pytest

from octotest import agent, bench, env, packets, vdevs
from octotest.agent import Agent
from octotest.testpmd import Testpmd
from octotest.veth import Wire

QUEUES = 2
FLOWS = packets.flows(8)

pytestmark = pytest.mark.usefixtures("root")


class Net(NamedTuple):
    """What all tests need."""

    wire: Wire
    agent: Agent
    sockets: List[str]


def _agent_args(wire: Wire, sockets, default_pf: int = 0, mode=None,
                frame: int = 2048, **nic):
    args = [f"--vdev=net_af_packet0,iface={wire.name},framesz={frame},"
            f"blocksz={max(frame, 4096)},framecnt=1024",
            *vdevs.nic("A", 0, 2, "net_af_packet0", default_pf=default_pf,
                       **nic)]
    pfs = [agent.pf(f"net_octosim{i}", sockets[i], queues=QUEUES, node=i,
                    mode=mode) for i in range(2)]
    return args, pfs


@contextlib.contextmanager
def _net(tmp_path, mtu: int = 1500, **more) -> Iterator[Net]:
    sockets = [str(tmp_path / f"pf{i}.sock") for i in range(2)]
    with Wire(mtu) as wire, \
            Agent(*_agent_args(wire, sockets, **more)) as firmware:
        yield Net(wire, firmware, sockets)


@pytest.fixture
def net(tmp_path) -> Iterator[Net]:
    """An agent whose wire is ours."""
    with _net(tmp_path) as made:
        yield made


def _virtio(sockets, **more) -> List[str]:
    args = "".join(f",{k}={v}" for k, v in more.items())
    return [f"--vdev=net_virtio_user{i},path={sockets[i]},queues={QUEUES},"
            f"mac=02:00:00:00:00:02{args}" for i in range(2)]


def _bare(sockets, **more) -> Testpmd:
    """Each PF is a port; what one receives is sent by the other."""
    return Testpmd(_virtio(sockets, **more), plugins=False, queues=QUEUES)


def _octo(sockets, **more) -> Testpmd:
    """Both PFs are one octo port, which sends back what it receives."""
    pfs = [f"net_virtio_user{i}" for i in range(2)]
    port = "--vdev=" + vdevs.octo_devargs(0, pfs)
    return Testpmd([*_virtio(sockets, **more), port], queues=QUEUES)


CLIENTS = {"bare": _bare, "octo": _octo}


def _check_order(frames, back, flows=FLOWS) -> None:
    """All came back, and every flow in order."""
    sent = bench.order_of(bytes(f) for f in frames)
    assert bench.order_of(back) == sent
    assert len(sent) == len(flows)


def _check_audit(firmware: Agent) -> None:
    """Every packet was accounted for once, in each direction."""
    for pf in firmware.pfs():
        for direction in agent.DIRECTIONS:
            assert firmware.packets(pf["index"], direction).all == \
                pf[f"{direction}_packets"], (pf, direction)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("default_pf", [0, 1])
def test_packets_pass_in_order(tmp_path, default_pf, client):
    """From the wire to the PF and back, by both queues."""
    frames = packets.numbered(FLOWS, 50)
    with _net(tmp_path, default_pf=default_pf) as net, \
            CLIENTS[client](net.sockets) as pmd:
        net.agent.wait_connected(QUEUES)
        pmd.start("io")
        _check_order(frames, net.wire.exchange(frames))
        pmd.stop_forwarding()
        pfs = net.agent.pfs()
        assert [pf["rx_packets"] for pf in pfs] == \
            [len(frames) if i == default_pf else 0 for i in range(2)]
        assert sum(pf["tx_packets"] for pf in pfs) == len(frames)
        used = [q["rx"] for q in net.agent.audit(default_pf)]
        assert all(agent.dma(ring).all > 0 for ring in used), used
        _check_audit(net.agent)
