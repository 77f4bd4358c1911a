# SPDX-License-Identifier: BSD-3-Clause
"""What the user wants. Wrong use is one sentence that names the argument."""

import argparse
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

from . import cpus, layout

LINK_BITS = 100e9         # of a fast port: the highest rate that is searched
SIM_RATE = 10e6           # and where all is software
WIRE_OVERHEAD = 20        # bytes of preamble and gap around each frame
MOST_LCORES = 16          # queues of a simulated PF

DESCRIPTION = """Runs DPDK's l3fwd, unmodified, over the PF near its lcores (local), the far one
(remote), both as an octo port (octo) and both by net_bonding (bonding), and tells what each
forwards. Without --pf the NIC is simulated: what comes out is functional, and says so."""

EPILOG = """exit code: 0 done, 1 it did not run to the end, 2 wrong use. The guide has the method,
the recipe for hardware, and what a COMMAND for --tg has to do (doc/guides/bench.rst)."""


class WrongUse(Exception):
    """One sentence that names the argument."""


@dataclass
class Options:
    """Checked, with every default in its place."""
    cases: List[str]
    left_out: Dict[str, str]  # why, by configuration
    runs: int
    seconds: float
    warm_up: float
    size: int
    flows: int
    window: int
    search: bool
    max_rate: float
    width: float
    trials: int
    wire: str
    model: Optional[str]
    pfs: List[str]
    nodes: List[int]     # of the PFs
    node: int            # of the lcores
    tg: str
    lcores: List[int]
    gen_cpu: int
    l3fwd: List[str]
    eal: List[str]
    json: Optional[str]
    plot: Optional[str]
    quick: bool

    @property
    def on_hardware(self) -> bool:
        """Else the NIC is simulated."""
        return bool(self.pfs)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise WrongUse(message.replace("argument ", "", 1))


def _number(kind, low, high):
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{what} from {low} to {high} is needed, "
                                             f"not '{text}'")
        return value
    return read


def _parser():
    parser = _Parser(prog="octo bench l3fwd", description=DESCRIPTION, epilog=EPILOG,
                     allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--case", action="append", choices=layout.CASES, metavar="NAME",
        help="only this configuration; may be given several times")
    add("--runs", type=_number(int, 1, 1000), metavar="N",
        help="rounds, in each of which all configurations have a turn (7; with --pf 3)")
    add("--quick", action="store_true", help="one short round: shows only that it works")
    add("--json", metavar="FILE", help="write the figures to FILE as well")
    add("--plot", metavar="FILE.png", help="draw them")
    add("--seconds", type=_number(float, 0.05, 3600), metavar="S",
        help="of a trial (2; with --pf 10)")
    add("--size", type=_number(int, 64, 1518), default=64, metavar="BYTES",
        help="of a frame with its checksum (64)")
    add("--flows", type=_number(int, 1, 65536), default=64, metavar="N", help="5-tuples (64)")
    add("--lcores", metavar="LIST", help="CPUs for l3fwd, each with a queue, all on one node "
        "(the last CPU; with --pf the first of the second PF's node that is not CPU 0)")
    add("--l3fwd", metavar="COMMAND", default=os.environ.get("OCTO_L3FWD", ""),
        help="another l3fwd than the one that comes with this project")
    add("--eal", metavar="ARGS", default="", help="more arguments of EAL for l3fwd")
    _add_search(parser)
    _add_simulated(parser)
    _add_hardware(parser)
    return parser


def _add_search(parser):
    add = parser.add_argument_group("search for the highest rate (always with --pf)").add_argument
    add("--search", action="store_true", help="NDR (no loss) and PDR (0.5 %%)")
    add("--max-rate", type=_number(float, 1, 1e10), metavar="PPS",
        help="packets per second that are offered at most (100 Gb/s of such frames; "
        "simulated: 10 millions)")


def _add_simulated(parser):
    add = parser.add_argument_group("with a simulated NIC").add_argument
    add("--wire", choices=("sim", "veth"), help="to the generator: sim, shared memory (default), "
        "or veth, kernel interfaces (needs root)")
    add("--window", type=_number(int, 1, 1000), metavar="N",
        help="packets under way at most, so that no ring overflows (512)")
    add("--model", metavar="NAME", help="machine that DMA is charged to in a trial of its own: "
        "e5-2660v4 (default), another of config/machines, or none")
    add("--gen-cpu", type=_number(int, 0, cpus.MOST - 1), metavar="CPU",
        help="for the generator (the first that l3fwd does not have)")


