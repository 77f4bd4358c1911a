# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC whose switch belongs to another CPU: an uplink and
representors, as the embedded CPU of a BlueField has them."""

import re
from collections import Counter

import pytest

from octotest import packets, vdevs
from octotest.simbench import FAR, PF0, PF1, SimBench, mpfs_rule, rule
from octotest.testpmd import Testpmd, flow_id

UPLINK, REP0, REP1 = range(4, 7)
FLOWS = packets.flows(4)
ALL = "end"
FOREIGN_MAC = "02:99:00:00:00:01"


def representor(index: int, what: str) -> str:
    """A port of the CPU that owns the switch."""
    return f"--vdev=net_mpsim{index},nic=A,representor={what}"


def switch_rule(origin: int, what: str, to_port: int, port: int = UPLINK,
                priority: int = 1, more: str = "") -> str:
    """A rule from behind one representor to what is behind another."""
    return (f"flow create {port} priority {priority} transfer pattern "
            f"represented_port ethdev_port_id is {origin} / {what} actions "
            f"{more}represented_port ethdev_port_id {to_port} / end")


def to_pf(flow: packets.Flow, rep: int, **more) -> str:
    """A flow from the wire to the PF behind a representor."""
    return switch_rule(UPLINK, flow.pattern(), rep, **more)


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """Two PFs, which another CPU than theirs has in its hands."""
    def make():
        return SimBench(
            tmp_path_factory.mktemp("sim"), 2,
            nic=[vdevs.mpsim(0, "A", default_pf=1, mpfs_entries=3),
                 vdevs.mpsim(1, "A", 1), representor(2, "uplink"),
                 representor(3, "pf0"), representor(4, "pf1")])
    return shared(make)


@pytest.fixture
def bench(shared_bench):
    """That bench, without rules; what the uplink sends goes to the wire."""
    bench = shared_bench.get()
    bench.wired = (UPLINK,)
    yield bench
    if bench.alive():
        for port in (PF0, PF1, UPLINK):
            bench.cmd(f"flow flush {port}")
        # what came to representors that the test did not poll
        for port in (UPLINK, REP0, REP1):
            bench.cmds([f"port stop {port}", f"port start {port}"])
        bench.cmd("set promisc all on")


def _ports(seen) -> dict:
    """Flow number to the ports that it was seen on."""
    result: dict = {}
    for s in seen:
        result.setdefault(int(s.src[-2:], 16), set()).add(s.port)
    return result


def test_without_rules_all_comes_to_the_uplink(bench):
    """There is no default PF when the switch is somebody else's."""
    seen = bench.play(packets.numbered(FLOWS, 2), (PF0, PF1, UPLINK))
    assert Counter(s.port for s in seen) == {UPLINK: 8}


def test_rule_leads_to_the_pf_behind_the_representor(bench):
    """Its flow only, and it is counted; the rest is the uplink's."""
    number = flow_id(bench.cmd(to_pf(FLOWS[1], REP1, more="count / ")))
    flow_id(bench.cmd(to_pf(FLOWS[2], REP0)))
    seen = bench.play(packets.numbered(FLOWS, 3), (PF0, PF1, UPLINK))
    assert len(seen) == 12
    assert _ports(seen) == {0: {UPLINK}, 1: {PF1}, 2: {PF0}, 3: {UPLINK}}
    assert bench.xstat(PF1, "rx_mpfs_packets") == 3
    assert re.search(r"hits: 3\b",
                     bench.cmd(f"flow query {UPLINK} {number} count"))


def test_rule_for_all_is_the_last_resort(bench):
    """A 5-tuple wins over it, and it is counted as any other."""
    number = flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP0, priority=2,
                                           more="count / ")))
    flow_id(bench.cmd(to_pf(FLOWS[1], REP1)))
    seen = bench.play(packets.numbered(FLOWS, 2), (PF0, PF1, UPLINK))
    assert len(seen) == 8
    assert _ports(seen) == {0: {PF0}, 1: {PF1}, 2: {PF0}, 3: {PF0}}
    assert re.search(r"hits: 6\b",
                     bench.cmd(f"flow query {UPLINK} {number} count"))
    bench.cmd(f"flow destroy {UPLINK} rule {number}")
    seen = bench.play(packets.numbered(FLOWS, 2), (PF0, PF1, UPLINK))
    assert _ports(seen) == {0: {UPLINK}, 1: {PF1}, 2: {UPLINK}, 3: {UPLINK}}


@pytest.mark.parametrize("priority, winner", [(0, PF0), (1, PF1), (2, PF1)])
def test_priority_decides_even_against_a_tuple(bench, priority, winner):
    """The lowest number wins, and the more exact rule if they are equal."""
    flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP0, priority=priority)))
    flow_id(bench.cmd(to_pf(FLOWS[1], REP1, priority=1)))
    seen = bench.play(packets.numbered(FLOWS[:2], 1), (PF0, PF1, UPLINK))
    assert _ports(seen) == {0: {PF0}, 1: {winner}}


