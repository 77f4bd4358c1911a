# SPDX-License-Identifier: BSD-3-Clause
"""The harness itself, with DPDK's own devices only."""

import contextlib
import itertools
import os
import re
import subprocess
import sys
import time
import types

import pytest

from octotest import env, iperf, packets, testpmd, thin, threads
from octotest.process import Process, ProcessError
from octotest.testpmd import Testpmd


def test_harness_talks_to_testpmd():
    """Commands are answered and figures are read."""
    with Testpmd(["--vdev=net_null0", "--vdev=net_ring0"], plugins=False,
                 queues=1) as pmd:
        assert [p.name for p in pmd.ports()] == ["net_null0", "net_ring0"]
        assert pmd.link(0) == "up"
        assert pmd.stats(0)["RX-packets"] == 0
        assert pmd.xstats(0)["rx_good_packets"] == 0
        assert pmd.info(0)["Driver name"] == "net_null"
        assert pmd.telemetry.get("/ethdev/list") == [0, 1]


def test_harness_sees_each_packet(tmp_path):
    """What a pcap wire plays is told packet by packet and recorded."""
    sent = packets.numbered(packets.flows(3), 5)
    rx = packets.write(tmp_path / "in.pcap", sent)
    tx = tmp_path / "out.pcap"
    wire = f"--vdev=net_pcap0,rx_pcap={rx},tx_pcap={tx}"
    with Testpmd([wire], plugins=False, queues=1) as pmd:
        seen = pmd.watch(15, "io")
        assert [s.src for s in seen] == \
            [packets.flow_mac(i) for i in range(3)] * 5
        assert pmd.stats(0)["TX-packets"] == 15
    assert packets.read_bytes(tx) == [bytes(p) for p in sent]


@pytest.mark.parametrize("text", [
    "\ntestpmd> ", "testpmd>\nPort 1: link state change event\n", "\ntestpmd>OCTO: port 3: link is down\n ",
    "\ntestOCTO: port 3: link is down\npmd> "])
def test_a_prompt_that_a_log_breaks_up(text):
    """Is one all the same."""
    assert re.search(testpmd.PROMPT_OR_REST, text)


@pytest.mark.parametrize("text", ["\ntestpmd>", "\ntestpmd>O", "> ", "\nset link-down port 3> "])
def test_what_is_no_prompt_yet(text):
    """More of it may come, or it is another program's."""
    assert not re.search(testpmd.PROMPT_OR_REST, text)


# Prints its first prompt after a command letter by letter, with a log line after each.
BROKEN_UP = """\
#!/usr/bin/python3
import sys
print("testpmd> ", end="", flush=True)
for number, line in enumerate(sys.stdin):
    if line == "quit\\n":
        break
    print(f"{line}answer {number}")
    print("\\nlog\\n".join("testpmd> ") if number == 0 else "testpmd> ", end="", flush=True)
"""


def test_a_command_is_answered_without_a_prompt(monkeypatch, tmp_path):
    """The next one, too, gets its own answer."""
    monkeypatch.setattr(testpmd, "ASIDE", 0.1)
    program = tmp_path / "testpmd"
    program.write_text(BROKEN_UP)
    program.chmod(0o755)
    with Testpmd(plugins=False, binary=str(program)) as pmd:
        assert "answer 0\n" in pmd.cmd("first")
        assert pmd.cmd("second").endswith("answer 2\n")
        assert pmd.cmd("third").endswith("answer 3\n")


def _shown(**acked: int) -> str:
    """As `ss -Htni` has it; what was never acknowledged is left out there."""
    return "".join(f"ESTAB 0      0      10.1.0.2:{port[1:]} 10.2.0.2:5201\n"
                   f"\t cubic rto:204 bytes_sent:9{f' bytes_acked:{n}' if n else ''} segs_out:8\n"
                   for port, n in acked.items())


def test_harness_sees_a_stream_that_stands_still():
    """Though others overtake it, and they are shown in another order."""
    then = iperf.acknowledged(_shown(p1=0, p2=300, p3=100, p4=200))
    assert then == {"10.1.0.2:1": 0, "10.1.0.2:2": 300, "10.1.0.2:3": 100, "10.1.0.2:4": 200}
    now = iperf.acknowledged(_shown(p4=400, p3=350, p2=300, p1=1))
    assert sorted(iperf.got_on(then, now, 99)) == ["10.1.0.2:3", "10.1.0.2:4"]


class _Client:
    """An iperf3 that has closed its streams, but has not ended."""

    returncode = 0

    def poll(self):
        """It never ends by itself."""

    kill = poll

    @staticmethod
    def communicate(timeout):
        """What it says in the end."""
        assert timeout > 0
        return "{}", ""


@pytest.mark.parametrize("passed, tries", [(100, 2), (1, 1)])
def test_harness_gives_streams_more_time_when_they_end_first(monkeypatch, passed, tries):
    """But not streams that are gone before their time."""
    clock = itertools.count(1e6, passed)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(iperf, "server", lambda host: contextlib.nullcontext())
    asked = []
    host = types.SimpleNamespace(popen=lambda words: asked.append(words) or _Client())

    def meanwhile() -> None:
        assert len(asked) > 1, "all streams are there"

    with contextlib.nullcontext() if tries > 1 else pytest.raises(AssertionError):
        assert iperf.outlive(host, host, "192.0.2.1", meanwhile) == {}
    assert len(asked) == tries


