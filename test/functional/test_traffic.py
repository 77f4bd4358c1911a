# SPDX-License-Identifier: BSD-3-Clause
"""Real TCP through real applications: the main job.

    namespace 1 - veth - net_af_packet - NIC A - octo port \\
                                             l3fwd or testpmd
    namespace 2 - veth - net_af_packet - NIC B - octo port /
"""

import os
import re
from pathlib import Path
from typing import Iterator, List

import pytest

from octotest import env, fetch, iperf, l3fwd, vdevs
from octotest.iperf import STREAMS
from octotest.netns import Host
from octotest.packets import Flow
from octotest.process import Process
from octotest.telemetry import Telemetry
from octotest.testpmd import Testpmd, wait_until
from octotest.view import View, ask, forwarded

# Of the octo ports: after two wires and all PFs.
PORTS = (4, 5) if vdevs.SLICED else (6, 7)


@pytest.fixture(autouse=True)
def tools(program) -> None:
    """Skip by the name of what is missing."""
    for name in ("ip", "ethtool", "ping", "iperf3", "curl", "ss"):
        program(name)


TIERS = ("exact", "partition", "queue", "none")


def _on_tiers(fixture: str):
    """Run the test in each tier; others run in the best that is not asked for."""
    # what sanitizers look for is found by less traffic: test_tiers.py has every tier
    tiers = TIERS[:2] if env.ASAN else TIERS
    return pytest.mark.parametrize(fixture, tiers, indirect=True)


@pytest.fixture
def learn() -> str:
    """Strays are to teach nothing, unless a test has it otherwise."""
    return "off"


def _wired(hosts, tier: str, learn: str = "off") -> List[str]:
    """Two NICs with a namespace at the end of each wire."""
    args = []
    for i, host in enumerate(hosts):
        args.append(f"--vdev=net_af_packet{i},iface={host.wire},"
                    "blocksz=4096,framesz=2048,framecnt=2048")
    for i, host in enumerate(hosts):
        args += vdevs.nic("AB"[i], 2 * i, 2, f"net_af_packet{i}",
                          mac=host.gateway_mac)
    return [*args, vdevs.octo(0, 0, tier=tier, learn=learn),
            vdevs.octo(1, 2, tier=tier, learn=learn)]


@pytest.fixture
def routed(request, hosts, learn, tmp_path) -> Iterator[tuple]:
    """l3fwd between the hosts: (host 1, host 2, l3fwd, telemetry)."""
    for host in hosts:
        host.route_through()
        host.small_windows()
    tier = getattr(request, "param", "exact")
    process, telemetry = l3fwd.start(hosts, PORTS, _wired(hosts, tier, learn), tmp_path)
    for port in PORTS:
        assert ask(telemetry, "topology", port)["tier"] == tier
    yield (*hosts, process, telemetry)
    telemetry.close()
    if process.alive():
        assert process.stop() == 0


@pytest.fixture
def bridged(request, hosts) -> Iterator[tuple]:
    """testpmd in io mode between the hosts: (host 1, host 2, testpmd)."""
    for host in hosts:
        host.small_windows()
        host.ip("addr", "add", f"10.9.0.{host.number}/24", "dev", host.inner)
        host.ip("addr", "add", f"fd09::{host.number}/64", "dev", host.inner,
                "nodad")
        host.ip4, host.ip6 = f"10.9.0.{host.number}", f"fd09::{host.number}"
    tier = getattr(request, "param", "exact")
    with Testpmd(_wired(hosts, tier), memory=256, mbufs=16384) as pmd:
        if tier != "partition":  # which it would leave for that
            pmd.cmd("port config all rss all")
        pmd.start("io")
        yield (*hosts, pmd)
        if not pmd.alive():  # ended by a failure that is reported
            return
        summary = pmd.stop_forwarding()
        for name in ("net_octo0", "net_octo1"):
            view = View(pmd, name)
            assert view.topology()["tier"] == tier
            view.assert_lost_nothing()
            done = forwarded(summary, view.port)
            assert done["TX-dropped"] == 0 and done["RX-dropped"] == 0


def _ping(src: Host, dst: Host) -> None:
    """Both families; each of the first five requests is answered.

    Without a deadline ping waits for the last answer no longer than twice the
    slowest so far; with it, it goes on asking until five have come.
    """
    for flag, address in (("-4", dst.ip4), ("-6", dst.ip6)):
        out = src.run("ping", flag, "-c", "5", "-i", "0.05", "-w",
                      str(round(env.seconds(10))), address)
        answered = {int(n) for n in re.findall(r"icmp_seq=(\d+) ", out)}
        assert answered >= {1, 2, 3, 4, 5}, out


