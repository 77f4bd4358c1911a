# SPDX-License-Identifier: BSD-3-Clause
"""./octo bench l3fwd: its search, what a run tells, and what it leaves behind."""

import contextlib
import json
import os
import random
import re
import shlex
import signal
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from octotest import env

sys.path.insert(0, str(env.REPO / "devtools"))

from l3fwd_bench import generator, layout, session, summary  # noqa: E402
from l3fwd_bench.search import NDR, PDR, Search, Trial  # noqa: E402

MODULE = [sys.executable, "-B", "-m", "l3fwd_bench"]
MPPS = 1e6
FORWARDING = ("local", "remote", "octo")  # bonding needs a newer l3fwd


class Device:
    """Forwards so many packets per second, and no more."""

    def __init__(self, capacity: float, generator_rate: float = 1e12, lossy: float = 0,
                 jitter: float = 0) -> None:
        self.capacity, self.generator_rate = capacity, generator_rate
        self.lossy, self.jitter = lossy, jitter
        self.random = random.Random(7)
        self.trials = 0

    def measure(self, rate: float) -> Trial:
        """A trial of ten seconds; now and then a few packets are lost whatever the rate."""
        self.trials += 1
        sent = round(min(rate, self.generator_rate) * 10)
        able = round(self.capacity * (1 + self.random.uniform(-1, 1) * self.jitter) * 10)
        lost = 3 if self.random.random() < self.lossy else 0
        return Trial(rate, sent, max(0, min(sent, able) - lost), 10.0)


def _search(device: Device, **more) -> Search:
    return Search(device.measure, 100 * MPPS, **more)


@pytest.mark.parametrize("capacity", [0.5, 7, 33.3, 99])
def test_search_finds_what_a_device_can_do(capacity):
    """Without loss, and half a percent higher with that much loss."""
    search = _search(Device(capacity * MPPS))
    for goal, exact in ((NDR, capacity), (PDR, capacity / (1 - PDR))):
        found = search.find(goal)
        assert found.limit == "device"
        assert found.rate <= exact * MPPS < found.failed
        assert found.failed - found.rate <= 0.005 * found.failed


def test_second_search_knows_what_the_first_one_tried():
    """It makes fewer trials than it would alone."""
    device = Device(33 * MPPS)
    both = _search(device)
    both.find(NDR)
    first = device.trials
    both.find(PDR)
    alone = Device(33 * MPPS)
    _search(alone).find(PDR)
    assert both.count() == device.trials
    assert device.trials - first < alone.trials


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_mislead_the_search(seed):
    """A tenth of the trials lose a few packets at any rate, and what it can do varies by 1 %."""
    device = Device(40 * MPPS, lossy=0.1, jitter=0.01)
    device.random.seed(seed)
    found = _search(device).find(NDR)
    assert 0.95 * 40 * MPPS < found.rate < 1.015 * 40 * MPPS, found
    assert device.trials < 150


def test_single_trials_are_misled():
    """Why there are several: with one per rate, some search of twenty is far off."""
    found = []
    for seed in range(20):
        device = Device(40 * MPPS, lossy=0.1, jitter=0.01)
        device.random.seed(seed)
        found.append(_search(device, trials=1).find(NDR).rate)
    assert min(found) < 0.95 * 40 * MPPS


@pytest.mark.parametrize("device, limit, rate", [
    (Device(200 * MPPS), "max-rate", 100),
    (Device(200 * MPPS, generator_rate=30 * MPPS), "generator", 30),
    (Device(0), "none", 0),
    (Device(40 * MPPS, lossy=1), "none", 0),
])
def test_search_says_what_limits_it(device, limit, rate):
    """The highest rate, the generator, or a device that always loses something."""
    found = _search(device).find(NDR)
    assert (found.limit, found.rate) == (limit, rate * MPPS)
    assert device.trials < 100


