#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the PMD information that dpdk-pmdinfo.py reads from a driver.

usage: pmdinfo-gen.py OUTPUT.c OBJECT.o...

RTE_PMD_REGISTER_* leave the driver's name in a symbol that begins with this_pmd_name,
its parameters in __<name>_param_string_export and its kernel modules in
__<name>_kmod_dep_export. Each driver becomes one JSON string that starts with
PMD_INFO_STRING=, as DPDK's own build makes it.
"""

import json
import re
import sys

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


class ObjectFile:
    """Strings behind the symbols of one relocatable object."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.elf = ELFFile(self.file)
        tables = [s for s in self.elf.iter_sections() if isinstance(s, SymbolTableSection)]
        self.symbols = {s.name: s for t in tables for s in t.iter_symbols() if s.name}

    def string(self, name):
        """The NUL-terminated string at a symbol, or None."""
        symbol = self.symbols.get(name)
        if symbol is None or not isinstance(symbol["st_shndx"], int):
            return None
        data = self.elf.get_section(symbol["st_shndx"]).data()[symbol["st_value"]:]
        return data[: data.index(0)].decode()


def drivers(path):
    """The information of every driver that an object registers."""
    obj = ObjectFile(path)
    for symbol in sorted(obj.symbols):
        if not re.fullmatch(r"this_pmd_name\w*", symbol):
            continue
        name = obj.string(symbol)
        yield {
            "name": name,
            "params": obj.string("__" + name + "_param_string_export"),
            "kmod": obj.string("__" + name + "_kmod_dep_export"),
            "pci_ids": [],
        }


def main():
    output, *objects = sys.argv[1:]
    lines = ["/* written by pmdinfo-gen.py */"]
    for info in (d for path in objects for d in drivers(path)):
        info = {k: v for k, v in info.items() if v is not None}
        text = json.dumps("PMD_INFO_STRING= " + json.dumps(info))
        variable = info["name"] + "_pmd_info"
        lines.append("extern const char %s[];" % variable)
        lines.append("const char %s[] __attribute__((used)) =\n\t%s;" % (variable, text))
    if len(lines) == 1:
        sys.exit("pmdinfo-gen.py: no driver is registered in " + ", ".join(objects))
    with open(output, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
