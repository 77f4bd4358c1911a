# SPDX-License-Identifier: BSD-3-Clause
"""Asks a running l3fwd by DPDK's telemetry socket (protocol v2)."""

import json
import socket
from pathlib import Path

from .children import Failed

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

    def ask(self, command: str, port: int, *names: str) -> list:
        """The values of these names in the answer."""
        try:
            self._socket.send(f"{command},{port}".encode())
            answer = json.loads(self._socket.recv(self._room + 1))[command]
            return [answer[name] for name in names]
        except (OSError, ValueError, TypeError, KeyError) as err:
            raise Failed(f"l3fwd does not tell {', '.join(names)} of port {port} when asked "
                         f"{command}") from err

    def packets(self, port: int):
        """[received, sent] by the port."""
        return self.ask("/ethdev/stats", port, "ipackets", "opackets")

    def strays(self, port: int) -> int:
        """Of all queues of an octo port."""
        return self.ask("/ethdev/xstats", port, "rx_stray_packets")[0]

    def model(self, pfs) -> dict:
        """What these PFs were charged."""
        found = [self.ask("/ethdev/xstats", pf, *MODEL) for pf in pfs]
        return {name: sum(values) for name, values in zip(MODEL, zip(*found))}

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
