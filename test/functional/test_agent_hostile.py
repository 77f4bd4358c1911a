# SPDX-License-Identifier: BSD-3-Clause
"""Agents that talk without end, or not at all: the port goes on without them."""

import pytest

from octotest import packets, vdevs
from octotest.fakeagent import DEFAULT, HELLO, PING, PUT, RESULT, SYNCED, FakeAgent, message
from octotest.testpmd import Testpmd, flow_id, wait_until
from octotest.view import View

FLOWS = packets.flows(4)
BABBLE = {
    "noise": (b"\0" * 4096, "it says what is no message"),
    "noise that looks like messages": (b"OCTO" * 1024, "it says what is no message"),
    "another session": (message(RESULT, 1, 2, b"\0\0\0\0") * 256,
                        "it talks of other sessions without end"),
}


@pytest.fixture
def path(tmp_path):
    """Where the agent listens."""
    return tmp_path / "agent.sock"


def _port(path):
    return Testpmd([*vdevs.nic("A", wire="loop"), vdevs.octo(agent=f"unix:{path}")],
                   ["--auto-start", "--forward-mode=rxonly"])


def _await_sync(agent, sessions=1):
    wait_until("all rules are put again", lambda: agent.sessions >= sessions
               and SYNCED in agent.log)


@pytest.mark.parametrize("kind", BABBLE)
def test_an_agent_that_talks_without_end_is_given_up(path, kind):
    """Other calls are answered meanwhile; the rules are there when it is sane again."""
    with FakeAgent(path) as agent, _port(path) as pmd:
        _await_sync(agent)
        view = View(pmd)
        flow_id(pmd.cmd(FLOWS[0].rule(view.port, 0)))
        agent.babble, words = BABBLE[kind]
        pmd.wait_until("it is given up", lambda: words in pmd.text or pmd.cmd(""), 30)
        said = agent.babbled
        for _ in range(5):
            pmd.cmd(f"show port stats {view.port}")
            view.xstats()
        # it goes on in each new session
        wait_until("it talks on", lambda: agent.babbled > said)
        agent.babble = b""
        agent.rules = {}
        agent.log = []
        _await_sync(agent)
        wait_until("the rule is put again", lambda: len(agent.rules) == 1)
        assert view.topology()["tier"] == "exact"


def test_an_answer_to_nothing_ends_the_session(path):
    """Whoever says more than it was asked for could go on for ever."""
    with FakeAgent(path) as agent, _port(path) as pmd:
        _await_sync(agent)
        heard = []

        def twice(kind):
            if kind == PING and not heard:
                heard.append(agent.sessions)
                agent.extra = True
        agent.refuse = twice
        pmd.wait_until("it is given up", lambda: "it answers what was not asked" in pmd.text)
        wait_until("a new session", lambda: agent.sessions > heard[0])


def test_an_agent_that_hangs_holds_nobody_up(path):
    """It says welcome and no more: other calls do not wait until it is given up."""
    with _port(path) as pmd:
        view = View(pmd)
        with FakeAgent(path) as agent:
            _await_sync(agent)
            for flow in FLOWS:
                flow_id(pmd.cmd(flow.rule(view.port, 1)))
        with FakeAgent(path) as agent:
            agent.mute = {PUT, SYNCED, PING, DEFAULT}

            def answered_before_it_is_given_up() -> bool:
                sessions = agent.sessions
                agent.log = []
                wait_until("it is told a rule", lambda: PUT in agent.log)
                pmd.cmd(f"show port stats {view.port}")
                view.xstats()
                return HELLO not in agent.log[agent.log.index(PUT):] and \
                    agent.connected and agent.sessions <= sessions + 1
            # once will do: the machine may have been away for as long as the agent may
            wait_until("an answer", answered_before_it_is_given_up, 60)
            agent.mute = ()
            agent.log = []
            _await_sync(agent)
            wait_until("all rules are put again", lambda: len(agent.rules) == len(FLOWS))
