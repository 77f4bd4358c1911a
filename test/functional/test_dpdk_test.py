# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own unit tests, by the stock dpdk-test, with an octo port.

What passes with a bare PF passes with octo. The octo port is given first, so
it is port 0, and no other is free: the tests that take a port take it. The
rest make ports of their own and must not mind the octo port's owned PFs.
"""

import re
from typing import Dict, List, Tuple

import pytest

from octotest import env, vdevs
from octotest.process import Process

SIM = (vdevs.nic("A", 0, 1, "loop"),
       [vdevs.octo(), *vdevs.nic("A", 0, 2, "loop")])
# 10 Gbit/s: pmd_perf_autotest ends when two seconds' worth of packets came
NULL = (["--vdev=net_null0"],
        [vdevs.octo(0, socket_map=vdevs.SOCKET_MAP).replace(
            "net_mpsim", "net_null"),
         "--vdev=net_null0", "--vdev=net_null1"])
TESTS: Dict[str, Tuple[List[str], List[str]]] = {
    "bitratestats_autotest": SIM,
    "ethdev_api": SIM,  # DPDK 23.03 and newer
    "ethdev_link_status": SIM,
    "eventdev_common_autotest": SIM,
    "latencystats_autotest": SIM,
    "link_bonding_rssconf_autotest": SIM,
    "metrics_autotest": SIM,
    "pcapng_autotest": SIM,
    "pdump_autotest": SIM,
    "pmd_perf_autotest": NULL,
    "ring_pmd_autotest": SIM,
}


def _run(binary: str, name: str, ports: List[str]) -> Tuple[int, List[str]]:
    """Exit status, and what the test's cases came to."""
    test = Process([binary, "--no-huge", "-m", "512", "--no-pci",
                    "--lcores=0@0,1@1", f"--file-prefix={env.unique()}",
                    *env.plugin_args(), *ports], {"DPDK_TEST": name})
    status = test.wait(120)
    if f"invalid test command: '{name}'" in test.text:
        pytest.skip(f"this dpdk-test has no {name}")
    return status, re.findall(r"TestCase \[ *\d+\] : .*|^Test \w+$",
                              test.text, re.MULTILINE)


@pytest.mark.parametrize("name", TESTS)
def test_passes_as_on_a_bare_pf(program, name):
    """The same cases, the same outcome: success."""
    binary = program("dpdk-test")
    if env.is_of_another_dpdk(binary):
        pytest.skip("this dpdk-test is of another DPDK")
    bare, octo = (_run(binary, name, ports) for ports in TESTS[name])
    assert bare[0] == 0 and bare[1][-1:] == ["Test OK"], bare
    assert octo == bare
