# SPDX-License-Identifier: BSD-3-Clause
"""Reads the members of a tar that may come from anybody: files, directories and links only.

tarfile is for friends: what it does with extended headers has no bounds.
"""

import re
import zlib

from .text import printable

MOST_BYTES = 64 << 20  # of a whole tar, after gzip
MOST_FILE = 1 << 20
MOST_EXTENDED = 65536  # of a header before the header
MOST_NAME = 1024  # of a name or a link
BLOCK = 512
CHUNK = 65536

FILE, DIRECTORY, LINK = (b"0", b"\0"), b"5", b"2"
PAX_RECORD = re.compile(rb"([0-9]{1,5}) ([^=]{1,256})=")
PAX, PAX_GLOBAL, GNU_NAME, GNU_LINK = b"x", b"g", b"L", b"K"

NO_TAR = "it is neither a directory nor a tar"


class BadCapture(Exception):
    """Not a capture; says why."""


class _Reader:
    """Blocks of a file, up to a limit of what is read and of what that becomes."""

    def __init__(self, file):
        self._file = file
        self._left = MOST_BYTES
        self.is_tar = False  # a header was found
        self._gzip = None
        if file.peek(2)[:2] == b"\x1f\x8b":
            self._gzip = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    def _take(self, size):
        self._left -= size
        if self._left < 0:
            raise BadCapture(f"it has more than {MOST_BYTES >> 20} MiB")

    def _inflate(self, size):
        """At most that many bytes; none at the end."""
        while not self._gzip.eof:
            data = self._gzip.unconsumed_tail
            if not data:
                data = self._file.read(CHUNK)
                self._take(len(data))
            if not data:
                break
            try:
                found = self._gzip.decompress(data, size)
            except zlib.error as err:
                raise BadCapture("what gzip made of it is broken") from err
            if found:
                return found
        return b""

    def _read(self, size):
        if not self._gzip:
            return self._file.read(size)
        data = b""
        while len(data) < size:
            more = self._inflate(size - len(data))
            if not more:
                break
            data += more
        return data

    def blocks(self, size):
        """That many bytes; the rest of their last block is skipped."""
        padded = -(-size // BLOCK) * BLOCK
        self._take(padded)
        data = self._read(padded)
        if len(data) < padded:
            raise BadCapture("it is cut off" if self.is_tar else NO_TAR)
        return data[:size]


def _number(field, what):
    """Octal digits. There is another way to write more than fits: it would be too much."""
    match = re.fullmatch(rb"[ \0]*([0-7]*)[ \0]*", field)
    if not match:
        raise BadCapture(f"{what} is no number")
    return int(match[1] or b"0", 8)


def _is_header(block):
    unsigned = sum(block[:148]) + 8 * ord(" ") + sum(block[156:])
    return re.fullmatch(rb"[ \0]*[0-7]+[ \0]*", block[148:156]) and (
        _number(block[148:156], "a checksum") == unsigned)


def _string(field):
    return field.partition(b"\0")[0]


def _text(data, what):
    """As it is if it is ASCII that can be printed, as all of sysfs is."""
    text = data.decode("latin-1")
    if len(data) > MOST_NAME:
        raise BadCapture(f"{what} '{printable(text[:64])}...' is longer than {MOST_NAME} bytes")
    if not text or text != printable(text):
        raise BadCapture(f"{what} '{printable(text)}' cannot be printed" if text
                         else f"{what} is empty")
    return text


def _pax(data):
    """Keys and values: LENGTH KEY=VALUE, with an end of line."""
    values, at = {}, 0
    while at < len(data):
        match = PAX_RECORD.match(data, at)
        end = at + int(match[1]) if match else 0
        if not match or not match.end() < end <= len(data) or data[end - 1:end] != b"\n":
            raise BadCapture("an extended header is broken")
        values[match[2]] = data[match.end():end - 1]
        at = end
    if b"size" in values or any(key.startswith(b"GNU.sparse") for key in values):
        raise BadCapture("a file in it is sparse, or too large")
    return {key: values[key] for key in (b"path", b"linkpath") if key in values}


def _extended(reader, kind, size):
    """What a header before the header says of the next one."""
    if size > MOST_EXTENDED:
        raise BadCapture(f"an extended header has more than {MOST_EXTENDED} bytes")
    data = reader.blocks(size)
    if kind == PAX:
        return _pax(data)
    if kind == PAX_GLOBAL:
        return {}
    return {b"path" if kind == GNU_NAME else b"linkpath": _string(data)}


def _name(block, extended):
    name, prefix = _string(block[:100]), _string(block[345:500])
    if prefix and block[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    return _text(extended.get(b"path", name), "a name")


def _body(reader, block, name, extended):
    """Bytes of a file, str of a link, None of a directory."""
    kind, size = block[156:157], _number(block[124:136], f"the size of '{name}'")
    if kind == LINK:
        return _text(extended.get(b"linkpath", _string(block[157:257])), f"the link of '{name}'")
    if kind == DIRECTORY:
        return None
    if kind not in FILE:
        raise BadCapture(f"'{name}' is no file, directory or link")
    if size > MOST_FILE:
        raise BadCapture(f"'{name}' is too large")
    return reader.blocks(size)


def members(file):
    """(name, bytes of a file, str of a link, or None of a directory) each, from a binary file."""
    reader, extended = _Reader(file), {}
    while True:
        block = reader.blocks(BLOCK)
        if not any(block):
            return
        if not _is_header(block):
            raise BadCapture("a header is broken" if reader.is_tar else NO_TAR)
        reader.is_tar, kind = True, block[156:157]
        if kind in (PAX, PAX_GLOBAL, GNU_NAME, GNU_LINK):
            extended.update(_extended(reader, kind, _number(block[124:136], "a size")))
            continue
        name = _name(block, extended)
        yield name, _body(reader, block, name, extended)
        extended = {}
