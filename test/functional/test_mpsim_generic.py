# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC: rules that are no exact 5-tuples."""

import re

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt,
                                IPv6ExtHdrFragment)
from scapy.layers.l2 import ARP, GRE, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

from octotest import packets, vdevs
from octotest.simbench import PF0, PF1, SimBench, rule
from octotest.testpmd import flow_id

QUEUES = 4
ENTRIES = 32
FLOWS = packets.flows(8)
DST = "02:00:00:00:00:02"


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """Two PFs with small tables."""
    def make():
        return SimBench(
            tmp_path_factory.mktemp("sim"), QUEUES,
            nic=[vdevs.mpsim(0, "A", generic_entries=ENTRIES,
                               mpfs_entries=3), vdevs.mpsim(1, "A", 1)])
    return shared(make)


@pytest.fixture
def bench(shared_bench):
    """That bench, without rules."""
    bench = shared_bench.get()
    yield bench
    if bench.alive():
        for port in (PF0, PF1):
            bench.cmd(f"flow isolate {port} 0")
            bench.cmd(f"flow flush {port}")


def _create(pattern: str, actions: str, port: int = PF0, **attr: int) -> str:
    words = "".join(f"{k} {v} " for k, v in attr.items())
    return (f"flow create {port} {words}ingress pattern {pattern} / end "
            f"actions {actions} / end")


def _transfer(pattern: str, to_port: int, priority: int = 0,
              more: str = "") -> str:
    return (f"flow create {PF0} priority {priority} transfer pattern "
            f"represented_port ethdev_port_id is {PF0} {pattern}/ end "
            f"actions {more}port_representor port_id {to_port} / end")


def _frame(*layers, index: int = 0, dst: str = DST):
    frame = Ether(src=packets.flow_mac(index), dst=dst)
    for layer in layers:
        frame = frame / layer
    return frame / Raw(b"octo" * 10)


def _mark(seen) -> int:
    found = re.search(r"FDIR matched.*?ID=0x([0-9a-f]+)", seen.text)
    return int(found[1], 16) if found else -1


def _marks(seen) -> dict:
    """Index of the frame, from its source MAC, to its mark."""
    return {int(s.src[-2:], 16): _mark(s) for s in seen}


V4 = IP(src="10.1.2.3", dst="10.2.0.1", ttl=9, tos=8)
V6 = IPv6(src="fd01::3", dst="fd02::1")
VX = [IP(src="1.1.1.1", dst="2.2.2.2"), UDP(sport=5, dport=4789)]