def test_masked_rules_come_between_a_tuple_and_all(bench):
    """With equal priorities; a group is not known here."""
    flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP0)))
    flow_id(bench.cmd(switch_rule(
        UPLINK, "ipv4 src spec 0.0.0.1 src mask 0.0.0.1 / end", REP1)))
    flow_id(bench.cmd(to_pf(FLOWS[0], REP0)))
    seen = bench.play(packets.numbered(FLOWS, 2), (PF0, PF1, UPLINK))
    assert _ports(seen) == {0: {PF0}, 1: {PF0}, 2: {PF1}, 3: {PF0}}
    out = bench.cmd(to_pf(FLOWS[1], REP0).replace("priority", "group 1 "
                                                  "priority"))
    assert "group 0 only" in out, out


def test_what_a_pf_sends_comes_to_its_representor(bench):
    """Until a rule lets it out to the wire."""
    flow_id(bench.cmd(to_pf(FLOWS[0], REP1)))
    frames = packets.numbered(FLOWS[:1], 5)
    # PF 1 receives, PF 0 sends on, and so does the uplink for its representor
    ports = (PF0, PF1, REP0, UPLINK)
    seen = bench.play(frames, ports)
    assert Counter(s.port for s in seen) == {PF1: 5, REP0: 5}
    assert bench.xstat(UPLINK, "tx_good_packets") == 5
    flow_id(bench.cmd(switch_rule(REP0, ALL, UPLINK)))
    bench.wired = (PF0, UPLINK)
    seen = bench.play(frames, ports)
    assert Counter(s.port for s in seen) == {PF1: 5}
    assert bench.xstat(UPLINK, "tx_good_packets") == 0
    assert bench.xstat(FAR, "rx_good_packets") == 5


def test_what_a_representor_sends_comes_to_its_pf(bench):
    """The slow path: the owner of the switch hands the packets on itself."""
    flow_id(bench.cmd(rule(FLOWS[1], "queue index 1", port=PF1)))
    flow_id(bench.cmd(rule(FLOWS[0], "queue index 0", port=PF1)))
    seen = bench.play(packets.numbered(FLOWS[:2], 4), (PF1, PF0, UPLINK, REP1))
    assert Counter((s.port, int(s.src[-2:], 16)) for s in seen) == {
        (UPLINK, 0): 4, (UPLINK, 1): 4, (PF1, 0): 4, (PF1, 1): 4}
    assert {(int(s.src[-2:], 16), s.queue) for s in seen
            if s.port == PF1} == {(0, 0), (1, 1)}
    assert bench.nic_value("nic_wire_packets") == 8


def test_rules_of_a_pf_still_pick_its_queues(bench):
    """ARFS is the PF's own: only the switch is not."""
    flow_id(bench.cmd(to_pf(FLOWS[0], REP1)))
    for queue in (0, 1):
        number = flow_id(bench.cmd(
            rule(FLOWS[0], f"queue index {queue}", port=PF1)))
        seen = bench.play(packets.numbered(FLOWS[:1], 2))
        assert {(s.port, s.queue) for s in seen} == {(PF1, queue)}
        bench.cmd(f"flow destroy {PF1} rule {number}")


def test_a_pf_filters_addresses_and_the_uplink_does_not(bench):
    """The filter of the PFs comes after the switch."""
    frames = packets.numbered(FLOWS[:2], 2)
    for frame in frames:
        frame.dst = FOREIGN_MAC
    flow_id(bench.cmd(to_pf(FLOWS[0], REP0)))
    for port in (PF0, PF1, UPLINK):
        bench.cmd(f"set promisc {port} off")
    seen = bench.play(frames, (PF0, PF1, UPLINK))
    assert _ports(seen) == {1: {UPLINK}}
    assert bench.nic_value("nic_mac_filter_drops") == 2
    bench.cmd(f"set promisc {UPLINK} on")
    assert PF0 not in {s.port for s in bench.play(frames, (PF0, PF1, UPLINK))}
    bench.cmd(f"set promisc {PF1} on")
    seen = bench.play(frames, (PF0, PF1, UPLINK))
    assert _ports(seen) == {0: {PF0}, 1: {UPLINK}}


@pytest.mark.many(asan=4)
@pytest.mark.parametrize("command, why", [
    (mpfs_rule(FLOWS[0], PF1), r"belongs to another CPU.*net_mpsim2"),
    (to_pf(FLOWS[0], REP1, port=PF1), r"belongs to another CPU"),
    (to_pf(FLOWS[0], REP1, port=REP1), r"proxy, port 4 \(net_mpsim2\)"),
    (mpfs_rule(FLOWS[0], PF1, port=UPLINK, origin=UPLINK),
     r"action represented_port of a representor"),
    (to_pf(FLOWS[0], PF1), r"action represented_port of a representor"),
    (switch_rule(PF0, FLOWS[0].pattern(), REP1),
     r"item represented_port of a representor of NIC A"),
    (switch_rule(FAR, FLOWS[0].pattern(), REP1),
     r"item represented_port of a representor of NIC A"),
    (to_pf(FLOWS[0], UPLINK), r"from the uplink representor to that of a PF"),
    (switch_rule(REP0, ALL, REP1), r"from the uplink representor to that of"),
    (switch_rule(REP0, FLOWS[0].pattern(), UPLINK), r"give no 5-tuple"),
    (switch_rule(REP0, ALL, UPLINK, more="count / "), r"is not counted"),
], ids=["switch-of-a-pf", "pf", "not-the-proxy", "port-representor",
        "to-a-pf", "from-a-pf", "from-foreign", "to-itself", "pf-to-pf",
        "flow-of-a-pf", "count-of-a-pf"])
