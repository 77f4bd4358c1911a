# SPDX-License-Identifier: BSD-3-Clause
"""Feeds octo doctor captures and directories that no machine has: ./octo fuzz doctor.

Whatever it gets, it writes nothing, runs nothing, opens nothing but what it was given, ends in
time, and prints either a report or one line of error. Python's standard library only.
"""

import argparse
import bz2
import contextlib
import gzip
import hashlib
import io
import json
import lzma
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPO / "devtools"), str(REPO / "test" / "functional")]
sys.dont_write_bytecode = True

from doctor import __main__ as doctor_main  # noqa: E402
from octotest import captured  # noqa: E402

MOST_CPU_SECONDS = 60  # for one input; of the process, so that a busy machine does not matter
MOST_MEMORY = 2 << 30
FAST = os.environ.get("TMPDIR") or (  # where files are made
    "/dev/shm" if os.path.isdir("/dev/shm") else None)
CHANGING = ("os.", "shutil.", "subprocess.", "socket.", "tempfile.", "pty.", "ctypes.", "exec",
            "import")  # audit events of what changes or runs something; with a few that do not
HARMLESS = ("os.listdir", "os.scandir", "os.getxattr", "os.listxattr", "import")

OUTSIDE = "/nonexistent/octo-fuzz-outside"
NAMES = [b"../" + OUTSIDE[1:].encode(), OUTSIDE.encode(), b"sys", b"proc", b"", b".", b"..", b"/",
         b"sys/..", b"a" * 300, b"d/" * 80, b"\xff\xfe", b"sys/\x1b[2J", b"x\ny", b"proc/mounts",
         b"sys/bus/pci/devices", b"sys/devices/system/node/node0", b"sys/./class//net"]
LINKS = [b"/", b"..", b".", b"../" * 90, b"/etc/passwd", OUTSIDE.encode(), b"sys", b"/sys/bus/pci",
         b"a/" * 200, b"loop", b"\xff", b"\n", b"x" * 1500, b"", b"../../../../../proc"]
VALUES = [b"", b"0", b"-1", b"1" * 5000, b"0x" + b"f" * 60000, b"0-4294967295", b"0-8191",
          b"7,1,0-3,3-1", b"\xc2\xb2", b"p\xc2\xb2", b"1.2.3 GT/s", b"9" * 400 + b" GT/s",
          b"\x1b]0;x\x07", b"a\nReady.\n", b"$(reboot)", b"N/A", b"\0" * 4096, b"\xff" * 4096,
          b"98:03:9b:zz:00:01", b"0x020000", b"0x060400", b"0x088000", b"DMA-FQ", b"Y",
          b"Node 0 MemTotal: " + b"9" * 5000, b"x hugetlbfs", b"a b hugetlbfs",
          b"vendor_id: \nflags : hypervisor", b"Iface\nlo\n\n x", b"\x82\xff\xff", b"\x90\1\0V" * 99,
          b"\0" * 256 + b"\x01\0\x41\x10" + b"\0" * 60 + b"\x01\0\x41\x10", bytes(range(256)) * 16]
KINDS = [bytes([k]) for k in b"01234567DKLMNSVXgx\0\xff"]


class Wrong(Exception):
    """What doctor must not do; says what."""


class Guard:
    """Sees by Python's audit events what is done while an input is looked at."""

    def __init__(self):
        self.allowed = None  # what may be opened; None while nothing is looked at
        self.seen = None
        sys.addaudithook(self._on_event)

    def _on_event(self, event, args):
        if self.allowed is None or self.seen:
            return
        if event == "open":
            path, flags = args[0], args[2]
            inside = isinstance(path, int) or (os.path.realpath(os.fsdecode(path)) + "/").startswith(
                self.allowed + "/")
            if not inside or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self.seen = f"opens {path!r} with flags {flags:#x}"
        elif event.startswith(CHANGING) and event not in HARMLESS:
            self.seen = f"does {event} {args!r:.200}"

    @contextlib.contextmanager
    def watch(self, path):
        """Only that file, or what is below that directory, may be opened."""
        self.allowed, self.seen = os.path.realpath(path), None
        try:
            yield
        finally:
            self.allowed = None
        if self.seen:
            raise Wrong(self.seen)


def _header(name, kind, size, link):
    """Of a member, with a checksum that is right."""
    block = bytearray(512)
    block[:100] = name[:100].ljust(100, b"\0")
    block[100:108] = b"0000644\0"
    block[124:136] = size[:12].ljust(12, b"\0")
    block[148:156] = b" " * 8
    block[156:157] = kind
    block[157:257] = link[:100].ljust(100, b"\0")
    block[257:265] = b"ustar\x0000"
    if len(name) > 100:
        block[345:500] = name[100:255].ljust(155, b"\0")
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def _pad(data):
    return data + b"\0" * (-len(data) % 512)


