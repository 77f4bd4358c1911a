# SPDX-License-Identifier: BSD-3-Clause
"""Functional tests over PFs that are slices of one simulated port, and those that are left out.

With OCTO_TEST_SLICES=1 each octo port of the tests is over slices of the
first PF instead of all PFs.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Sequence, Tuple

import pytest

from . import env, process, vdevs

TESTS = Path(__file__).resolve().parent.parent

# Why tests are left out.
PORTS = "each PF is a port: its name, number, queues, link and statistics"
REMOVAL = "a PF is lost, ejected or plugged again, and the others stay"
SWITCH = "the switch between PFs: its rules, tables, tiers and default PF"
RETA = "packets stray: the RETA of slices leads those without rules home"
ROOM = "a simulated PF has no more than 64 queues"
IDLE = "with more Tx than Rx queues, idle Rx queues of the port have rings of mbufs, too"
REFUSED = "slices have none: RSS without queues, flow queues, agents"
SIMULATED = "the subject is the simulated NIC with PFs of its own"
OTHERS = "other programs, in runs that take long"

# Files that are run, and by reason the words of pytest -k that are left out.
TRAFFIC = {
    "test_octo_basic.py": {
        PORTS: ["test_topology", "test_xstats_names_and_sums",
                "test_rss_is_the_same_on_every_pf", "test_octo_between_its_pfs",
                "test_socket_by_suffix_wins", "test_link_is_up_while_any_pf_is"],
        REMOVAL: ["test_pf_removed_under_traffic"],
        ROOM: ["test_sixty_four_queues"]},
    "test_traffic.py": {
        SWITCH: ["partition"],
        REMOVAL: ["pfs_die", "taken_out"]},
    "test_lifecycle.py": {},
    "test_move.py": {},
    "test_aggregated.py": {},
}
RULES = {
    "test_octo_steering.py": {
        RETA: ["test_unsteered_enters_by_the_default_pf", "test_other_default_pf"],
        SWITCH: ["test_unsteered_passes_by_a_pf_without_link", "test_full_table[mpfs]"],
        PORTS: ["test_full_table_on_one_pf", "queue-beyond"]},
    "test_octo_generic.py": {
        SWITCH: ["test_marked_flow_comes_home", "test_transfer_rule_goes_to_the_switch"],
        PORTS: ["test_dump_tells_what_is_where"]},
    "test_flow_parity.py": {
        REFUSED: [f"tunnels-{i}" for i in range(26, 33)]},
    "test_indirect.py": {},
    "test_flow_update.py": {},
    "test_flow_perf.py": {},
    "test_telemetry.py": {
        RETA: ["test_strays_keys_and_sums"],
        ROOM: ["test_xstats_pages"]},
    "test_secondary.py": {
        REMOVAL: ["test_port_closed"]},
    "test_l3fwd_power.py": {
        PORTS: ["test_sleeps_over_taps"]},
    "test_l3fwd_rings.py": {
        IDLE: ["test_it_forwards_with_the_mbufs_that_it_has[1-4]"]},
    "test_ptpclient.py": {
        PORTS: ["test_a_clock_follows_its_master[over_octo_by_the_second-2000]",
                "test_an_octo_port_without_switch_rules_refuses"]},
    "test_server_node_efd.py": {},
    "test_secondary_intr.py": {
        REMOVAL: ["test_sleeps_while_a_pf", "test_it_is_removed", "test_a_pf_that_the_secondary"]},
}

# Files that are not run.
LEFT_OUT = {
    PORTS: ["test_bad_input.py", "test_bonding.py", "test_buffers.py", "test_dump.py",
            "test_environment.py", "test_exporter.py", "test_measure.py",
            "test_measure_program.py", "test_port_numbers.py", "test_testpmd_plugin.py"],
    REMOVAL: ["test_secondary_calls.py", "test_secondary_kill.py", "test_symmetric_mp.py"],
    SWITCH: ["test_tier_mac.py", "test_tiers.py"],
    RETA: ["test_dumpcap.py", "test_learning.py", "test_octo_audit.py"],
    REFUSED: ["test_agent_clients.py", "test_agent_hostile.py", "test_agent_steering.py",
              "test_agent_vhost.py", "test_flow_queues.py", "test_octo_agent.py"],
    SIMULATED: ["test_mpsim_eswitch.py", "test_mpsim_fault.py", "test_mpsim_wires.py"],
    OTHERS: ["test_dpdk_test.py", "test_examples.py", "test_ovs.py",
             "test_packages.py"],
}

# What a file that passes no test prints, and skips, with a DPDK that lacks its subject.
NOT_HERE = ("is of another DPDK", "the aggregated ports API came with DPDK 23.03",
            "testpmd cannot update rules before 24.03")
# The same, with a DPDK tree that lacks the file's program.
NOT_IN_TREE = ("dpdk-test-flow-perf is not installed", "l3fwd-power is not built",
               "ptpclient is not built", "server_node_efd is not built")


LIMIT = 600  # seconds, a multiple of what any of these files takes


def run(file: str, left_out: dict) -> None:
    """Let the tests of a file that are not left out run over slices: all pass."""
    if vdevs.SLICED:
        pytest.skip("the tests are over slices already")
    # devtools/in-tree.sh leaves them out, too
    if env.IN_TREE and file.startswith("test_secondary_"):
        pytest.skip("the second process is linked with another DPDK")
    words = [word for group in left_out.values() for word in group]
    chosen = ["-k", f"not ({' or '.join(words)})"] if words else []
    status, said = _outcome([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider",
                             *chosen, TESTS / file])
    print(said)
    # as it does over PFs
    if status == 0 and " passed" not in said:
        for why in NOT_HERE + (NOT_IN_TREE if env.IN_TREE else ()):
            if why in said:
                pytest.skip(f"{file}: {why}")
    if status == env.MACHINE_BROKE:
        process.STARVED += re.findall(f"{env.BROKEN}(.*)", said)
    assert status == 0 and " passed" in said


def _outcome(argv: Sequence) -> Tuple[int, str]:
    """Status and output. What takes too long is interrupted, and tells what it waits for."""
    with subprocess.Popen(argv, env={**os.environ, "OCTO_TEST_SLICES": "1"}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as child:
        try:
            said, _ = child.communicate(timeout=LIMIT)
            return child.returncode, said
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate()  # in all no longer than devtools/run-tests.py lets it
            return child.returncode or 1, said
