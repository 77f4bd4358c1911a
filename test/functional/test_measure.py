# SPDX-License-Identifier: BSD-3-Clause
"""octo measure of octo's own testpmd, and /octo/measure in any."""

import csv
import importlib.util
import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List

import pytest

from octotest import env, vdevs
from octotest.packets import gen_flow
from octotest.testpmd import Testpmd, wait_until
from octotest.view import View

COUNTERS = {"rx_packets": "RX-packets", "rx_bytes": "RX-bytes", "rx_missed": "RX-missed",
            "tx_packets": "TX-packets", "tx_bytes": "TX-bytes", "tx_errors": "TX-errors"}
# No simulated NIC here is faster, and no rate can be more.
GIANT = 1e9
LATENCIES = ("latency_min_ns", "latency_avg_ns", "latency_max_ns", "latency_jitter_ns")


def make(devices: List[str], *app: str, **more: Any) -> Testpmd:
    """octo-testpmd brings the drivers along: no -d."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    return Testpmd(devices, binary=str(binary), plugins=False,
                   app=["--flowgen-flows=8", *app], **more)


@pytest.fixture(scope="module")
def two(shared):
    """Two octo ports, each of which hears what it sends."""
    return shared(lambda: make([
        *vdevs.nic("A", 0, 2, "loop"), *vdevs.nic("B", 2, 2, "loop"),
        vdevs.octo(0, 0), vdevs.octo(1, 2)]))


@pytest.fixture
def pmd(two):
    """That testpmd, without rules or measurements."""
    pmd = two.get()
    yield pmd
    if pmd.alive():
        pmd.cmd("stop")
        for name in ("net_octo0", "net_octo1"):
            pmd.cmd(f"octo measure stop {pmd.port(name)}")
            pmd.cmd(f"octo unsteer {pmd.port(name)} all")


@pytest.fixture
def port(pmd) -> int:
    """Its first octo port."""
    return pmd.port()


def measured(pmd: Testpmd, port: int) -> Dict[str, int]:
    """What telemetry tells."""
    return pmd.telemetry.get("/octo/measure", port)


def rate(pmd: Testpmd, port: int, name: str) -> int:
    """That of the last sample; 0 before the first."""
    return measured(pmd, port).get(f"{name}_per_second", 0)


def await_samples(pmd: Testpmd, port: int, number: int) -> None:
    """Until so many more were taken."""
    before = measured(pmd, port)["samples"]
    pmd.wait_until(f"{number} samples",
                   lambda: measured(pmd, port)["samples"] >= before + number)


def rows(path: Path) -> List[Dict[str, float]]:
    """A CSV file; unknown values are left out."""
    with open(path, encoding="ascii", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        found = list(reader)
    assert all(None not in row and None not in row.values() for row in found), "ragged"
    return [{k: float(v) for k, v in row.items() if v != ""} for row in found]


def assert_sane(samples: List[Dict[str, float]]) -> None:
    """No rate is negative or giant, and time goes on."""
    for row in samples:
        for name, value in row.items():
            if value is not None and name.endswith("packets_per_second"):
                assert 0 <= value < GIANT, (name, row)
    times = [row["time_s"] for row in samples]
    assert times == sorted(set(times))


def test_counters_are_those_of_the_port(pmd, port, tmp_path):
    """In sum; and the rates of all samples are what they are made of."""
    files = tmp_path / "m.csv", tmp_path / "m.json"
    pmd.cmd(f"clear port stats {port}")
    out = pmd.cmd(f"octo measure start {port} interval 50 csv {files[0]} json {files[1]}")
    assert f"Port {port}: measured every 50 ms, csv {files[0]}, json {files[1]}" in out
    pmd.start("flowgen")
    await_samples(pmd, port, 10)
    pmd.stop_forwarding()
    await_samples(pmd, port, 1)  # the last one may be but a moment, and then none
    out = pmd.cmd(f"octo measure stop {port}")
    stats = pmd.stats(port)
    told = json.loads(files[1].read_text())
    assert told["name"] == "net_octo0" and told["interval_ms"] == 50
    summary = told["summary"]
    assert summary["ended"] == "stopped"
    for name, shown in COUNTERS.items():
        assert summary[name] == stats[shown], name
    taken = summary["home_packets"] + summary["stray_packets"]
    assert 0 <= stats["RX-packets"] - taken <= 4 * 1024, "more than what is in rings yet"
    assert sum(summary[f"q{q}_tx_packets"] for q in (0, 1)) == stats["TX-packets"]
    samples = rows(files[0])
    assert len(samples) == len(told["samples"]) == summary["samples"]
    assert_sane(samples)
    for name in ("rx_packets", "tx_packets", "pf0_rx_packets"):
        counted = sum(row[f"{name}_per_second"] * row["interval_ms"] / 1000 for row in samples)
        assert counted == pytest.approx(stats[COUNTERS[name.replace("pf0_", "")]], rel=2e-2)
    assert re.search(rf"measured for \d+\.\d+ s, {len(samples)} samples", out)


def test_no_packet_is_between_samples(pmd, port, tmp_path):
    """Looks that a slow NIC makes late are as soon followed by the next one."""
    file = tmp_path / "m.csv"
    pmd.telemetry.get("/mpsim/fault", "A", "rule_slow", 17_000)
    pmd.cmd(f"clear port stats {port}")
    pmd.cmd(f"octo measure start {port} interval 10 csv {file}")
    pmd.start("flowgen")
    for i in range(30):
        pmd.cmd(f"octo steer {port} {gen_flow(i).words()} queue 0")
        time.sleep(0.01)
    pmd.stop_forwarding()
    await_samples(pmd, port, 1)
    pmd.cmd(f"octo measure stop {port}")
    pmd.telemetry.get("/mpsim/fault", "A", "clear")
    counted = sum(row["rx_packets_per_second"] * row["interval_ms"] / 1000 for row in rows(file))
    assert counted == pytest.approx(pmd.stats(port)["RX-packets"], rel=1e-3)


def test_columns_and_members_are_the_same(pmd, port, tmp_path):
    """CSV and JSON know the same of a sample, units in the names."""
    files = tmp_path / "m.csv", tmp_path / "m.json"
    pmd.cmd(f"octo measure start {port} interval 20 csv {files[0]} json {files[1]}")
    await_samples(pmd, port, 2)
    pmd.cmd(f"octo measure stop {port}")
    header = files[0].read_text().splitlines()[0].split(",")
    told = json.loads(files[1].read_text())
    assert all(list(sample) == header for sample in told["samples"])
    assert {"time_s", "rx_packets_per_second", "pf1_tx_bits_per_second", "stray_ppm", "rules",
            "rule_hits_per_second", "rx_missed_per_second", "q1_stray_ppm",
            "latency_avg_ns", "busy_cycles_per_packet"} <= set(header)
    assert set(told["unavailable"]) == {"busy_cycles_per_packet", "latency", "link", "dram"} \
        or {"busy_cycles_per_packet", "latency"} <= set(told["unavailable"])


def test_show_is_an_aligned_table(pmd, port):
    """Of the port, its PFs and queues, in Mpps, Gb/s and percent."""
    pmd.cmd(f"octo measure start {port} interval 100")
    pmd.start("flowgen")
    await_samples(pmd, port, 2)

    def show() -> str:
        """In a sample there is no packet if the sender had no CPU."""
        out = pmd.cmd(f"octo measure show {port}")
        values = out.splitlines()[2].split()
        return out if float(values[1]) > 0 and float(values[3]) > 0 else ""
    out = pmd.wait_until("a sample with packets", show)
    lines = out.splitlines()
    assert re.match(rf"Port {port}: measured every 100 ms, sample \d+", lines[0])
    head = lines[1]
    ends = [head.index(word) + len(word) for word in
            ("Rx Mpps", "Rx Gb/s", "Tx Mpps", "Tx Gb/s", "Stray %")]
    names = ["Port", f"PF 0 {vdevs.pf_names()[0]}", f"PF 1 {vdevs.pf_names()[1]}",
             "Queue 0", "Queue 1"]
    for line, name in zip(lines[2:7], names):
        assert line.startswith(f"  {name} ")
        for end in ends:
            assert re.match(r"[\d-]", line[end - 1]) and (line + " ")[end] == " ", line
    assert 0 <= float(lines[2].split()[5]) <= 100
    for what in ("Busy cycles", "Latency"):
        assert re.search(rf"^  {what} +not available here, because \S", out, re.MULTILINE)
    for what in ("Link", "DRAM"):
        assert re.search(rf"^  {what} .*(not available here, because \S|GB/s)", out, re.MULTILINE)


def test_strays_come_and_go(pmd, port):
    """The stray fraction is that of the last sample, not of all time; rules have hits."""
    pmd.cmd(f"octo measure start {port} interval 50")
    pmd.start("flowgen")
    pmd.wait_until("strays", lambda: measured(pmd, port)["stray_ppm"] > 100000)
    assert measured(pmd, port)["rules"] == 0
    for i in range(8):
        pmd.cmd(f"octo steer {port} {gen_flow(i).words()} queue {i % 2}")
    # the last sample may be older than the last rule
    pmd.wait_until("a sample with all rules", lambda: measured(pmd, port)["rules"] == 8)
    pmd.wait_until("no strays", lambda: measured(pmd, port)["stray_ppm"] == 0 and
                   rate(pmd, port, "rx_packets") > 0)
    told = pmd.wait_until("hits", lambda: (
        lambda m: m.get("rule_hits_per_second", 0) > 0 and m)(measured(pmd, port)))
    assert told["rules"] == 8 and told["stray_packets"] > 0
    out = pmd.cmd(f"octo measure show {port}")
    assert re.search(r"Rules +8, of them learned 0, ineffective 0, \d+\.\d+ M hits/s", out)
    pmd.cmd(f"octo unsteer {port} all")
    pmd.wait_until("strays again", lambda: measured(pmd, port)["stray_ppm"] > 100000)


def test_losses_are_shown(pmd, port):
    """More is sent than what is taken: the rest is missed."""
    pmd.cmd(f"octo measure start {port} interval 50")
    pmd.start("flowgen")
    pmd.wait_until("missed", lambda: rate(pmd, port, "rx_missed") > 0)
    told = measured(pmd, port)
    assert told["rx_missed"] > 0
    pmd.stop_forwarding()


def test_cleared_statistics_are_no_giants(pmd, port, tmp_path):
    """Nor negative: what came before is lost, and the samples say so."""
    path = tmp_path / "m.csv"
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda: pmd.stats(port)["RX-packets"] > 500000)
    pmd.cmd(f"octo measure start {port} interval 20 csv {path}")
    for _ in range(5):
        await_samples(pmd, port, 3)
        pmd.cmd(f"clear port stats {port}")
    await_samples(pmd, port, 3)
    pmd.stop_forwarding()
    pmd.cmd(f"octo measure stop {port}")
    samples = rows(path)
    assert_sane(samples)
    assert sum(row["counters_restarted"] for row in samples) >= 3


def test_two_ports_at_once(pmd, tmp_path):
    """Each has its own thread, files and numbers."""
    ports = [pmd.port("net_octo0"), pmd.port("net_octo1")]
    paths = [tmp_path / f"{i}.json" for i in ports]
    for port, path in zip(ports, paths):
        assert "every 20 ms" in pmd.cmd(f"octo measure start {port} interval 20 json {path}")
    pmd.cmd(f"set portlist {ports[1]}")
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda: measured(pmd, ports[1])["rx_packets"] > 1000)
    pmd.stop_forwarding()
    for port in ports:
        pmd.cmd(f"octo measure stop {port}")
    told = [json.loads(path.read_text()) for path in paths]
    assert told[0]["summary"]["rx_packets"] == 0 < told[1]["summary"]["rx_packets"]
    assert [t["name"] for t in told] == ["net_octo0", "net_octo1"]
    pmd.cmd(f"set portlist {ports[0]},{ports[1]}")


def test_one_file_for_two_ports(pmd, tmp_path):
    """The second is refused, and the first one's file is whole."""
    ports = [pmd.port("net_octo0"), pmd.port("net_octo1")]
    path = tmp_path / "m.csv"
    pmd.cmd(f"octo measure start {ports[0]} interval 20 csv {path}")
    out = pmd.cmd(f"octo measure start {ports[1]} csv {path}")
    assert f"port {ports[1]}: cannot open {path}: another measurement writes to it" in out
    await_samples(pmd, ports[0], 2)
    assert "not being measured" in pmd.cmd(f"octo measure stop {ports[1]}")
    pmd.cmd(f"octo measure stop {ports[0]}")
    assert len(rows(path)) >= 2


