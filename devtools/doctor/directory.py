# SPDX-License-Identifier: BSD-3-Clause
"""A machine as a directory with sys/ and proc/ in it: what a Tree reads from."""

import os
import stat


class Directory:
    """Paths are relative to it and have no links in them but the last part.

    What is not there, or may not be read, is None. A directory that its owner changes meanwhile
    may lead elsewhere.
    """

    def __init__(self, root):
        self._root = os.path.realpath(root)

    def _full(self, path):
        return os.path.join(self._root, path)

    def link(self, path):
        """What a link holds; None if it is no link."""
        try:
            return os.readlink(self._full(path))
        except OSError:
            return None

    def is_directory(self, path):
        """Not through a link."""
        try:
            return stat.S_ISDIR(os.lstat(self._full(path)).st_mode)
        except OSError:
            return False

    def read(self, path, most):
        """The first bytes of a file. To open a pipe or a device has effects: they are not."""
        try:
            if not stat.S_ISREG(os.lstat(self._full(path)).st_mode):
                return None
            handle = os.open(self._full(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(handle, "rb") as file:
                return file.read(most)
        except OSError:
            return None

    def names(self, path):
        """In a directory, in no order."""
        try:
            return os.listdir(self._full(path))
        except OSError:
            return None
