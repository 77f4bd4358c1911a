# SPDX-License-Identifier: BSD-3-Clause
"""TCP streams between two namespaces."""

import contextlib
import json
from typing import Any, Callable, Iterator

from . import env
from .netns import Host
from .process import ProcessError

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


def outlive(src: Host, dst: Host, address: str,
            meanwhile: Callable[[], None]) -> dict:
    """What iperf3 says of streams that were there until `meanwhile` was done.

    On a busy machine they end before: once more then, with more time. Streams
    that break are another matter: those end iperf3 with an error.
    """
    for seconds in (8, 32, 128):
        with server(dst):
            client = src.popen(["iperf3", "-c", address, "-P", str(STREAMS),
                                "-t", str(seconds), "-J"])
            try:
                meanwhile()
                too_short = client.poll() == 0
            except AssertionError:
                too_short = client.poll() == 0
                if not too_short:
                    client.kill()
                    raise
            out, _ = client.communicate(timeout=seconds + env.seconds(60))
        assert client.returncode == 0, out
        if not too_short:
            return json.loads(out)
    raise ProcessError(f"not done in {seconds} s of traffic")


def check(result: dict, size: int) -> None:
    """All streams carried something, together at least the size."""
    streams = result["end"]["streams"]
    assert len(streams) == STREAMS
    assert all(s["receiver"]["bytes"] > 0 for s in streams)
    assert result["end"]["sum_sent"]["bytes"] >= size
