# SPDX-License-Identifier: BSD-3-Clause
"""Asks a running l3fwd by DPDK's telemetry socket (protocol v2)."""

import json
import socket
from pathlib import Path

TIMEOUT = 20

MODEL = ("model_remote", "model_cpu_ps", "model_path_ps")


class Telemetry:
    """One connection; all counters are since the program's start."""

    def __init__(self, runtime: Path, prefix: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(TIMEOUT)
        try:
            self._socket.connect(str(runtime / "dpdk" / prefix / "dpdk_telemetry.v2"))
            self._room = json.loads(self._socket.recv(1024))["max_output_len"]
        except (OSError, ValueError):
            self._socket.close()
            raise

    def ask(self, command: str, port: int):
        """None where the command, or the port, is unknown."""
        self._socket.send(f"{command},{port}".encode())
        return json.loads(self._socket.recv(self._room + 1)).get(command)

    def packets(self, port: int):
        """(received, sent) by the port."""
        stats = self.ask("/ethdev/stats", port)
        return stats["ipackets"], stats["opackets"]

    def strays(self, port: int) -> int:
        """Of all queues of an octo port."""
        return self.ask("/ethdev/xstats", port)["rx_stray_packets"]

    def model(self, pfs) -> dict:
        """What these PFs were charged."""
        found = [self.ask("/ethdev/xstats", pf) for pf in pfs]
        return {name: sum(xstats[name] for xstats in found) for name in MODEL}

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