# pattern, what matches it, what does not
PATTERNS = {
    "all": ("void", [[V4], [V6, TCP()], [ARP()]], []),
    "eth": ("eth", [[V4], [ARP()]], []),
    "eth-type": ("eth type is 0x0806", [[ARP()]], [[V4]]),
    "eth-src": ("eth src is 02:f1:00:00:00:00", [[V4]], [[V4]]),
    "has-vlan": ("eth has_vlan is 1", [[Dot1Q(vlan=5), V4]], [[V4]]),
    "untagged": ("eth has_vlan is 0", [[V4]], [[Dot1Q(vlan=5), V4]]),
    "vlan": ("eth / vlan", [[Dot1Q(vlan=5), V4]], [[V4]]),
    "vlan-vid": ("eth / vlan vid is 5", [[Dot1Q(vlan=5, prio=3), V4]],
                 [[Dot1Q(vlan=6), V4], [V4]]),
    "vlan-tci": ("eth / vlan tci is 5", [[Dot1Q(vlan=5), V4]],
                 [[Dot1Q(vlan=5, prio=1), V4]]),
    "vlan-range": ("eth / vlan vid spec 5 vid last 9 vid mask 0xfff",
                   [[Dot1Q(vlan=v), V4] for v in (5, 7, 9)],
                   [[Dot1Q(vlan=v), V4] for v in (4, 10)]),
    "qinq": ("eth / vlan vid is 5 / vlan vid is 6 / ipv4",
             [[Dot1AD(vlan=5), Dot1Q(vlan=6), V4]],
             [[Dot1Q(vlan=5), V4], [Dot1AD(vlan=6), Dot1Q(vlan=5), V4],
              [Dot1AD(vlan=5), Dot1Q(vlan=6), V6]]),
    "more-vlan": ("eth / vlan has_more_vlan is 1",
                  [[Dot1AD(vlan=5), Dot1Q(vlan=6), V4]],
                  [[Dot1Q(vlan=5), V4]]),
    "ipv4": ("eth / ipv4", [[V4, TCP()], [V4], [Dot1Q(vlan=5), V4]],
             [[V6, TCP()], [ARP()]]),
    "ipv4-prefix": ("eth / ipv4 src spec 10.1.0.0 src mask 255.255.0.0",
                    [[V4], [V4, UDP()]], [[IP(src="10.2.2.3")], [V6]]),
    "ipv4-mask": ("ipv4 dst spec 0.0.0.1 dst mask 0.0.0.3", [[V4]],
                  [[IP(dst="10.2.0.2")]]),
    "ipv4-range": ("ipv4 src spec 10.1.2.1 src last 10.1.2.6 "
                   "src mask 255.255.255.255", [[V4]],
                   [[IP(src="10.1.2.7")], [IP(src="10.1.2.0")]]),
    "ipv4-fields": ("ipv4 proto is 17 ttl is 9 tos is 8", [[V4, UDP()]],
                    [[V4, TCP()], [IP(ttl=8, tos=8), UDP()]]),
    "ipv6": ("ipv6 src spec fd01:: src mask ffff::", [[V6, UDP()]],
             [[IPv6(src="fd03::3"), UDP()], [V4]]),
    "ipv6-frag": ("ipv6 / ipv6_frag_ext", [[V6, IPv6ExtHdrFragment(m=1)]],
                  [[V6, UDP()], [V6, IPv6ExtHdrDestOpt(), UDP()]]),
    "ipv6-has-frag": ("ipv6 has_frag_ext is 1",
                      [[V6, IPv6ExtHdrFragment(m=1)]], [[V6, UDP()]]),
    "udp": ("eth / ipv4 / udp", [[V4, UDP()]], [[V4, TCP()], [V6, UDP()]]),
    "any-udp": ("udp dst is 53", [[V4, UDP(dport=53)], [V6, UDP(dport=53)]],
                [[V4, UDP(dport=54)], [V4, TCP(dport=53)]]),
    "udp-range": ("eth / ipv4 / udp dst spec 10 dst last 20 dst mask 0xffff",
                  [[V4, UDP(dport=p)] for p in (10, 15, 20)],
                  [[V4, UDP(dport=p)] for p in (9, 21)]),
    "tcp-flags": ("ipv4 / tcp flags spec 0x02 flags mask 0x12",
                  [[V4, TCP(flags="S")]],
                  [[V4, TCP(flags="SA")], [V4, TCP(flags="A")]]),
    "sctp": ("ipv4 / sctp tag is 7", [[V4, SCTP(tag=7)]],
             [[V4, SCTP(tag=8)], [V4, UDP()]]),
    "icmp": ("ipv4 / icmp type is 8", [[V4, ICMP(type=8)]],
             [[V4, ICMP(type=0)], [V4, UDP()]]),
    "icmp6": ("ipv6 / icmp6 type is 128", [[V6, ICMPv6EchoRequest()]],
              [[V6, UDP()], [V4, ICMP()]]),
    "vxlan": ("eth / ipv4 / udp / vxlan vni is 7",
              [[*VX, VXLAN(vni=7), Ether(), V4]],
              [[*VX, VXLAN(vni=8), Ether(), V4], [V4, UDP()]]),
    "inside-vxlan": ("eth / ipv4 src is 1.1.1.1 / udp / vxlan / eth / ipv4 "
                     "src is 10.1.2.3 / tcp dst is 80",
                     [[*VX, VXLAN(vni=7), Ether(), V4, TCP(dport=80)]],
                     [[*VX, VXLAN(vni=7), Ether(), V4, TCP(dport=81)],
                      [V4, TCP(dport=80)],
                      [*VX, VXLAN(vni=7), Ether(), V4, UDP(dport=80)]]),
    "inner-vlan": ("ipv4 / udp / vxlan / eth / vlan vid is 3 / ipv6",
                   [[*VX, VXLAN(vni=7), Ether(), Dot1Q(vlan=3), V6]],
                   [[*VX, VXLAN(vni=7), Ether(), V6]]),
    "gre": ("eth / ipv4 / gre protocol is 0x0800 / ipv4 src is 10.1.2.3",
            [[IP(proto=47), GRE(), V4]], [[IP(proto=47), GRE(proto=0x86dd),
                                           V6], [V4]]),
    "gre-key": ("ipv4 / gre / gre_key value is 5",
                [[IP(proto=47), GRE(key_present=1, key=5), V4],
                 [IP(proto=47), GRE(key_present=1, key=5, chksum_present=1),
                  V4]],
                [[IP(proto=47), GRE(key_present=1, key=6), V4],
                 [IP(proto=47), GRE(), V4]]),
    "nvgre": ("ipv4 / nvgre tni is 9 / eth / ipv4 / udp",
              [[IP(proto=47), GRE(key_present=1, key=0x901, proto=0x6558),
                Ether(), V4, UDP()]],
              [[IP(proto=47), GRE(key_present=1, key=0x801, proto=0x6558),
                Ether(), V4, UDP()]]),
    "geneve": ("ipv4 / udp / geneve vni is 9 / eth / ipv4 / udp",
               [[V4, UDP(dport=6081), Raw(bytes.fromhex("0000655800000900")),
                 Ether(), V4, UDP()]],
               [[V4, UDP(dport=6081), Raw(bytes.fromhex("0000655800000800")),
                 Ether(), V4, UDP()]]),
}


