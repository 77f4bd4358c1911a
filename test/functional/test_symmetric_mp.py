# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's symmetric_mp: two processes, each with a queue of two octo ports.

    test - veth - net_af_packet - NIC A - net_octo0 \\  queue 0: the primary
                                                     >
    test - veth - net_af_packet - NIC B - net_octo1 /  queue 1: the secondary

The primary runs on CPU 0, on socket 0, the secondary on CPU 1, on socket 1.
"""

from collections import defaultdict
from typing import Dict, Iterator, List

import pytest

from octotest import env, hugepages, packets, vdevs
from octotest.process import Process
from octotest.telemetry import Telemetry
from octotest.testpmd import wait_until
from octotest.veth import Wire
from octotest.view import ask

FLOWS = packets.flows(16)  # RSS on addresses gives both queues some
PORTS = ("net_octo0", "net_octo1")

# What a NIC counts of frames that went nowhere.
LOST = ("dropped", "lost_in_dead_rings", "lost_in_tx_rings", "tx_dropped",
        "lost_on_wire")


class Pair:
    """The two processes and the ends of the cables."""

    def __init__(self, huge_dir: str, cables) -> None:
        self.cables = cables
        self.prefix = env.unique()
        args = [*(vdevs.octo(i, 2 * i) for i in (0, 1)),
                *(f"--vdev=net_af_packet{i},iface={cable.name},blocksz=4096,"
                  "framesz=2048,framecnt=2048"
                  for i, cable in enumerate(cables))]
        for i in (0, 1):
            args += vdevs.nic("AB"[i], 2 * i, 2, f"net_af_packet{i}")
        self.primary = self._start(0, "--proc-type=primary", "-m", "256",
                                   f"--huge-dir={huge_dir}", *args,
                                   *hugepages.SHARED)
        self.telemetry = Telemetry(self.prefix)
        self.secondary = self.start_secondary()
        self._sequence = 0

    def _start(self, number: int, *eal: str) -> Process:
        """Each lcore has a cache in the shared pool: no two may be alike."""
        process = Process([
            env.find_built("octo-symmetric_mp"), "--no-pci",
            f"--lcores={number}@{number}", f"--file-prefix={self.prefix}",
            *eal, "--", "-p", "ffff", "--num-procs=2", f"--proc-id={number}"])
        process.expect(f"lcore {number} using queue {number} of each port",
                       timeout=60)
        return process

    def start_secondary(self) -> Process:
        """Another, when the first is gone."""
        self.secondary = self._start(1, "--proc-type=secondary")
        return self.secondary

    def send(self, source: int, each: int) -> List[bytes]:
        """Frames of every flow, no two alike, into one cable."""
        frames = []
        for _ in range(each):
            for i, flow in enumerate(FLOWS):
                self._sequence += 1
                frames.append(bytes(flow.packet(
                    packets.flow_mac(i), payload=f"{self._sequence:8}".encode()
                    .ljust(64, b"."))))
                self.cables[source].send(frames[-1])
        return frames

    def exchange(self, each: int) -> None:
        """All arrive at the other end, once and in order; both directions."""
        for source in (0, 1):
            sent = self.send(source, each)
            got = self.cables[1 - source].receive(len(sent))
            assert by_flow(got) == by_flow(sent)

    def queues(self, name: str) -> List[dict]:
        """Homes and strays of a port's queues, as the primary tells."""
        port = self.port(name)
        return [{**home, **stray} for home, stray in
                zip(ask(self.telemetry, "topology", port)["queues"],
                    ask(self.telemetry, "strays", port)["queues"])]

    def states(self, name: str) -> List[str]:
        """Of a port's PFs."""
        return [pf["state"] for pf in
                ask(self.telemetry, "topology", self.port(name))["pfs"]]

    def fault(self, *words: object) -> bool:
        """Set it; whether that was possible."""
        return self.telemetry.get("/mpsim/fault", *words) == "done"

    def lost(self) -> int:
        """Frames that NICs, or ports that changed PFs, did not pass on."""
        accounts = [self.telemetry.get("/mpsim/account", nic)
                    for nic in "AB"]
        return sum(account[name] for account in accounts for name in LOST
                   ) + sum(self.telemetry.get("/ethdev/xstats", self.port(name))
                           ["tx_switch_refused"] for name in PORTS)

    def port(self, name: str) -> int:
        """The port's number."""
        return next(n for n in self.telemetry.get("/ethdev/list")
                    if self.telemetry.get("/ethdev/info", n)["name"] == name)


def by_flow(frames: List[bytes]) -> Dict[bytes, List[bytes]]:
    """The payloads of each flow, as the source MAC names it, in order."""
    flows = defaultdict(list)
    for frame in frames:
        flows[frame[6:12]].append(frame)
    return flows


