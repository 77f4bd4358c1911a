# SPDX-License-Identifier: BSD-3-Clause
"""./octo doctor --root: captures and directories that may come from anybody.

What nobody thought of is looked for by ./octo fuzz doctor.
"""

import gzip
import io
import json
import lzma
import os
import resource
import subprocess
import tarfile

import pytest

from octotest import captured, env

pytestmark = pytest.mark.no_c

IN_THE_WAY, WRONG_USE = 1, 2
PF = "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"


def _doctor(root, *words, **more) -> subprocess.CompletedProcess:
    return subprocess.run([env.REPO / "octo", "doctor", "--root", root, *map(str, words)], text=True,
                          capture_output=True, check=False, timeout=env.seconds(120), **more)


def _member(name, data=b"", **more):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def _link(name, target):
    return _member(name, type=tarfile.SYMTYPE, linkname=target)


def _tar(path, *members, encoding="utf-8"):
    """A capture that no doctor has written."""
    with tarfile.open(path, "w", encoding=encoding) as tar:
        for info, data in (_member("sys", type=tarfile.DIRTYPE), *members):
            tar.addfile(info, io.BytesIO(data))
    return path


def _refused(done, *words) -> None:
    """By one line on standard error, and nothing else."""
    assert done.returncode == WRONG_USE and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("octo: doctor: --root ")
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE])
def test_nothing_is_written_through_a_link(tmp_path, kind):
    """A member below a link of the same capture would be wherever that leads."""
    outside, scratch = tmp_path / "outside", tmp_path / "scratch"
    outside.mkdir()
    scratch.mkdir()
    tar = _tar(tmp_path / "c.tar", _link("sys/a", str(outside)),
               _member("sys/a/b", type=kind, linkname="x"))
    _refused(_doctor(tar, env={**os.environ, "TMPDIR": str(scratch)}), "sys/a/b")
    assert not list(outside.iterdir()) and not list(scratch.iterdir())


