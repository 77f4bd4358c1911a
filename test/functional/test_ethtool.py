# SPDX-License-Identifier: BSD-3-Clause
"""What net_octo asks of the kernel is, byte by byte, what ethtool(8) asks for.

Both run with a library that answers SIOCETHTOOL in the kernel's place, and writes down the requests
that change something. A kernel reads all of a request of RSS, of a new rule all but `data` and
`rule_cnt`, and of a rule that is to go the location: ethtool(8) leaves the rest as it was in its
memory.
"""

import ipaddress
import os
import random
import struct
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest

from octotest import env, vdevs
from octotest.testpmd import Testpmd
from octotest.veth import Wire

SHIM = env.REPO / "test" / "process" / "ethtool_shim.c"
OURS = env.test_program("octo-test-ethtool")
INSERT, DELETE, SET_RSS = 0x32, 0x31, 0x47
NB_RULES = 1000
NB_RETAS = 100
TABLE = 1024
SPEC = slice(16, 184)
LOCATION = slice(176, 180)
DEFAULT_RETA = struct.pack("I20x", SET_RSS)


class Kernel:
    """The library, and what it has recorded."""

    def __init__(self, path: Path, compiler: str) -> None:
        self.library = path / "shim.so"
        self.record = path / "requests"
        self._read = 0  # bytes of it; requests may be added meanwhile
        subprocess.run([compiler, "-D_GNU_SOURCE", "-Wall", "-shared", "-fPIC", "-o",
                        str(self.library), str(SHIM), "-ldl"], check=True)

    def settings(self) -> Dict[str, str]:
        """Of the environment of a program that is to have it."""
        # the sanitizer's library has to be the first one
        libraries = filter(None, (env.ASAN_RUNTIME, str(self.library)))
        return {"LD_PRELOAD": " ".join(libraries), "OCTO_SHIM_RECORD": str(self.record)}

    def run(self, *command: str, text: str = "", **settings: int) -> str:
        """Run a program with the library; settings are OCTO_SHIM_..."""
        # ethtool(8) is not ours, and runs without the sanitizer's library
        environ = {**os.environ, **self.settings(), "LD_PRELOAD": str(self.library)}
        environ["ASAN_OPTIONS"] = environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        for name, value in settings.items():
            environ[f"OCTO_SHIM_{name.upper()}"] = str(value)
        done = subprocess.run(command, input=text, env=environ, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def requests(self) -> List[bytes]:
        """Those since the last call."""
        text = self.record.read_bytes() if self.record.exists() else b""
        whole = text[self._read:text.rfind(b"\n") + 1]
        self._read += len(whole)
        return [bytes.fromhex(line) for line in whole.decode().split()]


@pytest.fixture
def kernel(tmp_path, program) -> Kernel:
    """In place of the one that the machine has."""
    if env.IN_TREE:
        pytest.skip("the program that speaks for net_octo is built here alone")
    return Kernel(tmp_path, program("cc"))


@pytest.fixture
def ethtool(program) -> str:
    """The program."""
    return program("ethtool")


def as_the_kernel_reads(request: bytes) -> bytes:
    """Without what it does not look at."""
    command = struct.unpack_from("I", request)[0]
    if command == INSERT:
        # its own flow_type, in front of the rule, is for hashing: ethtool(8) leaves it as it finds it
        return request[:4] + request[SPEC]
    if command == DELETE:
        return request[:4] + request[LOCATION]
    assert command == SET_RSS
    return request


def compare(ours: List[bytes], theirs: List[bytes]) -> None:
    """All requests are the same, in the same order."""
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        assert as_the_kernel_reads(one).hex() == as_the_kernel_reads(other).hex()


def random_rule(rng: random.Random) -> Dict[str, object]:
    """Any 5-tuple and queue."""
    version, bits = rng.choice([(4, 32), (6, 128)])
    make = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
    return {"proto": rng.choice(["tcp", "udp"]), "version": version,
            "src": make(rng.getrandbits(bits)), "dst": make(rng.getrandbits(bits)),
            "sport": rng.randrange(65536), "dport": rng.randrange(65536),
            "queue": rng.randrange(64)}


def our_line(rule: Dict[str, object]) -> str:
    """For octo-test-ethtool."""
    return "add {proto} {src} {sport} {dst} {dport} {queue}\n".format(**rule)


def their_words(rule: Dict[str, object]) -> List[str]:
    """For ethtool(8)."""
    return ("flow-type {proto}{version} src-ip {src} dst-ip {dst} src-port {sport} "
            "dst-port {dport} action {queue}".format(**rule).split())


def test_rules_are_those_of_ethtool(kernel, ethtool):
    """1,000 random ones, at the locations that ethtool(8) chooses, and their removal."""
    rules = [random_rule(random.Random(i)) for i in range(NB_RULES)]
    kernel.run(str(OURS), "lo", text="".join(map(our_line, rules)))
    ours = kernel.requests()
    assert ours[0] == DEFAULT_RETA  # is it allowed?
    for taken, rule in enumerate(rules):
        kernel.run(ethtool, "-N", "lo", *their_words(rule), taken=taken)
    for i in range(NB_RULES):
        kernel.run(ethtool, "-N", "lo", "delete", str(TABLE - 1 - i))
    compare(ours[1:], kernel.requests())


def test_a_location_is_named_as_ethtool_names_it(kernel, ethtool):
    """One that was left in between is taken again."""
    rules = [random_rule(random.Random(i)) for i in range(4)]
    lines = "".join(map(our_line, rules[:3])) + "del 1\n" + our_line(rules[3])
    kernel.run(str(OURS), "lo", text=lines)
    again = kernel.requests()[5]
    kernel.run(ethtool, "-N", "lo", *their_words(rules[3]), "loc", str(TABLE - 2))
    compare([again], kernel.requests())


def test_drivers_that_choose_locations_are_left_the_choice(kernel, ethtool):
    """As ethtool(8) does."""
    rules = [random_rule(random.Random(i)) for i in range(20)]
    kernel.run(str(OURS), "lo", text="".join(map(our_line, rules)), special=1)
    ours = kernel.requests()
    for rule in rules:
        kernel.run(ethtool, "-N", "lo", *their_words(rule), special=1)
    for i in range(20):
        kernel.run(ethtool, "-N", "lo", "delete", str(i))
    compare(ours[1:], kernel.requests())


def weighted(size: int, weights: List[int]) -> List[int]:
    """The RETA of `ethtool -X IFACE weight ...`."""
    reta, channel, done = [], 0, weights[0]
    for i in range(size):
        while i >= size * done // sum(weights):
            channel += 1
            done += weights[channel]
        reta.append(channel)
    return reta


def random_reta(rng: random.Random, size: int):
    """Its channels, and the words that ask ethtool(8) for it."""
    if rng.random() < 0.3:
        channels = rng.randint(1, 64)
        return [i % channels for i in range(size)], ["equal", str(channels)]
    # together at most as many as there are entries
    weights = [rng.randrange(9) for _ in range(rng.randrange(min(63, size // 8)))] + [1]
    return weighted(size, weights), ["weight", *map(str, weights)]


def test_retas_are_those_of_ethtool(kernel, ethtool):
    """100 random ones, of three sizes."""
    rng = random.Random(1)
    for size, number in ((128, 60), (64, 20), (2048, 20)):
        retas = [random_reta(rng, size) for _ in range(number)]
        lines = ["reta " + " ".join(map(str, reta)) + "\n" for reta, _ in retas]
        said = kernel.run(str(OURS), "lo", text="".join(lines), reta=size)
        assert said.split("\n")[1:-1] == ["0"] * number
        ours = kernel.requests()
        for _, words in retas:
            kernel.run(ethtool, "-X", "lo", *words, reta=size)
        compare(ours[1:number + 1], kernel.requests())


def test_the_default_reta_is_that_of_ethtool(kernel, ethtool):
    """A RETA that is the kernel's own stays so: the same one by its entries would be a user's."""
    kernel.run(str(OURS), "lo", text="reta" + " 7" * 128 + "\n")
    tried, _, given_back = kernel.requests()
    kernel.run(ethtool, "-X", "lo", "default")
    default, = kernel.requests()
    assert default == DEFAULT_RETA
    compare([tried, given_back], [default, default])


def test_sctp_is_not_sent(kernel):
    """It is refused before the kernel is asked."""
    said = kernel.run(str(OURS), "lo", text="add sctp 10.0.0.1 1 10.0.0.2 2 3\n")
    assert said.split("\n")[1] == "-95"
    assert len(kernel.requests()) == 1


def test_a_port_of_net_af_xdp_is_steered(kernel):
    """The real driver, on a netdev whose second and third channel it has: rules and RETA name
    channels, and go with the port."""
    prefix = ["env", *(f"{name}={value}" for name, value in kernel.settings().items())]
    with Wire(queues=4) as wire, \
            Testpmd([vdevs.mpsim(0, "A", wire="loop")], queues=1, prefix=prefix,
                    app=["--rss-udp"]) as pmd:
        pmd.cmd(f"port attach net_af_xdp0,iface={wire.name},start_queue=1,queue_count=2")
        if "net_af_xdp0" not in [p.name for p in pmd.ports()]:
            pytest.skip("this DPDK, or this kernel, has no AF_XDP")
        pmd.cmd("port attach net_octo0,pf=net_af_xdp0[0::2]@0,pf=net_af_xdp0[1::2]@1")
        octo = pmd.port("net_octo0")
        pmd.cmd(f"port start {octo}")
        said = pmd.cmd(f"flow create {octo} ingress pattern eth / ipv4 src is 10.0.0.1 "
                       "dst is 10.0.0.2 / udp src is 7 dst is 9 / end "
                       "actions queue index 0 / end")
        assert "created" in said, said
        *retas, rule = kernel.requests()
        assert retas[0] == DEFAULT_RETA
        assert set(struct.unpack("128I", retas[-1][24:])) == {1}
        assert struct.unpack_from("I", rule)[0] == INSERT
        assert struct.unpack_from("QI", rule, 168) == (1, TABLE - 1)
        pmd.cmd(f"port stop {octo}")
        pmd.cmd(f"port close {octo}")
        gone, given_back = kernel.requests()
        assert as_the_kernel_reads(gone) == struct.pack("II", DELETE, TABLE - 1)
        assert given_back == DEFAULT_RETA
