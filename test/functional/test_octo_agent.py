# SPDX-License-Identifier: BSD-3-Clause
"""The MPFS behind an agent: its rules, and what becomes of them without it."""

import re
import time

import pytest

from octotest import packets, vdevs
from octotest.fakeagent import (COUNTS, DEFAULT, DEFAULTS, HELLO, PING, PLACES_QUEUES, PUT,
                                REMOVE, RESULT, SYNCED, FakeAgent, message)
from octotest.testpmd import Testpmd, flow_id, wait_until
from octotest.view import View

FLOWS = packets.flows(6)
NO_RULES = ("--vdev=net_null0", "--vdev=net_null1")


def _key(flow):
    return (flow.proto, flow.src, flow.sport, flow.dst, flow.dport)


@pytest.fixture
def path(tmp_path):
    """Where the agent listens."""
    return tmp_path / "agent.sock"


def _over_mpsim(path, **more):
    """PFs that take ARFS rules; the agent has the MPFS."""
    return Testpmd([*vdevs.nic("A", wire="loop"),
                    vdevs.octo(agent=f"unix:{path}", **more)],
                   ["--auto-start", "--forward-mode=rxonly"])


def _over_null(path):
    """PFs that know no rules."""
    return Testpmd([*NO_RULES, "--vdev=" + vdevs.octo_devargs(
        0, ["net_null0@0", "net_null1@1"], agent=f"unix:{path}")],
        ["--auto-start", "--forward-mode=rxonly"])


def _create(pmd, flow, queue, **more):
    return pmd.cmd(flow.rule(pmd.port(), queue, **more))


def _tier(pmd):
    return View(pmd).topology()["tier"]


def _await_exact(pmd):
    """A start goes on without an agent that has no CPU for half a second."""
    pmd.wait_until("tier exact", lambda: _tier(pmd) == "exact")


def _await_sync(agent, sessions=1):
    wait_until("all rules are put again", lambda: agent.sessions >= sessions
               and SYNCED in agent.log)


def test_a_rule_is_put_and_removed(path):
    """The agent is told PF and queue, by the queue's home."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        _await_exact(pmd)
        view = View(pmd)
        wait_until("both queues are polled", lambda: len(
            set(view.homes().values())) == 2)
        rules = [flow_id(_create(pmd, flow, i % 2))
                 for i, flow in enumerate(FLOWS)]
        homes = view.homes()
        assert agent.rules == {
            _key(flow): (homes[i % 2], i % 2) for i, flow in enumerate(FLOWS)}
        assert all(view.rule(flow)["pf"] == homes[i % 2]
                   for i, flow in enumerate(FLOWS))
        pmd.cmd(f"flow destroy {view.port} rule {rules[0]}")
        wait_until("it is removed", lambda: _key(FLOWS[0]) not in agent.rules)
        assert len(agent.rules) == len(FLOWS) - 1
        pmd.cmd(f"flow flush {view.port}")
        assert agent.rules == {}


def test_what_the_agent_refuses_is_refused(path):
    """With its words and its name, and nothing is left on the PFs."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        agent.refuse = lambda kind: (28, "the table of the switch is full") \
            if kind == PUT else None
        text = _create(pmd, FLOWS[0], 0)
        assert f"agent unix:{path}: the table of the switch is full" in text
        assert View(pmd).steering()["total"] == 0
        agent.refuse = None
        flow_id(_create(pmd, FLOWS[0], 0))


def test_start_without_an_agent(path):
    """The port works at once, and steers when the agent comes."""
    with _over_mpsim(path) as pmd:
        assert "is away" in pmd.boot_text
        assert pmd.boot_text.count("is away") == 2  # the agent, the tier
        assert _tier(pmd) == "queue"
        flow_id(_create(pmd, FLOWS[0], 1))
        assert View(pmd).rule(FLOWS[0])["pf"] == -1
        with FakeAgent(path) as agent:
            _await_sync(agent)
            _await_exact(pmd)
            assert list(agent.rules) == [_key(FLOWS[0])]
            assert View(pmd).rule(FLOWS[0])["pf"] == \
                agent.rules[_key(FLOWS[0])][0]
            flow_id(_create(pmd, FLOWS[1], 1))
            assert len(agent.rules) == 2


def test_an_agent_takes_no_masked_rules(path):
    """Tier partition cannot be had of it; the port says so and is exact."""
    with FakeAgent(path) as agent, _over_mpsim(path, tier="partition") as pmd:
        assert "an agent takes no masked rules" in pmd.boot_text
        _await_exact(pmd)
        flow_id(_create(pmd, FLOWS[0], 1))
        assert list(agent.rules) == [_key(FLOWS[0])]


