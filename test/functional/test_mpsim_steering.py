# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC: which PF and queue a packet comes to, and why."""

import ipaddress
import re
from collections import Counter

import pytest

from octotest import packets, vdevs
from octotest.packets import Ether, IP, UDP
from octotest.simbench import (DEFAULT_KEY, PF0, PF1, SimBench, by_flow,
                               mpfs_rule, rule, shown_hash, toeplitz)
from octotest.testpmd import flow_id

QUEUES = 4
FLOWS = packets.flows(8)
TABLES = {"mpfs_entries": 3}
ARFS = 4


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """Two PFs with small tables; RSS over all that is known."""
    def make():
        bench = SimBench(
            tmp_path_factory.mktemp("sim"), QUEUES,
            nic=[vdevs.mpsim(0, "A", arfs_entries=ARFS, **TABLES),
                 vdevs.mpsim(1, "A", 1)])
        bench.offload("rss_hash")
        return bench
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


def _hash_input(flow, ports=True) -> bytes:
    data = b"".join(ipaddress.ip_address(a).packed
                    for a in (flow.src, flow.dst))
    if ports:
        data += flow.sport.to_bytes(2, "big") + flow.dport.to_bytes(2, "big")
    return data


def _index(seen) -> int:
    """The number of the flow, from its source MAC."""
    return int(seen.src[-2:], 16)


@pytest.mark.parametrize("version, proto", packets.COMBINATIONS)
def test_rss_is_toeplitz(bench, version, proto):
    """Hash and queue of every packet are those of the specification."""
    flow_list = packets.flows(32, version, proto)
    seen = bench.play(packets.numbered(flow_list, 2))
    assert len(seen) == 64
    for s in seen:
        expected = toeplitz(DEFAULT_KEY, _hash_input(flow_list[_index(s)]))
        assert shown_hash(s) == expected
        assert (s.port, s.queue) == (PF0, expected % 128 % QUEUES)
    assert len({s.queue for s in seen}) == QUEUES


def test_new_key_changes_the_hash(bench):
    """The key that is set is the key that is used."""
    key = bytes(range(1, 41))
    bench.cmd(f"port config {PF0} rss-hash-key ipv4-udp {key.hex()}")
    bench.cmd("port config all rss all")  # the command above leaves udp only
    shown = bench.cmd(f"show port {PF0} rss-hash key")
    assert key.hex() in shown.lower()
    try:
        for s in bench.play(packets.numbered(FLOWS, 1)):
            assert shown_hash(s) == toeplitz(key,
                                             _hash_input(FLOWS[_index(s)]))
    finally:
        bench.cmd(f"port config {PF0} rss-hash-key ipv4-udp "
                  f"{DEFAULT_KEY.hex()}")
        bench.cmd("port config all rss all")


def test_addresses_only(bench):
    """Without the types that look at ports, ports do not matter."""
    bench.cmd("port config all rss ip")
    try:
        for s in bench.play(packets.numbered(FLOWS, 1)):
            assert shown_hash(s) == toeplitz(
                DEFAULT_KEY, _hash_input(FLOWS[_index(s)], ports=False))
    finally:
        bench.cmd("port config all rss all")


def test_table_says_which_queue(bench):
    """A bucket that is moved takes its packets along, and only them."""
    bucket = toeplitz(DEFAULT_KEY, _hash_input(FLOWS[0])) % 128
    others = [f for f in FLOWS[1:] if
              toeplitz(DEFAULT_KEY, _hash_input(f)) % 128 != bucket]
    before = by_flow(bench.play(packets.numbered(FLOWS, 1)))
    target = (bucket + 1) % QUEUES
    bench.cmd(f"port config {PF0} rss reta ({bucket},{target})")
    after = by_flow(bench.play(packets.numbered(FLOWS, 1)))
    assert after[packets.flow_mac(0)] == {(PF0, target)}
    assert target != before[packets.flow_mac(0)].pop()[1]
    for flow in others:
        mac = packets.flow_mac(FLOWS.index(flow))
        assert after[mac] == before[mac]
    bench.cmd(f"port config {PF0} rss reta ({bucket},{bucket % QUEUES})")


def test_fragments_stay_together(bench):
    """First and later fragments of a datagram share a queue: no ports."""
    whole = IP(src="10.1.0.1", dst="10.2.0.1", id=7)
    first = Ether(dst="02:00:00:00:00:02") / whole.copy() / UDP() / (b"x" * 16)
    first[IP].flags = "MF"
    rest = [Ether(dst="02:00:00:00:00:02") / whole.copy() / (b"y" * 16)
            for _ in range(2)]
    rest[0][IP].flags, rest[0][IP].frag, rest[0][IP].proto = "MF", 3, 17
    rest[1][IP].frag, rest[1][IP].proto = 5, 17
    bench.cmd(rule(packets.Flow("udp", "10.1.0.1", 53, "10.2.0.1", 53),
                   "drop"))
    seen = bench.play([first, *rest])
    assert len(seen) == 3
    assert len({s.queue for s in seen}) == 1
    assert {shown_hash(s) for s in seen} == {
        toeplitz(DEFAULT_KEY, _hash_input(
            packets.Flow("udp", "10.1.0.1", 0, "10.2.0.1", 0), False))}


