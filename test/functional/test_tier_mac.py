# SPDX-License-Identifier: BSD-3-Clause
"""Tier mac: a switch that takes no rules, and sorts by destination address.

    namespace 1 - veth \\          / veth - net_af_packet - NIC A, one PF \\
                         bridge 1                                           octo port \\
                                  \\ veth - net_af_packet - NIC B, one PF /            l3fwd
    namespace 2: the same again, with a bridge, NICs C and D and an octo port of its own

As the PFs of two mlx5 ports do, each PF takes in what is sent to its own address.
"""

import re
from collections import Counter
from typing import Iterator, List

import pytest

from octotest import env, fetch, iperf, l3fwd, numbered, packets, vdevs
from octotest.bridge import Bridge
from octotest.netns import Host
from octotest.testpmd import PROMPT, Testpmd, parse_seen, wait_until
from octotest.veth import Wire
from octotest.view import View, ask

pytestmark = pytest.mark.skipif(vdevs.SLICED, reason="slices of one port have one address")

TIER = "mac"
EACH = 64  # frames
GROUPS = ("ff:ff:ff:ff:ff:ff", "01:00:5e:01:02:03", "33:33:00:00:00:01")
FOREIGN = "02:00:00:00:0f:0f"  # of a station behind the bridge
# After four wires and four PFs.
PORTS = (8, 9)


def _mac(pf: int) -> str:
    """Of the address of a PF; PFs 0 and 1 are host 1's, PFs 2 and 3 host 2's."""
    return f"02:0c:70:00:00:{pf + 1:02x}"


class Side:
    """An octo port, a PF of its own on each of two wires of a bridge."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.pfs = range(2 * index, 2 * index + 2)
        self.macs = [_mac(pf) for pf in self.pfs]
        self.bridge = Bridge()
        self.wires = [self.bridge.wire() for _ in self.pfs]

    def wire_args(self) -> List[str]:
        """The ethdevs of the wires, which take the port's first numbers."""
        return [f"--vdev=net_af_packet{pf},iface={wire},blocksz=4096,framesz=2048,framecnt=2048"
                for pf, wire in zip(self.pfs, self.wires)]

    def pf_args(self) -> List[str]:
        """A NIC of one PF for each wire, on both sockets."""
        return [vdevs.mpsim(pf, "ABCD"[pf], pf % 2, wire=f"net_af_packet{pf}", mac=mac)
                for pf, mac in zip(self.pfs, self.macs)]

    def octo_arg(self) -> str:
        """The port over both."""
        return vdevs.octo(self.index, self.pfs[0], tier=TIER)

    def serve(self, host: Host) -> None:
        """The host reaches everything by both addresses, a flow by one of them."""
        self.bridge.join(host.wire)
        for family, first in (("4", f"10.{host.number}.0."), ("6", f"fd0{host.number}::")):
            hops: List[str] = []
            for i, mac in enumerate(self.macs):
                host.neighbour(f"{first}{0xa + i}", mac)
                hops += ["nexthop", "via", f"{first}{0xa + i}"]
            host.run("sysctl", "-qw", f"net.ipv{family}.fib_multipath_hash_policy=1")
            host.ip(f"-{family}", "route", "add", "default", *hops)

    def assert_sorted(self) -> None:
        """Each address is where its PF is."""
        assert [self.bridge.wire_of(mac) for mac in self.macs] == self.wires


def _sides(number: int) -> Iterator[List[Side]]:
    made: List[Side] = []
    try:
        for i in range(number):
            made.append(Side(i))
        yield made
    finally:
        for side in made:
            side.bridge.remove()


@pytest.fixture
def sides(root, program) -> Iterator[List[Side]]:
    """Two octo ports."""
    for name in ("ip", "ethtool", "bridge", "iperf3", "curl"):
        program(name)
    yield from _sides(2)


@pytest.fixture
def routed(sides, hosts, tmp_path):
    """l3fwd between the hosts, each of which has two next hops: l3fwd and its telemetry."""
    for side, host in zip(sides, hosts):
        side.serve(host)
        host.small_windows()
    args = [*(a for s in sides for a in s.wire_args()), *(a for s in sides for a in s.pf_args()),
            *(s.octo_arg() for s in sides)]
    process, telemetry = l3fwd.start(hosts, PORTS, args, tmp_path, app=())
    for port in PORTS:
        assert ask(telemetry, "topology", port)["tier"] == TIER
    yield process, telemetry
    telemetry.close()
    if process.alive():
        assert process.stop() == 0


