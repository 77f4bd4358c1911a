# SPDX-License-Identifier: BSD-3-Clause
"""An octo port over PFs without rte_flow, steered by octo-agent.

    veth - net_af_packet - NIC A in octo-agent - vhost-user - octo in testpmd

Once with the MPFS of mpsim's PFs, once as on a BlueField, where the switch is
behind an uplink and representors, once as on a host whose PFs share an FDB, where
the representors are those of VFs.
"""

import socket

import pytest

from octotest import agent, packets, vdevs
from octotest.agent import Agent
from octotest.agentnic import DIRECT, ESWITCH, QUEUES, SHARED_FDB, Nic
from octotest.bench import order_of
from octotest.fakeagent import PING, message
from octotest.testpmd import Testpmd, flow_id
from octotest.veth import Wire
from octotest.view import View

FLOWS = packets.flows(8)
EACH = 20

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture(params=[DIRECT, ESWITCH, SHARED_FDB])
def nic(request, tmp_path):
    """Each kind."""
    with Wire() as wire:
        yield Nic(wire, tmp_path, request.param)


def _exchange(nic: Nic) -> None:
    frames = packets.numbered(FLOWS, EACH)
    assert order_of(nic.wire.exchange(frames)) == \
        order_of(bytes(frame) for frame in frames)


def _homes(pmd: Testpmd):
    view = View(pmd)
    return pmd.wait_until("both queues are polled", lambda: len(
        set(view.homes().values())) == 2 and view.homes())


def _await_tier(pmd: Testpmd) -> None:
    pmd.wait_until("tier exact", lambda: View(pmd).topology()["tier"]
                   == "exact")


def _received(firmware: Agent):
    """Packets written to each PF's queues."""
    return [[agent.dma(q["rx"]).all for q in firmware.audit(i)]
            for i in range(2)]


def test_flows_go_to_queue_and_pf(nic):
    """Each to its queue, by the PF that is home to it; and out by the same."""
    with nic.start() as firmware, nic.octo() as pmd:
        firmware.wait_connected(QUEUES)
        homes = _homes(pmd)
        _exchange(nic)
        by_default = _received(firmware)
        assert sum(by_default[0]) == len(FLOWS) * EACH, "by the default PF"
        for i, flow in enumerate(FLOWS):
            flow_id(pmd.cmd(flow.rule(pmd.port(), i % QUEUES)))
        firmware.reset()
        _exchange(nic)
        half = len(FLOWS) * EACH // 2
        assert [_received(firmware)[homes[q]][q] for q in range(2)] == \
            [half, half]
        assert [firmware.packets(i, "tx").all for i in range(2)] == \
            [half, half]
        pmd.cmd(f"flow flush {pmd.port()}")
        firmware.reset()
        _exchange(nic)
        assert _received(firmware) == by_default


def test_strays_teach_the_agent(nic):
    """Nobody makes a rule; flows come by the PF that is their queue's home."""
    with nic.start() as firmware, nic.octo(learn=None) as pmd:
        firmware.wait_connected(QUEUES)
        _homes(pmd)
        view = View(pmd)

        def strays() -> int:
            return view.xstats()["rx_stray_packets"]

        def all_at_home() -> bool:
            before = strays()
            back = order_of(nic.wire.exchange(packets.numbered(FLOWS, EACH)))
            # A flow that comes home may overtake itself, and loses nothing.
            assert sorted(map(sorted, back.values())) == \
                [list(range(EACH))] * len(FLOWS)
            return strays() == before
        pmd.wait_until("no strays", all_at_home, timeout=30)
        learned = view.xstats()["learned_flows"]
        assert 0 < learned < len(FLOWS)
        assert view.xstats()["steered_flows"] == learned
        # An explicit rule is put in the place of a learned one.
        known = view.steering()["rules"][0]
        flow = next(f for f in FLOWS if f.sport == known["src_port"])
        flow_id(pmd.cmd(flow.rule(pmd.port(), 1 - known["queue"])))
        assert view.xstats()["learned_flows"] == learned - 1
        assert all_at_home()


