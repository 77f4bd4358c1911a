# SPDX-License-Identifier: BSD-3-Clause
"""A tar of what was read on a machine, written there and read elsewhere.

It is read into memory, and never unpacked: nothing in it can be written anywhere.
"""

import io
import tarfile

from . import untar
from .untar import BadCapture

MOST_MEMBERS = 100000  # some thousands are usual
MOST_DEPTH = 64


def write(seen, path):
    """What a tree has seen, as a tar."""
    with tarfile.open(path, "w") as tar:
        for name in sorted(seen):
            what = seen[name]
            info = tarfile.TarInfo(name)
            if what is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
            elif isinstance(what, str):
                info.type, info.linkname = tarfile.SYMTYPE, what
                tar.addfile(info)
            else:
                info.size = len(what)
                tar.addfile(info, io.BytesIO(what))


class Capture:
    """What a Tree reads from. The file may come from anybody. Raises BadCapture, OSError."""

    def __init__(self, path):
        self._root = {}  # name -> bytes of a file, str that a link holds, or such a dict
        self._members = 0  # with directories that have no member of their own
        with open(path, "rb") as file:
            for name, what in untar.members(file):
                self._add(name, what)

    def _add(self, path, what):
        """A member; what is None for a directory. The directories that it is in may be missing."""
        parts = [p for p in path.split("/") if p not in ("", ".")]
        if path.startswith("/") or ".." in parts:
            raise BadCapture(f"'{path}' would be outside of it")
        if len(parts) > MOST_DEPTH:
            raise BadCapture(f"'{path}' is more than {MOST_DEPTH} directories deep")
        here = self._root
        for part in parts if what is None else parts[:-1]:
            self._members += part not in here
            here = here.setdefault(part, {})
            if not isinstance(here, dict):
                raise BadCapture(f"'{path}' is below '{part}', which is no directory")
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise BadCapture(f"more than {MOST_MEMBERS} files are in it")
        if what is None:
            return
        if not parts or parts[-1] in here:
            raise BadCapture(f"'{path}' is in it twice")
        here[parts[-1]] = what

    def _at(self, path):
        here = self._root
        for part in filter(None, path.split("/")):
            here = here.get(part) if isinstance(here, dict) else None
        return here

    def link(self, path):
        """What a link holds; None if it is no link."""
        what = self._at(path)
        return what if isinstance(what, str) else None

    def is_directory(self, path):
        """Not through a link."""
        return isinstance(self._at(path), dict)

    def read(self, path, most):
        """The first bytes of a file."""
        what = self._at(path)
        return what[:most] if isinstance(what, bytes) else None

    def names(self, path):
        """In a directory, in no order."""
        what = self._at(path)
        return list(what) if isinstance(what, dict) else None
