# SPDX-License-Identifier: BSD-3-Clause
"""Ports come and go a hundred times and leave nothing behind."""

import contextlib
import os
import re
from pathlib import Path
from typing import Dict

import pytest

from octotest import env, packets, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View

ROUNDS = 100
WARM_UP = 10
PF_EXITING = 4  # linux/sched.h


def _nb_threads(pid: int) -> int:
    """Of a process, without those that end: they are joined before they are gone."""
    number = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            flags = (task / "stat").read_text().rpartition(") ")[2].split()[6]
            number += int(flags) & PF_EXITING == 0
    return number


def _resources(pmd) -> Dict[str, object]:
    """What must not grow."""
    heap = pmd.telemetry.get("/eal/heap_info", 0)
    return {
        "heap": heap["Alloc_count"], "heap bytes": heap["Alloc_size"],
        "memzones": len(pmd.telemetry.get("/eal/memzone_list")),
        "mempools": sorted(pmd.telemetry.get("/mempool/list")),
        "files": len(os.listdir(f"/proc/{pmd.pid}/fd")),
        "threads": _nb_threads(pmd.pid),
    }


def _carry_traffic(pmd, port: int) -> None:
    pmd.cmd("start tx_first")
    pmd.wait_until("traffic", lambda: pmd.telemetry.get(
        "/ethdev/stats", port)["ipackets"] > 100)
    pmd.cmd("stop")


def _one_life(pmd, with_pfs: bool) -> None:
    """Create, start, carry, steer, stop, close, remove."""
    if with_pfs:
        for arg in vdevs.nic("A", 0, 2, "loop"):
            assert "Failed" not in \
                pmd.cmd(f"port attach {arg[len('--vdev='):]}")
    out = pmd.cmd("port attach " +
                  vdevs.octo_devargs(0, vdevs.pf_names()))
    port = int(re.search(r"Port (\d+) is attached", out)[1])
    pmd.cmd(f"port start {port}")
    pmd.cmd(f"set portlist {port}")
    flow_id(pmd.cmd(packets.flows(1)[0].rule(port, 0)))
    _carry_traffic(pmd, port)
    pmd.cmds([f"port stop {port}", f"port close {port}",
              "device detach net_octo0"])
    if with_pfs:
        for name in vdevs.pf_names():
            pmd.cmd(f"device detach {name}")


@pytest.mark.parametrize("with_pfs", [False, True],
                         ids=["octo", "octo-and-pfs"])
def test_hundred_lives(with_pfs):
    """Heap, memzones, mempools, files and threads stay as they were."""
    pfs = [] if with_pfs else vdevs.nic("A", 0, 2, "loop")
    with Testpmd([*pfs, "--vdev=net_null0"],
                 app=["--disable-device-start"], queues=1,
                 lcores="0@0,1@1") as pmd:
        pmd.cmd(f"port start {pmd.port('net_null0')}")
        for _ in range(WARM_UP):
            _one_life(pmd, with_pfs)
        before, rss = _resources(pmd), pmd.rss_kib()
        for _ in range(ROUNDS):
            _one_life(pmd, with_pfs)
        assert _resources(pmd) == before
        if not env.ASAN:  # its quarantine grows
            assert pmd.rss_kib() - rss < 1024


def test_hundred_stops_and_starts():
    """A port that is stopped and started keeps its size and its traffic."""
    with Testpmd(vdevs.looped()) as pmd:
        port = pmd.port()

        def rounds(number: int) -> None:
            for _ in range(number):
                _carry_traffic(pmd, port)
                pmd.cmds([f"port stop {port}", f"port start {port}"])
        rounds(WARM_UP)
        before, rss = _resources(pmd), pmd.rss_kib()
        rounds(ROUNDS)
        assert _resources(pmd) == before
        if not env.ASAN:
            assert pmd.rss_kib() - rss < 1024
        View(pmd).assert_lost_nothing()


def test_reconfiguration():
    """Queues can become more and fewer; traffic goes on."""
    with Testpmd(vdevs.looped(), queues=1) as pmd:
        view = View(pmd)
        for queues in (4, 2, 8, 1, 3):
            pmd.cmds(["port stop all", f"port config all rxq {queues}",
                      f"port config all txq {queues}", "port start all"])
            assert len(view.topology()["queues"]) == queues
            _carry_traffic(pmd, view.port)


def test_killed_while_forwarding():
    """The next process with the same prefix starts as if nothing was."""
    with Testpmd(vdevs.looped()) as pmd:
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda:
                       pmd.stats(pmd.port())["RX-packets"] > 100)
        pmd.kill()
        pmd.status = -9
        with Testpmd(vdevs.looped(), file_prefix=pmd.file_prefix) as again:
            _carry_traffic(again, again.port())


def test_quit_while_forwarding():
    """Leaving without stopping anything first is clean."""
    with Testpmd(vdevs.back_to_back()) as pmd:
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda:
                       pmd.stats(pmd.port())["RX-packets"] > 100)


@pytest.mark.skipif(env.ASAN, reason="valgrind and ASan exclude each other")
def test_valgrind_is_clean(program):
    """No invalid access, no block of ours lost."""
    log = f"/tmp/{env.unique()}.valgrind"
    prefix = [program("valgrind"), "--error-exitcode=0", f"--log-file={log}",
              "--leak-check=full", "--show-leak-kinds=definite",
              "--fair-sched=yes"]
    with Testpmd(vdevs.looped(), prefix=prefix, memory=64, mbufs=2048,
                 queues=1, lcores="0@0,1@1", eal=["--no-telemetry"]) as pmd:
        port = pmd.port()
        for _ in range(2):
            pmd.cmd("start tx_first")
            pmd.wait_until("traffic", lambda:
                           pmd.stats(port)["RX-packets"] > 50, 60)
            pmd.cmds(["stop", f"port stop {port}", f"port start {port}"])
    with open(log, encoding="utf-8", errors="replace") as text:
        blocks = re.split(r"\n==\d+== \n", text.read())
    os.unlink(log)
    ours = [b for b in blocks if re.search(r"librte_net_octo|\bocto(sim)?_", b)
            and re.search(r"Invalid|uninitialised|definitely lost", b)]
    assert not ours, "\n\n".join(ours)


def test_program_without_traffic_ends(program):
    """Probed, never configured, closed: the shortest life."""
    process = Process([
        program("dpdk-testpmd"), "--no-huge", "-m", "64", "--no-pci",
        "--lcores=0@0,1@1", f"--file-prefix={env.unique()}",
        *env.plugin_args(), *vdevs.looped(), "--", "--help"])
    assert process.wait() == 0


def test_resets():
    """A port that was reset is as after its probe, then configured and started over all PFs."""
    with Testpmd(vdevs.looped()) as pmd:
        port, flow = pmd.port(), packets.flows(1)[0]
        view = View(pmd)
        for _ in range(10):
            flow_id(pmd.cmd(flow.rule(port, 0)))
            _carry_traffic(pmd, port)
            assert view.steering()["total"] == 1
            said = pmd.cmds([f"port stop {port}", f"port reset {port}"])
            assert [pf["state"] for pf in view.topology()["pfs"]] == 2 * ["owned"]
            assert view.topology()["queues"] == []
            said += pmd.cmd(f"port start {port}")
            assert "Fail" not in said, said
            assert [pf["state"] for pf in view.topology()["pfs"]] == 2 * ["started"]
            assert view.steering()["total"] == 0
        _carry_traffic(pmd, port)
