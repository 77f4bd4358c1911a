# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's example ptpclient, unmodified: a PTP clock over an octo port, and over a PF.

    master (this test) - veth - net_af_packet - NIC A - net_octo0 - ptpclient

The master's clock counts from far in the future, so that it shows whose time a clock has.
"""

import re
import struct
import time
from typing import Dict, Iterator, List

import pytest

from octotest import env, vdevs
from octotest.process import Process
from octotest.veth import Wire

EVENT, TYPE = bytes.fromhex("011b19000000"), bytes.fromhex("88f7")
MASTER = bytes.fromhex("020000000001")
CLOCK_ID = MASTER[:3] + b"\xff\xfe" + MASTER[3:]
SYNC, DELAY_REQ, FOLLOW_UP, DELAY_RESP = 0, 1, 8, 9
FUTURE = 1_000_000  # seconds
# As older releases say and as newer ones do
CLOCK, OWN_CLOCK = "(?:Master Clock|time transmitter clock)", "(?:Slave  Clock|time receiver clock)"
STAMPS = {"T1": CLOCK, "T2": OWN_CLOCK, "T3": OWN_CLOCK, "T4": CLOCK}


def over_a_pf(wire: str) -> List[str]:
    """A simulated PF without an octo port. Its clock counts from 1000 s on."""
    return [vdevs.mpsim(0, "A", wire=wire)]


def over_octo(wire: str) -> List[str]:
    """An octo port; the default PF is not the first, which is the clock PF."""
    return [vdevs.octo(), *vdevs.nic("A", wire=wire, default_pf=None if vdevs.SLICED else 1)]


def over_octo_by_the_second(wire: str) -> List[str]:
    """The first PF has no clock. That of the second counts from 2000 s on."""
    return [vdevs.octo(), vdevs.mpsim(0, "A", 0, wire=wire, caps="-timesync"),
            vdevs.mpsim(1, "A", 1)]


class Master:
    """A PTP master that knows the two-step delay mechanism over Ethernet."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._number = 0

    @staticmethod
    def _now() -> bytes:
        ns = FUTURE * 10 ** 9 + time.monotonic_ns()
        return struct.pack("!HII", 0, ns // 10 ** 9, ns % 10 ** 9)

    def _send(self, kind: int, stamp: bytes, more: bytes = b"") -> None:
        header = struct.pack("!BBHBBHqI8sHHBb", kind, 2, 34 + len(stamp + more), 0, 0, 0, 0, 0,
                             CLOCK_ID, 1, self._number, 0, 0)
        self._wire.send((EVENT + MASTER + TYPE + header + stamp + more).ljust(60, b"\0"))

    def exchange(self) -> None:
        """Tell the time once."""
        self._number += 1
        self._send(SYNC, bytes(10))
        self._send(FOLLOW_UP, self._now())
        request, = self._wire.receive(1)
        came = self._now()
        assert request[12:14] == TYPE and request[14] & 0xf == DELAY_REQ
        assert struct.unpack("!H", request[44:46]) == (self._number,)
        self._send(DELAY_RESP, came, request[34:44])


class PtpClient(Process):
    """On one lcore, with port 0."""

    def __init__(self, ports: List[str], cable: Wire) -> None:
        super().__init__([
            env.find_built("octo-ptpclient"), "--no-pci", "--no-huge", "-m", "512", "--lcores=0@0",
            f"--file-prefix={env.unique()}", *ports,
            f"--vdev=net_af_packet0,iface={cable.name},blocksz=4096,framesz=2048,framecnt=2048",
            "--", "-p", "1", "-T", "0"])

    def synchronized(self, start: int) -> Dict[str, int]:
        """The four times and the difference that it tells, in nanoseconds."""
        self.expect(r"Delta between PTP and Linux.*ns\n", start)
        said = {name: re.search(rf"{name} - {side}\.  (\d+)s (\d+)ns", self.text[start:])
                for name, side in STAMPS.items()}
        delta = re.search(r"Delta between (?:master and slave|transmitter and receiver) "
                          r"clocks:(-?\d+)ns", self.text[start:])
        assert all(said.values()) and delta, self.text[start:]
        return {"delta": int(delta[1]),
                **{name: int(found[1]) * 10 ** 9 + int(found[2])
                   for name, found in said.items()}}


@pytest.fixture
def cable(program) -> Iterator[Wire]:
    """The wire."""
    program("ip")
    if env.find_built("octo-ptpclient") is None:
        pytest.skip("ptpclient is not built")
    with Wire() as wire:
        yield wire


@pytest.mark.parametrize("ports, began_at", [(over_a_pf, 1000), (over_octo, 1000),
                                             (over_octo_by_the_second, 2000)])
def test_a_clock_follows_its_master(cable, ports, began_at):
    """Both directions are stamped by one clock, which has the master's time from then on."""
    app = PtpClient(ports("net_af_packet0"), cable)
    app.expect("Waiting for SYNC packets", timeout=60)
    master = Master(cable)
    last = began_at * 10 ** 9
    for i in range(3):
        start = len(app.text)
        master.exchange()
        said = app.synchronized(start)
        assert re.search(f"{CLOCK} id: {':'.join(f'{b:02x}' for b in CLOCK_ID)}", app.text)
        assert last <= said["T2"] <= said["T3"]
        # from the beginning of that clock to its first message: less than to the next PF's clock
        assert i > 0 or said["T3"] < last + 1000 * 10 ** 9
        error = said["T2"] - said["T1"] - (said["T4"] - said["T3"])
        assert abs(2 * said["delta"] + error) <= 1
        # the clock was put forward by as much, and goes on
        last = said["T3"] + said["delta"]
        assert last > FUTURE * 10 ** 9
    assert app.alive()
    app.stop()


@pytest.mark.parametrize("tier", ["queue", "none"])
def test_an_octo_port_without_switch_rules_refuses(cable, tier):
    """One sentence says why, and the program ends."""
    app = PtpClient([vdevs.octo(tier=tier), *vdevs.nic("A", wire="net_af_packet0")], cable)
    app.expect(r"Cannot init port", timeout=60)
    assert "Timesync enable failed: -95" in app.text
    assert len(re.findall(r"no clock PF for timesync, to which a rule of the NIC's switch must "
                          r"lead PTP: in this tier no rules choose the PF", app.text)) == 1