@pytest.mark.many(asan=12)
@pytest.mark.parametrize("name", PATTERNS)
def test_pattern(bench, name):
    """What matches is marked and comes to the queue; nothing else is."""
    pattern, right, wrong = PATTERNS[name]
    flow_id(bench.cmd(_create(pattern, "mark id 7 / queue index 3")))
    frames = [_frame(*layers, index=i)
              for i, layers in enumerate(right + wrong)]
    seen = bench.play(frames)
    assert _marks(seen) == {i: 7 if i < len(right) else -1
                            for i in range(len(frames))}
    assert {s.queue for s in seen if _mark(s) == 7} == {3}


def test_priority_decides_between_all_rules(bench):
    """Exact or not; with the same priority the exact one."""
    for pattern, queue, priority in (
            ("eth", 0, 9), (FLOWS[0].pattern()[:-6], 1, 5),
            ("eth / ipv4", 2, 4), ("eth / ipv4 / udp", 3, 5)):
        flow_id(bench.cmd(_create(pattern, f"queue index {queue}",
                                  priority=priority)))
    frames = packets.numbered(FLOWS[:1], 1)
    assert [s.queue for s in bench.play(frames)] == [2]
    bench.cmd(f"flow destroy {PF0} rule 2")
    assert [s.queue for s in bench.play(frames)] == [1]
    bench.cmd(f"flow destroy {PF0} rule 1")
    assert [s.queue for s in bench.play(frames)] == [3]
    bench.cmd(f"flow destroy {PF0} rule 3")
    assert [s.queue for s in bench.play(frames)] == [0]


def test_passthru_goes_on(bench):
    """Counted and marked on the way; the next rule says where to."""
    first = flow_id(bench.cmd(_create(
        "eth", "mark id 5 / count / passthru", priority=1)))
    flow_id(bench.cmd(_create("eth / ipv4", "queue index 3", priority=2)))
    seen = bench.play(packets.numbered(FLOWS, 2))
    assert {(s.queue, _mark(s)) for s in seen} == {(3, 5)}
    assert re.search(r"hits: 16\b",
                     bench.cmd(f"flow query {PF0} {first} count"))


def test_jump_goes_to_the_group(bench):
    """And rules of other groups are not asked before."""
    flow_id(bench.cmd(_create("eth / ipv4", "jump group 3")))
    flow_id(bench.cmd(_create("eth", "queue index 1", group=2)))
    flow_id(bench.cmd(_create("udp", "mark id 1 / jump group 4", group=3)))
    flow_id(bench.cmd(_create(FLOWS[0].pattern()[:-6], "queue index 2",
                              group=4)))
    flow_id(bench.cmd(_create("eth", "queue index 3", group=4, priority=7)))
    seen = bench.play(packets.numbered(FLOWS, 1))
    assert sorted(s.queue for s in seen) == [2] + [3] * 7
    assert set(_marks(seen).values()) == {1}


