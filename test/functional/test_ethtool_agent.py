# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent asks the kernel for a process that must not: the kernel is the library of
test_ethtool.py, in the agent's process alone."""

import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import List

import pytest

from octotest import env, vdevs
from octotest.agent import Agent
from octotest.process import Process
from octotest.testpmd import Testpmd, wait_until
from octotest.veth import Wire
from test_ethtool import (DEFAULT_RETA, DELETE, INSERT, OURS, SET_RSS, TABLE, Kernel,
                          as_the_kernel_reads, our_line, random_rule)

NOBODY = 65534

pytestmark = pytest.mark.skipif(bool(env.IN_TREE), reason="the agent is built here alone")


@pytest.fixture
def kernel(tmp_path, program) -> Kernel:
    """In place of the one that the machine has."""
    return Kernel(tmp_path, program("cc"))


@pytest.fixture
def place():
    """A directory that other users can reach."""
    path = Path(tempfile.mkdtemp(prefix="octo-ethtool-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def begin(kernel: Kernel, place: Path, netdev: str = "lo", options=()) -> Agent:
    """The agent, which has this kernel."""
    settings = [f"{name}={value}" for name, value in kernel.settings().items()]
    return Agent([], [], ["--ethtool", netdev, "--listen", f"unix:{place}/sock", *options],
                 prefix=["env", *settings])


class Client(Process):
    """octo-test-ethtool, which has no kernel but the agent's."""

    def __init__(self, place: Path, prefix=()) -> None:
        super().__init__([OURS, "lo", f"unix:{place}/sock"], prefix=prefix)
        self.expect(r"rules -?\d+, reta -?\d+\n")

    def tell(self, line: str) -> str:
        """Its answer to a line."""
        start = len(self.text)
        self.send(line)
        # the terminal repeats the line
        return self.expect(r"\n(?:location \d+ )?(-?\d+)\n", start).group(1)


def rules(requests: List[bytes]) -> List[bytes]:
    """Of all requests those that have to do with rules."""
    return [request for request in requests
            if struct.unpack_from("I", request)[0] in (INSERT, DELETE)]


def retas(requests: List[bytes]) -> List[bytes]:
    """Of all requests those that have to do with the RETA."""
    return [request for request in requests if struct.unpack_from("I", request)[0] == SET_RSS]


def await_rules(kernel: Kernel, want: List[bytes]) -> None:
    """Wait until the kernel was asked for these."""
    seen: List[bytes] = []

    def is_done() -> bool:
        seen.extend(as_the_kernel_reads(request) for request in rules(kernel.requests()))
        return len(seen) >= len(want)
    wait_until("requests", is_done)
    assert seen == want


def test_the_kernel_is_asked_as_without_an_agent(kernel, place):
    """Byte by byte: rules, locations, a RETA, and all that is taken back in the end."""
    lines = "".join(our_line(random_rule(random.Random(i))) for i in range(200))
    lines += "del 5\ndel 199\nreta " + " ".join(str(i % 3) for i in range(128)) + "\n"
    kernel.run(str(OURS), "lo", text=lines)
    own = kernel.requests()
    with begin(kernel, place):
        done = subprocess.run([str(OURS), "lo", f"unix:{place}/sock"], input=lines,
                              stdout=subprocess.PIPE, universal_newlines=True, check=True)
        assert "-" not in done.stdout
        assert done.stdout.startswith("rules 0, reta 0\n")
    asked = kernel.requests()
    assert sorted(map(as_the_kernel_reads, rules(asked))) == \
        sorted(map(as_the_kernel_reads, rules(own)))
    assert [as_the_kernel_reads(rule) for rule in rules(asked)[:202]] == \
        [as_the_kernel_reads(rule) for rule in rules(own)[:202]]
    # the first ones find out whether it is allowed
    assert set(retas(asked)) == set(retas(own))
    assert retas(asked)[-1] == retas(own)[-1]


def test_a_killed_client_leaves_nothing(kernel, place):
    """The agent notices, and serves the next one."""
    rule = random_rule(random.Random(1))
    with begin(kernel, place) as agent:
        client = Client(place)
        assert client.tell(our_line(rule).strip()) == "0"
        assert client.tell("reta" + " 7" * 128) == "0"
        added, = rules(kernel.requests())
        client.stop(signal.SIGKILL)
        agent.expect(r"lo: the port has gone, and its rules with it")
        asked = kernel.requests()
        assert as_the_kernel_reads(rules(asked)[0]) == struct.pack("II", DELETE, TABLE - 1)
        assert retas(asked)[-1] == DEFAULT_RETA
        client = Client(place)
        assert client.tell(our_line(rule).strip()) == "0"
        assert as_the_kernel_reads(rules(kernel.requests())[0]) == as_the_kernel_reads(added)
        client.kill()


@pytest.mark.skipif(not env.IS_ROOT, reason="another user is needed")
def test_users_of_the_group_may_connect(kernel, place, program):
    """Others may not; neither has any capability."""
    group = next(line.split(":")[0] for line in Path("/etc/group").read_text().splitlines()
                 if line.split(":")[2] == str(NOBODY))
    someone = [program("setpriv"), f"--reuid={NOBODY}", "--clear-groups",
               "--bounding-set=-all", "--inh-caps=-all"]
    here = place / "octo-test-ethtool"
    shutil.copy(OURS, here)
    line = our_line(random_rule(random.Random(1)))

    def ask(*words: str) -> str:
        return subprocess.run([*someone, *words, str(here), "lo", f"unix:{place}/sock"],
                              input=line, stdout=subprocess.PIPE, universal_newlines=True,
                              check=True).stdout
    with begin(kernel, place):
        assert ask(f"--regid={NOBODY}").startswith("rules 107, reta 107\n-107\n")
    with begin(kernel, place, options=["--group", group]) as agent:
        assert ask(f"--regid={NOBODY}") == f"rules 0, reta 0\nlocation {TABLE - 1} 0\n"
        agent.expect(rf"lo: process \d+ of user {NOBODY} is served")
        assert ask("--regid=12345").startswith("rules 107, reta 107\n-107\n")


def test_a_flood_keeps_nobody_waiting(kernel, place):
    """Noise, half messages and connections without a word."""
    with begin(kernel, place) as agent:
        noise = []
        for i in range(300):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            one.connect(f"{place}/sock")  # waits while there are too many
            if i % 3 > 0:
                one.send(os.urandom(1 + 97 * i))
            noise.append(one)
            if len(noise) > 40:
                noise.pop(0).close()
        client = Client(place)
        assert "rules 0, reta 0" in client.text
        assert client.tell(our_line(random_rule(random.Random(1))).strip()) == "0"
        client.kill()
        for one in noise:
            one.close()
        assert agent.alive()
        assert len(rules(kernel.requests())) >= 1


def test_a_port_of_net_af_xdp_is_steered(kernel, place):
    """The port's own process changes nothing, and its rule comes back with the agent. Its library
    tells net_af_xdp of more channels than a veth device has."""
    own = place / "requests"
    prefix = ["env", f"LD_PRELOAD={kernel.settings()['LD_PRELOAD']}", f"OCTO_SHIM_RECORD={own}"]
    with Wire(queues=4) as wire, begin(kernel, place, wire.name) as agent, \
            Testpmd([vdevs.mpsim(0, "A", wire="loop")], queues=1, prefix=prefix,
                    app=["--rss-udp"]) as pmd:
        pmd.cmd(f"port attach net_af_xdp0,iface={wire.name},start_queue=1,queue_count=2")
        if "net_af_xdp0" not in [p.name for p in pmd.ports()]:
            pytest.skip("this DPDK, or this kernel, has no AF_XDP")
        pmd.cmd("port attach net_octo0,pf=net_af_xdp0[0::2]@0,pf=net_af_xdp0[1::2]@1,"
                f"ethtool=unix:{place}/sock")
        octo = pmd.port("net_octo0")
        pmd.cmd(f"port start {octo}")
        said = pmd.cmd(f"flow create {octo} ingress pattern eth / ipv4 src is 10.0.0.1 "
                       "dst is 10.0.0.2 / udp src is 7 dst is 9 / end "
                       "actions queue index 0 / end")
        assert "created" in said, said
        asked = kernel.requests()
        assert set(struct.unpack("128I", retas(asked)[-1][24:])) == {1}
        rule = as_the_kernel_reads(rules(asked)[0])
        assert struct.unpack_from("QI", rule, 156) == (1, TABLE - 1)
        agent.quit()
        await_rules(kernel, [struct.pack("II", DELETE, TABLE - 1)])
        pmd.wait_until("it is noticed", lambda: re.search("agent .* is away: it closed",
                                                          pmd.text) or pmd.cmd(""))
        said = pmd.cmd(f"flow create {octo} ingress pattern eth / ipv4 src is 10.0.0.1 "
                       "dst is 10.0.0.2 / udp src is 8 dst is 9 / end "
                       "actions queue index 0 / end")
        assert "octo-agent, which ethtool= names, is away" in said, said
        with begin(kernel, place, wire.name):
            await_rules(kernel, [rule])
            pmd.cmd(f"port stop {octo}")
            pmd.cmd(f"port close {octo}")
            await_rules(kernel, [struct.pack("II", DELETE, TABLE - 1)])
    assert not own.exists()
