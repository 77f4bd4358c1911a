# SPDX-License-Identifier: BSD-3-Clause
"""PFs that are slices of one port, and tests of other files, run over them."""

import re
from pathlib import Path

import pytest

from octotest import slices, vdevs
from octotest.testpmd import Testpmd
from octotest.veth import Wire
from octotest.view import View

# Calls that make octo ports over PFs, or over slices with OCTO_TEST_SLICES=1.
OVER_PFS = re.compile(r"vdevs\.(?:octo|octo_devargs|looped|back_to_back)\b|"
                      r"octotest\.(?:bench|paritybench) import")


@pytest.mark.many(short=2)
@pytest.mark.parametrize("file", slices.TRAFFIC)
def test_over_slices(file):
    """Each passes as it does over PFs."""
    slices.run(file, slices.TRAFFIC[file])


def test_what_is_not_over_slices_is_listed():
    """Of files with octo ports over PFs, by the reason."""
    files = {file.name for file in Path(__file__).parent.glob("test_*.py")
             if OVER_PFS.search(file.read_text(encoding="utf-8"))}
    listed = [*slices.TRAFFIC, *slices.RULES,
              *(file for group in slices.LEFT_OUT.values() for file in group)]
    assert len(set(listed)) == len(listed)
    assert files - set(listed) == set()


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
        view.await_no_strays()
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