def test_flag_is_shown(bench):
    """FDIR without an id."""
    flow_id(bench.cmd(_create("eth", "flag / queue index 1")))
    seen = bench.play(packets.numbered(FLOWS[:1], 1))
    assert "RTE_MBUF_F_RX_FDIR" in seen[0].text, seen[0].text
    assert "RTE_MBUF_F_RX_FDIR_ID" not in seen[0].text


def test_drop_and_count(bench):
    """By a rule that is no 5-tuple."""
    number = flow_id(bench.cmd(_create(
        "ipv4 src spec 10.1.0.0 src mask 255.255.255.252", "count / drop")))
    seen = bench.play(packets.numbered(FLOWS, 2))
    assert len(seen) == 10  # 10.1.0.1 to .3 are dropped
    assert bench.drops() == {"rx_rule_drops": 6}
    assert re.search(r"hits: 6\b",
                     bench.cmd(f"flow query {PF0} {number} count"))


def test_count_id_is_shared(bench):
    """By all rules of the PF that name it."""
    made = [flow_id(bench.cmd(rule(f, "count identifier 9 / queue index 0")))
            for f in FLOWS[:2]]
    made.append(flow_id(bench.cmd(_create(
        "ipv4 src is 10.1.0.3", "count identifier 9 / queue index 0"))))
    bench.play(packets.numbered(FLOWS, 2))
    for number in made:
        assert re.search(r"hits: 6\b",
                         bench.cmd(f"flow query {PF0} {number} count"))


def test_rss_action_has_its_own_queues(bench):
    """Flows spread over them, each stays on one."""
    number = flow_id(bench.cmd(_create(
        "eth / ipv4 / udp", "rss queues 1 3 end types ipv4-udp end")))
    flows = packets.flows(32)
    seen = bench.play(packets.numbered(flows, 2))
    queues = {}
    for s in seen:
        queues.setdefault(s.src, set()).add(s.queue)
    assert {len(q) for q in queues.values()} == {1}
    assert {q for s in queues.values() for q in s} == {1, 3}
    out = bench.cmd(f"flow query {PF0} {number} rss")
    assert re.search(r"1 3", out), out


def test_rss_without_queues_means_all(bench):
    """As with other NICs; and PF changes nothing."""
    flow_id(bench.cmd(_create("eth / ipv4", "pf / rss types ipv4-udp end "
                              "queues end")))
    seen = bench.play(packets.numbered(packets.flows(32), 1))
    assert {s.queue for s in seen} == set(range(QUEUES))


def test_rss_level_2_hashes_what_is_inside(bench):
    """One outer flow, several queues."""
    frames = [_frame(*VX, VXLAN(vni=7), Ether(), IP(src=f"10.0.0.{i}"),
                     UDP(sport=i), index=i) for i in range(32)]
    for level, count in ((1, 1), (2, QUEUES)):
        flow_id(bench.cmd(_create(
            "eth / ipv4 / udp / vxlan",
            f"rss level {level} queues 0 1 2 3 end types udp end")))
        assert len({s.queue for s in bench.play(frames)}) == count
        bench.cmd(f"flow flush {PF0}")


def test_age_tells_which_rules_rest(tmp_path):
    """By an event, by the list, and by a query; a hit makes them young."""
    with SimBench(tmp_path, QUEUES, app=["--print-event=flow_aged"]) as bench:
        made = [flow_id(bench.cmd(_create(
            f"ipv4 src is {FLOWS[i].src}",
            f"age timeout {timeout} / queue index 1")))
            for i, timeout in enumerate((1, 100000))]
        bench.wait_until("the event", lambda: re.search(
            rf"Port {PF0}: flow aged event", bench.text, re.IGNORECASE))
        out = bench.cmd(f"flow query {PF0} {made[0]} age")
        assert re.search(r"aged: 1\b", out), out
        out = bench.cmd(f"flow query {PF0} {made[1]} age")
        assert re.search(r"aged: 0\b", out), out
        out = bench.cmd(f"flow aged {PF0}")
        assert re.search(r"total aged flows: 1\b", out), out
        assert "total aged flows: 0" in bench.cmd(f"flow aged {PF0}")
        bench.play(packets.numbered(FLOWS[:2], 1))
        bench.wait_until("it has aged again", lambda: re.search(
            r"total aged flows: 1\b", bench.cmd(f"flow aged {PF0}")))
        bench.cmd(f"flow flush {PF0}")
        assert "total aged flows: 0" in bench.cmd(f"flow aged {PF0}")


