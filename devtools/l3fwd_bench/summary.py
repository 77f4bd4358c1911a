# SPDX-License-Identifier: BSD-3-Clause
"""What the rounds came to. Pure."""

from dataclasses import dataclass
from statistics import median
from typing import Dict, Optional, Sequence


@dataclass(frozen=True)
class Spread:
    """Of the rounds: the median, the lowest and the highest."""
    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Optional[Spread]:
    """None of nothing."""
    return Spread(median(values), min(values), max(values)) if values else None


def ratios(own: Sequence[float], base: Sequence[float]) -> Optional[Spread]:
    """Each round's to the base's of the same round, as both had the same neighbours."""
    return spread([a / b for a, b in zip(own, base) if b > 0])


def share(part: Optional[int], whole: int) -> Optional[float]:
    """Unknown stays unknown."""
    return None if part is None or whole == 0 else part / whole


def per_packet(model: Dict[str, int], packets: int) -> Optional[Dict[str, float]]:
    """Of the sums that the PFs were charged: DMA that crossed sockets, and nanoseconds."""
    if packets == 0:
        return None
    return {"remote_dma_per_packet": model["model_remote"] / packets,
            "cpu_ns_per_packet": model["model_cpu_ps"] / packets / 1e3,
            "path_ns_per_packet": model["model_path_ps"] / packets / 1e3}
