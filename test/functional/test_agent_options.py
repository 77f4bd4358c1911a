# SPDX-License-Identifier: BSD-3-Clause
"""octo-agent's command line: each fault is one clear error, and nothing is left."""

import re
import socket

import pytest

from octotest import agentnic, captured, vdevs
from octotest.agent import Agent

NIC = vdevs.nic("A", 0, 2, "loop")
FAILED, WRONG_USE = 1, 2
LONG = "/tmp/" + "x" * 103


def _errors(firmware: Agent, status=(FAILED, WRONG_USE)) -> list:
    """How it ended; what it complained of."""
    assert firmware.wait() in status, firmware.text
    return re.findall(r"^octo-agent: (.*)$", firmware.text, re.MULTILINE)


def _one_error(pfs, options=(), nic=None, status=(FAILED, WRONG_USE), **more) -> str:
    firmware = Agent(NIC if nic is None else nic, pfs, options, wait=False,
                     **more)
    errors = _errors(firmware, status)
    assert len(errors) == 1, firmware.text
    return errors[0]


PF_FAULTS = {
    "": r"--pf : ETHDEV,vhost=SOCKET is needed",
    "net_mpsim0": r"--pf net_mpsim0: vhost=SOCKET is needed",
    "net_mpsim0,vhost=": r"vhost=: a path of 1 to 107 bytes",
    f"net_mpsim0,vhost={LONG}": r"a path of 1 to 107 bytes",
    "net_mpsim0,vhost=S,vhost=S": r"vhost= is given twice",
    "net_mpsim0,vhost=S,speed=9": r"'speed' is not known: vhost=, mode=",
    "net_mpsim0,vhost=S,queues=0": r"queues=0: a number from 1 to 64",
    "net_mpsim0,vhost=S,queues=65": r"queues=65: a number from 1 to 64",
    "net_mpsim0,vhost=S,queues=2x": r"queues=2x: a number from 1 to 64",
    "net_mpsim0,vhost=S,queues": r"queues=: a number from 1 to 64",
    "net_mpsim0,vhost=S,node=-1": r"node=-1: a number from 0 to 63",
    "net_mpsim0,vhost=S,node=64": r"node=64: a number from 0 to 63",
    "net_mpsim0,vhost=S,mode=both": r"mode=both: server or client",
    "net_mpsim0,vhost=S,rep=": r"rep=: the name of an ethdev",
    "pf0,vf=": r"--pf pf0: vf=: the address of a VF, as 0000:16:00.2, or of a PF and",
    "pf0,vf=eth4": r"vf=eth4: the address of a VF",
    "pf0,vf=0000:16:00.2/x": r"vf=0000:16:00.2/x: the address of a VF",
    "pf0,vf=0000:16:00.2,rep=x": r"rep= and vf= are given: one of them is enough",
    "pf0,vf=0000:16:00.2": r"--pf pf0: vf=0000:16:00.2: --uplink is needed with it",
    "net_mpsim9,vhost=S": r"--pf net_mpsim9: there is no such ethdev",
    "net_mpsim0,vhost=S,queues=17": r"does not start with 17 queues",
    "net_mpsim0,vhost=/nowhere/S": r"vhost=/nowhere/S cannot be used: No ",
}


@pytest.mark.many(asan=6)
@pytest.mark.parametrize("value", PF_FAULTS)
def test_pf_fault(tmp_path, value):
    """The error names the PF, the key and what would be right."""
    path = tmp_path / "pf.sock"
    error = _one_error([value.replace("=S", f"={path}")])
    assert re.search(PF_FAULTS[value], error), error
    assert not path.exists()


VF0, VF1 = agentnic.VFS
PF0 = "sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0"
PF1 = "sys/devices/pci0000:98/0000:98:01.0/0000:99:00.0"

