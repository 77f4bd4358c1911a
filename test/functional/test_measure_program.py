# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-octo-measure.py: octo ports of any application, by its telemetry socket."""

import contextlib
import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest

from octotest import env, vdevs
from octotest.packets import gen_flow
from octotest.process import Process
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View

PROGRAM = env.REPO / "usertools" / "dpdk-octo-measure.py"
DONE, FAILED, WRONG_USE, ENDED = 0, 1, 2, 3
OWN = [f"{name}_per_second" for name in ("tx_remote_packets", "fence_waits", "fence_waited_ns")]
# It may wait for a silent application for a short time only.
HURRIED = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("program", {str(PROGRAM)!r})
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
program.ANSWER_SECONDS = 0.2
sys.exit(program.main())
"""


@pytest.fixture(scope="module")
def stock(shared):
    """Two octo ports, each of which hears what it sends."""
    return shared(lambda: Testpmd([*vdevs.nic("A", 0, 2, "loop"), *vdevs.nic("B", 2, 2, "loop"),
                                   vdevs.octo(0, 0), vdevs.octo(1, 2)],
                                  app=["--flowgen-flows=8"]))


@pytest.fixture
def pmd(stock):
    """That testpmd."""
    return stock.get()


def run(prefix: str, *words: object, script: str = "", **more: str) -> subprocess.CompletedProcess:
    """Run it to its end."""
    return subprocess.run(
        [sys.executable, *(["-c", script] if script else [PROGRAM]), "-f", prefix,
         *map(str, words)], text=True, capture_output=True, check=False, timeout=env.seconds(60),
        env={**os.environ, "RUNTIME_DIRECTORY": str(env.runtime_base()), **more})


def refused(done: subprocess.CompletedProcess, status: int = FAILED) -> str:
    """What it said, in one line and nothing else."""
    assert done.returncode == status, done
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert done.stderr.startswith("dpdk-octo-measure: ")
    return done.stderr


def begin(pmd: Testpmd, port: int, *words: object) -> Process:
    """Let it measure while the test goes on."""
    return Process([sys.executable, PROGRAM, "-f", pmd.file_prefix, "--port", port, *words])


def samples(text: str) -> List[Dict[str, Any]]:
    """The lines that are samples."""
    return [line for line in map(json.loads, text.splitlines()) if "time_s" in line]


def rows(path: Path) -> List[Dict[str, str]]:
    """Of a CSV file."""
    with open(path, encoding="ascii", newline="") as file:
        found = list(csv.DictReader(file, strict=True))
    assert all(None not in row and None not in row.values() for row in found), "ragged"
    return found


def test_what_it_counts_is_what_the_port_counts(pmd, tmp_path):
    """From before the first packet until after the last."""
    port, file = pmd.port(), tmp_path / "m.csv"
    pmd.cmd(f"clear port stats {port}")
    program = begin(pmd, port, "--interval", 0.05, "--json", "--csv", file)
    program.expect(r'"time_s"')
    pmd.start("flowgen")
    # the interval in which it began, whole ones, and after that none
    pmd.wait_until("traffic", lambda: program.read(0) and any(
        s["rx_packets_per_second"] > 0 for s in samples(program.text.rpartition("\n")[0])))
    pmd.stop_forwarding()
    assert program.stop() == DONE, program.text
    head, *middle, tail = map(json.loads, program.text.splitlines())
    stats, xstats = pmd.stats(port), pmd.xstats(port)
    assert head == {"port": port, "name": "net_octo0", "pf0": "net_mpsim0", "pf1": "net_mpsim1",
                    "interval_ms": 50}
    told = tail["summary"]
    assert told["ended"] == "stopped" and told["samples"] == len(middle) > 0
    for name in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_missed", "tx_errors"):
        assert told[name] == stats[name.replace("rx_", "RX-").replace("tx_", "TX-")] == \
            pytest.approx(told[name.replace("bytes", "bits") + "_per_second"] *
                          told["interval_ms"] / 1000 / (8 if "bytes" in name else 1), rel=1e-3)
    for queue in (0, 1):
        for name in ("home_packets", "stray_bytes"):
            assert told[f"q{queue}_{name}"] == xstats[f"rx_q{queue}_{name}"]
        assert told[f"q{queue}_tx_bytes"] == xstats[f"tx_q{queue}_bytes"]
        assert told[f"pf{queue}_tx_packets_per_second"] == pytest.approx(
            xstats[f"pf{queue}_tx_good_packets"] * 1000 / told["interval_ms"], rel=1e-3)
    assert [float(row["time_s"]) for row in rows(file)] == [s["time_s"] for s in middle]
    assert [{k: None if v == "" else float(v) for k, v in row.items()} for row in rows(file)] == \
        middle


def test_columns_are_those_of_testpmds_own(tmp_path):
    """And a few more after them; the last line of JSON has the summary's names."""
    binary = env.find_built("octo-testpmd")
    if binary is None:
        pytest.skip("octo-testpmd is not built")
    theirs = tmp_path / "m.csv", tmp_path / "m.json"
    with Testpmd(vdevs.looped(), binary=str(binary), plugins=False) as pmd:
        port, ours = pmd.port(), tmp_path / "ours.csv"
        pmd.cmd(f"octo measure start {port} interval 10 csv {theirs[0]} json {theirs[1]}")
        done = run(pmd.file_prefix, "--interval", 0.01, "--count", 3, "--json", "--csv", ours)
        assert done.returncode == DONE, done
        pmd.wait_until("a sample", lambda: rows(theirs[0]))
        pmd.cmd(f"octo measure stop {port}")

    def names(fields):  # the uncore's only testpmd has
        return [name for name in fields if not re.match(r"socket\d", name)]

    assert list(rows(ours)[0]) == names(rows(theirs[0])[0]) + OWN
    whole, (head, sample, *_, tail) = json.loads(theirs[1].read_text()), \
        map(json.loads, done.stdout.splitlines())
    assert {**head, "samples": [], **tail}.keys() == whole.keys()
    assert list(sample) == names(whole["samples"][0]) + OWN
    assert tail["summary"].keys() - set(names(whole["summary"])) == \
        {*OWN, "tx_remote_packets", "fence_waits", "fence_waited_ns"}
    assert not set(names(whole["summary"])) - tail["summary"].keys()


