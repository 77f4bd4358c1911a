# SPDX-License-Identifier: BSD-3-Clause
"""PFs that EAL leaves alone are probed by octo: then the octo ports are 0, 1, ..."""

from collections import Counter

import pytest

from octotest import packets
from octotest.testpmd import Testpmd
from octotest.view import View

from conftest import MAC

pytestmark = pytest.mark.long

# What EAL is told of PCI devices.
FORMS = {"blocked": lambda pfs: [f"-b{pf}" for pf in pfs],
         "nothing allowed": lambda pfs: ["-a0000:00:00.0"]}


def number_of(pmd: Testpmd, name: str) -> int:
    """The number of a port, owned or not."""
    infos = [pmd.telemetry.get("/ethdev/info", n) for n in range(8)]
    return [info and info["name"] for info in infos].index(name)


def octos(*pfs: str) -> list:
    """An octo port over each of these."""
    return [f"--vdev=net_octo{i},learn=off,{pf}" for i, pf in enumerate(pfs)]


@pytest.mark.parametrize("form", FORMS)
def test_octo_probes_its_pfs(igbs, wire, form):
    """The octo port is 0, its PFs are 1 and 2; frames come back by both."""
    pfs = igbs.machine.addresses()
    with igbs.testpmd(octos(",".join(f"pf={pf}" for pf in pfs)), pci=FORMS[form](pfs),
                      app=["--rss-udp"]) as pmd:
        view = View(pmd)
        assert view.port == 0
        assert [number_of(pmd, pf) for pf in pfs] == [1, 2]
        pmd.wait_until("both links", lambda: all(
            pf["link"] == "up" for pf in view.topology()["pfs"]), 30)
        pmd.start("io")
        made = packets.numbered(packets.flows(4), 20)
        for frame in made:
            frame.dst = MAC
        sent = [(i % 2, bytes(frame)) for i, frame in enumerate(made)]
        assert Counter(f for _, f in wire.exchange(sent)) == Counter(f for _, f in sent)
        pmd.stop_forwarding()


@pytest.mark.parametrize("form", FORMS)
def test_two_octo_ports(igbs, form):
    """Are 0 and 1, each with a PF; testpmd closes them, and the PFs can be had again."""
    pfs = igbs.machine.addresses()
    for _ in range(2):
        with igbs.testpmd(octos(*(f"pf={pf}" for pf in pfs)), pci=FORMS[form](pfs)) as pmd:
            assert [number_of(pmd, name) for name in ("net_octo0", "net_octo1", *pfs)] == \
                [0, 1, 2, 3]


def test_eal_probes_them(igbs):
    """By -a: then they come first."""
    pfs = igbs.machine.addresses()
    with igbs.testpmd(octos(*(f"pf={pf}" for pf in pfs)), pci=pfs) as pmd:
        assert [number_of(pmd, name) for name in (*pfs, "net_octo0", "net_octo1")] == \
            [0, 1, 2, 3]
