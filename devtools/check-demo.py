#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judge what octo demo --json wrote: about half strays, then none.

usage: check-demo.py FILE.json
"""

import json
import sys


def faults(phases):
    """What is not as it should be, one sentence each."""
    for name in ("unsteered", "steered"):
        phase = phases.get(name)
        if phase is None:
            yield f"there is no phase '{name}'"
            continue
        if phase["packets"] < 1_000_000:
            yield f"{name}: only {phase['packets']} packets"
        for what in ("lost", "reordered"):
            if phase[what] != 0:
                yield f"{name}: {phase[what]} packets {what}"
        if sum(pf["rx_packets"] for pf in phase["pf"]) < phase["packets"]:
            yield f"{name}: the PFs together received less than the port"
    if not 0.4 <= phases["unsteered"]["stray_fraction"] <= 0.6:
        yield f"unsteered: {phases['unsteered']['stray_fraction']} of the packets are strays"
    if phases["steered"]["stray_packets"] != 0 or phases["steered"]["stray_fraction"] != 0:
        yield f"steered: {phases['steered']['stray_packets']} strays"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        phases = {phase["name"]: phase for phase in json.load(file)["phases"]}
    found = list(faults(phases))
    for fault in found:
        print(f"check-demo.py: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
