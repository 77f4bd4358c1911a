# SPDX-License-Identifier: BSD-3-Clause
"""octo's own testpmd: the commands of the plugin."""

import re

import pytest

from octotest import env, packets, vdevs
from octotest.packets import gen_flow
from octotest.testpmd import Testpmd
from octotest.view import View

V4, V6 = packets.flows(1)[0], packets.flows(1, 6, "tcp")[0]


@pytest.fixture(scope="module")
def plugged(shared):
    """octo-testpmd brings the drivers along: no -d."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    return shared(lambda: Testpmd(
        vdevs.looped(), binary=str(binary), plugins=False,
        app=["--flowgen-flows=8"]))


@pytest.fixture
def pmd(plugged):
    """That testpmd, without rules."""
    pmd = plugged.get()
    yield pmd
    if pmd.alive():
        pmd.cmd(f"flow flush {pmd.port()}")
        pmd.cmd(f"octo unsteer {pmd.port()} all")
        View(pmd).await_lingering()


@pytest.fixture
def view(pmd):
    """Its octo port."""
    return View(pmd)


def test_show_topology(pmd, view):
    """PFs with sockets and links; queues with lcore, socket and home."""
    pmd.start("flowgen")
    pmd.wait_until("polled", lambda: min(view.homes().values()) >= 0)
    pmd.stop_forwarding()
    out = pmd.cmd(f"octo show topology {view.port}")
    for name in vdevs.pf_names():
        assert re.search(rf"{name}\b.*\bup\b", out)
    assert "exact" in out
    for queue, home in view.homes().items():
        assert re.search(rf"^\s*Rx {queue}\b.*\b{home} \S+ +home +none$", out, re.MULTILINE)
        assert re.search(rf"^\s*Tx {queue}\b.*\b\d \S+ +home +none$", out, re.MULTILINE)
    assert len(re.findall(r"^ +- +- +\d \S+ +stray +none$", out, re.MULTILINE)) == 4
    assert "Warning" not in out


def test_other_rules_are_mentioned(pmd, view, tmp_path):
    """Those that steer no single flow have no line of their own, but one that
    names the command that shows them."""
    out = pmd.cmd(f"flow create {view.port} ingress pattern eth / vlan / end "
                  "actions queue index 1 / end")
    assert "created" in out
    told = re.search(r"and 1 rules that steer no single flow: see (.+) FILE$",
                     pmd.cmd(f"octo show steering {view.port}"), re.MULTILINE)
    assert told
    pmd.cmd(f"{told[1]} {tmp_path}/rules")
    assert "pattern ETH VLAN" in (tmp_path / "rules").read_text()
    pmd.cmd(f"flow flush {view.port}")
    assert "no single flow" not in pmd.cmd(f"octo show steering {view.port}")


def test_destroyed_rules_are_mentioned():
    """While they lead their flows yet."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    with Testpmd([*vdevs.nic("A", wire="loop"), vdevs.octo(linger_ms=10000)],
                 binary=str(binary), plugins=False) as pmd:
        port = pmd.port()
        pmd.start("rxonly")
        pmd.wait_until("polled", lambda: min(View(pmd).homes().values()) >= 0)
        pmd.cmd(f"octo steer {port} {V4.words()} queue 1")
        pmd.cmd(f"octo unsteer {port} {V4.words()}")
        assert "0 steered flows" in pmd.cmd(f"octo show steering {port}")
        assert "and 1 rules that were destroyed and lead their flows yet" in \
            pmd.cmd(f"octo show steering {port}")
        pmd.stop_forwarding()


