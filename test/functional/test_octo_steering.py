# SPDX-License-Identifier: BSD-3-Clause
"""Where packets land: by RSS and the default PF, then by 5-tuple rules."""

import re
from collections import Counter

import pytest

from octotest import packets
from octotest.bench import Bench, landed, order_of
from octotest.testpmd import flow_id

QUEUES = 4
NB_FLOWS = 16
EACH = 4
FLOWS = packets.flows(NB_FLOWS)


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
        bench.flush()


def _check_counters(bench, seen, stray_on) -> None:
    """Home and stray counters are exactly what was seen on the queues."""
    xstats = bench.view.xstats()
    per_queue = Counter(s.queue for s in seen)
    for queue in range(QUEUES):
        stray = per_queue[queue] if queue in stray_on else 0
        assert xstats[f"rx_q{queue}_stray_packets"] == stray
        assert xstats[f"rx_q{queue}_home_packets"] == per_queue[queue] - stray
    bench.view.assert_lost_nothing()


def _homed_elsewhere(bench, pf: int) -> set:
    return {q for q, home in bench.view.homes().items() if home != pf}


def _identical(bench, frames) -> None:
    """Each frame came back once, unchanged, in order within its flow."""
    back = bench.returned()
    assert Counter(back) == Counter(bytes(f) for f in frames)
    assert order_of(back) == order_of(bytes(f) for f in frames)


@pytest.mark.parametrize("version, proto", packets.COMBINATIONS)
def test_unsteered_enters_by_the_default_pf(bench, version, proto):
    """Without rules all comes by PF 0: queues homed on PF 1 see strays."""
    flow_list = packets.flows(NB_FLOWS, version, proto)
    frames = packets.numbered(flow_list, EACH)
    seen = bench.play(frames)
    assert len(seen) == len(frames)
    assert all(len(queues) == 1 for queues in landed(seen).values())
    assert len({s.queue for s in seen}) > 1, "RSS spreads nothing"
    stray_on = _homed_elsewhere(bench, 0)
    assert len(stray_on) == QUEUES // 2
    _check_counters(bench, seen, stray_on)
    assert [pf["ipackets"] for pf in bench.view.pf_stats()] == \
        [len(frames), 0]
    assert bench.view.xstats()["rx_stray_packets"] > 0
    _identical(bench, frames)


@pytest.mark.parametrize("version, proto", packets.COMBINATIONS)
def test_steered_lands_on_queue_and_local_pf(bench, version, proto):
    """With a rule, a flow comes to its queue by the PF of its poller."""
    flow_list = packets.flows(NB_FLOWS, version, proto)
    for i, flow in enumerate(flow_list):
        flow_id(bench.steer(flow, i % QUEUES))
    homes = bench.view.homes()
    for i, flow in enumerate(flow_list):
        rule = bench.view.rule(flow)
        assert rule["queue"] == i % QUEUES
        assert rule["pf"] == homes[i % QUEUES]
    frames = packets.numbered(flow_list, EACH)
    seen = bench.play(frames)
    assert landed(seen) == {packets.flow_mac(i): Counter({i % QUEUES: EACH})
                            for i in range(NB_FLOWS)}
    _check_counters(bench, seen, stray_on=set())
    expected = Counter(homes[s.queue] for s in seen)
    assert [pf["ipackets"] for pf in bench.view.pf_stats()] == \
        [expected[0], expected[1]]
    assert bench.view.strays()["stray_packets"] == 0
    _identical(bench, frames)


def test_hits_are_exact(bench):
    """COUNT, telemetry and what was sent agree packet by packet."""
    rules = [flow_id(bench.steer(f, i % QUEUES, count=True))
             for i, f in enumerate(FLOWS[:4])]
    frames = [p for i, f in enumerate(FLOWS[:4])
              for p in packets.numbered([f], i + 1)]
    bench.play(frames)
    for i, rule in enumerate(rules):
        out = bench.cmd(f"flow query {bench.view.port} {rule} count")
        assert re.search(rf"hits: {i + 1}\b", out)
        assert bench.view.rule(FLOWS[i])["hits"] == i + 1


