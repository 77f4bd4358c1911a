# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's example l3fwd-power, unmodified, over an octo port: it asks for Rx interrupts.

    test - veth - net_af_packet - NIC A - net_octo0 - l3fwd-power

Each port has a route; that of port 0 is 1.1.1.0/24.
"""

import re
import select
import socket
import time
from typing import Callable, Iterator, List, Sequence

import pytest

from octotest import env, packets, vdevs
from octotest.packets import Flow
from octotest.process import Process
from octotest.testpmd import wait_until
from octotest.veth import Wire

ETH_P_ALL = 3
WRITTEN = 26  # bytes in front of the IP addresses: it writes MAC addresses, TTL, checksum
FLOWS = [Flow("udp", "192.0.2.1", 1024 + 97 * i * i, "1.1.1.1", 2000 + i) for i in range(8)]
WARNING = r"Rx interrupts \(intr_conf\.rxq\) are not supported: PF {} has none " \
    r"for Rx queue 0 .* so poll the queues"
INTERRUPTS = [(), ("--interrupt-only",)]
# Modes that need nothing of the machine and no interrupts, and when they forward.
POLLING = {"--telemetry": "entering main telemetry loop on lcore",
           "--pmd-mgmt=pause": r"Port 0 Link up"}


def over_octo(cable: Wire, **more: object) -> List[str]:
    """An octo port over simulated PFs."""
    return [vdevs.octo(), *over_a_pf(cable, pfs=2, **more)]


def over_a_pf(cable: Wire, pfs: int = 1, **more: object) -> List[str]:
    """A simulated PF without an octo port."""
    return [*vdevs.nic("A", 0, pfs, "net_af_packet0", **more),
            f"--vdev=net_af_packet0,iface={cable.name},blocksz=4096,framesz=2048,framecnt=2048"]


class L3fwdPower(Process):
    """On lcores 0 and 1. The main lcore is a third one: it forwards nothing in some modes."""

    LCORES = ("--lcores=0@0,1@1,2@0", "--main-lcore=2")
    # a main lcore without a queue would wait for the others in a busy loop
    TWO_LCORES = ("--lcores=0@0,1@1",)

    def __init__(self, ports: Sequence[str], *mode: str, lcores: Sequence[str] = LCORES) -> None:
        super().__init__([
            env.find_built("octo-l3fwd-power"), "--no-pci", "--no-huge", "-m", "512",
            *lcores, f"--file-prefix={env.unique()}", *ports,
            "--", "-p", "1", "-P", "--config=(0,0,0),(0,1,1)", *mode])

    def await_wake(self, exchange: Callable[[], None]) -> None:
        """Exchange packets until it was an interrupt that woke it: every 10 ms it wakes by itself,
        and polls, too."""
        start = len(self.text)

        def has_woken() -> bool:
            exchange()
            self.read()
            return re.search(r"is waked up from rx interrupt on port 0 queue \d",
                             self.text[start:]) is not None
        wait_until("an interrupt wakes it", has_woken)
        self.expect(r"lcore \d sleeps until interrupt triggers", start)


class Taps:
    """The kernel's ends of net_tap ports, of which one sends and all receive."""

    def __init__(self, nb: int) -> None:
        self.names = [env.unique("ot") for _ in range(nb)]
        self._sockets: List[socket.socket] = []

    def open(self) -> None:
        """The ports exist now."""
        for name in self.names:
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            end.bind((name, ETH_P_ALL))
            self._sockets.append(end)

    def __enter__(self) -> "Taps":
        return self

    def __exit__(self, *_: object) -> None:
        for end in self._sockets:
            end.close()

    def exchange(self, tap: int, sent: List[bytes], timeout: float = 10.0) -> List[bytes]:
        """Send by one; return those that come back by any. The kernel sends frames of its own."""
        wanted = {frame[WRITTEN:] for frame in sent}
        got: List[bytes] = []
        deadline = time.monotonic() + env.seconds(timeout)
        for frame in sent:
            self._sockets[tap].send(frame)
        while len(got) < len(sent) and time.monotonic() < deadline:
            for end in select.select(self._sockets, [], [], 1)[0]:
                frame, address = end.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING and frame[WRITTEN:] in wanted:
                    got.append(frame)
        return got


@pytest.fixture
def cable(program) -> Iterator[Wire]:
    """The wire."""
    program("ip")
    if env.find_built("octo-l3fwd-power") is None:
        pytest.skip("l3fwd-power is not built")
    with Wire() as wire:
        yield wire


