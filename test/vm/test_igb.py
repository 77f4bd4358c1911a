# SPDX-License-Identifier: BSD-3-Clause
"""octo over two igb, one per node, each with a cable to this process.

QEMU's igb has real RSS in its "hardware" and an interrupt for its link. It takes
5-tuple rules and does nothing about them.
"""

import contextlib
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from octotest import env, packets
from octotest.bench import order_of
from octotest.testpmd import flow_id
from octotest.view import View

from conftest import MAC

FLOWS = packets.flows(16)


def links(view):
    """Of each PF."""
    return [pf["link"] for pf in view.topology()["pfs"]]


def start(guest):
    """testpmd that returns what comes, with all links up."""
    pfs = guest.machine.addresses()
    pmd = guest.testpmd(["--vdev=net_octo0,learn=off," + ",".join(f"pf={pf}" for pf in pfs)],
                        pci=pfs, app=["--rss-udp"])
    pmd.keep = True
    view = View(pmd)
    pmd.wait_until("both links", lambda: links(view) == ["up", "up"], 30)
    return view


@pytest.fixture(scope="module")
def running(igbs):
    """That testpmd, for all tests."""
    view = start(igbs)
    yield view
    assert view.pmd.quit() == 0


@pytest.fixture
def view(running):
    """It forwards, and has counted nothing yet."""
    pmd = running.pmd
    pmd.cmds(["clear port stats all", "clear port xstats all"])
    pmd.start("io")
    pmd.wait_until("homes are known", lambda: all(
        queue["cpu"] >= 0 for queue in running.topology()["queues"]))
    yield running
    pmd.stop_forwarding()


def frames(number, pf_of):
    """Numbered frames of all flows, each to the PF that its flow is given."""
    made = packets.numbered(FLOWS, number)
    for frame in made:
        frame.dst = MAC
    return [(pf_of(i % len(FLOWS)), bytes(frame)) for i, frame in enumerate(made)]


def counted(view):
    """Of each queue: packets by its home PF, and strays."""
    return [(queue["home_packets"], queue["stray_packets"])
            for queue in view.strays()["queues"]]


def test_nodes_are_those_of_the_kernel(view):
    """Sockets are told by the kernel, not by a map; homes follow the lcores."""
    topology = view.topology()
    assert [pf["socket"] for pf in topology["pfs"]] == [0, 1]
    assert [(q["cpu"], q["socket"], q["home_pf"]) for q in topology["queues"]] == \
        [(1, 0, 0), (2, 1, 1)]


def test_nothing_is_lost_or_reordered(view, wire):
    """Frames by both PFs come back once each and in the order of their flow."""
    sent = frames(100, lambda flow: flow % 2)
    back = wire.exchange(sent)
    order = order_of(frame for _, frame in back)
    assert order == {str(i): list(range(100)) for i in range(len(FLOWS))}
    assert Counter(f for _, f in back) == Counter(f for _, f in sent)
    view.assert_lost_nothing()


def check_rss(view, wire):
    """Each flow has one queue, by whichever PF it comes."""
    before = counted(view)
    by_pf = []
    for pf in (0, 1):
        wire.exchange(frames(10, lambda flow, pf=pf: pf))
        now = counted(view)
        by_pf.append([(home - was[0], stray - was[1]) for (home, stray), was in zip(now, before)])
        before = now
    (home0, stray0), (home1, stray1) = by_pf[0]
    assert (stray0, home1) == (0, 0)
    assert home0 > 0 and stray1 > 0 and home0 + stray1 == 10 * len(FLOWS)
    assert by_pf[1] == [(0, home0), (stray1, 0)]


def test_a_flow_has_one_queue_by_either_pf(view, wire, real_igbs):
    """RSS is the same on both: a stray costs, but it goes where it belongs."""
    check_rss(view, wire)


def test_answers_leave_by_the_senders_own_pf(view, wire, real_igbs):
    """Whichever PF a frame came in by."""
    ways = []
    for pf in (0, 1):
        back = wire.exchange(frames(5, lambda flow, pf=pf: pf))
        ways.append({(via, frame[6:12]) for via, frame in back})
    assert ways[0] == ways[1]
    assert len(ways[0]) == len(FLOWS)
    assert {via for via, _ in ways[0]} == {0, 1}


@pytest.mark.parametrize("lost", [0, 1])
def test_the_port_lives_on_one_pf(view, real_igbs, wire, lost):
    """A cable is pulled: the port stays up, all goes by the other PF. It is
    plugged in: each flow has its own PF again."""
    pmd, other = view.pmd, 1 - lost
    real_igbs.qemu.monitor.set_link(lost, False)
    try:
        pmd.wait_until("PF down", lambda: links(view)[lost] == "down")
        assert links(view)[other] == "up" and pmd.link(view.port) == "up"
        pmd.wait_until("homes moved", lambda: set(view.homes().values()) == {other})
        back = wire.exchange(frames(20, lambda flow: other))
        assert {via for via, _ in back} == {other}
        assert all(stray == 0 for _, stray in counted(view))
    finally:
        real_igbs.qemu.monitor.set_link(lost, True)
    pmd.wait_until("PF up", lambda: links(view) == ["up", "up"], 30)
    pmd.wait_until("homes are back", lambda: view.homes() == {0: 0, 1: 1})
    # a sender looks for its home now and then, nothing is lost meanwhile
    pmd.wait_until("answers by both PFs", lambda: {via for via, _ in wire.exchange(
        frames(5, lambda flow: lost))} == {0, 1})
    view.assert_lost_nothing()