def _assert_all_at_home(telemetry) -> None:
    """No packet strayed, and none was lost."""
    for port in PORTS:
        assert ask(telemetry, "strays", port)["stray_packets"] == 0
        for pf in ask(telemetry, "topology", port)["pfs"]:
            stats = telemetry.get("/ethdev/stats", pf["port"])
            for name in ("imissed", "ierrors", "rx_nombuf", "oerrors"):
                assert stats[name] == 0, (pf, stats)


def _assert_both_pfs_used(telemetry, port: int, *fields: str) -> None:
    for pf in ask(telemetry, "topology", port)["pfs"]:
        stats = telemetry.get("/ethdev/stats", pf["port"])
        assert all(stats[field] > 0 for field in fields), (pf, stats)


def test_l3fwd_with_two_next_hops(routed, sides, hosts):
    """Each datagram is forwarded once, in order, and comes in by its queue's home PF."""
    process, telemetry = routed
    with numbered.running(*hosts, range(20000, 20016)) as told:
        wait_until("datagrams", lambda: telemetry.get(
            "/ethdev/stats", PORTS[0])["ipackets"] > 8000, process=process)
    assert (told.lost, told.reordered, told.doubled) == (0, 0, 0)
    for port, field in zip(PORTS, ("ipackets", "opackets")):
        assert telemetry.get("/ethdev/stats", port)[field] == told.sent
        _assert_both_pfs_used(telemetry, port, field)
    _assert_all_at_home(telemetry)
    # what was sent by a PF had the PF's address
    sides[1].assert_sorted()


def test_tcp_by_both_addresses(routed, sides, hosts, tmp_path):
    """Connections of the kernel, both ways and of both families."""
    _, telemetry = routed
    iperf.send(*hosts, hosts[1].ip4, 16)
    iperf.send(*hosts, hosts[1].ip4, 16, "-R")
    iperf.send(*hosts, hosts[1].ip6, 8)
    fetch.big_file(*hosts, tmp_path)
    _assert_all_at_home(telemetry)
    for side, port in zip(sides, PORTS):
        _assert_both_pfs_used(telemetry, port, "ipackets", "opackets")
        side.assert_sorted()


@pytest.fixture
def side(root, program) -> Iterator[Side]:
    """One octo port."""
    for name in ("ip", "ethtool", "bridge", "ping"):
        program(name)
    for made in _sides(1):
        yield made[0]


@pytest.fixture
def pmd(side) -> Iterator[Testpmd]:
    """testpmd over it."""
    with Testpmd([*side.wire_args(), *side.pf_args(), side.octo_arg()]) as made:
        made.cmd(f"set promisc {made.port()} off")
        assert View(made).topology()["tier"] == TIER
        yield made


@pytest.fixture
def station(side) -> Iterator[Wire]:
    """A raw socket on the bridge."""
    with Wire() as made:
        side.bridge.join(made.name)
        yield made


def _frame(source: int, dst: str):
    flow = packets.flows(source + 1)[source]
    return flow.packet(src_mac=packets.flow_mac(source), dst_mac=dst)


def _arrived(pmd, side, station, destinations) -> Counter:
    """How often what was sent to each came in, and by which queue: one frame to each in turn.

    A last one to each PF comes behind all that was sent, by the same wire.
    """
    sent = [(i, destinations[i % len(destinations)]) for i in range(EACH)]
    pmd.cmds(["set fwd rxonly", "set verbose 1"])
    start = len(pmd.text)
    pmd.send("start")
    for i, dst in sent:
        station.send(bytes(_frame(i, dst)))
    for mac in side.macs:
        station.send(bytes(_frame(EACH, mac)))
    pmd.wait_until("the last ones", lambda: pmd.text.count(
        f"src={packets.flow_mac(EACH)}", start) >= len(side.macs))
    pmd.send("stop")
    pmd.expect(r"\nDone\.\s+" + PROMPT, start)
    pmd.cmd("set verbose 0")
    seen = Counter(frame.src for frame in parse_seen(pmd.text[start:]))
    assert seen.pop(packets.flow_mac(EACH)) == len(side.macs)
    return Counter({i: seen[packets.flow_mac(i)] for i, _ in sent})