def test_table_is_aligned_and_has_a_header_on_each_screen(pmd):
    """Three rows a sample, of which two samples fit below a header."""
    port = pmd.port()
    done = run(pmd.file_prefix, "--port", port, "--interval", 0.01, "--count", 5, LINES="8")
    assert (done.returncode, done.stderr) == (DONE, "")
    first, *lines = done.stdout.splitlines()
    assert first == f"Port {port} net_octo0: measured every 0.01 s"
    shown = ["Time" if "Rx Mpps" in line else line[11:].split()[0] for line in lines if line]
    sample = ["Port", "PF", "PF"]
    assert shown == [*(["Time"] + sample * 2) * 2, "Time", *sample, shown[18],
                     "Time", *sample, "Queue", "Queue", shown[-1]]
    header = next(line for line in lines if "Rx Mpps" in line)
    ends = [found.end() for found in re.finditer(r"\w+ (Mpps|Gb/s)|Stray %|Tx %|\S*Lost/s|Rules|"
                                                 r"Fence waits/s", header)]
    for line in (line for line in lines if re.match(r".{9}  Port ", line)):
        assert [found.end() for found in re.finditer(r" [\d.]+", line[31:])] == \
            [end - 31 for end in ends], line
    assert "Measured for " in done.stdout and "until: all samples were taken" in done.stdout


def test_of_several_octo_ports_one_is_to_be_named(pmd):
    """The message names them; each is measured by its number."""
    ports = [pmd.port("net_octo0"), pmd.port("net_octo1")]
    said = refused(run(pmd.file_prefix))
    assert "give --port one of " + ", ".join(map(str, ports)) in said
    for index, port in enumerate(ports):
        done = run(pmd.file_prefix, "--port", port, "--interval", 0.01, "--count", 1, "--json")
        head = json.loads(done.stdout.splitlines()[0])
        assert (head["port"], head["name"]) == (port, f"net_octo{index}")
        assert head["pf0"] == f"net_mpsim{2 * index}"


