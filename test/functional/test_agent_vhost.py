# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent makes mpsim's PFs a NIC for another process, by vhost-user.

    veth - net_af_packet - NIC A in octo-agent - vhost-user - testpmd

testpmd polls virtio_user PFs, bare or as an octo port, and sends back.
"""

import contextlib
import math
import re
import signal
import socket
from pathlib import Path
from typing import Iterator, List, NamedTuple

import pytest
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether

from octotest import agent, bench, env, packets, vdevs
from octotest.agent import Agent
from octotest.testpmd import Testpmd
from octotest.veth import Wire
from octotest.view import View

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
            f"blocksz={math.lcm(frame, 4096)},framecnt=1024",
            *vdevs.nic("A", 0, 2, "net_af_packet0", default_pf=default_pf,
                       **nic)]
    pfs = [agent.pf(f"net_mpsim{i}", sockets[i], queues=QUEUES, node=i,
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


def _bare(sockets, app=(), queues=QUEUES, **more) -> Testpmd:
    """Each PF is a port; what one receives is sent by the other."""
    return Testpmd(_virtio(sockets, **more), plugins=False, queues=queues,
                   app=app)


def _octo(sockets, app=(), queues=QUEUES, **more) -> Testpmd:
    """Both PFs are one octo port, which sends back what it receives."""
    pfs = [f"net_virtio_user{i}" for i in range(2)]
    port = "--vdev=" + vdevs.octo_devargs(0, pfs)
    return Testpmd([*_virtio(sockets, **more), port], queues=queues, app=app)


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


def _flows_pass(net: Net, pmd: Testpmd, each: int = 8) -> None:
    """Some packets there and back again."""
    frames = packets.numbered(FLOWS, each)
    net.agent.wait_connected(QUEUES)
    pmd.start("io")
    _check_order(frames, net.wire.exchange(frames))
    pmd.stop_forwarding()
    _check_audit(net.agent)


@pytest.mark.parametrize("end", ["quit", "kill"])
@pytest.mark.parametrize("client", CLIENTS)
def test_client_comes_back(net, client, end):
    """However it went, the next one finds the PFs as the first did."""
    for _ in range(2):
        pmd = CLIENTS[client](net.sockets)
        _flows_pass(net, pmd)
        if end == "quit":
            assert pmd.quit() == 0
        else:
            pmd.kill()
        net.agent.wait_until("clients gone", lambda: not any(
            pf["connected"] for pf in net.agent.pfs()))
    assert sum(pf["rx_packets"] for pf in net.agent.pfs()) == 2 * 64


def test_client_that_stops_and_starts_its_ports(net):
    """The rings are other ones afterwards."""
    with _bare(net.sockets) as pmd:
        for _ in range(3):
            _flows_pass(net, pmd)
            pmd.cmds(["port stop all", "port start all"])
        _flows_pass(net, pmd)


@pytest.mark.parametrize("client", CLIENTS)
def test_agent_comes_back(tmp_path, client):
    """A killed agent is replaced: the client's sockets are still there."""
    sockets = [str(tmp_path / f"pf{i}.sock") for i in range(2)]
    with Wire() as wire:
        args = _agent_args(wire, sockets, mode="client")
        firmware = Agent(*args)  # before its client: it tries again
        with CLIENTS[client](sockets, server=1) as pmd:
            for _ in range(2):
                _flows_pass(Net(wire, firmware, sockets), pmd)
                firmware.kill()
                firmware = Agent(*args)
            _flows_pass(Net(wire, firmware, sockets), pmd)
        assert firmware.quit() == 0


def test_agent_takes_the_place_of_a_killed_one(tmp_path):
    """Its sockets were left behind: nobody listens there."""
    with _net(tmp_path) as net:
        net.agent.kill()
    assert all(Path(path).is_socket() for path in net.sockets)
    with _net(tmp_path) as net, _bare(net.sockets) as pmd:
        _flows_pass(net, pmd)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_agent_leaves_nothing(tmp_path, number):
    """A signal ends it, and its sockets are gone, with a client or not."""
    with _net(tmp_path) as net:
        pmd = _bare(net.sockets)
        net.agent.wait_connected(QUEUES)
        assert net.agent.quit(number) == 0
        assert not any(Path(path).exists() for path in net.sockets)
        pmd.kill()


@pytest.mark.parametrize("client", CLIENTS)
def test_long_frames(tmp_path, client):
    """9000 bytes take several buffers of the client, in both directions."""
    frames = packets.numbered(FLOWS, 4, payload=9000 - 42)
    assert len(frames[0]) == 9000
    more = {"app": ["--max-pkt-len=9018", "--enable-scatter",
                    "--tx-offloads=0x8000"]}
    with _net(tmp_path, 9100, frame=9216) as net, \
            CLIENTS[client](net.sockets, **more) as pmd:
        net.agent.wait_connected(QUEUES)
        pmd.start("io")
        _check_order(frames, net.wire.exchange(frames, 8))
        pmd.stop_forwarding()
        _check_audit(net.agent)
        for direction in agent.DIRECTIONS:
            done = [agent.dma(q[direction], "bytes").all
                    for i in range(2) for q in net.agent.audit(i)]
            # the virtio-net header counts, too
            assert sum(done) == len(frames) * (9000 + 12)