def test_links_come_after_links(tmp_path):
    """The order in the capture does not matter; this one wrote links outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    tar = _tar(tmp_path / "c.tar", _link("sys/a", str(outside)), _link("sys/a/b", "/etc/passwd"),
               _link("sys/c", "a"), _link("sys/c/d", "/etc/passwd"))
    _refused(_doctor(tar), "sys/a/b")
    assert not list(outside.iterdir())


REFUSED = {
    "twice": ([_member("sys/x", b"1"), _member("sys/x", b"2")], "'sys/x' is in it twice"),
    "file as directory": ([_member("sys/x", b"1"), _member("sys/x/y", b"2")], "sys/x/y"),
    "device": ([_member("sys/x", type=tarfile.CHRTYPE)], "'sys/x' is no file, directory or link"),
    "sparse": ([_member("sys/x", type=tarfile.GNUTYPE_SPARSE)], "'sys/x' is no file"),
    "sparse by pax": ([_member("sys/x", pax_headers={"GNU.sparse.size": "99"})], "sparse"),
    "escape sequence": ([_member("sys/\x1b[2J")], "cannot be printed"),
    "end of line": ([_member("sys/a\nb")], "cannot be printed"),
    "not ASCII": ([_member("sys/\xe9")], "cannot be printed"),
    "deep": ([_member("d/" * 100 + "x")], "deep"),
    "long": ([_member("x" * 5000)], "longer than"),
    "long link": ([_link("sys/x", "y" * 5000)], "longer than"),
    "empty link": ([_link("sys/x", "")], "empty"),
    "large pax": ([_member("sys/x", pax_headers={"comment": "x" * 70000})], "extended header"),
    "many": ([_member(f"sys/{i}") for i in range(100001)], "more than 100000 files"),
    "many below": ([_member(f"sys/{i}" + "/d" * 60) for i in range(2000)], "more than 100000"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_odd_captures_are_refused(tmp_path, what):
    """By a sentence that says what is odd."""
    members, says = REFUSED[what]
    _refused(_doctor(_tar(tmp_path / "c.tar", *members)), "c.tar: ", says)


def _mebibyte(number):
    info, data = _member(f"sys/{number}", b"\0" * (1 << 20))
    return info.tobuf() + data


def _spoiled(tmp_path, spoil):
    path = _tar(tmp_path / "c.tar", _member("sys/x", b"x" * 1000), _member("sys/y", b"y" * 1000))
    path.write_bytes(spoil(path.read_bytes()))
    return path


@pytest.mark.parametrize("spoil, says", [
    (lambda d: d[:700], "cut off"), (lambda d: d[:2000], "cut off"), (lambda d: b"", "neither a directory nor a tar"),
    (lambda d: d[:512 + 50] + b"?" + d[512 + 51:], "a header is broken"),
    (lambda d: d[512 + 50:], "neither a directory nor a tar"),
    (lambda d: gzip.compress(d)[:-20], "cut off"),
    (lambda d: gzip.compress(d)[:30] + b"?" * 99, "gzip"),
    (lambda d: gzip.compress(bytes(range(256)) * 99), "neither a directory nor a tar"),
    (lambda d: gzip.compress(b"".join(_mebibyte(i) for i in range(65)), 1), "more than 64 MiB"),
    (lambda d: b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"n" * (65 << 20), "more than 64 MiB"),
    (lzma.compress, "neither a directory nor a tar"),
], ids=["in a header", "in a file", "all", "header", "no header", "gzip cut off", "gzip broken", "no tar",
        "bomb", "gzip without an end", "xz"])
def test_broken_captures_are_refused(tmp_path, spoil, says):
    """Cut off, overwritten, or larger than they look."""
    _refused(_doctor(_spoiled(tmp_path, spoil)), "c.tar: ", says)


def test_compressed_capture_says_the_same(tmp_path):
    """As they are mailed."""
    captured.make("snap-io", tmp_path / "m")
    here = _doctor(tmp_path / "m", "--capture", tmp_path / "c.tar")
    (tmp_path / "c.tar.gz").write_bytes(gzip.compress((tmp_path / "c.tar").read_bytes()))
    there = _doctor(tmp_path / "c.tar.gz")
    assert there.stdout == here.stdout and there.stderr == ""


def test_links_stay_below_the_root(tmp_path):
    """As in a chroot: the root of an absolute one is the capture's, and none leads above it."""
    captured.make("snap-io", tmp_path / "m")
    plain = _doctor(tmp_path / "m").stdout
    driver = tmp_path / "m" / PF / "numa_node"
    driver.rename(tmp_path / "m/sys/node-of-it")
    for target in ("/sys/node-of-it", "../" * 30 + "sys/node-of-it"):
        driver.unlink(missing_ok=True)
        driver.symlink_to(target)
        with tarfile.open(tmp_path / "c.tar", "w") as tar:
            tar.add(tmp_path / "m", ".")
        assert _doctor(tmp_path / "m").stdout == plain
        assert _doctor(tmp_path / "c.tar").stdout == plain


def _chain(rest):
    """Links to one another, each with the rest of a long path behind it; and PFs made of them."""
    for i in range(36):
        yield _link(f"l{i}", f"/l{i + 1}/" + (rest * 1010)[:1010])
    for i in range(500):
        pf = f"sys/bus/pci/devices/{i >> 8:04x}:{i & 255:02x}:00.0"
        yield _member(f"{pf}/class", b"0x020000")
        for name in ("numa_node", "vendor", "device", "config", "vpd", "sriov_numvfs"):
            yield _link(f"{pf}/{name}", "/l0")


@pytest.mark.parametrize("rest", ["x/", "/", "x/../"], ids=["deep", "empty", "back"])
def test_links_do_not_keep_it_busy(tmp_path, rest):
    """One of these took 20 s of CPU time, and before that half a minute for each file."""
    tar = _tar(tmp_path / "c.tar", *_chain(rest))
    limit = (15, 15)
    done = _doctor(tar, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))
    assert done.returncode in (IN_THE_WAY, WRONG_USE), done.returncode
    assert done.stderr == "" or "would have to be read" in done.stderr


