# SPDX-License-Identifier: BSD-3-Clause
"""octo-echo in the guest: queues with lcores and mempools on nodes of choice."""

import re
from typing import Dict, List, Sequence

from octotest import env
from octotest.packets import Flow
from octotest.process import Process

from .guest import Guest


class Echo:
    """A running octo-echo."""

    def __init__(self, guest: Guest, port: str, queues: Sequence[str],
                 eal: Sequence[str] = (), pci: Sequence[str] = (),
                 lcores: str = "0@0,1@1,2@2,3@3") -> None:
        self._guest = guest
        allowed = [word for address in pci for word in ("-a", address)]
        self.process: Process = guest.process(
            str(env.find_built("octo-echo")), f"--lcores={lcores}", "--in-memory",
            "--socket-mem=128,128", "--iova-mode=pa", *allowed, *eal, "--", port, *queues)
        self.process.expect(r"\bready\b", timeout=60)

    def ask(self, line: str) -> str:
        """What it says to a command."""
        start = len(self.process.text)
        self.process.send(line)
        done = self.process.expect(r"\bdone\b", start)
        return self.process.text[start:done.start()]

    def steer(self, flow: Flow, queue: int) -> int:
        """Steer a flow; the number of the rule."""
        text = self.ask(f"steer {flow.words()} {queue}")
        found = re.search(r"rule (\d+)", text)
        assert found, text
        return int(found[1])

    def hand(self, queue: int, lcore: int) -> None:
        """Give a queue to another lcore."""
        text = self.ask(f"hand {queue} {lcore}")
        assert "handed" in text, text

    def thread(self, lcore: int) -> int:
        """The number by which the guest's kernel knows an lcore."""
        found = self._guest.run("grep -lE '^(dpdk|rte|lcore)-worker-?%d$'"
                                " /proc/$(pidof octo-echo)/task/*/comm" % lcore)
        return int(found.split("/")[4])

    def destroy(self, rule: int) -> None:
        """Unsteer a flow."""
        text = self.ask(f"destroy {rule}")
        assert "destroyed" in text, text

    def learn(self, whether: bool) -> None:
        """Have the port learn, or forget."""
        text = self.ask(f"learn {'on' if whether else 'off'}")
        assert ("learns" if whether else "forgot") in text, text

    def counts(self) -> Dict[int, int]:
        """Frames echoed, by queue."""
        return {int(q): int(n) for q, n in
                re.findall(r"queue (\d+): (\d+)", self.ask("counts"))}

    def quit(self) -> None:
        """End it; what it was asked must have worked."""
        self.process.send("quit")
        status = self.process.wait(30)
        assert status == 0, f"octo-echo ended with {status}\n{self.process.text}"


def on_all_nodes(lcores: Sequence[int] = (1, 3)) -> List[str]:
    """A queue for each lcore, with a pool on each node."""
    return [f"{q}@{lcore}:0,1" for q, lcore in enumerate(lcores)]


def on_own_nodes(lcores: Sequence[int] = (1, 3)) -> List[str]:
    """A queue for each lcore, with its pool on the lcore's node."""
    return [f"{q}@{lcore}:{lcore // 2}" for q, lcore in enumerate(lcores)]
