# SPDX-License-Identifier: BSD-3-Clause
"""TCP streams between two namespaces."""

import contextlib
import json
import re
import time
from typing import Any, Callable, Dict, Iterator, List, Sequence

from . import env
from .netns import Host
from .packets import Flow
from .process import Process, ProcessError
from .testpmd import wait_until

STREAMS = 8


@contextlib.contextmanager
def server(host: Host) -> Iterator[None]:
    """For one run: a server that has just served may refuse the next. Nobody reads what it and
    its client say meanwhile, so they report nothing (-i 0): a full pipe would hold them up."""
    process = host.popen(["iperf3", "-s", "-1", "-i", "0", "--forceflush"])
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
                                "-t", str(seconds), "-i", "0", "-J"])
            began = time.monotonic()
            try:
                meanwhile()
                too_short = client.poll() == 0
            except AssertionError:
                # the streams end some time before iperf3 does
                too_short = time.monotonic() - began >= seconds
                if not too_short:
                    client.kill()
                    raise
            out, _ = client.communicate(timeout=seconds + env.seconds(60))
        assert client.returncode == 0, out
        if not too_short:
            return json.loads(out)
    raise ProcessError(f"not done in {seconds} s of traffic")


def send(src: Any, dst: Host, address: str, mib: int, *more: object) -> None:
    """Streams that carry so much together, and something each.

    The size is that of all streams: where they get little CPU it can be sent
    before each has had its turn. With more to send it comes.
    """
    for times in (1, 4, 16):
        result = measure(src, dst, address, "-n", f"{times * mib}M", *more)
        if all(received(result)):
            break
    check(result, times * mib << 20)


def received(result: dict) -> List[int]:
    """Bytes of each stream."""
    return [s["receiver"]["bytes"] for s in result["end"]["streams"]]


def check(result: dict, size: int) -> None:
    """All streams carried something, together at least the size."""
    assert len(received(result)) == STREAMS
    assert all(received(result)), received(result)
    assert result["end"]["sum_sent"]["bytes"] >= size


def connections(host: Host, address: str) -> List[Flow]:
    """The TCP connections of iperf3, as this host sends them."""
    flows = []
    dst = f"[{address}]" if ":" in address else address
    for line in host.run("ss", "-Htn", "dst", dst).splitlines():
        words = line.split()
        if words[0] == "ESTAB" and words[4].endswith(":5201"):
            src, sport = words[3].rsplit(":", 1)
            flows.append(Flow("tcp", src.strip("[]"), int(sport), address,
                              5201))
    return flows


def acknowledged(shown: str) -> Dict[str, int]:
    """Bytes by the sender's end of the connection, from `ss -Htni`: two lines for each."""
    found = re.findall(r"^\w\S+ +\d+ +\d+ +(\S+).*\n(.*)", shown, re.MULTILINE)
    counts = {name: re.search(r"bytes_acked:(\d+)", about) for name, about in found}
    return {name: int(count.group(1)) if count else 0 for name, count in counts.items()}


def got_on(then: Dict[str, int], now: Dict[str, int], worth: int) -> List[str]:
    """The connections that had more than so many bytes acknowledged since."""
    return [name for name, count in now.items() if count > then[name] + worth]


class Streams:
    """iperf3 from one host to the other for as long as it takes, and what each event
    costs it. `views` are the octo ports in between, whose strays teach them, `process` is
    whose they are: it waits, with all its threads, until what it says is read."""

    PATIENCE = 6  # seconds without an answer, which only what was lost twice has to wait for
    WORTH = 65536  # bytes, by which a stream is seen to get on

    def __init__(self, one: Host, two: Host, views: Sequence[Any],
                 record: Callable[[str, object], None], process: Process) -> None:
        self._hosts = (one, two)
        self._views = views
        self._record = record
        self._process = process
        self._flows: List[Flow] = []

    @contextlib.contextmanager
    def running(self, homes: Dict[int, int]) -> Iterator[None]:
        """From when all flows are at home to the end; each connection outlives it."""
        one, two = self._hosts
        for host in self._hosts:
            host.be_patient(self.PATIENCE)
        self._probe_losses(False)
        with server(two):
            client = one.popen(["iperf3", "-c", two.ip4, "-P", str(STREAMS), "-t", "600",
                                "-i", "0"])
            try:
                self._flows = self._wait_until("connections", self._all_connections)
                self._settle(homes)
                yield
            finally:
                client.terminate()
                client.communicate()

    def planned(self, name: str, happen: Callable[[], object], homes: Dict[int, int]) -> int:
        """Let it happen, and everything come to these homes of the queues; how many
        segments had to be sent again because of it."""
        before = self._counts()
        happen()
        self._settle(homes)
        again, in_disorder, refused = (
            now - then for now, then in zip(self._counts(), before))
        self._record(name, again)
        print(f"{name}: {again} retransmits, {in_disorder} segments out of order, "
              f"{refused} that TCP had no room for")
        return again

    def unplanned(self, name: str, happen: Callable[[], object], homes: Dict[int, int]) -> int:
        """The same of what costs packets: those are asked for soon."""
        self._probe_losses(True)
        self._gets_on()  # with timers that know of it
        again = self.planned(name, happen, homes)
        self._wait_until("what was lost is there", self._has_recovered)
        self._probe_losses(False)
        self._gets_on()  # with timers that were set since
        return again

    def _wait_until(self, what: str, check: Callable[[], Any]) -> Any:
        return wait_until(what, check, 10 * self.PATIENCE, self._process)

    def _probe_losses(self, on: bool) -> None:
        for host in self._hosts:
            host.probe_losses(on)

    def _counts(self) -> List[int]:
        return [sum(count(host) for host in self._hosts)
                for count in (Host.retransmitted, Host.out_of_order, Host.refused)]

    def _all_connections(self) -> List[Flow]:
        found = connections(self._hosts[0], self._hosts[1].ip4)
        return found if len(found) == STREAMS + 1 else []

    def _shown(self) -> str:
        one, two = self._hosts
        return one.run("ss", "-Htni", "dst", two.ip4, "dport", "=", ":5201")

    def _acked(self) -> Dict[str, int]:
        return acknowledged(self._shown())

    def _has_recovered(self) -> bool:
        """Nothing is lost, or was sent again, that is not there yet."""
        return not re.search(r" (lost:|retrans:[1-9])", self._shown())

    def _gets_on(self) -> None:
        then = self._acked()
        self._wait_until("every stream gets on", lambda: len(
            got_on(then, self._acked(), self.WORTH)) == STREAMS)
        assert set(connections(self._hosts[0], self._hosts[1].ip4)) == set(self._flows)

    def _settle(self, homes: Dict[int, int]) -> None:
        """Every stream gets on, and none of its packets strays."""
        def is_home() -> bool:
            if any({q["queue"]: q["home_pf"] for q in view.topology()["queues"]} != homes
                   for view in self._views):
                return False
            before = [view.strays()["stray_packets"] for view in self._views]
            self._gets_on()
            return before == [view.strays()["stray_packets"] for view in self._views]
        self._wait_until(f"all come home to {homes}", is_home)
