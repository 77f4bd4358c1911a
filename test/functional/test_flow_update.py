# SPDX-License-Identifier: BSD-3-Clause
"""A rule gets another queue by testpmd's command (DPDK 24.03)."""

from collections import Counter

import pytest

from octotest import packets
from octotest.bench import Bench, landed
from octotest.testpmd import flow_id

QUEUES = 4
FLOWS = packets.flows(4)


def test_a_flow_follows_its_rule(tmp_path):
    """Every queue in turn, by the PF of its poller; others stay."""
    with Bench(tmp_path, QUEUES) as bench:
        if bench.release() < (24, 3):
            pytest.skip("testpmd cannot update rules before 24.03")
        rules = [flow_id(bench.steer(flow, 0)) for flow in FLOWS]
        for queue in (1, 2, 3):
            out = bench.cmd(f"flow update {bench.view.port} {rules[0]} "
                            f"actions queue index {queue} / end")
            assert "updated" in out, out
            seen = bench.play(packets.numbered(FLOWS, 2))
            assert landed(seen) == {
                packets.flow_mac(i): Counter({0 if i else queue: 2})
                for i in range(len(FLOWS))}
            assert bench.view.strays()["stray_packets"] == 0