def test_tier_queue_leaves_the_agent_alone(path):
    """No connection, no rule; the queue is chosen by the PFs."""
    with FakeAgent(path) as agent, _over_mpsim(path, tier="queue") as pmd:
        assert "the agent is not used" in pmd.boot_text
        assert _tier(pmd) == "queue"
        flow_id(_create(pmd, FLOWS[0], 1))
        assert View(pmd).rule(FLOWS[0])["pf"] == -1
        assert (agent.sessions, agent.rules) == (0, {})


def test_a_new_session_puts_all_again(path):
    """What was made and removed in between is right afterwards."""
    with _over_mpsim(path) as pmd:
        with FakeAgent(path) as agent:
            _await_sync(agent)
            rules = [flow_id(_create(pmd, flow, 1)) for flow in FLOWS[:3]]
            kept = dict(agent.rules)
        port = pmd.port()
        pmd.wait_until("it is missed", lambda: "closed the connection" in
                       pmd.text, 10)
        pmd.cmd(f"flow destroy {port} rule {rules[0]}")
        flow_id(_create(pmd, FLOWS[3], 1))
        _await_exact(pmd)
        with FakeAgent(path, rules=kept) as agent:
            _await_sync(agent)
            assert set(agent.rules) == {_key(f) for f in FLOWS[1:4]}
            assert View(pmd).rule(FLOWS[3])["pf"] >= 0


def test_many_rules_are_put_again(path):
    """More than fit into one window, in the order of their creation."""
    flows = packets.flows(200) + packets.flows(200, 6)
    with _over_mpsim(path) as pmd:
        with FakeAgent(path) as agent:
            _await_sync(agent)
            pmd.cmds(flow.rule(pmd.port(), i % 2)
                     for i, flow in enumerate(flows))
            # one that had no CPU may have been given up meanwhile, and gets them again
            wait_until("all rules are there", lambda: len(agent.rules) == len(flows))
        with FakeAgent(path) as agent:
            _await_sync(agent)
            assert list(agent.rules) == [_key(flow) for flow in flows]


def test_a_slow_agent_gets_a_window_after_the_other(path):
    """Packets are held until all that was put is answered: not until all rules are."""
    flows = packets.flows(200) + packets.flows(200, 6)
    with _over_mpsim(path) as pmd:
        with FakeAgent(path) as agent:
            _await_sync(agent)
            pmd.cmds(flow.rule(pmd.port(), i % 2) for i, flow in enumerate(flows))
        with FakeAgent(path, slow=0.005) as agent:
            wait_until("rules are put again", lambda: len(agent.rules) > 10)
            agent.rests = 0
            _await_sync(agent)
            # a window has 64 messages
            assert agent.rests >= 5


def test_an_answer_is_awaited_asleep(path):
    """Whoever looks every millisecond may keep the CPU from the agent itself."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        _await_sync(agent)
        agent.slow = 0.4
        before = pmd.naps()
        flow_id(_create(pmd, FLOWS[0], 1))
        assert pmd.naps() - before < 50


def test_a_silent_agent_is_given_up(path):
    """A rule is not waited for for ever; it is there when the agent is."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        _await_sync(agent)
        agent.silent = True
        flow_id(_create(pmd, FLOWS[0], 1))
        assert "it does not answer" in pmd.text
        agent.silent = False
        wait_until("it is put", lambda: _key(FLOWS[0]) in agent.rules)


def test_silence_is_noticed_without_rules(path):
    """Pings see to that."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        _await_sync(agent)
        wait_until("a ping", lambda: PING in agent.log)
        agent.silent = True
        pmd.wait_until("it is given up", lambda: "it does not answer" in
                       pmd.text)
        agent.silent = False
        wait_until("a new session", lambda: agent.sessions >= 2)


def test_an_agent_that_began_anew_is_told_all(path):
    """It does not know the session: the port begins another."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        _await_sync(agent)
        flow_id(_create(pmd, FLOWS[0], 0))
        agent.rules = {}
        agent.log = []
        agent.stale = True
        flow_id(_create(pmd, FLOWS[1], 0))
        _await_sync(agent, 2)
        assert set(agent.rules) == {_key(f) for f in FLOWS[:2]}


@pytest.mark.parametrize("left, sessions", [
    (b"noise OCT" + message(RESULT, 1, 2, b"\0\0\0\0"), 1),
    # it ends inside of the welcome, which is lost
    (message(RESULT, 1, 2, b"\0\0\0\0")[:10], 2),
])
def test_leftovers_of_another_session_are_skipped(path, left, sessions):
    """A character device keeps what was said to somebody else."""
    with FakeAgent(path, preface=left) as agent, _over_mpsim(path) as pmd:
        _await_sync(agent, sessions)
        assert agent.sessions == sessions
        _await_exact(pmd)
        flow_id(_create(pmd, FLOWS[0], 0))


