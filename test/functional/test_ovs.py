# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with DPDK, its ports octo ports that its PMD threads poll.

    namespace 1 - veth - net_af_packet - NIC A - octo port \\
                                                 bridge br0 - tap
    namespace 2 - veth - net_af_packet - NIC B - octo port /

The PMD thread of CPU 0, on socket 0, polls queue 0; that of CPU 1, on socket
1, queue 1. So PF 0 is home of the former and PF 1 of the latter.
"""

import re
from typing import Dict, Iterator, Sequence, Tuple

import pytest

from octotest import env, iperf, numbered, ovs, vdevs
from octotest.testpmd import wait_until
from octotest.view import View

PORTS = ("net_octo0", "net_octo1")
PINNED = "0:0,1:1"
SWAPPED = "0:1,1:0"
SOURCES = [f"10.9.0.{i}" for i in range(20, 36)]  # RSS spreads them


@pytest.fixture
def options() -> Sequence[str]:
    """Of ovs-vswitchd, unless a test has others."""
    return ()


@pytest.fixture
def settings() -> Sequence[str]:
    """Of other_config, unless a test has some."""
    return ()


@pytest.fixture
def switch(program, hosts, huge_dir, options, settings) -> Iterator[ovs.Switch]:
    """Open vSwitch, without a port."""
    for name in ("ip", "ethtool", "ping", "iperf3"):
        program(name)
    tree = ovs.find()
    if tree is None:
        pytest.skip("no Open vSwitch is there that has this DPDK")
    made = ovs.Switch(tree, huge_dir, hosts, options=options, settings=settings)
    try:
        yield made
        made.stop()
    finally:
        made.close()


@pytest.fixture
def learn() -> str:
    """Strays are to teach nothing, unless a test has it otherwise."""
    return "off"


@pytest.fixture
def views(switch, learn):
    """The octo ports, both on the bridge."""
    for i, name in enumerate(PORTS):
        switch.add_dpdk_port(name, vdevs.octo_devargs(
            i, vdevs.pf_names(2 * i), learn=learn), PINNED)
    return [View(switch, name) for name in PORTS]


def _ping_from_all(src, dst) -> None:
    """Each of the sources is answered, those that RSS puts on any queue."""
    for source in SOURCES:
        src.ip("addr", "add", f"{source}/24", "dev", src.inner)
        src.run("ping", "-c", "1", "-W", round(env.seconds(5)), "-I", source, dst.ip4)


def _is_home(views, homes: Dict[int, int]) -> None:
    wait_until(f"homes {homes}", lambda: all(
        {q: view.homes()[q] for q in (0, 1)} == homes for view in views))


def _sent(view: View) -> Dict[str, int]:
    """Packets by Tx queue and PF."""
    return {k: v for k, v in view.xstats().items()
            if re.fullmatch(r"tx_q\d+_pf\d+_packets", k)}


def _lost_nothing(switch, views) -> None:
    for view in views:
        for stats in (switch.telemetry.get("/ethdev/stats", view.port),
                      *view.pf_stats()):
            for name in ("imissed", "ierrors", "rx_nombuf", "oerrors"):
                assert stats[name] == 0, (view.name, stats)


def test_each_thread_is_served_by_its_own_pf(switch, views, hosts):
    """Homes follow the pinning, and what a thread sends leaves by its PF."""
    one, two = hosts
    for name in PORTS:
        assert switch.pinned(name) == {0: 0, 1: 1}
    _is_home(views, {0: 0, 1: 1})
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
    before = [_sent(view) for view in views]
    _ping_from_all(one, two)
    for view, then in zip(views, before):
        queues = view.strays()["queues"]
        # All enters by PF 0: at home for queue 0, a stray for queue 1.
        assert queues[0]["home_packets"] > 0 == queues[0]["stray_packets"]
        assert queues[1]["stray_packets"] > 0 == queues[1]["home_packets"]
        used = [re.findall(r"\d+", k) for k, v in _sent(view).items()
                if v > then[k]]
        assert len(used) == len({queue for queue, _ in used}), used
        assert {pf for _, pf in used} == {"0", "1"}, used
    _lost_nothing(switch, views)


@pytest.mark.parametrize("options", [["--dummy-numa=0,1"]])
def test_queues_that_are_not_pinned_are_on_one_node(switch, views):
    """CPU 1 is on another node for Open vSwitch, which tells its threads no CPU then. What is
    not pinned goes to threads of the node of the port, 0, and beside pinned queues only if
    these do not isolate their threads: the guide says what to set."""
    for name in PORTS:
        switch.unpin(name)
    for name in PORTS:
        assert switch.pinned(name) == {0: 0, 1: 0}
    switch.pin(PORTS[0], PINNED)
    assert switch.pinned(PORTS[0]) == {0: 0, 1: 1}
    assert switch.pinned(PORTS[1]) == {}
    switch.vsctl("set", "Open_vSwitch", ".", "other_config:pmd-rxq-assign=group",
                 "other_config:pmd-rxq-isolate=false")
    assert switch.pinned(PORTS[0]) == {0: 0, 1: 1}
    assert switch.pinned(PORTS[1]) == {0: 0, 1: 0}


@pytest.mark.parametrize("options", [["--dummy-numa=0,1"]])
def test_queues_that_are_not_pinned_are_on_all_nodes(switch, views, hosts):
    """With our patch for Open vSwitch, and its option: each thread is served by its own PF."""
    if not switch.knows("pmd-rxq-any-numa"):
        pytest.skip("this Open vSwitch is not patched by devtools/app-patch.sh")
    one, two = hosts
    for name in PORTS:
        switch.unpin(name)
    for name in PORTS:
        assert switch.pinned(name) == {0: 0, 1: 0}
    switch.place_threads()
    _is_home(views, {0: 0, 1: 0})
    for name in PORTS:
        switch.vsctl("set", "Interface", name, "other_config:pmd-rxq-any-numa=true")
    for view in views:
        threads = switch.pinned(view.name)
        assert sorted(threads.values()) == [0, 1]
        _is_home([view], threads)
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
    _ping_from_all(one, two)
    for view in views:
        for queue, counts in enumerate(view.strays()["queues"]):
            # All enters by PF 0, the home of one of the queues.
            kind = "stray" if view.homes()[queue] else "home"
            assert counts[f"{kind}_packets"] > 0, (view.name, queue, counts)
    for name in PORTS:
        switch.vsctl("set", "Interface", name, "other_config:pmd-rxq-any-numa=false")
    for name in PORTS:
        assert switch.pinned(name) == {0: 0, 1: 0}
    _is_home(views, {0: 0, 1: 0})
    _lost_nothing(switch, views)


def test_built_tree_has_no_program(tmp_path, monkeypatch):
    """The variable is named, and nothing is skipped."""
    monkeypatch.setattr(env, "IN_TREE", None)
    monkeypatch.setattr(ovs, "BUILT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"OCTO_OVS_DIR={tmp_path} has no "):
        ovs.find()


def test_tcp_between_ports_and_to_the_tap(switch, views, hosts):
    """Both directions; the tap is served by no PMD thread."""
    one, two = hosts
    for src, dst in ((one, two), (switch, one)):
        src.run("ping", "-c", "3", "-i", "0.1", "-W", "5", dst.ip4)
        for direction in ([], ["-R"]):
            iperf.send(src, dst, dst.ip4, 3, *direction)
    _lost_nothing(switch, views)


@pytest.mark.parametrize("learn", ["on"])
def test_pinned_anew_while_it_runs(switch, views, hosts, record_property):
    """Queues go to threads on another socket, and their packets come by its PF: nothing
    strays any more, nothing is lost, no stream breaks.

    What TCP sends again is told, and proves nothing: it does so with bare PFs as well, which
    are pinned anew in the same way. Whether octo keeps order is seen by numbers, below."""
    def pin(pins: str) -> None:
        for name in PORTS:
            switch.pin(name, pins)

    streams = iperf.Streams(*hosts, views, record_property, switch.daemon)
    with streams.running({0: 0, 1: 1}):
        for pins, homes in ((SWAPPED, {0: 1, 1: 0}), ("0:1,1:1", {0: 1, 1: 1}),
                            (PINNED, {0: 0, 1: 1})):
            streams.planned(f"pinned {pins}", lambda p=pins: pin(p), homes)
    _lost_nothing(switch, views)


def _settled(switch, views) -> None:
    """Every queue has the home of the thread that polls it, and nothing strays any more."""
    def is_so() -> bool:
        for view in views:
            homes, pinned = view.homes(), switch.pinned(view.name)
            if {queue: homes[queue] for queue in pinned} != pinned:
                return False
        before = [view.strays() for view in views]
        wait_until("traffic", lambda: views[0].strays()["home_packets"]
                   > before[0]["home_packets"] + 500)
        return all(view.strays()["stray_packets"] == then["stray_packets"]
                   for view, then in zip(views, before))
    wait_until("all come by the PF of their thread", is_so, 30)


@pytest.mark.parametrize("learn", ["on"])
def test_no_datagram_is_overtaken(switch, views, hosts, record_property):
    """Queues go to threads on the other socket and back: by the numbers of the datagrams
    none of a flow overtakes another."""
    one, two = hosts
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)  # else ARP drops the first
    with numbered.running(*hosts, range(20000, 20016)) as told:
        _settled(switch, views)
        for pins in (SWAPPED, PINNED):
            switch.pin(PORTS[0], pins)
            _settled(switch, views)
    record_property("datagrams", vars(told))
    print(f"datagrams: {vars(told)}")
    assert told.sent > 0 and told.lost == told.reordered == 0, vars(told)
    _lost_nothing(switch, views)


def _packets(view) -> int:
    strays = view.strays()
    return strays["home_packets"] + strays["stray_packets"]


def _flow_of_queue(view, hosts, queue: int) -> int:
    """A source port whose datagrams RSS puts on the queue."""
    def counts():
        mine = view.strays()["queues"][queue]
        return mine["home_packets"] + mine["stray_packets"]
    for source in range(20000, 20020):
        before = counts()
        packets = _packets(view)
        with numbered.running(*hosts, [source]) as told:
            wait_until("some come", lambda then=packets: _packets(view) > then + 50)
        if counts() - before > told.sent // 2:
            return source
    raise AssertionError(f"no flow is on queue {queue}")


@pytest.mark.parametrize("learn", ["on"])
def test_rebalanced_while_it_runs(switch, views, hosts, record_property):
    """Open vSwitch gives its busiest queue to its first thread, and its packets follow."""
    view = views[0]
    for name in PORTS:
        switch.unpin(name)
    hosts[0].run("ping", "-c", "3", "-i", "0.1", "-W", "5", hosts[1].ip4)
    # where the machine is busy that thread may have queue 1 by now
    of_second = next(q for q, cpu in switch.pinned(view.name).items() if cpu == 1)
    source = _flow_of_queue(view, hosts, of_second)
    with numbered.running(*hosts, [source]) as told:
        _settled(switch, [view])
        before = switch.pinned(view.name)

        def moved() -> bool:
            switch.appctl("dpif-netdev/pmd-rxq-rebalance")
            return switch.pinned(view.name) != before
        wait_until("the busiest queue goes to another thread", moved, 30)
        _settled(switch, [view])
    record_property("datagrams", vars(told))
    print(f"datagrams: {vars(told)}, before {before}, after {switch.pinned(view.name)}")
    assert told.sent > 0 and told.lost == told.reordered == 0, vars(told)
    _lost_nothing(switch, views)


def test_reconfigured_while_it_runs(switch, views, hosts):
    """OVS stops the port for it, and it comes back with what was asked."""
    one, two = hosts
    for pins in ("0:0,1:1,2:0,3:1", "0:1", PINNED):
        homes = {int(q): int(cpu) for q, cpu in re.findall(r"(.):(.)", pins)}
        switch.vsctl("set", "Interface", PORTS[0],
                     f"options:n_rxq={len(homes)}",
                     f'other_config:pmd-rxq-affinity="{pins}"')
        wait_until(f"homes {homes}", lambda h=homes: views[0].homes() == h)
        assert switch.pinned(PORTS[0]) == homes
        one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
    switch.vsctl("set", "Interface", PORTS[0], "mtu_request=1400")
    wait_until("the MTU", lambda: switch.vsctl(
        "get", "Interface", PORTS[0], "mtu").strip() == "1400")
    assert {pf["mtu"] for pf in views[0].pf_info()} == {1400}
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)


def test_port_taken_away_and_given_back(switch, views, hosts):
    """Without the port its PFs are everybody's; it may have them again."""
    one, two = hosts
    for _ in range(3):
        switch.vsctl("del-port", "br0", PORTS[1])
        assert set(switch.ports()) == {PORTS[0], *vdevs.pf_names(2)}
        switch.add_dpdk_port(PORTS[1], vdevs.octo_devargs(
            1, vdevs.pf_names(2)), SWAPPED)
        assert set(switch.ports()) == set(PORTS)
        _is_home([views[0]], {0: 0, 1: 1})
        _is_home([View(switch, PORTS[1])], {0: 1, 1: 0})
        one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)


