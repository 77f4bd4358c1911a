# SPDX-License-Identifier: BSD-3-Clause
"""Rules that are no exact 5-tuples to a queue, through the octo port."""

import re
from collections import Counter

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import GRE, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

from octotest import packets
from octotest.bench import Bench
from octotest.testpmd import flow_id

QUEUES = 4
FLOWS = packets.flows(8)


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """Four queues, two on each socket; unsteered traffic enters by PF 0."""
    return shared(lambda: Bench(tmp_path_factory.mktemp("bench"), QUEUES))


@pytest.fixture
def bench(shared_bench):
    """That bench, without rules."""
    bench = shared_bench.get()
    yield bench
    if bench.alive():
        bench.cmd(f"flow isolate {bench.view.port} 0")
        bench.flush()


def _create(bench, pattern: str, actions: str, **attr: int) -> int:
    words = "".join(f"{k} {v} " for k, v in attr.items())
    return flow_id(bench.cmd(
        f"flow create {bench.view.port} {words}ingress pattern {pattern} / "
        f"end actions {actions} / end"))


def _hits(bench, rule: int) -> int:
    out = bench.cmd(f"flow query {bench.view.port} {rule} count")
    found = re.search(r"hits: (\d+)", out)
    assert found, out
    return int(found[1])


def _mark(seen) -> int:
    found = re.search(r"FDIR matched.*?ID=0x([0-9a-f]+)", seen.text)
    return int(found[1], 16) if found else -1


def _frame(*layers, index: int = 0):
    frame = Ether(src=packets.flow_mac(index), dst="02:00:00:00:00:02")
    for layer in layers:
        frame = frame / layer
    return frame / Raw(b"octo" * 10)


def _tuple(flow) -> str:
    return flow.pattern()[:-len(" / end")]


def _send_by_both_pfs(bench) -> None:
    """Exact rules of low rank lead flows to both PFs."""
    for i, flow in enumerate(FLOWS):
        _create(bench, _tuple(flow), f"queue index {i % QUEUES}", priority=9)
    seen = bench.play(packets.numbered(FLOWS, 2))
    assert len(seen) == 2 * len(FLOWS)
    by_pf = [pf["ipackets"] for pf in bench.view.pf_stats()]
    assert min(by_pf) > 0, "all came by one PF"


def test_marked_flow_comes_home(bench):
    """An exact 5-tuple with an action more is steered to its queue's PF."""
    for i, flow in enumerate(FLOWS):
        _create(bench, _tuple(flow),
                f"mark id {i + 1} / queue index {i % QUEUES}")
    seen = bench.play(packets.numbered(FLOWS, 2))
    assert Counter((int(s.src[-2:], 16), s.queue, _mark(s)) for s in seen) \
        == {(i, i % QUEUES, i + 1): 2 for i in range(len(FLOWS))}
    assert bench.view.strays()["stray_packets"] == 0
    assert min(pf["ipackets"] for pf in bench.view.pf_stats()) > 0
    assert bench.view.steering()["total"] == len(FLOWS)


V4 = IP(src="10.1.2.3", dst="10.2.0.1")
V6 = IPv6(src="fd01::3", dst="fd02::1")
VX = [IP(src="1.1.1.1", dst="2.2.2.2"), UDP(sport=5, dport=4789),
      VXLAN(vni=7), Ether()]

# pattern, what matches it, what does not
PATTERNS = {
    "eth": ("eth src is 02:f1:00:00:00:00", [V4], [V4]),
    "vlan": ("eth / vlan vid is 5", [Dot1Q(vlan=5), V4],
             [Dot1Q(vlan=6), V4]),
    "qinq": ("eth / vlan vid is 5 / vlan vid is 6",
             [Dot1AD(vlan=5), Dot1Q(vlan=6), V4], [Dot1Q(vlan=5), V4]),
    "prefix": ("ipv4 src spec 10.1.0.0 src mask 255.255.0.0", [V4],
               [IP(src="10.2.2.3")]),
    "range": ("udp dst spec 10 dst last 20 dst mask 0xffff",
              [V4, UDP(dport=15)], [V4, UDP(dport=21)]),
    "ipv6": ("ipv6 src spec fd01:: src mask ffff::", [V6, UDP()],
             [IPv6(src="fd03::3"), UDP()]),
    "ipv6-frag": ("ipv6 / ipv6_frag_ext", [V6, IPv6ExtHdrFragment(m=1)],
                  [V6, UDP()]),
    "tcp": ("ipv4 / tcp flags spec 0x02 flags mask 0x12",
            [V4, TCP(flags="S")], [V4, TCP(flags="A")]),
    "sctp": ("ipv4 / sctp tag is 7", [V4, SCTP(tag=7)], [V4, SCTP(tag=8)]),
    "icmp": ("ipv4 / icmp type is 8", [V4, ICMP(type=8)],
             [V4, ICMP(type=0)]),
    "icmp6": ("ipv6 / icmp6 type is 128", [V6, ICMPv6EchoRequest()],
              [V6, UDP()]),
    "vxlan": ("ipv4 / udp / vxlan vni is 7 / eth / ipv4 src is 10.1.2.3",
              [*VX, V4], [*VX, IP(src="10.9.9.9")]),
    "gre": ("ipv4 / gre / ipv4 src is 10.1.2.3", [IP(proto=47), GRE(), V4],
            [V4]),
    "gre-key": ("ipv4 / gre / gre_key value is 5",
                [IP(proto=47), GRE(key_present=1, key=5), V4],
                [IP(proto=47), GRE(key_present=1, key=6), V4]),
    "nvgre": ("ipv4 / nvgre tni is 9 / eth / ipv4",
              [IP(proto=47), GRE(key_present=1, key=0x901, proto=0x6558),
               Ether(), V4],
              [IP(proto=47), GRE(key_present=1, key=0x801, proto=0x6558),
               Ether(), V4]),
    "geneve": ("ipv4 / udp / geneve vni is 9",
               [V4, UDP(dport=6081), Raw(bytes.fromhex("0000655800000900")),
                Ether(), V4],
               [V4, UDP(dport=6081), Raw(bytes.fromhex("0000655800000800")),
                Ether(), V4]),
}