def test_harness_tells_what_a_process_is_at_that_does_not_answer():
    """Does it run, or where does it wait?"""
    for code, seen in (("while True: pass", r"python3 +R +\d+ +[1-9]"),
                       ("import time; time.sleep(99)", r"python3 +S +\d+ +0 ")):
        process = Process(["python3", "-c", f"print('up', flush=True)\n{code}"])
        process.expect("up")
        with pytest.raises(ProcessError, match=f"no 'pong' in time(.|\n)*{seen}"):
            process.expect("pong", timeout=0.1)
        process.kill()


def _fake(proc, pid: int, **states: str) -> None:
    """Threads of a process whose CPU time does not change."""
    for number, (name, state) in enumerate(states.items()):
        task = proc / f"{pid}/task/{number}"
        task.mkdir(parents=True)
        (task / "comm").write_text(f"{name}\n")
        (task / "stat").write_text(f"{number} ({name}) {state}{' 1' * 40}\n")
        (task / "schedstat").write_text("12345 678 9\n")


def test_harness_knows_a_thread_that_gets_no_cpu(monkeypatch, tmp_path):
    """It is ready, and does not run."""
    busy = Process(["python3", "-c", "while True: pass"])
    assert threads.starved(busy.pid) == ""
    monkeypatch.setattr(threads, "LIMIT", 0.5)
    _fake(tmp_path, 7, worker="R", waiter="S", lost="R")
    _fake(tmp_path, 8, waiter="S")
    monkeypatch.setattr(threads, "PROC", tmp_path)
    assert threads.starved(7) == "no CPU in 0 s for worker, lost of process 7"
    assert threads.starved(8) == threads.starved(9) == ""
    _fake(tmp_path, busy.pid, worker="R")
    monkeypatch.setattr(Process, "QUIET", 1)
    with pytest.raises(ProcessError, match="no 'pong', and no CPU"):
        busy.expect("pong", timeout=1000)
    assert busy.starved == f"no CPU in 0 s for worker of process {busy.pid}"


def test_harness_is_patient_when_the_machine_stands_still(monkeypatch):
    """The clock goes on by minutes; the process has had no time to answer."""
    process = Process(["sh", "-c", "echo ping; sleep 1; echo pong; sleep 9"])
    process.expect("ping")
    clock = itertools.count(1e6, 600)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    process.expect("pong", timeout=10)
    process.kill()


def test_harness_does_not_count_stalls_as_waiting(monkeypatch):
    """A look that takes long costs a second of the limit; many make an end of it."""
    clock = itertools.count(0, 100)
    looks = []
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(ProcessError, match="never came true: a thing"):
        testpmd.wait_until("a thing", lambda: looks.append(1), timeout=3)
    assert len(looks) == env.seconds(3)


@pytest.mark.parametrize("words, named", [(("pktgen", "/nowhere"), "argument program: /nowhere"),
                                          (("fstack", "/nowhere"), "argument program: /nowhere"),
                                          (("nothing", "/"), "argument application: invalid")])
def test_comparison_of_applications_names_a_wrong_argument(words, named):
    """One line after the usage, before anything is started."""
    script = env.REPO / "test" / "functional" / "compare_apps.py"
    done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2
    assert f"error: {named}" in done.stderr.splitlines()[-1]


class _Item:
    """What a test with a parameter is to the choice of few."""

    def __init__(self, name, **many) -> None:
        self.nodeid, self.skipped = name, ""
        self._many = types.SimpleNamespace(kwargs=many) if many else None

    def get_closest_marker(self, _):
        """The only one."""
        return self._many

    def add_marker(self, skip) -> None:
        """It is not to run."""
        self.skipped = skip.kwargs["reason"]


@pytest.mark.parametrize("asan,short,many,kept", [
    (False, False, {}, 8), (True, False, {}, 8), (False, True, {}, 1), (True, True, {}, 1),
    (False, False, {"asan": 3}, 8), (True, False, {"asan": 3}, 3), (True, True, {"asan": 3}, 1),
    (False, True, {"short": 2}, 2), (True, True, {"asan": 1, "short": 2}, 1)])
def test_harness_takes_few_of_many_parameters(monkeypatch, asan, short, many, kept):
    """And all that has none; those that it leaves out say so."""
    monkeypatch.setattr(env, "ASAN", asan)
    monkeypatch.setattr(env, "SHORT", short)
    items = [_Item(f"t.py::many[{i}]", **many) for i in range(8)] + [_Item("t.py::one")]
    thin.thin_out(items)
    run = [item.nodeid for item in items if not item.skipped]
    assert run == [f"t.py::many[{8 * i // kept}]" for i in range(kept)] + ["t.py::one"]
    assert all(f"{kept} of these 8" in item.skipped for item in items if item.skipped)


def test_port_tests_leave_no_directory_of_eal(tmp_path):
    """Each program has one of its own, below what is shared by all DPDK programs of the machine."""
    program = env.BUILD / "test/port/test_mpsim_clock"
    if not program.exists():
        pytest.skip("it was not built")
    # DPDK's own libraries may be elsewhere than where the loader looks
    libraries = [str(program.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    subprocess.run([program], check=True, capture_output=True, timeout=env.seconds(60),
                   env={**os.environ, "RUNTIME_DIRECTORY": str(tmp_path),
                        "LD_LIBRARY_PATH": ":".join(libraries),
                        "NUDMA_MACHINES": str(env.REPO / "config/machines")})
    assert list((tmp_path / "dpdk").iterdir()) == []
