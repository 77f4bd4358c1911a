# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: a booted machine per module; skips by name; the guest in reports."""

import os
import sys
from pathlib import Path
from typing import Callable, Iterator

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "functional")]

# All is emulated, and other things may run beside it.
os.environ.setdefault("OCTO_TIMEOUT_FACTOR", "10")

from octotest import env, process  # noqa: E402
from octotest.thin import MARK, thin_out  # noqa: E402
from octovm import initramfs, qemu, report  # noqa: E402
from octovm.guest import Guest  # noqa: E402
from octovm.wire import Wire  # noqa: E402

MAC = "02:0c:70:00:00:01"  # of all PFs of a machine


def pytest_report_header() -> str:
    """Say what is tested."""
    nic = "" if not qemu.QEMU or qemu.has_device("igb") else " (no igb: vmxnet3 instead)"
    return (f"build: {env.BUILD}, QEMU: {qemu.QEMU or 'none'}{nic}, "
            f"kernel: {qemu.KERNEL_ROOT.name}")


def pytest_configure(config) -> None:
    """Say what the marks mean."""
    config.addinivalue_line("markers", MARK)
    config.addinivalue_line("markers", "long: left out by ./octo test vm --short")


def pytest_collection_modifyitems(items) -> None:
    """Without a machine nothing can be tested: say so."""
    thin_out(items)
    for item in items:
        if env.SHORT and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="takes long: not with --short"))
    reason = qemu.environment_lacks()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=f"no virtual machine: {reason}"))


def pytest_terminal_summary(terminalreporter) -> None:
    """Packets by whether their memory was on the PF's own node."""
    if report.ROWS:
        terminalreporter.section("NUDMA audit: packets by the node of their memory")
        terminalreporter.write_line("\n".join(report.lines()))
        report.write(env.BUILD / "vm-audit.json")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Show what the guest and the processes of a failed test printed."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        machines = [child for child in process.STARTED if isinstance(child, qemu.Qemu)]
        for machine in machines:
            report.sections.append(("guest's kernel", machine.serial()[-3000:]))
        why = qemu.BROKEN + [reason for m in machines if (reason := m.broken())]
        if why:
            # a QEMU that is not sound (devtools/vm.sh) breaks a machine now and then: no test
            # can pass in there
            item.session.shouldstop = env.BROKEN + why[0]
        report.sections.append(("processes", process.report()))


def pytest_sessionfinish(session) -> None:
    """Tell who runs the tests that it was not they that failed."""
    if str(session.shouldstop).startswith(env.BROKEN):
        session.exitstatus = env.MACHINE_BROKE


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """Whatever a test starts ends with it; the machine with its module."""
    yield
    process.kill_leftovers()


@pytest.fixture(scope="session")
def initrd(tmp_path_factory) -> Path:
    """The guest's file system."""
    return initramfs.build(tmp_path_factory.mktemp("vm") / "initrd")


def boots(initrd: Path) -> Iterator[Callable[[qemu.Machine], Guest]]:
    """A function that boots machines; they are switched off afterwards."""
    booted = []

    def boot_one(machine: qemu.Machine) -> Guest:
        booted.append(qemu.Qemu(machine, initramfs.kernel_image(), initrd))
        return Guest(booted[-1])
    yield boot_one
    for machine_process in booted:
        machine_process.close()
        process.STARTED.remove(machine_process)


@pytest.fixture(scope="module")
def boot(initrd) -> Iterator[Callable[[qemu.Machine], Guest]]:
    """Boots machines, which end with the module."""
    yield from boots(initrd)


@pytest.fixture(scope="session")
def bare(initrd) -> Iterator[Guest]:
    """A machine without PFs, for whoever needs but the nodes."""
    for boot_one in boots(initrd):
        yield boot_one(qemu.Machine())


@pytest.fixture(scope="session")
def wire() -> Iterator[Wire]:
    """The other end of both igbs' cables."""
    made = Wire()
    yield made
    made.close()


@pytest.fixture(scope="session")
def igbs(initrd, wire) -> Iterator[Guest]:
    """Two igb on different nodes, with one MAC, bound to vfio-pci; or vmxnet3."""
    model = "igb" if qemu.has_device("igb") else "vmxnet3"
    for boot_one in boots(initrd):
        guest = boot_one(qemu.Machine(pfs=[wire.nic(i, model, MAC) for i in range(2)]))
        guest.bind_vfio()
        yield guest


@pytest.fixture(scope="session")
def real_igbs(igbs) -> Guest:
    """Two igb: not where they are vmxnet3 instead."""
    if not qemu.has_device("igb"):
        pytest.skip("this QEMU has no igb, and its vmxnet3 has no RSS and tells no link")
    return igbs
