#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the tables of ethdev's callbacks in the guide of net_octo, from the source.

usage: callbacks.py [--write] DPDK_SOURCE

Without --write the tables are only compared: they must name every callback of that DPDK, each as
the driver or devtools/callbacks.ini has it. With --write they are made anew; give the newest DPDK.
"""

import argparse
import configparser
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "drivers/net/octo"
GUIDE = ROOT / "doc/guides/nics/octo.rst"
REASONS = ROOT / "devtools/callbacks.ini"
BEGIN = ".. callbacks: made by devtools/callbacks.py\n"
END = ".. end of callbacks\n"
TITLES = ("Callbacks of ethdev", "Functions of the data path", "Callbacks of rte_flow")
WIDTH = 116


def fail(message):
    sys.exit(f"callbacks.py: {message}")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def search(pattern, text):
    return re.search(pattern, text, re.DOTALL | re.MULTILINE)


def header_of(dpdk, name):
    path = dpdk / "lib/ethdev" / name
    if not path.exists():
        fail(f"{dpdk}: no source of DPDK: {name} is not there")
    return without_comments(path.read_text())


def ops_of(dpdk):
    """All names of struct eth_dev_ops, in ethdev's order."""
    table = search(r"^struct eth_dev_ops \{(.*?)^\};", header_of(dpdk, "ethdev_driver.h"))
    return re.findall(r"^\s*\w+\s+(\w+)\s*;", table[1], re.MULTILINE)


def fast_path_of(dpdk):
    """The functions that struct rte_eth_dev begins with."""
    table = search(r"^struct (?:\w+ )?rte_eth_dev \{(.*?)struct rte_eth_dev_data",
                   header_of(dpdk, "ethdev_driver.h"))
    return re.findall(r"^\s*eth_\w+_t (\w+);", table[1], re.MULTILINE)


def flow_ops_of(dpdk):
    """Those of rte_flow; those of flow queues have a structure of their own since 24.03."""
    header = header_of(dpdk, "rte_flow_driver.h")
    names = re.findall(r"\(\*(\w+)\)", search(r"^struct rte_flow_ops \{(.*?)^\};", header)[1])
    queues = search(r"^struct (?:\w+ )?rte_flow_fp_ops \{(.*?)^\}", header)
    return names + re.findall(r"_t (\w+);", queues[1] if queues else "")


def served_ops():
    """What is between the braces; macros stand for those of newer ethdevs."""
    table = search(r"struct eth_dev_ops octo_dev_ops = \{(.*?)^\};",
                   (DRIVER / "octo_ops.c").read_text())[1]
    headers = "".join(path.read_text() for path in sorted(DRIVER.glob("*.h")))
    for macro in re.findall(r"^\t(OCTO_\w+_OPS),$", table, re.MULTILINE):
        lines = re.search(rf"#define {macro}((?:.*\\\n)*.*\n)", headers)[1]
        table = table.replace(macro, re.sub(r"\\\n", "\n", lines))
    return table


def served_fast_path():
    """The functions that set the pointers; a macro sets one that newer ethdevs have."""
    text = (DRIVER / "octo_ethdev.c").read_text()
    body = "".join(search(rf"^{function}\(.*?\n\{{(.*?)^\}}", text)[1]
                   for function in ("set_bursts", "set_entry_points"))
    body = re.sub(r"OCTO_SET_(\w+)\(dev", lambda macro: f"dev->{macro[1].lower()} = ", body)
    return re.sub(r"dev->(\w+) = (?!&)", r".\1 = ", body)


def served_flow_ops():
    """What is between the braces of both structures."""
    text = (DRIVER / "octo_flow_ops.c").read_text()
    return "".join(re.findall(r"^(?:static )?const struct rte_flow_\w*ops \w+ = \{(.*?)^\};", text,
                              re.DOTALL | re.MULTILINE))


def served(body):
    """By the headings in the source: how, and the names."""
    return {heading: re.findall(r"\.(\w+) = ", names)
            for heading, names in re.findall(r"/\* (.*?) \*/(.*?)(?=/\*|\Z)", body, re.DOTALL)}


def not_served(title):
    """Those that the driver lacks, by reason."""
    reasons = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    reasons.read(REASONS)
    found = {}
    for section in reasons.sections():
        how, _, of = section.partition(" | ")
        if of == title:
            for name, why in reasons[section].items():
                found.setdefault(f"{how}: {why}", []).append(name)
    return found


def groups(title, body):
    """How, and the names; each name is there once."""
    found = {**served(body), **not_served(title)}
    names = [name for group in found.values() for name in group]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        fail(f"named more than once: {', '.join(twice)}")
    return found


def check_complete(names, found):
    known = {name for group in found.values() for name in group}
    missing = [name for name in names if name not in known]
    if missing:
        fail(f"this DPDK has callbacks that net_octo neither has nor refuses in {REASONS.name}: "
             f"{', '.join(missing)}")


def cell(mark, text):
    lines = textwrap.wrap(text, WIDTH - 7, break_long_words=False, break_on_hyphens=False)
    return f"   {mark} - " + "\n       ".join(lines) + "\n"


def make(title, found):
    rows = [("Callbacks", "How")]
    rows += [(", ".join(f"``{name}``" for name in names), how) for how, names in found.items()]
    table = f".. list-table:: {title}\n   :header-rows: 1\n   :widths: 70 30\n\n"
    return table + "".join(cell("*", names) + cell(" ", how) for names, how in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="make the table anew")
    parser.add_argument("dpdk", type=Path, metavar="DPDK_SOURCE")
    args = parser.parse_args()
    tables = []
    for title, names, body in ((TITLES[0], ops_of, served_ops),
                               (TITLES[1], fast_path_of, served_fast_path),
                               (TITLES[2], flow_ops_of, served_flow_ops)):
        found = groups(title, body())
        check_complete(names(args.dpdk), found)
        tables.append(make(title, found))
    before, rest = GUIDE.read_text().split(BEGIN)
    now, after = rest.split(END)
    table = "\n" + "\n".join(tables) + "\n"
    if args.write:
        GUIDE.write_text(before + BEGIN + table + END + after)
    elif now != table:
        fail(f"a table in {GUIDE.relative_to(ROOT)} is old: run devtools/callbacks.py --write")


main()