# VFs, the machine, files of it that are changed, the PF that is named, the error
VF_FAULTS = {
    "no device": ("0000:16:00.5", VF1, "switchdev-shared", {}, "pf0",
                  r"vf=0000:16:00.5: there is no PCI device 0000:16:00.5$"),
    "no PF": ("0000:17:00.0/0", VF1, "switchdev-shared", {}, "pf0",
              r"vf=0000:17:00.0/0: there is no PCI device 0000:17:00.0$"),
    "a PF": ("0000:16:00.0", VF1, "switchdev-shared", {}, "pf0",
             r"vf=0000:16:00.0: it is no VF: the address of one is needed, or PF/NUMBER$"),
    "no such number": (VF0, "0000:99:00.0/1", "switchdev-shared", {}, "pf1",
                       r"vf=0000:99:00.0/1: 0000:99:00.0 has no VF 1$"),
    "twice": (VF0, "0000:16:00.0/0", "switchdev-shared", {}, "pf1",
              r"vf=0000:16:00.0/0: it is the VF of pf0: each PF needs its own$"),
    "legacy mode": (VF0, VF1, "switchdev-shared", {f"{PF1}/net/eth5/phys_port_name": ""}, "pf1",
                    r"0000:99:00.0 is not in switchdev mode.*devlink dev eswitch set pci/0000:99:"),
    "another FDB": (VF0, VF1, "switchdev", {}, "pf1",
                    r"vf=0000:99:00.2: the PFs do not share an FDB: eth4 \(0000:16:00.0\) has "
                    r"switch id f6edd50003c0639c, and eth5 \(0000:99:00.0\) has f7edd50003c0639c$"),
    "collision": (VF0, VF1, "switchdev-shared",
                  {f"{PF1}/net/eth6/phys_port_name": "pf0vf0",
                   f"{PF1}/net/eth6/phys_switch_id": "f6edd50003c0639c"}, "pf1",
                  r"VF 0 of 0000:99:00.0 has two representors, eth[56] \(pf0vf0\) and eth[56] "
                  r"\(pf0vf0\): give the right one by rep=ETHDEV$"),
    "no ethdev": (VF0, VF1, "switchdev-shared",
                  {f"{PF1}/net/eth5/ifindex": "1", f"{PF1}/net/eth5/phys_port_name": "pf1vf0"},
                  "pf1", r"its representor eth5 \(pf1vf0\) is no ethdev: representor= of EAL's -a"),
    "one ethdev of two": (VF0, VF1, "switchdev-shared", {f"{PF1}/net/eth5/ifindex": "50"}, "pf1",
                          r"its representor eth5 is no ethdev: eth4 of 0000:16:00.0 is one, and is "
                          r"called pf0vf0 as well: use VFs of different numbers$"),
    "odd switch id": (VF0, VF1, "switchdev-shared",
                      {f"{PF1}/net/eth5/phys_switch_id": "\x1b[2J"}, "pf1",
                      r"0000:99:00.0 is not in switchdev mode"),
    "odd names": (VF0, VF1, "switchdev-shared",
                  {f"{PF1}/net/e\x1b[2J/phys_port_name": "pf0vf0",
                   f"{PF1}/net/e\x1b[2J/phys_switch_id": "f6edd50003c0639c",
                   f"{PF1}/net/eth5/ifindex": "50"}, "pf1", r"its representor eth5 is no ethdev"),
    "no index": (VF0, VF1, "switchdev-shared", {f"{PF1}/net/eth5/ifindex": "x"}, "pf1",
                 r"its representor eth5 is no ethdev"),
}


def _vf_options(machine) -> list:
    return ["--uplink=net_mpsim2", f"--root={machine}", "--listen=unix:/nowhere/agent.sock"]


@pytest.mark.many(asan=4)
@pytest.mark.parametrize("what", VF_FAULTS)
def test_vf_fault(tmp_path, what):
    """The error names the PF, the VF and what would be right."""
    first, second, name, files, blamed, words = VF_FAULTS[what]
    machine = captured.make(name, tmp_path / "machine")
    for path, text in files.items():
        machine.write(path, text)
    error = _one_error([f"pf0,vf={first}", f"pf1,vf={second}"], _vf_options(machine.root),
                       [*NIC, *agentnic.representors()], [WRONG_USE if what == "twice" else FAILED])
    assert error.startswith(f"--pf {blamed}: "), error
    assert re.search(words, error), error


@pytest.mark.parametrize("pf, options, status", [
    ("net_mpsim0,vhost=S", ["--nonsense"], WRONG_USE), ("net_mpsim0", [], WRONG_USE),
    ("net_mpsim0,vhost=S", ["extra"], WRONG_USE), ("net_mpsim9,vhost=S", [], FAILED),
])
def test_status(tmp_path, pf, options, status):
    """That the options are wrong is told from what goes wrong later."""
    pfs = [pf.replace("=S", f"={tmp_path / 'pf.sock'}")]
    firmware = Agent(NIC, pfs, options, wait=False)
    assert firmware.wait() == status, firmware.text


@pytest.mark.parametrize("name", ["switchdev-shared", "mpesw"])
def test_vfs_of_one_fdb(tmp_path, name):
    """By one switch id, or by a multiport E-Switch: only the address to listen at is wrong."""
    machine = captured.make(name, tmp_path / "machine")
    error = _one_error([f"pf0,vf={VF0}", "pf1,vf=0000:99:00.0/0"], _vf_options(machine.root),
                       [*NIC, *agentnic.representors()])
    assert error.startswith("--listen unix:/nowhere/agent.sock: "), error