def _add_hardware(parser):
    add = parser.add_argument_group("with a NIC").add_argument
    add("--pf", action="append", default=[], metavar="PCI",
        help="a PF of it; to be given twice, one on each node")
    add("--tg", metavar="COMMAND", help="the traffic generator on the NIC's wire: is run as "
        "COMMAND --rate PPS --seconds S --size BYTES --flows N --dst-mac MAC, and prints a "
        'line {"sent": N, "received": N, "seconds": S}')
    add("--root", default="/", help=argparse.SUPPRESS)


def _check_file(option, name):
    if name is None:
        return
    folder = os.path.dirname(name) or "."
    if os.path.isdir(name) or not os.path.isdir(folder) or not os.access(
            name if os.path.exists(name) else folder, os.W_OK):
        raise WrongUse(f"{option} {name}: cannot be written")


def _check_files(raw):
    _check_file("--json", raw.json)
    if raw.plot is not None and not raw.plot.endswith(".png"):
        raise WrongUse(f"--plot {raw.plot}: a name that ends in .png is needed")
    _check_file("--plot", raw.plot)


def _words(option, text):
    try:
        return shlex.split(text)
    except ValueError as err:
        raise WrongUse(f"{option} {text}: {err}") from err


def _command(option, text):
    words = _words(option, text)
    if not words or shutil.which(words[0]) is None:
        raise WrongUse(f"{option} {text or 'COMMAND'}: there is no such program")
    return words


def can_bond(command: List[str]) -> bool:
    """Has this l3fwd the option without which it does not start on net_bonding?"""
    try:
        return layout.BONDING_NEEDS[2:].encode() in Path(shutil.which(command[0])).read_bytes()
    except OSError:
        return False


def _read_cases(raw, l3fwd):
    """(those to measure, why others are left out)."""
    cases = [name for name in layout.CASES if name in (raw.case or layout.CASES)]
    if layout.BONDING not in cases or can_bond(l3fwd):
        return cases, {}
    why = (f"this l3fwd has no {layout.BONDING_NEEDS} (of newer DPDK), without which it asks "
           "net_bonding for offloads that it does not have before it is configured")
    cases.remove(layout.BONDING)
    if not cases:
        raise WrongUse(f"--case {layout.BONDING}: {why}")
    return cases, {layout.BONDING: why}


def _read_pfs(raw):
    """Addresses and nodes of two PFs, which are to be on two nodes."""
    pfs = [cpus.pci_address(text) for text in raw.pf]
    if None in pfs:
        raise WrongUse(f"--pf {raw.pf[pfs.index(None)]}: a PCI address such as 0000:41:00.0 is "
                       "needed")
    if len(pfs) != 2:
        raise WrongUse("--pf: two PFs of the NIC are needed, one on each node")
    nodes = [cpus.node_of_pci(pf, raw.root) for pf in pfs]
    for pf, node in zip(pfs, nodes):
        if node is None:
            raise WrongUse(f"--pf {pf}: there is no such device")
        if node < 0:
            raise WrongUse(f"--pf {pf}: the machine does not say on which node it is "
                           "(see: octo doctor)")
    if nodes[0] == nodes[1]:
        raise WrongUse(f"--pf {pfs[1]}: is on node {nodes[1]} as {pfs[0]} is, so that none is "
                       "remote")
    return pfs, nodes


def _read_lcores(raw, nodes):
    usable = cpus.usable()
    if raw.lcores is None and not raw.pf:
        return usable[-1:]
    if raw.lcores is None:
        near = [c for c in usable if c != 0 and cpus.node_of(c, raw.root) == nodes[1]]
        if not near:
            raise WrongUse(f"--lcores: no CPU of node {nodes[1]} may be used by this process")
        return near[:1]
    lcores = cpus.parse(raw.lcores)
    if lcores is None:
        raise WrongUse(f"--lcores {raw.lcores}: a list of CPUs such as 1,4-7 is needed")
    if len(lcores) > MOST_LCORES:
        raise WrongUse(f"--lcores {raw.lcores}: {MOST_LCORES} at most")
    strange = sorted(set(lcores) - set(usable))
    if strange:
        raise WrongUse(f"--lcores {raw.lcores}: this process may not run on CPU {strange[0]}")
    return lcores