def test_client_with_fewer_queues(net):
    """RSS spreads over those that it uses; nothing is lost."""
    frames = packets.numbered(FLOWS, 8)
    with _bare(net.sockets, queues=1) as pmd:
        net.agent.wait_connected(1)
        pmd.start("io")
        _check_order(frames, net.wire.exchange(frames))
        pmd.stop_forwarding()
        used = [agent.dma(q["rx"]).all for q in net.agent.audit(0)]
        assert used == [len(frames), 0]
    with _bare(net.sockets) as pmd:
        _flows_pass(net, pmd)
        used = [agent.dma(q["rx"]).all for q in net.agent.audit(0)]
        assert used[1] > 0


def test_client_with_more_queues(net):
    """It is told that nobody serves them."""
    with Testpmd([f"--vdev=net_virtio_user0,path={net.sockets[0]},queues=3"],
                 plugins=False, queues=3):
        net.agent.expect(r"net_mpsim0: the client uses queue pair 2, but "
                         r"the PF has 2: queues= gives it more")
        net.agent.wait_until("the others are served", lambda:
                             net.agent.pfs()[0]["enabled_queues"] == QUEUES)


def test_drops_without_a_client(net):
    """The PFs take from the wire what nobody wants."""
    frames = packets.numbered(FLOWS, 4)
    for frame in frames:
        net.wire.send(bytes(frame))
    net.agent.wait_until("drops", lambda: net.agent.pfs()[0][
        "rx_no_client_drops"] == len(frames))
    assert net.agent.pfs()[0]["rx_packets"] == 0


def test_drops_without_buffers(net):
    """A client that does not receive posts none: as with a NIC, they are lost."""
    frames = packets.numbered(FLOWS[:1], 600)
    with _bare(net.sockets) as pmd:
        net.agent.wait_connected(QUEUES)
        posted = [agent.dma(q["rx"], "posted").all
                  for q in net.agent.audit(0)]
        assert min(posted) > 0
        for frame in frames:
            net.wire.send(bytes(frame))
        net.agent.wait_until("all frames", lambda: sum(
            net.agent.pfs()[0][k] for k in
            ("rx_packets", "rx_no_buffer_drops")) == len(frames))
        received = [agent.dma(q["rx"]).all for q in net.agent.audit(0)]
        assert sorted(received) in [[0, n] for n in posted]
        _check_audit(net.agent)
        left = [agent.dma(q["rx"], "posted").all for q in net.agent.audit(0)]
        assert left == [n - m for n, m in zip(posted, received)]
        # and those that it has it gets when it comes to it
        pmd.start("rxonly")
        pmd.wait_until("received", lambda: pmd.stats(0)["RX-packets"]
                       == sum(received))
        pmd.stop_forwarding()


def test_second_client_is_refused(net):
    """The first one is not disturbed."""
    with _bare(net.sockets) as pmd:
        net.agent.wait_connected(QUEUES)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            other.connect(net.sockets[0])
            other.settimeout(env.seconds(10))
            assert other.recv(1) == b""
        net.agent.expect("a second client of .*pf0.sock is refused")
        _flows_pass(net, pmd)


def test_checksums_are_filled_in(net):
    """A client leaves them to the PF, as to any virtio-net device."""
    frames = packets.numbered(FLOWS, 2)
    with _bare(net.sockets, app=["--tx-offloads=0x4"]) as pmd:
        net.agent.wait_connected(QUEUES)
        pmd.cmd("port stop all")
        out = pmd.cmds([f"csum set udp hw {port}" for port in range(2)])
        assert "not supported" not in out, out
        pmd.cmd("port start all")
        net.agent.wait_connected(QUEUES)
        pmd.start("csum")
        back = net.wire.exchange(frames)
        pmd.stop_forwarding()
        assert len(back) == len(frames)
        for frame in back:
            packet = Ether(frame)
            sum_of_it = packet[UDP].chksum
            del packet[UDP].chksum
            assert Ether(bytes(packet))[UDP].chksum == sum_of_it != 0


def test_octo_over_pfs_without_rules(net):
    """Neither rte_flow nor RSS: said once, and that was all."""
    with _octo(net.sockets) as pmd:
        said = re.findall(r"^OCTO: (.*)$", pmd.boot_text, re.MULTILINE)
        assert len(said) == 2, said
        assert "over 2 PFs" in said[0]
        assert "steering tier none" in said[1]
        assert View(pmd).topology()["tier"] == "none"
