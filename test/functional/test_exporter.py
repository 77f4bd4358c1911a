# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's telemetry exporter with octo's endpoint next to DPDK's own."""

import socket
import urllib.request
from pathlib import Path
from typing import Dict

import pytest

from octotest import env, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd

EXPORTER = "dpdk-telemetry-exporter.py"
OURS = env.REPO / "usertools" / "telemetry-endpoints"


def endpoints_of(exporter: str) -> Path:
    """Where DPDK's own are, installed or in its source tree."""
    here = Path(exporter).resolve().parent
    for place in (here / "telemetry-endpoints", here.parent / "share/dpdk/telemetry-endpoints"):
        if place.is_dir():
            return place
    pytest.skip("DPDK's telemetry endpoints are not installed")
    return here


def free_port() -> int:
    """The exporter takes none for "any"."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Exporter(Process):
    """It serves what one application says."""

    def __init__(self, path: str, telemetry: Path) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        super().__init__([path, "-o", f"prometheus://{self.address}", "-s", telemetry,
                          "-p", f"{endpoints_of(path)}:{OURS}"], {"PYTHONUNBUFFERED": "1"})
        self.expect("listening on")

    def ask(self) -> Dict[str, float]:
        """Its metrics, with their labels."""
        with urllib.request.urlopen(f"http://{self.address}", timeout=env.seconds(20)) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_next_to_dpdks_own_endpoints(program):
    """Both tell what the port received, and octo's tells the rates without being started."""
    path = program(EXPORTER)
    with Testpmd(vdevs.looped()) as pmd:
        port = pmd.port()
        exporter = Exporter(path, env.runtime_dir(pmd.file_prefix) / "dpdk_telemetry.v2")
        pmd.start("io", first=True)
        pmd.wait_until("rates", lambda: exporter.ask().get(
            f'dpdk_octo_rx_packets_per_second{{port="{port}"}}', 0) > 0)
        pmd.stop_forwarding()
        received = pmd.stats(port)["RX-packets"]
        # octo's figures are those of up to 100 ms ago
        told = pmd.wait_until("all packets", lambda: (now := exporter.ask())[
            f'dpdk_octo_rx_packets{{port="{port}"}}'] == received and now)
        assert told['dpdk_counters_rx_packets{port="net_octo0"}'] == received > 0
        assert told[f'dpdk_octo_stray_packets{{port="{port}"}}'] == sum(
            told[f'dpdk_octo_queue_stray_packets{{port="{port}", queue="{q}"}}'] for q in (0, 1))
        assert exporter.stop() == 0
        assert "octo: metrics collection failed" not in exporter.text
