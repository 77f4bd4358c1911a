# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of overhead: who takes part, and that no packet is lost; no times."""

import json

import pytest

from octotest import octobench

ON_VETH = {"net_af_packet", "net_af_xdp"}
PFS = {"net_null", "net_ring", "mpsim", *ON_VETH}
WORKS = {"rx", "io", "touch"}
FIGURES = {"cycles", "cycles_per_burst", "ratio", "added"}
SHAPES = {(1, "home"), (2, "home"), (2, "strays")}
SLICED = {("net_null", "strays"), ("net_ring", "home"), ("net_ring", "strays"),
          ("mpsim", "home"), ("mpsim", "strays")}
TIERS = ("octo-mac", "octo-mac-other", "octo-mac-copies", "octo-mac-app", "octo-mac-address")


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """What a quick run wrote and said: (JSON, text)."""
    path = tmp_path_factory.mktemp("bench") / "out.json"
    works = [arg for work in sorted(WORKS) for arg in ("--case", work)]
    done = octobench.run("overhead", "--quick", "--runs", "1", "--json", path,
                         *works)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


def _kinds(figures: dict) -> set:
    """The PFs that there are: some need a network namespace, and a kernel with AF_XDP."""
    assert set(figures["skipped"]) <= ON_VETH
    return PFS - set(figures["skipped"])


def _shapes(pf: str) -> set:
    return {(1, "home")} if pf == "net_af_xdp" else SHAPES


def test_every_case_is_there(figures):
    """All PFs, all shapes, all bursts; and what times are counted in."""
    result = figures[0]
    assert result["time_base"] == "TSC" and result["tsc_hz"] > 0
    assert result["quick"] is True
    assert sorted((c["pf"], c["pfs"], c["traffic"], c["work"], c["burst"])
                  for c in result["cases"]) == sorted(
        (pf, pfs, traffic, work, burst) for pf in _kinds(result)
        for pfs, traffic in _shapes(pf) for work in WORKS
        for burst in (4, 16, 32, 64))
    for case in result["cases"]:
        for name in FIGURES:
            assert {"bare", "octo", "failsafe"} <= set(case[name])
            assert set(case[name]) == set(case["cycles"])
        assert case["ratio"]["bare"] == 1 and case["added"]["bare"] == 0
        assert all(cycles > 0 for cycles in case["cycles"].values())


def test_slices_are_compared_with_two_pfs(figures):
    """Where a port of a PF's kind can be sliced so that packets come as the shape says."""
    for case in figures[0]["cases"]:
        sliced = case["pfs"] == 2 and (case["pf"], case["traffic"]) in SLICED
        for name in ("octo-slices", "bare-slices"):
            assert (name in case["cycles"]) == sliced, case
            assert name not in case["left_out"]
        for name in ("slices", "slices_own"):
            assert (name in case, f"{name}_low" in case) == (sliced, sliced)
        assert "octo-slices" not in case["wrong_port"]
    for text in ("slices add to two PFs", "of that, by octo itself"):
        assert figures[1].count(text) == 5


def test_only_slices(tmp_path):
    """No port of others, and of net_af_xdp one PF: what slices have limits in."""
    path = tmp_path / "out.json"
    done = octobench.run("overhead", "--quick", "--case", "slices", "--case", "io",
                         "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    cases = {(c["pf"], c["pfs"], c["traffic"]): set(c["cycles"])
             for c in result["cases"]}
    expected = {(pf, 2, traffic): {"bare", "octo", "octo-slices", "bare-slices"}
                for pf, traffic in SLICED}
    if "net_af_xdp" in _kinds(result):
        expected["net_af_xdp", 1, "home"] = {"bare", "octo"}
    assert cases == expected


def test_only_mac(tmp_path):
    """Tier mac next to tier queue; a port that does not drop or rewrite would be left out."""
    path = tmp_path / "out.json"
    done = octobench.run("overhead", "--quick", "--case", "mac", "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads(path.read_text())["cases"]
    assert [(c["pf"], c["pfs"], c["traffic"], c["work"], c["burst"]) for c in cases] == [
        ("mpsim", 2, "mac", work, burst) for work in ("rx", "source") for burst in (4, 16, 32, 64)]
    for case in cases:
        assert set(case["over_octo"]) == {"bare", "octo", *TIERS}
        assert case["over_octo"]["octo"] == 0
        assert (case["inexact"], case["left_out"]) == ([], {})
    for name in TIERS:
        assert done.stdout.count(f"{name} adds to octo") == 2


def test_no_packet_is_lost_or_comes_twice(figures):
    """What the PFs delivered is received, what is sent they sent, once."""
    assert [(c["pf"], c["work"], c["inexact"]) for c in figures[0]["cases"]
            if c["inexact"]] == []


def test_who_does_not_forward_is_left_out(figures):
    """With the reason, and without figures; octo and the bare PF are never."""
    for case in figures[0]["cases"]:
        assert {name: why for name, why in case["left_out"].items()
                if name in ("bare", "octo", "failsafe")} == {}
        assert not set(case["left_out"]) & set(case["cycles"])
        # nobody answers its LACP, so that it waits for ever
        assert "bonding-802.3ad" in case["left_out"]
        if case["pfs"] == 2:
            assert "bonding-broadcast" in case["left_out"]
    assert "sends 2.00 packets for each" in figures[1]


def test_octo_sets_the_port_of_each_packet(figures):
    """And the output says who does not."""
    for case in figures[0]["cases"]:
        assert not set(case["wrong_port"]) & {"octo", "octo-one-pf", "failsafe"}
        if case["pf"] == "net_null":
            assert "bonding-round-robin" in case["wrong_port"]
    assert "mbuf->port wrong" in figures[1]


def test_a_run_without_hugepages_says_so(figures):
    """Nobody is to take its figures for others."""
    assert ("NO HUGEPAGES" in figures[1]) != figures[0]["hugepages"]


def test_figures_for_the_picture(tmp_path):
    """The picture is drawn by ./octo from this file."""
    done = octobench.run("overhead", "--quick", "--runs", "1", "--case",
                         "net_null", "--case", "io", "--plot",
                         tmp_path / "out.png")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (tmp_path / "out.csv").read_text(encoding="ascii").splitlines()
    assert lines[0].startswith("pf,pfs,traffic,work,burst,contender,cycles")
    assert any(line.startswith("net_null,2,home,io,32,octo,")
               for line in lines)


@pytest.mark.parametrize("args, culprit", [
    (["--case", "insert"], "--case insert"), (["--runs", "0"], "--runs 0"),
    (["--plot", "out.gif"], "--plot out.gif"),
    (["--plot", "/nonexistent/out.png"], "cannot write /nonexistent/out.csv: "), (["move"], "move"),
])
def test_wrong_use_is_one_line(args, culprit):
    """The message names the culprit; nothing is measured."""
    assert culprit in octobench.refusal("overhead", *args)
