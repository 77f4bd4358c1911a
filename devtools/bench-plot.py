#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw what ./octo bench move --plot recorded: bench-plot.py FILE.csv FILE.png"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of what draws)

CURVES = (("pf0_packets_per_s", "PF 0 (socket 0)", "tab:blue"),
          ("pf1_packets_per_s", "PF 1 (socket 1)", "tab:green"),
          ("strays_per_s", "strays", "tab:red"))


def main(source: str, target: str) -> None:
    """Rates over time; where the consumer changes sockets, a line."""
    with open(source, newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    seconds = [float(row["seconds"]) for row in rows]
    figure, axes = pyplot.subplots(figsize=(8, 4))
    for column, label, colour in CURVES:
        axes.plot(seconds, [float(row[column]) / 1e6 for row in rows],
                  label=label, color=colour,
                  linestyle="--" if label == "strays" else "-")
    for before, row in zip(rows, rows[1:]):
        if row["socket"] != before["socket"]:
            axes.axvline(float(before["seconds"]), color="grey", linewidth=1)
            axes.annotate(f"to socket {row['socket']}",
                          (float(before["seconds"]), axes.get_ylim()[1]),
                          xytext=(4, -12), textcoords="offset points")
    axes.set(xlabel="seconds", ylabel="million packets per second, received",
             title="A queue with 64 flows changes sockets (simulated NIC)")
    axes.set_ylim(bottom=0)
    axes.legend(loc="center right")
    figure.tight_layout()
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
