# SPDX-License-Identifier: BSD-3-Clause
"""The rounds: in each, every configuration has its turn, another one first each time."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional

from . import layout
from .children import Failed
from .search import NDR, PDR, Found, Search
from .session import Place, Round, Session
from .summary import per_packet


@dataclass
class Searched:
    """What a search found in a round."""
    ndr: Found
    pdr: Found
    trials: int
    strays: Optional[int]
    received: int


@dataclass
class Case:
    """A configuration and what was measured of it."""
    setup: layout.Setup
    rounds: List[Round] = field(default_factory=list)
    searches: List[Searched] = field(default_factory=list)
    modelled: Optional[Dict[str, float]] = None


@dataclass
class Bench:
    """All of it, as far as it went."""
    place: Place
    cases: List[Case]
    left_out: Dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


def setup_of(options, name: str, wire, member: str, model: Optional[str] = None) -> layout.Setup:
    """The configuration of this name."""
    if options.on_hardware:
        near = options.nodes.index(options.node)
        return layout.on_hardware(name, options.pfs[near], options.pfs[1 - near], member)
    return layout.simulated(name, (wire.name, wire.l3fwd_args), options.lcores, member, model)


def _measured(place, setup):
    with Session(place, setup) as session:
        before = session.warm_up()
        got = session.run(0)
        return Round(**{**vars(got), "strays_before": before})


def _searched(place, setup):
    """NDR and PDR; the second search knows what the first one has tried."""
    options = place.options
    with Session(place, setup) as session:
        session.warm_up()
        made = []

        def measure(rate):
            made.append(session.run(rate))
            return made[-1].trial
        search = Search(measure, options.max_rate, options.width, options.trials)
        ndr, pdr = search.find(NDR), search.find(PDR)
        strays = [r.strays for r in made]
        return Searched(ndr, pdr, search.count(), None if None in strays else sum(strays),
                        sum(r.trial.received for r in made))


def _modelled(place, setup):
    with Session(place, setup) as session:
        session.warm_up()
        before = session.model()
        trial = session.run(0).trial
        after = session.model()
        return per_packet({name: after[name] - before[name] for name in after}, trial.received)


def _take_turn(bench, case):
    """net_bonding may not get along with these PFs: that is told, and the others go on."""
    try:
        if bench.place.options.search:
            case.searches.append(_searched(bench.place, case.setup))
        else:
            case.rounds.append(_measured(bench.place, case.setup))
    except Failed as err:
        first = not case.searches and not case.rounds
        if case.setup.name != layout.BONDING or not first or len(bench.cases) == 1:
            raise
        bench.cases.remove(case)
        bench.left_out[layout.BONDING] = str(err)


def run(bench: Bench, member: str, progress) -> None:
    """Adds to the cases; what ends it early leaves the rounds that were done."""
    options, place = bench.place.options, bench.place
    for number in range(options.runs):
        turn = number % len(bench.cases)
        for case in bench.cases[turn:] + bench.cases[:turn]:
            progress(f"round {number + 1} of {options.runs}: {case.setup.name}")
            _take_turn(bench, case)
    for case in bench.cases if options.model else []:
        progress(f"modelled: {case.setup.name}")
        charged = setup_of(options, case.setup.name, place.wire, member, options.model)
        case.modelled = _modelled(place, charged)
