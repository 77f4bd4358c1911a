# SPDX-License-Identifier: BSD-3-Clause
"""Flows that change their queue under traffic: nothing is lost, or out of order.

    veth - net_af_packet - NIC A - octo port of testpmd, two lcores

A packet's number is its source MAC, which testpmd prints before it polls again.
"""

import re

import pytest

from octotest import env, packets, vdevs
from octotest.testpmd import PROMPT, Testpmd, parse_seen
from octotest.veth import Wire
from octotest.view import View

FLOW = packets.flows(1)[0]
MOVES = 8
# Sent and not seen yet: more than a few would not fit anywhere.
UNDER_WAY = 100
# net_af_packet hears all interfaces before it is bound to one: other tests' packets, too.
OURS = "02:F2:"

pytestmark = pytest.mark.usefixtures("root")


class Traveller:
    """A flow on its way through testpmd, which prints each of its packets."""

    def __init__(self, pmd: Testpmd, wire: Wire) -> None:
        self.pmd = pmd
        self.wire = wire
        self.view = View(pmd)
        self.sent = 0

    def seen(self, start: int = 0) -> list:
        """Packets of ours."""
        return [s for s in parse_seen(self.pmd.text[start:]) if s.src.startswith(OURS)]

    def travel(self) -> None:
        """A few packets more, unless many are under way."""
        if self.sent - self.pmd.text.count(f"src={OURS}") < UNDER_WAY:
            for _ in range(4):
                mac = f"02:f2:00:00:{self.sent >> 8:02x}:{self.sent & 255:02x}"
                self.wire.send(bytes(FLOW.packet(mac)))
                self.sent += 1
        self.pmd.read(0.002)

    def travel_until(self, what: str, check) -> None:
        """Travel until it is true."""
        for _ in range(int(env.seconds(20) / 0.002)):
            if check():
                return
            self.travel()
        pytest.fail(f"never came true: {what}")

    def change(self, command: str, says: str) -> None:
        """A command is given and obeyed while packets come."""
        start = len(self.pmd.text)
        self.pmd.send(command)
        self.travel_until(command, lambda: re.search(
            says, self.pmd.text[start:]))

    def come_by(self, queue: int) -> None:
        """Packets come by this queue."""
        start = len(self.pmd.text)
        self.travel_until(f"queue {queue}", lambda: sum(
            s.queue == queue for s in self.seen(start)) > 20)

    def arrive(self) -> list:
        """The numbers of all packets, in the order in which they were seen."""
        pmd = self.pmd
        pmd.wait_until("all are there", lambda: pmd.text.count(
            f"src={OURS}") >= self.sent)
        start = len(pmd.text)
        pmd.send("stop")
        pmd.expect(r"\nDone\.\s+" + PROMPT, start)
        return [int(s.src[12:].replace(":", ""), 16)
                for s in self.seen()]


@pytest.fixture
def traveller():
    """PF 0 is slow; queue 0 is at home there, queue 1 on PF 1."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    with Wire() as wire:
        args = [f"--vdev=net_af_packet0,iface={wire.name}",
                *vdevs.nic("A", 0, 2, "net_af_packet0", latency_us=2000),
                vdevs.octo(0, grace_us=3000, fence_timeout_ms=5000,
                           linger_ms=5000)]
        with Testpmd(args, binary=str(binary), plugins=False) as pmd:
            yield Traveller(pmd, wire)


def test_a_flow_changes_queues_in_order(traveller):
    """By `octo move`, and by unsteering and steering it again."""
    pmd, port, words = traveller.pmd, traveller.view.port, FLOW.words()
    pmd.cmds([f"set portlist {port}", "set fwd rxonly", "set verbose 1",
              "start"])
    pmd.wait_until("homes known", lambda: sorted(
        traveller.view.homes().values()) == [0, 1])
    pmd.cmd(f"octo steer {port} {words} queue 0")
    traveller.come_by(0)
    for i in range(MOVES):
        queue = (i + 1) % 2
        if i % 4 == 3:
            traveller.change(f"octo unsteer {port} {words}",
                             r"is not steered any more")
            traveller.change(f"octo steer {port} {words} queue {queue}",
                             rf"goes to queue {queue}\b")
        else:
            traveller.change(f"octo move {port} {words} queue {queue}",
                             rf"goes to queue {queue} from now on")
        traveller.come_by(queue)
    assert traveller.arrive() == list(range(traveller.sent))
    assert traveller.view.xstats()["fence_timeouts"] == 0
