# SPDX-License-Identifier: BSD-3-Clause
"""TCP streams between two namespaces."""

import contextlib
import json
from typing import Any, Iterator

from .netns import Host

STREAMS = 8


@contextlib.contextmanager
def server(host: Host) -> Iterator[None]:
    """For one run: a server that has just served may refuse the next."""
    process = host.popen(["iperf3", "-s", "-1", "--forceflush"])
    try:
        for line in process.stdout:
            if "listening" in line:
                break
        yield
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def measure(src: Any, dst: Host, address: str, *more: object) -> dict:
    """All that iperf3 says of STREAMS streams from `src`, which can run()."""
    with server(dst):
        out = src.run("iperf3", "-c", address, "-P", STREAMS, "-J", *more,
                      timeout=90)
    result = json.loads(out)
    assert "error" not in result, out
    return result


def check(result: dict, size: int) -> None:
    """All streams carried something, together at least the size."""
    streams = result["end"]["streams"]
    assert len(streams) == STREAMS
    assert all(s["receiver"]["bytes"] > 0 for s in streams)
    assert result["end"]["sum_sent"]["bytes"] >= size