def frames() -> List[bytes]:
    """No two alike."""
    return [bytes(packet) for packet in packets.numbered(FLOWS, 20)]


def check_forwards(cable: Wire) -> None:
    """Every packet comes back."""
    sent = frames()
    for frame in sent:
        cable.send(frame)
    got = cable.receive(len(sent))
    assert sorted(frame[WRITTEN:] for frame in got) == \
        sorted(frame[WRITTEN:] for frame in sent)


def check_taps_forward(taps: Taps, tap: int) -> None:
    """Every packet that one of them sends comes back."""
    sent = frames()
    got = taps.exchange(tap, sent)
    assert sorted(frame[WRITTEN:] for frame in got) == sorted(frame[WRITTEN:] for frame in sent)


@pytest.mark.parametrize("mode", INTERRUPTS)
@pytest.mark.parametrize("ports", [over_a_pf, over_octo])
def test_sleeps_until_packets_come(cable, ports, mode):
    """Each lcore listens to its queue, and is woken."""
    app = L3fwdPower(ports(cable), *mode, lcores=L3fwdPower.TWO_LCORES)
    app.expect(r"Port 0 Link up", timeout=60)
    for lcore in range(2):
        app.expect(f"entering main interrupt loop on lcore {lcore}")
    for _ in range(3):
        app.await_wake(lambda: check_forwards(cable))
    assert app.alive()
    app.stop()
    assert "won't enable" not in app.text


@pytest.mark.parametrize("mode", INTERRUPTS)
def test_sleeps_over_taps(program, mode):
    """They count no packets, and their interrupts are not armed. Each of them is a stray leg."""
    program("ip")
    if env.find_built("octo-l3fwd-power") is None or not env.IS_ROOT:
        pytest.skip("l3fwd-power is not built, or no network interface can be made")
    with Taps(2) as taps:
        octo = vdevs.octo_devargs(0, ["net_tap0@0", "net_tap1@1"], tier="none")
        # so there are as many Tx queues, one of each lcore, as Rx queues
        app = L3fwdPower([f"--vdev={octo}", *(f"--vdev=net_tap{i},iface={name}"
                                              for i, name in enumerate(taps.names))],
                         *mode, lcores=L3fwdPower.TWO_LCORES)
        app.expect(r"Port 0 Link up", timeout=60)
        for lcore in range(2):
            app.expect(f"entering main interrupt loop on lcore {lcore}")
        taps.open()
        for i in range(10):
            app.await_wake(lambda tap=i % 2: check_taps_forward(taps, tap))
        assert app.alive()
        app.stop()
    assert "won't enable" not in app.text


@pytest.mark.parametrize("mode", INTERRUPTS)
def test_polls_where_pfs_have_no_interrupts(cable, mode):
    """The port names such a PF once, enabling an interrupt fails, and packets are forwarded."""
    app = L3fwdPower(over_octo(cable, caps="-rxintr"), *mode)
    for _ in range(2):
        app.expect(r"RX interrupt won't enable\.", timeout=60)
    app.expect(r"Port 0 Link up", timeout=60)
    check_forwards(cable)
    assert app.alive()
    app.stop()
    assert len(re.findall(WARNING.format("net_mpsim0"), app.text)) == 1


@pytest.mark.parametrize("mode", POLLING)
def test_modes_that_poll(cable, mode):
    """They ask for no interrupt, so nothing is said of one."""
    app = L3fwdPower(over_octo(cable), mode)
    app.expect(POLLING[mode], timeout=60)
    check_forwards(cable)
    assert app.alive()
    app.stop()
    assert "nterrupt" not in app.text


def test_a_port_of_af_xdp_is_named(cable):
    """It has no interrupts: the sentence names it once, and packets are forwarded."""
    app = L3fwdPower([f"--vdev={vdevs.octo_devargs(0, ['net_af_xdp0'])}",
                      f"--vdev=net_af_xdp0,iface={cable.name}"],
                     "--config=(0,0,0)", "--interrupt-only", "--parse-ptype")
    begun = app.expect(r"Port 0 Link up|net_af_xdp0: no such port|rx_queue_setup: err", timeout=60)
    if "Link up" not in begun[0]:
        pytest.skip("this DPDK, or this kernel, has no AF_XDP")
    app.expect(r"RX interrupt won't enable\.")
    check_forwards(cable)
    assert app.alive()
    app.stop()
    assert len(re.findall(WARNING.format("net_af_xdp0"), app.text)) == 1
