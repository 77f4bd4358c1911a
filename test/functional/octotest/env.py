# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: binaries, build directory, plugins that EAL accepts."""

import atexit
import functools
import hashlib
import itertools
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Iterable, List, Optional

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("OCTO_BUILD_DIR", REPO / "build")).resolve()
SHORT = os.environ.get("OCTO_TEST_SHORT", "0") not in ("", "0")
ASAN_RUNTIME = os.environ.get("OCTO_ASAN", "")  # the library, if the build has sanitizers
ASAN = ASAN_RUNTIME != ""
IS_ROOT = os.geteuid() == 0
DRIVERS = ("mpsim", "octo")
# Where a DPDK is installed that has the drivers in it (devtools/in-tree.sh):
# its programs are the ones to test, and need no plugin.
IN_TREE = os.environ.get("OCTO_IN_TREE")

# What pytest ends with, and says, if it was the machine that failed: devtools/run-tests.py starts
# another then.
MACHINE_BROKE = 75  # EX_TEMPFAIL
BROKEN = "the machine broke: "

_serial = itertools.count()


def seconds(value: float) -> float:
    """A time limit that only a hang reaches: of what takes `value` on an idle machine."""
    factor = float(os.environ.get("OCTO_TIMEOUT_FACTOR", "6"))
    return value * factor * (4 if ASAN else 1)


def unique(prefix: str = "octot") -> str:
    """A name that no other process on this machine uses."""
    return f"{prefix}{os.getpid()}n{next(_serial)}"


def find_binary(name: str) -> Optional[str]:
    """A program of the system, sbin included, as non-root users lack it."""
    if IN_TREE and name.startswith("dpdk-"):
        return shutil.which(name, path=f"{IN_TREE}/bin")
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/bin"
    return shutil.which(name, path=path)


def find_built(name: str) -> Optional[Path]:
    """An executable built below app/, wherever its subproject puts it."""
    if IN_TREE:
        path = find_binary(name.replace("octo-", "dpdk-"))
        return Path(path) if path else None
    for path in sorted(BUILD.glob(f"app/**/{name}")):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def test_program(name: str) -> Path:
    """A program of test/process, whether it was built or not."""
    return BUILD / "test" / "process" / name


def built_driver(name: str) -> Path:
    """The driver as the build left it."""
    if IN_TREE:
        return next(Path(IN_TREE).glob(f"lib/dpdk/pmds-*/librte_net_{name}.so"),
                    Path(IN_TREE, f"librte_net_{name}.so"))
    return BUILD / "drivers" / f"librte_net_{name}.so"


def built_plugins() -> List[Path]:
    """All that EAL is to load, in order: rates by telemetry use what net_octo exports."""
    return [*map(built_driver, DRIVERS), BUILD / "drivers" / "librte_octo_measure.so"]


def _eal_accepts(path: Path) -> bool:
    """EAL refuses a plugin below any world-writable directory."""
    parts: Iterable[Path] = [path, *path.parents]
    return not any(p.stat().st_mode & stat.S_IWOTH for p in parts)


def plugin(built: Path) -> Path:
    """The plugin, copied to a safe place when the build is not in one."""
    so = built.resolve()
    if _eal_accepts(so):
        return so
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    digest = hashlib.sha256(so.read_bytes()).hexdigest()[:16]
    staged = Path(cache) / "net_octo" / "plugins" / digest / so.name
    if not staged.exists():
        staged.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        partial = staged.with_suffix(f".{os.getpid()}")
        shutil.copy2(so, partial)
        partial.rename(staged)
    return staged


def plugins() -> List[str]:
    """What a program of DPDK has to load; nothing if the drivers are its own."""
    return [] if IN_TREE else [str(plugin(built)) for built in built_plugins()]


def plugin_args() -> List[str]:
    """The -d options that load them."""
    return [arg for path in plugins() for arg in ("-d", path)]


def _eal(path: str) -> str:
    """The library that it is linked with, named by its ABI."""
    with open(path, "rb") as file:
        found = re.search(rb"librte_eal\.so\.[\w.]+", file.read())
    return found[0].decode() if found else ""


def is_of_another_dpdk(binary: str) -> bool:
    """Could this program not load the plugins?"""
    return not IN_TREE and _eal(binary) not in map(_eal, plugins())


@functools.lru_cache(maxsize=None)
def runtime_base() -> Path:
    """A RUNTIME_DIRECTORY of our own: EAL's /tmp/dpdk is the first user's."""
    base = tempfile.mkdtemp(prefix="octo-run-")
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    return Path(base)


def runtime_dir(file_prefix: str) -> Path:
    """Where EAL keeps the files of the process with this prefix."""
    return runtime_base() / "dpdk" / file_prefix


def gcc_library(name: str) -> str:
    """The full path of a run-time library of the compiler."""
    out = subprocess.run(["gcc", f"-print-file-name={name}"], check=True,
                         capture_output=True, text=True)
    return out.stdout.strip()
