# SPDX-License-Identifier: BSD-3-Clause
"""A machine as data, and the QEMU that is one: two nodes, a PCIe root each.

QEMU emulates every instruction (TCG), on any x86-64 machine alike. To the guest's
kernel the nodes are real, the time that anything takes there is not.
"""

import dataclasses
import functools
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from octotest import env
from octotest.process import STARTED, Process, ProcessError
from octotest.testpmd import wait_until

QEMU = os.environ.get("OCTO_VM_QEMU", "")
KERNEL_ROOT = Path(os.environ.get("OCTO_VM_KERNEL", "/nonexistent"))
SHELLS = 4  # the first is for commands, the others for programs on a terminal
NODES = 2
READY = "octovm: ready"
BOOT = 60  # seconds on an idle machine
BROKEN: List[str] = []  # why machines broke that did not come up

_BUS = 0x40  # node n's root complex has bus 0x40 * (n + 1)


class Pf(NamedTuple):
    """A PCI function below a root port of a node; {id} becomes its name."""

    node: int
    device: str
    backend: Sequence[str] = ()


def vhost_pf(node: int, path: Path, mac: str, queues: int) -> Pf:
    """A virtio-net whose other side is a vhost-user server."""
    return Pf(node, f"virtio-net-pci,netdev={{id}},mac={mac},mq=on,vectors={2 * queues + 2},"
              "disable-legacy=on,romfile=",
              ("-chardev", f"socket,id={{id}}c,path={path}",
               "-netdev", f"vhost-user,id={{id}},chardev={{id}}c,queues={queues}"))


@dataclasses.dataclass
class Machine:
    """What to boot."""

    pfs: Sequence[Pf] = ()
    # virtio-serial ports: name to the socket at which QEMU listens
    ports: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    # ... and to the socket to which it connects, again and again
    calls: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    memory_directory: Optional[Path] = None  # with the nodes' files; default: our own
    options: Sequence[str] = ()  # more for QEMU's command line
    memory: int = 1024  # MiB of each node
    cpus: int = 2  # of each node

    def address(self, index: int) -> str:
        """Where the guest finds the PF."""
        node = self.pfs[index].node
        before = sum(pf.node == node for pf in self.pfs[:index])
        return f"0000:{_BUS * (node + 1) + 1 + before:02x}:00.0"

    def addresses(self) -> List[str]:
        """Where the guest finds the PFs."""
        return [self.address(i) for i in range(len(self.pfs))]


def pf_id(index: int) -> str:
    """The PF's name on QEMU's command line and monitor."""
    return f"pf{index}"


def _board(machine: Machine, memory: Path) -> List[str]:
    """Processors and memory; one file per node, which vhost-user shares."""
    total = machine.cpus * NODES
    args = ["-nodefaults", "-nographic", "-no-reboot",
            "-accel", "tcg,thread=multi", "-cpu", "max", "-machine", "q35",
            "-m", f"{machine.memory * NODES}M",
            "-smp", f"{total},sockets={NODES},cores={machine.cpus},threads=1",
            "-device", "intel-iommu,intremap=on,caching-mode=off"]
    for node in range(NODES):
        first = node * machine.cpus
        args += ["-object", f"memory-backend-file,id=mem{node},share=on,"
                 f"size={machine.memory}M,mem-path={memory}/node{node}",
                 "-numa", f"node,nodeid={node},memdev=mem{node},"
                 f"cpus={first}-{first + machine.cpus - 1}",
                 "-device", f"pxb-pcie,id=rc{node},bus_nr={_BUS * (node + 1)},"
                 f"numa_node={node},bus=pcie.0"]
    return [*args, "-numa", "dist,src=0,dst=1,val=21"]


def _functions(machine: Machine) -> List[str]:
    args: List[str] = []
    for i, pf in enumerate(machine.pfs):
        name = pf_id(i)
        args += [option.format(id=name) for option in pf.backend]
        args += ["-device", f"pcie-root-port,id=rp{i},bus=rc{pf.node},"
                 f"chassis={i + 1},slot={i + 1}",
                 "-device", f"{pf.device.format(id=name)},bus=rp{i},id={name}dev"]
    return args


