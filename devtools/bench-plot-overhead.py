#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw what ./octo bench overhead measured: bench-plot-overhead.py FILE.csv FILE.png"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of what draws)

BURST = "32"
WORKS = ("io", "rx", "tx", "touch", "macswap")
SHAPES = (("1", "home", "1 PF", "tab:blue"),
          ("2", "home", "2 PFs, one without packets", "tab:green"),
          ("2", "strays", "2 PFs, half of the packets by each", "tab:orange"))


def bars(axes: pyplot.Axes, rows: list[dict[str, str]],
         names: list[str]) -> None:
    """What each contender adds, in each shape, with its confidence interval."""
    height = 0.8 / len(SHAPES)
    for k, (pfs, traffic, label, colour) in enumerate(SHAPES):
        found = {row["contender"]: row for row in rows
                 if (row["pfs"], row["traffic"]) == (pfs, traffic)}
        there = [name for name in names if name in found]
        if not there:
            continue
        added = [float(found[name]["added"]) for name in there]
        errors = [[a - float(found[name]["added_low"])
                   for a, name in zip(added, there)],
                  [float(found[name]["added_high"]) - a
                   for a, name in zip(added, there)]]
        axes.barh([names.index(name) + (k - 1) * height for name in there],
                  added, height, xerr=errors, label=label, color=colour,
                  error_kw={"linewidth": 0.8})
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def main(source: str, target: str) -> None:
    """A picture for each kind of PF; of receiving and sending, if that was measured."""
    with open(source, newline="", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if row["burst"] == BURST]
    work = next((w for w in WORKS if any(row["work"] == w for row in rows)),
                None)
    if work is None:
        sys.exit(f"{source}: nothing was measured that could be drawn")
    rows = [row for row in rows if row["work"] == work]
    kinds = list(dict.fromkeys(row["pf"] for row in rows))
    figure, plots = pyplot.subplots(
        len(kinds), squeeze=False, figsize=(9, 1.2 + 2.6 * len(kinds)))
    for axes, kind in zip(plots[:, 0], kinds):
        mine = [row for row in rows if row["pf"] == kind]
        names = list(dict.fromkeys(row["contender"] for row in mine))
        names = [name for name in names if not name.startswith("bare")]
        bars(axes, mine, names)
        bare = next(row["cycles"] for row in mine
                    if row["contender"] == "bare")
        axes.set_title(f"{kind}: a bare PF takes {float(bare):.0f} cycles",
                       fontsize="medium")
        axes.axvline(0, color="grey", linewidth=1)
        axes.legend(fontsize="small")
    plots[-1, 0].set_xlabel("TSC cycles per packet more than the bare PF "
                            "takes, 95 % confidence")
    figure.suptitle(f"What a port above the PFs costs: {work}, "
                    f"bursts of {BURST}")
    figure.tight_layout()
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
