# SPDX-License-Identifier: BSD-3-Clause
"""./octo bench idle: who takes part, whose threads are whose; no time is judged."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from octotest import env

DEVTOOLS = env.REPO / "devtools"
PROGRAM = DEVTOOLS / "bench-idle.py"
GROUPS = ["lcores", "octo", "interrupts", "others"]


@pytest.fixture(scope="module")
def bench():
    """The program as a module."""
    sys.path.insert(0, str(DEVTOOLS))
    spec = importlib.util.spec_from_file_location("bench_idle", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*args: object, **environ: str) -> subprocess.CompletedProcess:
    """The program when it is done."""
    return subprocess.run([sys.executable, "-B", PROGRAM, *map(str, args)], text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **environ}, timeout=env.seconds(120))


def test_times_by_group(bench, tmp_path):
    """By the names of 22.11 and of newer releases; the main thread is an lcore."""
    names = ["octo-l3fwd-powe", "rte-worker-1", "octo-0", "eal-intr-thread", "rte_mp_handle",
             "dpdk-worker1", "dpdk-intr", "dpdk-octo-1", "telemetry-v2"]
    for i, name in enumerate(names):
        task = tmp_path / "7" / "task" / str(7 + i)
        task.mkdir(parents=True)
        (task / "comm").write_text(name + "\n")
        (task / "schedstat").write_text(f"{10 ** i} 5 6\n")
    assert bench.cpu_times(7, tmp_path) == {
        "lcores": 100011, "octo": 10000100, "interrupts": 1001000, "others": 100010000}


@pytest.mark.parametrize("percent, met", [(4.99, True), (5.0, False)])
def test_aim(bench, percent, met):
    """It is that of octo ports; the output names them all, aligned."""
    def port(name, octo, total):
        return {"name": name, "octo": octo, "percent": {**dict.fromkeys(GROUPS, 0.5), "all": total}}
    ports = [port("octo, 2 net_mpsim", True, percent), port("bare", False, 50.0)]
    assert bench.is_met(ports) == met
    said = bench.text({"seconds": 30, "cpus": 2, "load": [1.0], "dpdk": "22.11", "ports": ports,
                       "met": met, "aim_percent": 5, "left_out": [{"name": "taps", "why": "x"}]})
    rows = [line for line in said.splitlines() if line.endswith(("all", f"{percent}0"[:4], "50.00"))]
    assert len(rows) == 3 and len(set(map(len, rows))) == 1
    assert said.endswith(f"below 5 %: {'yes' if met else 'NO'}\n") and "Left out: taps: x" in said


def test_all_is_measured(tmp_path):
    """Over octo ports and a bare PF; the threads of each group have run."""
    program = env.find_built("octo-l3fwd-power")
    if program is None:
        pytest.skip("l3fwd-power is not built")
    path = tmp_path / "out.json"
    done = run("--seconds", "0.5", "--json", path, OCTO_L3FWD_POWER=str(program))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(path.read_text())
    ports = {port["name"]: port["percent"] for port in found["ports"]}
    taps = {"octo, 2 net_tap"} if not found["left_out"] else set()
    assert env.IS_ROOT or not taps
    assert set(ports) == {"octo, 2 net_mpsim", "1 net_mpsim, no octo"} | taps
    for name, percent in ports.items():
        assert list(percent) == [*GROUPS, "all"]
        assert percent["all"] == pytest.approx(sum(percent[group] for group in GROUPS))
        assert percent["lcores"] > 0 and (percent["octo"] > 0) == name.startswith("octo")
        assert name in done.stdout


def test_a_program_that_does_not_start():
    """One sentence, and what it said."""
    done = run("--seconds", "0.1", OCTO_L3FWD_POWER="/bin/false")
    assert done.returncode == 1 and done.stdout == ""
    assert "l3fwd-power ended with status 1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("args", [["--seconds", "0"], ["--seconds", "x"], ["idle"],
                                  ["--json", "/nonexistent/out.json"]])
def test_wrong_use(args):
    """It is told before anything is built."""
    done = run(*args, OCTO_CHECK_USE="1")
    assert done.returncode == 2 and done.stdout == ""
    assert args[-1] in done.stderr.splitlines()[-1]


def test_octo_leads_there():
    """./octo bench idle is this program."""
    done = subprocess.run([env.REPO / "octo", "bench", "idle", "--seconds", "0"], text=True,
                          check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=env.seconds(60))
    assert done.returncode == 2 and "octo bench idle: error: argument --seconds" in done.stderr
