# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark's figures, as --json writes them. Pure."""

from dataclasses import asdict

from . import layout
from .summary import ratios, share, spread

FUNCTIONAL = (
    "Functional: it shows that each configuration forwards, what it loses and what strays. The NIC "
    "is simulated and the nodes are pretended, so that no packet really crosses sockets: packets "
    "per second here say nothing of what nonuniform DMA costs, or of what octo gains; and the rules "
    "by which octo steers are looked up in software, which a NIC does by itself.")
MEASURED = "Measured on a NIC."
MODELLED = (
    "Modelled: what the same packets' DMA, without the work of l3fwd, would cost on {machine} "
    "(config/machines), in virtual time. What that model is worth, ./octo bench nudma tells.")


def _sum(values):
    values = list(values)
    return None if not values or None in values else sum(values)


def _spread(found):
    return None if found is None else asdict(found)


def _round(one):
    return {"sent": one.trial.sent, "received": one.trial.received, "lost": one.trial.lost,
            "seconds": one.trial.seconds, "pps": one.trial.forwarded, "strays": one.strays,
            "strays_before": one.strays_before,
            "lost_at": {"before": one.lost_before, "inside": one.lost_inside,
                        "after": one.lost_after}}


def _of_rounds(case, local):
    def pps(of):
        return [r.trial.forwarded for r in of.rounds]
    sent = sum(r.trial.sent for r in case.rounds)
    received = sum(r.trial.received for r in case.rounds)
    strays = _sum(r.strays for r in case.rounds)
    return {"sent": sent, "received": received, "lost": sent - received,
            "loss_ratio": share(sent - received, sent), "strays": strays,
            "strays_before": _sum(r.strays_before for r in case.rounds),
            "stray_fraction": share(strays, received), "pps": _spread(spread(pps(case))),
            "ratio_to_local": _spread(ratios(pps(case), pps(local)) if local else None),
            "rounds": [_round(r) for r in case.rounds]}


def _search_rates(case, goal):
    return [getattr(s, goal).rate for s in case.searches]


def _of_searches(case, local):
    found = {}
    for goal in ("ndr", "pdr"):
        own = _search_rates(case, goal)
        base = _search_rates(local, goal) if local else []
        found[goal] = _spread(spread(own))
        found[f"{goal}_limits"] = sorted({getattr(s, goal).limit for s in case.searches})
        found[f"{goal}_ratio_to_local"] = _spread(ratios(own, base))
    strays = _sum(s.strays for s in case.searches)
    found.update(stray_fraction=share(strays, sum(s.received for s in case.searches)),
                 searches=[{"ndr": asdict(s.ndr), "pdr": asdict(s.pdr), "trials": s.trials}
                           for s in case.searches])
    return found


def _case(case, local, place):
    options = place.options
    of_all = _of_searches if options.search else _of_rounds
    return {"name": case.setup.name, "what": case.setup.what, **of_all(case, local),
            "modelled": case.modelled, "commands": place.commands(case.setup)}


def figures(bench, hugepages: bool, version: str) -> dict:
    """All of it."""
    place = bench.place
    options = place.options
    local = next((c for c in bench.cases if c.setup.name == layout.LOCAL), None)
    return {
        "bench": "l3fwd", "kind": "measured" if options.on_hardware else "functional",
        "note": MEASURED if options.on_hardware else FUNCTIONAL,
        "dpdk": version, "wire": "pf" if options.on_hardware else options.wire,
        "hugepages": True if options.on_hardware else hugepages,
        "lcores": options.lcores, "size": options.size, "flows": options.flows,
        "window": None if options.search else options.window, "seconds": options.seconds,
        "runs": options.runs, "quick": options.quick, "search": options.search,
        "max_rate": options.max_rate if options.search else None,
        "model": options.model, "interrupted": bench.interrupted,
        "left_out": [{"name": name, "why": why} for name, why in bench.left_out.items()],
        "configurations": [_case(case, local, place) for case in bench.cases],
    }
