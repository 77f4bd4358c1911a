#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the table of ethdev's callbacks in the guide of net_octo, from the source.

usage: callbacks.py [--write] DPDK_SOURCE

Without --write the table is only compared: it must name every callback of that DPDK, each as
octo_dev_ops or devtools/callbacks.ini has it. With --write it is made anew; give the newest DPDK.
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
WIDTH = 116


def fail(message):
    sys.exit(f"callbacks.py: {message}")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def callbacks_of(dpdk):
    """All names of struct eth_dev_ops, in ethdev's order."""
    path = dpdk / "lib/ethdev/ethdev_driver.h"
    if not path.exists():
        fail(f"{dpdk}: no source of DPDK: {path.name} is not there")
    table = re.search(r"^struct eth_dev_ops \{(.*?)^\};", path.read_text(), re.DOTALL | re.MULTILINE)
    return re.findall(r"^\s*\w+\s+(\w+)\s*;", without_comments(table[1]), re.MULTILINE)


def served():
    """By the headings in octo_dev_ops: how, and the names; macros stand for those of newer ethdevs."""
    table = re.search(r"struct eth_dev_ops octo_dev_ops = \{(.*?)^\};",
                      (DRIVER / "octo_ops.c").read_text(), re.DOTALL | re.MULTILINE)[1]
    headers = "".join(path.read_text() for path in sorted(DRIVER.glob("*.h")))
    for macro in re.findall(r"^\t(OCTO_\w+_OPS),$", table, re.MULTILINE):
        lines = re.search(rf"#define {macro}((?:.*\\\n)*.*\n)", headers)[1]
        table = table.replace(macro, re.sub(r"\\\n", "\n", lines))
    found = {}
    for heading, body in re.findall(r"/\* (.*?) \*/(.*?)(?=/\*|\Z)", table, re.DOTALL):
        found[heading] = re.findall(r"\.(\w+) = ", body)
    return found


def not_served():
    """Those that octo_dev_ops lacks, by reason."""
    reasons = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    reasons.read(REASONS)
    found = {}
    for section in reasons.sections():
        for name, why in reasons[section].items():
            found.setdefault(f"{section}: {why}", []).append(name)
    return found


def groups():
    """How, and the names; each name is there once."""
    found = {**served(), **not_served()}
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


def make(found):
    rows = [("Callbacks", "How")]
    rows += [(", ".join(f"``{name}``" for name in names), how) for how, names in found.items()]
    table = ".. list-table:: Callbacks of ethdev\n   :header-rows: 1\n   :widths: 70 30\n\n"
    return table + "".join(cell("*", names) + cell(" ", how) for names, how in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="make the table anew")
    parser.add_argument("dpdk", type=Path, metavar="DPDK_SOURCE")
    args = parser.parse_args()
    found = groups()
    check_complete(callbacks_of(args.dpdk), found)
    before, rest = GUIDE.read_text().split(BEGIN)
    now, after = rest.split(END)
    table = f"\n{make(found)}\n"
    if args.write:
        GUIDE.write_text(before + BEGIN + table + END + after)
    elif now != table:
        fail(f"the table in {GUIDE.relative_to(ROOT)} is old: run devtools/callbacks.py --write")


main()
