# SPDX-License-Identifier: BSD-3-Clause
"""Faults and accounts of the simulated NIC, by telemetry."""

import pytest

from octotest import vdevs
from octotest.testpmd import Testpmd

FAULT = "/mpsim/fault"


@pytest.fixture(scope="module")
def shared_pmd(shared):
    """Two NICs joined by a cable, and an octo port over the second."""
    return shared(lambda: Testpmd(
        [*vdevs.nic("A", 0, 1, "nic:B"), *vdevs.nic("B", 1, 2),
         vdevs.octo(0, 1, 2)], queues=2, app=["--flowgen-flows=64"]))


@pytest.fixture
def pmd(shared_pmd):
    """The same, without faults."""
    return shared_pmd.get()


@pytest.mark.parametrize("params, words", [
    (("net_mpsim7", "link", "down"), "port id or name of a PF, or a NIC"),
    (("net_mpsim1", "burn"), "'burn' is no fault: link, remove, "),
    (("net_mpsim1", "link", "half"), "link: 'half': down or up is needed"),
    (("net_mpsim1", "room", "mpfs"), "'room,mpfs|arfs|generic,ENTRIES'"),
    (("net_mpsim1", "latency", "x"), "'x': a number from 0 to 1000000"),
    (("net_mpsim1",), "TARGET,FAULT[,ARGUMENT...] is needed"),
])
def test_what_is_wrong_is_said(pmd, params, words):
    """The reply says what would be right, and nothing is set."""
    before = pmd.telemetry.get(FAULT)
    assert words in pmd.telemetry.get(FAULT, *params)
    assert pmd.telemetry.get(FAULT) == before


def test_what_is_set_is_listed(pmd):
    """And not any more when it is cleared; a NIC stands for its PFs."""
    get = pmd.telemetry.get
    assert get(FAULT) == {f"net_mpsim{i}": {} for i in range(3)}
    assert get(FAULT, "B", "latency", 20) == "done"
    assert get(FAULT, "net_mpsim2", "rule_slow", 100) == "done"
    assert get(FAULT, "net_mpsim2", "rule_fail", 3) == "done"
    listed = get(FAULT)
    assert listed["net_mpsim1"]["latency"] == 20
    assert listed["net_mpsim2"] == {"latency": 20, "rule_slow": 100,
                                      "rule_fail": 3}
    assert get(FAULT, "B", "clear") == "done"
    assert get(FAULT) == {f"net_mpsim{i}": {} for i in range(3)}


def test_no_account_without_a_nic(pmd):
    """Neither of none nor of an unknown one."""
    assert pmd.telemetry.get("/mpsim/account") is None
    assert pmd.telemetry.get("/mpsim/account", "C") is None


def test_every_frame_is_accounted_for(pmd):
    """While a PF is pulled out and put in again under traffic."""
    get = pmd.telemetry.get

    def account():
        return get("/mpsim/account", "B")

    def state():
        return get(FAULT).get("net_mpsim1")

    def take_more():
        taken = account()["taken"]
        pmd.wait_until("traffic", lambda: account()["taken"] > taken + 1000)

    pmd.start("flowgen")
    # by testpmd or, soon after, by the fault: either way the slot is empty then
    for kind in ("eject", "surprise"):
        take_more()
        assert get(FAULT, "net_mpsim1", kind, 1000) == "done"
        pmd.wait_until("removal", lambda: state() == "removed")
        take_more()
        pmd.wait_until("plug", lambda: get(FAULT, "net_mpsim1", "plug")
                       == "done")
        pmd.wait_until("return", lambda: isinstance(state(), dict))
    take_more()
    pmd.stop_forwarding()
    end = account()
    assert end["unaccounted"] == 0
    assert end["taken"] == sum(end[name] for name in (
        "delivered", "in_rings", "in_pipelines", "dropped",
        "lost_in_dead_rings"))