def test_a_port_that_is_no_octo_port(pmd):
    """A PF, or one that is not there."""
    for port in (*View(pmd).pf_ports(), 99, -1):
        said = refused(run(pmd.file_prefix, "--port", port))
        assert f"port {port} is not an octo port" in said and str(pmd.port()) in said


@pytest.mark.parametrize("plugins", [True, False])
def test_an_application_without_octo_port(plugins):
    """With the driver, or without."""
    if env.IN_TREE and not plugins:
        pytest.skip("the drivers are testpmd's own")
    with Testpmd(["--vdev=net_null0"], plugins=plugins) as pmd:
        assert "no octo port" in refused(run(pmd.file_prefix))


def test_rules_hits_and_a_restart_of_counters(pmd):
    """Hits are those of the rules; counters that begin anew make no rate negative."""
    port = pmd.port()
    flow = flow_id(pmd.cmd(gen_flow(0).rule(port, 0)))
    pmd.start("flowgen")
    program = begin(pmd, port, "--interval", 0.05, "--json")
    program.expect(r'"rule_hits_per_second":[1-9]')
    # or a late sample may have as many packets again
    pmd.stop_forwarding()
    start = len(program.text)
    pmd.cmd(f"clear port stats {port}")
    program.expect(r'"counters_restarted":1', start)
    pmd.start("flowgen")
    program.expect(r'"rule_hits_per_second":[1-9]', len(program.text))
    pmd.stop_forwarding()
    assert program.stop() == DONE, program.text
    pmd.cmd(f"flow destroy {port} rule {flow}")
    for sample in samples(program.text):
        assert sample["rules"] == 1 and sample["rules_learned"] == 0
        assert all(value is None or value >= 0 for value in sample.values())


def test_remote_tx():
    """Of a CPU on whose socket there is no PF; the other one's are not."""
    with Testpmd([*vdevs.nic("A", pfs=1, wire="loop"), vdevs.octo(pfs=1)]) as pmd:
        port = pmd.port()
        program = begin(pmd, port, "--interval", 0.05, "--json")
        program.expect(r'"time_s"')
        pmd.start("flowgen")
        start = len(program.text)
        program.expect(r'"q1_tx_packets_per_second":[1-9]', start)
        program.expect(r'"time_s"', len(program.text))
        pmd.stop_forwarding()
        assert program.stop() == DONE
        told = json.loads(program.text.splitlines()[-1])["summary"]
        assert told["q0_tx_packets"] > 0
        assert told["tx_remote_packets"] == told["q1_tx_packets"] > 0


def test_a_pf_that_goes_is_no_giant():
    """It has no rates any more, and the port has its packets all the same."""
    with Testpmd(vdevs.looped(), app=["--flowgen-flows=8"]) as pmd:
        port = pmd.port()
        program = begin(pmd, port, "--interval", 0.02, "--json")
        program.expect(r'"time_s"')
        pmd.start("flowgen")
        program.expect(r'"pf1_tx_packets_per_second":[1-9]')
        pmd.cmd(f"device detach {vdevs.pf_names()[1]}")
        for _ in range(3):
            program.expect(r'"pf1_tx_packets_per_second":0,', len(program.text))
        pmd.stop_forwarding()
        assert program.stop() == DONE, program.text
        for sample in samples(program.text):
            assert all(value is None or 0 <= value < 1e9 for name, value in sample.items()
                       if name.endswith("packets_per_second"))
        told = json.loads(program.text.splitlines()[-1])["summary"]
        assert told["tx_packets"] == pmd.stats(port)["TX-packets"]


def test_more_xstats_than_an_answer_has_room_for():
    """All queues are there."""
    with Testpmd(vdevs.looped(queues=48), queues=48) as pmd:
        done = run(pmd.file_prefix, "--interval", 0.01, "--count", 1, "--json")
        assert done.returncode == DONE, done
        sample, = samples(done.stdout)
        assert {"q47_stray_ppm", "q47_tx_packets_per_second"} <= sample.keys()
        assert "q48_stray_ppm" not in sample