def test_again_and_again(pmd, port, tmp_path):
    """Stopped and started; a file has the last measurement only, or would be no JSON."""
    path = tmp_path / "m.json"
    for samples in (8, 2, 0):
        assert "measured every" in pmd.cmd(
            f"octo measure start {port} interval 10 json {path}")
        await_samples(pmd, port, samples)
        assert "measured for" in pmd.cmd(f"octo measure stop {port}")
        told = json.loads(path.read_text())
        assert samples <= told["summary"]["samples"] == len(told["samples"])
        assert measured(pmd, port)["measured"] == 0


def test_json_is_whole_while_it_is_measured(pmd, port, tmp_path):
    """After each sample, in case that the process is killed."""
    path = tmp_path / "m.json"
    pmd.cmd(f"octo measure start {port} interval 500 json {path}")
    # a sample is counted before it is written
    pmd.wait_until("the first sample is written",
                   lambda: path.exists() and path.read_text().endswith("}}\n"))

    def number() -> int:
        told = json.loads(path.read_text())
        assert told["summary"]["samples"] == len(told["samples"])
        assert told["summary"]["ended"] == "no"
        return len(told["samples"])
    for wanted in (1, 2):
        pmd.wait_until(f"{wanted} samples", lambda n=wanted: number() >= n)
    pmd.cmd(f"octo measure stop {port}")