def _iperf_both_ways(src: Host, dst: Host) -> None:
    for direction in ([], ["-R"]):
        iperf.send(src, dst, dst.ip4, 48, *direction)
    iperf.send(src, dst, dst.ip6, 16)


def _lost_nothing(telemetry: Telemetry) -> None:
    """No drop in any octo port or PF; the wires' own are not ours."""
    for port in range(2, PORTS[-1] + 1):
        stats = telemetry.get("/ethdev/stats", port)
        for name in ("imissed", "ierrors", "rx_nombuf", "oerrors"):
            assert stats[name] == 0, (port, stats)


def _assert_strays(tier: str, queues: List[dict]) -> None:
    """Without rules all enters by PF 0, which is home of queue 0 only.

    The RETA of slices names home legs only.
    """
    for queue in queues:
        assert queue["home_packets"] + queue["stray_packets"] > 0
    if vdevs.SLICED:
        assert sum(q["stray_packets"] for q in queues) == 0
        return
    assert queues[0]["stray_packets"] == 0
    if tier == "partition":
        assert queues[1]["stray_packets"] == 0
    else:
        assert queues[1]["home_packets"] == 0


@_on_tiers("routed")
def test_l3fwd_ping(routed):
    """IPv4 and IPv6, both ways, several addresses: both queues at work."""
    one, two, _, telemetry = routed
    _ping(one, two)
    _ping(two, one)
    for i in range(10, 26):
        one.ip("addr", "add", f"10.1.0.{i}/24", "dev", one.inner)
        one.run("ping", "-c", "1", "-W", round(env.seconds(5)), "-I", f"10.1.0.{i}", two.ip4)
    for port in PORTS:
        topology = ask(telemetry, "topology", port)
        assert [q["socket"] for q in topology["queues"]] == [0, 1]
        assert [q["home_pf"] for q in topology["queues"]] == [0, 1]
        _assert_strays(topology["tier"],
                       ask(telemetry, "strays", port)["queues"])
    _lost_nothing(telemetry)


@_on_tiers("routed")
def test_l3fwd_iperf3(routed):
    """TCP with 8 streams both ways."""
    one, two, _, telemetry = routed
    _iperf_both_ways(one, two)
    _lost_nothing(telemetry)


def test_l3fwd_http(routed, tmp_path):
    """A 64 MiB file has the same SHA-256 at the other end."""
    one, two, _, telemetry = routed
    fetch.big_file(one, two, tmp_path)
    _lost_nothing(telemetry)


@_on_tiers("bridged")
def test_testpmd_ping_iperf3_http(bridged, tmp_path):
    """The same through testpmd in io mode."""
    one, two, _ = bridged
    _ping(one, two)
    _ping(two, one)
    _iperf_both_ways(one, two)
    fetch.big_file(one, two, tmp_path)


def _reverse(flow: Flow) -> Flow:
    return Flow(flow.proto, flow.dst, flow.dport, flow.src, flow.sport)


def _steer_all(pmd, views, flows: List[Flow]) -> None:
    for i, flow in enumerate(flows):
        for view, tuple_ in zip(views, (flow, _reverse(flow))):
            out = pmd.cmd(tuple_.rule(view.port, i % 2))
            assert "created" in out, out


def _strays_end(pmd, views) -> None:
    """While much comes home, no stray at all comes in."""
    def window() -> bool:
        before = [v.strays() for v in views]
        for view, then in zip(views, before):
            pmd.wait_until("home traffic", lambda v=view, t=then: v.strays()[
                "home_packets"] > t["home_packets"] + 3000)
        return all(v.strays()["stray_packets"] == t["stray_packets"]
                   for v, t in zip(views, before))
    pmd.wait_until("a window without strays", window, 10)


@pytest.mark.parametrize("family", ["4", "6"])
def test_steering_while_it_runs(bridged, family):
    """Connections stay up, strays end, nothing is lost (see the fixture)."""
    one, two, pmd = bridged
    views = [View(pmd, n) for n in ("net_octo0", "net_octo1")]
    address = two.ip4 if family == "4" else two.ip6

    def steer() -> None:
        for view in views:
            pmd.cmd(f"flow flush {view.port}")
        flows = wait_until("connections", lambda: (
            lambda f: f if len(f) == STREAMS + 1 else None)(
                iperf.connections(one, address)))
        if not vdevs.SLICED:  # which have none without rules either
            pmd.wait_until("strays", lambda: all(
                v.strays()["stray_packets"] > 100 for v in views))
        _steer_all(pmd, views, flows)
        _strays_end(pmd, views)
        assert set(iperf.connections(one, address)) == set(flows)
    result = iperf.outlive(one, two, address, steer)
    assert len(result["end"]["streams"]) == STREAMS
    assert all(s["receiver"]["bytes"] > 0 for s in result["end"]["streams"])
    for view in views:
        assert view.steering()["total"] == STREAMS + 1
        assert all(r["hits"] > 0 for r in view.steering()["rules"])


