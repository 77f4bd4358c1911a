# SPDX-License-Identifier: BSD-3-Clause
"""A file from one namespace to another, by HTTP."""

import hashlib
import os
import sys
from pathlib import Path

from .netns import Host

FILE_SIZE = 64 << 20


def big_file(client: Host, server: Host, directory: Path) -> None:
    """A big file arrives as it was."""
    for host in (client, server):  # one connection: its window is all
        host.small_windows(8 * 65536)
    served = directory / "served"
    served.mkdir()
    data = os.urandom(1 << 20) * (FILE_SIZE >> 20)
    data = data[:-8] + os.urandom(8)
    (served / "file").write_bytes(data)
    httpd = server.popen([sys.executable, "-u", "-m", "http.server", "8080",
                          "--bind", server.ip4, "-d", served])
    try:
        assert "Serving" in httpd.stdout.readline()
        client.run("curl", "-sf", "-o", directory / "got",
                   f"http://{server.ip4}:8080/file", timeout=120)
    finally:
        httpd.terminate()
        httpd.wait()
        httpd.stdout.close()
    got = hashlib.sha256((directory / "got").read_bytes()).hexdigest()
    assert got == hashlib.sha256(data).hexdigest()