def _once() -> Counter:
    return Counter(range(EACH))


def test_groups_arrive_once(pmd, side, station):
    """Each PF gets them from the switch; the designated one passes them on."""
    pmd.cmd(f"set allmulti {pmd.port()} on")
    assert _arrived(pmd, side, station, GROUPS) == _once()
    # the other PF asks for broadcast frames only
    assert View(pmd).xstats()["rx_mac_group_copies"] == -(-EACH // len(GROUPS))


def test_promiscuous_mode_doubles_nothing(pmd, side, station):
    """The bridge floods all, as a switch does to a promiscuous PF; foreign frames come, too."""
    side.bridge.flood()
    pmd.cmd(f"set promisc {pmd.port()} on")
    assert _arrived(pmd, side, station, [*side.macs, *GROUPS, FOREIGN]) == _once()
    pmd.cmd(f"set promisc {pmd.port()} off")
    seen = _arrived(pmd, side, station, [*side.macs, FOREIGN])
    assert seen == Counter(i for i in range(EACH) if i % 3 < 2)


def test_all_addresses_are_shown(pmd, side):
    """rte_eth_macaddrs_get() has the PFs' first; each PF has its own."""
    shown = pmd.cmd(f"show port {pmd.port()} macs").lower()
    assert re.findall(r"[0-9a-f:]{17}", shown) == side.macs
    assert [info["mac_addr"].lower() for info in View(pmd).pf_info()] == side.macs


def _answers(host: Host, address: str) -> bool:
    out = host.run("ping", "-c", "1", "-W", str(round(env.seconds(5))), address, check=False)
    return " 1 received" in out


@pytest.mark.parametrize("how", ["eject", "surprise"])
@pytest.mark.parametrize("lost", [0, 1])
def test_address_of_a_lost_pf_moves(pmd, side, hosts, lost, how):
    """The bridge sees it behind the other PF, and behind its own when that is back."""
    side.serve(hosts[0])
    targets = [f"10.1.0.{0xa + i}" for i in range(2)]
    pmd.start("icmpecho")
    assert all(_answers(hosts[0], target) for target in targets)
    side.assert_sorted()
    name = vdevs.pf_names()[lost]
    assert pmd.telemetry.get("/mpsim/fault", name, how) == "done"
    pmd.wait_until("the address moves", lambda: side.bridge.wire_of(
        side.macs[lost]) == side.wires[1 - lost])
    assert all(_answers(hosts[0], target) for target in targets)
    pmd.wait_until("the slot is free", lambda: pmd.telemetry.get(
        "/mpsim/fault", name, "plug") == "done")
    pmd.wait_until("it is back", lambda: side.bridge.wire_of(
        side.macs[lost]) == side.wires[lost])
    assert all(_answers(hosts[0], target) for target in targets)
    side.assert_sorted()
    assert View(pmd).xstats()["mac_announcements"] == 2


def test_queues_that_change_sockets_do_not_stray(pmd, side, station):
    """Each PF's RETA has the queues that are at home there, whichever these are."""
    view = View(pmd)
    for corelist, homes in (("1,2", {0: 0, 1: 1}), ("2,1", {0: 1, 1: 0})):
        pmd.cmd(f"set corelist {corelist}")
        pmd.start("rxonly")
        pmd.wait_until("homes", lambda h=homes: view.homes() == h)
        pmd.wait_until("no packet strays", lambda: not _strays_of_some(view, side, station))
        before = view.strays()["home_packets"]
        assert _strays_of_some(view, side, station) == 0
        assert view.strays()["home_packets"] == before + EACH
        pmd.stop_forwarding()


def _strays_of_some(view, side, station) -> int:
    """Of so many packets of as many flows, to both addresses."""
    before = view.strays()
    for i in range(EACH):
        station.send(bytes(_frame(i, side.macs[i % 2])))
    view.pmd.wait_until("all of them", lambda: sum(
        view.strays()[kind] - before[kind] for kind in ("home_packets", "stray_packets")) == EACH)
    return view.strays()["stray_packets"] - before["stray_packets"]
