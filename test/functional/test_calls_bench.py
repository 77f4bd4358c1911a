# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of calls that only ask: all situations come about; no times."""

import json
import os
import subprocess

import pytest

from octotest import env, octobench

CASES = ("idle", "flood", "hang", "away", "slow_rules", "secondary")
CALLS = {"stats_get", "xstats_get", "link_get_nowait", "dev_info_get"}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """What a quick run of all cases wrote and said: (JSON, text)."""
    path = tmp_path_factory.mktemp("bench") / "out.json"
    done = octobench.run("calls", "--quick", "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


def test_every_case_has_its_figures(figures):
    """Of each call, of the octo port and of the PFs; none fails, unless a PF joins."""
    result = figures[0]
    assert result.pop("quick") is True
    assert tuple(result) == CASES
    for name, case in result.items():
        assert case["rounds"] > 0 and case["wanted_us"] == 1000
        assert case["failed"] == 0 or name == "secondary"
        assert set(case["calls"]) == CALLS
        for call in case["calls"].values():
            for whose in ("octo", "pfs"):
                times = call[whose]
                assert 0 < times["p50_us"] <= times["p99_us"] <= times["max_us"]
            assert call["p99_more_us"] == pytest.approx(
                call["octo"]["p99_us"] - call["pfs"]["p99_us"], abs=0.1)


def test_control_operations_take_long(figures):
    """Two PFs sleep for each rule, and agents say what they are to say."""
    result = figures[0]
    assert result["idle"]["rules"] == 0
    assert result["slow_rules"]["rule_max_ms"] >= 200
    assert all(result[name]["rules"] > 0 for name in ("flood", "away", "secondary"))
    # a welcome, and no more; and a thousand messages before each answer
    assert 0 < result["hang"]["agent_bytes"] < 1000 < result["flood"]["agent_bytes"]


def test_every_call_is_judged(figures):
    """In a line of its own, next to what is wanted."""
    lines = [line for line in figures[1].splitlines() if "<= 1000" in line]
    assert [line.split("<= 1000")[1].strip() in ("yes", "NO") for line in lines] == \
        len(CASES) * len(CALLS) * [True]


def test_nothing_is_left_behind():
    """Neither EAL's files for other processes nor the socket of the one that is played."""
    done = octobench.run("calls", "--quick", "--case", "secondary", "--count", 5)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(env.runtime_base().glob("**/octo-app-*")) == []


@pytest.mark.skipif(bool(env.ASAN_RUNTIME), reason="ASan needs address space without limit")
def test_nothing_is_left_behind_where_eal_does_not_start():
    """There is not as much memory as it wants."""
    done = subprocess.run(["prlimit", f"--as={400 << 20}", octobench.program(), "calls", "--quick"],
                          text=True, capture_output=True, check=False, timeout=env.seconds(60),
                          env={**os.environ, "RUNTIME_DIRECTORY": str(env.runtime_base())})
    assert done.returncode == 1 and done.stdout == "", done
    assert "octo bench: DPDK could not start: " in done.stderr
    assert list(env.runtime_base().glob("**/octo-app-*")) == []


@pytest.mark.parametrize("args, culprit", [
    (["--case", "rehome"], "--case rehome: idle, flood"), (["--count", "0"], "--count 0"),
    (["calls"], "twice"),
])
def test_wrong_use_is_one_line(args, culprit):
    """The message names the culprit; nothing is measured."""
    assert culprit in octobench.refusal("calls", *args)