@pytest.fixture
def pair(program, huge_dir) -> Iterator[Pair]:
    """Both processes forward between the cables."""
    program("ip")
    if env.find_built("octo-symmetric_mp") is None:
        pytest.skip("symmetric_mp is not built")
    cables: List[Wire] = []
    try:
        for _ in range(2):
            cables.append(Wire())
        made = Pair(huge_dir, cables)
        yield made
        made.telemetry.close()
        for process in (made.secondary, made.primary):
            if process.alive():
                assert process.stop() == 0
    finally:
        for cable in cables:
            cable.close()


def test_each_process_serves_its_queue(pair):
    """Nothing is lost, doubled or swapped; each queue is at home with its
    process; what comes in by the other PF is counted as a stray."""
    for _ in range(4):
        pair.exchange(20)
    wait_until("homes", lambda: all(
        [q["home_pf"] for q in pair.queues(name)] == [0, 1]
        for name in PORTS))
    for name in PORTS:
        primary, secondary = pair.queues(name)
        assert primary["home_packets"] > 0 == primary["stray_packets"]
        # All enters by PF 0, and the secondary's home is PF 1.
        assert secondary["stray_packets"] > 0
        sent = pair.telemetry.get("/ethdev/xstats", pair.port(name))
        assert sent["tx_q0_pf0_packets"] > 0 == sent["tx_q0_pf1_packets"]
        assert sent["tx_q1_pf1_packets"] > 0 == sent["tx_q1_pf0_packets"]


def _at_home(pair) -> int:
    """What the primary got by the first port."""
    return pair.queues(PORTS[0])[0]["home_packets"]


def test_secondary_killed_and_started_again(pair):
    """Meanwhile the primary goes on; then the queue is served again."""
    for _ in range(3):
        before = _at_home(pair)
        pair.exchange(10)
        share = _at_home(pair) - before
        pair.secondary.kill()
        sent = pair.send(0, 10)
        got = pair.cables[1].receive(share)
        assert 0 < len(got) == share < len(sent)
        assert _at_home(pair) == before + 2 * share
        pair.start_secondary()
        got += pair.cables[1].receive(len(sent) - share)  # waited in the rings
        assert by_flow(got) == by_flow(sent)
    pair.exchange(10)


def test_a_pf_comes_back_under_both(pair):
    """Whoever did not bring it back polls its new queues all the same, and
    sends by them."""
    port = pair.port(PORTS[0])

    def states() -> List[str]:
        return [pf["state"] for pf in
                ask(pair.telemetry, "topology", port)["pfs"]]

    pair.exchange(5)
    for pf in ("net_mpsim1", "net_mpsim0"):
        assert pair.telemetry.get("/mpsim/fault", pf, "remove") == "done"
        wait_until("the PF is gone", lambda: "gone" in states())
        wait_until("the PF can be plugged", lambda: pair.telemetry.get(
            "/mpsim/fault", pf, "plug") == "done")
        wait_until("the PF is back", lambda: states() == 2 * ["started"])
        wait_until("homes", lambda: [
            q["home_pf"] for q in pair.queues(PORTS[0])] == [0, 1])
        pair.exchange(5)
    assert pair.primary.alive() and pair.secondary.alive()
    # What ethdev says of a burst on a port that is gone.
    assert "for not ready port" not in pair.secondary.text


def _assert_in_order(got: List[bytes], sent: List[bytes]) -> None:
    """Of each flow, some are missing at most."""
    all_sent = by_flow(sent)
    for flow, frames in by_flow(got).items():
        left = iter(all_sent[flow])
        assert all(frame in left for frame in frames)


@pytest.mark.parametrize("fault", [("eject",), ("surprise", 2000)])
def test_pfs_come_and_go_under_load(pair, fault):
    """What a PF had when it went is counted; the rest arrives, in order."""
    sent: List[bytes] = []
    got: List[bytes] = []
    before = pair.lost()

    def go_on() -> None:
        frames = pair.send(0, 2)
        sent.extend(frames)
        got.extend(pair.cables[1].receive(len(frames), timeout=0.2))

    for pf in ("net_mpsim1", "net_mpsim0"):
        assert pair.fault(pf, *fault)
        wait_until("the PF is gone", lambda:
                   go_on() or "gone" in pair.states(PORTS[0]))
        go_on()
        wait_until("it can be plugged", lambda: pair.fault(pf, "plug"))
        wait_until("it is back", lambda:
                   go_on() or pair.states(PORTS[0]) == 2 * ["started"])
        go_on()
    wait_until("all are accounted for", lambda:
               got.extend(pair.cables[1].receive(len(sent), timeout=0.2)) or
               len(sent) - len(got) == pair.lost() - before)
    _assert_in_order(got, sent)
    assert pair.primary.alive() and pair.secondary.alive()