@pytest.mark.many(asan=8)
@pytest.mark.parametrize("words, says", [
    ("start 99", "port 99 is not an octo port: give one of {port}"),
    ("start 0", "port 0 is not an octo port: give one of {port}"),  # a PF
    ("start {port} interval", "bad interval: 10 to 3600000 milliseconds are expected"),
    ("start {port} interval 9", "bad interval: 10 to 3600000"),
    ("start {port} interval 3600001", "bad interval: 10 to 3600000"),
    ("start {port} interval -5", "bad interval: 10 to 3600000"),
    ("start {port} interval 1s", "bad interval: 10 to 3600000"),
    ("start {port} interval 20 interval 30", "bad interval: it is given twice"),
    ("start {port} csv", "bad csv: the name of a file is expected"),
    ("start {port} csv {tmp}/a csv {tmp}/b", "bad csv: it is given twice"),
    ("start {port} json {tmp}/a xml {tmp}/b", "bad xml: interval, csv or json is expected"),
    ("start {port} csv {tmp}/no/a", "cannot open {tmp}/no/a: No such file or directory"),
    ("start {port} csv {tmp}/a json {tmp}/no/b",
     "cannot open {tmp}/no/b: No such file or directory"),
    ("start {port} csv {tmp}/a json {tmp}/a", "csv and json are the same file: {tmp}/a"),
    ("start {port} json {tmp}", "cannot open {tmp}: Is a directory"),
    ("start {port} csv {tmp}/pipe", "cannot open {tmp}/pipe: No such device or address"),
    ("start {port} csv /dev/full", "cannot write /dev/full: No space left on device"),
    ("stop {port}", "port {port}: it is not being measured"),
    ("stop 99", "port 99 is not an octo port: give one of {port}"),
    ("show {port}", "port {port}: it is not being measured"),
    ("show 0", "port 0 is not an octo port: give one of {port}"),
])
def test_errors(pmd, port, tmp_path, words, says):
    """One line that names what is wrong; nothing begins, and no file is made or changed."""
    os.mkfifo(tmp_path / "pipe")
    out = pmd.cmd("octo measure " + words.format(port=port, tmp=tmp_path))
    assert says.format(port=port, tmp=tmp_path) in out
    assert out.count("octo:") == 1 and len(out.strip().splitlines()) == 1
    assert measured(pmd, port)["measured"] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_what_is_refused_leaves_old_files(pmd, port, tmp_path):
    """They are only written when both can be."""
    path = tmp_path / "old.csv"
    path.write_text("precious")
    assert "cannot open" in pmd.cmd(
        f"octo measure start {port} csv {path} json {tmp_path}/no/b")
    assert path.read_text() == "precious"


