# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures; needs matplotlib."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of what draws)

COLOURS = {"local": "tab:green", "remote": "tab:red", "octo": "tab:blue", "bonding": "tab:orange"}
GOALS = (("ndr", "NDR: no packet lost"), ("pdr", "PDR: 0.5 % lost at most"))


def _bars(axes, cases, values, unit, form, errors=None):
    names = [case["name"] for case in cases]
    bars = axes.bar(names, values, yerr=errors, capsize=6, width=0.6,
                    color=[COLOURS[name] for name in names], error_kw={"linewidth": 1.2})
    axes.bar_label(bars, [form.format(value) for value in values], padding=3)
    axes.set_ylabel(unit)
    top = max(value + (errors[1][i] if errors else 0) for i, value in enumerate(values))
    axes.set_ylim(0, 1.15 * top or 1)


def _rates(axes, cases, key, title):
    found = [case for case in cases if case[key]]
    if not found:
        axes.set_axis_off()
        return
    values = [case[key]["median"] / 1e6 for case in found]
    errors = [[v - case[key]["low"] / 1e6 for v, case in zip(values, found)],
              [case[key]["high"] / 1e6 - v for v, case in zip(values, found)]]
    several = any(map(any, errors))
    _bars(axes, found, values, "million packets/s", "{:.2f}", errors if several else None)
    axes.set_title(title)


def _modelled(axes, cases, model):
    values = [case["modelled"]["cpu_ns_per_packet"] for case in cases]
    _bars(axes, cases, values, "ns per packet that the CPU waits for DMA", "{:.1f}")
    axes.set_title(f"Modelled for {Path(model).stem}")


def _panels(found):
    cases = found["configurations"]
    if found["search"]:
        return [lambda axes, k=key, t=title: _rates(axes, cases, k, t) for key, title in GOALS]
    rounds = (f"medians, lowest and highest of {found['runs']} rounds" if found["runs"] > 1
              else "one round")
    title = f"{found['kind'].capitalize()}: {rounds}"
    panels = [lambda axes: _rates(axes, cases, "pps", title)]
    modelled = [case for case in cases if case["modelled"]]
    if modelled:
        panels.append(lambda axes: _modelled(axes, modelled, found["model"]))
    return panels


def draw(found: dict, target: str) -> None:
    """A panel for the rates, one for what is modelled or the other kind of rate."""
    panels = _panels(found)
    figure, axes = pyplot.subplots(1, len(panels), squeeze=False,
                                   figsize=(1 + 5.5 * len(panels), 5))
    for panel, own in zip(panels, axes[0]):
        panel(own)
    wire = {"sim": "simulated NIC", "veth": "simulated NIC on veth", "pf": "NIC"}[found["wire"]]
    figure.suptitle(f"l3fwd over a {wire}: {found['size']}-byte frames, {found['flows']} flows, "
                    f"{len(found['lcores'])} lcore{'s' * (len(found['lcores']) > 1)}")
    figure.tight_layout()
    figure.savefig(target, dpi=120)
    pyplot.close(figure)
