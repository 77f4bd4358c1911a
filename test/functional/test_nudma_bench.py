# SPDX-License-Identifier: BSD-3-Clause
"""The model of nonuniform DMA: every published figure, the same in each run."""

import json
import re

import pytest

from octotest import env, octobench

MACHINES = env.REPO / "config" / "machines"
ENVIRON = {"NUDMA_MACHINES": str(MACHINES)}

# what the project was started with that a NIC has to do with
FIGURES = {
    "ioct-headline-thr", "ioct-headline-lat", "ioct-remote-ddio",
    "ioct-fig6-rx", "ioct-fig6-membw", "ioct-fig7-tx", "ioct-fig7-membw",
    "ioct-fig8-pps", "ioct-fig8-miss", "ioct-fig9-rr", "ioct-fig9-qpi",
    "ioct-fig10-memcached", "ioct-fig11-qpi-load", "ioct-fig12-udp",
    "ioct-fig13-pr-netperf", "ioct-fig13-pr-memcached",
    "ioct-fig14-migration", "dell-latency", "dell-bw-os", "dell-bw-docker",
    "dell-upi", "dell-cpu-rx", "dell-per-cpu-limit", "mlx-throughput-load",
    "mlx-latency", "mlx-cpu", "mlx-roce"}
CALIBRATED = {"ioct-fig8-pps", "ioct-fig8-miss", "ioct-fig9-rr",
              "ioct-fig13-pr-netperf"}
# what decides them was not published
NOT_COMPARABLE = {"ioct-fig13-pr-memcached", "dell-latency", "dell-bw-os", "dell-bw-docker",
                  "dell-upi", "dell-cpu-rx", "mlx-throughput-load", "mlx-latency", "mlx-cpu",
                  "mlx-roce"}
# of these the local PF has more
GAINS = {"ioct-fig6-rx", "ioct-fig7-tx", "ioct-fig8-pps",
         "ioct-fig11-qpi-load", "ioct-fig10-memcached"}


