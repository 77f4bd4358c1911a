# SPDX-License-Identifier: BSD-3-Clause
"""Strays teach steering: applications that make no rules, and small tables."""

import pytest

from octotest import env, packets, vdevs
from octotest.packets import gen_flow
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View, ask

FLOWS = 64


class Learner(Testpmd):
    """A looped port; flowgen makes so many flows, which never get rules."""

    def __init__(self, flows: int = FLOWS, nic: dict = None, port: dict = None,
                 commands: bool = False) -> None:
        more = {"learn": None, **(port or {})}
        binary = env.find_built("octo-testpmd") if commands else None
        if commands and binary is None:
            pytest.skip("octo-testpmd is not built")
        super().__init__(
            [*vdevs.nic("A", 0, 2, "loop", **(nic or {})),
             vdevs.octo(**more)], app=[f"--flowgen-flows={flows}"],
            binary=str(binary) if binary else None, plugins=not commands)
        self.view = View(self)
        self.flows = flows

    def begin(self) -> None:
        """Let traffic flow."""
        self.start("flowgen")

    def learning(self) -> dict:
        """What the port says of it."""
        return ask(self, "learning", self.view.port)

    def await_rules(self, number: int) -> None:
        """Until so many are learned."""
        self.wait_until(f"{number} learned rules", lambda:
                        self.learning()["rules"] == number, timeout=20)

    def strays(self) -> int:
        """Packets that have strayed so far."""
        return self.view.xstats()["rx_stray_packets"]

    def await_no_strays(self, queues: tuple = (0, 1)) -> None:
        """Until each queue has got many packets, and none has strayed."""
        before = self.view.xstats()

        def none_strays() -> bool:
            nonlocal before
            now = self.view.xstats()
            if now["rx_stray_packets"] != before["rx_stray_packets"]:
                before = now
            return all(now[f"rx_q{q}_home_packets"] >
                       before[f"rx_q{q}_home_packets"] + 10000
                       for q in queues)
        self.wait_until("no strays", none_strays, timeout=20)

    def await_strays(self) -> None:
        """Until some more have come."""
        before = self.strays()
        self.wait_until("strays", lambda: self.strays() > before + 1000,
                        timeout=20)

    def count(self, words: str) -> int:
        """How often they were logged."""
        self.read(0)
        return self.text.count(words)


def test_an_application_without_rules():
    """Its flows come home; every packet is counted on one way or the other."""
    with Learner() as pmd:
        pmd.begin()
        pmd.await_no_strays()
        learning = pmd.learning()
        assert learning["state"] == "on"
        # By default half of the flows come to the PF that is not their home.
        assert 0 < learning["rules"] < FLOWS
        assert learning["installed"] == learning["rules"]
        assert learning["samples"] >= learning["installed"]
        rules = pmd.view.steering()["rules"]
        assert len(rules) == learning["rules"]
        homes = pmd.view.homes()
        assert {(r["queue"], r["pf"]) for r in rules} == {(1, homes[1])}
        assert all(r["hits"] > 0 and r["learned"] for r in rules)
        pmd.stop_forwarding()
        xstats = pmd.view.xstats()
        assert xstats["learned_flows"] == learning["rules"]
        assert xstats["learn_installed"] == learning["installed"]
        assert xstats["steered_flows_ineffective"] == 0
        # What is still in the rings has been counted by the PFs.
        pmd.start("rxonly")
        pmd.wait_until("all packets", lambda: pmd.view.stats()["RX-packets"]
                       == sum(pmd.view.xstats()[f"rx_{k}_packets"]
                              for k in ("home", "stray")))
        pmd.stop_forwarding()
        pmd.cmd("clear port xstats all")
        xstats = pmd.view.xstats()
        assert xstats["learn_installed"] == xstats["learn_samples"] == 0
        assert xstats["learned_flows"] == learning["rules"]