# ARFS.

@pytest.mark.parametrize("version, proto", packets.COMBINATIONS)
def test_rule_sends_its_flow_to_its_queue(bench, version, proto):
    """Whatever RSS says; and no other flow."""
    flow_list = packets.flows(8, version, proto)
    by_rss = by_flow(bench.play(packets.numbered(flow_list, 1)))
    for i in range(ARFS):
        queue = (next(iter(by_rss[packets.flow_mac(i)]))[1] + 1) % QUEUES
        flow_id(bench.cmd(rule(flow_list[i], f"queue index {queue}")))
        by_rss[packets.flow_mac(i)] = {(PF0, queue)}
    assert by_flow(bench.play(packets.numbered(flow_list, 3))) == by_rss
    assert bench.xstat(PF0, "rx_arfs_packets") == 3 * ARFS


def test_drop_drops(bench):
    """Its flow only, and it is counted."""
    flow_id(bench.cmd(rule(FLOWS[0], "drop")))
    seen = bench.play(packets.numbered(FLOWS, 3))
    assert Counter(_index(s) for s in seen) == {i: 3 for i in range(1, 8)}
    assert bench.drops() == {"rx_rule_drops": 3}


def test_count_counts(bench):
    """Packets and bytes."""
    number = flow_id(bench.cmd(rule(FLOWS[0], "queue index 1 / count")))
    frames = packets.numbered(FLOWS, 5)
    bench.play(frames)
    length = len(frames[0])
    out = bench.cmd(f"flow query {PF0} {number} count")
    assert re.search(r"hits: 5\b", out), out
    assert re.search(rf"bytes: {5 * length}\b", out), out


def test_query_without_count_is_refused(bench):
    """The error says what is missing."""
    number = flow_id(bench.cmd(rule(FLOWS[0], "queue index 1")))
    out = bench.cmd(f"flow query {PF0} {number} count")
    assert "count action" in out, out


def test_lowest_priority_number_wins(bench):
    """The next rule in line takes over when it goes."""
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 3", priority=5)))
    first = flow_id(bench.cmd(rule(FLOWS[0], "queue index 2", priority=1)))
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 1", priority=3)))
    frames = packets.numbered(FLOWS[:1], 2)
    assert {s.queue for s in bench.play(frames)} == {2}
    bench.cmd(f"flow destroy {PF0} rule {first}")
    assert {s.queue for s in bench.play(frames)} == {1}


def test_same_rule_twice_is_refused(bench):
    """EEXIST, and the first one stays."""
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 1")))
    out = bench.cmd(rule(FLOWS[0], "queue index 2"))
    assert "5-tuple and priority already" in out and "File exists" in out
    assert {s.queue for s in bench.play(packets.numbered(FLOWS[:1], 1))} == {1}


def test_full_table_refuses(bench):
    """ENOSPC names the PF and the size; a freed entry can be used."""
    made = [flow_id(bench.cmd(rule(f, "queue index 0")))
            for f in FLOWS[:ARFS]]
    out = bench.cmd(rule(FLOWS[ARFS], "queue index 0"))
    assert f"ARFS table of PF net_mpsim0 is full ({ARFS} entries)" in out
    assert "No space" in out
    flow_id(bench.cmd(rule(FLOWS[ARFS], "queue index 0", port=PF1)))
    bench.cmd(f"flow destroy {PF0} rule {made[0]}")
    flow_id(bench.cmd(rule(FLOWS[ARFS], "queue index 0")))


def test_queue_that_is_not_there_is_refused(bench):
    """The error names the queue and how many there are."""
    out = bench.cmd(rule(FLOWS[0], f"queue index {QUEUES}"))
    assert re.search(rf"queue index {QUEUES}\b.*{QUEUES} Rx queues", out), out


def test_flush_removes_all(bench):
    """After it RSS decides again, and the table is empty."""
    by_rss = by_flow(bench.play(packets.numbered(FLOWS[:4], 1)))
    for flow in FLOWS[:ARFS]:
        flow_id(bench.cmd(rule(flow, "drop")))
    assert bench.play(packets.numbered(FLOWS[:4], 1)) == []
    bench.cmd(f"flow flush {PF0}")
    assert by_flow(bench.play(packets.numbered(FLOWS[:4], 1))) == by_rss
    for flow in FLOWS[:ARFS]:
        flow_id(bench.cmd(rule(flow, "drop")))


def test_isolated_pf_takes_matched_traffic_only(bench):
    """The rest is dropped and counted."""
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 2")))
    out = bench.cmd(f"flow isolate {PF0} 1")
    assert "restricted" in out, out
    seen = bench.play(packets.numbered(FLOWS, 2))
    assert [(_index(s), s.queue) for s in seen] == [(0, 2), (0, 2)]
    assert bench.drops() == {"rx_isolated_drops": 14}


# MPFS.

