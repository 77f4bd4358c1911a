# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with DPDK, all of it in a namespace and a directory of its own.

Nothing of the system's is used but the programs: no service, no database, no
interface, so that a running Open vSwitch is not disturbed.
"""

import os
import re
import tempfile
import shutil
from pathlib import Path
from typing import Dict, Iterable, List, Optional

from . import env
from .netns import Host, run
from .process import Process
from .telemetry import Telemetry
from .testpmd import wait_until

DAEMON = "usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "usr/share/openvswitch/vswitch.ovsschema"


def find() -> Optional[Path]:
    """The tree that the programs are in: the system's, or an unpacked one."""
    for tree in (Path("/"), *sorted((env.REPO / ".deps").glob("ovs-*"))):
        if all((tree / file).exists() for file in (DAEMON, SCHEMA)):
            return tree
    return None


class Switch:
    """A bridge, br0, and DPDK ports; ovs-vswitchd runs on all CPUs."""

    def __init__(self, tree: Path, huge_dir: str, dpdk: Iterable[str]) -> None:
        self._tree = tree
        self._dir = Path(tempfile.mkdtemp(prefix="octo-ovs-"))
        self.name = env.unique("octovs")
        self.file_prefix = env.unique()
        self._processes: List[Process] = []
        self._telemetry: Optional[Telemetry] = None
        self._huge_dir = huge_dir
        self._dpdk = list(dpdk)

    def __enter__(self) -> "Switch":
        try:
            run("ip", "netns", "add", self.name)
            run("ip", "-n", self.name, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._telemetry is not None:
            self._telemetry.close()
        for process in reversed(self._processes):
            process.kill()
        run("ip", "netns", "del", self.name, check=False)
        shutil.rmtree(self._dir, ignore_errors=True)

    def take(self, host: Host) -> None:
        """The wire of a host comes here."""
        run("ip", "link", "set", host.wire, "netns", self.name)
        self.run("sysctl", "-qw", f"net.ipv6.conf.{host.wire}.disable_ipv6=1",
                 check=False)
        run("ip", "-n", self.name, "link", "set", host.wire, "up")

    def _environment(self) -> Dict[str, str]:
        return {f"OVS_{name}": str(self._dir) for name in
                ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")}

    def argv(self, *words: object) -> List[str]:
        """A command line that runs in the switch's namespace."""
        return [env.find_binary("ip") or "ip", "netns", "exec", self.name,
                *map(str, words)]

    def run(self, *words: object, check: bool = True,
            timeout: float = 60) -> str:
        """Run a program in the switch's namespace."""
        return run(*self.argv(*words), check=check, timeout=timeout)

    def _program(self, name: str) -> str:
        for directory in ("usr/bin", "usr/sbin"):
            path = self._tree / directory / name
            if path.exists():
                return str(path)
        raise FileNotFoundError(name)

    def _start(self, *argv: object) -> Process:
        process = Process([str(a) for a in argv], self._environment(),
                          prefix=self.argv())
        process.keep = True
        self._processes.append(process)
        return process

    def start(self, *config: str) -> None:
        """Database, then switch, as a distribution starts them."""
        database = self._dir / "conf.db"
        self._local("ovsdb-tool", "create", database, self._tree / SCHEMA)
        self._start(self._program("ovsdb-server"), database,
                    f"--remote=punix:{self._dir}/db.sock",
                    f"--unixctl={self._dir}/ovsdb.ctl")
        wait_until("the database", (self._dir / "db.sock").exists)
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", *(
            f'other_config:{item}' for item in (
                "dpdk-init=true", "per-port-memory=true",
                "dpdk-socket-mem=256", f'dpdk-hugepage-dir="{self._huge_dir}"',
                f'dpdk-extra="{" ".join(self._eal())}"', *config)))
        self.daemon = self._start(
            self._tree / DAEMON, f"unix:{self._dir}/db.sock",
            f"--unixctl={self._dir}/vswitchd.ctl",
            f"--log-file={self._dir}/vswitchd.log")
        self.daemon.expect("DPDK Enabled - initialized", timeout=60)
        self.vsctl("add-br", "br0", "--", "set", "Bridge", "br0",
                   "datapath_type=netdev")

    def _eal(self) -> List[str]:
        return ["--no-pci", f"--file-prefix={self.file_prefix}",
                *env.plugin_args(), *self._dpdk]

    def _local(self, program: str, *words: object) -> str:
        names = [f"{k}={v}" for k, v in self._environment().items()]
        return run("env", *names, self._program(program), *words)

    def vsctl(self, *words: object) -> str:
        """Change or ask the configuration; returns when it is in force."""
        return self._local("ovs-vsctl", "--timeout=30",
                           f"--db=unix:{self._dir}/db.sock", *words)

    def appctl(self, *words: object) -> str:
        """Ask the running switch."""
        return self._local("ovs-appctl", f"--target={self._dir}/vswitchd.ctl",
                           *words)

    def log(self) -> str:
        """What the switch logged."""
        return (self._dir / "vswitchd.log").read_text()
