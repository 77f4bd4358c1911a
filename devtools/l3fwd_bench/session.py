# SPDX-License-Identifier: BSD-3-Clause
"""One run of l3fwd in one configuration, with traffic."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional

from . import generator, layout
from .children import INTERRUPTS, Child, Failed
from .search import Trial
from .telemetry import Telemetry

START_SECONDS = 90
HOME = 0.001        # of the packets stray at most, before it is measured
HOME_TRIES = 30
WARM_UP_SHARE = 0.1  # of the highest rate, where there is one to be searched

RUNNING = r"L3FWD: +-- lcoreid="
ADDRESS = r"Address:((?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})"

HUGEPAGES_WANTED = 300  # of 2 MiB, for both programs: twice what they take


def hugepages_are_free() -> bool:
    """Enough of them for l3fwd and the generator, and not kept for others?"""
    if "OCTO_NO_HUGE" in os.environ:
        return False
    try:
        path = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
        return int(path.read_text()) >= HUGEPAGES_WANTED
    except (OSError, ValueError):
        return False


@dataclass(frozen=True)
class Round:
    """A trial and what l3fwd counted of it; None: nobody knows."""
    trial: Trial
    strays: Optional[int] = None
    strays_before: Optional[int] = None  # while flows were learned
    lost_before: Optional[int] = None    # on the way to l3fwd's port
    lost_inside: Optional[int] = None
    lost_after: Optional[int] = None
    model: Optional[dict] = None


class Place:
    """Where the files of a benchmark are, and what its command lines have in common."""

    def __init__(self, options, wire, rules_dir: Path, scratch: Path, hugepages: bool) -> None:
        self.options, self.wire = options, wire
        self.rules_dir, self.scratch = rules_dir, scratch
        self.prefix = f"l3b{os.getpid()}"
        # nothing is left behind by --in-memory, which needs hugepages
        self._memory = ["--in-memory"] if hugepages else ["--no-huge", "-m", "512"]

    def rule_files(self, setup) -> List[Path]:
        """Where the routes are; they stay, so that a command can be repeated."""
        return [self.rules_dir / f"v{v}-port{setup.port}.cfg" for v in (4, 6)]

    def write_rules(self, setup) -> None:
        """The routes of this configuration."""
        self.rules_dir.mkdir(parents=True, exist_ok=True)
        for path, text in zip(self.rule_files(setup), layout.rules(setup.port)):
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_text(text)
            partial.rename(path)

    def l3fwd_argv(self, setup) -> List[str]:
        """All of l3fwd's command line."""
        options = self.options
        memory = [] if options.on_hardware else self._memory
        return [*options.l3fwd, *memory, "-l", ",".join(map(str, options.lcores)),
                f"--main-lcore={options.lcores[0]}", f"--file-prefix={self.prefix}d",
                *setup.devices, *options.eal, "--",
                *layout.l3fwd_args(setup, options.lcores, self.rule_files(setup),
                                   layout.BONDING in options.cases)]

    def generator_argv(self) -> List[str]:
        """All of octo-gen's command line."""
        options = self.options
        window = [] if options.search else ["--window", str(options.window)]
        return [os.environ.get("OCTO_GEN", "octo-gen"), *self._memory, "-l", str(options.gen_cpu),
                "--no-pci", f"--file-prefix={self.prefix}g", *self.wire.generator_args, "--",
                *generator.traffic_args(options, layout.NIC_MAC), *window]

    def commands(self, setup) -> List[str]:
        """As a user would type them."""
        lines = [f"echo {shlex.quote(text.strip())} >{shlex.quote(str(path))}" for path, text in
                 zip(self.rule_files(setup), layout.rules(setup.port))]
        if self.wire is not None:
            lines += self.wire.commands
            rate = f"{self.options.max_rate:.0f}" if self.options.search else "0"
            lines.append(shlex.join(self.generator_argv()) + "  # as soon as l3fwd runs, it is "
                         f"told: {rate} {self.options.seconds:g}")
        lines.append(shlex.join(self.l3fwd_argv(setup)))
        if self.wire is None:
            argv = generator.Command(self.options).argv("MAC", "PPS", f"{self.options.seconds:g}")
            lines.append(shlex.join(argv))
        return lines


class Session:
    """l3fwd and the generator while they run; for `with`."""

    def __init__(self, place: Place, setup: layout.Setup) -> None:
        self._place, self.setup = place, setup
        self._l3fwd = self.generator = self._telemetry = None

    def __enter__(self) -> "Session":
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _start(self):
        place = self._place
        place.write_rules(self.setup)
        with INTERRUPTS.held():
            self.generator = generator.Command(place.options) if place.wire is None else \
                generator.Own(place.generator_argv(), place.scratch / "generator.log",
                              place.scratch)
        self.generator.await_start()
        with INTERRUPTS.held():
            self._l3fwd = Child("l3fwd", place.l3fwd_argv(self.setup),
                                place.scratch / "l3fwd.log", place.scratch)
        self._l3fwd.expect(RUNNING, START_SECONDS)
        if place.wire is None:
            self.generator.aim(self._l3fwd.expect(ADDRESS, 1)[1])
        try:
            self._telemetry = Telemetry(place.scratch, f"{place.prefix}d")
        except (OSError, ValueError):
            self._telemetry = None  # as with an l3fwd that was built without

    def close(self) -> None:
        """In reverse."""
        if self._telemetry is not None:
            self._telemetry.close()
        for part in (self._l3fwd, self.generator):
            if part is not None:
                (part.stop if part is self._l3fwd else part.close)()

    def _strays(self):
        if self.setup.name != layout.OCTO or self._telemetry is None:
            return None
        return self._telemetry.strays(self.setup.port)

    def _trial(self, rate: float, seconds: float) -> Trial:
        """Of an l3fwd that ran to its end."""
        trial = self.generator.run(rate, seconds)
        self._l3fwd.check()
        return trial

    def warm_up(self) -> Optional[int]:
        """Until flows are where they are to be, as far as they get. The strays on the way."""
        options = self._place.options
        rate = options.max_rate * WARM_UP_SHARE if options.search else 0
        first = self._strays()
        for _ in range(HOME_TRIES):
            before = self._strays()
            trial = self._trial(rate, options.warm_up)
            after = self._strays()
            if after is None or after - before <= HOME * trial.received:
                break
        return None if first is None else after - first

    def run(self, rate: float) -> Round:
        """A trial, and what the port counted meanwhile."""
        seconds = self._place.options.seconds
        if self._telemetry is None:
            return Round(self._trial(rate, seconds))
        before, strays = self._telemetry.packets(self.setup.port), self._strays()
        trial = self._trial(rate, seconds)
        after = self._telemetry.packets(self.setup.port)
        known = {} if strays is None else {"strays": self._strays() - strays}
        if self.generator.exact:
            received, sent = (b - a for a, b in zip(before, after))
            known.update(lost_before=trial.sent - received, lost_inside=received - sent,
                         lost_after=sent - trial.received)
        return Round(trial, **known)

    def model(self) -> dict:
        """What the PFs in use were charged so far."""
        if self._telemetry is None:
            raise Failed("l3fwd has no telemetry, which tells what its PFs were charged")
        return self._telemetry.model(self.setup.pfs)
