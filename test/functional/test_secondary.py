# SPDX-License-Identifier: BSD-3-Clause
"""A second process looks at a running port: dpdk-proc-info."""

import re

import pytest

from octotest import env, hugepages, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View


@pytest.fixture
def primary(huge_dir):
    """A testpmd in hugepages that has carried some packets."""
    with Testpmd(vdevs.looped(), memory=None,
                 eal=["-m", "256", f"--huge-dir={huge_dir}",
                      *hugepages.SHARED]) as pmd:
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda:
                       pmd.stats(pmd.port())["RX-packets"] > 1000)
        pmd.stop_forwarding()
        yield pmd


def _proc_info(pmd, program, *args: str) -> str:
    process = Process([
        program("dpdk-proc-info"), "--no-pci",
        f"--file-prefix={pmd.file_prefix}", *env.plugin_args(), "--",
        *args])
    assert process.wait(60) == 0, process.text
    return process.text


def test_proc_info_stats(primary, program):
    """Basic statistics in the secondary are those of the primary."""
    view = View(primary)
    out = _proc_info(primary, program, f"-p{1 << view.port:#x}", "--stats")
    stats = view.stats()
    assert re.search(rf"RX-packets: {stats['RX-packets']}\b", out), out
    assert re.search(rf"TX-packets: {stats['TX-packets']}\b", out), out


def test_proc_info_xstats(primary, program):
    """So are all extended ones."""
    view = View(primary)
    out = _proc_info(primary, program, f"-p{1 << view.port:#x}", "--xstats")
    shown = {k: int(v) for k, v in
             re.findall(r"^(\S+): (\d+)$", out, re.MULTILINE)}
    xstats = view.xstats()
    assert xstats["rx_home_packets"] + xstats["rx_stray_packets"] > 0
    assert {k: shown.get(k) for k in xstats} == xstats


def test_primary_goes_on_after_a_secondary(primary, program):
    """The secondary's coming and going changes nothing."""
    view = View(primary)
    for _ in range(3):
        _proc_info(primary, program, f"-p{1 << view.port:#x}", "--stats")
    before = view.stats()["RX-packets"]
    primary.start("io", first=True)
    primary.wait_until("traffic", lambda:
                       view.stats()["RX-packets"] > before + 1000)
    primary.stop_forwarding()
    view.assert_lost_nothing()