def test_dump_shows_all_rules(bench, tmp_path):
    """One line each, and what they match."""
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 1")))
    flow_id(bench.cmd(_create("eth / ipv4", "mark id 6 / jump group 2",
                              priority=4)))
    flow_id(bench.cmd(_create("eth", "rss queues 1 3 end", group=2)))
    bench.play(packets.numbered(FLOWS, 1))
    bench.cmd(f"flow dump {PF0} all {tmp_path}/rules")
    text = (tmp_path / "rules").read_text()
    assert re.search(rf"priority 0: queue 1, hits 1,.*\n.*{FLOWS[0].src}",
                     text), text
    assert "group 0 priority 4: jump to group 2, mark 6, hits 7" in text
    assert "group 2 priority 0: rss 1 3, hits 7" in text
    bench.cmd(f"flow dump {PF0} rule 2 {tmp_path}/one")
    assert "group 2" in (tmp_path / "one").read_text()
    assert "group 0" not in (tmp_path / "one").read_text()


def test_full_table_refuses(bench):
    """ENOSPC names the PF and the size; ranges take several entries."""
    for i in range(ENTRIES - 2):
        flow_id(bench.cmd(_create(f"udp dst is {i}", "queue index 0")))
    out = bench.cmd(_create("tcp dst spec 1 dst last 4 dst mask 0xffff", "queue index 0"))
    assert f"generic table of PF net_mpsim0 is full ({ENTRIES} " in out
    flow_id(bench.cmd(_create("tcp dst spec 2 dst last 5 dst mask 0xffff", "queue index 0")))


@pytest.mark.many(asan=5)
@pytest.mark.parametrize("pattern, actions, why", [
    ("eth / udp", "queue index 0", r"udp: not in this place"),
    ("eth / ipv4 / icmp6", "queue index 0", r"icmp6: goes behind ipv6"),
    ("eth / mpls", "queue index 0", r"does not match: eth, vlan"),
    ("eth / vlan / vlan / vlan", "queue index 0", r"vlan: two tags"),
    ("udp dst spec 20 dst last 10", "queue index 0", r"udp: .*before it"),
    ("udp dst spec 1 dst last 65534 src spec 1 src last 65534",
     "queue index 0", r"128 table entries"),
    ("eth", "queue index 0 / drop", r"one action says where"),
    ("eth", "count", r"does not say where packets go"),
    ("eth", "jump group 0", r"higher number"),
    ("eth", "rss queues 0 9 end", r"queue index 9: port .* has 4 Rx"),
    ("eth", "rss func simple_xor queues 0 end", r"toeplitz"),
    ("eth", "age timeout 0 / queue index 0", r"timeout of at least"),
    ("eth", "dec_ttl / queue index 0", r"unsupported action"),
    ("represented_port ethdev_port_id is 2 / eth", "queue index 0",
     r"goes with transfer"),
])
def test_bad_rule_is_refused(bench, pattern, actions, why):
    """One sentence that says what would be right, and nothing changes."""
    out = bench.cmd(_create(pattern, actions))
    assert "Caught" in out and re.search(why, out), out
    assert len(bench.play(packets.numbered(FLOWS, 1))) == 8


def test_egress_is_refused(bench):
    """With a sentence."""
    out = bench.cmd(f"flow create {PF0} egress pattern eth / end actions "
                    "queue index 0 / end")
    assert "no egress rules" in out, out


def test_same_rule_twice_is_refused(bench):
    """EEXIST, for rules that are no 5-tuples, too."""
    flow_id(bench.cmd(_create("eth / ipv4", "queue index 1")))
    out = bench.cmd(_create("eth / ipv4", "queue index 2"))
    assert "pattern and priority already" in out and "File exists" in out
    flow_id(bench.cmd(_create("eth / ipv4", "queue index 2", priority=1)))


# The switch.