@pytest.mark.many(asan=8)
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern(bench, name):
    """What matches is marked and comes to the queue; nothing else is."""
    pattern, right, wrong = PATTERNS[name]
    _create(bench, pattern, "mark id 7 / queue index 3")
    seen = bench.play([_frame(*right), _frame(*wrong, index=1)])
    assert {s.src[-2:]: _mark(s) for s in seen} == {"00": 7, "01": -1}
    assert {s.queue for s in seen if _mark(s) == 7} == {3}


def test_flag_and_group(bench):
    """By a rule of another group."""
    _create(bench, "eth / ipv4", "jump group 3")
    _create(bench, "eth", "flag / queue index 1", group=3)
    seen = bench.play(packets.numbered(FLOWS, 1))
    assert {s.queue for s in seen} == {1}
    assert all("RTE_MBUF_F_RX_FDIR" in s.text for s in seen)


def test_drop_on_whichever_pf(bench):
    """What is to be dropped is, by both PFs."""
    rule = _create(bench, "udp dst spec 2004 dst last 2007 dst mask 0xffff",
                   "count / drop")
    assert _hits(bench, rule) == 0
    for i, flow in enumerate(FLOWS):
        _create(bench, _tuple(flow), f"queue index {i % QUEUES}", priority=9)
    packets.write(bench.directory / "in0.pcap", packets.numbered(FLOWS, 2))
    bench.cmds([f"port stop {bench.player}", f"port start {bench.player}",
                "clear port stats all",
                f"set portlist {bench.player},{bench.far},{bench.view.port}"])
    bench.start("io")
    bench.wait_until("all dropped", lambda: _hits(bench, rule) == 8)
    bench.wait_until("all others came back", lambda: bench.stats(bench.player)[
        "TX-packets"] == 2 * len(FLOWS) - 8)
    bench.stop_forwarding()


def test_count_is_the_sum_over_pfs(bench):
    """Of one rule, and of an id that two rules share."""
    one = _create(bench, "eth / ipv4", "count / passthru")
    shared = [
        _create(bench, "ipv4 / udp dst spec 2000 dst last 2003 dst mask "
                "0xffff", "count identifier 9 / passthru", priority=1),
        _create(bench, "ipv4 / udp dst spec 2004 dst last 2007 dst mask "
                "0xffff", "count identifier 9 / passthru", priority=1)]
    _send_by_both_pfs(bench)
    assert _hits(bench, one) == 2 * len(FLOWS)
    assert [_hits(bench, rule) for rule in shared] == [2 * len(FLOWS)] * 2


def test_aged_when_it_is_so_on_both_pfs(bench):
    """By the list and by a query; packets by one of them keep it young."""
    port = bench.view.port
    old = _create(bench, "ipv4 src is 10.1.0.1",
                  "age timeout 1 / queue index 1")
    young = _create(bench, "ipv4 src is 10.1.0.2",
                    "age timeout 100000 / queue index 1")
    bench.wait_until("it is aged", lambda: re.search(
        r"total aged flows: 1\b", bench.cmd(f"flow aged {port}")))
    assert "total aged flows: 0" in bench.cmd(f"flow aged {port}")
    assert re.search(r"aged: 1\b", bench.cmd(f"flow query {port} {old} age"))
    assert re.search(r"aged: 0\b",
                     bench.cmd(f"flow query {port} {young} age"))
    bench.play(packets.numbered(FLOWS[:1], 1))
    bench.wait_until("it is aged again", lambda: re.search(
        r"total aged flows: 1\b", bench.cmd(f"flow aged {port}")))


