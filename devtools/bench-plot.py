#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw what ./octo bench move --plot recorded: bench-plot.py FILE.csv FILE.png"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of what draws)

CURVES = (("pf0_packets_per_s", "PF 0 (socket 0)", "tab:blue"),
          ("pf1_packets_per_s", "PF 1 (socket 1)", "tab:green"))


def mark_changes(axes: pyplot.Axes, rows: list[dict[str, str]],
                 text: bool) -> None:
    """A line where the consumer changes sockets."""
    for before, row in zip(rows, rows[1:]):
        if row["socket"] == before["socket"]:
            continue
        axes.axvline(float(before["seconds"]), color="grey", linewidth=1)
        if text:
            axes.annotate(f"consumer goes to socket {row['socket']}",
                          (float(before["seconds"]), 1),
                          xycoords=("data", "axes fraction"),
                          xytext=(4, -12), textcoords="offset points")


def main(source: str, target: str) -> None:
    """Rates over time, and strays by themselves: they are few."""
    with open(source, newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    seconds = [float(row["seconds"]) for row in rows]
    figure, (rates, strays) = pyplot.subplots(
        2, figsize=(8, 5), sharex=True, gridspec_kw={"height_ratios": (3, 1)})
    for column, label, colour in CURVES:
        rates.plot(seconds, [float(row[column]) / 1e6 for row in rows],
                   label=label, color=colour)
    strays.plot(seconds, [float(row["strays_per_s"]) / 1e3 for row in rows],
                color="tab:red")
    mark_changes(rates, rows, True)
    mark_changes(strays, rows, False)
    rates.set(ylabel="received, million packets/s",
              title="A queue with 64 flows changes sockets (simulated NIC)")
    rates.set_ylim(0, rates.get_ylim()[1] * 1.1)
    rates.legend(loc="lower right", framealpha=0.9)
    strays.set(xlabel="seconds", ylabel="strays, 1000/s")
    strays.set_ylim(bottom=0)
    figure.align_ylabels()
    figure.tight_layout()
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
