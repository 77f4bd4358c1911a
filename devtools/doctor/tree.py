# SPDX-License-Identifier: BSD-3-Clause
"""Reads files below a root, of this machine or of a captured one, and remembers what it read."""

import os
import re

MOST_BYTES = 65536  # of one file; VPD, the largest that is read, has 32 KiB at most


class Tree:
    """Paths are relative to the root. What is not there, or may not be read, is None or empty.

    seen: path -> bytes of a file, str that a link holds, or None for a directory;
    of what was read only. Links are kept as they are, files below their true directory.
    """

    def __init__(self, root):
        self._root = os.path.realpath(root)
        self.seen = {}

    def _true(self, path):
        """Where it is when links are followed; None if that is outside of the root."""
        true = os.path.realpath(os.path.join(self._root, path))
        if os.path.commonpath([true, self._root]) != self._root:
            return None
        return os.path.relpath(true, self._root)

    def _full(self, path):
        return os.path.join(self._root, path)

    def read_bytes(self, path, keep=None):
        """A file's bytes; those that keep() returns are all that is remembered and returned."""
        true = self._true(path)
        if true is None:
            return None
        try:
            with open(self._full(true), "rb") as file:
                data = file.read(MOST_BYTES)
        except OSError:
            return None
        data = keep(data) if keep else data
        # proc/net and proc/mounts lead to the process that asks
        self.seen[path if path.startswith("proc/") else true] = data
        return data

    def read(self, path, keep=None):
        """A file's text, without blanks around it."""
        data = self.read_bytes(path, (lambda d: keep(d.decode(errors="replace")).encode())
                               if keep else None)
        return None if data is None else data.decode(errors="replace").strip("\0 \t\n")

    def read_int(self, path, default=None):
        """A file's number, decimal or with 0x in front."""
        text = self.read(path)
        try:
            return int(text, 0)
        except (TypeError, ValueError):
            return default

    def link(self, path):
        """Where a link leads, as a path in the tree."""
        parent = self._true(os.path.dirname(path))
        if parent is None:
            return None
        here = os.path.join(parent, os.path.basename(path))
        try:
            target = os.readlink(self._full(here))
        except OSError:
            return None
        self.seen[here] = target
        return os.path.normpath(os.path.join(os.sep, parent, target)).lstrip(os.sep)

    def link_name(self, path):
        """The last part of where a link leads: of a driver or a group, its name."""
        target = self.link(path)
        return None if target is None else os.path.basename(target)

    def names(self, path, pattern=".*"):
        """The sorted names in a directory that the pattern matches as a whole."""
        true = self._true(path)
        try:
            found = sorted(filter(re.compile(pattern).fullmatch, os.listdir(self._full(true))))
        except (OSError, TypeError):
            return []
        self.seen.setdefault(true, None)
        for name in found:
            here = os.path.join(true, name)
            if os.path.islink(self._full(here)):
                self.link(here)
            elif os.path.isdir(self._full(here)):
                self.seen.setdefault(here, None)
        return found