def test_tier_none_refuses_to_steer():
    """In the words in which it refuses a rule."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    with Testpmd([*vdevs.nic("A", wire="loop"), vdevs.octo(tier="none")],
                 binary=str(binary), plugins=False) as pmd:
        port = pmd.port()
        for command in ("steer", "move"):
            assert "the port was made with tier=none: it takes no rules" in \
                pmd.cmd(f"octo {command} {port} {V4.words()} queue 0")
        assert "0 steered flows" in pmd.cmd(f"octo show steering {port}")


@pytest.mark.parametrize("flow", [V4, V6], ids=["v4-udp", "v6-tcp"])
def test_steer_show_unsteer(pmd, view, flow):
    """A steered flow is shown with queue, PF and hits until unsteered."""
    assert "rror" not in pmd.cmd(
        f"octo steer {view.port} {flow.words()} queue 1")
    rule = view.rule(flow)
    assert rule["queue"] == 1 and rule["hits"] == 0
    out = pmd.cmd(f"octo show steering {view.port}")
    line = next(ln for ln in out.splitlines() if flow.src in ln)
    for word in (flow.proto, flow.dst, str(flow.sport), str(flow.dport)):
        assert word in line
    pmd.cmd(f"octo unsteer {view.port} {flow.words()}")
    assert view.steering()["total"] == 0


def test_unsteer_all(pmd, view):
    """`all` removes every rule that the commands made."""
    for i in range(4):
        pmd.cmd(f"octo steer {view.port} {gen_flow(i).words()} queue 1")
    assert view.steering()["total"] == 4
    pmd.cmd(f"octo unsteer {view.port} all")
    assert view.steering()["total"] == 0


def test_steered_traffic_is_counted(pmd, view):
    """Hits grow, strays stop growing once all flows are steered."""
    for i in range(8):
        pmd.cmd(f"octo steer {view.port} {gen_flow(i).words()} queue {i % 2}")
    pmd.cmd("clear port xstats all")
    pmd.start("flowgen")
    pmd.wait_until("hits", lambda: all(
        r["hits"] > 100 for r in view.steering()["rules"]))
    pmd.stop_forwarding()
    out = pmd.cmd(f"octo show strays {view.port}")
    strays = view.strays()
    assert str(strays["home_packets"]) in out
    assert view.pmd.cmd(f"octo show steering {view.port}").count("udp") == 8


def test_show_strays(pmd, view):
    """Home and stray packets per queue are those of telemetry."""
    pmd.start("flowgen")
    pmd.wait_until("strays",
                   lambda: view.strays()["stray_packets"] > 1000)
    pmd.stop_forwarding()
    out = pmd.cmd(f"octo show strays {view.port}")
    strays = view.strays()
    for queue in strays["queues"]:
        assert re.search(rf"^\s*Rx {queue['queue']}\b.*"
                         rf"\b{queue['home_packets']}\b.*"
                         rf"\b{queue['stray_packets']}\b", out, re.MULTILINE)


def test_steer_during_forwarding(pmd, view):
    """Rules added while packets fly bring the strays to an end."""
    pmd.start("flowgen")
    pmd.wait_until("strays", lambda: view.strays()["stray_packets"] > 1000)
    for i in range(8):
        pmd.cmd(f"octo steer {view.port} {gen_flow(i).words()} queue {i % 2}")
    view.await_no_strays()
    pmd.stop_forwarding()


def test_help(pmd):
    """Every command is in the help."""
    out = pmd.cmd("help drivers")
    for command in (r"octo show \S*topology", r"octo show \S*steering",
                    r"octo show \S*strays", r"octo steer .*queue",
                    r"octo move .*queue", r"octo unsteer", r"octo unsteer .*all"):
        assert re.search(command, out), command


@pytest.mark.many(asan=5)
@pytest.mark.parametrize("command, says", [
    ("octo show topology 99", r"99|port"),
    ("octo show steering 99", r"99|port"),
    ("octo show strays 99", r"99|port"),
    ("octo show topology 0", r"octo|port"),  # a PF
    ("octo steer 99 {flow} queue 0", r"99|port"),
    ("octo steer {port} {flow} queue 77", r"queue"),
    ("octo steer {port} icmp 10.0.0.1 1 10.0.0.2 2 queue 0",
     r"icmp|proto|Bad argument"),
    ("octo steer {port} udp 10.0.0.300 1 10.0.0.2 2 queue 0",
     r"10\.0\.0\.300|address|Bad argument"),
    ("octo steer {port} udp 10.0.0.1 1 fd00::1 2 queue 0",
     r"fd00::1|address|family|IPv"),
    ("octo steer {port} udp 10.0.0.1 70000 10.0.0.2 2 queue 0",
     r"70000|port|Bad argument"),
    ("octo move 99 {flow} queue 0", r"99|port"),
    ("octo move {port} {flow} queue 1", r"not steered"),
    ("octo move {port} {flow} queue 77", r"queue"),
    ("octo unsteer {port} {flow}", r"not steered|no such|No such|found"),
    ("octo unsteer 99 all", r"99|port"),
    ("octo show nothing {port}", r"Bad argument"),
    ("octo learn {port} on sample 5 sample 6", r"bad sample: it is given twice"),
    ("octo learn {port} on max 99999999999", r"1 to 16777216 learned rules are possible"),
])
def test_errors(pmd, view, command, says):
    """Each mistake gets an answer that names it and changes nothing."""
    before = view.steering()
    out = pmd.cmd(command.format(port=view.port, flow=V4.words()))
    assert re.search(says, out), out
    assert view.steering() == before


@pytest.mark.parametrize("command", [
    "show topology 0", "show learning 0", "steer 0 {flow} queue 1", "move 0 {flow} queue 1",
    "unsteer 0 {flow}", "unsteer 0 all", "learn 0 on", "measure start 0", "measure stop 0",
    "measure show 0"])
def test_octo_ports_are_named_to_who_asks_for_others(pmd, view, command):
    """Simulated PFs have the first port numbers, so port 0 is a PF."""
    assert pmd.cmd(f"octo {command.format(flow=V4.words())}").splitlines() == [
        f"octo: port 0 is not an octo port: give one of {view.port}"]


def test_move(pmd, view):
    """A flow is moved there and back, by whom it was steered or not."""
    pmd.cmd(f"octo steer {view.port} {V4.words()} queue 0")
    pmd.cmd(V6.rule(view.port, 0))
    for queue in (1, 1, 0):
        for flow in (V4, V6):
            out = pmd.cmd(f"octo move {view.port} {flow.words()} queue {queue}")
            assert f"goes to queue {queue} from now on" in out
            assert view.rule(flow)["queue"] == queue
    pmd.cmd(f"flow flush {view.port}")


def test_steer_twice(pmd, view):
    """The same 5-tuple is steered once."""
    pmd.cmd(f"octo steer {view.port} {V4.words()} queue 0")
    out = pmd.cmd(f"octo steer {view.port} {V4.words()} queue 1")
    assert "exists" in out or "already" in out
    assert view.rule(V4)["queue"] == 0