def test_the_port_is_down_when_all_are(view, real_igbs):
    """Link events of the port itself: down with its last PF, up with its first."""
    pmd = view.pmd
    said = len(pmd.text)
    event = rf"Port {view.port}: link state change event"
    real_igbs.qemu.monitor.set_link(0, False)
    pmd.wait_until("PF down", lambda: links(view)[0] == "down")
    assert pmd.text.count(event, said) == 0
    real_igbs.qemu.monitor.set_link(1, False)
    pmd.expect(event, said)
    assert pmd.link(view.port) == "down"
    said = len(pmd.text)
    real_igbs.qemu.monitor.set_link(1, True)
    pmd.expect(event, said, 30)
    assert pmd.link(view.port) == "up"
    real_igbs.qemu.monitor.set_link(0, True)
    pmd.wait_until("both links", lambda: links(view) == ["up", "up"], 30)


def queue_of(view, wire, number):
    """Where RSS puts a flow."""
    before = counted(view)
    wire.exchange([frame for i, frame in enumerate(frames(1, lambda flow: 0)) if i == number])
    got = [sum(now) - sum(then) for now, then in zip(counted(view), before)]
    return got.index(1)


def test_rules_without_effect_are_not_claimed(view, wire, real_igbs):
    """The PFs take rules, and the frames go where they went before: that is told of
    each, the tier is dropped, and no more such rules are taken. Nothing is lost."""
    ruled = range(8)  # the 82576 has no more filters
    hashed = [queue_of(view, wire, number) for number in ruled]
    for number in ruled:
        flow_id(view.pmd.cmd(FLOWS[number].rule(view.port, 1 - hashed[number])))
    assert view.topology()["tier"] == "queue"

    # each by the PF that is not the home of the queue that it really goes to
    sent = frames(1, lambda flow: 1 - hashed[flow] if flow in ruled else 0)

    def all_are_known():
        # one at a time, for a burst each: of every eighth burst one is looked at
        for number in ruled:
            wire.exchange([sent[number]] * 40, window=0)
        return view.steering()["ineffective"] == len(ruled)
    view.pmd.wait_until("all are known not to work", all_are_known)
    for rule in view.steering()["rules"]:
        assert (rule["status"], rule["pf"], rule["hits"]) == ("queue ignored", -1, -1)
    view.pmd.wait_until("the tier is dropped", lambda: view.topology()["tier"] == "none")
    assert view.topology()["ignored"] == "queue"
    refused = view.pmd.cmd(FLOWS[9].rule(view.port, 1))
    assert "Caught PMD error" in refused and "created" not in refused
    assert view.xstats()["rx_home_packets"] + view.xstats()["rx_stray_packets"] == \
        view.stats()["RX-packets"]
    view.assert_lost_nothing()
    view.pmd.cmd(f"flow flush {view.port}")
    assert view.steering()["total"] == 0


@contextlib.contextmanager
def traffic(wire, pf):
    """Frames to a PF, all the time; a function that tells how many came back. Few are under
    way at a time: hardly one is left when it ends, unless it was lost."""
    done = threading.Event()

    def flood():
        while not done.is_set():
            wanted = len(wire.frames) + len(FLOWS)
            for _, frame in frames(1, lambda flow: pf):
                wire.send(pf, frame)
            end = time.monotonic() + env.seconds(1)
            while wire.receive(0.02) < wanted and time.monotonic() < end:
                pass
    with ThreadPoolExecutor(1) as beside:
        flooding = beside.submit(flood)
        try:
            yield lambda: len(wire.frames)
        finally:
            done.set()
            flooding.result()


@pytest.mark.parametrize("lost", [0, 1])
def test_a_pf_is_unplugged_and_plugged_in_again(view, real_igbs, wire, lost):
    """Under traffic: the port stays up and all goes by the other PF, until the device is
    back and vfio-pci's, as whoever administers the machine sees to. Then each queue has
    its own PF again, RSS is the same on both, and nothing is lost."""
    pmd, other = view.pmd, 1 - lost
    device = f"/sys/bus/pci/devices/{real_igbs.machine.address(lost)}"
    with traffic(wire, other) as back:
        real_igbs.qemu.monitor.unplug(lost)
        pmd.wait_until("PF gone", lambda: view.topology()["pfs"][lost]["state"] == "gone", 60)
        pmd.wait_until("homes moved", lambda: set(view.homes().values()) == {other})
        assert pmd.link(view.port) == "up"
        pmd.wait_until("the guest let go", lambda: real_igbs.call(f"[ ! -e {device} ]").status
                       == 0, 60)
        before = back()
        pmd.wait_until("traffic goes on", lambda: back() > before + len(FLOWS))
        real_igbs.plug(lost)
        pmd.wait_until("PF up", lambda: links(view) == ["up", "up"], 60)
        pmd.wait_until("homes are back", lambda: view.homes() == {0: 0, 1: 1}, 30)
    pmd.wait_until("answers by both PFs", lambda: {via for via, _ in wire.exchange(
        frames(5, lambda flow: lost))} == {0, 1})
    sent = frames(20, lambda flow: flow % 2)
    assert Counter(f for _, f in wire.exchange(sent)) == Counter(f for _, f in sent)
    check_rss(view, wire)
    assert pmd.link(view.port) == "up"
