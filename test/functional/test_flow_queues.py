# SPDX-License-Identifier: BSD-3-Clause
"""Template tables and flow queues by testpmd's commands, on a PF and on octo."""

import re
from collections import Counter

import pytest

from octotest import packets, vdevs
from octotest.bench import Bench, landed
from octotest.simbench import PF0, SimBench

QUEUES = 4
FLOWS = packets.flows(8)
SIZE = 16


def _template(flow) -> str:
    """The pattern of a flow: masks, and no values."""
    return ("eth / ipv4 src mask 255.255.255.255 dst mask 255.255.255.255"
            f" / {flow.proto} src mask 65535 dst mask 65535 / end")


def _values(flow) -> str:
    """The pattern of a flow: values, and no masks."""
    return (f"eth / ipv4 src spec {flow.src} dst spec {flow.dst}"
            f" / {flow.proto} src spec {flow.sport} dst spec {flow.dport}"
            " / end")


class FlowQueue:
    """Flow queue 0 of a port, with a table of UDP 5-tuples."""

    def __init__(self, bench, port: int) -> None:
        self.bench = bench
        self.port = port

    def cmd(self, line: str) -> str:
        """A command with the port in it."""
        return self.bench.cmd(line.format(port=self.port))

    def set_up(self, rules: int = SIZE) -> None:
        """Flow queues, templates, and a table."""
        self.cmd("port stop {port}")
        out = self.cmd(
            "flow configure {port} queues_number 2 queues_size "
            f"{SIZE} counters_number 0 aging_counters_number 0 "
            "meters_number 0 flags 0")
        assert "Configure flows" in out, out
        out = self.cmd("flow pattern_template {port} create "
                       "pattern_template_id 1 relaxed no ingress template "
                       + _template(FLOWS[0]))
        assert "Pattern template #1 created" in out, out
        out = self.cmd("flow actions_template {port} create ingress "
                       "actions_template_id 2 template "
                       "queue index 0 / end mask queue index 0 / end")
        assert "Actions template #2 created" in out, out
        out = self.cmd("flow template_table {port} create table_id 3 group 0 "
                       f"priority 0 ingress rules_number {rules} "
                       "pattern_template 1 actions_template 2")
        assert "Template table #3 created" in out, out
        self.cmd("port start {port}")

    def create(self, flow, queue: int, postpone: bool = False) -> str:
        """Enqueue a rule; what testpmd said."""
        return self.cmd(
            "flow queue {port} create 0 template_table 3 pattern_template 0 "
            f"actions_template 0 postpone {'yes' if postpone else 'no'} "
            f"pattern {_values(flow)} actions queue index {queue} / end")

    def destroy(self, rule: int) -> str:
        """Enqueue that the rule is to go."""
        return self.cmd(f"flow queue {{port}} destroy 0 postpone no rule {rule}")

    def push(self) -> None:
        """Push."""
        assert "operations pushed" in self.cmd("flow push {port} queue 0")

    def pull(self):
        """Pull; how many operations failed, and how many succeeded."""
        out = self.cmd("flow pull {port} queue 0")
        found = re.search(r"\((\d+) failed, (\d+) succeeded\)", out)
        assert found, out
        return int(found[1]), int(found[2])


def _rule(out: str) -> int:
    found = re.search(r"Flow rule #(\d+) creation enqueued", out)
    assert found, out
    return int(found[1])


@pytest.fixture
def on_pf(tmp_path):
    """Two PFs, without octo."""
    with SimBench(tmp_path, QUEUES, nic=[
            vdevs.mpsim(0, "A", arfs_entries=4),
            vdevs.mpsim(1, "A", 1)]) as bench:
        yield FlowQueue(bench, PF0)


@pytest.fixture
def on_octo(tmp_path):
    """An octo port over two PFs, of which the second holds fewer rules."""
    with Bench(tmp_path, QUEUES) as bench:
        yield FlowQueue(bench, bench.view.port)


def _queues(bench, flows) -> dict:
    """Where the flows are received: number of the flow to queues."""
    seen = bench.play(packets.numbered(flows, 2))
    by_mac = landed(seen)
    return {i: by_mac[packets.flow_mac(i)] for i in range(len(flows))}


def _check_rules(table: FlowQueue) -> None:
    """Rules come with the push and go with it."""
    by_rss = _queues(table.bench, FLOWS)
    target = {i: (next(iter(by_rss[i])) + 1) % QUEUES for i in range(4)}
    rules = [_rule(table.create(FLOWS[i], target[i], postpone=True))
             for i in range(4)]
    assert table.pull() == (0, 0)
    assert _queues(table.bench, FLOWS) == by_rss
    table.push()
    assert table.pull() == (0, 4)
    now = _queues(table.bench, FLOWS)
    assert now == {**by_rss, **{i: Counter({target[i]: 2}) for i in target}}
    for rule in rules:
        assert "destruction enqueued" in table.destroy(rule)
    assert table.pull() == (0, 4)
    assert _queues(table.bench, FLOWS) == by_rss


def test_rules_of_a_pf(on_pf):
    """A PF takes rules through a flow queue."""
    on_pf.set_up()
    _check_rules(on_pf)


def test_a_full_table_of_a_pf(on_pf):
    """What the NIC has no room for fails, and what it has stays."""
    on_pf.set_up()
    rules = [_rule(on_pf.create(flow, 1)) for flow in FLOWS[:5]]
    assert on_pf.pull() == (1, 4)
    assert "destruction enqueued" in on_pf.destroy(rules[4])
    assert on_pf.pull() == (0, 1)
    now = _queues(on_pf.bench, FLOWS[:4])
    assert all(now[i] == Counter({1: 2}) for i in range(4))


def test_rules_of_octo(on_octo):
    """The same through octo: by the PF of the queue's poller, no strays."""
    on_octo.set_up()
    on_octo.bench.poll_once()
    _check_rules(on_octo)
    for i, flow in enumerate(FLOWS):
        _rule(on_octo.create(flow, i % QUEUES))
    assert on_octo.pull() == (0, len(FLOWS))
    now = _queues(on_octo.bench, FLOWS)
    assert now == {i: Counter({i % QUEUES: 2}) for i in range(len(FLOWS))}
    assert on_octo.bench.view.strays()["stray_packets"] == 0