def test_learning_switched_off():
    """Strays stay strays, and teach nothing."""
    with Learner(port={"learn": "off"}) as pmd:
        pmd.begin()
        pmd.await_strays()
        assert pmd.learning()["state"] == "off"
        assert pmd.view.xstats()["learned_flows"] == 0
        assert pmd.view.xstats()["rx_stray_sampled"] > 0
        assert pmd.view.steering()["total"] == 0


def test_an_explicit_rule_takes_the_place_of_a_learned_one():
    """The application decides; when its rule goes, strays decide again."""
    with Learner() as pmd:
        pmd.begin()
        pmd.await_no_strays()
        learned = pmd.view.xstats()["learned_flows"]
        known = pmd.view.steering()["rules"][0]
        flow = next(f for f in map(gen_flow, range(FLOWS))
                    if f.dst == known["dst"])
        rule = flow_id(pmd.cmd(flow.rule(pmd.view.port, 0)))
        assert pmd.view.rule(flow)["queue"] == 0
        assert not pmd.view.rule(flow)["learned"]
        assert pmd.view.xstats()["learned_flows"] == learned - 1
        assert pmd.view.xstats()["steered_flows"] == learned
        pmd.await_no_strays()
        assert pmd.view.rule(flow)["queue"] == 0
        pmd.cmd(f"flow destroy {pmd.view.port} rule {rule}")
        pmd.await_rules(learned)
        assert pmd.view.rule(flow)["queue"] == 1
        pmd.stop_forwarding()


def test_explicit_rules_have_the_room_of_learned_ones():
    """A full switch takes what the application wants all the same."""
    with Learner(256, nic={"mpfs_entries": 32}) as pmd:
        pmd.begin()
        pmd.await_rules(32)
        pmd.stop_forwarding()
        assert pmd.learning()["refused"] > 0
        assert pmd.count("the switch is full with 32 learned rules") == 1
        for i in range(32):
            flow_id(pmd.cmd(gen_flow(1000 + i).rule(pmd.view.port, i % 2)))
            xstats = pmd.view.xstats()
            assert xstats["learned_flows"] == 31 - i
            assert xstats["steered_flows"] == 32
        out = pmd.cmd(gen_flow(2000).rule(pmd.view.port, 1))
        assert "Caught" in out and "full" in out, out
        pmd.cmd(f"flow flush {pmd.view.port}")
        assert pmd.view.xstats()["steered_flows"] == 0


def test_rules_for_the_switch_have_that_room_too():
    """An application's own transfer rule, through the octo port."""
    with Learner(256, nic={"mpfs_entries": 32}) as pmd:
        pmd.begin()
        pmd.await_rules(32)
        pmd.stop_forwarding()
        pf = pmd.view.topology()["pfs"][0]["port"]
        flow_id(pmd.cmd(
            f"flow create {pmd.view.port} transfer pattern represented_port "
            f"ethdev_port_id is {pf} / {gen_flow(1000).pattern()} actions "
            f"port_representor port_id {pf} / end"))
        assert pmd.view.xstats()["learned_flows"] == 31
        assert pmd.view.steering()["others"] == 1


def test_a_flush_takes_learned_rules_too():
    """They are learned again; nothing is learned twice."""
    with Learner() as pmd:
        pmd.begin()
        pmd.await_no_strays()
        learned = pmd.view.xstats()["learned_flows"]
        # testpmd flushes nothing unless it has made a rule
        flow_id(pmd.cmd(gen_flow(1000).rule(pmd.view.port, 0)))
        pmd.cmd(f"flow flush {pmd.view.port}")
        pmd.await_rules(learned)
        pmd.await_no_strays()
        assert pmd.view.xstats()["learn_installed"] == 2 * learned
        pmd.stop_forwarding()
        pmd.cmds([f"port stop {pmd.view.port}", f"port start {pmd.view.port}"])
        assert pmd.view.xstats()["learned_flows"] == 0
        pmd.begin()
        pmd.await_rules(learned)
        pmd.stop_forwarding()