def test_a_ping_finds_an_agent_that_began_anew(path):
    """On a stream that outlives the agent, nothing else would."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        _await_sync(agent)
        flow_id(_create(pmd, FLOWS[0], 0))
        agent.rules = {}
        agent.stale = True
        wait_until("a new session", lambda: agent.sessions >= 2)
        wait_until("all is put again", lambda: _key(FLOWS[0]) in agent.rules)


def test_a_rule_refused_at_resync_is_put_later(path):
    """What is stale goes first; then there may be room."""
    synced = []

    def full(kind):
        if kind == SYNCED:
            synced.append(kind)
        return (28, "full") if kind == PUT and not synced else None
    with _over_mpsim(path) as pmd:
        with FakeAgent(path) as agent:
            _await_sync(agent)
            for flow in FLOWS[:3]:
                flow_id(_create(pmd, flow, 1))
        with FakeAgent(path, refuse=full) as agent:
            _await_sync(agent)
            wait_until("all rules are put", lambda: len(agent.rules) == 3)
            pmd.expect("3 flows are not steered")


def test_a_flow_moves_though_the_table_is_full(path):
    """No room to make before breaking: then it is broken first."""
    def full(kind):
        return (28, "full") if kind == PUT and agent.rules else None
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        view = View(pmd)
        pmd.wait_until("both queues are polled", lambda: len(
            set(view.homes().values())) == 2)
        flow_id(_create(pmd, FLOWS[0], 0))
        agent.refuse = full
        before = agent.rules[_key(FLOWS[0])][0]
        pmd.cmds(["stop", "set corelist 2,1", "start"])
        pmd.wait_until("the flow follows its queue", lambda: agent.rules.get(
            _key(FLOWS[0])) == (1 - before, 0))
        assert REMOVE in agent.log
        pmd.wait_until("the port has heard it", lambda:
                       view.rule(FLOWS[0])["pf"] == 1 - before)


def test_a_start_finds_an_agent_that_was_restarted(path):
    """Its old connection is dead, which the port did not look at meanwhile."""
    with _over_mpsim(path) as pmd:
        with FakeAgent(path) as agent:
            _await_sync(agent)
            port = pmd.port()
            pmd.cmds(["stop", f"port stop {port}"])
        with FakeAgent(path) as agent:
            pmd.cmd(f"port start {port}")
            _await_exact(pmd)
            flow_id(_create(pmd, FLOWS[0], 0))
            assert _key(FLOWS[0]) in agent.rules


def test_an_agent_that_is_gone_is_not_blamed(path):
    """It may have taken its rules with it; one that is there is believed less."""
    flows = [packets.gen_flow(i) for i in range(9)]
    with FakeAgent(path) as agent:
        pmd = _over_mpsim(path)
        view = View(pmd)
        pmd.wait_until("both queues are polled", lambda: len(
            set(view.homes().values())) == 2)
        pmd.cmd("stop")
        for flow in flows:
            flow_id(_create(pmd, flow, 1))
    pmd.wait_until("it is missed", lambda: "is away" in pmd.text)
    sampled = view.xstats()["rx_stray_steered"]
    pmd.start("flowgen")
    pmd.wait_until("many samples", lambda: view.xstats()["rx_stray_steered"]
                   > sampled + 200)
    assert view.xstats()["steered_flows_ineffective"] == 0
    _await_exact(pmd)
    with FakeAgent(path) as agent:  # which keeps books, and steers nothing
        _await_sync(agent)
        pmd.wait_until("the tier is dropped", lambda: _tier(pmd) == "queue",
                       20)
    pmd.wait_until("it is missed", lambda: pmd.text.count("is away") == 2)
    with FakeAgent(path) as agent:
        _await_sync(agent)
        assert _tier(pmd) == "queue", "till the port is started again"
    pmd.kill()


def test_an_agent_of_another_nic_is_refused(path):
    """The reason is shown once, and the port works without."""
    def other(kind):
        return (22, "the agent's NIC has 3 PFs, the port 2") if kind == HELLO else None

    def lines():
        return len(re.findall(r"agent unix:\S+ is away: the agent's NIC has", pmd.text))
    with FakeAgent(path, refuse=other) as agent, _over_mpsim(path) as pmd:
        wait_until("tried again", lambda: agent.log.count(HELLO) > 1)
        assert _tier(pmd) == "queue"
        pmd.wait_until("the reason is shown", lambda: lines() >= 2)
        assert lines() == 2  # once by itself, once in the tier's line


def test_pfs_without_rules_are_steered_by_the_agent(path):
    """An agent that chooses queues needs no rules on the PFs."""
    flags = PLACES_QUEUES | COUNTS
    with FakeAgent(path, flags) as agent, _over_null(path) as pmd:
        _await_exact(pmd)
        rule = flow_id(_create(pmd, FLOWS[0], 1, count=True))
        assert agent.rules[_key(FLOWS[0])][1] == 1
        port = pmd.port()
        for hits in ("7", "7"):
            assert hits in pmd.cmd(f"flow query {port} {rule} count")
        assert View(pmd).rule(FLOWS[0])["hits"] == 7
        agent.close()
        pmd.wait_until("it is missed", lambda: "closed the connection" in
                       pmd.text)
        text = _create(pmd, FLOWS[2], 1)
        assert "is away" in text
        assert View(pmd).steering()["total"] == 1


def test_pfs_without_rules_need_an_agent_that_chooses_queues(path):
    """Else nothing would send the flow to its queue."""
    with FakeAgent(path) as agent, _over_null(path) as pmd:
        assert _tier(pmd) == "none"
        assert "does not choose queues" in pmd.boot_text
        assert "5-tuple rules" in _create(pmd, FLOWS[0], 1)
        assert PUT not in agent.log


def _link(pmd, pf, state):
    assert pmd.telemetry.get("/mpsim/fault", vdevs.pf_names()[pf], "link", state) == "done"


def test_the_default_pf_is_one_that_is_there(path):
    """What has no rule comes by another PF when the default one is lost, and by that
    again when it is back; each new agent is told."""
    with _over_mpsim(path) as pmd:
        with FakeAgent(path, DEFAULTS) as agent:
            wait_until("it is told", lambda: agent.default == 0)
            _link(pmd, 0, "down")
            wait_until("it is told of the loss", lambda: agent.default == 1)
            _link(pmd, 0, "up")
            wait_until("it is told of the return", lambda: agent.default == 0)
            _link(pmd, 0, "down")
            wait_until("it is told again", lambda: agent.default == 1)
        with FakeAgent(path, DEFAULTS) as agent:
            wait_until("the next one is told", lambda: agent.default == 1)
        with FakeAgent(path) as agent:
            _await_sync(agent)
            _link(pmd, 0, "up")
            wait_until("a ping", lambda: PING in agent.log)
            assert DEFAULT not in agent.log, "one that would not understand"


def test_an_agent_that_refuses_a_default_is_asked_again(path):
    """Once a second; its words are shown."""
    with FakeAgent(path, DEFAULTS) as agent, _over_mpsim(path) as pmd:
        wait_until("it is told", lambda: agent.default == 0)
        agent.refuse = lambda kind: (28, "full") if kind == DEFAULT else None
        _link(pmd, 0, "down")
        pmd.wait_until("it is told", lambda: "packets without a rule do not come by PF" in pmd.text)
        assert f"agent unix:{path}: full" in pmd.text
        agent.refuse = None
        wait_until("it is told again", lambda: agent.default == 1)


def test_rules_end_with_the_port(path):
    """Stop takes them back; start begins without."""
    with FakeAgent(path) as agent, _over_mpsim(path) as pmd:
        port = pmd.port()
        flow_id(_create(pmd, FLOWS[0], 0))
        pmd.cmds(["stop", f"port stop {port}"])
        assert agent.rules == {}
        # longer than a ping takes: an idle port has nobody to ping
        time.sleep(0.1)
        pmd.cmd(f"port start {port}")
        flow_id(_create(pmd, FLOWS[0], 0))
        assert len(agent.rules) == 1
        assert agent.sessions == 1
        assert REMOVE in agent.log


@pytest.mark.parametrize("value, words", [
    ("", "unix:PATH"), ("/run/x", "unix:PATH, tcp:ADDRESS:PORT or dev:PATH"),
    ("tcp:host:1", "numeric"), ("tcp:127.0.0.1", "a port of 1 to 65535"),
    ("dev:tty", "full path"), ("unix:" + "x" * 120, "1 to 107 bytes"),
])
def test_bad_addresses(value, words):
    """One error that says what would be right."""
    with Testpmd([*vdevs.nic("A", wire="loop"),
                  vdevs.octo(agent=value)]) as pmd:
        text = pmd.boot_text
        assert f"net_octo0: agent={value}: " in text and words in text
        assert "net_octo0" not in [p.name for p in pmd.ports()]
