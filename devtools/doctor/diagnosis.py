# SPDX-License-Identifier: BSD-3-Clause
"""Everything that is said of a machine: boards, findings, EAL arguments. Pure."""

from dataclasses import dataclass, field
from typing import List, Tuple

from . import boards as kinds
from . import check_boards, check_machine, eal
from .model import IN_THE_WAY, NOTE, Board, Finding, Machine


@dataclass
class Diagnosis:
    """arguments: those of each board that could be an octo port, with the board's number."""
    machine: Machine
    boards: List[Board]
    findings: List[Finding] = field(default_factory=list)
    arguments: List[Tuple[int, eal.Arguments]] = field(default_factory=list)

    def is_ready(self):
        """A program can be started with the arguments as they are."""
        return bool(self.arguments) and all(f.mark != IN_THE_WAY for f in self.findings)


def _check_readable(machine):
    if not machine.pfs or any(p.all_readable for p in machine.pfs):
        return []
    return [Finding(NOTE, "machine", "was not read by root: serial numbers of boards, and whether "
                    "the kernel joins PFs, are for root to see", ["$ sudo ./octo doctor"])]


def _check_any(machine, found, findings):
    """A machine without any board of use, and without one that only lacks something."""
    if (any(check_boards.is_of_use(b) for b in found) or
            any(f.mark == IN_THE_WAY for f in findings)):
        return []
    what = "NIC with PFs on several sockets" if machine.pfs else "NIC on its PCI buses"
    return [Finding(IN_THE_WAY, "machine", f"has no {what}, so there is nothing that an octo port "
                    "could be made of", ["without such hardware: ./octo demo, or a simulated NIC "
                                         "(net_mpsim)"])]


def _give(machine, found):
    """Arguments by the number of a board: of all that gain, or, if there are none, of all."""
    given = {i: eal.arguments(b, machine) for i, b in enumerate(found)}
    given = {i: arguments for i, arguments in given.items() if arguments}
    return given or {i: eal.plain_arguments(b, machine) for i, b in enumerate(found)}


def diagnose(machine):
    """Judges what was read."""
    found = kinds.find(machine)
    result = Diagnosis(machine, found)
    result.findings += check_machine.check_sockets(machine) + _check_readable(machine)
    pfs = [p for b in found if check_boards.is_of_use(b) for p in b.pfs]
    if pfs:
        result.findings += check_machine.check_cpus(machine, pfs)
        result.findings += check_machine.check_hugepages(machine, pfs)
        result.findings += check_machine.check_iommu(machine, pfs)
    given = _give(machine, found)
    for number, board in enumerate(found):
        queues = max(given[number].workers, 1) if number in given else 0
        result.findings += check_boards.check(board, number, machine, queues)
    result.findings += _check_any(machine, found, result.findings)
    result.arguments = sorted(given.items())
    return result
