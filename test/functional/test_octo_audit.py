# SPDX-License-Identifier: BSD-3-Clause
"""The audit of rules: NICs that accept rules and ignore them."""

import re

import pytest

from octotest import env, vdevs
from octotest.packets import gen_flow
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View

FEW, MANY = 8, 32
EXACT = {"tier": "exact", "ignored": "none"}


class Looped(Testpmd):
    """A port that hears what it sends; flowgen makes so many flows."""

    def __init__(self, flows: int, **more) -> None:
        nic = {k: more.pop(k) for k in ("ignore", "dialect") if k in more}
        super().__init__(vdevs.looped(**nic),
                         app=[f"--flowgen-flows={flows}"], **more)
        self.view = View(self)
        self.flows = flows
        self.begin()
        self.stop_forwarding()

    def begin(self) -> None:
        """Let traffic flow, and homes be known."""
        self.start("flowgen")
        self.wait_until("homes", lambda: all(
            q["cpu"] >= 0 for q in self.view.topology()["queues"]))

    def steer_all(self) -> list:
        """A rule for each flow, to the queues in turn; the rules' numbers.

        While there is traffic a NIC that ignores them is soon found out.
        """
        return [flow_id(self.cmd(gen_flow(i).rule(self.view.port, i % 2)))
                for i in range(self.flows)]

    def tier(self) -> dict:
        """The tier, and which rules are ignored."""
        topology = self.view.topology()
        return {k: topology[k] for k in EXACT}

    def await_tier(self, tier: str, ignored: str) -> None:
        """Until it is that one."""
        self.wait_until(f"tier {tier}", lambda: self.tier() == {
            "tier": tier, "ignored": ignored}, timeout=20)

    def count(self, words: str) -> int:
        """How often they were logged."""
        self.read(0)
        return self.text.count(words)

    def assert_traffic_goes_on(self) -> None:
        """All flows are received, on both queues."""
        before = self.view.xstats()
        for queue in range(2):
            def received(queue=queue, kinds=("home", "stray")):
                now = self.view.xstats()
                return sum(now[f"rx_q{queue}_{k}_packets"] -
                           before[f"rx_q{queue}_{k}_packets"]
                           for k in kinds) > 10000
            self.wait_until(f"packets on queue {queue}", received)


def _statuses(rules) -> set:
    return {rule["status"] for rule in rules}


def test_ignored_mpfs_rules():
    """What strays is said to; the tier goes, the rules and the flows stay."""
    with Looped(FEW, ignore="mpfs") as pmd:
        pmd.steer_all()
        assert {r["pf"] for r in pmd.view.steering()["rules"]} == {0, 1}
        pmd.begin()
        pmd.await_tier("queue", "MPFS")
        steering = pmd.view.steering()
        near, far = ([r for r in steering["rules"] if r["queue"] == q]
                     for q in range(2))
        assert _statuses(far) == {"PF ignored"}
        assert all(r["strays"] > 0 for r in far)
        # These come by the PF that they should, by rule or not.
        assert _statuses(near) == {"works"}
        assert {r["pf"] for r in near + far} == {-1}
        assert steering["ineffective"] == FEW // 2
        xstats = pmd.view.xstats()
        assert xstats["steered_flows"] == FEW
        assert xstats["steered_flows_ineffective"] == FEW // 2
        assert 0 < xstats["rx_stray_steered"] <= xstats["rx_stray_sampled"]
        assert xstats["rx_stray_sampled"] < xstats["rx_stray_packets"]
        assert pmd.count(" is ineffective: it comes by PF net_mpsim0, "
                         "not net_mpsim1") == 1
        assert pmd.count("steering tier is queue now, not exact") == 1
        # Rules for the queue alone are still good.
        extra = gen_flow(FEW)
        flow_id(pmd.cmd(extra.rule(pmd.view.port, 1)))
        assert pmd.view.rule(extra)["pf"] == -1
        pmd.assert_traffic_goes_on()
        pmd.stop_forwarding()


def test_a_restart_gives_the_tier_another_chance():
    """The port asks its PFs anew, and finds out anew."""
    with Looped(FEW, ignore="mpfs") as pmd:
        for _ in range(2):
            assert pmd.tier() == EXACT
            pmd.steer_all()
            pmd.begin()
            pmd.await_tier("queue", "MPFS")
            pmd.stop_forwarding()
            pmd.cmd(f"port stop {pmd.view.port}")
            assert pmd.view.steering()["total"] == 0
            pmd.cmd(f"port start {pmd.view.port}")
        assert pmd.count("steering tier is queue now, not exact") == 2


