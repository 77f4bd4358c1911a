# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures, skips by name, and process output in failure reports."""

import os
import sys
from pathlib import Path
from typing import Iterator, List

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from octotest import env, hugepages, process  # noqa: E402
from octotest.netns import Host  # noqa: E402
from octotest.thin import MARK, thin_out  # noqa: E402

NIC_MAC = {1: "02:0c:70:00:00:01", 2: "02:0c:70:00:00:02"}

# Of programs that look for free hugepages themselves: those are another test's.
os.environ.setdefault("OCTO_NO_HUGE", "1")


def pytest_report_header() -> str:
    """Say what is tested."""
    return (f"build: {env.BUILD}{' (ASan)' if env.ASAN else ''}, "
            f"testpmd: {env.find_binary('dpdk-testpmd')}")


def pytest_configure(config) -> None:
    """Say what the marks mean."""
    config.addinivalue_line("markers", MARK)
    config.addinivalue_line("markers", "no_c: nothing that we compile runs, and so "
                            "nothing that a sanitizer could see")


def _leave_out_scripts(items: List[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="nothing for sanitizers to see, runs without")
    for item in items:
        if item.get_closest_marker("no_c"):
            item.add_marker(skip)


def pytest_collection_modifyitems(config, items) -> None:
    """Without the drivers nothing can be tested: say so once per test."""
    if env.SHORT or not config.getoption("keyword"):
        thin_out(items)
        if env.ASAN:
            _leave_out_scripts(items)
    if all(env.built_driver(name).exists() for name in env.DRIVERS):
        return
    missing = pytest.mark.skip(reason=f"no drivers below {env.BUILD}")
    for item in items:
        item.add_marker(missing)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    """Show what the processes of a failed test printed."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and process.STARTED:
        report.sections.append(("processes", process.report()))
        _kill_all()  # shared ones start afresh


def _kill_all() -> None:
    for child in process.STARTED:
        child.kill()
    process.STARVED.extend(child.starved for child in process.STARTED if child.starved)


def pytest_keyboard_interrupt() -> None:
    """Who waits for too long is interrupted: show what for."""
    print(f"\n{process.report()}")
    _kill_all()


def pytest_terminal_summary(terminalreporter) -> None:
    """A thread that gets no CPU is none of the tests' faults."""
    for why in process.STARVED:
        terminalreporter.write_line(env.BROKEN + why)


def pytest_sessionfinish(session) -> None:
    """Tell who runs the tests: devtools/run-tests.py starts them again."""
    if process.STARVED:
        session.exitstatus = env.MACHINE_BROKE


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """Whatever a test starts ends with it (module fixtures re-register)."""
    yield
    process.kill_leftovers()


@pytest.fixture
def root() -> None:
    """Only root makes namespaces."""
    if not env.IS_ROOT:
        pytest.skip("namespaces need root")


@pytest.fixture
def hosts(root) -> Iterator[tuple]:
    """Two namespaces, each with a wire to DPDK."""
    made = []
    try:
        for number in (1, 2):
            made.append(Host(number, NIC_MAC[number]))
        yield tuple(made)
    finally:
        for host in made:
            host.remove()


@pytest.fixture
def huge_dir() -> Iterator[str]:
    """A mount with 512 pages of 2 MiB."""
    if not env.IS_ROOT:
        pytest.skip("hugepages need root")
    try:
        with hugepages.reserved(512) as mount:
            yield mount
    except hugepages.NoHugepages as err:
        pytest.skip(f"no hugepages: {err}")


@pytest.fixture
def program():
    """A program of the system, or skip by its name."""
    def find(name: str) -> str:
        path = env.find_binary(name)
        if path is None:
            pytest.skip(f"{name} is not installed")
        return path
    return find


class Shared:
    """A testpmd that tests of one module use in turn, restarted on failure."""

    def __init__(self, make) -> None:
        self._make = make
        self._pmd = None

    def get(self):
        """The running testpmd, which is not forwarding."""
        if self._pmd is None or not self._pmd.alive():
            self._pmd = self._make()
            self._pmd.keep = True
        elif self._pmd not in process.STARTED:
            process.STARTED.append(self._pmd)
        return self._pmd

    def close(self) -> None:
        """End it and look at how it ended."""
        pmd, self._pmd = self._pmd, None
        if pmd is not None and pmd.alive():
            assert pmd.quit() == 0


@pytest.fixture(scope="module")
def shared():
    """Makes Shared objects that end with the module."""
    made = []

    def make(function) -> Shared:
        made.append(Shared(function))
        return made[-1]
    yield make
    process.STARTED.clear()
    for one in made:
        one.close()