def test_mpfs_rule_picks_the_pf(bench):
    """Its flow enters by PF 1, the others by the default PF."""
    flow_id(bench.cmd(mpfs_rule(FLOWS[2], PF1)))
    seen = bench.play(packets.numbered(FLOWS, 2))
    assert {_index(s) for s in seen if s.port == PF1} == {2}
    assert len(seen) == 16
    assert bench.xstat(PF1, "rx_mpfs_packets") == 2
    # RSS on PF 1 has the same key: only the PF differs
    assert {s.queue for s in seen if _index(s) == 2} == {
        toeplitz(DEFAULT_KEY, _hash_input(FLOWS[2])) % 128 % QUEUES}


def test_both_tables_together(bench):
    """PF by the switch, queue by the PF's own rule."""
    flow_id(bench.cmd(mpfs_rule(FLOWS[0], PF1)))
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 3", port=PF1)))
    flow_id(bench.cmd(rule(FLOWS[0], "drop", port=PF0)))
    seen = bench.play(packets.numbered(FLOWS[:1], 2))
    assert [(s.port, s.queue) for s in seen] == [(PF1, 3)] * 2


def test_mpfs_counts(bench):
    """COUNT of a transfer rule."""
    number = flow_id(bench.cmd(mpfs_rule(FLOWS[0], PF1, more="count / ")))
    bench.play(packets.numbered(FLOWS, 4))
    assert re.search(r"hits: 4\b",
                     bench.cmd(f"flow query {PF0} {number} count"))


def test_full_mpfs_refuses(bench):
    """ENOSPC names the NIC."""
    for flow in FLOWS[:3]:
        flow_id(bench.cmd(mpfs_rule(flow, PF1)))
    out = bench.cmd(mpfs_rule(FLOWS[3], PF1))
    assert "MPFS table of NIC A is full (3 entries)" in out, out


@pytest.mark.parametrize("command, why", [
    (mpfs_rule(FLOWS[0], PF1, port=PF1), r"proxy, port 2 \(net_mpsim0\)"),
    (mpfs_rule(FLOWS[0], 1), r"ethdev 1 is no PF of NIC A"),
    (mpfs_rule(FLOWS[0], PF1, origin=1), r"ethdev 1 is no PF of NIC A"),
    (f"flow create {PF0} transfer pattern {FLOWS[0].pattern()} actions "
     f"port_representor port_id {PF1} / end", r"represented_port"),
    (f"flow create {PF0} transfer pattern represented_port ethdev_port_id is "
     f"{PF0} / {FLOWS[0].pattern()} actions queue index 0 / end",
     r"port_representor goes with transfer"),
], ids=["not-the-proxy", "to-foreign", "from-foreign", "no-origin", "queue"])
def test_bad_transfer_rule_is_refused(bench, command, why):
    """One sentence that says what would be right."""
    out = bench.cmd(command)
    assert "Caught" in out and re.search(why, out), out


def test_proxy_is_the_first_pf(bench):
    """Whichever PF is asked."""
    for port in (PF0, PF1):
        out = bench.cmd(f"show port {port} flow transfer proxy")
        assert re.search(rf"proxy port ID:? {PF0}\b", out, re.IGNORECASE), out


def test_default_pf_devarg(tmp_path):
    """Unmatched traffic enters by the PF that default_pf names."""
    nic = [vdevs.mpsim(0, "A", default_pf=1), vdevs.mpsim(1, "A", 1)]
    with SimBench(tmp_path, 2, nic=nic) as bench:
        flow_id(bench.cmd(mpfs_rule(FLOWS[0], PF0)))
        seen = bench.play(packets.numbered(FLOWS, 1))
        assert Counter(s.port for s in seen) == {PF0: 1, PF1: 7}


@pytest.mark.parametrize("ignore", ["mpfs", "arfs", "all"])
def test_ignored_rules_do_nothing(tmp_path, ignore):
    """They are accepted and refused as ever; packets and counts show it."""
    nic = vdevs.nic("A", ignore=ignore, mpfs_entries=1, arfs_entries=1)
    with SimBench(tmp_path, QUEUES, nic=nic) as bench:
        rss = toeplitz(DEFAULT_KEY, _hash_input(FLOWS[0])) % 128 % QUEUES
        queue = (rss + 1) % QUEUES
        rules = [(PF0, mpfs_rule(FLOWS[0], PF1, more="count / "))]
        rules += [(pf, rule(FLOWS[0], f"queue index {queue} / count", pf))
                  for pf in (PF0, PF1)]
        made = [(pf, flow_id(bench.cmd(line))) for pf, line in rules]
        assert all("File exists" in bench.cmd(line) for _, line in rules)
        assert "is full" in bench.cmd(mpfs_rule(FLOWS[1], PF1))
        seen = bench.play(packets.numbered(FLOWS[:1], 4))
        mpfs, arfs = ignore == "arfs", ignore == "mpfs"
        assert {(s.port, s.queue) for s in seen} == {
            (PF1 if mpfs else PF0, queue if arfs else rss)}
        hits = [4 if mpfs else 0, 4 if arfs else 0, 0]
        for (port, number), count in zip(made, hits):
            assert re.search(rf"hits: {count}\b", bench.cmd(
                f"flow query {port} {number} count"))