def test_a_dialect_without_effect_is_left():
    """The next one is used, and all flows come home by it."""
    with Looped(FEW, dialect="no-item/any") as pmd:
        assert pmd.view.topology()["dialect"] == "wire-item"
        pmd.steer_all()
        pmd.begin()
        pmd.wait_until("dialect no-item", lambda: pmd.view.topology()[
            "dialect"] == "no-item", timeout=20)
        assert pmd.count("dialect wire-item and ignores them") == 1
        pmd.wait_until("all rules work", lambda: _statuses(
            pmd.view.steering()["rules"]) == {"works"}, timeout=20)
        pmd.view.await_no_strays(50000)
        assert pmd.tier() == EXACT
        pmd.assert_traffic_goes_on()
        pmd.stop_forwarding()
        assert "MPFS rules are in dialect no-item\n" in pmd.telemetry.get(
            "/ethdev/dump_priv", pmd.view.port)


@pytest.mark.parametrize("ignore", ["arfs", "all"])
def test_ignored_queue_rules(ignore):
    """Nothing is steered then, and new rules are refused."""
    with Looped(MANY, ignore=ignore) as pmd:
        pmd.steer_all()
        pmd.begin()
        pmd.await_tier("none", "queue")
        rules = pmd.view.steering()["rules"]
        assert len(rules) == MANY
        assert "queue ignored" in _statuses(rules)
        assert "works" not in _statuses(rules)
        assert {r["pf"] for r in rules} == {-1}
        assert all(r["hits"] == 0 for r in rules)
        assert pmd.count(" is ineffective: ") == 1
        assert pmd.count("steering tier is none now") == 1
        for verb in ("validate", "create"):
            out = pmd.cmd(gen_flow(MANY).rule(pmd.view.port, 1, verb))
            assert "Caught" in out and "ignores them" in out, out
        assert pmd.view.steering()["total"] == MANY
        pmd.assert_traffic_goes_on()
        pmd.cmd(f"flow flush {pmd.view.port}")
        assert pmd.view.steering()["total"] == 0
        assert pmd.view.xstats()["steered_flows_ineffective"] == 0
        pmd.stop_forwarding()


def test_rules_that_work_are_never_blamed():
    """Not while flows go from queue to queue under traffic."""
    with Looped(FEW) as pmd:
        pmd.begin()
        for _ in range(6):
            numbers = pmd.steer_all()
            before = pmd.view.strays()["home_packets"]
            pmd.wait_until("traffic", lambda b=before:
                           pmd.view.strays()["home_packets"] > b + 100000)
            for number in numbers:
                pmd.cmd(f"flow destroy {pmd.view.port} rule {number}")
            for i in range(FEW):
                flow_id(pmd.cmd(gen_flow(i).rule(pmd.view.port, 1 - i % 2)))
            pmd.wait_until("all rules hit", lambda: all(
                r["hits"] > 10000 for r in pmd.view.steering()["rules"]))
            steering = pmd.view.steering()
            assert steering["ineffective"] == 0
            assert _statuses(steering["rules"]) == {"works"}
            pmd.cmd(f"flow flush {pmd.view.port}")
        assert pmd.tier() == EXACT
        assert pmd.count("ineffective") == 0
        pmd.stop_forwarding()


def test_unsteered_strays_blame_nobody():
    """They are sampled, and no rule is theirs; nor of a destroyed one."""
    with Looped(FEW, ignore="mpfs") as pmd:
        pmd.begin()
        far = [i for i in range(FEW) if i % 2]
        flow_id(pmd.cmd(gen_flow(FEW).rule(pmd.view.port, 1)))
        rule = flow_id(pmd.cmd(gen_flow(far[0]).rule(pmd.view.port, 1)))
        pmd.wait_until("one ineffective", lambda:
                       pmd.view.steering()["ineffective"] == 1)
        pmd.cmd(f"flow destroy {pmd.view.port} rule {rule}")
        assert pmd.view.steering()["ineffective"] == 0
        pmd.cmd("clear port xstats all")
        pmd.wait_until("samples", lambda:
                       pmd.view.xstats()["rx_stray_sampled"] > 200)
        assert pmd.view.xstats()["rx_stray_steered"] == 0
        assert pmd.tier() == EXACT
        pmd.stop_forwarding()


def test_show_steering_says_so():
    """The summary and each line, in words."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    with Looped(FEW, ignore="mpfs", binary=str(binary),
                plugins=False) as pmd:
        pmd.steer_all()
        pmd.begin()
        pmd.await_tier("queue", "MPFS")
        pmd.stop_forwarding()
        out = pmd.cmd(f"octo show steering {pmd.view.port}")
        assert (f"{FEW} steered flows, {FEW // 2} of them ineffective, tier "
                "queue (the NIC accepts MPFS rules and ignores them)") in out
        assert len(re.findall(r"udp .* 1 +- +\d+ +[1-9]\d*  PF ignored",
                              out)) == FEW // 2
        assert len(re.findall(r"udp .* 0 +- +\d+ +\d+  works", out)) == FEW // 2
        out = pmd.cmd(f"octo show topology {pmd.view.port}")
        assert "tier queue (the NIC accepts MPFS rules and ignores" in out
