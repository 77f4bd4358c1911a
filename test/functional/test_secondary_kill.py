# SPDX-License-Identifier: BSD-3-Clause
"""A second process is killed at any moment, and what the first does with the port afterwards."""

import os
import random
import signal
import time

import pytest

from octotest import vdevs
from octotest.telemetry import Telemetry
from octotest.testpmd import wait_until
from octotest.view import ask
from test_secondary_intr import start_primary, start_secondary

KILLS = int(os.environ.get("OCTO_KILLS", "20"))
SEED = int(os.environ.get("OCTO_KILL_SEED", "1"))
# of these, threads may be inside of any call
MOST_MS = 30


class Victims:
    """A primary, whose secondaries are killed one after the other."""

    def __init__(self, primary) -> None:
        self.primary = primary
        self.telemetry = Telemetry(primary.prefix)

    def kill_one(self, seed: int, after_ms: float) -> None:
        """So long after its threads began to call."""
        secondary = start_secondary(self.primary)
        assert secondary.ask("storm", self.primary.port, seed) == 0
        time.sleep(after_ms / 1000)
        secondary.send_signal(signal.SIGKILL)
        assert secondary.wait() == -signal.SIGKILL

    def states(self):
        """Of the PFs."""
        return [pf["state"] for pf in ask(self.telemetry, "topology", self.primary.port)["pfs"]]

    def fault(self, pf: int, what: str) -> bool:
        """Is it done?"""
        return self.telemetry.get("/mpsim/fault", f"net_mpsim{pf}", what) == "done"

    def replug(self, pf: int) -> None:
        """It goes, and comes back."""
        assert self.fault(pf, "remove")
        wait_until("the PF is gone", lambda: self.states()[pf] == "gone")
        wait_until("it can be plugged", lambda: self.fault(pf, "plug"))
        wait_until("it is back", lambda: self.states() == 2 * ["started"])

    def restart(self) -> None:
        """The port is stopped and started."""
        assert [self.primary.ask(what, self.primary.port) for what in ("stop", "start")] == [0, 0]


@pytest.fixture
def victims(huge_dir):
    """Over two PFs, with two Rx queues, started."""
    primary = start_primary(huge_dir, vdevs.looped())
    assert primary.ask("setup", primary.port, 2) == 0
    assert primary.ask("start", primary.port) == 0
    return Victims(primary)


def test_killed_at_any_moment(victims):
    """The primary loses and gets PFs, starts, stops and closes the port in time, and another
    process uses it."""
    print(f"OCTO_KILL_SEED={SEED}")
    rand = random.Random(SEED)
    for i in range(KILLS):
        after_ms = rand.uniform(0, MOST_MS)
        what = rand.choice([lambda: victims.replug(0), lambda: victims.replug(1),
                            victims.restart, lambda: None])
        print(f"kill {i} after {after_ms:.3f} ms")
        victims.kill_one(rand.randrange(1 << 30), after_ms)
        what()
    primary = victims.primary
    secondary = start_secondary(primary)
    for flow in range(8):
        assert primary.ask("send", primary.port, flow) == 1
    got = 0

    def has_all():
        nonlocal got
        got += sum(secondary.ask("poll", primary.port, queue) for queue in range(2))
        return got == 8

    wait_until("it gets all", has_all)
    victims.telemetry.close()
    assert [primary.ask(what, primary.port) for what in ("stop", "close")] == [0, 0]
    assert "does not answer" not in primary.text
