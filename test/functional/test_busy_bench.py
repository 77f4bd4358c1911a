# SPDX-License-Identifier: BSD-3-Clause
"""PFs that die and come back on a machine that has other work, on pages of either size.

Nothing here depends on how long something takes.
"""

import json
import signal
import subprocess

import pytest

from octotest import cores, env, load, octobench

CYCLES = 10  # as many as two looks at all that is at rest
TIMES = 2
# what a busy machine may bring about, or a removal that nobody had the time to prepare
COUNTS = {"cycles", "calls", "packets", "lost", "dropped", "late"}


@pytest.fixture(params=["2 PFs", "4 PFs on hugepages"])
def pfs(request, monkeypatch):
    """How many; pages of 2 MiB are reserved, and given back."""
    if "hugepages" in request.param:
        request.getfixturevalue("huge_dir")
        monkeypatch.delenv("OCTO_NO_HUGE")
    return int(request.param[0])


@pytest.fixture
def busy():
    """All CPUs have other work."""
    with load.busy():
        yield


def test_chaos_is_accounted_for(pfs, busy, tmp_path):
    """No process crashes, and every packet is accounted for."""
    path = tmp_path / "out.json"
    failed = octobench.run_until_crash("failover", "--quick", "--case", "chaos", "--pfs",
                                       pfs, "--count", CYCLES, "--json", path, limit=120)
    assert not failed, failed
    chaos = json.loads(path.read_text())["chaos"]
    assert chaos["cycles"] == CYCLES and chaos["packets"] > 0
    assert not [name for name in chaos if name not in COUNTS and chaos[name] != 0], chaos


def test_pfs_are_lost_and_come_back(pfs, busy, tmp_path):
    """Removals of all kinds: a PF that comes back loses no packet."""
    path = tmp_path / "out.json"
    cases = [word for case in ("pf_loss", "pf_loss_drop", "pf_eject", "failback")
             for word in ("--case", case)]
    failed = octobench.run_until_crash("failover", "--quick", *cases, "--pfs", pfs,
                                       "--count", TIMES, "--json", path, limit=120)
    assert not failed, failed
    figures = json.loads(path.read_text())
    assert figures["failback"]["lost"] == figures["pf_eject"]["lost_in_time"] == 0


def test_a_crash_is_reported_with_its_stack(tmp_path):
    """By gdb, where there is one, or how to do it is said."""
    if not cores.are_found():
        assert "sysctl kernel.core_pattern=core" in cores.report(tmp_path, "sh")
        return
    with cores.directory() as path:
        shell = env.find_binary("sh")
        done = subprocess.run([shell, "-c", "kill -SEGV $$"], cwd=path, check=False,
                              preexec_fn=cores.wanted)
        assert done.returncode == -signal.SIGSEGV
        report = cores.report(path, shell)
        for core in path.glob("core*"):
            core.unlink()
    assert "SIGSEGV" in report or "gdb is not installed" in report
    assert not path.exists()


def test_hugepages_of_others_are_left_alone(huge_dir):
    """A program that finds them free may have none when it takes them."""
    done = octobench.run("failover", "--quick", "--case", "failback", "--pfs", 2, "--count", 1)
    assert done.returncode == 0, done.stderr
    assert "all figures are on 4 KiB pages" in done.stdout
