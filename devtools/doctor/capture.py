# SPDX-License-Identifier: BSD-3-Clause
"""A tar of what was read on a machine, written there and unpacked elsewhere."""

import io
import os
import tarfile

MOST_MEMBERS = 100000
MOST_BYTES = 1 << 20  # of one file


class BadCapture(Exception):
    """Not a capture; says why."""


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


def _checked(member):
    """A path below the directory that it is unpacked to."""
    name = os.path.normpath(member.name)
    if os.path.isabs(name) or name.split(os.sep)[0] == os.pardir:
        raise BadCapture(f"'{member.name}' would be outside of it")
    if not (member.isfile() or member.isdir() or member.issym()):
        raise BadCapture(f"'{member.name}' is no file, directory or link")
    if member.size > MOST_BYTES:
        raise BadCapture(f"'{member.name}' is too large")
    return name


def _unpack(tar, directory):
    """Links come last, so that nothing is written through one."""
    links = []
    for number, member in enumerate(tar):
        if number >= MOST_MEMBERS:
            raise BadCapture(f"more than {MOST_MEMBERS} files")
        path = os.path.join(directory, _checked(member))
        if member.issym():
            links.append((path, member.linkname))
            continue
        os.makedirs(path if member.isdir() else os.path.dirname(path), exist_ok=True)
        if member.isfile():
            with open(path, "xb") as file:
                file.write(tar.extractfile(member).read())
    for path, target in links:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)


def unpack(path, directory):
    """Into an empty directory. The tar may come from anybody."""
    try:
        with tarfile.open(path) as tar:
            _unpack(tar, directory)
    except (tarfile.TarError, EOFError) as err:
        raise BadCapture("it is neither a directory nor a tar") from err