class Run:
    """What one run wrote and said."""

    def __init__(self, directory, *args: object) -> None:
        done = octobench.run("nudma", "--json", directory / "out.json", "--plot",
                             directory / "out.png", *args, **ENVIRON)
        assert done.returncode == 0, done.stdout + done.stderr
        self.text = done.stdout
        self.json = (directory / "out.json").read_text(encoding="ascii")
        self.csv = (directory / "out.csv").read_text(encoding="ascii")
        self.rows = {r["id"]: r for r in json.loads(self.json)["rows"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run for most tests."""
    return Run(tmp_path_factory.mktemp("nudma"))


def _profile(directory, **values: float):
    """A machine of one's own: the paper's, with some constants changed."""
    text = (MACHINES / "e5-2660v4.ini").read_text()
    for key, value in values.items():
        text, found = re.subn(f"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert found == 1, key
    path = directory / "mine.ini"
    path.write_text(text)
    return path


def test_every_figure_is_there(run):
    """With what was published, what it comes to, and how it got there."""
    assert set(run.rows) == FIGURES
    for row in run.rows.values():
        assert row["published_low"] <= row["published_high"]
        assert row["modelled_low"] <= row["modelled"] <= row["modelled_high"]
        assert row["role"] == ("calibrated" if row["id"] in CALIBRATED else
                               "not comparable" if row["id"] in NOT_COMPARABLE else "predicted")
        assert row["id"] in run.text


def test_what_is_not_comparable_is_not_judged(run):
    """What was not published is said instead, in the table and the picture, too."""
    for row in run.rows.values():
        unknown = row["role"] == "not comparable"
        assert unknown == ("not_published" in row) == (row["within_10pct"] is None)
        if not unknown:
            assert row["within_10pct"] == (
                0.9 * row["published_low"] <= row["modelled"] <= 1.1 * row["published_high"])
        assert re.search(f"(?m)^{row['id']} .*  {row['role']}$", run.text), run.text
        assert f"published,{row['id']},{row['role']}," in run.csv


def test_predictions_are_within_a_tenth(run):
    """All that are called so."""
    predicted = [r for r in run.rows.values() if r["role"] == "predicted"]
    assert len(predicted) == len(FIGURES) - len(CALIBRATED) - len(NOT_COMPARABLE)
    assert [r["id"] for r in predicted if not r["within_10pct"]] == []
    assert f"{len(predicted)} of {len(predicted)} within 10 %" in run.text


def test_figures_that_it_was_calibrated_by_come_out(run):
    """Else the constants belong to another model."""
    for name in CALIBRATED:
        row = run.rows[name]
        assert row["published_low"] * 0.995 <= row["modelled"] <= \
            row["published_high"] * 1.005, row


def test_octo_does_as_well_as_the_local_pf(run):
    """To a hundredth; bonding is between that and the remote one."""
    compared = [r for r in run.rows.values() if "octo" in r]
    assert len(compared) >= 10
    for row in compared:
        assert row["octo"] == pytest.approx(row["local"], rel=0.01), row
    for name in GAINS:
        row = run.rows[name]
        assert row["local"] > row["bonding"] > row["remote"], row


def test_nothing_is_lost_by_a_migration(run):
    """All packets come by the one PF before it and by the other one after."""
    moved = json.loads(run.json)["migration"]
    assert moved["lost"] == 0 and moved["reordered"] == 0
    assert moved["packets_before"][0] == 0 and moved["packets_before"][1] > 0
    assert moved["packets_after"][1] == 0 and moved["packets_after"][0] > 0


def test_it_comes_out_the_same_twice(run, tmp_path):
    """Bit by bit: virtual time depends on nothing but the constants."""
    again = Run(tmp_path)
    assert again.json == run.json
    assert again.csv == run.csv
    assert again.text == run.text


def test_figures_are_never_shown_as_measured(run):
    """Whoever sees them sees that too."""
    assert "MODELLED" in run.text and "modelled" in run.text
    assert json.loads(run.json)["modelled"] is True


def test_what_the_picture_is_drawn_from(run):
    """All panels; ./octo draws them."""
    panels = {line.split(",")[0] for line in run.csv.splitlines()[1:]}
    assert panels == {"machine", "published"} | {
        f"fig{i}" for i in range(6, 15)}


def test_a_machine_of_ones_own(run, tmp_path):
    """It takes a file: DRAM twice as slow is a miss twice as dear."""
    other = Run(tmp_path, "--machine", _profile(tmp_path, llc_miss_ns=160))
    assert other.rows["ioct-fig8-miss"]["modelled"] == pytest.approx(160)
    assert other.rows["ioct-fig8-pps"]["modelled"] > \
        run.rows["ioct-fig8-pps"]["modelled"]
    assert {r["machine"] for r in other.rows.values()} == {"mine"}
    assert {r["within_10pct"] for r in other.rows.values()} == {None}
    assert {r["role"] for r in other.rows.values()} == {"another machine"}
    assert "of the machine" in other.text


def test_links_without_latency_and_ddio_everywhere_gain_nothing(tmp_path):
    """Where remote costs nothing, local is no better."""
    other = Run(tmp_path, "--machine", _profile(
        tmp_path, hop_ns=0, remote_read_ns=0, llc_miss_ns=1))
    row = other.rows["ioct-fig8-pps"]
    assert row["remote"] == pytest.approx(row["local"], rel=0.01)


@pytest.mark.parametrize("profile", ["r740-snapio", "xeon6-gen5x8"])
def test_profiles_that_come_along(tmp_path, profile):
    """All of them run."""
    assert Run(tmp_path, "--machine", profile).rows["ioct-fig6-rx"]["machine"] \
        == profile


def test_a_bad_profile_is_one_line(tmp_path):
    """It names the file, the section and the key; nothing is run."""
    path = _profile(tmp_path, hop_ns="far")
    assert f"{path}: [link] hop_ns=far: a number" in \
        octobench.refusal("nudma", "--machine", path, **ENVIRON)


@pytest.mark.parametrize("args, culprit", [
    (["--machine", "nosuch"], "nosuch.ini: cannot be read"),
    (["--plot", "out.gif"], "--plot out.gif"),
    (["--plot", "/nonexistent/out.png"], "cannot write /nonexistent/out.csv: "), (["move"], "move"),
])
def test_wrong_use_is_one_line(args, culprit):
    """The message names the culprit; nothing is run."""
    assert culprit in octobench.refusal("nudma", *args, **ENVIRON)