@pytest.mark.parametrize("how", ["quit", "kill", "close", "queues"])
def test_what_is_measured_ends(how, tmp_path):
    """The averages are printed, the file is whole, and the status tells."""
    file = tmp_path / "m.csv"
    with contextlib.ExitStack() as stack:
        pmd = stack.enter_context(Testpmd(vdevs.looped()))
        port = pmd.port()
        program = begin(pmd, port, "--interval", 0.01, "--csv", file)
        program.expect(r"PF 1")
        if how == "quit":
            pmd.quit()
        elif how == "kill":
            stack.pop_all()
            pmd.kill()
        elif how == "close":
            pmd.cmds([f"port stop {port}", f"port close {port}"])
        else:
            pmd.cmds([f"port stop {port}", "port config all rxq 1", f"port start {port}"])
        why = {"kill": "the application ended", "close": "the port was closed",
               "queues": "the port was configured with other queues",
               "quit": "the (port was closed|application ended)"}[how]
        assert program.wait() == ENDED, program.text
        number = len(rows(file))
        assert number > 0
        assert re.search(rf"Measured for \d+\.\d+ s, {number} samples, until: {why}; on average:\n"
                         r" +Time s .*\n +Port .*\n +PF 0 ", program.text)
        assert re.search(f"\ndpdk-octo-measure: {why}\n$", program.text)


def test_no_socket_and_none_that_answers():
    """The path, and what to do."""
    prefix = env.unique()
    path = env.runtime_dir(prefix) / "dpdk_telemetry.v2"
    assert f"there is no socket {path}: start the application" in refused(run(prefix))
    assert f"no socket {path}:3: " in refused(run(prefix, "-i", 3))
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.bind(str(path))
    assert f"nobody answers at {path}" in refused(run(prefix))
    assert "cannot connect to " in refused(run("x" * 200))


@pytest.mark.parametrize("words", [
    ("--interval", "0"), ("--interval", "nan"), ("--interval", "1e9"), ("--interval", "x"),
    ("--count", "0"), ("--count", "1.5"), ("--port", "x"), ("--instance", "x"), ("--csv",),
    ("--nonsense",), ("extra",)])
def test_wrong_use(words):
    """One line names the culprit."""
    assert words[0] in refused(run("rte", *words), WRONG_USE)