def test_idle_rules_go_uncounted():
    """Each after its time; who still lives comes back."""
    with Learner(nic={"caps": "-count"}, port={"idle_ms": 1000}) as pmd:
        pmd.begin()
        pmd.await_no_strays()
        assert pmd.learning()["counted"] == 0
        learned = pmd.view.xstats()["learned_flows"]
        pmd.wait_until("all were taken out, and came back", lambda: all(
            pmd.view.xstats()[f"learn_{what}"] > 2 * learned
            for what in ("aged", "installed")), timeout=20)
        pmd.stop_forwarding()
        pmd.await_rules(0)


def test_idle_rules_go():
    """When nothing hits them any more, and not before."""
    with Learner(port={"idle_ms": 2000}) as pmd:
        pmd.begin()
        pmd.await_no_strays()
        learned = pmd.view.xstats()["learned_flows"]
        for _ in range(5):
            pmd.await_no_strays()
        pmd.stop_forwarding()
        pmd.await_rules(0)
        xstats = pmd.view.xstats()
        assert xstats["learn_aged"] >= learned
        assert xstats["learn_evicted"] == 0


def _pcap_wire(tmp_path, heavy: int, light: int):
    """Frames of some flows that are 20 times as many as those of others."""
    flows = packets.flows(heavy + light)
    frames = [flow.packet() for _ in range(20) for flow in flows[:heavy]]
    frames += [flow.packet() for flow in flows[heavy:]]
    return packets.write(tmp_path / "mix.pcap", frames), flows[:heavy]


@pytest.mark.parametrize("nic", [
    {"mpfs_entries": 4}, {}, {"mpfs_entries": 4, "caps": "-count"}],
    ids=["table", "learn_max", "uncounted"])
def test_heavy_flows_have_the_rules(tmp_path, nic):
    """Where not all flows can have one, those that stray most do."""
    path, heavy = _pcap_wire(tmp_path, 32, 200)
    port = {} if nic else {"learn_max": 4}
    args = [f"--vdev=net_pcap0,rx_pcap={path},infinite_rx=1",
            *vdevs.nic("A", 0, 2, "net_pcap0", **nic),
            vdevs.octo(learn=None, **port)]
    with Testpmd(args, mbufs=16384) as pmd:
        view = View(pmd)
        pmd.start("rxonly")

        def only_heavy() -> bool:
            rules = view.steering()["rules"]
            return len(rules) == 4 and \
                {r["dst"] for r in rules} <= {f.dst for f in heavy} and \
                {r["src_port"] for r in rules} <= {f.sport for f in heavy}
        pmd.wait_until("rules of heavy flows", only_heavy, timeout=30)
        learning = ask(pmd, "learning", view.port)
        assert learning["rules"] <= 4
        assert learning["counted"] == int("caps" not in nic)
        pmd.wait_until("candidates", lambda: ask(
            pmd, "learning", view.port)["candidates"] > 0)
        pmd.stop_forwarding()


def test_a_nic_that_ignores_mpfs_rules_ends_learning():
    """Nothing is learned that does not help, until the port starts anew."""
    with Learner(nic={"ignore": "mpfs"}) as pmd:
        for _ in range(2):
            pmd.begin()
            pmd.wait_until("the tier goes", lambda:
                           pmd.view.topology()["tier"] == "queue", timeout=20)
            pmd.await_rules(0)
            pmd.await_strays()
            assert pmd.learning()["state"].startswith("asleep: in this tier")
            assert pmd.view.xstats()["steered_flows"] == 0
            pmd.stop_forwarding()
            pmd.cmds([f"port stop {pmd.view.port}",
                      f"port start {pmd.view.port}"])
        assert pmd.count("steering tier is queue now, not exact") == 2


