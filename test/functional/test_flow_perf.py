# SPDX-License-Identifier: BSD-3-Clause
"""The stock dpdk-test-flow-perf makes and removes rules on an octo port.

It takes as many ports as there are, from number 0 on: the octo port is given
first, so that it is that one, and its PFs do not count as they are owned.
"""

import re

import pytest

from octotest import env, vdevs
from octotest.process import Process

RULES = 10000 if env.ASAN else 100000

PATTERNS = {
    "udp": ["--ether", "--ipv4", "--udp", "--queue"],
    "tcp over ipv6, counted": ["--ether", "--ipv6", "--tcp", "--count",
                               "--queue"],
    "vlan": ["--ether", "--vlan", "--ipv4", "--queue"],
}


def _rate(text: str, what: str) -> float:
    """Thousands of rules per second, of all lcores and rules."""
    found = re.search(rf"\[Throughput \| {what}\].* rate -> ([\d.]+) K", text)
    assert found, text[-2000:]
    return float(found[1])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_inserts_and_deletes(program, pattern):
    """All rules, and the rates of both; each matches another address."""
    binary = program("dpdk-test-flow-perf")
    if env.is_of_another_dpdk(binary):
        pytest.skip("this dpdk-test-flow-perf is of another DPDK")
    room = {"generic_entries": 2 * RULES}
    perf = Process([binary, "--no-huge", "-m", "1024", "--no-pci", "--lcores=0@0,1@1",
                    f"--file-prefix={env.unique()}", *env.plugin_args(),
                    vdevs.octo(), *vdevs.nic("A", 0, 2, "loop", **room),
                    "--", "--ingress", *PATTERNS[pattern],
                    f"--rules-count={RULES}", "--rules-batch=10000",
                    "--deletion-rate"])
    assert perf.wait(120) == 0
    assert f"Rules Count per port: {RULES}" in perf.text
    assert "can't be created" not in perf.text
    assert _rate(perf.text, "Insertion") > 0
    assert _rate(perf.text, "Deletion") > 0
