# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's small examples over octo ports: they take ports by masks and in pairs.

    test - veth - net_af_packet - NIC A - net_octo0 \\
                                                     > the example
    test - veth - net_af_packet - NIC B - net_octo1 /

PFs that EAL does not probe are probed by octo, when all octo ports have their numbers: 0, 1, ...
PFs that EAL probes first, as PCI devices that it is not told to leave alone, are numbered first.
"""

import contextlib
import re
import time
from typing import Dict, Iterator, List

import pytest

from octotest import env, packets, vdevs
from octotest.process import Process
from octotest.telemetry import Telemetry
from octotest.testpmd import Testpmd, wait_until
from octotest.veth import Wire

FLOWS = packets.flows(4)
NOT_THERE = "ffff:1e.0"  # no such PCI device, and no PCI bus

# What its output ends with when it forwards.
READY = {"l2fwd": "entering main loop on lcore",
         "link_status_interrupt": "entering main loop on lcore",
         "skeleton": r"Core \d+ forwarding packets",
         "rxtx_callbacks": r"Core \d+ forwarding packets"}


def devices(octos: int, cables: List[Wire], pfs_first: bool) -> List[str]:
    """The NICs and octo ports, in one order or the other."""
    ports = [vdevs.octo(i, 2 * i) for i in range(octos)]
    nics = []
    for i, cable in enumerate(cables):
        nics.append(f"--vdev=net_af_packet{i},iface={cable.name},blocksz=4096,"
                    "framesz=2048,framecnt=2048")
        nics += vdevs.nic("AB"[i], 2 * i, 2, f"net_af_packet{i}")
    return nics + ports if pfs_first else ports + nics


def numbers_of(telemetry: Telemetry) -> Dict[str, int]:
    """Of all ports that there are, owned or not, by their names."""
    infos = [telemetry.get("/ethdev/info", n) for n in range(32)]
    return {info["name"]: n for n, info in enumerate(infos) if info is not None}


class Example(Process):
    """One of them, which forwards."""

    def __init__(self, name: str, args: List[str], app: List[str]) -> None:
        self.prefix = env.unique()
        super().__init__([
            env.find_built(f"octo-{name}"), "--no-pci", "--no-huge", "-m", "512",
            "--lcores=0@0", f"--file-prefix={self.prefix}", *args, "--", *app])
        self.ready = READY[name]

    def numbers(self) -> Dict[str, int]:
        """Of the ports, by their names."""
        telemetry = Telemetry(self.prefix)
        try:
            return numbers_of(telemetry)
        finally:
            telemetry.close()


@contextlib.contextmanager
def started(name: str, cables: List[Wire], pfs_first: bool, *app: str) -> Iterator[Example]:
    """It ends with the test, in order."""
    example = Example(name, devices(len(cables), cables, pfs_first), list(app))
    example.expect(example.ready, timeout=60)
    yield example
    assert example.alive()
    assert "that are not the port's" not in example.text
    example.stop()


@pytest.fixture
def cables(program) -> Iterator[List[Wire]]:
    """Two of them."""
    program("ip")
    if env.find_built("octo-l2fwd") is None:
        pytest.skip("the examples are not built")
    with Wire() as one, Wire() as other:
        yield [one, other]


def frames() -> List[bytes]:
    """No two alike."""
    return [bytes(flow.packet(packets.flow_mac(i), payload=f"{n:4}".encode().ljust(64, b".")))
            for n in range(20) for i, flow in enumerate(FLOWS)]


def check_forwards(source: Wire, sink: Wire) -> None:
    """All arrive, but for the addresses, which some examples write."""
    sent = frames()
    for frame in sent:
        source.send(frame)
    got = sink.receive(len(sent))
    assert sorted(frame[12:] for frame in got) == sorted(frame[12:] for frame in sent)


PAIRS = {"l2fwd": ("-p", "3", "-q", "2", "-P"), "link_status_interrupt": ("-p", "3", "-q", "2"),
         "skeleton": (), "rxtx_callbacks": ()}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_of_octo_ports(cables, name):
    """They are 0 and 1, and their PFs come after: the pair that the example takes."""
    with started(name, cables, False, *PAIRS[name]) as example:
        numbers = example.numbers()
        assert (numbers["net_octo0"], numbers["net_octo1"]) == (0, 1)
        assert min(numbers[f"net_mpsim{i}"] for i in range(4)) > 1
        check_forwards(cables[0], cables[1])
        check_forwards(cables[1], cables[0])


@pytest.mark.parametrize("name", ["skeleton", "rxtx_callbacks"])
def test_a_pair_after_its_pfs(cables, name):
    """An even number of other ports before it leaves a pair a pair."""
    with started(name, cables, True) as example:
        numbers = example.numbers()
        assert numbers["net_octo0"] % 2 == 0
        assert numbers["net_octo1"] == numbers["net_octo0"] + 1 == max(numbers.values())
        check_forwards(cables[0], cables[1])
        check_forwards(cables[1], cables[0])


@pytest.mark.parametrize("name", ["l2fwd"])
@pytest.mark.parametrize("octos", [1, 2])
def test_no_mask_names_a_port_after_its_pfs(cables, name, octos):
    """The example's mask ends with the number of ports that nobody owns: it says so."""
    example = Example(name, devices(octos, cables[:octos], True), ["-p", "ff"])
    example.expect(rf"Invalid portmask; possible \(0x{2 ** octos - 1:x}\)", timeout=60)
    assert example.wait() != 0


