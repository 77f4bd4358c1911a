# SPDX-License-Identifier: BSD-3-Clause
"""An interactive testpmd and readers of what it shows."""

import itertools
import re
import time
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import env
from .process import Process, ProcessError
from .telemetry import Telemetry

PROMPT = "testpmd> "
# Another thread's log may break it up: before its last blank, which then is at the start of a
# line, or so that the rest is there.
PROMPT_OR_REST = r"testpmd>(?:\s|(?=[A-Z]+: |Logical Core ))|\n(?:estpmd|stpmd|tpmd|pmd|md|d)?> "
ASIDE = 2.0  # seconds without a prompt, after which a word of ours is looked for instead
# Lcore 0 types, lcores 1 and 2 forward: CPU 0 is node 0, CPU 1 is node 1.
LCORES = "0@0,1@0,2@1"


class PortSummary(NamedTuple):
    """One line of `show port summary all`."""

    port: int
    mac: str
    name: str
    driver: str
    link: str


class Seen(NamedTuple):
    """One packet as `set verbose 1` prints it."""

    port: int
    queue: int
    src: str
    dst: str
    length: int
    text: str


class Testpmd(Process):
    """testpmd in interactive mode, the drivers loaded by -d."""

    __test__ = False  # not a test class, pytest

    def __init__(self, vdevs: Iterable[str] = (), app: Sequence[str] = (),
                 binary: Optional[str] = None, eal: Sequence[str] = (),
                 memory: Optional[int] = 128, queues: int = 2,
                 mbufs: int = 10240, lcores: str = LCORES,
                 plugins: bool = True, prefix: Sequence[str] = (),
                 pci: Sequence[str] = (),
                 file_prefix: Optional[str] = None) -> None:
        self.file_prefix = file_prefix or env.unique()
        self._telemetry: Optional[Telemetry] = None
        self._words = itertools.count()
        memory_args = ["--no-huge", "-m", memory] if memory else []
        argv = [
            binary or env.find_binary("dpdk-testpmd"), *memory_args,
            *([device if device.startswith("-") else f"-a{device}"
               for device in pci] or ["--no-pci"]),
            f"--lcores={lcores}",
            f"--file-prefix={self.file_prefix}",
            *(env.plugin_args() if plugins else []), *vdevs, *eal, "--", "-i",
            f"--nb-cores={lcores.count(',') or 1}", "--no-mlockall",
            f"--rxq={queues}", f"--txq={queues}",
            # --rxq-share, of no use otherwise: packets are shown with port
            f"--total-num-mbufs={mbufs}", "--no-flush-rx", "--rxq-share",
            *app,
        ]
        super().__init__(argv, prefix=prefix)
        try:
            self.expect(re.escape(PROMPT), timeout=60)
        except ProcessError:
            self.kill()
            raise
        self.boot_text = self.text

    def cmd(self, line: str, timeout: float = 40.0) -> str:
        """Run one command and return what it printed."""
        self.read(0)
        start = len(self.text)
        self.send(line)
        # Packets printed by lcores may break the echo up.
        end = self._answered(start, timeout)
        return self.text[start:end].partition("\n")[2]

    def _answered(self, start: int, timeout: float) -> int:
        """Where the answer ends. Lines of another thread may be between all letters of a prompt."""
        try:
            return self.expect(PROMPT_OR_REST, start, min(timeout, ASIDE)).start()
        except ProcessError:
            if not self.alive() or self.starved:
                raise
        # no command: it is echoed once all that came before has been answered
        word = f"answered-{next(self._words)}"
        self.send(word)
        echo = self.expect(word, start, timeout)
        self.expect(PROMPT_OR_REST, echo.end(), timeout)
        late = re.search(PROMPT_OR_REST, self.text[start:echo.start()])
        return start + late.start() if late else echo.start()

    def cmds(self, lines: Iterable[str]) -> str:
        """Run several commands."""
        return "".join(self.cmd(line) for line in lines)

    def quit(self, timeout: float = 30.0) -> int:
        """Leave by the front door; the exit status."""
        if self._telemetry is not None:
            self._telemetry.close()
            self._telemetry = None
        if self.alive():
            self.send("quit")
        return self.wait(timeout)

    def __enter__(self) -> "Testpmd":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.alive():
            status = self.quit()
            assert status == 0, f"testpmd ended with {status}"
        else:
            self.kill()

    @property
    def telemetry(self) -> Telemetry:
        """The telemetry connection, made when first needed."""
        if self._telemetry is None:
            self._telemetry = Telemetry(self.file_prefix)
        return self._telemetry

    # What it shows.

    def release(self) -> Tuple[int, ...]:
        """Of its DPDK: (23, 11) of `DPDK 23.11.7`."""
        numbers = re.findall(r"\d+", self.telemetry.info["version"])
        return tuple(map(int, numbers[:2]))

    def ports(self) -> List[PortSummary]:
        """Ports that the application may use."""
        text = self.cmd("show port summary all")
        rows = re.findall(r"^(\d+)\s+([0-9A-F:]{17}) (\S+)\s+(\S+)\s+(\S+)",
                          text, re.MULTILINE)
        return [PortSummary(int(r[0]), *r[1:]) for r in rows]

    def port(self, name: str = "net_octo0") -> int:
        """The number of the port with that name."""
        for row in self.ports():
            if row.name == name:
                return row.port
        raise ProcessError(f"no port {name}")

    def link(self, port: int) -> str:
        """`up` or `down`."""
        for row in self.ports():
            if row.port == port:
                return row.link
        raise ProcessError(f"no port {port}")

    def stats(self, port: int) -> Dict[str, int]:
        """Basic statistics, by the names that testpmd prints."""
        text = self.cmd(f"show port stats {port}")
        return {k: int(v) for k, v in
                re.findall(r"([RT]X-\w+):\s+(\d+)", text)}

    def xstats(self, port: int) -> Dict[str, int]:
        """Extended statistics."""
        text = self.cmd(f"show port xstats {port}")
        return {k: int(v) for k, v in
                re.findall(r"^(\S+): (\d+)$", text, re.MULTILINE)}

    def info(self, port: int) -> Dict[str, str]:
        """`show port info` as a dictionary."""
        text = self.cmd(f"show port info {port}")
        return dict(re.findall(r"^(\S[^:\n]*): (.*)$", text, re.MULTILINE))

    # What it does.

    def start(self, mode: str = "io", first: bool = False) -> None:
        """Begin to forward."""
        self.cmd(f"set fwd {mode}")
        self.cmd("start tx_first" if first else "start")

    def stop_forwarding(self) -> str:
        """Stop and return the summary that testpmd prints."""
        return self.cmd("stop")

    def watch(self, number: int, mode: str = "rxonly") -> List[Seen]:
        """Forward until so many packets came in; each of them, in order.

        Lcores print them and break up what the prompt thread prints, so
        that nothing but the answer to `stop` is waited for.
        """
        self.cmds([f"set fwd {mode}", "set verbose 1"])
        start = len(self.text)
        self.send("start")
        self.wait_until(f"{number} packets seen", lambda: self.text.count(
            "Receive queue=", start) >= number)
        self.send("stop")
        self.expect(r"\nDone\.\s+" + PROMPT, start)
        seen = parse_seen(self.text[start:])
        self.cmd("set verbose 0")
        return seen

    def wait_until(self, what: str, check, timeout: float = 10.0):
        """Ask again until the answer is true; the answer."""
        return wait_until(what, check, timeout, self)


