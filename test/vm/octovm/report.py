# SPDX-License-Identifier: BSD-3-Clause
"""What the auditor found, told at the end of the run, and kept as JSON."""

import json
from pathlib import Path
from typing import Dict, List, NamedTuple

from octotest.agent import Dma


class Row(NamedTuple):
    """One line of the auditor's table."""

    setup: str
    direction: str
    local: int
    remote: int


ROWS: List[Row] = []


def add(setup: str, seen: Dict[str, Dma]) -> None:
    """Keep what was seen by direction, rx and tx."""
    for direction, dma in seen.items():
        assert dma.unknown == 0
        ROWS.append(Row(setup, direction, dma.local, dma.remote))


def lines() -> List[str]:
    """The table for people."""
    width = max(len(row.setup) for row in ROWS)
    out = [f"{'setup':{width}}  dir  {'local':>7}  {'remote':>7}  share of remote"]
    for row in ROWS:
        share = row.remote / max(1, row.local + row.remote)
        out.append(f"{row.setup:{width}}  {row.direction:3}  {row.local:7}  {row.remote:7}"
                   f"  {share:15.1%}")
    return out


def write(path: Path) -> None:
    """The table for machines."""
    path.write_text(json.dumps([row._asdict() for row in ROWS], indent=2) + "\n")
