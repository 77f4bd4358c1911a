# SPDX-License-Identifier: BSD-3-Clause
"""Steering tiers: all packets arrive on all of them, whatever the NIC lacks."""

import re
from collections import Counter
from typing import NamedTuple, Optional

import pytest
from scapy.layers.l2 import ARP, Ether

from octotest import packets
from octotest.bench import Bench, landed, order_of
from octotest.testpmd import flow_id

QUEUES = 4
NB_FLOWS = 16
EACH = 4


class Case(NamedTuple):
    """What was asked for, what the NIC lacks, and what comes of it."""

    tier: str
    asked: Optional[str] = None
    caps: Optional[str] = None

    @property
    def name(self) -> str:
        """For pytest."""
        return self.tier + "".join(
            f":{word}" for word in (self.asked and f"tier={self.asked}",
                                    self.caps and f"caps={self.caps}") if word)

    @property
    def words(self) -> str:
        """By which a refused rule says why."""
        return f"caps={self.caps}" if self.caps else "tier=none"


CASES = (
    *(Case(tier, tier) for tier in ("exact", "partition", "queue", "none")),
    Case("exact"),
    Case("exact", "partition", "-masked"),
    Case("exact", "partition", "-reta"),
    Case("partition", "partition", "-count"),
    Case("queue", None, "-mpfs"),
    Case("queue", "exact", "-mpfs"),
    Case("none", "partition", "-arfs"),
)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def shared_bench(request, shared, tmp_path_factory):
    """A port in each tier: (case, testpmd to share)."""
    case = request.param
    return case, shared(lambda: Bench(
        tmp_path_factory.mktemp("bench"), QUEUES,
        port={"tier": case.asked, "learn": "off"}, caps=case.caps))


@pytest.fixture
def tiered(shared_bench):
    """That port, without rules: (case, testpmd)."""
    case, shared = shared_bench
    bench = shared.get()
    yield case, bench
    if bench.alive():
        bench.flush()


def _everything(each: int = EACH) -> list:
    """IPv4 and IPv6, all protocols, and what is not IP."""
    flows = [flow for version, proto in packets.COMBINATIONS
             for flow in packets.flows(NB_FLOWS, version, proto)]
    arp = Ether(src=packets.flow_mac(len(flows)), dst="ff:ff:ff:ff:ff:ff") / \
        ARP(psrc="10.1.0.1", pdst="10.1.0.2") / f"f{len(flows)} n0 ".encode()
    return [*packets.numbered(flows, each), arp]


def _assert_identical(bench, frames) -> None:
    """Each came back once, unchanged, in order within its flow."""
    back = bench.returned()
    assert Counter(back) == Counter(bytes(f) for f in frames)
    assert order_of(back) == order_of(bytes(f) for f in frames)
    bench.view.assert_lost_nothing()


def test_is_the_best_tier_that_was_asked_for(tiered):
    """Telemetry and one line in the log say so; it warns of what is not."""
    case, bench = tiered
    tier = case.tier
    topology = bench.view.topology()
    assert topology["tier"] == tier
    assert topology["mpfs"] == ("none" if tier in ("queue", "none")
                                else "switch")
    said = re.findall(rf"steering tier (?:is )?{tier}\b", bench.boot_text)
    assert len(said) == 1
    assert (case.asked not in (None, tier)) == (
        f"tier={case.asked} cannot be had" in bench.boot_text)
    if case.asked not in (None, tier):
        assert re.search(rf"cannot be had, .* {tier}: .*\w", bench.boot_text)


def test_all_packets_arrive(tiered):
    """Without rules: each once, each flow in one queue; who strays."""
    case, bench = tiered
    frames = _everything()
    seen = bench.play(frames)
    assert len(seen) == len(frames)
    assert all(len(queues) == 1 for queues in landed(seen).values())
    assert len({s.queue for s in seen}) == QUEUES
    strays = bench.view.strays()["stray_packets"]
    assert (strays == 0) == (case.tier == "partition")
    _assert_identical(bench, frames)


def _assert_refused(case, bench, flow) -> None:
    """With a sentence that says why; nothing is left behind."""
    out = bench.steer(flow, 1)
    assert "Caught" in out and case.words in out, out
    assert bench.view.steering()["total"] == 0


def _steer(tier, bench, flows) -> None:
    for i, flow in enumerate(flows):
        flow_id(bench.steer(flow, i % QUEUES))
    homes = bench.view.homes()
    for i, flow in enumerate(flows):
        rule = bench.view.rule(flow)
        assert rule["queue"] == i % QUEUES
        assert rule["pf"] == (-1 if tier == "queue" else homes[i % QUEUES])


@pytest.mark.many(asan=17)
@pytest.mark.parametrize("version, proto", packets.COMBINATIONS)
def test_steered_flows_arrive(tiered, version, proto):
    """At their queue, and by its PF if the tier can do that."""
    case, bench = tiered
    tier = case.tier
    flows = packets.flows(NB_FLOWS, version, proto)
    if tier == "none":
        _assert_refused(case, bench, flows[0])
    else:
        _steer(tier, bench, flows)
    frames = packets.numbered(flows, EACH)
    seen = landed(bench.play(frames))
    assert {mac: sum(n.values()) for mac, n in seen.items()} == \
        {packets.flow_mac(i): EACH for i in range(NB_FLOWS)}
    if tier != "none":
        assert seen == {packets.flow_mac(i): Counter({i % QUEUES: EACH})
                        for i in range(NB_FLOWS)}
    strays = bench.view.strays()["stray_packets"]
    assert (strays > 0) == (tier in ("queue", "none"))
    _assert_identical(bench, frames)


def test_port_starts_again_in_its_tier(tiered):
    """A stop and a start lose nothing."""
    case, bench = tiered
    port = bench.view.port
    bench.cmds([f"port stop {port}", f"port start {port}"])
    bench.poll_once()
    assert bench.view.topology()["tier"] == case.tier
    frames = _everything(1)
    assert len(bench.play(frames)) == len(frames)
    _assert_identical(bench, frames)
