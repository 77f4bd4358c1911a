# SPDX-License-Identifier: BSD-3-Clause
"""rte_eth_dev_priv_dump(): what `octo show` shows, in programs that know nothing of octo."""

import re

import pytest

from octotest import env, hugepages, packets, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View

FLOW = packets.flows(1)[0]


@pytest.fixture
def pmd(huge_dir):
    """A stock testpmd, in memory that other processes can attach, with a rule."""
    with Testpmd(vdevs.looped(), memory=None,
                 eal=["-m", "256", f"--huge-dir={huge_dir}",
                      *hugepages.SHARED]) as pmd:
        view = View(pmd)
        pmd.start("io", first=True)
        pmd.wait_until("polled", lambda: min(view.homes().values()) >= 0)
        pmd.stop_forwarding()
        assert "created" in pmd.cmd(FLOW.rule(view.port, 1))
        yield pmd


def _assert_topology(text: str, view: View) -> None:
    """Each PF, and each queue with its home."""
    assert re.search(rf"^Port {view.port}: net_octo0, link up, steering tier exact, "
                     r"MPFS back end switch, allocate on socket ", text, re.MULTILINE), text
    for number, name in enumerate(vdevs.pf_names()):
        assert re.search(rf"^ +{number} +{name} +\d+ +\S+ up +started +(proxy|-)$", text,
                         re.MULTILINE), text
    for queue, home in view.homes().items():
        for kind in ("Rx", "Tx"):
            assert re.search(rf"^ +{kind} {queue} .* [01] net_mpsim[01] +home +none$", text,
                             re.MULTILINE), text
        assert re.search(rf"^ +Rx {queue} .* {home} net_mpsim{home} ", text, re.MULTILINE), text


def _assert_rule(text: str, view: View) -> None:
    assert f"Port {view.port}: 1 steered flows, 0 of them ineffective, tier exact\n" in text
    assert re.search(rf"^ +{FLOW.proto} {re.escape(FLOW.src)}:{FLOW.sport} > "
                     rf"{re.escape(FLOW.dst)}:{FLOW.dport} +1 +net_mpsim", text,
                     re.MULTILINE), text


def test_telemetry_of_any_program_dumps_the_port(pmd):
    """ethdev's own command does."""
    view = View(pmd)
    text = pmd.telemetry.get("/ethdev/dump_priv", view.port)
    _assert_topology(text, view)
    _assert_rule(text, view)
    assert "not listed" not in text


def test_stock_testpmd_shows_the_dump(pmd):
    """From DPDK 23.03 on, `show port info` ends with it."""
    view = View(pmd)
    text = pmd.cmd(f"show port info {view.port}")
    if "Device private info:" not in text:
        pytest.skip("this testpmd does not dump ports")
    _assert_topology(text, view)
    _assert_rule(text, view)


def test_proc_info_dumps_the_port(pmd, program):
    """A secondary process knows the PFs and queues, and how many rules there are."""
    view = View(pmd)
    pmd.wait_until("rules are counted for others",
                   lambda: view.xstats()["steered_flows"] == 1)
    process = Process([
        program("dpdk-proc-info"), "--no-pci", f"--file-prefix={pmd.file_prefix}",
        *env.plugin_args(), "--", f"-p{1 << view.port:#x}", "--show-port-private"])
    assert process.wait(60) == 0, process.text
    _assert_topology(process.text, view)
    assert f"Port {view.port}: 1 steered flows, 0 of them ineffective, tier exact\n" in \
        process.text
    assert f"  1 flows are not listed: see telemetry /octo/steering,{view.port}\n" in \
        process.text
    assert FLOW.src not in process.text


def test_closed_port_is_not_dumped(pmd):
    """ethdev refuses it."""
    port = pmd.port()
    pmd.cmd(f"port stop {port}")
    assert "net_octo0" in pmd.telemetry.get("/ethdev/dump_priv", port)
    pmd.cmd(f"port close {port}")
    assert pmd.telemetry.get("/ethdev/dump_priv", port) is None