def test_files_that_cannot_be_written(pmd, tmp_path):
    """One line says why; a pipe that nobody reads is not waited for."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path, tmp_path / "none" / "m.csv", "/dev/full", pipe):
        said = refused(run(pmd.file_prefix, "--port", pmd.port(), "--csv", path))
        assert f"cannot write {path}: " in said


def test_front_door(pmd):
    """./octo measure is the same program."""
    done = subprocess.run(
        [env.REPO / "octo", "measure", "-f", pmd.file_prefix, "--port", str(pmd.port()),
         "--interval", "0.01", "--count", "1", "--json"], text=True, capture_output=True,
        check=False, timeout=env.seconds(60),
        env={**os.environ, "RUNTIME_DIRECTORY": str(env.runtime_base())})
    assert done.returncode == DONE and len(samples(done.stdout)) == 1, done


# What an application tells is believed only as far as it was checked.

XSTATS = {"rx_good_packets": 7, "tx_pf0_packets": 1, "rx_q0_home_packets": 7,
          "tx_q0_pf0_packets": 1, "steered_flows": 0, "pf0_rx_good_packets": 7}
LEG = {"queue": "tx", "index": 0, "pf": 0, "cpu_socket": 0, "pf_socket": 0}
HONEST = {
    "": {"version": "DPDK", "pid": 1, "max_output_len": 16384},
    "/octo/list": [0],
    "/octo/topology": {"name": "net_octo0", "pfs": {"0": {"name": "pf"}}},
    "/octo/xstats": {"total": len(XSTATS), "xstats": XSTATS},
    "/octo/steering": {"total": 0, "rules": {}},
    "/octo/legs": {"total": 1, "legs": {"0": LEG}},
}


class Application:
    """It answers as it is told: by a value, one that is made, bytes as they are, or not at all."""

    HANG_UP = object()
    SILENCE = object()

    def __init__(self, **told: Any) -> None:
        self.told = {**HONEST, **{f"/octo/{name}" if name != "hello" else "": value
                                  for name, value in told.items()}}
        self.prefix = env.unique()
        path = env.runtime_dir(self.prefix) / "dpdk_telemetry.v2"
        path.parent.mkdir(parents=True)
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sock.bind(str(path))
        self._sock.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError), self._sock.accept()[0] as client:
            question = ""
            while True:
                answer = self.told[question]
                if callable(answer):
                    answer = answer()
                if answer is self.HANG_UP:
                    return
                if answer is not self.SILENCE:
                    client.send(answer if isinstance(answer, bytes) else json.dumps(
                        {question: answer} if question else answer).encode())
                asked = client.recv(1024)
                if not asked:
                    return
                question = asked.decode().partition(",")[0]

    def close(self) -> None:
        """The program has ended, and so does its thread."""
        self._sock.close()
        self._thread.join(env.seconds(10))


@contextlib.contextmanager
def application(**told: Any) -> Iterator[Application]:
    """One that runs meanwhile."""
    app = Application(**told)
    try:
        yield app
    finally:
        app.close()


def test_an_honest_application():
    """The made-up one is understood when it says nothing wrong."""
    with application() as app:
        done = run(app.prefix, "--interval", 0.01, "--count", 2, "--json")
        assert done.returncode == DONE, done
        assert [s["pf0_rx_packets_per_second"] for s in samples(done.stdout)] == [0, 0]


def xstats(**values: Any) -> Dict[str, Any]:
    """An answer with other values."""
    return {"total": len({**XSTATS, **values}), "xstats": {**XSTATS, **values}}


@pytest.mark.parametrize("told", [
    {"hello": b"\xff\xfe"}, {"hello": b"{"}, {"hello": []}, {"hello": {}},
    {"hello": {"max_output_len": "x"}},
    {"list": b"garbage"}, {"list": b"[" * 60000}, {"list": b'{"/octo/list":' * 4000},
    {"list": b'{"/octo/list":[0],"pad":"' + b"x" * 70000 + b'"}'},
    {"list": b'{"/octo/nonsense":[0]}'}, {"list": b"9" * 5000}, {"list": {"0": 0}},
    {"list": ["0"]}, {"list": [True]}, {"list": [-1]}, {"list": [1 << 16]},
    {"topology": None}, {"topology": []}, {"topology": {"name": "x", "pfs": []}},
    {"topology": {"name": 1, "pfs": {}}}, {"topology": {"name": "x" * 65, "pfs": {"0": {}}}},
    {"topology": {"name": "x", "pfs": {str(i): {"name": "pf"} for i in range(9)}}},
    {"xstats": 1}, {"xstats": {"total": 1 << 40, "xstats": XSTATS}},
    {"xstats": {"total": -1, "xstats": {}}}, {"xstats": {"total": 6, "xstats": []}},
    {"xstats": xstats(rx_good_packets=-1)}, {"xstats": xstats(rx_good_packets=1 << 64)},
    {"xstats": xstats(rx_good_packets=1.5)}, {"xstats": xstats(rx_good_packets="7")},
    {"xstats": xstats(unknown=None)}, {"xstats": xstats(unknown={"x": 1})},
    {"steering": {"total": 1, "rules": {"0": {}}}}, {"steering": {"total": 1, "rules": {"0": 7}}},
    {"steering": {"total": 1, "rules": {"0": {"hits": -2}}}},
    {"legs": {"total": 1, "legs": {"0": {**LEG, "cpu_socket": "0"}}}},
    {"legs": {"total": 1, "legs": {"0": None}}},
], ids=str)
def test_answers_that_are_not_understood(told):
    """Are one error, in one line of letters that any terminal can show."""
    with application(**told) as app:
        said = refused(run(app.prefix, "--interval", 0.01, "--count", 1, "--json"))
        assert "the application's answer is " in said
        assert said.isascii() and len(said) < 200


@pytest.mark.parametrize("told", [
    {"xstats": None}, {"xstats": {"total": 7, "xstats": {}}}, {"xstats": {"total": 99, "xstats":
                                                                         XSTATS}}], ids=str)
def test_xstats_that_cannot_be_read(told):
    """For as long as it tries: no answer, pages without end, the same page again."""
    with application(**told) as app:
        assert "its counters cannot be read" in refused(run(app.prefix))


@pytest.mark.parametrize("told", [{"steering": None}, {"legs": None},
                                  {"steering": {"total": 9, "rules": {}}}], ids=str)
def test_what_cannot_be_told_is_unknown(told):
    """Hits of the rules, sockets of the queues; the rest is measured."""
    with application(**told) as app:
        done = run(app.prefix, "--interval", 0.01, "--count", 1, "--json")
        assert done.returncode == DONE, done
        sample, = samples(done.stdout)
        unknown = "rule_hits" if "steering" in told else "tx_remote_packets"
        assert sample[f"{unknown}_per_second"] is None
        assert sample["rx_packets_per_second"] == 0


def test_names_cannot_control_the_terminal():
    """Whatever is not a printable letter of ASCII is shown as one."""
    bad = {"name": "a\x1b[2Jb\n\u202e\ud800", "pfs": {"0": {"name": "\x07\xe9"}}}
    with application(topology=bad) as app:
        done = run(app.prefix, "--interval", 0.01, "--count", 1)
        assert done.returncode == DONE, done
        assert "Port 0 a?[2Jb???: measured" in done.stdout and "PF 0 ??" in done.stdout
        assert done.stdout.isascii() and "\x1b" not in done.stdout


@pytest.mark.parametrize("question", ["hello", "list", "topology", "xstats", "legs"])
def test_hanging_up(question):
    """Before there is anything to print: one line and the status."""
    with application(**{question: Application.HANG_UP}) as app:
        said = refused(run(app.prefix), ENDED)
        assert ("takes no more telemetry clients" if question == "hello" else
                "the application ended") in said


@pytest.mark.parametrize("question", ["hello", "list", "xstats"])
def test_silence(question):
    """Is not waited for without end."""
    with application(**{question: Application.SILENCE}) as app:
        assert "does not answer" in refused(run(app.prefix, script=HURRIED))


def test_a_signal_ends_it_between_samples(pmd):
    """The last sample is shorter, and all is printed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        program = begin(pmd, pmd.port(), "--interval", 3600)
        program.expect("measured every 3600 s")
        assert program.stop(number) == DONE
        assert re.search(r"Measured for \d.*, until: stopped; on average:", program.text)


