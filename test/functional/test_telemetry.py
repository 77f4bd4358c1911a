# SPDX-License-Identifier: BSD-3-Clause
"""/octo/* telemetry, which any application has: here the stock testpmd."""

import pytest

from octotest import packets, vdevs
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View, ask

NB_RULES = 300


@pytest.fixture(scope="module")
def stock(shared):
    """Two octo ports back to back."""
    return shared(lambda: Testpmd(vdevs.back_to_back()))


@pytest.fixture
def pmd(stock):
    """That testpmd."""
    return stock.get()


@pytest.fixture
def view(pmd):
    """Its first octo port."""
    return View(pmd)


def test_list(pmd):
    """All octo ports, nothing else."""
    assert pmd.telemetry.get("/octo/list") == \
        [pmd.port("net_octo0"), pmd.port("net_octo1")]


def test_commands_have_help(pmd):
    """Every command is listed and explains itself."""
    commands = [c for c in pmd.telemetry.get("/") if c.startswith("/octo/")]
    assert set(commands) >= {"/octo/list", "/octo/topology", "/octo/legs",
                             "/octo/steering", "/octo/locks", "/octo/strays",
                             "/octo/xstats"}
    for command in commands:
        text = str(pmd.telemetry.get("/help", command))
        assert len(text) > len(command) + 10


def test_topology_keys(view):
    """The keys that the interface names, in each PF and queue."""
    topology = view.topology()
    assert {"port", "name", "tier", "socket", "link", "pfs",
            "queues"} <= set(topology)
    assert topology["link"] == "up"
    for pf in topology["pfs"]:
        assert {"index", "name", "port", "socket", "link", "state",
                "transfer_proxy", "mac", "mac_holder", "designated"} <= set(pf)
        assert pf["link"] == "up"
    for queue in topology["queues"]:
        assert {"queue", "cpu", "socket", "home_pf", "ring", "pool",
                "crosses"} <= set(queue)


def test_unpolled_queue_is_unknown():
    """Before anybody polls, cpu and socket are -1, the home is a guess."""
    with Testpmd(vdevs.looped()) as pmd:
        for queue in View(pmd).topology()["queues"]:
            assert queue["cpu"] == queue["socket"] == -1
            assert queue["home_pf"] in (-1, 0, 1)


def test_polled_queue_is_known(pmd, view):
    """The CPU, its mapped node and the PF on that node."""
    pmd.start("io")
    pmd.wait_until("polled", lambda: min(view.homes().values()) >= 0)
    pmd.stop_forwarding()
    for queue in view.topology()["queues"]:
        assert queue["cpu"] == queue["socket"] == queue["home_pf"] \
            == queue["queue"]


def test_legs_keys_and_pages(pmd, view):
    """Of each queue all PFs; Rx queues first; page by page."""
    legs = ask(pmd, "legs", view.port)
    assert legs["total"] == 8 and legs["start"] == 0
    assert [(leg["queue"], leg["index"], leg["pf"]) for leg in legs["legs"]] == \
        [(kind, index, pf) for kind in ("rx", "tx") for index in (0, 1) for pf in (0, 1)]
    for leg in legs["legs"]:
        assert {"home", "cpu", "cpu_socket", "pf_socket", "ring", "pool", "crosses"} <= set(leg)
        assert leg["pf_socket"] == leg["pf"]
        assert leg["ring"] == leg["pool"] == -1, "mapped memory is nowhere"
    page = ask(pmd, "legs", view.port, 3, 2)
    assert page["total"] == 8 and page["legs"] == legs["legs"][3:5]
    assert ask(pmd, "legs", view.port, 8)["legs"] == []


def test_mapped_memory_is_nowhere(view):
    """Sockets that exist in a map only have no memory."""
    for queue in view.topology()["queues"]:
        assert queue["ring"] == queue["pool"] == -1


def test_a_cpu_far_from_all_pfs_crosses():
    """There is no PF on its socket: shown, and told once of Rx and Tx."""
    with Testpmd([*vdevs.nic("A", pfs=1), vdevs.octo(pfs=1)]) as pmd:
        view = View(pmd)
        pmd.start("flowgen")
        pmd.wait_until("polled", lambda: all(
            queue["cpu"] >= 0 for queue in view.topology()["queues"]))
        for kind in ("Rx", "Tx"):
            pmd.wait_until("told", lambda text=f"{kind} queue 1 crosses sockets: its cpu and its "
                           "home PF": text in pmd.text)
        pmd.stop_forwarding()
        assert [(leg["queue"], leg["index"], leg["home"], leg["crosses"])
                for leg in ask(pmd, "legs", view.port)["legs"]] == \
            [("rx", 0, 1, "none"), ("rx", 1, 1, "cpu"),
             ("tx", 0, 1, "none"), ("tx", 1, 1, "cpu")]
        assert [queue["crosses"] for queue in view.topology()["queues"]] == \
            ["none", "cpu"]
        assert pmd.text.count("crosses sockets") == 2


