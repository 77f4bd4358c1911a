# SPDX-License-Identifier: BSD-3-Clause
"""A second process looks at a running port: dpdk-proc-info."""

import re
import signal
from typing import Dict

import pytest

from octotest import env, hugepages, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View


@pytest.fixture
def primary(huge_dir):
    """A testpmd in hugepages that has carried some packets."""
    with Testpmd(vdevs.looped(), memory=None,
                 eal=["-m", "256", f"--huge-dir={huge_dir}",
                      *hugepages.SHARED]) as pmd:
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda:
                       pmd.stats(pmd.port())["RX-packets"] > 1000)
        pmd.stop_forwarding()
        yield pmd


def _proc_info(pmd, program, *args: str) -> str:
    process = Process([
        program("dpdk-proc-info"), "--no-pci",
        f"--file-prefix={pmd.file_prefix}", *env.plugin_args(), "--",
        *args])
    assert process.wait(60) == 0, process.text
    return process.text


def test_proc_info_stats(primary, program):
    """Basic statistics in the secondary are those of the primary."""
    view = View(primary)
    out = _proc_info(primary, program, f"-p{1 << view.port:#x}", "--stats")
    stats = view.stats()
    assert re.search(rf"RX-packets: {stats['RX-packets']}\b", out), out
    assert re.search(rf"TX-packets: {stats['TX-packets']}\b", out), out


def test_proc_info_xstats(primary, program):
    """So are all extended ones."""
    view = View(primary)
    out = _proc_info(primary, program, f"-p{1 << view.port:#x}", "--xstats")
    shown = {k: int(v) for k, v in
             re.findall(r"^(\S+): (\d+)$", out, re.MULTILINE)}
    xstats = view.xstats()
    assert xstats["rx_home_packets"] + xstats["rx_stray_packets"] > 0
    assert {k: shown.get(k) for k in xstats} == xstats


def test_primary_goes_on_after_a_secondary(primary, program):
    """The secondary's coming and going changes nothing."""
    view = View(primary)
    for _ in range(3):
        _proc_info(primary, program, f"-p{1 << view.port:#x}", "--stats")
    before = view.stats()["RX-packets"]
    primary.start("io", first=True)
    primary.wait_until("traffic", lambda:
                       view.stats()["RX-packets"] > before + 1000)
    primary.stop_forwarding()
    view.assert_lost_nothing()


def _start(huge_dir, args=(), like=None, **more) -> Testpmd:
    """A testpmd with ports of its own, or one that shares those of another."""
    eal = [f"--huge-dir={huge_dir}"]
    if like is None:
        eal += ["-m", "256", "--proc-type=primary", *hugepages.SHARED]
    else:
        eal += ["--proc-type=secondary"]
    number = 0 if like is None else 1
    return Testpmd(args, memory=None, eal=eal, mbufs=16384,
                   lcores=("0@0,1@0", "2@1,3@1")[number],
                   file_prefix=like and like.file_prefix,
                   app=["--num-procs=2", f"--proc-id={number}"], **more)


def _devices(pmd) -> Dict[str, str]:
    """What the process has, and what it says of the ports there."""
    blocks = pmd.cmd("show device info all").split("Infos for device ")[1:]
    return {block.split()[0]: block for block in blocks}


def _change(pmd, *lines: str) -> None:
    """It takes all of this, and complains of nothing."""
    out = pmd.cmds(lines)
    assert "EAL: " not in out and "ETHDEV: " not in out, out


@pytest.fixture
def looped_pair(huge_dir):
    """Two processes that have an octo port over two PFs."""
    with _start(huge_dir, vdevs.looped()) as one, \
            _start(huge_dir, like=one) as two:
        yield one, two


def test_probed_pfs_go_with_the_port(huge_dir):
    """A port is closed whose PFs it has probed: the secondary is asked to
    detach them, and does, before the close is done."""
    args = ["--vdev=net_octo0,pf=net_null0,pf=net_null1"]
    with _start(huge_dir, args) as one, \
            _start(huge_dir, like=one) as two:
        _change(one, "port stop 0", "port close 0")
        for pmd in (one, two):
            assert list(_devices(pmd)) == ["net_octo0"]


def test_port_closed_by_the_primary(looped_pair):
    """It is closed in the secondary, too, which uses nothing of it when a PF
    goes, and what there is of it when the primary makes the port anew."""
    one, two = looped_pair
    port = one.port()
    for _ in range(2):
        assert f"Port id: {port}" in _devices(two)["net_octo0"]
        _change(one, f"port stop {port}", f"port close {port}")
        assert "Port id" not in _devices(two)["net_octo0"]
        _change(one, "device detach net_octo0")
        assert "net_octo0" not in _devices(two)
        _change(one, "port attach " + vdevs.octo_devargs(
            0, vdevs.pf_names()))
    _change(one, f"port close {port}", "device detach net_mpsim1")
    assert list(_devices(two)) == ["net_mpsim0", "net_octo0"]


def test_the_secondary_is_told_who_can(huge_dir):
    """The commands of octo's testpmd that change a port name the process that can."""
    more = {"binary": str(env.find_built("octo-testpmd")), "plugins": False}
    with _start(huge_dir, vdevs.looped(), **more) as one, \
            _start(huge_dir, like=one, **more) as two:
        port = one.port()
        for command in (f"octo steer {port} tcp 10.0.0.1 1 10.0.0.2 2 queue 0",
                        f"octo unsteer {port} all", f"octo learn {port} on",
                        f"octo show learning {port}"):
            assert two.cmd(command).strip() == \
                f"octo: port {port}: only the primary process can do this"


@pytest.mark.parametrize("how", ["quit", "kill"])
def test_port_closed_after_the_secondary(looped_pair, how):
    """Nobody waits for the answer of a process that is not there any more."""
    one, two = looped_pair
    port = one.port()
    getattr(two, how)()
    _change(one, f"port stop {port}", f"port close {port}",
            "device detach net_mpsim1")
    assert "does not answer" not in one.text


def test_port_closed_while_the_secondary_stands_still(looped_pair):
    """The primary does not wait for ever, and the secondary finds nothing
    freed that it uses when it goes on."""
    one, two = looped_pair
    port = one.port()
    two.stand_still()
    assert "does not answer" in one.cmds([f"port stop {port}",
                                          f"port close {port}"])
    two.send_signal(signal.SIGCONT)
    one.expect("Drop mp reply: net_octo_let_go")
    assert "Port id" not in _devices(two)["net_octo0"]
    _change(one, "device detach net_mpsim1")


def test_primary_ends_before_the_secondary(looped_pair):
    """testpmd ends when its primary does, which asks for the port back."""
    one, two = looped_pair
    assert one.quit() == 0
    assert two.wait() == 0


def test_primary_killed_before_the_secondary(looped_pair):
    """Who is left has all of the port, and can end."""
    one, two = looped_pair
    one.kill()
    assert "Port id" in _devices(two)["net_octo0"]
    assert two.quit() == 0