def _marked_and_not(switch) -> Dict[int, Tuple[int, int]]:
    """Packets of each thread."""
    return {cpu: (count["phwol hits"], count["packets received"] - count["phwol hits"])
            for cpu, count in switch.counts().items()}


def _all_are_marked(switch) -> None:
    """Of each thread all packets have the mark of a flow, and so need no lookup."""
    then = _marked_and_not(switch)

    def marked() -> bool:
        nonlocal then
        now = _marked_and_not(switch)
        if any(now[cpu][1] > then[cpu][1] + 5 for cpu in now):  # what is under way is counted
            then = now
        return all(now[cpu][0] > then[cpu][0] + 200 for cpu in now)
    wait_until("all have marks", marked, 30)


@pytest.mark.parametrize("learn", ["on"])
@pytest.mark.parametrize("settings", [["hw-offload=true"]])
def test_offloaded_flows_are_marked_by_each_pf(switch, views, hosts):
    """Queues go to other threads, flows are made anew, a PF goes and is back: packets have their
    marks again by whichever PF they come, and come home, none is lost, or overtakes."""
    one, two = hosts
    view = views[0]
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
    with numbered.running(*hosts, range(20000, 20016)) as told:
        _settled(switch, views)
        _all_are_marked(switch)
        switch.pin(view.name, SWAPPED)
        _settled(switch, views)
        _all_are_marked(switch)
        switch.appctl("revalidator/purge")
        _all_are_marked(switch)
        switch.telemetry.get("/mpsim/fault", "net_mpsim1", "remove,100000")
        switch.daemon.expect("PF net_mpsim1 is back")
        _settled(switch, views)
        _all_are_marked(switch)
    print(f"datagrams: {vars(told)}")
    assert told.sent > 0 and told.lost == told.reordered == 0, vars(told)
    _lost_nothing(switch, views)
    # all are counted, by the threads that they came to
    wait_until("all are counted", lambda: switch.forwarded() >= told.sent)
    assert switch.forwarded() <= sum(
        count["packets received"] for count in switch.counts().values()) + 20
    # it asked the switch of the NIC first, which cannot send by another NIC
    assert "in_port" not in switch.appctl("dpctl/dump-flows", "type=offloaded")
    assert "in_port" in switch.appctl("dpctl/dump-flows", "type=partially-offloaded")
    assert "rte_flow creation failed" not in switch.daemon.text


@pytest.mark.parametrize("settings", [["hw-offload=true"]])
def test_offloaded_port_gets_fewer_queues(switch, views, hosts):
    """The rules of flows name all queues, and are still there when some end."""
    one, two = hosts
    for pins in ("0:0,1:1,2:0,3:1", "0:1", PINNED):
        one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
        wait_until("a rule is there", lambda: views[0].steering()["others"] > 0)
        homes = {int(q): int(cpu) for q, cpu in re.findall(r"(.):(.)", pins)}
        switch.vsctl("set", "Interface", PORTS[0], f"options:n_rxq={len(homes)}",
                     f'other_config:pmd-rxq-affinity="{pins}"')
        assert switch.vsctl("get", "Interface", PORTS[0], "error") == "[]\n"
        wait_until(f"homes {homes}", lambda h=homes: views[0].homes() == h)
        assert switch.pinned(PORTS[0]) == homes
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