def test_start_twice(pmd, port, tmp_path):
    """The second one is refused, and the first goes on."""
    pmd.cmd(f"octo measure start {port} interval 20")
    out = pmd.cmd(f"octo measure start {port} csv {tmp_path}/m.csv")
    assert out.strip() == f"octo: port {port}: it is being measured already: " \
                          f"octo measure stop {port}"
    assert not (tmp_path / "m.csv").exists()
    await_samples(pmd, port, 2)


def test_stopped_port_goes_on(pmd, port, tmp_path):
    """Rates are 0 meanwhile; what is counted after a restart is counted."""
    path = tmp_path / "m.json"
    pmd.cmd(f"octo measure start {port} interval 20 json {path}")
    for _ in range(2):
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: rate(pmd, port, "rx_packets") > 0)
        pmd.stop_forwarding()
        pmd.cmd(f"port stop {port}")
        await_samples(pmd, port, 3)
        assert rate(pmd, port, "rx_packets") == 0
        assert "ended" not in pmd.cmd(f"octo measure show {port}")
        pmd.cmd(f"port start {port}")
    pmd.cmd(f"octo measure stop {port}")
    assert_sane(json.loads(path.read_text())["samples"])


def test_closed_port_ends_it(tmp_path):
    """With one line; files are complete, and testpmd lives on."""
    path = tmp_path / "m.json"
    with make(vdevs.looped()) as pmd:
        port = pmd.port()
        pmd.cmd(f"octo measure start {port} interval 20 json {path} csv {tmp_path}/m.csv")
        await_samples(pmd, port, 3)
        pmd.cmd(f"port stop {port}")
        out = pmd.cmd(f"port close {port}")
        assert out.count(f"port {port}: the measurement ended: the port was closed") == 1
        told = json.loads(path.read_text())
        assert told["summary"]["ended"] == "the port was closed"
        assert len(told["samples"]) >= 3 and len(rows(tmp_path / "m.csv")) >= 3
        assert "not an octo port" in pmd.cmd(f"octo measure show {port}")