def wait_until(what: str, check, timeout: float = 10.0,
               process: Optional[Process] = None):
    """Ask again until the answer is true; the answer."""
    left = env.seconds(timeout)
    while left > 0:
        since = time.monotonic()
        answer = check()
        if answer:
            return answer
        if process is not None:
            process.read(0.02)
        else:
            time.sleep(0.02)
        # whoever stands still for longer has had no CPU
        left -= min(time.monotonic() - since, Process.LOOK)
    raise ProcessError(f"never came true: {what}")


_PACKET = re.compile(
    r"port (?P<port>\d+),   src=(?P<src>[0-9A-F:]{17}) - dst=(?P<dst>[0-9A-F:]"
    r"{17}).* - length=(?P<length>\d+) .*Receive queue=0x(?P<queue>[0-9a-f]+)")


def parse_seen(text: str) -> List[Seen]:
    """Packets as `set verbose 1` shows them; the port is mbuf->port."""
    packets: List[Seen] = []
    lines = text.splitlines()
    for i, line in enumerate(lines):
        found = _PACKET.search(line)
        if found:
            flags = lines[i + 1] if i + 1 < len(lines) else ""
            packets.append(Seen(int(found["port"]), int(found["queue"], 16),
                                found["src"], found["dst"],
                                int(found["length"]), line + flags))
    return packets


def flow_id(text: str) -> int:
    """The number of the rule that testpmd just made."""
    found = re.search(r"Flow rule #(\d+) created", text)
    assert found, text
    return int(found[1])