def test_nothing_is_learned_where_nothing_strays():
    """Tier partition has no use for it; once that is left, it begins."""
    with Learner(port={"tier": "partition"}) as pmd:
        pmd.begin()
        pmd.await_no_strays()
        assert pmd.learning()["state"] == "asleep: in this tier nothing strays"
        assert pmd.learning()["rules"] == 0
        pmd.cmd(f"show port {pmd.view.port} rss-hash key")
        pmd.wait_until("learned rules", lambda: pmd.learning()["rules"] > 0,
                       timeout=20)
        assert pmd.view.topology()["tier"] == "exact"
        assert pmd.learning()["state"] == "on"
        pmd.await_no_strays()
        pmd.stop_forwarding()


def test_rules_follow_the_redirection_table():
    """A flow that RSS puts elsewhere strays once more, and comes home."""
    with Learner() as pmd:
        pmd.begin()
        pmd.await_no_strays()
        for queue in (0, 1, 0):
            size = pmd.info(pmd.view.port)["Redirection table size"]
            pairs = ",".join(f"({i},{queue})" for i in range(int(size)))
            pmd.cmd(f"port config {pmd.view.port} rss reta {pairs}")
            pmd.await_no_strays((queue,))
        rules = pmd.view.steering()["rules"]
        homes = pmd.view.homes()
        assert rules and {(r["queue"], r["pf"]) for r in rules} <= \
            {(q, homes[q]) for q in range(2)}
        assert pmd.view.steering()["ineffective"] == 0
        pmd.stop_forwarding()


def test_commands_at_run_time():
    """On, off and every number; what is wrong changes nothing."""
    with Learner(port={"learn": "off"}, commands=True) as pmd:
        port = pmd.view.port
        pmd.begin()
        pmd.await_strays()
        assert pmd.cmd(f"octo learn {port} on sample 4 max 10") == ""
        pmd.await_rules(10)
        out = pmd.cmd(f"octo show learning {port}")
        assert (f"Port {port}: learning on, one of about 4 strays is a "
                "sample, at most 10 rules, idle for at most 60000 ms, "
                "hits counted") in out
        assert pmd.cmd(f"octo show steering {port}").count(", learned\n") == 10
        assert pmd.cmd(f"octo learn {port} on max 5 idle 0") == ""
        pmd.await_rules(5)
        pmd.await_strays()
        for bad, words in {
                "on sample 0": "one stray of 1 to 65536",
                "on max 0": "1 to 16777216 learned rules",
                "on idle 86400001": "for up to 86400000 ms",
                "off max": "bad max: a number is expected",
                "off max 5x": "bad max: a number is expected",
                "off rules 5": "bad rules: sample, max or idle"}.items():
            assert words in pmd.cmd(f"octo learn {port} {bad}")
        learning = pmd.learning()
        assert (learning["state"], learning["learn_sample"],
                learning["learn_max"], learning["idle_ms"]) == ("on", 4, 5, 0)
        assert pmd.cmd(f"octo learn {port} off") == ""
        pmd.await_rules(0)
        pmd.await_strays()
        assert pmd.learning()["state"] == "off"
        assert "not an octo port" in pmd.cmd("octo learn 0 on")
        assert "not an octo port" in pmd.cmd("octo show learning 0")
        pmd.stop_forwarding()


@pytest.mark.many(asan=3)
@pytest.mark.parametrize("key, value, words", [
    ("learn", "maybe", "on or off is expected"),
    ("learn", "", "on or off is expected"),
    ("learn_sample", "0", "one stray of 1 to 65536"),
    ("learn_sample", "many", "one stray of 1 to 65536"),
    ("learn_max", "-1", "1 to 16777216 learned rules"),
    ("learn_max", "16777217", "1 to 16777216 learned rules"),
    ("idle_ms", "99999999999", "a learned rule may be idle for up to 86400000 ms"),
    ("idle_ms", "86400001", "for up to 86400000 ms"),
])
def test_bad_values(key, value, words):
    """One error that says what would be right, and no port."""
    with Testpmd([*vdevs.nic("A", wire="loop"),
                  vdevs.octo(**{key: value})]) as pmd:
        assert f"net_octo0: {key}={value}: " in pmd.boot_text
        assert words in pmd.boot_text
        assert "net_octo0" not in [p.name for p in pmd.ports()]
