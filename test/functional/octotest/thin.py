# SPDX-License-Identifier: BSD-3-Clause
"""Of tests that differ in a parameter, run few: with sanitizers, and with ./octo test --short."""

from collections import defaultdict
from typing import List

import pytest

from . import env

MARK = ("many(asan, short=1): of this test's parameters so many do with sanitizers, and with "
        "--short, spread evenly; all run without")


def _few(item: pytest.Item, among: int) -> int:
    """As many of the parameters of a test do."""
    many = item.get_closest_marker("many")
    wanted = many.kwargs if many else {}
    if env.ASAN:
        among = min(among, wanted.get("asan", among))
    return min(among, wanted.get("short", 1)) if env.SHORT else among


def thin_out(items: List[pytest.Item]) -> None:
    """Skip the others, and say so."""
    alike = defaultdict(list)
    for item in items:
        alike[item.nodeid.partition("[")[0]].append(item)
    for group in alike.values():
        few = _few(group[0], len(group))
        kept = {i * len(group) // few for i in range(few)}
        skip = pytest.mark.skip(reason=f"{few} of these {len(group)} will do "
                                + ("with --short" if env.SHORT else "with sanitizers"))
        for i, item in enumerate(group):
            if i not in kept:
                item.add_marker(skip)