def test_quit_ends_it(tmp_path):
    """At once, though the next sample is an hour away, and under traffic."""
    path = tmp_path / "m.json"
    pmd = make([*vdevs.looped(), *vdevs.nic("B", 2, 2, "loop"), vdevs.octo(1, 2)])
    for name, interval in (("net_octo0", 3600000), ("net_octo1", 10)):
        pmd.cmd(f"octo measure start {pmd.port(name)} interval {interval} "
                f"json {path if interval > 10 else tmp_path / 'other.json'}")
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda: pmd.stats(pmd.port())["RX-packets"] > 1000)
    # a measurement that ends within 5 ms has no sample
    await_samples(pmd, pmd.port("net_octo1"), 2)
    assert pmd.quit() == 0
    told = json.loads(path.read_text())
    assert told["summary"]["rx_packets"] > 1000 and len(told["samples"]) == 1
    assert json.loads((tmp_path / "other.json").read_text())["summary"]["rx_packets"] > 0


def test_other_queues_end_it(tmp_path):
    """Their columns would not be those of the file; it can be started again."""
    path = tmp_path / "m.csv"
    with make(vdevs.looped()) as pmd:
        port = pmd.port()
        pmd.cmd(f"octo measure start {port} interval 20 csv {path}")
        await_samples(pmd, port, 2)
        for command in ("port stop all", "port config all rxq 3", "port config all txq 3",
                        "port start all"):
            pmd.cmd(command)
        pmd.expect(rf"port {port}: the measurement ended: the port was configured with other "
                   "queues")
        out = pmd.cmd(f"octo measure show {port}")
        assert "not being measured any more: the port was configured with other queues" in out
        assert "measured every" in pmd.cmd(f"octo measure start {port} interval 20 csv {path}")
        await_samples(pmd, port, 2)
        pmd.cmd(f"octo measure stop {port}")
        assert "q2_rx_packets_per_second" in rows(path)[0]


