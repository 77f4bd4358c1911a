# SPDX-License-Identifier: BSD-3-Clause
"""Machines written as text (test/fixtures/doctor/README.md), made trees of files."""

import os
import re
from pathlib import Path
from typing import List

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "doctor"
PCI_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def names() -> List[str]:
    """Of all machines."""
    return sorted(path.stem for path in FIXTURES.glob("*.txt"))


def _list(text: str) -> List[int]:
    cpus = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def _config(words: str) -> bytes:
    """SIZE OFFSET=HEX...: the rest of so many bytes is zero."""
    size, *parts = words.split()
    data = bytearray(int(size))
    for part in parts:
        offset, _, digits = part.partition("=")
        value = bytes.fromhex(digits)
        data[int(offset, 16):int(offset, 16) + len(value)] = value
    return bytes(data)


def _large(tag: int, body: bytes) -> bytes:
    return bytes([tag, len(body) & 0xff, len(body) >> 8]) + body


def _vpd(words: str) -> bytes:
    """NAME|KEYWORD=VALUE|...: an ID string, a read-only part, the end tag."""
    name, *fields = words.split("|")
    body = b""
    for field in fields:
        keyword, _, value = field.partition("=")
        body += keyword.encode() + bytes([len(value)]) + value.encode()
    body += b"RV\x01\x00"
    return _large(0x82, name.encode()) + _large(0x90, body) + b"\x78"


class Machine:
    """A tree of files below a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, data) -> None:
        """A file; text gets a line end, as the kernel gives it."""
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(data if isinstance(data, bytes) else f"{data}\n".encode())

    def link(self, path: str, target: str) -> None:
        """A symbolic link to another path of the tree, relative as sysfs has it."""
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.symlink_to(os.path.relpath(self.root / target, full.parent))

    def _cpus(self, words: str) -> None:
        """LIST node N socket S [smt DISTANCE]"""
        match = re.fullmatch(r"(\S+) node (\d+) socket (\d+)(?: smt (\d+))?", words)
        cpus, distance = _list(match[1]), int(match[4] or 0)
        for cpu in cpus:
            topology = f"sys/devices/system/cpu/cpu{cpu}/topology"
            self.write(f"{topology}/physical_package_id", match[3])
            pair = sorted({cpu, *(c for c in (cpu - distance, cpu + distance) if c in cpus)})
            self.write(f"{topology}/thread_siblings_list", ",".join(map(str, pair)))
        self.write(f"sys/devices/system/node/node{match[2]}/cpulist", match[1])

    def _pages(self, words: str) -> None:
        """node N SIZE_KB TOTAL FREE"""
        _, node, size, total, free = words.split()
        path = f"sys/devices/system/node/node{node}/hugepages/hugepages-{size}kB"
        self.write(f"{path}/nr_hugepages", total)
        self.write(f"{path}/free_hugepages", free)

    def _section(self, path: str) -> None:
        """A directory; that of a PCI device has its link on the bus."""
        (self.root / path).mkdir(parents=True, exist_ok=True)
        name = path.rpartition("/")[2]
        if PCI_ADDRESS.fullmatch(name):
            self.link(f"sys/bus/pci/devices/{name}", path)

    def _group(self, path: str, words: str) -> None:
        """NUMBER TYPE: of a PCI device."""
        number, kind = words.split()
        group = f"sys/kernel/iommu_groups/{number}"
        self.link(f"{path}/iommu_group", group)
        self.link(f"{group}/devices/{path.rpartition('/')[2]}", path)
        self.write(f"{group}/type", kind)

    def _channels(self, path: str, words: str) -> None:
        """INTERFACE NUMBER: of a PCI device."""
        interface, number = words.split()
        for queue in range(int(number)):
            (self.root / path / f"net/{interface}/queues/rx-{queue}").mkdir(parents=True)

    def line(self, section: str, line: str) -> None:
        """One line of a section."""
        name, sign, value = re.fullmatch(r"(\S+) ?(:=|->|:) ?(.*)", line).groups()
        path = f"{section}/{name}" if section else name
        if sign == "->":
            self.link(path, value)
        elif sign == ":":
            self.write(path, value)
        elif name == "cpus":
            self._cpus(value)
        elif name == "pages":
            self._pages(value)
        elif name == "iommu_group":
            self._group(section, value)
        elif name == "channels":
            self._channels(section, value)
        else:
            self.write(path, {"config": _config, "vpd": _vpd}[name](value))

    def expand(self, text: str) -> None:
        """All lines of a description."""
        section = ""
        for line in text.splitlines():
            if line.startswith("["):
                section = line.strip("[]")
                self._section(section)
            elif line.strip() and not line.startswith("#"):
                self.line(section, line)


def make(name: str, root: Path) -> Machine:
    """The machine of that name below a directory."""
    machine = Machine(root)
    (root / "sys").mkdir(parents=True)
    machine.expand((FIXTURES / f"{name}.txt").read_text(encoding="utf-8"))
    return machine
