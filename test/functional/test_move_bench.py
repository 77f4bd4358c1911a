# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of changes and of dying PFs, and what they must find, with few."""

import csv
import itertools
import json
import signal

import pytest

from octotest import env, octobench

CASES = {"rehome", "move", "tx_switch", "rehome_10k", "unpolled",
         "partition", "reta"}
# what nobody polls cannot stay in order
UNFENCED = {"unpolled"}
WAYS = {"move": ["update", "replace"], "unpolled": ["update"],
        "reta": ["roam", "exchange"]}
PROMISED = {"count", "lost", "duplicated", "reordered", "p50_us", "p99_us",
            "blocked_ms"}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """What a quick run of all cases wrote."""
    path = tmp_path_factory.mktemp("bench") / "out.json"
    done = octobench.run("move", "--quick", "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "QUICK" in done.stdout
    return json.loads(path.read_text())


def test_every_case_has_its_figures(figures):
    """With two PFs and with four, and their sums."""
    assert figures["quick"] is True
    assert set(figures) == CASES | {"quick"}
    for name in CASES:
        case = figures[name]
        assert PROMISED <= set(case)
        ways = [None] if name not in WAYS else WAYS[name]
        assert [(shape["pfs"], shape.get("how")) for shape in case["shapes"]] \
            == [(pfs, way) for way in ways for pfs in (2, 4)]
        assert sum(shape["count"] for shape in case["shapes"]) == case["count"]
        assert case["count"] > 0 and case["packets"] > 0
    assert figures["rehome_10k"]["seconds"] > 0


@pytest.mark.parametrize("name", sorted(CASES))
def test_nothing_is_lost(figures, name):
    """Nor comes twice, nor comes to be something else."""
    case = figures[name]
    assert (case["lost"], case["duplicated"], case["foreign"]) == (0, 0, 0)


@pytest.mark.parametrize("name", sorted(CASES - UNFENCED))
def test_nothing_is_reordered(figures, name):
    """Every change is seen to take effect, and no flow is out of order."""
    case = figures[name]
    assert (case["reordered"], case["late"]) == (0, 0)
    assert case["fence_timeouts"] == 0


def test_queues_exchange_their_homes(figures):
    """Both of them follow, so that their numbers stay equal on the sockets."""
    for shape in figures["reta"]["shapes"]:
        if shape["how"] == "exchange":
            assert shape["rehomes"] > shape["count"]


def test_an_interrupted_run_tells_what_it_has(tmp_path):
    """What was measured up to then, and that it is not all."""
    path = tmp_path / "out.json"
    with octobench.start("move", "--quick", "--case", "tx_switch", "--case",
                         "unpolled", "--count", "10000000", "--json",
                         path) as running:
        assert any("==> tx_switch" in line for line in running.stderr)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=env.seconds(60))
    assert running.returncode == 1 and "tx_switch" in out
    figures = json.loads(path.read_text())
    assert figures["interrupted"] is True
    assert figures["tx_switch"]["count"] < 10000000
    assert figures["tx_switch"]["lost"] == 0
    assert "unpolled" not in figures


@pytest.mark.parametrize("case, processes", [("pf_loss", 0), ("chaos", 1)])
def test_an_interrupted_failover_tells_what_it_has(tmp_path, case, processes):
    """Nor did a process of chaos crash that ^C has ended."""
    path = tmp_path / "out.json"
    done = octobench.interrupt("failover", "--quick", "--case", case, "--count", "10000",
                               "--json", path, processes=processes)
    assert done.returncode == 1 and case in done.stdout
    figures = json.loads(path.read_text())
    assert figures["interrupted"] is True
    if case == "chaos":
        assert figures["chaos"]["crashes"] == 0 and figures["chaos"]["cycles"] < 10000
    else:
        assert [shape["count"] < 10000 for shape in figures["pf_loss"]["shapes"]] == [True]


def test_a_migration_is_recorded(tmp_path):
    """There and back; the picture is drawn from it by ./octo."""
    done = octobench.run("move", "--quick", "--plot", tmp_path / "out.png")
    assert done.returncode == 0, done.stdout + done.stderr
    with open(tmp_path / "out.csv", newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    sockets = [row["socket"] for row in rows]
    assert [k for k, _ in itertools.groupby(sockets)] == ["0", "1", "0"]
    for column in ("pf0_packets_per_s", "pf1_packets_per_s"):
        assert any(float(row[column]) > 0 for row in rows)
    assert all(float(row["strays_per_s"]) >= 0 for row in rows)


def test_a_queue_that_nobody_polls_holds_nothing_up(figures):
    """Only a timeout can let its flows go, and it is counted."""
    for shape in figures["unpolled"]["shapes"]:
        assert shape["fence_timeouts"] > 0 and shape["late"] == 0


@pytest.fixture(scope="module")
def failover(tmp_path_factory):
    """What a quick run of all cases with two PFs wrote."""
    path = tmp_path_factory.mktemp("bench") / "out.json"
    done = octobench.run("failover", "--quick", "--pfs", "2", "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


def test_a_dead_pf_loses_what_was_in_its_rings(failover):
    """And nothing else, with a NIC that leads packets around it."""
    loss = failover["pf_loss"]
    assert [shape["flows"] for shape in loss["shapes"]] == [64, 250, 1000]
    assert loss["control_p99_ms"] > 0
    for shape in loss["shapes"]:
        assert shape["late"] == 0
        assert shape["lost"] <= shape["lost_in_dead_rings"]


def test_what_a_switch_sends_to_a_dead_pf_is_counted(failover):
    """With a NIC that does not see a PF die."""
    loss = failover["pf_loss_drop"]
    assert loss["lost"] == loss["lost_in_dead_rings"] + loss["lost_in_switch"]
    assert [shape["late"] for shape in loss["shapes"]] == [0]


def test_an_announced_removal_loses_and_reorders_nothing(failover):
    """The PF works until it has been left, unless its queues' pollers have no CPU for so long."""
    eject = failover["pf_eject"]
    assert [shape["late"] for shape in eject["shapes"]] == [0]
    assert eject["lost_in_time"] == eject["reordered"] == 0
    assert eject["lost"] <= eject["lost_in_dead_rings"]


def test_a_failback_loses_and_reorders_nothing(failover):
    """Planned changes cost nothing."""
    assert failover["failback"]["lost"] == failover["failback"]["reordered"] == 0


def test_chaos_is_accounted_for(failover):
    """PFs come and go: nothing crashes, and what is lost is counted."""
    chaos = failover["chaos"]
    assert chaos["cycles"] == 8 and chaos["calls"] > 0
    assert chaos["packets"] > 0
    assert {name: chaos[name] for name in chaos if name not in (
        "cycles", "calls", "packets", "lost", "dropped")} == dict.fromkeys((
            "crashes", "unaccounted", "late", "misplaced", "open_fences",
            "stale_rules", "unlike", "leaked_buffers", "leaked_bytes"), 0)


@pytest.mark.parametrize("args, culprit", [
    (["--pfs", "3"], "--pfs 3"), (["--pfs", "x"], "--pfs x"),
    (["--plot", "out.gif"], "--plot out.gif"),
    (["--plot", "/nonexistent/out.png"], "cannot write /nonexistent/out.csv: "),
    (["--count", "0"], "--count 0"), (["--case", "insert"], "--case insert"),
    (["move"], "twice"), (["steering"], "steering"),
])
def test_wrong_use_is_one_line(args, culprit):
    """The message names the culprit; nothing is measured."""
    assert culprit in octobench.refusal("move", *args)