def test_strays_keys_and_sums(pmd, view):
    """Sums are those of the queues; the fraction is a decimal string."""
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda:
                   view.strays()["stray_packets"] > 1000)
    pmd.stop_forwarding()
    strays = view.strays()
    for kind in ("home_packets", "stray_packets"):
        assert strays[kind] == sum(q[kind] for q in strays["queues"])
        assert strays[kind] == view.xstats()[f"rx_{kind}"]
    share = strays["stray_packets"] / \
        (strays["stray_packets"] + strays["home_packets"])
    assert isinstance(strays["stray_fraction"], str)
    assert float(strays["stray_fraction"]) == pytest.approx(share, abs=1e-3)


def test_steering_pages(pmd, view):
    """Many rules come page by page, each below 16 KiB, none twice."""
    flows = [packets.Flow("udp", f"10.{i // 200}.9.{i % 200 + 1}", 65000,
                          "10.255.255.254", 65001) for i in range(NB_RULES)]
    for i, flow in enumerate(flows):
        flow_id(pmd.cmd(flow.rule(view.port, i % 2)))
    _check_pages(pmd, view.port, [f.src for f in flows])
    page = ask(pmd, "steering", view.port, 10, 5)
    assert page["start"] == 10 and page["total"] == NB_RULES
    assert [r["src"] for r in page["rules"]] == \
        [f.src for f in flows[10:15]]
    past = ask(pmd, "steering", view.port, NB_RULES)
    assert past["rules"] == [] and past["total"] == NB_RULES
    pmd.cmd(f"flow flush {view.port}")


def _check_pages(pmd, port: int, sources: list) -> None:
    found = []
    while len(found) < len(sources):
        page = ask(pmd, "steering", port, len(found), 10000)
        assert page["rules"]
        assert len(pmd.telemetry.last_reply) <= 16 * 1024
        found += [r["src"] for r in page["rules"]]
    assert found == sources


def test_steering_pages_of_long_rules(pmd, view):
    """The longest addresses fit too."""
    flows = [packets.Flow("sctp", f"fd01:1111:2222:3333:4444:5555:6666:{i:x}",
                          65535, "fd02:1111:2222:3333:4444:5555:6666:7777",
                          65534) for i in range(0x1000, 0x1000 + 130)]
    for flow in flows:
        flow_id(pmd.cmd(flow.rule(view.port, 0)))
    _check_pages(pmd, view.port, [f.src for f in flows])
    pmd.cmd(f"flow flush {view.port}")


def test_locks(pmd, view):
    """A control operation is counted as a hold of the control mutex."""
    before = pmd.telemetry.get("/octo/locks", view.port)
    assert list(before["holds"]) == ["0", *(str(1 << i) for i in range(21))]
    assert sum(before["holds"].values()) > 0
    pmd.cmd(f"set promisc {view.port} off")
    after = pmd.telemetry.get("/octo/locks", view.port)
    assert sum(after["holds"].values()) > sum(before["holds"].values())
    assert all(after["holds"][us] >= n for us, n in before["holds"].items())
    assert after["longest_ns"] > 0


def test_xstats_pages():
    """All of them, also of more queues than a reply has room for, in the order of ethdev."""
    with Testpmd(vdevs.looped(queues=48), queues=48) as pmd:
        view, found = View(pmd), {}
        while True:
            page = pmd.telemetry.get("/octo/xstats", view.port, len(found))
            assert page["port"] == view.port and page["start"] == len(found)
            assert len(pmd.telemetry.last_reply) < 16 * 1024
            if not page["xstats"]:
                break
            assert not set(page["xstats"]) & set(found)
            found.update(page["xstats"])
        assert len(found) == page["total"] > 512
        told = view.xstats()
        assert list(found) == list(told)
        still = {name: value for name, value in found.items() if value == told[name]}
        assert still.keys() >= {"rx_good_packets", "rx_q47_home_packets", "tx_q47_pf1_packets",
                                "pf0_tx_good_bytes", "pf1_rx_missed_errors"}


@pytest.mark.many(asan=9)
@pytest.mark.parametrize("command", ["topology", "legs", "steering", "locks", "strays",
                                     "xstats"])
@pytest.mark.parametrize("params", [
    (), ("",), ("x",), (-1,), ("{wrapped}",), ("+{port}",), (99,), (70000,), ("{pf}",),
    ("{port}x",), ("{port}", "y"),
], ids=["none", "empty", "word", "negative", "negative-of-64-bits", "plus", "no-such-port",
        "beyond-16-bit", "a-pf", "tail", "second-word"])
def test_bad_parameters(pmd, view, command, params):
    """A wrong parameter is answered by null, and the next one is right."""
    pf = view.pf_ports()[0]
    words = [str(p).format(port=view.port, pf=pf, wrapped=view.port - 2 ** 64) for p in params]
    assert pmd.telemetry.get(f"/octo/{command}", *words) is None
    assert pmd.telemetry.get(f"/octo/{command}", view.port) is not None


@pytest.mark.parametrize("params", [(-1,), (0, -1), ("a",), (0, "b"),
                                    (0, 1, 2)])
def test_bad_page(pmd, view, params):
    """Start and length are numbers, and there is no third."""
    assert ask(pmd, "steering", view.port, *params) is None