def test_only_the_named_flow_is_steered(bench):
    """A flow that differs in one field only is left to RSS."""
    flow = FLOWS[0]
    near = [flow, flow._replace(sport=flow.sport + 1),
            flow._replace(dport=flow.dport + 1),
            flow._replace(proto="tcp"), flow._replace(dst="10.2.0.9")]
    frames = packets.numbered(near, 2)
    by_rss = landed(bench.play(frames))
    base = next(iter(by_rss[packets.flow_mac(0)]))
    target = (base + 1) % QUEUES
    flow_id(bench.steer(flow, target))
    by_rule = landed(bench.play(frames))
    assert by_rule[packets.flow_mac(0)] == Counter({target: 2})
    for i in range(1, len(near)):
        mac = packets.flow_mac(i)
        assert by_rule[mac] == by_rss[mac]


def test_destroyed_rule_steers_no_more(bench):
    """Soon after destroy the flow is back on its RSS queue and default PF."""
    flow = FLOWS[1]
    frames = packets.numbered([flow], 4)
    before = landed(bench.play(frames))
    queue = next(iter(before.values())).most_common(1)[0][0]
    rule = flow_id(bench.steer(flow, (queue + 2) % QUEUES))
    assert landed(bench.play(frames)) != before
    bench.cmd(f"flow destroy {bench.view.port} rule {rule}")
    bench.view.await_lingering()
    assert landed(bench.play(frames)) == before
    assert bench.view.pf_stats()[0]["ipackets"] == len(frames)


def test_destroyed_rule_steers_for_a_while(tmp_path):
    """Which telemetry tells, until it is flushed."""
    frames = packets.numbered(FLOWS[:1], 4)
    with Bench(tmp_path, QUEUES, port={"linger_ms": 10000}) as bench:
        before = landed(bench.play(frames))
        queue = next(iter(before.values())).most_common(1)[0][0]
        rule = flow_id(bench.steer(FLOWS[0], (queue + 2) % QUEUES))
        assert landed(bench.play(frames)) != before
        bench.cmd(f"flow destroy {bench.view.port} rule {rule}")
        steering = bench.view.steering()
        assert (steering["total"], steering["lingering"]) == (0, 1)
        # testpmd flushes no port that it knows no rule of
        flow_id(bench.steer(FLOWS[1], 0))
        bench.flush()
        assert bench.view.steering()["lingering"] == 0
        assert landed(bench.play(frames)) == before


def test_a_flow_can_be_steered_again(bench):
    """Destroy and create moves a flow to each queue in turn."""
    flow = FLOWS[2]
    frames = packets.numbered([flow], 3)
    for queue in range(QUEUES):
        rule = flow_id(bench.steer(flow, queue))
        assert landed(bench.play(frames)) == \
            {packets.flow_mac(0): Counter({queue: 3})}
        assert bench.view.xstats()["rx_stray_packets"] == 0
        bench.cmd(f"flow destroy {bench.view.port} rule {rule}")


def test_duplicate_is_refused(bench):
    """The same 5-tuple twice is EEXIST; the first rule keeps working."""
    flow_id(bench.steer(FLOWS[0], 1))
    for queue in (1, 2):
        assert "File exists" in bench.steer(FLOWS[0], queue)
    assert bench.view.steering()["total"] == 1
    assert landed(bench.play(packets.numbered(FLOWS[:1], 2))) == \
        {packets.flow_mac(0): Counter({1: 2})}


def test_other_default_pf(tmp_path):
    """With default_pf=1 the strays are on the queues of PF 0."""
    frames = packets.numbered(FLOWS, 2)
    with Bench(tmp_path, QUEUES, default_pf=1) as bench:
        seen = bench.play(frames)
        _check_counters(bench, seen, _homed_elsewhere(bench, 1))
        assert [p["ipackets"] for p in bench.view.pf_stats()] == \
            [0, len(frames)]


def test_four_pfs_two_sockets(tmp_path):
    """With two PFs on each socket, steered flows stray nowhere."""
    frames = packets.numbered(FLOWS, 2)
    with Bench(tmp_path, QUEUES, pfs=4) as bench:
        for i, flow in enumerate(FLOWS):
            flow_id(bench.steer(flow, i % QUEUES))
        seen = bench.play(frames)
        _check_counters(bench, seen, set())
        sockets = {pf["index"]: pf["socket"]
                   for pf in bench.view.topology()["pfs"]}
        for queue in bench.view.topology()["queues"]:
            assert sockets[queue["home_pf"]] == queue["socket"]


def _set_link(bench, pf: int, state: str) -> None:
    name = bench.view.topology()["pfs"][pf]["name"]
    assert bench.telemetry.get("/mpsim/fault", name, "link", state) == "done"


