# SPDX-License-Identifier: BSD-3-Clause
"""The highest rate that a device forwards with no more loss than allowed. Pure.

RFC 2544 (26.1) searches for it by bisection, and one lost packet fails a trial. A device
that is shared, or software, loses a few now and then whatever the rate, so each rate is
judged by the majority of several trials, and both bounds are confirmed by as many again.
"""

from dataclasses import dataclass, field
from typing import Callable, Dict, List, Tuple

SHORT = 0.98  # a generator that sends less than that of what it was asked for is at its end
FLOOR = 1e-4  # of the highest rate: below it nothing is searched
CONFIRMATIONS = 8

NDR, PDR = 0.0, 0.005  # the loss ratios that are usual


@dataclass(frozen=True)
class Trial:
    """What was asked of the generator, and what it saw."""
    rate: float  # packets per second asked for; 0: as many as possible
    sent: int
    received: int
    seconds: float

    @property
    def lost(self) -> int:
        """Packets."""
        return self.sent - self.received

    @property
    def loss_ratio(self) -> float:
        """Of what was sent; all of it if nothing could be sent."""
        return self.lost / self.sent if self.sent else 1.0

    @property
    def offered(self) -> float:
        """Packets sent per second."""
        return self.sent / self.seconds

    @property
    def forwarded(self) -> float:
        """Packets received per second."""
        return self.received / self.seconds

    @property
    def is_short(self) -> bool:
        """Could the generator not keep up with what it was asked for?"""
        return self.offered < SHORT * self.rate


@dataclass(frozen=True)
class Found:
    """The result of a search."""
    rate: float   # packets per second; 0 if no rate will do
    failed: float  # the lowest rate above it that failed; 0 if none did
    limit: str    # "device", "max-rate", "generator" (neither failed), or "none" will do


@dataclass
class Search:
    """Bisects; trials are remembered, so that a second search costs less than the first."""
    measure: Callable[[float], Trial]
    max_rate: float
    width: float = 0.005  # of the rate: how near the two bounds have to come
    trials: int = 3       # per rate at most; odd
    made: Dict[float, List[Trial]] = field(default_factory=dict)
    verdicts: Dict[Tuple[float, float], bool] = field(default_factory=dict)  # the last ones

    def find(self, goal: float) -> Found:
        """The highest rate whose trials lose no more than this ratio."""
        if self._passes(self.max_rate, goal):
            return self._found_at_max(goal)
        low, high = 0.0, self.max_rate
        for _ in range(CONFIRMATIONS):
            low, high = self._bisect(low, high, goal)
            if low > 0 and not self._passes(low, goal, afresh=True):
                high, low = low, self._nearest(goal, True, low)
            elif self._passes(high, goal, afresh=True):
                low, high = high, self._nearest(goal, False, high)
            else:
                break
        return Found(low, high, "device" if low else "none")

    def count(self) -> int:
        """Trials made."""
        return sum(map(len, self.made.values()))

    def _bisect(self, low, high, goal):
        while high - low > self.width * high and high > FLOOR * self.max_rate:
            middle = (low + high) / 2
            if self._passes(middle, goal):
                low = middle
            else:
                high = middle
        return low, high

    def _nearest(self, goal, passed, rate):
        """The bound to go on from when one turned out to be none: below it, or above."""
        alike = [r for (r, g), verdict in self.verdicts.items() if g == goal and verdict == passed]
        if passed:
            return max((r for r in alike if r < rate), default=0.0)
        return min((r for r in alike if r > rate), default=self.max_rate)

    def _found_at_max(self, goal):
        short = [t.offered for t in self.made[self.max_rate]
                 if t.is_short and t.loss_ratio <= goal]
        if short:
            return Found(sorted(short)[len(short) // 2], 0.0, "generator")
        return Found(self.max_rate, 0.0, "max-rate")

    def _passes(self, rate, goal, afresh=False):
        """By the majority of its trials, of new ones if told so; no more than it takes."""
        known = self.made.setdefault(rate, [])
        first = len(known) if afresh else 0
        enough = self.trials // 2 + 1
        passed = failed = 0
        while max(passed, failed) < enough:
            if first + passed + failed == len(known):
                known.append(self.measure(rate))
            if known[first + passed + failed].loss_ratio <= goal:
                passed += 1
            else:
                failed += 1
        self.verdicts[rate, goal] = passed > failed
        return passed > failed