@pytest.mark.parametrize("text, says", [
    ("", "nothing"), ("hello", "no JSON"), ('{"sent": 1}', "no JSON"), ("[1]", "no JSON"),
    ('{"sent": -1, "received": 0, "seconds": 1}', "counts"),
    ('{"sent": 1.5, "received": 0, "seconds": 1}', "counts"),
    ('{"sent": true, "received": 0, "seconds": 1}', "counts"),
    ('{"sent": 1, "received": 0, "seconds": 0}', "counts"),
    ('{"sent": 1, "received": 2, "seconds": 1}', "more than it sent"),
])
def test_generator_that_breaks_the_contract_is_told(text, says):
    """By a sentence."""
    with pytest.raises(ValueError, match=says):
        generator.read_answer(text, 1.0)


def test_generator_may_talk_before_it_answers():
    """The last line counts."""
    text = 'warming up\n{"sent": 10, "received": 9, "seconds": 2}\n\n'
    trial = generator.read_answer(text, 5)
    assert (trial.lost, trial.loss_ratio, trial.offered, trial.forwarded) == (1, 0.1, 5, 4.5)


def test_hugepages_of_others_are_left(monkeypatch):
    """Who sets OCTO_NO_HUGE has them for something else."""
    monkeypatch.setattr(Path, "read_text", lambda _: "512\n")
    monkeypatch.setenv("OCTO_NO_HUGE", "1")
    assert not session.hugepages_are_free()
    monkeypatch.delenv("OCTO_NO_HUGE")
    assert session.hugepages_are_free()