def _read_node(raw, lcores, nodes):
    if not raw.pf:
        return layout.NODE
    found = {cpus.node_of(cpu, raw.root) for cpu in lcores}
    if len(found) != 1 or not found <= set(nodes):
        raise WrongUse(f"--lcores {raw.lcores}: all are to be on one node, {nodes[0]} or "
                       f"{nodes[1]}")
    return found.pop()


def _check_combination(raw):
    simulated = [name for name in ("wire", "window", "model", "gen_cpu")
                 if getattr(raw, name) is not None]
    if raw.pf and simulated:
        raise WrongUse(f"--{simulated[0].replace('_', '-')}: is of the simulated NIC, not for --pf")
    if raw.pf and raw.tg is None:
        raise WrongUse("--tg COMMAND: is needed with --pf")
    if raw.tg is not None and not raw.pf:
        raise WrongUse("--tg: is for a NIC, whose PFs --pf has to name")
    if raw.search and raw.window is not None:
        raise WrongUse("--window: is not for --search, which offers a rate")
    if raw.max_rate is not None and not (raw.search or raw.pf):
        raise WrongUse("--max-rate: is for --search")
    if raw.wire == "veth" and os.geteuid() != 0:
        raise WrongUse("--wire veth: needs root, who alone makes interfaces")


def _read_model(name):
    if name == "none":
        return None
    name = name or "e5-2660v4"
    if "/" in name:
        path = Path(name).resolve()
    else:
        path = Path(__file__).resolve().parents[2] / "config" / "machines" / f"{name}.ini"
    if not path.is_file() or "," in str(path):
        raise WrongUse(f"--model {name}: there is no {path}")
    return str(path)


def _gen_cpu(raw, lcores):
    usable = cpus.usable()
    if raw.gen_cpu is None:
        return next((cpu for cpu in usable if cpu not in lcores), usable[0])
    if raw.gen_cpu not in usable:
        raise WrongUse(f"--gen-cpu {raw.gen_cpu}: this process may not run on it")
    return raw.gen_cpu


def _defaults(raw):
    """What depends on how it is measured: the user's word, else this."""
    on_hardware = bool(raw.pf)
    line_rate = LINK_BITS / 8 / (raw.size + WIRE_OVERHEAD)
    return {
        "runs": raw.runs or (1 if raw.quick else 3 if on_hardware else 7),
        "seconds": raw.seconds or (
            (1 if on_hardware else 0.2) if raw.quick else 10 if on_hardware else 2),
        "warm_up": 2 if on_hardware else 0.1 if raw.quick else 0.3,
        "max_rate": raw.max_rate or (line_rate if on_hardware else SIM_RATE),
        "width": 0.05 if raw.quick else 0.005,
        "trials": 1 if raw.quick else 3,
    }


def _parse(args: List[str]):
    """What can be judged before there is an l3fwd: as given, the PFs, their nodes, lcores."""
    raw = _parser().parse_args(args)
    _check_combination(raw)
    _check_files(raw)
    pfs, nodes = _read_pfs(raw) if raw.pf else ([], [])
    lcores = _read_lcores(raw, nodes)
    if raw.tg is not None:
        _command("--tg", raw.tg)
    _words("--eal", raw.eal)
    return raw, pfs, nodes, lcores


def check(args: List[str]) -> None:
    """WrongUse, before anything is built for it."""
    raw, _, nodes, lcores = _parse(args)
    if raw.l3fwd:
        _command("--l3fwd", raw.l3fwd)
    _read_model(raw.model)
    _read_node(raw, lcores, nodes)
    _gen_cpu(raw, lcores)


def read(args: List[str]) -> Options:
    """The options, or WrongUse."""
    raw, pfs, nodes, lcores = _parse(args)
    l3fwd = _command("--l3fwd", raw.l3fwd)
    cases, left_out = _read_cases(raw, l3fwd)
    return Options(
        cases=cases, left_out=left_out,
        size=raw.size, flows=raw.flows, window=raw.window or 512,
        search=raw.search or bool(pfs), wire=raw.wire or "sim",
        model=None if pfs or raw.search else _read_model(raw.model),
        pfs=pfs, nodes=nodes, node=_read_node(raw, lcores, nodes), tg=raw.tg or "",
        lcores=lcores, gen_cpu=_gen_cpu(raw, lcores), l3fwd=l3fwd,
        eal=shlex.split(raw.eal), json=raw.json, plot=raw.plot, quick=raw.quick, **_defaults(raw))