def test_bad_rule_is_refused(bench, command, why):
    """One sentence that says what would be right."""
    out = bench.cmd(command)
    assert "Caught" in out and re.search(why, out), out


def test_two_rules_for_all_per_port(bench):
    """EEXIST for a third, and for one of the same priority; a place is free again."""
    number = flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP0, priority=2)))
    out = bench.cmd(switch_rule(UPLINK, ALL, REP1, priority=2))
    assert "a rule for all" in out and "File exists" in out, out
    flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP1, priority=3)))
    out = bench.cmd(switch_rule(UPLINK, ALL, REP1, priority=1))
    assert "a rule for all" in out and "File exists" in out, out
    flow_id(bench.cmd(switch_rule(REP0, ALL, UPLINK)))
    flow_id(bench.cmd(switch_rule(REP1, ALL, UPLINK)))
    bench.cmd(f"flow destroy {UPLINK} rule {number}")
    flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP1, priority=1)))


def test_full_switch_refuses(bench):
    """ENOSPC as of any other NIC; rules for all take no entry."""
    flow_id(bench.cmd(switch_rule(UPLINK, ALL, REP0, priority=2)))
    for flow in FLOWS[:3]:
        flow_id(bench.cmd(to_pf(flow, REP1)))
    out = bench.cmd(to_pf(FLOWS[3], REP1))
    assert "MPFS table of NIC A is full (3 entries)" in out, out


def test_proxy_is_the_uplink(bench):
    """For representors; a PF is told whose the switch is."""
    for port in (UPLINK, REP0, REP1):
        out = bench.cmd(f"show port {port} flow transfer proxy")
        assert re.search(rf"proxy port ID:? {UPLINK}\b", out,
                         re.IGNORECASE), out
    out = bench.cmd(f"show port {PF1} flow transfer proxy")
    assert "Operation not permitted" in out, out


def test_uplink_comes_and_goes(tmp_path):
    """Without it the NIC is as any other; it cannot come between rules."""
    nic = [representor(3, "pf0"), representor(4, "pf1"),
           *vdevs.nic("A")]
    with SimBench(tmp_path, 2, nic=nic) as bench:
        pf0, pf1 = bench.port("net_mpsim0"), bench.port("net_mpsim1")
        flow_id(bench.cmd(mpfs_rule(FLOWS[0], pf1, pf0, pf0)))
        uplink = "net_mpsim2,nic=A,representor=uplink"
        out = bench.cmd(f"port attach {uplink}")
        assert re.search(r"representor=uplink: NIC A has transfer rules", out)
        bench.cmd(f"flow flush {pf0}")
        assert "is attached" in bench.cmd(f"port attach {uplink}")
        assert "another CPU" in bench.cmd(mpfs_rule(FLOWS[0], pf1, pf0, pf0))
        bench.cmd(f"port detach {bench.port('net_mpsim2')}")
        flow_id(bench.cmd(mpfs_rule(FLOWS[0], pf1, pf0, pf0)))


def test_nobody_behind_the_representor(tmp_path):
    """What a PF without a representor sends is dropped and counted."""
    nic = [*vdevs.nic("A"), representor(2, "uplink"), representor(4, "pf1")]
    with SimBench(tmp_path, 2, nic=nic) as bench:
        bench.wired = ()
        flow_id(bench.cmd(to_pf(FLOWS[0], bench.port("net_mpsim4"))))
        seen = bench.play(packets.numbered(FLOWS[:1], 3))
        assert Counter(s.port for s in seen) == {PF1: 3}
        assert bench.xstat(PF0, "tx_no_wire_drops") == 3


def test_octo_steers_queues_where_the_switch_is_not_its_own():
    """The tier says so, and the log why and whose the switch is."""
    args = [*vdevs.nic("A", 0, 2, "loop"), representor(2, "uplink"),
            representor(3, "pf0"), representor(4, "pf1"), vdevs.octo()]
    with Testpmd(args, eal=["--log-level=pmd.net.octo:info"]) as pmd:
        port = pmd.port()
        assert re.search(r"tier queue: .*belongs to another CPU.*net_mpsim2",
                         pmd.boot_text)
        flow_id(pmd.cmd(FLOWS[0].rule(port, 1)))
        topology = pmd.telemetry.get("/octo/topology", port)
        assert (topology["tier"], topology["mpfs"]) == ("queue", "none")