def test_rules_survive_an_agent_that_is_killed(nic):
    """The next one is told all of them."""
    with nic.start() as firmware:
        pmd = nic.octo()
        _await_tier(pmd)
        for flow in FLOWS[:4]:
            flow_id(pmd.cmd(flow.rule(pmd.port(), 1)))
        firmware.kill()
        before = len(pmd.text)
        pmd.wait_until("it is missed", lambda: "is away" in pmd.text[before:] or pmd.cmd(""))
    with nic.start() as firmware:
        pmd.wait_until("it is back", lambda: "is there" in pmd.text[before:] or pmd.cmd(""))
        view = View(pmd)
        pmd.wait_until("all rules are put again", lambda: all(
            view.rule(flow)["pf"] >= 0 for flow in FLOWS[:4]))
    pmd.kill()


def test_hits_are_the_agents(nic):
    """The PFs know no rule, so they count none."""
    with nic.start() as firmware, nic.octo() as pmd:
        firmware.wait_connected(QUEUES)
        _homes(pmd)
        rule = flow_id(pmd.cmd(FLOWS[0].rule(pmd.port(), 1, count=True)))
        _exchange(nic)
        port = pmd.port()
        text = pmd.cmd(f"flow query {port} {rule} count")
        assert f"hits: {EACH}" in text
        assert View(pmd).rule(FLOWS[0])["hits"] == EACH


@pytest.fixture
def direct(tmp_path):
    """One kind will do."""
    with Wire() as wire:
        yield Nic(wire, tmp_path, DIRECT)


def test_a_second_port_is_turned_away(direct):
    """Two would undo each other's rules; the first one goes on."""
    with direct.start(), direct.octo() as pmd:
        _await_tier(pmd)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            other.connect(str(direct.listens))
            other.sendall(message(1, 77, 1, b"\0\1\0\1\2\0\0\0"))
            answer = other.recv(1000)
            assert answer[4:6] == b"\0\x08" and answer[8:12] == b"\0\0\0M"
            assert answer[16:20] == b"\0\0\0\x10"  # EBUSY
            assert b"another port is connected" in answer
        flow_id(pmd.cmd(FLOWS[0].rule(pmd.port(), 1)))


def test_strangers_are_answered(direct):
    """No hello, another version, another NIC, noise: each has its answer."""
    with direct.start():
        def ask(*said: bytes) -> bytes:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                sock.settimeout(5)
                sock.connect(str(direct.listens))
                sock.sendall(b"".join(said))
                return sock.recv(1000)
        # a silent connection is not replaced for five seconds: each says little
        assert b"begin with hello" in ask(b"noise", message(PING, 1, 1))
        assert b"speaks version 1, the port 2 to 3" in ask(
            message(1, 1, 1, b"\0\2\0\3\2\0\0\0"))
        assert b"has 2 PFs, the port 3" in ask(
            message(1, 1, 1, b"\0\1\0\1\3\0\0\0"))


def test_only_the_owner_may_steer(direct):
    """The socket's permissions are all the authentication that there is."""
    with direct.start():
        assert direct.listens.stat().st_mode & 0o777 == 0o600
    assert not direct.listens.exists()


@pytest.mark.parametrize("address, words", [
    ("tcp:0.0.0.0:4911", "--allow-remote"),
    ("tcp:[::]:4911", "--allow-remote"),
    ("unix:/nonexistent/dir/sock", "No such file or directory"),
    ("udp:1", "unix:PATH, tcp:ADDRESS:PORT or dev:PATH"),
])
def test_where_it_does_not_listen(direct, address, words):
    """One error, and it ends."""
    firmware = Agent(vdevs.nic("A", wire="loop"),
                     [agent.pf(f"net_mpsim{i}", direct.sockets[i])
                      for i in range(2)], [f"--listen={address}"], wait=False)
    assert firmware.wait(30) != 0
    assert f"octo-agent: --listen {address}: " in firmware.text
    assert words in firmware.text
    assert not any(path.exists() for path in direct.sockets)


def test_a_dead_agents_socket_is_replaced(direct):
    """But not one that is in use."""
    direct.start().kill()
    assert direct.listens.exists()
    with direct.start():
        second = Nic(direct.wire, direct.listens.parent, DIRECT)
        second.sockets = [direct.listens.parent / f"other{i}"
                          for i in range(2)]
        other = Agent(vdevs.nic("B", wire="loop"),
                      [agent.pf(f"net_mpsim{i}", second.sockets[i])
                       for i in range(2)],
                      [f"--listen=unix:{direct.listens}"], wait=False)
        assert other.wait(30) != 0
        assert "Address already in use" in other.text
        assert direct.listens.exists()
