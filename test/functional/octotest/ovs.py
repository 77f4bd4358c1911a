# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with DPDK, in a namespace and a directory of its own.

Nothing of the system's is used but the programs: no service, no database, no
interface. So a running Open vSwitch is not disturbed.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence

from . import env, vdevs
from .netns import Host, receive_in_order, run
from .process import Process
from .telemetry import Telemetry

# A source tree in which Open vSwitch was built, instead of the distribution's.
BUILT = os.environ.get("OCTO_OVS_DIR")
DAEMON, SCHEMA, *PLACES = (
    "vswitchd/ovs-vswitchd", "vswitchd/vswitch.ovsschema", "ovsdb", "utilities",
) if BUILT else (
    "usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk",
    "usr/share/openvswitch/vswitch.ovsschema", "usr/bin", "usr/sbin",
)
PAGES = 512  # of 2 MiB: 256 MiB at once, the rest for further pools
TAP = "10.9.0.9"
PATIENCE = f"--timeout={env.seconds(60):.0f}"


def _eal_of(binary: Path) -> str:
    found = re.search(r"librte_eal\S* => (\S+)", run("ldd", binary))
    return found[1] if found else "none"


def find() -> Optional[Path]:
    """The tree that the programs are in: the system's, or an unpacked one.

    None that is linked with another DPDK than the drivers is of use.
    """
    if env.IN_TREE:
        return None
    trees = [Path(BUILT)] if BUILT else [
        Path("/"), *sorted((env.REPO / ".deps").glob("ovs-*"))]
    for tree in trees:
        if all((tree / file).exists() for file in (DAEMON, SCHEMA)) and \
                _eal_of(tree / DAEMON) == _eal_of(env.plugin(env.built_driver("octo"))):
            return tree
    if BUILT:
        raise FileNotFoundError(f"OCTO_OVS_DIR={BUILT} has no {DAEMON} with this DPDK")
    return None


def _nics(hosts: Sequence[Host]) -> List[str]:
    """What EAL is told: a wire to each host, a NIC with two PFs at each."""
    args = []
    for i, host in enumerate(hosts):
        args += [f"--vdev=net_af_packet{i},iface={host.wire},blocksz=4096,"
                 "framesz=2048,framecnt=2048",
                 *vdevs.nic("AB"[i], 2 * i, 2, f"net_af_packet{i}")]
    return args


