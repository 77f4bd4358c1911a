# SPDX-License-Identifier: BSD-3-Clause
"""Pollers sleep at an octo port over two igb or two virtio-net, one on each node: their drivers are
DPDK's own, their interrupts come by vfio-pci and the guest's kernel.
"""

import random
import re
from typing import List, Sequence

import pytest

from octotest import env, packets
from octotest.packets import Flow
from octotest.process import Process
from octotest.testpmd import wait_until
from octovm import qemu
from octovm.wire import Wire

from conftest import MAC

PORT = 2  # after the PFs'
# l3fwd-power has a route for each port: 3.1.1.0/24 is that of port 2
FLOWS = [Flow("udp", "192.0.2.1", 1024 + 97 * i * i, "3.1.1.1", 2000 + i) for i in range(8)]
WRITTEN = 26  # bytes in front of the IP addresses: it writes MAC addresses, TTL, checksum
SINGLE_FRAMES = 100
# What the NIC is called, its queues, and on which CPU l3fwd-power polls each
KINDS = {"igb": ("igb", 2, "--lcores=0@1,1@2"),
         "virtio": ("virtio-net-pci", 1, "--lcores=0@2")}
SLEEPER = env.test_program("octo-test-secondary")


@pytest.fixture(scope="module")
def wires():
    """The cables of the two igb, and those of the two virtio-net."""
    made = {kind: Wire() for kind in KINDS}
    yield made
    for wire in made.values():
        wire.close()


@pytest.fixture(scope="module")
def guest(boot, wires):
    """A machine with all of them."""
    kinds = [kind for kind in KINDS if qemu.has_device(KINDS[kind][0])]
    booted = boot(qemu.Machine(pfs=[wires[kind].nic(i, KINDS[kind][0], MAC)
                                    for kind in kinds for i in range(2)]))
    booted.bind_vfio()
    booted.first_of = {kind: 2 * i for i, kind in enumerate(kinds)}  # number of its first PF
    return booted


@pytest.fixture(params=KINDS)
def kind(request, guest):
    """A kind of NIC."""
    if request.param not in guest.first_of:
        pytest.skip(f"this QEMU has no {request.param}")
    return request.param


def eal(guest, kind: str, lcores: str) -> List[str]:
    """An octo port over the PFs of a kind."""
    pfs = guest.machine.addresses()[guest.first_of[kind]:][:2]
    return [lcores, "--in-memory", "--socket-mem=128,128", "--iova-mode=pa",
            *(f"-a{pf}" for pf in pfs), f"--vdev=net_octo0,learn=off,pf={pfs[0]},pf={pfs[1]}"]


def frame_of(number: int) -> bytes:
    """For the port."""
    return bytes(FLOWS[number % len(FLOWS)].packet(dst_mac=MAC, payload=b"%018d" % number))


class Sleeper:
    """octo-test-secondary in the guest: it sleeps without a time limit until it gets packets."""

    def __init__(self, guest, kind: str) -> None:
        if not SLEEPER.exists():
            pytest.skip(f"no {SLEEPER.name} was built")
        self.process: Process = guest.process(str(SLEEPER), *eal(guest, kind, "--lcores=0@1"),
                                              *env.plugin_args())
        self.process.expect("ready", timeout=60)
        for words in (f"setup {PORT} 1", f"start {PORT}"):
            start = len(self.process.text)
            self.process.send(words)
            self.process.expect(r"answer 0\b", start, 60)

    def sleep(self) -> int:
        """Let it fall asleep; where its answer will be."""
        start = len(self.process.text)
        self.process.send(f"sleep {PORT} 0")
        self.process.expect("asleep", start)
        return start

    def wake(self, start: int, wire: Wire, pf: int, number: int = 0) -> None:
        """By one frame."""
        wire.send(pf, frame_of(number))
        self.process.expect(r"answer 1\b", start)

    def check_each_frame_wakes(self, wire: Wire, pfs: Sequence[int]) -> None:
        """One frame at a time, by any of these PFs."""
        rng = random.Random(len(pfs))
        for number in range(SINGLE_FRAMES):
            self.wake(self.sleep(), wire, rng.choice(pfs), number)


def test_each_frame_wakes(guest, wires, kind):
    """Also those by the PF that is not the home of the queue. A PF is unplugged while the poller
    sleeps, and comes back while it sleeps."""
    sleeper, wire, lost = Sleeper(guest, kind), wires[kind], guest.first_of[kind]
    said = sleeper.process.expect
    address = guest.machine.address(lost)
    sleeper.check_each_frame_wakes(wire, (0, 1))
    start = sleeper.sleep()
    guest.qemu.monitor.unplug(lost)
    said(rf"port {PORT}: PF {address} is gone", start, 60)
    sleeper.wake(start, wire, 1)
    sleeper.check_each_frame_wakes(wire, (1,))
    start = sleeper.sleep()
    guest.plug(lost)
    said(rf"port {PORT}: PF {address} is back", start, 60)
    sleeper.wake(start, wire, 1)
    sleeper.check_each_frame_wakes(wire, (0, 1))


class L3fwdPower:
    """DPDK's example, unmodified, with --interrupt-only."""

    def __init__(self, guest, kind: str) -> None:
        program = env.find_built("octo-l3fwd-power")
        if program is None:
            pytest.skip("l3fwd-power is not built")
        _, queues, lcores = KINDS[kind]
        self._guest = guest
        self.process: Process = guest.process(
            str(program), *eal(guest, kind, lcores), "--", "-p", hex(1 << PORT), "-P",
            "--interrupt-only", "--parse-ptype",
            "--config=" + ",".join(f"({PORT},{i},{i})" for i in range(queues)))
        for queue in range(queues):
            self.process.expect(f"entering main interrupt loop on lcore {queue}", timeout=60)

    def is_asleep(self) -> bool:
        """Does no thread run?"""
        states = self._guest.run("cut -d' ' -f3 /proc/$(pidof octo-l3fwd-power)/task/*/stat")
        return set(states.split()) == {"S"}


def test_l3fwd_power_sleeps(guest, wires, kind):
    """An interrupt wakes it: every 10 ms it wakes by itself, and polls, too."""
    app, wire = L3fwdPower(guest, kind), wires[kind]
    wait_until("all threads sleep", app.is_asleep)

    def has_woken():
        sent = [(number % 2, frame_of(number)) for number in range(2 * len(FLOWS))]
        back = wire.exchange(sent)
        assert sorted(frame[WRITTEN:] for _, frame in back) == \
            sorted(frame[WRITTEN:] for _, frame in sent)
        app.process.read()
        return re.search(rf"is waked up from rx interrupt on port {PORT}", app.process.text)
    wait_until("an interrupt wakes it", has_woken)
    wait_until("all threads sleep", app.is_asleep)
    assert "won't enable" not in app.process.text
    app.process.stop()
