# SPDX-License-Identifier: BSD-3-Clause
"""PFs that are slices of one port: tests of other files, run over them.

With OCTO_TEST_SLICES=1 each octo port of the tests is over slices of the
first PF instead of all PFs. What is left out here needs PFs that are ports
of their own: it takes one out, asks one for counters, or names them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from octotest import vdevs
from octotest.testpmd import Testpmd
from octotest.veth import Wire
from octotest.view import View

HERE = Path(__file__).parent

# What does not apply in each file, by the words of pytest -k.
LEFT_OUT = {
    "test_octo_basic.py": (
        "test_info or test_topology or test_each_lcore_sends_by_its_own_pf or "
        "test_xstats_names_and_sums or test_rss_is_the_same_on_every_pf or "
        "test_octo_between_its_pfs or test_socket_by_suffix_wins or "
        "test_link_is_up_while_any_pf_is or test_pf_removed_under_traffic or "
        "test_sixty_four_queues"),
    "test_traffic.py": (
        "partition or queue or die or taken_out"),
    "test_lifecycle.py": "nothing",
    "test_move.py": "nothing",
}


@pytest.mark.parametrize("file", LEFT_OUT)
def test_over_slices(file):
    """Each passes as it does over PFs."""
    if vdevs.SLICED:
        pytest.skip("the tests are over slices already")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "-k", f"not ({LEFT_OUT[file]})", HERE / file],
        env={**os.environ, "OCTO_TEST_SLICES": "1"}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False, timeout=600)
    print(run.stdout)
    assert run.returncode == 0 and " passed" in run.stdout


def _sliced(*names: str) -> Testpmd:
    devargs = "".join(f",pf={n}" for n in names)
    return Testpmd([vdevs.mpsim(0, "A", wire="loop"),
                    f"--vdev=net_octo0{devargs},socket_map=0:0/1:1"])


def test_an_application_without_rules_comes_home():
    """RSS leads to the legs near the lcores, wherever these are: nothing is learned."""
    with _sliced("net_mpsim0[0-7]@0", "net_mpsim0[8-15]@1") as pmd:
        view = View(pmd)
        topology = view.topology()
        assert [pf["name"] for pf in topology["pfs"]] == \
            ["net_mpsim0[0-7]", "net_mpsim0[8-15]"]
        assert [pf["socket"] for pf in topology["pfs"]] == [0, 1]
        assert (topology["tier"], topology["mpfs"]) == ("exact", "slices")
        pmd.start("flowgen")
        before = view.xstats()

        def none_strays() -> bool:
            nonlocal before
            now = view.xstats()
            if now["rx_stray_packets"] != before["rx_stray_packets"]:
                before = now
            return all(now[f"rx_q{q}_home_packets"] >
                       before[f"rx_q{q}_home_packets"] + 10000
                       for q in (0, 1))
        pmd.wait_until("no strays", none_strays, timeout=60)
        assert view.xstats()["learned_flows"] == 0
        assert view.xstats()["steered_flows_ineffective"] == 0
        pmd.stop_forwarding()


def _was_logged(pmd: Testpmd, words: str) -> bool:
    pmd.read(0)
    return re.search(words, pmd.text) is not None


def test_a_port_that_waits_in_bursts_is_refused():
    """The packets of other PFs would wait with it; without that devarg it is taken."""
    with Wire() as wire, Testpmd([vdevs.mpsim(0, "A", wire="loop")], queues=1) as pmd:
        pmd.cmd(f"port attach net_af_xdp7,iface={wire.name},busy_budget=0")
        if "net_af_xdp7" not in [p.name for p in pmd.ports()]:
            pytest.skip("this DPDK, or this kernel, has no AF_XDP")
        pmd.cmd("port attach net_octo7,pf=net_af_xdp7,pf=net_mpsim0")
        pmd.wait_until("the sentence", lambda: _was_logged(
            pmd, "pf=net_af_xdp7: with busy_budget=0 a burst may wait"), timeout=20)
        assert "net_octo7" not in [p.name for p in pmd.ports()]
        pmd.cmd(f"port detach {pmd.port('net_af_xdp7')}")
        pmd.cmd(f"port attach net_af_xdp7,iface={wire.name}")
        pmd.cmd("port attach net_octo7,pf=net_af_xdp7[0::1]")
        assert "net_octo7" in [p.name for p in pmd.ports()]


def test_a_wrong_slice_is_named():
    """One sentence, which tells what would be right."""
    for names, words in (
            (("net_mpsim0[0::2]", "net_mpsim0[0::4]"), "share a queue"),
            (("net_mpsim0[0:2]",), "like 0::2 .*, 0-7 or 0/2"),
            (("net_mpsim0[0::2]", "net_mpsim0"), "all pf= are slices")):
        with Testpmd([vdevs.mpsim(0, "A", wire="loop")]) as pmd:
            devargs = "".join(f",pf={n}" for n in names)
            pmd.cmd(f"port attach net_octo7{devargs}")
            pmd.wait_until("the sentence", lambda: _was_logged(pmd, words),
                           timeout=20)