def _listen(name: str, path: Path) -> List[str]:
    return ["-chardev", f"socket,id={name},path={path},server=on,wait=off"]


def _call(name: str, path: Path) -> List[str]:
    again = "reconnect-ms=1000" if _version() >= (9, 2) else "reconnect=1"
    return ["-chardev", f"socket,id={name},path={path},server=off,{again}"]


def _channels(machine: Machine, directory: Path) -> List[str]:
    """The monitor, the serial line and virtio-serial ports."""
    args = ["-qmp", f"unix:{directory}/qmp,server=on,wait=off",
            "-serial", f"file:{directory}/serial",
            "-device", "virtio-serial-pci,id=serial,bus=pcie.0,max_ports=16"]
    ports = {f"octo.shell.{i}": shell(directory, i) for i in range(SHELLS)}
    chardevs = {name: (_listen, path) for name, path in {**ports, **machine.ports}.items()}
    chardevs.update({name: (_call, path) for name, path in machine.calls.items()})
    for i, (name, (option, path)) in enumerate(chardevs.items()):
        args += [*option(f"port{i}", path), "-device",
                 f"virtserialport,bus=serial.0,chardev=port{i},name={name}"]
    return args


def shell(directory: Path, number: int) -> Path:
    """The socket of a shell."""
    return directory / f"shell{number}"


def command_line(machine: Machine, directory: Path, memory: Path,
                 kernel: Path, initrd: Path) -> List[str]:
    """The whole of QEMU's command line."""
    return [QEMU, *_board(machine, memory), *_channels(machine, directory),
            *_functions(machine), *machine.options,
            "-kernel", str(kernel), "-initrd", str(initrd), "-append",
            "console=ttyS0 panic=-1 mitigations=off intel_iommu=on iommu=pt "
            # With TCG an interrupt of the timer is lost now and then. Where each asks for the
            # next, that was the last one, and a CPU without ticks holds up RCU and unplugging.
            # It does not always help: see broken().
            "nohz=off highres=off"
            f" OCTO_PORTS={SHELLS + len(machine.ports) + len(machine.calls)}"]


def memory_directory(machine: Machine) -> Path:
    """A new one, in /dev/shm unless that is too small."""
    need = machine.memory * NODES << 20
    shm = Path("/dev/shm")
    fits = shm.is_dir() and shutil.disk_usage(shm).free > need
    return Path(tempfile.mkdtemp(prefix="octovm-", dir=shm if fits else None))


class Monitor:
    """QEMU's machine protocol."""

    def __init__(self, path: Path) -> None:
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.settimeout(env.seconds(20))
        self._sock.connect(str(path))
        self._lines = self._sock.makefile("r")
        json.loads(self._lines.readline())  # the greeting
        self.command("qmp_capabilities")

    def command(self, name: str, /, **arguments: object) -> Any:
        """Run one command; its answer."""
        request = {"execute": name, "arguments": arguments}
        self._sock.sendall(json.dumps(request).encode() + b"\n")
        for line in self._lines:
            answer = json.loads(line)
            if "error" in answer:
                raise ProcessError(f"{request}: {answer['error']}")
            if "return" in answer:  # not an event
                return answer["return"]
        raise ProcessError(f"{request}: QEMU hung up")

    def set_link(self, pf: int, up: bool) -> None:
        """Plug the PF's cable in or out."""
        self.command("set_link", name=pf_id(pf), up=up)

    def unplug(self, pf: int) -> None:
        """Ask the guest to let go of the PF, which takes it a while."""
        self.command("device_del", id=f"{pf_id(pf)}dev")

    def is_in(self, pf: int) -> bool:
        """Has the guest not let go of the PF yet?"""
        devices = self.command("qom-list", path="/machine/peripheral")
        return any(device["name"] == f"{pf_id(pf)}dev" for device in devices)

    def plug(self, pf: int, device: str) -> None:
        """Put the PF in again, where it was, once it is out."""
        name = pf_id(pf)
        # this takes it as the command line does; device_add itself wants each value by its type
        refused = self.command("human-monitor-command", **{
            "command-line": f"device_add {device.format(id=name)},bus=rp{pf},id={name}dev"})
        assert not refused, refused

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._sock.close()