@pytest.mark.parametrize("spoil", [
    os.mkfifo, lambda p: p.symlink_to(p.name), lambda p: p.symlink_to("/dev/zero"),
    lambda p: p.symlink_to("/dev/stdin"), lambda p: p.mkdir(),
], ids=["pipe", "loop", "device", "stdin", "directory"])
def test_only_files_are_read(tmp_path, spoil):
    """To open a pipe would wait for ever."""
    machine = captured.make("snap-io", tmp_path / "m")
    (machine.root / "proc/sys/kernel/osrelease").unlink()
    spoil(machine.root / "proc/sys/kernel/osrelease")
    done = _doctor(machine.root)
    assert "Linux unknown" in done.stdout and done.stderr == ""


VPD = b"\x82\x20\0" + b"A\x1b]0;x\x07\nReady.\n".ljust(32, b"\xff") + b"\x78"

# path -> what is in that file
HOSTILE = {
    "CPUs": {"sys/devices/system/cpu/online": b"0-4294967295"},
    "nodes": {"sys/devices/system/node/node0/cpulist": b"0-99999999999999"},
    "siblings": {f"sys/devices/system/cpu/cpu{i}/topology/thread_siblings_list":
                 str((i + 1) % 40).encode() for i in range(40)},
    "digits": {f"{PF}/sriov_numvfs": b"9" * 5000, f"{PF}/numa_node": b"0x" + b"f" * 9999,
               "sys/devices/system/node/node0/meminfo": b"MemTotal: " + b"9" * 5000},
    "no digits": {f"{PF}/current_link_width": b"\xc2\xb2", f"{PF}/net/ens1/phys_port_name":
                  b"p\xc2\xb2", f"{PF}/current_link_speed": b"1.2.3 GT/s"},
    "infinite": {f"{PF}/current_link_speed": b"9" * 999 + b" GT/s"},
    "MAC": {f"{PF}/net/ens1/address": b"none"},
    "capabilities": {f"{PF}/config": b"\0" * 256 + b"\1\0\1\x11" + b"\0" * 12 + b"\1\0\1\x11" * 64},
    "text": {"proc/sys/kernel/osrelease": b"6\x1b[2J\n\nReady.\n", f"{PF}/vpd": VPD},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_files_hold_is_hostile(tmp_path, what):
    """Nothing is believed to be a number, to be short, or to be fit for a terminal."""
    machine = captured.make("snap-io", tmp_path / "m")
    for path, data in HOSTILE[what].items():
        machine.write(path, data)
    done = _doctor(machine.root, "--json", tmp_path / "j")
    assert done.stderr == "" and done.returncode in (0, IN_THE_WAY)
    assert done.stdout.isascii() and done.stdout.replace("\n", "").isprintable()
    assert ("\nReady.\n" in done.stdout) == (done.returncode == 0)
    json.loads((tmp_path / "j").read_text(), parse_constant=pytest.fail)


def test_commands_are_quoted(tmp_path):
    """A command to copy does with a name what its words say, whatever the name."""
    machine = captured.make("degraded", tmp_path / "m")
    net, = (p for p in (machine.root / "sys/devices").glob("pci*/*/*/net/*") if p.name == "ens2")
    net.rename(net.parent / "$(reboot)")
    assert "$ ethtool '$(reboot)'\n" in _doctor(machine.root).stdout


def test_fuzz_ends_with_its_count():
    """The command that looks for more of the kind: ./octo fuzz doctor."""
    done = subprocess.run(
        ["python3", "-B", env.REPO / "test/fuzz/fuzz_doctor.py", "--seconds", "1", "--seed", "7"],
        text=True, capture_output=True, check=False, timeout=env.seconds(300))
    assert done.returncode == 0, done.stderr
    assert "doctor: clean, " in done.stdout and "seed 7" in done.stdout