def _threads(process: Process) -> List[int]:
    """Those of lcore 0 and lcore 1."""
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        if re.match(r"\w+-worker-?1$", (task / "comm").read_text()):
            return [process.pid, int(task.name)]
    raise AssertionError("lcore 1 has no thread")


class _Port:
    """An octo port of l3fwd, which has no command line."""

    def __init__(self, telemetry: Telemetry, port: int) -> None:
        self.topology = lambda: ask(telemetry, "topology", port)
        self.strays = lambda: ask(telemetry, "strays", port)


def _fault(telemetry: Telemetry, pf: int, *what: object) -> None:
    """To this PF of both NICs."""
    names = (vdevs.pf_names()[pf], vdevs.pf_names(2)[pf])
    answers = {name: telemetry.get("/mpsim/fault", name, *what) for name in names}
    assert answers == dict.fromkeys(names, "done")


def _losses(telemetry: Telemetry) -> dict:
    """What NICs and octo ports have lost or dropped so far, whoever is to blame."""
    found = {}
    for nic in "AB":
        account = telemetry.get("/mpsim/account", nic)
        found[nic] = {name: account[name] for name in (
            "dropped", "lost_in_dead_rings", "lost_on_wire", "tx_dropped",
            "lost_in_tx_rings")}
    for port in PORTS:
        stats = telemetry.get("/ethdev/stats", port)
        found[port] = {name: stats[name] for name in (
            "imissed", "ierrors", "rx_nombuf", "oerrors")}
    return found


def _return(telemetry: Telemetry, streams: iperf.Streams, name: str, happen) -> None:
    """A PF of both comes back, and no packet is lost for it."""
    before = _losses(telemetry)
    again = streams.planned(name, happen, {0: 0, 1: 1})
    assert _losses(telemetry) == before
    assert again == 0


@pytest.fixture
def streams(routed, record_property) -> Iterator[iperf.Streams]:
    """Through l3fwd, all at home."""
    one, two, process, telemetry = routed
    ports = [_Port(telemetry, p) for p in PORTS]
    made = iperf.Streams(one, two, ports, record_property, process)
    with made.running({0: 0, 1: 1}):
        yield made


@pytest.mark.parametrize("learn", ["on"])
def test_l3fwd_while_threads_move_and_pfs_die(routed, streams):
    """iperf3 goes on. Threads that go to the other socket and back cost no packet; a PF that
    dies takes some along, and its return costs no packet."""
    _, _, process, telemetry = routed

    def run_on(*cpus: int) -> None:
        for thread, cpu in zip(_threads(process), cpus):
            os.sched_setaffinity(thread, {cpu})

    again = []
    for _ in range(3):
        again.append(streams.planned("threads change sockets", lambda: run_on(1, 0), {0: 1, 1: 0}))
        again.append(streams.planned("and back", lambda: run_on(0, 1), {0: 0, 1: 1}))
    _lost_nothing(telemetry)
    assert again == [0] * 6
    for pf in (1, 0):
        streams.unplanned(f"PF {pf} dies", lambda p=pf: _fault(telemetry, p, "link", "down"),
                          {0: 1 - pf, 1: 1 - pf})
        _return(telemetry, streams, f"PF {pf} returns",
                lambda p=pf: _fault(telemetry, p, "link", "up"))


@pytest.mark.parametrize("learn", ["on"])
def test_l3fwd_while_pfs_are_taken_out_and_put_back(routed, streams):
    """iperf3 goes on, and l3fwd knows nothing of it."""
    _, _, process, telemetry = routed

    def put_back(pf: int) -> None:
        for name in (vdevs.pf_names()[pf], vdevs.pf_names(2)[pf]):
            wait_until("the slot is free", lambda n=name: telemetry.get(
                "/mpsim/fault", n, "plug") == "done", process=process)

    for how, pf in (("eject", 1), ("surprise", 0)):
        streams.unplanned(f"PF {pf}: {how}", lambda p=pf, h=how: _fault(telemetry, p, h),
                          {0: 1 - pf, 1: 1 - pf})
        _return(telemetry, streams, f"PF {pf} is put back", lambda p=pf: put_back(p))
