# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent, and readers of what it says by telemetry."""

import re
import signal
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

from . import env
from .process import Process, ProcessError
from .telemetry import Telemetry
from .testpmd import wait_until

PLACES = ("local", "remote", "unknown")
DIRECTIONS = ("rx", "tx")


def pf(ethdev: str, socket: Path, **more: object) -> str:
    """The value of a --pf option."""
    keys = "".join(f",{k}={v}" for k, v in more.items() if v is not None)
    return f"{ethdev},vhost={socket}{keys}"


class Dma(NamedTuple):
    """Packets, buffers or bytes by where they are."""

    local: int
    remote: int
    unknown: int

    @property
    def all(self) -> int:
        """Wherever."""
        return sum(self)


def dma(ring: Dict[str, int], what: str = "packets") -> Dma:
    """Of a ring as audit() returns it: `packets`, `bytes` or `posted`."""
    return Dma(*(ring[f"{what}_{place}"] for place in PLACES))


class Agent(Process):
    """An octo-agent that has opened the sockets of its PFs."""

    def __init__(self, vdevs: Iterable[str], pfs: Sequence[str],
                 options: Sequence[str] = (), eal: Sequence[str] = (),
                 memory: Optional[int] = 128, lcores: str = "0@0",
                 wait: bool = True, prefix: Sequence[str] = ()) -> None:
        self.file_prefix = env.unique()
        self._telemetry: Optional[Telemetry] = None
        memory_args = ["--no-huge", "-m", memory] if memory else []
        argv = [env.find_built("octo-agent"), *memory_args, "--no-pci",
                f"--lcores={lcores}", f"--file-prefix={self.file_prefix}",
                *vdevs, *eal, "--", *(w for p in pfs for w in ("--pf", p)),
                *options]
        super().__init__(argv, prefix=prefix)
        if not wait:
            return
        try:
            self.expect(r"octo-agent: (\d+ PFs|netdev \S+)", timeout=60)
        except ProcessError:
            self.kill()
            raise

    @property
    def telemetry(self) -> Telemetry:
        """The telemetry connection, made when first needed."""
        if self._telemetry is None:
            self._telemetry = Telemetry(self.file_prefix)
        return self._telemetry

    def hang_up(self) -> None:
        """Give the telemetry connection up."""
        if self._telemetry is not None:
            self._telemetry.close()
            self._telemetry = None

    def quit(self, number: int = signal.SIGINT) -> int:
        """End it as people do; the exit status."""
        self.hang_up()
        return self.stop(number)

    def kill(self) -> None:
        """End it now."""
        self.hang_up()
        super().kill()

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.alive():
            status = self.quit()
            assert status == 0, f"octo-agent ended with {status}"
        else:
            self.kill()

    # What it shows.

    def pfs(self) -> List[Dict[str, Any]]:
        """Clients and counters of every PF."""
        return _listed(self.telemetry.get("/octo_agent/pfs")["pfs"])

    def audit(self, number: int) -> List[Dict[str, Dict[str, int]]]:
        """Per queue of a PF, what became of `rx` and `tx`."""
        queues: List[Dict[str, Any]] = []
        while True:
            reply = self.telemetry.get("/octo_agent/audit", number,
                                       len(queues))
            assert reply["inexact"] == 0, reply
            queues += _listed(reply["queues"])
            if len(queues) == reply["nb_queues"]:
                return queues

    def packets(self, number: int, direction: str) -> Dma:
        """All packets of a PF in one direction."""
        rings = [queue[direction] for queue in self.audit(number)]
        return Dma(*(sum(r[f"packets_{p}"] for r in rings) for p in PLACES))

    def reset(self) -> None:
        """Forget all packets."""
        self.telemetry.get("/octo_agent/audit_reset")

    def table(self) -> str:
        """The auditor's table as SIGUSR1 prints it."""
        self.read(0)
        start = len(self.text)
        rows = sum(2 * pf["nb_queues"] for pf in self.pfs())
        self.send_signal(signal.SIGUSR1)
        line = r"(?:net|0000)\S+ .*\n"
        self.expect(rf"(?:{line}){{{rows}}}", start)
        return self.text[start:]

    def wait_connected(self, queues: int) -> None:
        """Until every PF has a client that uses so many queue pairs."""
        self.wait_until("clients of all PFs", lambda: all(
            p["enabled_queues"] == queues for p in self.pfs()))

    def wait_until(self, what: str, check, timeout: float = 10.0):
        """Ask again until the answer is true; the answer."""
        return wait_until(what, check, timeout, self)


def _listed(numbered: Dict[str, Any]) -> List[Any]:
    """DPDK 22.11 can only put lists in as dictionaries."""
    return [numbered[k] for k in sorted(numbered, key=int)]


def table_rows(text: str) -> List[List[str]]:
    """The words of each row of the auditor's table."""
    return [line.split() for line in text.splitlines()
            if re.match(r"\S+ +[\d?]+ +\d+ +[RT]x ", line)]