def test_ratios_are_those_of_the_same_round():
    """A slow round is slow for both."""
    found = summary.ratios([5, 50, 500], [10, 100, 1000])
    assert (found.median, found.low, found.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("version, word", [("22.11.11", "slave"), ("23.07.0", "slave"),
                                           ("23.11.0", "member"), ("26.07.0", "member")])
def test_bonding_is_told_of_its_pfs_as_this_dpdk_calls_them(version, word):
    """And gets both."""
    setup = layout.on_hardware("bonding", "0000:41:00.0", "0000:81:00.0", layout.bond_word(version))
    assert setup.devices[-1].count(f",{word}=0000:") == 2


def _environment() -> dict:
    binaries = {name: env.find_built(name) for name in ("octo-l3fwd", "octo-gen")}
    missing = [name for name, path in binaries.items() if path is None]
    if missing or env.IN_TREE:
        pytest.skip(f"not built: {missing}")
    return {**os.environ, "PYTHONPATH": str(env.REPO / "devtools"),
            "OCTO_L3FWD": str(binaries["octo-l3fwd"]), "OCTO_GEN": str(binaries["octo-gen"]),
            "OCTO_DPDK_VERSION": "22.11"}


def _bench(*args: object, **environ: str) -> subprocess.CompletedProcess:
    return subprocess.run([*MODULE, *map(str, args)], text=True, capture_output=True, check=False,
                          timeout=env.seconds(240), env={**_environment(), **environ})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What a quick run wrote and said: (JSON, text)."""
    directory = tmp_path_factory.mktemp("bench")
    path = directory / "out.json"
    done = _bench("--quick", "--json", path, OCTO_WORK=str(directory / "work"))
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


def _all_counted(found: dict) -> None:
    for case in found["configurations"]:
        assert case["received"] > 0
        for one in case["rounds"]:
            assert one["sent"] == one["received"] and one["lost"] == 0, one
            assert one["lost_at"] == {"before": 0, "inside": 0, "after": 0}, one


def test_every_packet_is_counted(run):
    """By the generator and by l3fwd's port alike; none is lost."""
    _all_counted(run[0])


def test_configurations_are_there_or_said_to_be_left_out(run):
    """With rates, and ratios to local."""
    found = run[0]
    names = [case["name"] for case in found["configurations"]]
    assert names[:3] == list(FORWARDING)
    assert sorted([*names, *(left["name"] for left in found["left_out"])]) == sorted(layout.CASES)
    assert found["kind"] == "functional" and found["quick"] and not found["interrupted"]
    for case in found["configurations"]:
        pps = case["pps"]
        assert 0 < pps["low"] <= pps["median"] <= pps["high"]
        assert len(case["rounds"]) == found["runs"]
    assert found["configurations"][0]["ratio_to_local"]["median"] == 1


def test_flows_of_the_octo_port_come_home(run):
    """All strayed at first, as they come by the far PF; others know of no strays."""
    local, remote, octo = run[0]["configurations"][:3]
    assert octo["strays_before"] > 0 and octo["stray_fraction"] < 0.01
    for case in (local, remote):
        assert case["strays"] is None and case["stray_fraction"] is None


def test_model_sees_what_crosses(run):
    """All of the far PF's DMA, and none of the others'."""
    local, remote, octo = (case["modelled"] for case in run[0]["configurations"][:3])
    assert local["remote_dma_per_packet"] == 0
    assert remote["remote_dma_per_packet"] > 1 and remote["cpu_ns_per_packet"] > 50
    assert octo["remote_dma_per_packet"] < 0.05


def test_output_says_what_it_is_not(run):
    """Functional, and modelled; a table with units."""
    found, text = run
    assert "Functional: " in text and "say nothing of what nonuniform DMA costs" in \
        " ".join(text.split())
    assert "modelled, per packet" in text and "Mpps" in text
    for case in found["configurations"]:
        assert all(f"\n  {command}\n" in text for command in case["commands"])
    for left in found["left_out"]:
        assert f"Left out: {left['name']}" in text


def test_commands_can_be_repeated_by_hand(run, tmp_path):
    """As they are printed."""
    *prepare, generate, forward = run[0]["configurations"][2]["commands"]
    environ = {**os.environ, "RUNTIME_DIRECTORY": str(env.runtime_base())}
    for command in prepare:
        subprocess.run(command, shell=True, check=True)
    log = open(tmp_path / "l3fwd.log", "w", encoding="utf-8")
    generating = subprocess.Popen("exec " + generate, shell=True, text=True, env=environ,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
    try:
        while "ready" not in generating.stderr.readline():
            assert generating.poll() is None
        forwarding = subprocess.Popen("exec " + forward, shell=True, env=environ, stdout=log,
                                      stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + env.seconds(60)
            while "lcoreid=" not in Path(log.name).read_text():
                assert time.monotonic() < deadline and forwarding.poll() is None
                time.sleep(0.1)
            generating.stdin.write("0 0.2\n")
            generating.stdin.flush()
            answer = json.loads(generating.stdout.readline())
            assert answer["sent"] == answer["received"] > 0
        finally:
            forwarding.send_signal(signal.SIGINT)
            forwarding.wait(env.seconds(30))
    finally:
        generating.kill()
        generating.communicate()
        log.close()


def test_over_veths(root, tmp_path):
    """Every packet is counted there, too; the interfaces are gone afterwards."""
    path = tmp_path / "out.json"
    done = _bench("--quick", "--wire", "veth", "--case", "octo", "--model", "none",
                  "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(path.read_text())
    _all_counted(found)
    commands = found["configurations"][0]["commands"]
    made = re.search(r"ip link add (\S+)", "\n".join(commands))[1]
    assert not Path("/sys/class/net", made).exists()


def _descendants(pid: int) -> set:
    """Of a process, by /proc."""
    found = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one that has ended
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found |= {int(child)} | _descendants(int(child))
    return found


@pytest.fixture
def short_path():
    """Directory for sockets, whose names must not be long."""
    with tempfile.TemporaryDirectory(prefix="l3b") as directory:
        yield Path(directory)


@pytest.mark.parametrize("programs", [1, 2])  # the generator, and l3fwd
def test_interrupt_leaves_nothing_behind(root, short_path, programs):
    """^C ends programs and interfaces, and tells what was measured up to then."""
    path = short_path / "out.json"
    bench = subprocess.Popen([*MODULE, "--quick", "--runs", "100", "--case", "local", "--wire",
                              "veth", "--model", "none", "--json", str(path)], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**_environment(), "TMPDIR": str(short_path)})
    while "round 2 of 100" not in bench.stderr.readline():
        assert bench.poll() is None
    while len(_descendants(bench.pid)) < programs:
        assert bench.poll() is None
        time.sleep(0.01)
    children = _descendants(bench.pid)
    bench.send_signal(signal.SIGINT)
    out, _ = bench.communicate(timeout=env.seconds(60))
    assert bench.returncode == 1 and "Interrupted" in out
    assert json.loads(path.read_text())["interrupted"] is True
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)
    assert not list(Path("/sys/class/net").glob(f"l3b{bench.pid}*"))
    assert [p.name for p in short_path.iterdir()] == ["out.json"]


FAKE_L3FWD = """#!/bin/sh
echo "Initializing port 0 ...  Address:02:00:00:00:00:42, Destination:02:00:00:00:00:00"
echo "L3FWD:  -- lcoreid=$0 $*" >&2
exec sleep 600
"""

FAKE_TG = """#!/bin/sh
# CAPACITY --rate PPS --seconds S --size 64 --flows N --dst-mac MAC
[ "$6 $7" = "--size 64" ] && [ "${11}" = 02:00:00:00:00:42 ] || exit 3
received=$(($3 < $1 ? $3 : $1))
echo "{\\"sent\\": $(($3 * $5)), \\"received\\": $((received * $5)), \\"seconds\\": $5}"
"""

NEAR, FAR = "0000:81:00.0", "0000:41:00.0"


@pytest.fixture
def machine(tmp_path):
    """A machine with a NIC whose PFs are on two nodes; its l3fwd and generator are scripts."""
    for pf, node in ((FAR, 0), (NEAR, 1), ("0000:82:00.0", 1), ("0000:01:00.0", -1)):
        device = tmp_path / "sys/bus/pci/devices" / pf
        device.mkdir(parents=True)
        (device / "numa_node").write_text(f"{node}\n")
    for cpu in os.sched_getaffinity(0):
        (tmp_path / f"sys/devices/system/cpu/cpu{cpu}/node1").mkdir(parents=True)
    for name, text in (("l3fwd", FAKE_L3FWD), ("tg", FAKE_TG)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_search_on_hardware(machine):
    """Each configuration's NDR and PDR, by the command that was given; l3fwd has the right PFs."""
    path = machine / "out.json"
    lcore = max(os.sched_getaffinity(0))
    done = _bench("--root", machine, "--pf", FAR, "--pf", "81:00.0", "--lcores", lcore,
                  "--l3fwd", machine / "l3fwd", "--tg", f"{machine / 'tg'} 20000000",
                  "--quick", "--runs", "2", "--json", path, OCTO_WORK=str(machine / "work"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(path.read_text())
    assert found["kind"] == "measured" and "Functional" not in done.stdout
    commands = {}
    for case in found["configurations"]:
        commands[case["name"]] = case["commands"][-2]
        for goal in ("ndr", "pdr"):
            assert 19e6 < case[goal]["median"] < 20.2e6
            assert case[f"{goal}_limits"] == ["device"]
            assert case[f"{goal}_ratio_to_local"]["median"] == 1
    for name, pfs in (("local", [NEAR]), ("remote", [FAR]), ("octo", ["0000:00:00.0"])):
        words = shlex.split(commands[name])
        assert [words[i + 1] for i, w in enumerate(words) if w == "-a"] == pfs
    assert f"--vdev=net_octo0,pf={FAR},pf={NEAR}" in commands["octo"]


def test_generator_that_fails_ends_the_benchmark(machine):
    """It is named; nothing is reported."""
    done = _bench("--root", machine, "--pf", FAR, "--pf", NEAR, "--lcores",
                  max(os.sched_getaffinity(0)), "--l3fwd", machine / "l3fwd", "--tg", "false",
                  "--quick", OCTO_WORK=str(machine / "work"))
    assert done.returncode == 1 and done.stdout == ""
    assert "--tg false: exit status 1" in done.stderr.splitlines()[-1]


# Says by telemetry what it counted, once.
DYING_L3FWD = f"""#!{sys.executable}
import json, os, socket, sys
prefix = next(word.split("=")[1] for word in sys.argv if word.startswith("--file-prefix="))
path = f"{{os.environ['RUNTIME_DIRECTORY']}}/dpdk/{{prefix}}"
os.makedirs(path)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(path + "/dpdk_telemetry.v2")
listener.listen()
print("Address:02:00:00:00:00:42", "L3FWD:  -- lcoreid=0", flush=True)
asker = listener.accept()[0]
asker.send(b'{{"max_output_len": 16384}}')
asker.recv(1024)
asker.send(b'{{"/ethdev/stats": {{"ipackets": 0, "opackets": 0}}}}')
asker.recv(1024)
os._exit(1)
"""

# Has no telemetry, and ends in a trial.
MORTAL_L3FWD = """#!/bin/sh
echo $$ >"$(dirname "$0")/l3fwd.pid"
echo "Address:02:00:00:00:00:42, Destination:02:00:00:00:00:00"
echo "L3FWD:  -- lcoreid=0"
exec sleep 600
"""

KILLING_TG = """#!/bin/sh
pid=$(cat "$(dirname "$0")/l3fwd.pid")
kill "$pid"
until grep -q "^State:.Z" "/proc/$pid/status"; do sleep 0.01; done
echo '{"sent": 9, "received": 0, "seconds": 1}'
"""


@pytest.mark.parametrize("l3fwd, tg, says", [
    (DYING_L3FWD, FAKE_TG, "l3fwd does not tell ipackets, opackets of port 0"),
    (MORTAL_L3FWD, KILLING_TG, "l3fwd ended with status -15"),
], ids=["asked", "in a trial"])
def test_l3fwd_that_dies_ends_the_benchmark(machine, l3fwd, tg, says):
    """It is named; nothing is reported."""
    (machine / "l3fwd").write_text(l3fwd)
    (machine / "tg").write_text(tg)
    done = _bench("--root", machine, "--pf", FAR, "--pf", NEAR, "--case", "local", "--lcores",
                  max(os.sched_getaffinity(0)), "--l3fwd", machine / "l3fwd", "--tg",
                  f"{machine / 'tg'} 20000000", "--quick", OCTO_WORK=str(machine / "work"))
    assert done.returncode == 1 and done.stdout == ""
    assert says in done.stderr and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("args, culprit", [
    (["--nonsense"], "--nonsense"), (["extra"], "extra"), (["--case", "none"], "--case"),
    (["--runs", "0"], "--runs"), (["--runs", "many"], "--runs"), (["--size", "63"], "--size"),
    (["--size", "64.5"], "--size"), (["--seconds", "nan"], "--seconds"),
    (["--flows", "0"], "--flows"),
    (["--lcores", "9999"], "--lcores"), (["--lcores", "a"], "--lcores"),
    (["--lcores", "0,0"], "--lcores"), (["--gen-cpu", "4095"], "--gen-cpu"),
    (["--window", "0"], "--window"), (["--window", "9", "--search"], "--window"),
    (["--wire", "string"], "--wire"), (["--model", "abacus"], "--model"),
    (["--max-rate", "5"], "--max-rate"), (["--json", "/nonexistent/f"], "--json"),
    (["--json", "/"], "--json"), (["--plot", "f.gif"], "--plot"),
    (["--plot", "/nonexistent/f.png"], "--plot"), (["--l3fwd", "/nonexistent"], "--l3fwd"),
    (["--l3fwd", "'"], "--l3fwd"), (["--eal", "-m '64"], "--eal -m '64"),
    (["--tg", "true"], "--tg"), (["--pf", FAR], "--pf"), (["--pf", FAR, "--tg", "true"], "--pf"),
    (["--pf", FAR, "--pf", "eth0", "--tg", "true"], "eth0"),
    (["--pf", FAR, "--pf", "0000:99:00.0", "--tg", "true"], "0000:99:00.0"),
    (["--pf", NEAR, "--pf", "0000:82:00.0", "--tg", "true"], "0000:82:00.0"),
    (["--pf", FAR, "--pf", "0000:01:00.0", "--tg", "true"], "0000:01:00.0"),
    (["--pf", FAR, "--pf", NEAR, "--tg", "/nonexistent"], "--tg"),
    (["--pf", FAR, "--pf", NEAR, "--tg", "true", "--wire", "sim"], "--wire"),
])
def test_wrong_use_is_one_line(machine, args, culprit):
    """The message names the culprit; nothing is begun."""
    done = _bench("--root", machine, *args)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and culprit in done.stderr, done.stderr


@pytest.mark.parametrize("words", [
    ["l3fwd", "--dpdk-src", "/"], ["l3fwd", "--l3fwd", "/nonexistent"], ["l3fwd", "--eal", "'"],
    ["--json", "/nonexistent/f", "l3fwd"], ["--quick", "l3fwd", "--runs", "0"],
])
def test_front_door_refuses_wrong_use_before_it_builds(tmp_path, words):
    """It is told by a clone that has nothing to build, wherever the word l3fwd is."""
    shutil.copy(env.REPO / "octo", tmp_path)
    for name in ("devtools", "config"):
        shutil.copytree(env.REPO / name, tmp_path / name)
    done = subprocess.run([tmp_path / "octo", "bench", *words], text=True,
                          capture_output=True, check=False, timeout=env.seconds(30))
    culprit = next(word for word in words[::-1] if word.startswith("--"))
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and culprit in done.stderr, done.stderr


def test_front_door_knows_it():
    """Help is given without a build."""
    done = subprocess.run([env.REPO / "octo", "bench", "l3fwd", "--help"], text=True,
                          capture_output=True, check=False, timeout=env.seconds(30))
    assert done.returncode == 0 and "--tg COMMAND" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("args, culprit", [
    (["--size", "63"], "--size"), (["--dst-mac", "zero"], "--dst-mac"), ([], "--dst-mac"),
    (["--rate", "-1"], "--rate"), (["--flows", "0"], "--flows"), (["more"], "more"),
    (["--dst-mac", "02:00:00:00:00:01", "--port", "7"], "--port"), (["--seconds", "0"], "--seconds"),
])
def test_generator_refuses_what_it_cannot_do(args, culprit):
    """In a line that names the argument."""
    argv = [_environment()["OCTO_GEN"], "--no-huge", "-m", "64", "--no-pci", "--no-shconf",
            "--no-telemetry", "--log-level=error", "-l", "0", "--vdev=net_null0", "--", *args]
    done = subprocess.run(argv, text=True, capture_output=True, check=False,
                          timeout=env.seconds(60), stdin=subprocess.DEVNULL)
    # that there is no such port is found out when it starts
    assert done.returncode == (1 if "--port" in args else 2) and done.stdout == ""
    assert culprit in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.parametrize("line", ["0 86401", "0 1e12", "1e13 1", "0 -1", "0 nan", "1", "x y"])
def test_generator_tells_of_lines_that_are_no_trial(line):
    """And takes the next one."""
    argv = [_environment()["OCTO_GEN"], "--no-huge", "-m", "64", "--no-pci", "--no-shconf",
            "--no-telemetry", "--log-level=error", "-l", "0", "--vdev=net_null0,no-rx=1", "--",
            "--dst-mac", "02:00:00:00:00:01"]
    done = subprocess.run(argv, text=True, capture_output=True, check=False,
                          timeout=env.seconds(60), input=f"{line}\n10 0.1\n")
    assert f"'{line}' is no RATE SECONDS" in done.stderr
    assert len(done.stdout.splitlines()) == 1 and json.loads(done.stdout)["seconds"] < 80000


def test_generator_keeps_to_rate_and_window():
    """Nothing comes back by net_null's ring of its own: what it receives is not counted."""
    argv = [_environment()["OCTO_GEN"], "--no-huge", "-m", "128", "--no-pci", "--no-shconf",
            "--no-telemetry", "-l", "0", "--vdev=net_null0,no-rx=1", "--",
            "--dst-mac", "02:00:00:00:00:01"]
    for more, least, most in ((["--rate", "20000"], 5000, 10001),
                              (["--window", "100"], 100, 400)):
        done = subprocess.run([*argv, *more, "--seconds", "0.5"], text=True, capture_output=True,
                              check=False, timeout=env.seconds(60))
        answer = json.loads(done.stdout)
        assert least <= answer["sent"] <= most and answer["received"] == 0, answer
