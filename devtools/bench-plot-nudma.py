#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw what ./octo bench nudma modelled: bench-plot-nudma.py FILE.csv FILE.png"""

import csv
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of what draws)

CONFIGS = {"local": "tab:green", "octo": "tab:blue", "bonding": "tab:orange",
           "remote": "tab:red"}
MARKS = {"local": "o", "octo": "x", "bonding": "^", "remote": "s"}

# when the paper's receiver migrates, and when it is over, in seconds
MIGRATES = 4.5
OVER = 9.0


class Figures:
    """The figures by panel and what they are of, and the published ones."""

    def __init__(self, source: str) -> None:
        self.machine = ""
        self.published: dict[str, tuple[str, float, float]] = {}
        self.of: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = \
            defaultdict(lambda: defaultdict(list))
        with open(source, newline="", encoding="ascii") as file:
            for row in csv.DictReader(file):
                self.add(row)

    def add(self, row: dict[str, str]) -> None:
        """One line of the file."""
        x, y = float(row["x"]), float(row["y"])
        if row["panel"] == "machine":
            self.machine = row["what"]
        elif row["panel"] == "published":
            self.published[row["what"]] = (row["config"], x, y)
        else:
            self.of[row["panel"], row["what"]][row["config"]].append((x, y))

    def note(self, what: str, ident: str, unit: str) -> str:
        """What was published of it, for a title."""
        if ident not in self.published:
            return ""
        role, low, high = self.published[ident]
        span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        return f"\npublished: {what} {span}{unit} ({role})"


def bars(axes: pyplot.Axes, figures: Figures, panel: str, what: str) -> None:
    """One bar for each configuration, with its value."""
    values = figures.of[panel, what]
    for i, (name, colour) in enumerate(CONFIGS.items()):
        value = values[name][0][1]
        axes.bar(i, value, color=colour)
        axes.annotate(f"{value:.3g}", (i, value), ha="center", va="bottom",
                      fontsize="small")
    axes.set_xticks(range(len(CONFIGS)), list(CONFIGS))
    axes.margins(y=0.15)


def lines(axes: pyplot.Axes, figures: Figures, panel: str, what: str) -> None:
    """A line for each configuration."""
    for name, points in figures.of[panel, what].items():
        axes.plot([x for x, _ in points], [y for _, y in points], label=name,
                  color=CONFIGS[name], marker=MARKS[name], markersize=5,
                  linestyle="--" if name == "octo" else "-")
    axes.legend(fontsize="small")


def throughput(axes: pyplot.Axes, figures: Figures, panel: str) -> None:
    """Figures 6 and 7: bars, and DRAM traffic below them."""
    bars(axes, figures, panel, "gbps")
    dram = figures.of[panel, "dram"]
    axes.set_xticks(range(len(CONFIGS)), [
        f"{name}\n{dram[name][0][1]:.1f}x" for name in CONFIGS])
    axes.set_xlabel("below: bytes of DRAM traffic per byte")
    axes.set_ylabel("Gb/s, one core")


def latency(axes: pyplot.Axes, figures: Figures) -> None:
    """Figure 9, over all sizes of messages."""
    lines(axes, figures, "fig9", "rr")
    dram = figures.of["fig9", "nd"]["local"]
    axes.plot([x for x, _ in dram], [y for _, y in dram], color="grey",
              linestyle=":", label="local, DDIO off")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("message size, bytes")
    axes.set_ylabel("round trip, over local")
    axes.legend(fontsize="small")


def neighbours(axes: pyplot.Axes, figures: Figures) -> None:
    """Figure 13: the run time of PageRank next to each."""
    for i, name in enumerate(CONFIGS):
        for k, what in enumerate(("netperf", "memcached")):
            value = figures.of["fig13", what][name][0][1]
            axes.bar(k + (i - 1.5) * 0.2, value, 0.2, color=CONFIGS[name],
                     label=name if k == 0 else None)
            axes.annotate(f"{value:.2f}", (k + (i - 1.5) * 0.2, value),
                          ha="center", va="bottom", fontsize="x-small")
    axes.set_xticks((0, 1), ("netperf", "memcached"))
    axes.set_ylim(0.8)
    axes.margins(y=0.15)
    axes.set_ylabel("run time, over alone")
    axes.legend(fontsize="small", ncol=2)


def migration(axes: pyplot.Axes, figures: Figures) -> None:
    """Figure 14: by which PF it comes, before and after."""
    for (what, name, colour, style) in (
            ("pf1", "octo", "tab:blue", "-"),
            ("pf0", "octo", "tab:cyan", "-"),
            ("pf1", "remote", "tab:red", "--")):
        before, after = (y for _, y in figures.of["fig14", what][name])
        label = f"octo, {what.upper()}" if name == "octo" else "one PF only"
        axes.plot((0, MIGRATES, MIGRATES, OVER),
                  (before, before, after, after), color=colour,
                  linestyle=style, label=label)
    axes.axvline(MIGRATES, color="grey", linewidth=1)
    axes.set_xlabel("seconds; the receiver changes sockets at 4.5")
    axes.set_ylabel("Gb/s, one core")
    axes.set_ylim(0)
    axes.legend(fontsize="small")


def main(source: str, target: str) -> None:
    """Nine panels, as the paper has nine figures."""
    figures = Figures(source)
    figure, plots = pyplot.subplots(3, 3, figsize=(15, 13))
    axes = dict(zip((6, 7, 8, 9, 10, 11, 12, 13, 14), plots.flat))
    titles = {
        6: ("TCP Rx", figures.note("local/remote", "ioct-fig6-rx", "x")),
        7: ("TCP Tx, TSO", figures.note("local/remote", "ioct-fig7-tx", "x")),
        8: ("pktgen", figures.note("local/remote", "ioct-fig8-pps", "x")),
        9: ("TCP request/response, both ends",
            figures.note("remote adds", "ioct-fig9-rr", " %")),
        10: ("memcached, 512 KB values",
             figures.note("gain", "ioct-fig10-memcached", " %")),
        11: ("TCP Rx under STREAM",
             figures.note("local/remote", "ioct-fig11-qpi-load", "x")),
        12: ("UDP round trip under STREAM",
             figures.note("local is lower by", "ioct-fig12-udp", " %")),
        13: ("PageRank next to others",
             figures.note("netperf", "ioct-fig13-pr-netperf", " %")),
        14: ("Migration", figures.note("lost or reordered",
                                       "ioct-fig14-migration", "")),
    }
    throughput(axes[6], figures, "fig6")
    throughput(axes[7], figures, "fig7")
    bars(axes[8], figures, "fig8", "mpps")
    axes[8].set_ylabel("Mpps, one core")
    latency(axes[9], figures)
    lines(axes[10], figures, "fig10", "rate")
    axes[10].set_xlabel("SET operations, %")
    axes[10].set_ylabel("transactions/s, one core")
    lines(axes[11], figures, "fig11", "gbps")
    axes[11].set_ylabel("Gb/s, one core")
    lines(axes[12], figures, "fig12", "us")
    axes[12].set_ylabel("microseconds")
    for number in (11, 12):
        axes[number].set_xlabel("pairs of STREAM on the inter-socket link")
        axes[number].set_ylim(0)
    neighbours(axes[13], figures)
    migration(axes[14], figures)
    for number, (title, note) in titles.items():
        axes[number].set_title(f"Figure {number}: {title}{note}",
                               fontsize="medium")
    figure.suptitle(f"Nonuniform DMA, MODELLED on {figures.machine}: the PMDs "
                    "over mpsim. Figures as IOctopus (ASPLOS 2020) numbers "
                    "them", fontsize="large")
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(target, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