def test_masked_mpfs_rules_spread(bench):
    """By bits of the addresses; the rest by the rule for all."""
    flow_id(bench.cmd(_transfer(
        "/ ipv4 src spec 0.0.0.1 src mask 0.0.0.1 ", PF1)))
    flow_id(bench.cmd(_transfer("/ eth ", PF1, priority=5)))
    flow_id(bench.cmd(_transfer("/ eth / ipv4 ", PF0, priority=3)))
    seen = bench.play([*packets.numbered(FLOWS, 1), _frame(ARP(), index=8)])
    assert {int(s.src[-2:], 16): s.port for s in seen} == {
        **{i: PF1 if i % 2 == 0 else PF0 for i in range(8)}, 8: PF1}


def test_mpfs_counts_all_rules(bench):
    """The table is one; the rule for all packets takes an entry, too."""
    number = flow_id(bench.cmd(_transfer("", PF1, priority=9,
                                         more="count / ")))
    flow_id(bench.cmd(_transfer("/ eth / ipv4 ", PF1, priority=3)))
    exact = "/ " + FLOWS[0].pattern()[:-5]
    first = flow_id(bench.cmd(_transfer(exact, PF0)))
    for more in ("/ eth / ipv6 ", "/ " + FLOWS[1].pattern()[:-5]):
        out = bench.cmd(_transfer(more, PF1))
        assert "MPFS table of NIC A is full (3 entries)" in out, out
    seen = bench.play([*packets.numbered(FLOWS[:2], 1),
                       _frame(ARP(), index=8)])
    assert {int(s.src[-2:], 16): s.port for s in seen} == {
        0: PF0, 1: PF1, 8: PF1}
    assert re.search(r"hits: 1\b",
                     bench.cmd(f"flow query {PF0} {number} count"))
    bench.cmd(f"flow destroy {PF0} rule {first}")
    flow_id(bench.cmd(_transfer("/ eth / ipv6 ", PF1)))


# What a NIC can be told to lack.

EXACT = FLOWS[0].pattern()[:-6]
CAPS = {
    "mpfs": [_transfer(f"/ {EXACT} ", PF1), _transfer("", PF1)],
    "masked": [_transfer("/ ipv4 src is 1.2.3.4 ", PF1), _transfer("", PF1)],
    "arfs": [_create(EXACT, "queue index 0")],
    "generic": [_create("eth / ipv4", "queue index 0"),
                _create(EXACT, "passthru")],
    "count": [_create(EXACT, "count / queue index 0"),
              _transfer(f"/ {EXACT} ", PF1, more="count / ")],
    "age": [_create(EXACT, "age timeout 9 / queue index 0"),
            _transfer(f"/ {EXACT} ", PF1, more="age timeout 9 / ")],
    "rss": [_create(EXACT, "rss queues 0 1 end")],
    "mark": [_create(EXACT, "mark id 1 / queue index 0"),
             _create(EXACT, "flag / queue index 0")],
}


@pytest.mark.parametrize("lacks, has", [
    (("mpfs", "generic", "mark"), [*CAPS["arfs"], *CAPS["rss"]]),
    (("masked", "arfs"), [CAPS["mpfs"][0], CAPS["age"][1],
                          *CAPS["generic"]]),
    (("count", "rss", "age"), [*CAPS["masked"], *CAPS["mark"][:1]]),
], ids=["mpfs", "masked", "count"])
def test_what_is_lacking_is_refused(tmp_path, lacks, has):
    """By validate and create, with what is lacking; the rest is taken."""
    nic = vdevs.nic("A", caps="/".join(f"-{word}" for word in lacks))
    with SimBench(tmp_path, QUEUES, nic=nic) as bench:
        for word in lacks:
            for line in CAPS[word]:
                for verb in ("validate", "create"):
                    out = bench.cmd(line.replace("create", verb))
                    assert "Caught" in out and f"caps=-{word})" in out, out
        for line in has:
            flow_id(bench.cmd(line))
            bench.cmd(f"flow flush {PF0}")


def test_nic_without_a_redirection_table(tmp_path):
    """It says so, and spreads packets all the same."""
    nic = vdevs.nic("A", caps="-reta")
    with SimBench(tmp_path, QUEUES, nic=nic) as bench:
        out = bench.cmd(f"show port info {PF0}")
        assert "Redirection table size" not in out, out
        flows = packets.flows(32)
        seen = bench.play(packets.numbered(flows, 1))
        assert len({s.queue for s in seen}) == QUEUES