@pytest.mark.parametrize("default_pf", [0, 1])
def test_unsteered_passes_by_a_pf_without_link(tmp_path, default_pf):
    """What has no rule comes by the other PF, in order, and home again."""
    frames = packets.numbered(FLOWS, 8)
    with Bench(tmp_path, QUEUES, default_pf=default_pf) as bench:
        for state, pf, rules in (("down", 1 - default_pf, 1), ("up", default_pf, 0)):
            _set_link(bench, default_pf, state)
            bench.wait_until("the switch is told", lambda: bench.telemetry.get(
                "/mpsim/account", "A")["rules"] == rules)
            assert len(bench.play(frames)) == len(frames)
            ipackets = [p["ipackets"] for p in bench.view.pf_stats()]
            assert ipackets[pf] == len(frames)
            _identical(bench, frames)


# Refused rules leave nothing behind.

PATTERN = "eth / ipv4 src is 10.1.0.1 dst is 10.2.0.1 / " \
          "udp src is 1 dst is 2 / end"
V4 = "ipv4 src is 10.1.0.1 dst is 10.2.0.1"
TO_QUEUE = "actions queue index 1 / end"


@pytest.mark.many(asan=9)
@pytest.mark.parametrize("rule", [
    pytest.param(f"ingress pattern {PATTERN} actions queue index 4 / end",
                 id="queue-beyond"),
    pytest.param(f"ingress pattern {PATTERN} actions queue index 65535 / end",
                 id="queue-far-beyond"),
    pytest.param(f"ingress pattern {PATTERN} actions end", id="no-action"),
    pytest.param(f"ingress pattern {PATTERN} actions count / end",
                 id="count-only"),
    pytest.param(f"ingress pattern {PATTERN} actions queue index 0 / "
                 "queue index 1 / end", id="two-queues"),
    pytest.param(f"ingress pattern {PATTERN} actions drop / end", id="drop"),
    pytest.param(f"ingress pattern {PATTERN} actions rss / end", id="rss"),
    pytest.param(f"ingress pattern {PATTERN} actions mark id 1 / "
                 "queue index 1 / end", id="mark"),
    pytest.param(f"egress pattern {PATTERN} {TO_QUEUE}", id="egress"),
    pytest.param(f"transfer pattern {PATTERN} {TO_QUEUE}", id="transfer"),
    pytest.param(f"group 1 ingress pattern {PATTERN} {TO_QUEUE}",
                 id="group"),
    pytest.param(f"ingress pattern eth / end {TO_QUEUE}", id="eth-only"),
    pytest.param(f"ingress pattern eth / {V4} / end {TO_QUEUE}",
                 id="no-ports"),
    pytest.param(f"ingress pattern eth / {V4} / udp / end {TO_QUEUE}",
                 id="any-port"),
    pytest.param(f"ingress pattern eth / {V4} / udp src is 1 / end "
                 f"{TO_QUEUE}", id="one-port"),
    pytest.param("ingress pattern eth / ipv4 src is 10.1.0.1 / "
                 f"udp src is 1 dst is 2 / end {TO_QUEUE}",
                 id="one-address"),
    pytest.param("ingress pattern eth / ipv4 src spec 10.1.0.1 src last "
                 "10.1.0.9 src mask 255.255.255.255 dst is 10.2.0.1 / "
                 f"udp src is 1 dst is 2 / end {TO_QUEUE}",
                 id="address-range"),
    pytest.param(f"ingress pattern eth / {V4} / udp src spec 1 src last 9 "
                 f"src mask 65535 dst is 2 / end {TO_QUEUE}",
                 id="port-range"),
    pytest.param("ingress pattern eth / ipv4 src spec 10.1.0.0 src mask "
                 "255.255.255.0 dst is 10.2.0.1 / udp src is 1 dst is 2 / "
                 f"end {TO_QUEUE}", id="address-mask"),
    pytest.param(f"ingress pattern eth / {V4} / udp src spec 1 src mask "
                 f"255 dst is 2 / end {TO_QUEUE}", id="port-mask"),
    pytest.param(f"ingress pattern eth / {V4} tos is 4 / udp src is 1 "
                 f"dst is 2 / end {TO_QUEUE}", id="tos"),
    pytest.param("ingress pattern eth dst is 02:00:00:00:00:01 / "
                 f"{V4} / udp src is 1 dst is 2 / end {TO_QUEUE}",
                 id="mac"),
    pytest.param(f"ingress pattern eth / vlan tci is 5 / {V4} / "
                 f"udp src is 1 dst is 2 / end {TO_QUEUE}", id="vlan"),
    pytest.param(f"ingress pattern eth / {V4} / icmp type is 8 / end "
                 f"{TO_QUEUE}", id="icmp"),
    pytest.param(f"ingress pattern eth / {V4} / udp src is 1 dst is 2 / "
                 f"vxlan / end {TO_QUEUE}", id="tunnel"),
])
def test_rule_is_taken_if_the_pf_takes_it(bench, rule):
    """One clear error if not, for validate as for create; no rule is left."""
    pf = bench.view.topology()["pfs"][0]["port"]
    taken = "validated" in bench.cmd(f"flow validate {pf} {rule}")
    for verb in ("validate", "create"):
        out = bench.cmd(f"flow {verb} {bench.view.port} {rule}")
        if taken:
            assert "Caught" not in out
            continue
        assert "Caught" in out, out
        sentence = out.split(":", 2)[-1]
        assert len(sentence.split()) >= 4, f"not a sentence: {out}"
        assert "unspecified reason" not in out
    bench.cmd(f"flow flush {bench.view.port}")
    assert bench.view.steering()["total"] == 0
    flow_id(bench.cmd(f"flow create {bench.view.port} ingress pattern "
                      f"{PATTERN} {TO_QUEUE}"))