def _pax(key, value):
    """A record whose length counts itself."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


class Maker:
    """Makes inputs of the machines in the fixtures."""

    def __init__(self, rand):
        self.rand = rand
        self.machines = []
        self.bombs = [gzip.compress(b, 1) for b in (
            _header(b"sys/x", b"0", b"00004000000", b"") + b"\0" * (80 << 20),
            _header(b"sys/x/y", b"5", b"0", b"") * 150000,
            (_header(b"p", b"x", b"00000170000", b"") + b"6 a=b\n" * 10240) * 1100)]
        for name in captured.names():
            with tempfile.TemporaryDirectory(dir=FAST) as root:
                captured.make(name, Path(root) / "m")
                self.machines.append(self._members(Path(root) / "m"))

    @staticmethod
    def _members(root):
        """[name, kind, data of a file or link]"""
        found = []
        for path in sorted(root.rglob("*")):
            name = os.fsencode(path.relative_to(root))
            if path.is_symlink():
                found.append([name, b"2", os.fsencode(os.readlink(path))])
            elif path.is_dir():
                found.append([name, b"5", b""])
            else:
                found.append([name, b"0", path.read_bytes()])
        return found

    def _noise(self):
        return self.rand.randbytes(self.rand.choice((1, 8, 64, 4096)))

    def _mutate_member(self, member, what):
        rand = self.rand
        if what == 0:
            member[0] = rand.choice(NAMES)
        elif what == 1:
            member[0] = member[0] + b"/" + rand.choice(NAMES)
        elif what == 2:
            member[1] = rand.choice(KINDS)
        elif what == 3:
            member[1:] = b"2", rand.choice(LINKS)
        else:
            member[2] = rand.choice(VALUES) if what == 4 else self._noise()

    def _mutate_members(self, members):
        rand = self.rand
        for _ in range(rand.choice((0, 1, 1, 2, 8, 40))):
            at = rand.randrange(len(members))
            what = rand.randrange(10)
            if what == 0:
                del members[at]
                if not members:
                    return
            elif what == 1:
                members.insert(rand.randrange(len(members)), list(members[at]))
            elif what == 2:  # below a link
                members.append([b"l", b"2", rand.choice(LINKS)])
                members.append([b"l/" + rand.choice(NAMES), b"0", b"x"])
            elif what == 3:
                members.append([rand.choice(members)[0], b"2", rand.choice(members)[0]])
            else:
                self._mutate_member(members[at], rand.randrange(6))

    def _mutate_values(self, members):
        """So that it stays a tar, and comes further."""
        rand = self.rand
        for _ in range(rand.choice((1, 2, 8, 40))):
            member = rand.choice(members)
            if member[1] == b"0":
                self._mutate_member(member, rand.choice((4, 4, 5)))
            elif member[1] == b"2":
                member[2] = b"/" + rand.choice(members)[0]

    def _serialize(self, members, odd):
        out, rand = [], self.rand
        for name, kind, data in members:
            link, body = (data, b"") if kind in b"12" else (b"", data)
            size = b"%011o" % len(body)
            if odd and rand.random() < 0.05:
                size = rand.choice((b"77777777777", b"\x80" + b"\xff" * 11, b"-1", b"zz", b"",
                                    b"%011o" % rand.randrange(1 << rand.randrange(33))))
            extended = b""
            if len(name) > 255 or (odd and rand.random() < 0.05):
                extended += _pax(b"path", name)
            if len(link) > 100:
                extended += _pax(b"linkpath", link)
            if odd and rand.random() < 0.02:
                extended += rand.choice((_pax(b"size", b"9" * 30), _pax(b"GNU.sparse.map", b"0,1"),
                                         self._noise(), _pax(b"a", b"\0" * 70000), b"5 a=\n" * 9999))
            if extended:
                kind_of = rand.choice((b"x", b"x", b"x", b"g", b"L", b"K")) if odd else b"x"
                out += [_header(b"pax", kind_of, b"%011o" % len(extended), b""), _pad(extended)]
            out += [_header(name, kind, size, link), _pad(body)]
        return b"".join(out) + b"\0" * 1024

    def _mutate_bytes(self, data):
        rand, data = self.rand, bytearray(data)
        for _ in range(rand.choice((0, 0, 0, 1, 3, 30))):
            at = rand.randrange(len(data))
            what = rand.randrange(4)
            if what == 0:
                del data[at:]
                data += b"\0"
            elif what == 1:
                data[at] = rand.randrange(256)
            elif what == 2:
                data[at:at] = self._noise()
            else:
                del data[at:at + rand.choice((1, 512, 4096))]
                data += b"\0"
        return bytes(data)

    def _compress(self, data):
        what = self.rand.randrange(40)
        if what < 6:
            return gzip.compress(data, 1)
        if what == 6 and self.rand.random() < 0.1:
            return self.rand.choice(self.bombs)
        if what == 7:
            return gzip.compress(b"", 1) * 1000 + gzip.compress(data, 1)
        if what in (8, 9):
            return (bz2 if what == 8 else lzma).compress(data)
        return data

    def archive(self):
        """Bytes of a capture."""
        members = [list(m) for m in self.rand.choice(self.machines)]
        if self.rand.random() < 0.6:
            self._mutate_values(members)
            return self._serialize(members, odd=False)
        self._mutate_members(members)
        if not members:
            return b""
        data = self._mutate_bytes(self._compress(self._serialize(members, self.rand.random() < 0.3)))
        return self._mutate_bytes(data) if self.rand.random() < 0.1 else data

    def _spoil(self, path):
        """Another kind of thing in the place of a file or a link."""
        rand = self.rand
        path.unlink()
        what = rand.randrange(3)
        if what == 0:
            os.mkfifo(path)
        elif what == 1:
            with contextlib.suppress(OSError, ValueError):
                os.symlink(rand.choice(LINKS), path)
        else:
            path.write_bytes(rand.choice(VALUES))

    def directory(self, root):
        """The same on a file system."""
        captured.make(self.rand.choice(captured.names()), root)
        paths = [p for p in sorted(root.rglob("*")) if p.is_symlink() or p.is_file()]
        for path in self.rand.sample(paths, min(len(paths), self.rand.choice((1, 4, 30)))):
            self._spoil(path)


def _too_long(_signal, _frame):
    raise Wrong(f"takes more than {MOST_CPU_SECONDS} s of CPU")


def look(guard, path):
    """What doctor does with it; raises Wrong, or whatever it lets through."""
    out, err = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_SECONDS)
    try:
        with guard.watch(path), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            json_status = doctor_main.main(["--root", str(path), "--json", "-"])
            report, said = out.getvalue(), err.getvalue()
            out.truncate(0)
            status = doctor_main.main(["--root", str(path)])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    _judge(status, out.getvalue().lstrip("\0"), err.getvalue()[len(said):])
    if json_status != status:
        raise Wrong(f"ends with {status}, and with {json_status} for JSON")
    if status != doctor_main.WRONG_USE:
        json.loads(report, parse_constant=_no_json)


def _no_json(name):
    raise Wrong(f"writes {name}, which is no JSON")


def _judge(status, text, errors):
    if status == doctor_main.WRONG_USE:
        if text or errors.count("\n") != 1 or not errors.startswith("octo: doctor: --root "):
            raise Wrong(f"is not content, and says {text[:99]!r} {errors[:999]!r}")
    elif errors or not text.isascii() or not text.replace("\n", "").isprintable():
        raise Wrong(f"says {errors[:999]!r}, or prints what is no text")


def _run(guard, maker, seconds, seed):
    """The number of inputs."""
    end, count = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory(dir=FAST) as directory:
        while time.monotonic() < end:
            count += 1
            if count % 40:
                path = Path(directory) / "capture.tar"
                path.write_bytes(maker.archive())
                _try(guard, path, seed, count)
            else:
                with tempfile.TemporaryDirectory(dir=FAST) as root:
                    maker.directory(Path(root) / "m")
                    _try(guard, Path(root) / "m", seed, count)
    return count


def _try(guard, path, seed, count):
    try:
        look(guard, path)
    except BaseException:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        print(f"seed {seed}, input {count}", file=sys.stderr)
        if path.is_file():
            data = path.read_bytes()
            kept = REPO / "build-fuzz" / "crashes" / f"doctor-{hashlib.sha1(data).hexdigest()}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            print(f"kept as {kept}", file=sys.stderr)
        sys.exit(1)


def main():
    """0: clean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("files", nargs="*", type=Path, help="look at these and nothing else")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    guard = Guard()
    for path in options.files:
        look(guard, path)
        print(f"{path}: clean")
    if not options.files:
        print(f"seed {seed}", flush=True)
        count = _run(guard, Maker(random.Random(seed)), options.seconds, seed)
        print(f"doctor: clean, {count} inputs in {options.seconds:g} s, seed {seed}")


if __name__ == "__main__":
    main()
