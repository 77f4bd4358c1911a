# SPDX-License-Identifier: BSD-3-Clause
"""Devices of octo that no argument of the application names, but OCTO_VDEVS."""

import os
import re
from typing import Dict, Iterable, List

import pytest

from octotest import env, hugepages, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View

NAME = "OCTO_VDEVS"
ONE = vdevs.octo_devargs(0, vdevs.pf_names(0))
TWO = vdevs.octo_devargs(1, vdevs.pf_names(2))


def entries(options: Iterable[str]) -> List[str]:
    """As the variable takes them."""
    return [option.partition("=")[2] for option in options]


NIC_A = vdevs.nic("A", 0, 2, "loop")
NIC_B = vdevs.nic("B", 2, 2, "loop")
ALL = " ".join([ONE, *entries(NIC_A)])


def started(value: str, args: Iterable[str] = (), before: Iterable[str] = (), **more) -> Testpmd:
    """testpmd with such a variable."""
    return Testpmd(args, prefix=[*before, "env", f"{NAME}={value}"], **more)


def numbers(pmd: Testpmd) -> Dict[str, int]:
    """Of the ports that the application may use."""
    return {row.name: row.port for row in pmd.ports()}


def said(text: str) -> List[str]:
    """Lines that name the variable."""
    return [line for line in text.splitlines() if NAME in line]


def test_a_port_without_argument():
    """It is port 0 and forwards, as one of --vdev."""
    with started(ALL) as pmd:
        view = View(pmd)
        assert view.port == 0
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
        pmd.stop_forwarding()
        view.assert_lost_nothing()
        assert said(pmd.boot_text) == [f"OCTO: {NAME}: devices as of --vdev: 3"]


@pytest.mark.parametrize("gap", [" ", ";", " ;\t\n; "])
def test_all_devices_without_argument(gap):
    """Octo ports and simulated PFs, numbered as those of --vdev."""
    value = gap + gap.join([ONE, TWO, *entries(NIC_A), *entries(NIC_B)]) + gap
    with started(value) as pmd:
        assert [pmd.telemetry.get("/ethdev/info", i)["name"] for i in range(6)] == \
            ["net_octo0", "net_octo1", *vdevs.pf_names(0, 4)]


def test_those_of_the_command_line_go_first():
    """Their numbers are those that they have without the variable, but for PFs of octo's."""
    with started(ALL, ["--vdev=" + TWO, "--vdev=net_null0"]) as pmd:
        assert numbers(pmd) == {"net_null0": 1, "net_octo0": 2}
    with started(" ".join([ALL, *entries(NIC_B)]), ["--vdev=" + TWO, "--vdev=net_null0"]) as pmd:
        assert numbers(pmd) == {"net_octo1": 0, "net_null0": 1, "net_octo0": 2}


def test_a_port_that_is_removed_stays_away():
    """Buses look for devices again at each hotplug, and the variable is still there."""
    with started(ALL) as pmd:
        pmd.cmds(["port stop 0", "port close 0", "device detach net_octo0"])
        assert "net_octo0" not in numbers(pmd)
        assert "is attached" in pmd.cmd("port attach net_null0")
        assert "net_octo0" not in numbers(pmd)
        # as one of --vdev
        assert "is attached" in pmd.cmd(f"port attach {ONE}")


LONG = "net_octo" + "0" * 56  # a character more than EAL takes
EXPECTED = "a device whose name begins with net_octo is expected, as in net_octo0,pf=0000:17:00.0," \
    "pf=0000:65:00.0"


@pytest.mark.parametrize("value, why", [
    ("net_null1", f'"net_null1": {EXPECTED}'),
    (f"{ONE} net_null1,size=64", f'"net_null1": {EXPECTED}'),
    (f"--vdev={ONE}", f'"--vdev=net_octo0": {EXPECTED}'),
    (f"{ONE} ,learn=off", f'"": {EXPECTED}'),
    (f"{LONG},pf=net_null1", f'"{LONG}": a name of less than 64 characters is expected'),
    (f"{TWO};{ONE};{TWO}", '"net_octo1": each name is expected once'),
    (f"{ONE} net_octo2,pf=net_null1", '"net_octo2": the command line has a device of that name'),
    (" ".join(f"net_octo{i}" for i in range(10, 43)), "at most 32 devices are expected"),
    (ONE + "," + 16384 * "x", "at most 16384 characters are expected"),
], ids=range(9))
def test_a_wrong_entry(value, why):
    """One line names the variable and the culprit; nothing of it is used, and the rest works."""
    args = [*NIC_A, "--vdev=net_octo2,pf=net_mpsim0,pf=net_mpsim1"]
    with started(value, args) as pmd:
        assert said(pmd.boot_text) == [f"OCTO: {NAME}: {why}; none of it is used"]
        assert list(numbers(pmd)) == ["net_octo2"]


@pytest.mark.parametrize("value", ["", " ;; \t"])
def test_nothing(value):
    """Is no mistake."""
    with started(value, ["--vdev=net_null0"]) as pmd:
        assert said(pmd.boot_text) == []
        assert list(numbers(pmd)) == ["net_null0"]


def test_devargs_are_read_as_of_vdev():
    """What is wrong with them is said by the port, and the others are there."""
    with started(f"net_octo1,pf=net_mpsim0,speed=3 {ONE}", NIC_A) as pmd:
        assert list(numbers(pmd)) == ["net_octo0"]
        assert len(re.findall("net_octo1: .*speed", pmd.boot_text)) == 1


def test_programs_with_more_rights_than_their_user(root, program):
    """A user does not give devices to those, set-uid ones for instance."""
    if env.ASAN or "LD_LIBRARY_PATH" in os.environ:
        pytest.skip("such a program has libraries from the system's directories only")
    # the kernel treats a program alike whose user is another than the one it runs as
    with started(ONE, ["--vdev=net_null0", *NIC_A],
                 [program("setpriv"), "--ruid=65534"]) as pmd:
        assert said(pmd.boot_text) == []
        assert "net_octo0" not in numbers(pmd)


@pytest.mark.parametrize("value", [ONE, "net_octo7,pf=net_null7", "wrong"])
def test_a_secondary_has_the_ports_of_its_primary(huge_dir, program, value):
    """It gets them from the primary, whatever the variable says there."""
    eal = ["-m", "256", f"--huge-dir={huge_dir}", *hugepages.SHARED]
    with started(ALL, memory=None, eal=eal) as pmd:
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda: pmd.stats(0)["RX-packets"] > 1000)
        pmd.stop_forwarding()
        info = Process([program("dpdk-proc-info"), "--no-pci", f"--file-prefix={pmd.file_prefix}",
                        *env.plugin_args(), "--", "-p1", "--stats"], environ={NAME: value})
        assert info.wait(60) == 0, info.text
        assert said(info.text) == []
        assert re.search(rf"RX-packets: {pmd.stats(0)['RX-packets']}\b", info.text)
        assert list(numbers(pmd)) == ["net_octo0"]