def test_a_signal_within_a_sample():
    """The sample is given up, and the last one has its packets."""
    programs, told, ready = [], [], threading.Event()

    def tell() -> Dict[str, Any]:
        told.append(100 * len(told))
        if len(told) == 2:
            assert ready.wait(env.seconds(20))
            programs[0].send_signal(signal.SIGINT)
        return xstats(rx_good_packets=told[-1])

    with application(xstats=tell) as app:
        programs.append(Process([sys.executable, PROGRAM, "-f", app.prefix, "--interval", 0.01,
                                 "--json"]))
        ready.set()
        assert programs[0].wait() == DONE, programs[0].text
        summary = json.loads(programs[0].text.splitlines()[-1])["summary"]
        assert (summary["ended"], told) == ("stopped", [0, 100, 200])
        assert summary["rx_packets"] == 200


def test_nobody_reads_what_it_prints(pmd):
    """It ends, without a trace of Python."""
    script = f"'{sys.executable}' '{PROGRAM}' -f {pmd.file_prefix} --port {pmd.port()} " \
        "--interval 0.01 | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], text=True, check=False,
                          capture_output=True, timeout=env.seconds(60),
                          env={**os.environ, "RUNTIME_DIRECTORY": str(env.runtime_base())})
    assert done.returncode == FAILED and len(done.stdout.splitlines()) == 1
    assert done.stderr == "dpdk-octo-measure: cannot print: Broken pipe\n"


def test_nobody_reads_the_averages():
    """They are the last that is printed: no error of them is left to the end of Python."""
    told, gone = [], threading.Event()

    def tell() -> object:
        told.append(None)
        if len(told) < 3:
            return xstats()
        assert gone.wait(env.seconds(20))
        return Application.HANG_UP

    with application(xstats=tell) as app, subprocess.Popen(
            [sys.executable, PROGRAM, "-f", app.prefix, "--interval", "0.01"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "RUNTIME_DIRECTORY": str(env.runtime_base()),
                 "PYTHONUNBUFFERED": ""}) as program:
        while "PF 0" not in program.stdout.readline():
            pass
        program.stdout.close()
        gone.set()
        assert program.stderr.read() == "dpdk-octo-measure: cannot print: Broken pipe\n"
        assert program.wait(env.seconds(20)) == FAILED