@pytest.fixture
def small_disk(root, tmp_path):
    """A directory that holds 64 KiB."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)],
                          check=False, capture_output=True)
    if made.returncode != 0:
        pytest.skip("cannot mount a tmpfs")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_full_disk_ends_it(pmd, port, small_disk):
    """With one line that names the file; whoever asks then is told again."""
    path = small_disk / "m.csv"
    pmd.cmd(f"octo measure start {port} interval 10 csv {path}")
    says = f"cannot write {path}: No space left on device"
    pmd.expect(re.escape(f"port {port}: the measurement ended: {says}"), len(pmd.text) - 1000, 60)
    assert f"not being measured any more: {says}" in pmd.cmd(f"octo measure show {port}")
    assert f"not being measured any more: {says}" in pmd.cmd(f"octo measure stop {port}")
    assert pmd.cmd(f"octo measure show {port}").strip() == \
        f"octo: port {port}: it is not being measured"


def test_busy_cycles_are_testpmds(pmd, port):
    """While it forwards and records them; else it is said why there are none."""
    pmd.cmd(f"octo measure start {port} interval 50")
    pmd.start("flowgen")
    await_samples(pmd, port, 2)
    assert "Busy cycles            not available here, because testpmd does not record them: " \
        "set record-core-cycles on" in pmd.cmd(f"octo measure show {port}")
    pmd.cmd("set record-core-cycles on")
    pmd.wait_until("cycles", lambda: 1 < measured(pmd, port).get(
        "busy_cycles_per_packet", 0) < 1e6)
    # the next sample may have no packet
    pmd.wait_until("cycles", lambda: re.search(
        r"Busy cycles +\d+\.\d per packet", pmd.cmd(f"octo measure show {port}")))
    pmd.stop_forwarding()
    await_samples(pmd, port, 2)
    assert "because testpmd is not forwarding" in pmd.cmd(f"octo measure show {port}")
    assert re.search(r"Busy cycles +\d+\.\d per packet", pmd.cmd(f"octo measure stop {port}"))
    pmd.cmd("set record-core-cycles off")


def test_latency_is_that_of_latencystats(tmp_path):
    """Where it is enabled, and packets pass; unknown before."""
    files = tmp_path / "m.csv", tmp_path / "m.json"
    with make(vdevs.looped(), "--latencystats=1") as pmd:
        port = pmd.port()
        pmd.cmd(f"octo measure start {port} interval 50 csv {files[0]} json {files[1]}")
        await_samples(pmd, port, 2)
        assert "because no packet was received and sent again" in \
            pmd.cmd(f"octo measure show {port}")
        pmd.cmd(f"octo measure stop {port}")
        samples = json.loads(files[1].read_text())["samples"]
        for name in LATENCIES:
            assert not any(name in row for row in rows(files[0]))
            assert {sample[name] for sample in samples} == {None}
        pmd.cmd(f"octo measure start {port} interval 50")
        pmd.start("io", first=True)
        told = pmd.wait_until("latency", lambda: (
            lambda m: m.get("latency_avg_ns", 0) > 0 and m)(measured(pmd, port)))
        assert told["latency_min_ns"] <= told["latency_avg_ns"] <= told["latency_max_ns"]
        assert re.search(r"Latency +\d+ ns on average, \d+ to \d+, jitter \d+",
                         pmd.cmd(f"octo measure show {port}"))


def test_stock_testpmd_has_telemetry():
    """Rates since the last question, counters of the port; numbers only, no lists."""
    with Testpmd(vdevs.looped(), app=["--flowgen-flows=8"]) as pmd:
        port = pmd.port()
        view = View(pmd)
        first = measured(pmd, port)
        assert first["measured"] == 0 and first["rx_packets"] == 0
        assert "rx_packets_per_second" not in first, "there is no time to rate it by"
        pmd.start("flowgen")
        told = pmd.wait_until("rates", lambda: (
            lambda m: m.get("stray_packets_per_second", 0) > 0 and m)(measured(pmd, port)))
        assert all(isinstance(value, int) for value in told.values())
        assert told["interval_ms"] >= 100
        pmd.stop_forwarding()
        stats = pmd.stats(port)
        strays = view.strays()["queues"]

        def tells_the_last() -> bool:
            """The answer to a question too soon after another is that of the other."""
            told = measured(pmd, port)
            of = [pmd.telemetry.get("/octo/measure", port, queue["queue"]) for queue in strays]
            return all(told[name] == stats[shown] for name, shown in COUNTERS.items()) and \
                all(one[name] == queue[name] for one, queue in zip(of, strays)
                    for name in ("home_packets", "stray_packets"))
        pmd.wait_until("all packets are told", tells_the_last)
        assert len(pmd.telemetry.last_reply) < 16 * 1024


class ExporterSocket:
    """What the exporter gives its endpoints."""

    def __init__(self, pmd: Testpmd) -> None:
        self._telemetry = pmd.telemetry

    def cmd(self, uri: str, arg: Any = None) -> Any:
        """Ask."""
        return self._telemetry.get(uri, *([] if arg is None else [arg]))


def test_exporters_have_all_of_it(pmd, port):
    """The endpoint of DPDK's exporter: each number once, with labels, and known by name."""
    spec = importlib.util.spec_from_file_location(
        "octo", env.REPO / "usertools" / "telemetry-endpoints" / "octo.py")
    endpoint = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(endpoint)
    pmd.cmd(f"octo measure start {port} interval 50")
    pmd.start("flowgen")
    await_samples(pmd, port, 2)
    pmd.stop_forwarding()
    await_samples(pmd, port, 2)
    info = endpoint.info()
    found = {}
    for name, value, labels in endpoint.metrics(ExporterSocket(pmd)):
        assert isinstance(value, int) and info[name][1] in ("gauge", "counter") and info[name][0]
        key = (name, *labels.values())
        assert key not in found
        found[key] = value
    told = measured(pmd, port)
    ours = [key for key in found if key[1] == port]
    # but for port, measured and samples
    assert len([key for key in ours if "queue" not in key[0]]) == len(told) - 3
    assert found["rx_packets", port] == told["rx_packets"] > 0
    assert found["pf_tx_packets_per_second", port, "1"] == 0
    assert found["queue_stray_packets", port, 0] + found["queue_stray_packets", port, 1] == \
        told["stray_packets"]


