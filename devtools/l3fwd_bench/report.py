# SPDX-License-Identifier: BSD-3-Clause
"""The figures as people read them. Pure."""

import textwrap
from pathlib import Path

from .figures import MODELLED

WIDTH = 100
UNKNOWN = "-"


def _mpps(value):
    return UNKNOWN if value is None else f"{value / 1e6:.3f}"


def _ratio(found):
    return UNKNOWN if found is None else f"{found['median']:.3f}"


def _percent(value):
    return UNKNOWN if value is None else f"{value * 100:.3f} %"


def _count(value):
    return UNKNOWN if value is None else f"{value:,}"


def _range(found, form):
    return UNKNOWN if found is None else f"{form(found['low'])} - {form(found['high'])}"


def table(rows):
    """The first row is the heading; columns of figures are flush right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _rounds_table(cases):
    rows = [["configuration", "Mpps", "lowest - highest", "to local", "lost", "sent", "strays",
             "strays before"]]
    for case in cases:
        pps = case["pps"]
        rows.append([case["name"], _mpps(pps and pps["median"]), _range(pps, _mpps),
                     _ratio(case["ratio_to_local"]), _count(case["lost"]), _count(case["sent"]),
                     _percent(case["stray_fraction"]), _count(case["strays_before"])])
    return table(rows)


def _search_table(cases):
    rows = [["configuration", "NDR Mpps", "lowest - highest", "to local", "PDR Mpps",
             "lowest - highest", "to local", "strays", "limited by"]]
    for case in cases:
        row = [case["name"]]
        for goal in ("ndr", "pdr"):
            found = case[goal]
            row += [_mpps(found and found["median"]), _range(found, _mpps),
                    _ratio(case[f"{goal}_ratio_to_local"])]
        limits = sorted(set(case["ndr_limits"] + case["pdr_limits"]))
        rows.append([*row, _percent(case["stray_fraction"]), ", ".join(limits) or UNKNOWN])
    return table(rows)


def _modelled_table(cases):
    rows = [["modelled, per packet", "DMA that crosses", "CPU waits", "DMA takes longer"]]
    for case in cases:
        if case["modelled"]:
            per = case["modelled"]
            rows.append([case["name"], f"{per['remote_dma_per_packet']:.2f}",
                         f"{per['cpu_ns_per_packet']:.1f} ns",
                         f"{per['path_ns_per_packet']:.1f} ns"])
    return table(rows) if len(rows) > 1 else ""


def _heading(found):
    lcores = len(found["lcores"])
    how = (f"search by trials of {found['seconds']:g} s up to {found['max_rate'] / 1e6:.3f} Mpps"
           if found["search"] else f"trials of {found['seconds']:g} s, at most {found['window']} "
           "packets under way")
    return (f"l3fwd (DPDK {found['dpdk']}) on {lcores} lcore{'s' * (lcores > 1)}, frames of "
            f"{found['size']} bytes, {found['flows']} flows; medians of {found['runs']} "
            f"round{'s' * (found['runs'] > 1)}, {how}.")


def _notes(found):
    yield _heading(found)
    yield found["note"]
    if not found["hugepages"]:
        yield ("There are no hugepages for it: on 4 KiB pages all of it is slower, and octo, which "
               "touches each packet once more, by more than the others.")
    for left in found["left_out"]:
        yield f"Left out: {left['name']}: {left['why']}"
    if found["interrupted"]:
        yield "Interrupted: these are the rounds that were done."


def _commands(cases):
    for case in cases:
        yield f"\n{case['name']}: {case['what']}\n"
        for command in case["commands"]:
            yield f"  {command}\n"


def text(found: dict) -> str:
    """What is printed."""
    cases = found["configurations"]
    parts = [textwrap.fill(note, WIDTH) + "\n" for note in _notes(found)]
    parts += ["\n", (_search_table if found["search"] else _rounds_table)(cases)]
    modelled = _modelled_table(cases)
    if modelled:
        note = MODELLED.format(machine=Path(found["model"]).stem)
        parts += ["\n", modelled, textwrap.fill(note, WIDTH), "\n"]
    parts.append("\nTo repeat it by hand (root where interfaces are made, or PFs used):\n")
    return "".join([*parts, *_commands(cases)])
