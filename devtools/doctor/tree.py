# SPDX-License-Identifier: BSD-3-Clause
"""Reads files below a root, of this machine or of a captured one, and remembers what it read."""

import os
import re

from .text import printable

MOST_BYTES = 65536  # of one file, as a rule; VPD has 32 KiB at most
MOST_LINKS = 40  # on one path, as in Linux
MOST_DEPTH = 64  # directories on one path; sysfs has some twenty
MOST_LOOKS = 2000000  # at files, links, names and parts of paths: some ten thousands are usual


class TooMuch(Exception):
    """More than any machine has; says of what."""


class Tree:
    """Paths are relative to the root. What is not there, or may not be read, is None or empty.

    source: a capture.Capture or a directory.Directory. Links are followed here, as in a chroot:
    none leads out of the root.

    seen: path -> bytes of a file, str that a link holds, or None for a directory;
    of what was read only. Links are kept as they are, files below their true directory.
    """

    def __init__(self, source):
        self._source = source
        self._followed = {"": ""}  # directories by path, where they are when links are followed
        self._looks = 0
        self.seen = {}

    def _look(self, count=1):
        self._looks += count
        if self._looks > MOST_LOOKS:
            raise TooMuch(f"more than {MOST_LOOKS} files would have to be read")

    def _link_at(self, path):
        """What a link holds; None if it is no link, or leads to what has no name."""
        self._look()
        target = self._source.link(path)
        return target if target == printable(target or "") else None

    def _follow(self, path):
        """Where it is when links are followed; None if there are too many, or that is too deep."""
        todo, true, links = path.split("/")[::-1], [], 0
        self._look(len(todo))
        while todo:
            self._look(len(true))  # which are gone through again
            part = todo.pop()
            if part in ("", ".", ".."):
                true = true[:-1] if part == ".." else true
                continue
            if len(true) == MOST_DEPTH:
                return None
            target = self._link_at("/".join([*true, part]))
            if target is None:
                true.append(part)
                continue
            links += 1
            if links > MOST_LINKS:
                return None
            true = [] if target.startswith("/") else true
            parts = target.split("/")[::-1]
            self._look(len(parts))
            todo += parts
        return "/".join(true)

    def _directory(self, path):
        """As _follow(), of directories, which are asked for again and again."""
        if path not in self._followed:
            self._followed[path] = self._follow(path)
        return self._followed[path]

    def _here(self, path):
        """Where a file or a link is itself; None if its directory is nowhere."""
        parent, _, name = path.rpartition("/")
        parent = self._directory(parent)
        return None if parent is None else f"{parent}/{name}".lstrip("/")

    def read_bytes(self, path, keep=None, most=MOST_BYTES):
        """A file's bytes; those that keep() returns are all that is remembered and returned."""
        here = self._here(path)
        true = None if here is None else self._follow(here)
        data = None if true is None else self._source.read(true, most)
        if data is None:
            return None
        data = keep(data) if keep else data
        # proc/net and proc/mounts lead to the process that asks
        self.seen[path if path.startswith("proc/") else true] = data
        return data

    def read(self, path, keep=None, most=MOST_BYTES):
        """A file's text, without blanks around it; what cannot be printed becomes "?"."""
        data = self.read_bytes(path, (lambda d: keep(d.decode(errors="replace")).encode())
                               if keep else None, most)
        if data is None:
            return None
        return printable(data.decode(errors="replace").strip("\0 \t\n"), also="\t\n")

    def read_int(self, path, default=None):
        """A file's number, decimal or with 0x in front, of at most 64 bits."""
        text = self.read(path)
        try:
            value = int(text, 0)
        except (TypeError, ValueError):
            return default
        return value if abs(value) < 1 << 64 else default

    def link(self, path):
        """Where a link leads, as a path in the tree."""
        here = self._here(path)
        target = None if here is None else self._link_at(here)
        if target is None:
            return None
        self.seen[here] = target
        return os.path.normpath(os.path.join(os.sep, os.path.dirname(here), target)).lstrip(os.sep)

    def link_name(self, path):
        """The last part of where a link leads: of a driver or a group, its name."""
        target = self.link(path)
        return None if target is None else os.path.basename(target)

    def names(self, path, pattern=".*"):
        """The sorted names in a directory that the pattern matches as a whole."""
        true = self._directory(path)
        names = None if true is None else self._source.names(true)
        if names is None:
            return []
        self._look(len(names))
        found = sorted(n for n in filter(re.compile(pattern).fullmatch, names)
                       if n == printable(n))
        self.seen.setdefault(true, None)
        for name in found:
            here = f"{true}/{name}"
            if self.link(here) is None and self._source.is_directory(here):
                self.seen.setdefault(here, None)
        return found
