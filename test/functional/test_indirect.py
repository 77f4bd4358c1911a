# SPDX-License-Identifier: BSD-3-Clause
"""Indirect actions by testpmd's commands: flows follow an update."""

import re
from collections import Counter

import pytest

from octotest import packets
from octotest.bench import Bench, landed
from octotest.testpmd import flow_id

QUEUES = 4
FLOWS = packets.flows(6)


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """Four queues, two on each socket."""
    return shared(lambda: Bench(tmp_path_factory.mktemp("bench"), QUEUES))


@pytest.fixture
def bench(shared_bench):
    """That bench, without rules and indirect actions."""
    bench = shared_bench.get()
    yield bench
    if bench.alive():
        bench.flush()


def _create(bench, number: int, action: str) -> None:
    out = bench.cmd(f"flow indirect_action {bench.view.port} create "
                    f"action_id {number} ingress action {action} / end")
    assert f"Indirect action #{number} created" in out, out


def _destroy(bench, number: int) -> str:
    return bench.cmd(f"flow indirect_action {bench.view.port} destroy "
                     f"action_id {number}")


def _rule(bench, flow, actions: str) -> int:
    return flow_id(bench.cmd(f"flow create {bench.view.port} ingress pattern "
                             f"{flow.pattern()} actions {actions} / end"))


def test_all_flows_follow_an_update(bench):
    """Every queue in turn: all flows come to it, by the PF of its poller."""
    _create(bench, 1, "queue index 0")
    for flow in FLOWS:
        _rule(bench, flow, "indirect 1")
    homes = bench.view.homes()
    for queue in (1, 2, 3, 0):
        out = bench.cmd(f"flow indirect_action {bench.view.port} update 1 "
                        f"action queue index {queue} / end")
        assert "Indirect action #1 updated" in out, out
        seen = bench.play(packets.numbered(FLOWS, 2))
        assert landed(seen) == {
            packets.flow_mac(i): Counter({queue: 2})
            for i in range(len(FLOWS))}
        expected = [0, 0]
        expected[homes[queue]] = len(seen)
        assert [pf["ipackets"] for pf in bench.view.pf_stats()] == expected
        assert bench.view.strays()["stray_packets"] == 0
    assert "Caught" in _destroy(bench, 1)
    bench.flush()
    assert "Indirect action #1 destroyed" in _destroy(bench, 1)


def test_a_shared_counter_is_the_sum(bench):
    """Flows to both PFs count in one place."""
    _create(bench, 2, "count")
    for i, flow in enumerate(FLOWS[:4]):
        _rule(bench, flow, f"queue index {i % QUEUES} / indirect 2")
    frames = packets.numbered(FLOWS[:4], 5)
    bench.play(frames)
    packets_by_pf = [pf["ipackets"] for pf in bench.view.pf_stats()]
    assert all(packets_by_pf) and sum(packets_by_pf) == len(frames)
    out = bench.cmd(f"flow indirect_action {bench.view.port} query 2")
    assert re.search(rf"hits: {len(frames)}\b", out), out
    bench.flush()
    assert "Indirect action #2 destroyed" in _destroy(bench, 2)