class Switch:
    """A running ovs-vswitchd with the bridge br0 and no port on it yet.

    Host i is at the wire of a NIC with the PFs mpsim 2i and 2i+1. All hosts
    and the tap of the bridge are in one network. Threads that are idle sleep
    for up to `sleep` microseconds. `options` are for ovs-vswitchd, `settings`
    further ones of other_config.
    """

    def __init__(self, tree: Path, huge_dir: str, hosts: Sequence[Host],
                 sleep: int = 0, options: Iterable[str] = (),
                 settings: Iterable[str] = ()) -> None:
        self.name = env.unique("octovs")
        self.file_prefix = env.unique()
        self._tree = tree
        self._dir = Path(tempfile.mkdtemp(prefix="octo-ovs-"))
        self._processes: List[Process] = []
        self._telemetry: Optional[Telemetry] = None
        try:
            self._make_namespace(hosts)
            self._start_database()
            self._start_switch(huge_dir, _nics(hosts), options,
                               [f"pmd-maxsleep={sleep}", *settings])
            self._connect(hosts)
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """End as a service does, with the ports still there."""
        if self.daemon.alive():  # else its end was reported
            self.appctl("exit")
            assert self.daemon.wait(30) == 0

    def close(self) -> None:
        """Leave nothing behind."""
        if self._telemetry is not None:
            self._telemetry.close()
        for process in reversed(self._processes):
            process.kill()
        run("ip", "netns", "del", self.name, check=False)
        shutil.rmtree(self._dir, ignore_errors=True)

    # How it is made.

    def _make_namespace(self, hosts: Iterable[Host]) -> None:
        run("ip", "netns", "add", self.name)
        self.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                 "net.ipv6.conf.default.disable_ipv6=1", check=False)
        self.ip("link", "set", "lo", "up")
        for host in hosts:
            run("ip", "link", "set", host.wire, "netns", self.name)
            self.run(*receive_in_order(host.wire))
            self.ip("link", "set", host.wire, "up")

    def _start_database(self) -> None:
        database = self._dir / "conf.db"
        self._ask("ovsdb-tool", "create", database, self._tree / SCHEMA)
        self._start(self._program("ovsdb-server"), database,
                    f"--remote=punix:{self._dir}/db.sock",
                    f"--unixctl={self._dir}/database.ctl")
        self.vsctl("--no-wait", "init")

    def _start_switch(self, huge_dir: str, dpdk: Iterable[str],
                      options: Iterable[str], settings: Iterable[str]) -> None:
        eal = " ".join(["--no-pci", f"--file-prefix={self.file_prefix}",
                        *env.plugin_args(), *dpdk])
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", *(
            f"other_config:{item}" for item in (
                "dpdk-init=true", "per-port-memory=true",
                "dpdk-socket-mem=256", f'dpdk-hugepage-dir="{huge_dir}"',
                f'dpdk-extra="{eal}"', "pmd-cpu-mask=0x3", *settings)))
        self.daemon = self._start(
            self._tree / DAEMON, f"unix:{self._dir}/db.sock",
            f"--unixctl={self._dir}/switch.ctl", "-vsyslog:off", *options)
        self.daemon.expect("DPDK Enabled - initialized", timeout=60)
        self.vsctl("add-br", "br0", "--", "set", "Bridge", "br0",
                   "datapath_type=netdev")

    def _connect(self, hosts: Iterable[Host]) -> None:
        for host in hosts:
            host.ip4 = f"10.9.0.{host.number}"
            host.ip("addr", "add", f"{host.ip4}/24", "dev", host.inner)
            host.small_windows()
        self.ip("addr", "add", f"{TAP}/24", "dev", "br0")
        self.ip("link", "set", "br0", "up")

    def _environment(self) -> Dict[str, str]:
        return {f"OVS_{name}": str(self._dir) for name in
                ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")}

    def _program(self, name: str) -> Path:
        for directory in PLACES:
            if (self._tree / directory / name).exists():
                return self._tree / directory / name
        raise FileNotFoundError(name)

    def _start(self, *argv: object) -> Process:
        process = Process([str(a) for a in argv], self._environment(),
                          prefix=self.argv())
        process.keep = True
        self._processes.append(process)
        return process

    def _ask(self, program: str, *words: object) -> str:
        for process in self._processes:
            if process.alive():
                process.read()
        names = [f"{k}={v}" for k, v in self._environment().items()]
        return run("env", *names, self._program(program), *words)

    # What it does.

    def argv(self, *words: object) -> List[str]:
        """A command line that runs in the switch's namespace."""
        return [env.find_binary("ip") or "ip", "netns", "exec", self.name,
                *map(str, words)]

    def run(self, *words: object, check: bool = True,
            timeout: float = 60) -> str:
        """Run a program in the switch's namespace."""
        return run(*self.argv(*words), check=check, timeout=timeout)

    def ip(self, *words: object) -> str:
        """Run ip in the switch's namespace."""
        return run("ip", "-n", self.name, *words)

    def vsctl(self, *words: object) -> str:
        """Change or ask the configuration; returns when it is in force."""
        return self._ask("ovs-vsctl", "--retry", PATIENCE,
                         f"--db=unix:{self._dir}/db.sock", *words)

    def appctl(self, *words: object) -> str:
        """Ask the running switch."""
        return self._ask("ovs-appctl", PATIENCE,
                         f"--target={self._dir}/switch.ctl", *words)

    def add_dpdk_port(self, name: str, devargs: str, affinity: str) -> None:
        """A port on the bridge, two queues, each pinned to a CPU's thread."""
        out = self.vsctl(
            "add-port", "br0", name, "--", "set", "Interface", name,
            "type=dpdk", f'options:dpdk-devargs="{devargs}"',
            "options:n_rxq=2", f'other_config:pmd-rxq-affinity="{affinity}"')
        assert out == "", out
        assert self.vsctl("get", "Interface", name, "error") == "[]\n"

    def pin(self, name: str, affinity: str) -> None:
        """Give the port's queues to other threads: "queue:cpu,..."."""
        self.vsctl("set", "Interface", name,
                   f'other_config:pmd-rxq-affinity="{affinity}"')

    def unpin(self, name: str) -> None:
        """Let Open vSwitch choose the threads."""
        self.vsctl("remove", "Interface", name, "other_config", "pmd-rxq-affinity")

    def knows(self, key: str) -> bool:
        """Is there such an option, as of a patch?"""
        return key.encode() in (self._tree / DAEMON).read_bytes()

    def place_threads(self) -> None:
        """Put each PMD thread on the CPU of its name: with --dummy-numa nothing else does."""
        for task in Path(f"/proc/{self.daemon.pid}/task").iterdir():
            name = re.match(r"pmd-c(\d+)", (task / "comm").read_text())
            if name:
                os.sched_setaffinity(int(task.name), {int(name[1])})

    def pinned(self, name: str) -> Dict[int, int]:
        """The CPU whose thread polls each queue of the port."""
        shown: Dict[int, int] = {}
        cpu = -1
        for line in self.appctl("dpif-netdev/pmd-rxq-show").splitlines():
            thread = re.match(r"pmd thread numa_id \d+ core_id (\d+):", line)
            cpu = int(thread[1]) if thread else cpu
            queue = re.match(rf"  port: {name} +queue-id: +(\d+) \(enabled\)",
                             line)
            if queue:
                shown[int(queue[1])] = cpu
        return shown

    def counts(self) -> Dict[int, Dict[str, int]]:
        """Statistics of the PMD thread of each CPU."""
        shown = self.appctl("dpif-netdev/pmd-stats-show")
        return {int(cpu): {name: int(count) for name, count in re.findall(
            r"  (.+): (\d+)(?: .*)?\n", block)} for cpu, block in re.findall(
                r"pmd thread numa_id \d+ core_id (\d+):\n((?:  .*\n)*)", shown)}

    def forwarded(self) -> int:
        """Packets of the bridge's only OpenFlow rule, which takes all."""
        found = re.search(r"n_packets=(\d+), .*actions=NORMAL", self.appctl(
            "bridge/dump-flows", "br0"))
        assert found is not None
        return int(found[1])

    @property
    def telemetry(self) -> Telemetry:
        """DPDK's telemetry of the switch."""
        if self._telemetry is None:
            self._telemetry = Telemetry(self.file_prefix)
        return self._telemetry

    def port(self, name: str) -> int:
        """The number that DPDK gave to the port of that name."""
        return self.ports()[name]

    def ports(self) -> Dict[str, int]:
        """Names and numbers of the ports that nobody owns."""
        return {self.telemetry.get("/ethdev/info", n)["name"]: n
                for n in self.telemetry.get("/ethdev/list")}

    def xstats(self, port: int) -> Dict[str, int]:
        """Extended statistics of a DPDK port."""
        return self.telemetry.get("/ethdev/xstats", port)
