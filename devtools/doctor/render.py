# SPDX-License-Identifier: BSD-3-Clause
"""Writes a diagnosis for people. Pure: returns text."""

import textwrap

from . import cpulist
from .eal import AS_IT_IS
from .model import IN_THE_WAY

COLUMNS = 96
MARK_WIDTH = len(IN_THE_WAY)


def _table(rows, indent="  "):
    """Columns aligned, without blanks at the end of lines."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [indent + "  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]


def _size(kilobytes):
    return f"{kilobytes >> 20} GiB" if kilobytes >= 1 << 20 else (
        f"{kilobytes >> 10} MiB" if kilobytes >= 1 << 10 else f"{kilobytes} KiB")


def _machine_line(machine):
    sockets, nodes = len(machine.sockets()), len(machine.nodes)
    without = ", vfio does without" if machine.unsafe_no_iommu else ""
    iommu = "on" if machine.iommu else f"off{without}"
    words = [f"{sockets} socket{'s' * (sockets != 1)}", f"{nodes} node{'s' * (nodes != 1)}",
             f"IOMMU {iommu}", f"Linux {machine.kernel or 'unknown'}"]
    return "Machine: " + ", ".join(words) + (", virtual" if machine.virtual else "")


def _nodes(machine):
    sizes = sorted({p.size_kb for n in machine.nodes for p in n.pages})
    rows = [["Node", "Socket", "CPUs", "Cores", "Memory",
             *(f"Free pages of {_size(s)}" for s in sizes)]]
    for node in machine.nodes:
        cores = {min(machine.siblings.get(c) or [c]) for c in node.cpus}
        pages = {p.size_kb: f"{p.free} of {p.total}" for p in node.pages}
        rows.append([str(node.number), ",".join(map(str, node.sockets)) or "-",
                     cpulist.render(node.cpus) or "-", str(len(cores)),
                     "-" if node.memory_mb is None else f"{node.memory_mb} MiB",
                     *(pages.get(s, "-") for s in sizes)])
    return _table(rows)


def _link(width, speed):
    return "-" if width is None else f"x{width}" + ("" if speed is None else f" {speed:g} GT/s")


def _pf_row(pf, port, several):
    node = str(pf.node) if pf.node >= 0 else "?" if several else "-"
    group = "-" if pf.group is None else pf.group.number
    return [pf.address, node, str(port), pf.driver or "none",
            ",".join(n.name for n in pf.netdevs) or "-", _link(pf.link.width, pf.link.speed),
            _link(pf.link.max_width, pf.link.max_speed),
            _link(pf.parent.max_width, pf.parent.max_speed), group]


def _board_title(board, number):
    vpd = board.pfs[0].vpd
    title = f"NIC {number}: {vpd.get('name') or 'PCI ' + board.pfs[0].ids}"
    details = [f"{what} {vpd[key]}" for key, what in (("PN", "part"), ("SN", "serial"))
               if vpd.get(key)]
    known_by = [e for e in board.evidence if e != "slot"]
    if known_by:
        details.append("one board by " + ", ".join(known_by))
    return f"{title} ({'; '.join(details)}): {board.kind}" if details else f"{title}: {board.kind}"


def _board(board, number, several):
    rows = [["PF", "Node", "Port", "Driver", "Netdev", "Link", "PF can", "Slot can", "Group"]]
    for port, wire in enumerate(board.wires):
        rows += [_pf_row(pf, port, several) for pf in wire.pfs]
    return [*textwrap.wrap(_board_title(board, number), COLUMNS, subsequent_indent="    "),
            *_table(rows)]


def _to_do(lines, indent):
    """Sentences after an arrow, and commands, which are not broken, so that they can be copied."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append(f"{indent}   {line}")
        else:
            found += textwrap.wrap(line, COLUMNS, break_on_hyphens=False,
                                   initial_indent=f"{indent}-> ", subsequent_indent=f"{indent}   ")
    return found


def _finding(finding):
    indent = " " * (MARK_WIDTH + 4)
    lines = textwrap.wrap(f"{finding.about} {finding.text}", COLUMNS, break_on_hyphens=False,
                          initial_indent=f"  {finding.mark:<{MARK_WIDTH}}  ",
                          subsequent_indent=indent)
    return lines + _to_do(finding.todo, indent)


def _quoted(argument):
    """Brackets are the shell's, too."""
    option, sign, value = argument.partition("=")
    return f"{option}{sign}'{value}'" if "[" in value else argument


def _tier(arguments):
    parts = [f"tier {arguments.tier}" if arguments.tier else "", arguments.why]
    text = ": ".join(filter(None, parts))
    if not text:
        return []
    text = text[:1].upper() + text[1:] + "."
    return textwrap.wrap(text, COLUMNS, initial_indent="  ", subsequent_indent="  ",
                         break_on_hyphens=False) + [""]


def _part(title, lines):
    return [f"  {title}:", *_to_do(lines, "  "), ""] if lines else []


def _arguments(number, arguments, ready):
    scope = f" {arguments.scope}" if arguments.scope else ""
    else_ = "else " if scope else ""
    title = f"EAL arguments for NIC {number}{scope}" + (
        ":" if ready or arguments.scope == AS_IT_IS else f", once nothing {else_}is in the way:")
    queues = max(arguments.workers, 1)
    return ["", title, "    " + " \\\n    ".join(map(_quoted, arguments.eal)), "",
            *_tier(arguments), *_part("Before", arguments.before),
            *_part("Avoid", arguments.avoid),
            "  as in:", "    dpdk-testpmd $(./octo plugins) ARGUMENTS -- -i "
            f"--rxq={queues} --txq={queues} --nb-cores={queues}"]


def text(diagnosis):
    """All of it."""
    machine, ready = diagnosis.machine, diagnosis.is_ready()
    lines = [_machine_line(machine), *_nodes(machine)]
    for number, board in enumerate(diagnosis.boards):
        lines += ["", *_board(board, number, len(machine.nodes) > 1)]
    if machine.vfs:
        lines += ["", f"Left out: {machine.vfs} virtual functions"]
    lines += ["", "Findings:"]
    for finding in diagnosis.findings:
        lines += _finding(finding)
    for number, arguments in diagnosis.arguments:
        lines += _arguments(number, arguments, ready)
    obstacles = sum(f.mark == IN_THE_WAY for f in diagnosis.findings)
    lines += ["", "Ready." if ready else f"Not ready: {obstacles} in the way."]
    return "\n".join(lines) + "\n"