@pytest.mark.parametrize("tables", [
    {"mpfs_entries": 4}, {"arfs_entries": 4},
], ids=["mpfs", "arfs"])
def test_full_table(tmp_path, tables):
    """ENOSPC is passed on; what was put elsewhere is taken back."""
    with Bench(tmp_path, QUEUES, **tables) as bench:
        _fill_and_overflow(bench)


@pytest.mark.parametrize("small", [0, 1])
def test_full_table_on_one_pf(tmp_path, small):
    """A full ARFS table on either PF leaves no rule on the other."""
    with Bench(tmp_path, QUEUES, arfs_on={small: 4}) as bench:
        _fill_and_overflow(bench)


def _fill_and_overflow(bench) -> None:
    rules = [flow_id(bench.steer(f, i % QUEUES))
             for i, f in enumerate(FLOWS[:4])]
    for flow in FLOWS[4:8]:
        for queue in range(QUEUES):  # each PF in turn would be its home
            assert "No space left" in bench.steer(flow, queue)
    assert bench.view.steering()["total"] == 4
    assert bench.view.xstats()["steered_flows"] == 4
    # The four still work, the refused ones go where they went before.
    seen = landed(bench.play(packets.numbered(FLOWS[:4], 2)))
    assert seen == {packets.flow_mac(i): Counter({i % QUEUES: 2})
                    for i in range(4)}
    # A rule left behind on a PF would make the same flow EEXIST here.
    for i, rule in enumerate(rules):
        bench.cmd(f"flow destroy {bench.view.port} rule {rule}")
        flow_id(bench.steer(FLOWS[4 + i], i % QUEUES))
    assert "No space left" in bench.steer(FLOWS[0], 0)
    seen = landed(bench.play(packets.numbered(FLOWS[4:8], 2)))
    assert seen == {packets.flow_mac(i): Counter({i % QUEUES: 2})
                    for i in range(4)}
    assert bench.view.xstats()["rx_stray_packets"] == 0
    bench.flush()
    for flow in FLOWS[8:12]:
        flow_id(bench.steer(flow, 0))


def test_flush_empties_the_tables(tmp_path):
    """After flush, as many rules fit as before, again and again."""
    with Bench(tmp_path, QUEUES, arfs_entries=8, mpfs_entries=8) as bench:
        for _ in range(5):
            for i, flow in enumerate(FLOWS[:8]):
                flow_id(bench.steer(flow, i % QUEUES))
            bench.flush()
        assert bench.view.steering()["total"] == 0


def test_port_restart_empties_the_tables(tmp_path):
    """Stopping the port takes its rules off the PFs too."""
    with Bench(tmp_path, QUEUES, arfs_entries=8, mpfs_entries=8) as bench:
        port = bench.view.port
        for _ in range(3):
            for i, flow in enumerate(FLOWS[:8]):
                flow_id(bench.steer(flow, i % QUEUES))
            bench.cmds([f"port stop {port}", f"port start {port}"])
        assert bench.view.steering()["total"] == 0