class Qemu(Process):
    """A running machine, booted."""

    keep = True  # for all tests of a module

    def __init__(self, machine: Machine, kernel: Path, initrd: Path) -> None:
        self.machine = machine
        self.directory = Path(tempfile.mkdtemp(prefix="octovm-"))
        self.memory = machine.memory_directory or memory_directory(machine)
        self.monitor: Optional[Monitor] = None
        self.last_words = ""
        # whoever kills the tests kills the machine
        argv = ["setpriv", "--pdeathsig", "KILL",
                *command_line(machine, self.directory, self.memory, kernel, initrd)]
        super().__init__(argv)
        try:
            wait_until("the guest's init is ready", self._is_ready, BOOT, self)
            self.monitor = Monitor(self.directory / "qmp")
            threading.Thread(target=self._watch, daemon=True).start()
        except BaseException as err:
            BROKEN.extend(filter(None, [self.broken()]))
            self.close()
            STARTED.remove(self)
            if isinstance(err, ProcessError):
                raise ProcessError(f"{err}\n{self.last_words[-6000:]}{self.text}") from None
            raise

    def _is_ready(self) -> bool:
        if self.broken():
            raise ProcessError(f"the guest did not come up: {self.broken()}")
        return READY in self.serial()

    def serial(self) -> str:
        """What the guest's kernel and init said."""
        log = self.directory / "serial"
        try:
            return log.read_text(errors="replace")
        except FileNotFoundError:
            return self.last_words

    def _lost_timer(self) -> bool:
        """Does a CPU get no ticks any more, as the guest's kernel says then?"""
        return "Possible timer handling issue on cpu=" in self.serial()

    def broken(self) -> str:
        """Why no test can pass in here, whatever it tests; or nothing."""
        if self._lost_timer():
            return "a CPU of the machine has lost its timer"
        if not self.alive():
            return f"QEMU ended by itself, with status {self._popen.returncode}"
        return ""

    def _watch(self) -> None:
        """Whoever waits for a machine that stands still need not wait for long."""
        while self.alive() and not self._lost_timer():
            time.sleep(2)
        self._popen.kill()

    def kill(self) -> None:
        """End it, and leave nothing."""
        super().kill()
        if self.machine.memory_directory is None:
            shutil.rmtree(self.memory, ignore_errors=True)

    def close(self) -> None:
        """Switch the machine off."""
        if self.monitor is not None:
            self.monitor.close()
            self.monitor = None
        self.kill()
        self.last_words = self.serial()
        shutil.rmtree(self.directory, ignore_errors=True)


def environment_lacks() -> str:
    """Why no machine can be booted, or nothing."""
    if os.environ.get("OCTO_VM_MISSING"):
        return os.environ["OCTO_VM_MISSING"]
    return "" if QEMU else "run them by ./octo test vm"


def _asked(*options: str) -> str:
    return subprocess.run([QEMU, *options], capture_output=True, text=True, check=True).stdout


@functools.lru_cache(maxsize=None)
def _version() -> Tuple[int, ...]:
    found = re.search(r"version (\d+)\.(\d+)", _asked("--version"))
    assert found, "QEMU tells no version"
    return tuple(map(int, found.groups()))


def has_device(name: str) -> bool:
    """Can this QEMU emulate it?

    The list of all devices is not asked for: it loads all modules, those of an installed QEMU of
    another version, too, and QEMU 11.1 aborts at the first of these.
    """
    return subprocess.run([QEMU, "-device", f"{name},help"], capture_output=True).returncode == 0
