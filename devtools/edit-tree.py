#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Applies a script of edits to a source tree that is not ours: only our own lines are kept here,
the tree's are found by regular expressions. Nothing is written unless all of it applies.

    edit-tree.py [--message] SCRIPT TREE

A script begins with comments and a commit message, which --message prints instead. Then, by the
first character of the line:

    @ FILE          edit this file, from its first line on; of the files that a pattern such as
                    release_*.rst matches, the last one
    / REGEX         go to the next line that matches
    \\ REGEX         go to the last line before this one that matches
    +TEXT           a new line below this one; go there
    <TEXT           a new line above this one; stay
    - REGEX         delete this line and all up to the next one that matches; go above
    -               delete this line; go above
    s REGEX => TEXT in this line, which must match; \\1 is a group
"""

import argparse
import glob
import os
import re
import sys


class Mismatch(Exception):
    """The tree is not what the script is for."""


class File:
    """A file of the tree, and the line that is being edited."""

    def __init__(self, tree, name):
        self.name = name
        self.at = -1
        try:
            with open(os.path.join(tree, name), encoding="utf-8") as file:
                self.lines = file.read().split("\n")
        except OSError as error:
            raise Mismatch(f"{name}: {error.strerror}") from error

    def find(self, regex):
        for number in range(self.at + 1, len(self.lines)):
            if re.search(regex, self.lines[number]):
                return number
        raise Mismatch(f"{self.name}: no line after line {self.at + 1} matches '{regex}'")

    def find_back(self, regex):
        for number in range(self.at - 1, -1, -1):
            if re.search(regex, self.lines[number]):
                return number
        raise Mismatch(f"{self.name}: no line before line {self.at + 1} matches '{regex}'")

    def delete(self, regex):
        last = self.find(regex) if regex else self.at
        del self.lines[self.at:last + 1]
        self.at -= 1

    def substitute(self, regex, text):
        line, count = re.subn(regex, text, self.lines[self.at], count=1)
        if not count:
            raise Mismatch(f"{self.name}: line {self.at + 1} does not match '{regex}'")
        self.lines[self.at] = line

    def edit(self, command, rest):
        if command == "/":
            self.at = self.find(rest.strip())
        elif command == "\\":
            self.at = self.find_back(rest.strip())
        elif command == "+":
            self.at += 1
            self.lines.insert(self.at, rest)
        elif command == "<":
            self.lines.insert(self.at, rest)
            self.at += 1
        elif command == "-":
            self.delete(rest.strip())
        elif command == "s" and " => " in rest:
            self.substitute(*rest.strip().split(" => ", 1))
        else:
            raise ValueError("not an edit")


def split_script(path):
    """The message, and the edits with their line numbers."""
    with open(path, encoding="utf-8") as script:
        lines = script.read().split("\n")
    message, edits = [], []
    for number, line in enumerate(lines, 1):
        if edits or line.startswith("@"):
            if line:
                edits.append((number, line))
        elif not line.startswith("#"):
            message.append(line)
    return "\n".join(message).strip() + "\n", edits


def newest(tree, pattern):
    names = glob.glob(pattern, root_dir=tree)
    return max(names) if names else pattern


def apply(path, tree):
    files = {}
    file = None
    _, edits = split_script(path)
    for number, line in edits:
        try:
            if line[0] == "@":
                name = newest(tree, line[1:].strip())
                file = files[name] = files.get(name) or File(tree, name)
                file.at = -1
            elif line[0] != "#":
                file.edit(line[0], line[1:])
        except Mismatch as error:
            raise Mismatch(f"{error} (line {number} of {os.path.basename(path)})") from error
        except ValueError as error:
            raise Mismatch(f"line {number} of {os.path.basename(path)} is not an edit") from error
    for file in files.values():
        with open(os.path.join(tree, file.name), "w", encoding="utf-8") as out:
            out.write("\n".join(file.lines))


def main():
    parser = argparse.ArgumentParser(description="applies a script of edits to a source tree")
    parser.add_argument("--message", action="store_true", help="print the message of the commit")
    parser.add_argument("script")
    parser.add_argument("tree", nargs="?")
    args = parser.parse_args()
    if args.message:
        sys.stdout.write(split_script(args.script)[0])
        return 0
    if not args.tree:
        parser.error("TREE is missing")
    try:
        apply(args.script, args.tree)
    except Mismatch as error:
        print(f"edit-tree.py: this tree is too different: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
