# SPDX-License-Identifier: BSD-3-Clause
"""The demo's JSON is what the README promises."""

import json
import os
import subprocess

import pytest

from octotest import env

MILLION = 1_000_000


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo's output: (JSON, text)."""
    binary = env.find_built("octo-demo")
    if binary is None:
        pytest.skip("octo-demo is not built")
    if env.ASAN:
        pytest.skip("the demo counts millions of packets: too slow with ASan")
    path = tmp_path_factory.mktemp("demo") / "out.json"
    done = subprocess.run([binary, "--json", path], capture_output=True,
                          text=True, timeout=env.seconds(120), check=False,
                          env={**os.environ, "RUNTIME_DIRECTORY":
                               str(env.runtime_base())})
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


@pytest.fixture
def phases(demo):
    """Phases by name."""
    return {p["name"]: p for p in demo[0]["phases"]}


def test_phases(demo):
    """Unsteered comes before steered."""
    names = [p["name"] for p in demo[0]["phases"]]
    assert names.index("unsteered") < names.index("steered")


@pytest.mark.parametrize("name", ["unsteered", "steered"])
def test_each_phase_is_whole(phases, name):
    """A million packets or more, none lost, none reordered."""
    phase = phases[name]
    assert phase["packets"] >= MILLION
    assert phase["lost"] == 0
    assert phase["reordered"] == 0
    assert phase["stray_fraction"] == pytest.approx(
        phase["stray_packets"] / phase["packets"], abs=1e-3)
    assert len(phase["pf"]) == 2
    assert {pf["socket"] for pf in phase["pf"]} == {0, 1}
    assert sum(pf["rx_packets"] for pf in phase["pf"]) == phase["packets"]
    for pf in phase["pf"]:
        assert {"name", "socket", "rx_packets", "tx_packets"} <= set(pf)


def test_unsteered_strays_half_of_the_time(phases):
    """All wire traffic enters by the default PF."""
    phase = phases["unsteered"]
    assert 0.4 <= phase["stray_fraction"] <= 0.6
    received = sorted(pf["rx_packets"] for pf in phase["pf"])
    assert received == [0, phase["packets"]]


def test_steered_strays_never(phases):
    """Exactly zero, and both PFs receive."""
    phase = phases["steered"]
    assert phase["stray_packets"] == 0
    assert phase["stray_fraction"] == 0
    assert all(pf["rx_packets"] > 0 for pf in phase["pf"])
    assert all(pf["tx_packets"] > 0 for pf in phase["pf"])


def test_text_shows_a_table(demo):
    """People see both phases, too."""
    assert "unsteered" in demo[1] and "steered" in demo[1]


@pytest.mark.parametrize("args, culprit", [
    (["more"], "more"), (["--packets", "1"], "--packets 1"), (["--nonsense"], "--nonsense"),
    (["--json", "/nonexistent/file"], "/nonexistent/file"),
])
def test_wrong_use_is_status_2(args, culprit):
    """The message names the culprit; nothing is shown."""
    binary = env.find_built("octo-demo")
    if binary is None:
        pytest.skip("octo-demo is not built")
    done = subprocess.run([binary, *args], capture_output=True, text=True, check=False,
                          timeout=env.seconds(60))
    assert done.returncode == 2 and done.stdout == "", done
    assert culprit in done.stderr
