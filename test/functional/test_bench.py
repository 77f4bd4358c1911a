# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark measures what it says, shown by a quick run: counts, no times."""

import json

import pytest

from octotest import env, octobench

KEYS = {
    "insert": {"flows", "misdirected", "lost", "bytes_per_flow",
               "octo_ns_per_insert", "rate_octo", "rate_direct"},
    "converge": {"flows", "seconds", "stray_fraction", "strays_per_flow"},
    "zipf": {"flows", "entries", "stray_fraction", "ratio_to_best"},
    "learning": {"throughput_ratio"},
    "partition": {"pfs", "queues", "strays", "imbalance"},
    "reta": {"pfs", "queues", "strays", "imbalance"},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """What a quick run of all cases wrote and said: (JSON, text)."""
    if env.ASAN:
        pytest.skip("the benchmark makes rules by the ten thousand: "
                    "too slow with ASan")
    path = tmp_path_factory.mktemp("bench") / "out.json"
    done = octobench.run("steering", "--quick", "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


def test_json_has_every_figure(bench):
    """The cases and figures that are promised, and no others."""
    figures = dict(bench[0])
    assert figures.pop("quick") is True
    assert set(figures) == set(KEYS)
    for name, case in figures.items():
        for each in case if isinstance(case, list) else [case]:
            assert set(each) == KEYS[name]


def test_every_inserted_rule_works(bench):
    """A packet of each flow: none lost, none elsewhere, and it cost something."""
    insert = bench[0]["insert"]
    assert insert["flows"] == 20000
    assert insert["misdirected"] == 0 and insert["lost"] == 0
    assert insert["bytes_per_flow"] > 0
    assert insert["octo_ns_per_insert"] > 0
    assert insert["rate_direct"] > 0 and insert["rate_octo"] > 0


@pytest.mark.parametrize("case", ["partition", "reta"])
def test_flows_without_rules_never_stray(bench, case):
    """Two PFs and four, with as many queues on each, and not."""
    shapes = bench[0][case]
    assert [(each["pfs"], each["queues"]) for each in shapes] == \
        [(2, 4), (2, 3), (4, 8), (4, 5)]
    assert [each["strays"] for each in shapes] == [0, 0, 0, 0]
    # random flows, few of them: some queue gets more than another
    assert all(0 < each["imbalance"] < 1 for each in shapes)


def test_strays_teach(bench):
    """Every flow strays before it has a rule, and not all of them for ever."""
    converge, zipf = bench[0]["converge"], bench[0]["zipf"]
    assert converge["flows"] == 500 and converge["strays_per_flow"] >= 1
    assert 0 <= converge["stray_fraction"] < 1
    assert (zipf["flows"], zipf["entries"]) == (5000, 128)
    # about half of the packets would stray if nothing was learned
    assert 0 < zipf["stray_fraction"] < 0.4
    assert zipf["ratio_to_best"] > 0
    assert bench[0]["learning"]["throughput_ratio"] > 0


def test_text_says_that_it_was_quick(bench):
    """Nobody is to take its figures for figures."""
    assert "QUICK" in bench[1] and "insert" in bench[1]


def test_an_interrupted_case_runs_no_more(tmp_path):
    """The figures are of the runs up to then."""
    path = tmp_path / "out.json"
    done = octobench.interrupt("steering", "--quick", "--case", "zipf", "--runs", "100",
                               "--json", path)
    assert done.returncode == 1 and "run 100 of 100" not in done.stderr
    figures = json.loads(path.read_text())
    assert figures["interrupted"] is True and figures["zipf"]["flows"] > 0


@pytest.mark.parametrize("args, culprit", [
    ([], "steering"), (["latency"], "latency"), (["steering", "more"], "more"),
    (["steering", "--runs", "0"], "--runs 0"),
    (["steering", "--case", "no"], "--case no"),
    (["steering", "--json", "/nonexistent/file"], "/nonexistent/file"),
])
def test_wrong_use_is_one_line(args, culprit):
    """The message names the culprit; nothing is measured."""
    assert culprit in octobench.refusal(*args)
