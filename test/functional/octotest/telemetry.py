# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket (protocol v2)."""

import json
import socket
from typing import Any, Dict

from . import env


class Telemetry:
    """One connection to a running DPDK process."""

    def __init__(self, file_prefix: str) -> None:
        path = env.runtime_dir(file_prefix) / "dpdk_telemetry.v2"
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sock.settimeout(env.seconds(40))
        self._sock.connect(str(path))
        self.info: Dict[str, Any] = json.loads(self._sock.recv(1024))
        self.last_reply = b""

    def get(self, command: str, *params: object) -> Any:
        """The value of a command: None when it refuses its parameters."""
        line = ",".join([command, *map(str, params)])
        self._sock.send(line.encode())
        self.last_reply = self._sock.recv(self.info["max_output_len"] + 1)
        reply = json.loads(self.last_reply)
        assert list(reply) == [command], reply
        return reply[command]

    def close(self) -> None:
        """Hang up."""
        self._sock.close()