def test_odd_links(tmp_path):
    """What is no PCI address is neither followed nor printed."""
    machine = captured.make("switchdev-shared", tmp_path / "machine")
    link = machine.root / PF1.replace("99:00.0", "99:00.2") / "physfn"
    link.unlink()
    link.symlink_to("../\x1b[2J")
    error = _one_error([f"pf0,vf={VF0}", f"pf1,vf={VF1}"], _vf_options(machine.root),
                       [*NIC, *agentnic.representors()])
    assert error == f"--pf pf1: vf={VF1}: it is no VF: the address of one is needed, or PF/NUMBER"


def test_representor_of_another_switch():
    """EAL's ports tell the switch as well."""
    error = _one_error(["pf0,rep=net_mpsim3", "pf1,rep=net_mpsim8"],
                       ["--uplink=net_mpsim2", "--listen=unix:/nowhere/s"],
                       [*NIC, *agentnic.representors(), *vdevs.nic("B", 5, 1),
                        *agentnic.representors("B", 7)[:-1]])
    assert error == ("--pf pf1: its representor net_mpsim8 is no port of the switch of --uplink "
                     "net_mpsim2: the PFs do not share an FDB")


@pytest.mark.parametrize("reps, says", [
    (("net_mpsim3", "net_mpsim3"), "--pf pf1: its representor net_mpsim3 is that of --pf pf0"),
    (("net_mpsim2", "net_mpsim3"), "--pf pf0: its representor net_mpsim2 is that of --uplink"),
])
def test_representor_of_another(reps, says):
    """Each PF, and the wire, has one of its own."""
    error = _one_error([f"pf{i},rep={rep}" for i, rep in enumerate(reps)],
                       ["--uplink=net_mpsim2", "--listen=unix:/nowhere/s"],
                       [*NIC, *agentnic.representors()], [WRONG_USE])
    assert error == f"{says}: each needs its own"


FAULTS = {
    "--memory 0": r"--memory 0: NODE=FILE is needed, with NODE from 0 to 63",
    "--memory 0=": r"--memory 0=: NODE=FILE is needed",
    "--memory 64=/f": r"--memory 64=/f: NODE=FILE is needed",
    "--memory x=/f": r"--memory x=/f: NODE=FILE is needed",
    "please": r"'please' is not an option",
    "--allow-remote": r"--allow-remote: --listen is needed with it",
    "--secret /s": r"--secret: --listen is needed with it",
    "--no-secret": r"--no-secret: --listen is needed with it",
    "--listen dev:/etc/passwd": r"^--listen dev:/etc/passwd: it is not a character device$",
    "--listen dev:/nowhere": r"^--listen dev:/nowhere: No such file or directory$",
    "--listen unix:/nowhere/1 --listen unix:/nowhere/2":
        r"--listen unix:/nowhere/2: it is given twice: once is enough",
    "--listen unix:/s --secret /s --secret /t": r"--secret /t: it is given twice",
    "--uplink a --uplink b": r"--uplink b: it is given twice",
    "--root /r --root /t": r"--root /t: it is given twice",
    "--ethtool lo --ethtool eth0": r"--ethtool eth0: it is given twice",
    "--ethtool lo --group root --group adm": r"--group adm: it is given twice",
    "--listen unix:/s --secret /s --no-secret": r"--no-secret: --secret is given as well",
}


@pytest.mark.parametrize("words", FAULTS)
def test_fault(tmp_path, words):
    """The same for everything else."""
    path = tmp_path / "pf.sock"
    error = _one_error([f"net_mpsim0,vhost={path}"], words.split())
    assert re.search(FAULTS[words], error), error
    assert not path.exists()