@pytest.mark.parametrize("params", [(), ("x",), (99,), (0,), ("{port}", 2), ("{port}", "x"),
                                    ("{port}", 0, 0)])
def test_bad_parameters_of_telemetry(pmd, port, params):
    """Are answered by null, and the next question is answered."""
    words = [str(p).format(port=port) for p in params]
    assert pmd.telemetry.get("/octo/measure", *words) is None
    assert measured(pmd, port)["port"] == port


def test_help(pmd):
    """Every form of the command is in the help."""
    out = pmd.cmd("help drivers")
    for command in (r"octo measure \(show\|stop\) \(port_id\)", r"octo measure start \(port_id\)\n",
                    r"octo measure start .*interval .*csv .*json"):
        assert re.search(command, out), command


def test_a_pf_that_goes_is_no_giant(tmp_path):
    """Its counters stay in the port's, and it has no rates of its own any more."""
    path = tmp_path / "m.json"
    with make(vdevs.looped()) as pmd:
        port = pmd.port()
        pmd.cmd(f"octo measure start {port} interval 20 json {path}")
        pmd.start("flowgen")
        wait_until("traffic", lambda: measured(pmd, port)["rx_packets"] > 1000, process=pmd)
        pmd.cmd(f"device detach {vdevs.pf_names()[1]}")
        await_samples(pmd, port, 5)
        assert rate(pmd, port, "pf1_tx_packets") == 0
        pmd.stop_forwarding()
        pmd.cmd(f"octo measure stop {port}")
        told = json.loads(path.read_text())
        assert_sane(told["samples"])
        assert told["summary"]["tx_packets"] == pmd.stats(port)["TX-packets"]
