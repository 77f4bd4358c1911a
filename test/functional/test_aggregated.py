# SPDX-License-Identifier: BSD-3-Clause
"""The aggregated ports API of DPDK 23.03: Tx queues pinned to PFs."""

import re

import pytest

from octotest import vdevs
from octotest.testpmd import Testpmd
from octotest.view import View

PFS = 3
FREE = 0  # the affinity that means none; 1 is the first PF


@pytest.fixture(scope="module")
def looped(shared):
    """An octo port over three PFs."""
    return shared(lambda: Testpmd(vdevs.looped(PFS)))


@pytest.fixture
def pmd(looped):
    """That testpmd, if its DPDK has the API."""
    pmd = looped.get()
    if pmd.release() < (23, 3):
        pytest.skip("the aggregated ports API came with DPDK 23.03; this is "
                    f"{pmd.telemetry.info['version']}")
    yield pmd
    if pmd.alive():
        _pin(pmd, pmd.port(), {0: FREE, 1: FREE})


def _affinity(pmd, port: int, queue: int, value: int) -> str:
    return pmd.cmd(f"port config {port} txq {queue} affinity {value}")


def _pin(pmd, port: int, pins: dict) -> None:
    """Tx queue to affinity, which ethdev allows while the port is stopped."""
    pmd.cmd(f"port stop {port}")
    for queue, value in pins.items():
        assert _affinity(pmd, port, queue, value) == ""
    pmd.cmd(f"port start {port}")


def _senders(pmd, view) -> dict:
    """Tx queue to the PFs that it sends by."""
    pmd.cmds(["clear port xstats all"])
    pmd.start("flowgen")
    pmd.wait_until("traffic on both queues", lambda: all(
        sum(_sent(view, queue)) > 1000 for queue in (0, 1)))
    pmd.stop_forwarding()
    return {queue: [pf for pf, n in enumerate(_sent(view, queue)) if n]
            for queue in (0, 1)}


def _sent(view, queue: int) -> list:
    xstats = view.xstats()
    return [xstats[f"tx_q{queue}_pf{pf}_packets"] for pf in range(PFS)]


def test_pinned_queues_send_by_their_pf(pmd):
    """Whatever CPU sends, the packets leave by the PF that was named."""
    view = View(pmd)
    for pins in ({0: 2, 1: 3}, {0: 3, 1: 1}):
        _pin(pmd, view.port, pins)
        assert _senders(pmd, view) == {q: [v - 1] for q, v in pins.items()}


def test_affinity_0_unpins(pmd):
    """The queue sends by the PF on its lcore's socket again."""
    view = View(pmd)
    sockets = [pf["socket"] for pf in view.topology()["pfs"]]
    _pin(pmd, view.port, {0: 2, 1: 1})
    _pin(pmd, view.port, {0: FREE, 1: FREE})
    for queue, pfs in _senders(pmd, view).items():
        assert {sockets[pf] for pf in pfs} == {queue}


def test_there_are_as_many_as_pfs(pmd):
    """A PF that is not there is refused with their number; nothing changes."""
    view = View(pmd)
    _pin(pmd, view.port, {0: 2, 1: 2})
    pmd.cmd(f"port stop {view.port}")
    out = _affinity(pmd, view.port, 0, PFS + 1)
    assert re.search(rf"exceeds the maximum number {PFS}\b", out), out
    pmd.cmd(f"port start {view.port}")
    assert _senders(pmd, view) == {0: [1], 1: [1]}


def test_a_started_port_refuses(pmd):
    """A queue keeps its PF while packets may be on their way."""
    view = View(pmd)
    _pin(pmd, view.port, {0: 2, 1: 2})
    out = _affinity(pmd, view.port, 0, 1)
    assert "must be stopped" in out
    assert _senders(pmd, view) == {0: [1], 1: [1]}