ETHTOOL_FAULTS = {
    "--ethtool lo": r"--ethtool lo: --listen unix:PATH is needed with it",
    "--ethtool lo --listen unix:": r"--listen unix:: unix:PATH with a path of 1 to 107 bytes",
    "--ethtool lo --listen tcp:127.0.0.1:9": r"--listen tcp:127.0.0.1:9: unix:PATH with a path",
    "--ethtool lo --listen dev:/dev/null": r"--listen dev:/dev/null: unix:PATH with a path",
    "--ethtool lo --listen unix:S --pf net_mpsim0,vhost=S": r"--pf: it is for PFs, and --ethtool",
    "--ethtool lo --listen unix:S --uplink net_mpsim0": r"--uplink: it is for PFs",
    "--ethtool lo --listen unix:S --memory 0=/f": r"--memory: it is for PFs",
    "--ethtool lo --listen unix:S --audit": r"--audit: it is for PFs",
    "--ethtool lo --listen unix:S --allow-remote": r"--allow-remote: it is for PFs",
    "--ethtool lo --listen unix:S --secret /s": r"--secret: it is for PFs",
    "--ethtool lo --listen unix:S --no-secret": r"--no-secret: it is for PFs",
    "--ethtool lo --listen unix:S --root /r": r"--root: it is for PFs",
    "--ethtool lo23456789abcdef --listen unix:S": r"--ethtool lo23456789abcdef: a name of at most 15",
    "--group root": r"--group root: --ethtool is needed with it",
    "--ethtool lo --listen unix:S --group no-such": r"--group no-such: there is no such group",
    "--ethtool no-such --listen unix:S": r"--ethtool no-such: there is no such netdev",
    "--ethtool lo --listen unix:S": r"--ethtool lo: the kernel has no such ntuple rules|"
                                    r"--ethtool lo: .*CAP_NET_ADMIN",
}


@pytest.mark.many(asan=6)
@pytest.mark.parametrize("words", ETHTOOL_FAULTS)
def test_ethtool_fault(tmp_path, words):
    """The agent of a netdev: the loopback device has neither rules nor a RETA."""
    path = tmp_path / "ethtool.sock"
    error = _one_error([], words.replace("unix:S", f"unix:{path}").split())
    assert re.search(ETHTOOL_FAULTS[words], error), error
    assert not path.exists()


def test_unknown_option():
    """getopt names it, we tell where to look."""
    firmware = Agent(NIC, ["net_mpsim0,vhost=x"], ["--bogus"], wait=False)
    assert _errors(firmware) == ["try -- --help"]
    assert "unrecognized option '--bogus'" in firmware.text


def test_nothing_to_do():
    """Without a PF there is no agent, nor at a switch that it steers for nobody."""
    assert "--pf ETHDEV,vhost=SOCKET is needed" in _one_error([])
    assert "--uplink: --listen is needed with it" == _one_error(
        ["pf0,rep=net_mpsim1"], ["--uplink=net_mpsim0"])


def test_pf_twice(tmp_path):
    """Each PF, and each socket, belongs to one."""
    pf = [f"net_mpsim{i},vhost={tmp_path}/{i}" for i in range(2)]
    assert "net_mpsim0 is given twice" in _one_error(
        [pf[0], f"net_mpsim0,vhost={tmp_path}/2"])
    assert "is the socket of net_mpsim0" in _one_error(
        [pf[0], f"net_mpsim1,vhost={tmp_path}/0"])


def test_too_many_pfs(tmp_path):
    """A NIC has eight."""
    pfs = [f"net_mpsim{i},vhost={tmp_path}/{i}" for i in range(9)]
    assert "a NIC has 8 PFs at most" in _one_error(pfs)


def test_memory_that_does_not_suffice(tmp_path):
    """EAL's option is named."""
    error = _one_error([f"net_mpsim0,vhost={tmp_path}/0,queues=16"],
                       memory=32)
    assert re.search(r"no memory for \d+ buffers: .* -m gives more", error)


def test_path_that_is_a_file(tmp_path):
    """Nobody's file is removed."""
    path = tmp_path / "precious"
    path.write_text("data", encoding="ascii")
    assert "cannot be used: File exists" in _one_error(
        [f"net_mpsim0,vhost={path}"])
    assert path.read_text(encoding="ascii") == "data"


def test_socket_of_somebody_else(tmp_path):
    """A socket on which somebody listens is not taken over."""
    path = tmp_path / "pf.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        # the PF before it lets go of its own
        first = tmp_path / "first.sock"
        assert "cannot be used: Address already in use" in _one_error(
            [f"net_mpsim1,vhost={first}", f"net_mpsim0,vhost={path}"])
        assert path.is_socket()
        assert not first.exists()


def test_busy_socket_of_somebody_else(tmp_path):
    """Nor is one whose owner has no time to answer, and nobody waits for that."""
    path = tmp_path / "pf.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other, \
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting:
        other.bind(str(path))
        other.listen(0)
        waiting.connect(str(path))
        assert "cannot be used: Address already in use" in _one_error(
            [f"net_mpsim0,vhost={path}"])


def test_help():
    """Every option is explained."""
    firmware = Agent([], [], ["--help"], wait=False)
    assert firmware.wait() == 0
    for word in ("--pf", "vhost=", "mode=", "queues=", "node=", "rep=",
                 "vf=", "--root", "--uplink", "--memory", "--audit", "--listen", "--secret",
                 "--no-secret", "--allow-remote", "--ethtool", "--group"):
        assert word in firmware.text
