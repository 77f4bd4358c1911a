#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the calls between the files of drivers/net/octo against devtools/layers.txt.

An edge goes from the file that uses a symbol to the file that defines it, as the objects
of a build say. Upward edges (to a higher layer) and cycles of files are counted; layers.txt
says how many are allowed.
"""
import argparse
import pathlib
import re
import subprocess
import sys

LAYERS = pathlib.Path(__file__).with_name("layers.txt")


class Layers:
    def __init__(self, text):
        self.names, self.of, self.allow = [], {}, {}
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if line.startswith("allow "):
                _, what, number = line.split()
                self.allow[what] = int(number)
            elif line:
                name, files = re.fullmatch(r"layer (\w+): (.*)", line).groups()
                for file in files.split():
                    if file in self.of:
                        sys.exit(f"{LAYERS.name}: {file} is in two layers")
                    self.of[file] = len(self.names)
                self.names.append(name)


def read_symbols(objects):
    """The symbols that each file defines, and those that it uses."""
    defines, uses = {}, {}
    for obj in objects:
        file = re.fullmatch(r".*octo_(\w+)\.c\.o", obj.name).group(1)
        uses[file] = set()
        out = subprocess.run(["nm", obj], check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            kind, symbol = line.split()[-2:]
            if kind == "U":
                uses[file].add(symbol)
            elif kind in "TDBRVW":
                defines[symbol] = file
    return defines, uses


def read_edges(objects):
    """{file: {file that it uses: symbols}}"""
    defines, uses = read_symbols(objects)
    edges = {file: {} for file in uses}
    for file, symbols in uses.items():
        for symbol in symbols:
            to = defines.get(symbol, file)
            if to != file:
                edges[file].setdefault(to, set()).add(symbol)
    return edges


def find_cycles(edges):
    """Sets of files of which each reaches each other one (Tarjan), of two or more."""
    index, low, stack, found = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for to in edges.get(file, ()):
            if to not in index:
                visit(to)
                low[file] = min(low[file], low[to])
            elif to in stack:
                low[file] = min(low[file], index[to])
        if low[file] == index[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in sorted(edges):
        if file not in index:
            visit(file)
    return sorted(found, key=len, reverse=True)


def upward(edges, layers):
    return sorted((file, to, symbol) for file in edges for to in edges[file]
                  for symbol in edges[file][to] if layers.of[to] > layers.of[file])


def print_dot(edges, layers):
    print("digraph octo {\n\trankdir=TB; node [shape=box, fontname=sans];")
    for number, name in reversed(list(enumerate(layers.names))):
        files = " ".join(f"{f};" for f in sorted(edges) if layers.of[f] == number)
        print(f'\tsubgraph cluster_{name} {{ label="{number} {name}"; {files} }}')
    for file in sorted(edges):
        for to in sorted(edges[file]):
            up = " [color=red, penwidth=2]" if layers.of[to] > layers.of[file] else ""
            print(f"\t{file} -> {to}{up};")
    print("}")


def judge(what, count, allow):
    if count > allow:
        print(f"{what}: {count}, and {allow} are allowed")
    elif count < allow:
        print(f"{what}: {count}: lower the {allow} in {LAYERS.name}")
    return count == allow


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("objects", type=pathlib.Path, help="directory of the driver's objects")
    parser.add_argument("--layers", type=pathlib.Path, default=LAYERS)
    parser.add_argument("--dot", action="store_true", help="print the graph for graphviz instead")
    parser.add_argument("-v", action="store_true", help="name the upward edges")
    args = parser.parse_args()
    layers = Layers(args.layers.read_text())
    edges = read_edges(sorted(args.objects.glob("*.c.o")))
    if not edges:
        sys.exit(f"{args.objects}: no objects; build first")
    unknown = sorted(set(edges) - set(layers.of))
    if unknown:
        sys.exit(f"{LAYERS.name} has no layer for: {' '.join(unknown)}")
    if args.dot:
        print_dot(edges, layers)
        return
    up = upward(edges, layers)
    cycles = find_cycles(edges)
    ok = judge("upward edges", len(up), layers.allow["upward"])
    ok &= judge("files in the largest cycle", max(map(len, cycles), default=0),
                layers.allow["cycle"])
    if args.v or not ok:
        for file, to, symbol in up:
            print(f"  {layers.names[layers.of[file]]} {file} -> "
                  f"{layers.names[layers.of[to]]} {to}: {symbol}")
        for cycle in cycles:
            print(f"  cycle of {len(cycle)}: {' '.join(cycle)}")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
