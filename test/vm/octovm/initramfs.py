# SPDX-License-Identifier: BSD-3-Clause
"""The guest's file system: programs with their libraries, drivers, kernel modules."""

import lzma
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Set

from octotest import env

from .qemu import KERNEL_ROOT

GUEST = Path(__file__).resolve().parents[1] / "guest"

DRIVERS = ("bus_pci", "bus_vdev", "mempool_ring", "net_af_packet", "net_af_xdp", "net_bond",
           "net_e1000", "net_null", "net_pcap", "net_ring", "net_tap",
           "net_virtio", "net_vmxnet3")

MODULES = ("act_gact", "act_mirred", "act_skbedit", "brd", "cls_flower", "crc64_rocksoft_generic",
           "crct10dif_generic", "dummy", "nvme_tcp", "nvmet_tcp", "sch_ingress", "sch_multiq", "tun",
           "veth", "vfio-pci", "vfio_iommu_type1", "vhost_net", "virtio_console", "virtio_net",
           "virtio_pci")


class Entry(NamedTuple):
    """One file."""

    mode: int
    data: bytes


class Tree:
    """Files by their absolute paths, as a newc archive in the end."""

    def __init__(self) -> None:
        self._entries: Dict[str, Entry] = {}
        self._seen: Set[str] = set()

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """A regular file."""
        self._parents(path)
        self._entries[path] = Entry(stat.S_IFREG | mode, data)

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._parents(path)
        self._entries[path] = Entry(stat.S_IFLNK | 0o777, target.encode())

    def directory(self, path: str) -> None:
        """A directory."""
        self._parents(path)
        self._entries.setdefault(path, Entry(stat.S_IFDIR | 0o755, b""))

    def _parents(self, path: str) -> None:
        above = os.path.dirname(path)
        if above != "/":
            self.directory(above)

    def add(self, path: Path) -> None:
        """A file of this machine, with the libraries that it is linked with."""
        real = str(path.parent.resolve() / path.name)
        if real in self._seen:
            return
        self._seen.add(real)
        if path.is_symlink():
            self.link(real, os.readlink(path))
            self.add(path.parent / os.readlink(path))
            return
        self.put(real, path.read_bytes(), 0o755)
        for library in _libraries(path):
            self.add(library)

    def archive(self) -> bytes:
        """All of it, directories first."""
        parts: List[bytes] = []
        for number, (path, entry) in enumerate(sorted(self._entries.items())):
            parts.append(_newc(path[1:], entry, number + 1))
        parts.append(_newc("TRAILER!!!", Entry(0, b""), 0))
        return b"".join(parts)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _newc(name: str, entry: Entry, inode: int) -> bytes:
    fields = (inode, entry.mode, 0, 0, 1, 0, len(entry.data), 0, 0, 0, 0,
              len(name.encode()) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(head + name.encode() + b"\0") + _padded(entry.data)


def _libraries(path: Path) -> Iterable[Path]:
    out = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
    missing = re.findall(r"(\S+) => not found", out)
    assert not missing, f"{path} lacks {missing}"
    return [Path(p) for p in re.findall(r"(/\S+) \(0x", out)]


def _pmd_directory() -> Path:
    """Where EAL looks for DPDK's own drivers, as the build found out."""
    text = (env.BUILD / "configure.log").read_text()
    found = re.search(r"PMD directory *: *(\S+)", text)
    assert found, "no PMD directory in configure.log"
    return Path(found[1])


def has_driver(name: str) -> bool:
    """Is it one of DPDK's own drivers here?"""
    return any(_pmd_directory().glob(f"librte_{name}.so*"))


def knows_devarg(driver: str, devarg: str) -> bool:
    """Does that driver take it?"""
    return any(devarg.encode() in path.read_bytes()
               for path in _pmd_directory().glob(f"librte_{driver}.so*"))


def xdp_programs() -> List[Path]:
    """What libxdp loads into the kernel for an AF_XDP socket."""
    return [path for lib in Path("/usr").glob("lib*") for folder in ("bpf", "*-linux-gnu/bpf")
            for name in ("xdp-dispatcher", "xsk_def_xdp_prog")
            for path in sorted(lib.glob(f"{folder}/{name}*.o"))]


def _add_programs(tree: Tree) -> None:
    programs = [env.find_built("octo-testpmd"), env.find_built("octo-echo")]
    assert all(programs), "octo-testpmd or octo-echo was not built"
    programs += [p for p in (env.find_built("octo-agent"), env.find_built("octo-l3fwd-power"),
                             env.test_program("octo-test-secondary")) if p and p.exists()]
    programs += [Path(p) for p in map(env.find_binary,
                                        ("busybox", "ip", "tc", "ethtool", "setpriv")) if p]
    for program in programs:
        tree.add(program)
    for built in env.built_plugins():
        tree.add(env.plugin(built))
    for name in DRIVERS:
        for library in _pmd_directory().glob(f"librte_{name}.so*"):
            tree.add(library)
    for program in xdp_programs():
        tree.add(program)
    tree.add(Path(env.gcc_library("libgcc_s.so.1")).resolve())  # opened by pthread_exit()


def kernel_release() -> str:
    """The kernel's version, as its modules' directory is called."""
    return next((KERNEL_ROOT / "lib/modules").iterdir()).name


def kernel_image() -> Path:
    """The kernel to boot."""
    return KERNEL_ROOT / "boot" / f"vmlinuz-{kernel_release()}"


def _module_closure(modules: Path) -> Set[str]:
    """The files of the modules and of what they need."""
    needs = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        file, _, rest = line.partition(":")
        needs[file] = rest.split()
    wanted = {name.replace("-", "_") for name in MODULES}
    found = [f for f in needs
             if Path(f).name.split(".")[0].replace("-", "_") in wanted]
    closure: Set[str] = set()
    while found:
        file = found.pop()
        closure.add(file)
        found += [f for f in needs[file] if f not in closure]
    return closure


def _add_modules(tree: Tree) -> None:
    release = kernel_release()
    modules = KERNEL_ROOT / "lib/modules" / release
    target = f"/usr/lib/modules/{release}"
    with tempfile.TemporaryDirectory() as base:
        staged = Path(base) / "lib/modules" / release
        for file in _module_closure(modules):
            data = (modules / file).read_bytes()
            if file.endswith(".xz"):
                file, data = file[:-3], lzma.decompress(data)
            tree.put(f"{target}/{file}", data)
            (staged / file).parent.mkdir(parents=True, exist_ok=True)
            (staged / file).write_bytes(data)
        for name in ("modules.builtin", "modules.order"):
            shutil.copy(modules / name, staged)
        subprocess.run(["busybox", "depmod", "-b", base, release], check=True)
        for name in ("modules.dep", "modules.alias", "modules.builtin", "modules.symbols"):
            if (staged / name).exists():
                tree.put(f"{target}/{name}", (staged / name).read_bytes())


def _add_tools(tree: Tree) -> None:
    """Programs of our own for the guest."""
    with tempfile.TemporaryDirectory() as base:
        for source in GUEST.glob("*.c"):
            program = Path(base) / source.stem
            preloaded = source.stem.startswith("lib")
            subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(program),
                            str(source), *(["-shared", "-fPIC"] if preloaded else [])],
                           check=True)
            tree.put(f"/usr/lib/{source.stem}.so" if preloaded else f"/usr/bin/{source.stem}",
                     program.read_bytes(), 0o755)
            for library in _libraries(program):
                tree.add(library)


def build(path: Path) -> Path:
    """Write the initramfs to the path."""
    tree = Tree()
    for name in ("dev", "proc", "run", "sys", "tmp", "usr/sbin", "usr/lib64"):
        tree.directory(f"/{name}")
    for name in ("bin", "sbin", "lib", "lib64"):
        tree.link(f"/{name}", f"usr/{name}")
    _add_programs(tree)
    _add_modules(tree)
    _add_tools(tree)
    tree.put("/init", (GUEST / "init").read_bytes(), 0o755)
    # libraries of a DPDK of --dpdk-src do not know where those are that they need
    tree.put("/etc/libraries", os.environ.get("LD_LIBRARY_PATH", "").encode())
    path.write_bytes(tree.archive())
    return path