def test_one_octo_port(cables):
    """Is 0, and sends back what it gets."""
    with started("l2fwd", cables[:1], False, "-p", "1", "-P") as example:
        assert example.numbers()["net_octo0"] == 0
        check_forwards(cables[0], cables[0])


def octos(pmd: Testpmd) -> Dict[str, int]:
    """Numbers of the octo ports."""
    return {name: n for name, n in numbers_of(pmd.telemetry).items()
            if re.fullmatch(r"net_octo\d", name)}


def test_as_many_as_there_are():
    """In the order of the command line, whatever is between them; PFs in that of the ports."""
    order = [2, 0, 3, 1]
    args = [vdevs.octo(i, 2 * i) for i in order]
    for i in range(4):
        args += vdevs.nic("ABCD"[i], 2 * i, 2, "loop")
    args.insert(3, "--vdev=net_null0")
    with Testpmd(args) as pmd:
        numbers = numbers_of(pmd.telemetry)
        assert [numbers[f"net_octo{i}"] for i in order] == [0, 1, 2, 4]
        assert numbers["net_null0"] == 3
        assert [numbers[f"net_mpsim{2 * i + pf}"] for i in order for pf in (0, 1)] == \
            list(range(5, 13))


@pytest.mark.parametrize("wrong", [0, 1, 2])
@pytest.mark.parametrize("how", ["devarg", "PF", "owned PF"])
def test_a_port_that_fails_keeps_its_number(wrong, how):
    """The others have the numbers that they would have; what is wrong is said once."""
    args = [vdevs.octo(i, 2 * i) for i in range(3)]
    args[wrong], said = {
        "devarg": (vdevs.octo(wrong, 2 * wrong, speed=3), "speed=: there is no such devarg"),
        "PF": (f"--vdev=net_octo{wrong},pf={NOT_THERE}", f"pf={NOT_THERE}: no such port"),
        "owned PF": (vdevs.octo(wrong, (2 * wrong + 2) % 6), "is already owned by net_octo"),
    }[how]
    for i in range(3):
        args += vdevs.nic("ABC"[i], 2 * i, 2, "loop")
    with Testpmd(args) as pmd:
        left = octos(pmd)
        lost = set(range(3)) - set(left.values())
        assert left == {f"net_octo{n}": n for n in left.values()}
        assert len(lost) == 1 and (how == "owned PF" or lost == {wrong})
        failed = lost.pop()
        assert len(re.findall(rf"net_octo{failed}: .*{re.escape(said)}", pmd.boot_text)) == 1
        # as if it had never been there
        assert re.search(r"Port \d+ is attached", pmd.cmd("port attach " + vdevs.octo_devargs(
            failed, ["net_null0", "net_null1"])))


def test_all_fail():
    """Nothing is left of them, and no PF."""
    args = [f"--vdev=net_octo{i},pf={NOT_THERE}" for i in range(2)] + ["--vdev=net_null0"]
    with Testpmd(args) as pmd:
        assert list(numbers_of(pmd.telemetry)) == ["net_null0"]
        for i in range(2):
            assert pmd.boot_text.count(f"net_octo{i}: pf={NOT_THERE}: no such port") == 1


def test_one_more_at_run_time():
    """Is built at once, whether its PFs are there or not."""
    args = [vdevs.octo(0, 0), *vdevs.nic("A", 0, 2, "loop"), *vdevs.nic("B", 2, 2, "loop")]
    with Testpmd(args) as pmd:
        before = max(numbers_of(pmd.telemetry).values())
        nulls = ["net_null0", "net_null1"]
        for i, pfs in ((1, vdevs.pf_names(2)), (2, nulls)):
            assert "is attached" in pmd.cmd("port attach " + vdevs.octo_devargs(i, pfs))
        numbers = numbers_of(pmd.telemetry)
        assert [numbers[name] for name in ("net_octo1", "net_octo2", *nulls)] == \
            [before + n for n in (1, 2, 3, 4)]


def test_one_of_another_device():
    """net_failsafe probes an octo port of its own, and needs it at once."""
    inner = vdevs.octo_devargs(7, ["net_null0", "net_null1"], socket_map=None)
    args = [vdevs.octo(0, 0), f"--vdev=net_failsafe0,dev({inner})", vdevs.octo(1, 2),
            *vdevs.nic("A", 0, 2, "loop"), *vdevs.nic("B", 2, 2, "loop")]
    with Testpmd(args) as pmd:
        numbers = numbers_of(pmd.telemetry)
        assert [numbers[f"net_{name}"] for name in ("octo0", "failsafe0", "octo7", "octo1")] == \
            [0, 1, 2, 5]
        assert "net_octo7" not in [port.name for port in pmd.ports()]
        assert pmd.link(numbers["net_failsafe0"]) == "up"


def test_who_sends_by_a_pf_is_told(cables):
    """The octo port is 3, so that skeleton sends by 2, which is its PF: octo says so, once."""
    args = [*devices(1, cables[:1], True), "--vdev=net_null0,no-rx=1"]
    example = Example("skeleton", args, [])
    example.expect(example.ready, timeout=60)
    numbers = example.numbers()
    assert (numbers["net_mpsim1"], numbers["net_octo0"], numbers["net_null0"]) == (2, 3, 4)
    said = (r"port 3: packets are sent by PF net_mpsim1 that are not the port's: the "
            r"application must not use port 2")

    def is_told() -> bool:
        for frame in frames():
            cables[0].send(frame)
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            example.read(0.1)
        return re.search(said, example.text) is not None
    wait_until("the warning", is_told)
    for _ in range(12):
        is_told()
    assert len(re.findall(said, example.text)) == 1
    example.stop()