def test_indirect_age_is_that_of_both_pfs(bench):
    """They call it aged at different times; it is told all the same."""
    port = bench.view.port
    out = bench.cmd(f"flow indirect_action {port} create action_id 7 ingress "
                    "action age timeout 1 / end")
    assert "created" in out, out
    rule = _create(bench, "ipv4 src is 10.1.0.1",
                   "indirect 7 / queue index 1")
    bench.play(packets.numbered(FLOWS[:1], 1))
    bench.wait_until("it is aged", lambda: re.search(
        r"total aged flows: 1\b", bench.cmd(f"flow aged {port}")))
    assert "total aged flows: 0" in bench.cmd(f"flow aged {port}")
    bench.cmd(f"flow destroy {port} rule {rule}")
    assert "destroyed" in bench.cmd(
        f"flow indirect_action {port} destroy action_id 7")


def test_rss_spreads_over_its_own_queues(bench):
    """The same queue for a flow, whichever PF it comes by."""
    rule = _create(bench, "eth / ipv4 / udp",
                   "rss queues 1 3 end types ipv4-udp end")
    queues = {}
    for s in bench.play(packets.numbered(packets.flows(32), 2)):
        queues.setdefault(s.src, set()).add(s.queue)
    assert {len(q) for q in queues.values()} == {1}
    assert {q for s in queues.values() for q in s} == {1, 3}
    out = bench.cmd(f"flow query {bench.view.port} {rule} rss")
    assert re.search(r"1 3", out), out


def test_transfer_rule_goes_to_the_switch(bench):
    """Of the PF that it names; without one it is refused."""
    port = bench.view.port
    pfs = [pf["port"] for pf in bench.view.topology()["pfs"]]
    rule = "transfer pattern {}" + _tuple(FLOWS[0]) + " / end actions " \
        f"port_representor port_id {pfs[1]} / end"
    named = "represented_port ethdev_port_id is {} / "
    out = bench.cmd(f"flow create {port} transfer pattern eth / end "
                    "actions drop / end")
    assert "Caught" in out and "represented_port" in out
    out = bench.cmd(f"flow create {port} "
                    + rule.format(named.format(port)))
    assert "Caught" in out and "name one of its PFs" in out
    bench.play(packets.numbered(FLOWS[:1], 3))
    assert [pf["ipackets"] for pf in bench.view.pf_stats()] == [3, 0]
    flow_id(bench.cmd(f"flow create {port} "
                      + rule.format(named.format(pfs[0]))))
    bench.play(packets.numbered(FLOWS[:1], 3))
    assert [pf["ipackets"] for pf in bench.view.pf_stats()] == [0, 3]


def test_isolated_port_gets_what_rules_name(bench):
    """Nothing comes by RSS while it is isolated."""
    port = bench.view.port
    _create(bench, "ipv4 / udp dst is 2003", "queue index 2")
    assert "Caught" not in bench.cmd(f"flow isolate {port} 1")
    packets.write(bench.directory / "in0.pcap", packets.numbered(FLOWS, 2))
    bench.cmds([f"port stop {bench.player}", f"port start {bench.player}",
                "clear port stats all",
                f"set portlist {bench.player},{bench.far},{port}"])
    bench.start("io")
    bench.wait_until("two packets", lambda:
                     bench.view.stats()["RX-packets"] == 2)
    bench.wait_until("all were sent", lambda: bench.xstats(bench.far)[
        "tx_good_packets"] >= 2 * len(FLOWS))
    bench.wait_until("two came back", lambda: bench.stats(bench.player)["TX-packets"] == 2)
    bench.stop_forwarding()
    assert bench.view.stats()["RX-packets"] == 2


def test_dump_tells_what_is_where(bench, tmp_path):
    """Rules, their MPFS rules and status, for people."""
    _create(bench, _tuple(FLOWS[0]), "queue index 1")
    _create(bench, "eth / vlan", "mark id 3 / queue index 0", priority=4)
    # from 26.07 on testpmd writes to a file only
    bench.cmd(f"flow dump {bench.view.port} all {tmp_path}/rules")
    out = (tmp_path / "rules").read_text()
    home = bench.view.homes()[1]
    assert re.search(r"10\.1\.0\.1:\d+ > .* to queue 1\n"
                     r"  rules on PFs: net_mpsim0, net_mpsim1\n"
                     rf"  MPFS rule to PF: net_mpsim{home}\n"
                     r"  status: unproven", out), out
    assert "priority 4, pattern ETH VLAN, actions MARK QUEUE" in out, out
    steering = bench.view.steering()
    assert (steering["total"], steering["others"]) == (1, 1)


def test_flush_leaves_nothing(bench):
    """All kinds of rules go; traffic is as without."""
    frames = packets.numbered(FLOWS, 2)
    before = Counter((s.src, s.queue) for s in bench.play(frames))
    _create(bench, "eth / ipv4", "queue index 3")
    _create(bench, _tuple(FLOWS[0]), "mark id 4 / queue index 2")
    assert Counter((s.src, s.queue) for s in bench.play(frames)) != before
    bench.flush()
    assert Counter((s.src, s.queue) for s in bench.play(frames)) == before
