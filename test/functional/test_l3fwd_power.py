# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's example l3fwd-power, unmodified, over an octo port: it asks for Rx interrupts.

    test - veth - net_af_packet - NIC A - net_octo0 - l3fwd-power

Each port has a route; that of port 0 is 1.1.1.0/24.
"""

import re
from typing import Iterator, List

import pytest

from octotest import env, packets, vdevs
from octotest.packets import Flow
from octotest.process import Process
from octotest.veth import Wire

WRITTEN = 26  # bytes in front of the IP addresses: it writes MAC addresses, TTL, checksum
FLOWS = [Flow("udp", "192.0.2.1", 1024 + 97 * i * i, "1.1.1.1", 2000 + i) for i in range(8)]
WARNING = r"Rx interrupts \(intr_conf\.rxq\) are not supported: .* so poll the queues"
# Modes that need nothing of the machine and no interrupts, and when they forward.
POLLING = {"--telemetry": "entering main telemetry loop on lcore",
           "--pmd-mgmt=pause": r"Port 0 Link up"}


class L3fwdPower(Process):
    """On lcores 0 and 1; the main lcore forwards nothing, as some modes have it."""

    def __init__(self, cable: Wire, *mode: str) -> None:
        super().__init__([
            env.find_built("octo-l3fwd-power"), "--no-pci", "--no-huge", "-m", "512",
            "--lcores=0@0,1@1,2@0", "--main-lcore=2", f"--file-prefix={env.unique()}",
            vdevs.octo(), f"--vdev=net_af_packet0,iface={cable.name},blocksz=4096,"
            "framesz=2048,framecnt=2048", *vdevs.nic("A", 0, 2, "net_af_packet0"),
            "--", "-p", "1", "-P", "--config=(0,0,0),(0,1,1)", *mode])


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


@pytest.mark.parametrize("mode", [(), ("--interrupt-only",)])
def test_polls_where_it_wants_interrupts(cable, mode):
    """The port says once that there are none, enabling one fails, and packets are forwarded."""
    app = L3fwdPower(cable, *mode)
    for _ in range(2):
        app.expect(r"RX interrupt won't enable\.", timeout=60)
    app.expect(r"Port 0 Link up", timeout=60)
    check_forwards(cable)
    assert app.alive()
    app.stop()
    assert len(re.findall(WARNING, app.text)) == 1


@pytest.mark.parametrize("mode", POLLING)
def test_modes_that_poll(cable, mode):
    """They ask for no interrupt, so nothing is said of one."""
    app = L3fwdPower(cable, mode)
    app.expect(POLLING[mode], timeout=60)
    check_forwards(cable)
    assert app.alive()
    app.stop()
    assert "nterrupt" not in app.text
