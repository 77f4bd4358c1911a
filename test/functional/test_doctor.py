# SPDX-License-Identifier: BSD-3-Clause
"""./octo doctor: what it says of machines of many kinds, and of this one."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from octotest import captured, env
from octotest.judged import IN_THE_WAY, READY, WRONG_USE, Seen, looker

from doctor import boards, check_pfs, cpulist, eal, pci
from doctor.model import Link, Machine, Netdev, Node, Pf

pytestmark = pytest.mark.no_c

CX5 = {"ids": "15b3:1017", "board_ids": "15b3:0008"}


def _octo(*words, **more) -> subprocess.CompletedProcess:
    return subprocess.run([env.REPO / "octo", "doctor", *map(str, words)], text=True,
                          capture_output=True, check=False, timeout=env.seconds(60), **more)


@pytest.fixture
def see(tmp_path):
    """Doctor on a machine of the fixtures, after lines of it were changed."""
    return looker(tmp_path)


JOINED = ("-l 0-4,48-51 -a 0000:00:00.0 "
          "--vdev=net_octo0,pf=net_af_xdp0[0::2]@0,pf=net_af_xdp0[1::2]@1,pools=local "
          "--vdev=net_af_xdp0,iface=eth2,queue_count=16")

TWO_PORTS = ("-l 0-4,48-51 -a 0000:00:00.0 "
             "--vdev=net_octo0,pf=0000:16:00.0,pf=0000:99:00.0")
BY_AGENT = ("-l 0-4,48-51 -a 0000:00:00.0 "
            "--vdev=net_octo0,pf=0000:16:00.2,pf=0000:99:00.2,agent=unix:/run/octo-agent0.sock")

# name: kinds of its NICs, what is in the way (a pattern each), EAL arguments of NIC 0
MACHINES = {
    "snap-io": (["multi-PF"], [],
                "-l 0-4,20-23 -a 0000:00:00.0 "
                "--vdev=net_octo0,pf=0000:3b:00.0,pf=0000:d8:00.0"),
    "socket-direct": (["multi-PF"], [],
                      "-l 0,2-5,18-21 -a 0000:00:00.0 "
                      "--vdev=net_octo0,pf=0000:05:00.0,pf=0000:82:00.0 "
                      "--vdev=net_octo1,pf=0000:05:00.1,pf=0000:82:00.1"),
    "four-sockets": (["multi-PF"], [],
                     "-l 0-4,8-11,16-19,24-27 -a 0000:00:00.0 "
                     "--vdev=net_octo0,pf=0000:17:00.0,pf=0000:43:00.0,"
                     "pf=0000:85:00.0,pf=0000:c3:00.0"),
    "vfio-ready": (["multi-PF"], [],
                   "-l 0-4,32-35 -a 0000:00:00.0 "
                   "--vdev=net_octo0,pf=0000:41:00.0,pf=0000:c1:00.0"),
    "vfio-no-iommu": (["multi-PF"], [r"node 1 .*no free hugepages", r"IOMMU off",
                                     r"0000:c1:00\.0 .*bnxt_en.*vfio-pci"], None),
    "vfio-group": (["multi-PF"], [r"0000:c1:00\.0 .*group 27 with 0000:c2:00\.0 \(nvme\)"], None),
    "sub-numa": (["multi-PF"], [r"0000:d8:00\.0 .*RDMA"],
                 "-l 10-14,20-23 --main-lcore=14 -a 0000:00:00.0 "
                 "--vdev=net_octo0,pf=0000:3b:00.0,pf=0000:d8:00.0"),
    "node-unknown": (["unknown node"], [r"NIC 0 .*0000:d8:00\.0.* on node 1"],
                     "-l 0-4,20-23 -a 0000:00:00.0 "
                     "--vdev=net_octo0,pf=0000:3b:00.0,pf=0000:d8:00.0@1"),
    "degraded": (["multi-PF"], [r"0000:d8:00\.0 has 4 PCIe lanes .*of the 8"], None),
    "kernel-joined": (["multi-PF"], [], JOINED),
    "kernel-joined-user": (["multi-PF"], [], JOINED),
    "kernel-joined-channel": (["multi-PF"], [r"NIC 0 has 1 channel .*0000:99:00\.0"], JOINED),
    "kernel-joined-ports": (
        ["multi-PF"], [],
        "-l 0-4,48-51 -a 0000:00:00.0 "
        "--vdev=net_octo0,pf=net_af_xdp0[0::2]@0,pf=net_af_xdp0[1::2]@1,pools=local "
        "--vdev=net_octo1,pf=net_af_xdp1[0::2]@0,pf=net_af_xdp1[1::2]@1,pools=local "
        "--vdev=net_af_xdp0,iface=eth2,queue_count=16 "
        "--vdev=net_af_xdp1,iface=eth3,queue_count=16"),
    "half-joined": (["multi-PF"], [r"NIC 0 is half-joined: 0000:99:00\.0 \(vfio-pci\)"],
                    JOINED.replace("eth2", "IFACE")),
    "half-joined-failed": (["multi-PF"], [r"NIC 0 is half-joined: all PFs"],
                           JOINED.replace("eth2", "IFACE")),
    "half-joined-port": (["multi-PF"], [r"NIC 0 is half-joined: 0000:99:00\.1 \(no driver\)"],
                         JOINED),
    "apart": (["multi-PF"], [], TWO_PORTS),
    "switchdev": (["multi-PF"], [], TWO_PORTS),
    "switchdev-shared": (["multi-PF"], [], BY_AGENT),
    "switchdev-shared-user": (["multi-PF"], [], BY_AGENT),
    "mpesw": (["multi-PF"], [], BY_AGENT),
    "half-missing": (["single PF"], [r"NIC 0 is one half .*16 lanes"],
                     "-l 0-4 -a 0000:3b:00.0"),
    "wrong-slots": (["one socket"], [r"NIC 0 .*one socket: 0000:05:00\.0 and 0000:17:00\.0"],
                    "-l 0-4 -a 0000:00:00.0 "
                    "--vdev=net_octo0,pf=0000:05:00.0,pf=0000:17:00.0"),
    "dual-port": (["one socket"], [r"machine has no NIC with PFs on several sockets"],
                  "-l 0-4 -a 0000:3b:00.0 -a 0000:3b:00.1"),
    "two-cards": (["single PF"] * 2, [r"machine has no NIC with PFs on several sockets"],
                  "-l 0-4 -a 0000:3b:00.0"),
    "one-socket": (["one socket"], [r"machine has no NIC with PFs on several sockets"],
                   "-l 0-4 -a 0000:00:00.0 "
                   "--vdev=net_octo0,pf=0000:05:00.0,pf=0000:06:00.0"),
    "virtual": (["single PF"], [r"machine has no NIC with PFs on several sockets"],
                "-l 0,1 -a 0000:00:03.0"),
}


def test_every_machine_is_judged_here():
    """No fixture without a verdict."""
    assert sorted(MACHINES) == captured.names()


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_machine(see, name):
    """What it is, all that is in the way and nothing else, and the arguments."""
    kinds, obstacles, arguments = MACHINES[name]
    seen = see(name)
    assert seen.kinds() == kinds
    assert len(seen.obstacles()) == len(obstacles), seen.obstacles()
    for pattern, obstacle in zip(obstacles, seen.obstacles()):
        assert re.search(pattern, obstacle)
    assert seen.status == (IN_THE_WAY if obstacles else READY)
    if arguments is not None:
        assert seen.eal() == arguments
    for f in seen.json["findings"]:
        assert f["todo"] or f["mark"] != "in the way", f
        for command in (t for t in f["todo"] if t.startswith("$ ")):
            assert f"   {command}\n" in seen.text  # whole, to be copied


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_capture_says_the_same(tmp_path, name):
    """What was read is all that is needed, and it is what was read."""
    captured.make(name, tmp_path / "machine")
    here = Seen(tmp_path / "machine", "--capture", tmp_path / "there.tar")
    there = Seen(tmp_path / "there.tar", "--capture", tmp_path / "again.tar")
    assert there.json == here.json and there.text == here.text
    with tarfile.open(tmp_path / "there.tar") as one, tarfile.open(tmp_path / "again.tar") as two:
        assert one.getnames() == two.getnames()


def test_capture_keeps_secrets(tmp_path):
    """Of the kernel's command line and routes only what matters is in it."""
    machine = captured.make("vfio-no-iommu", tmp_path / "machine")
    machine.write("proc/net/route", "Iface\tDestination\nenp193s0\t0002000A")
    machine.write("proc/net/ipv6_route", _route6("2001", "enp193s0"))
    _octo("--root", tmp_path / "machine", "--capture", tmp_path / "c.tar")
    data = (tmp_path / "c.tar").read_bytes()
    assert b"amd_iommu=off" in data and b"enp193s0" in data
    assert b"hunter2" not in data and b"0002000A" not in data
    assert b"2001000" not in data


def test_this_machine():
    """Whatever it is: text, and JSON alone."""
    done = _octo()
    assert done.returncode in (READY, IN_THE_WAY) and done.stderr == ""
    assert done.stdout.startswith("Machine: ") and "Findings:" in done.stdout
    found = json.loads(_octo("--json", "-").stdout)
    cpus = {c for node in found["machine"]["nodes"] for c in node["cpus"]}
    assert os.sched_getaffinity(0) <= cpus


@pytest.mark.parametrize("words", ["", "--json -"])
def test_what_cannot_be_printed(words):
    """One line tells; who wants the status alone may close standard output."""
    for where, says in ((">/dev/full", "octo: doctor: cannot print: No space left on device\n"),
                        (">&-", "")):
        done = subprocess.run(["bash", "-c", f"'{env.REPO}/octo' doctor {words} {where}"], text=True,
                              capture_output=True, check=False, timeout=env.seconds(60))
        assert done.stderr == says
        assert done.returncode in (READY, IN_THE_WAY)


def test_this_machine_without_root(tmp_path):
    """Nothing that only root may read is needed."""
    if not env.IS_ROOT:
        pytest.skip("test_this_machine did it")
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:  # pytest's own are for their owner
        parent.chmod(0o755)
    shutil.copytree(env.REPO / "devtools" / "doctor", tmp_path / "doctor")
    python = os.path.realpath("/usr/bin/python3")
    done = subprocess.run([python, "-B", "-m", "doctor"], cwd=tmp_path, text=True, user=65534,
                          group=65534, extra_groups=[], capture_output=True, check=False,
                          timeout=env.seconds(60))
    assert done.returncode in (READY, IN_THE_WAY) and done.stderr == "", done.stderr


def test_table_is_aligned(see):
    """Each column begins where its heading does; no line is longer than a terminal is wide."""
    text = see("degraded").text
    table = re.search(r"^  PF .*\n(  0000:.*\n)+", text, re.MULTILINE)[0].splitlines()
    for column in re.finditer(r"\S+( \S+)*", table[0]):
        for row in table[1:]:
            assert row[column.start() - 1] == " " != row[column.start()]
    assert all(len(li) <= 100 or li.lstrip().startswith("$ ") for li in text.splitlines())


def test_notes_of_a_degraded_machine(see):
    """What works, and could be better."""
    seen = see("degraded")
    notes = "\n".join(seen.marked("note"))
    for pattern in (r"node 1 has 256 MiB", r"0000:d8:00\.0 runs at 2\.5 GT/s and could do 8",
                    r"0000:d8:00\.0 has no link \(ens2\)", r"0000:3b:00\.0 has 2 virtual functions",
                    r"IOMMU"):
        assert re.search(pattern, notes), notes
    assert "iommu=pt" in seen.todo("machine")
    assert seen.json["machine"]["vfs"] == 2 and len(seen.json["nics"][0]["pfs"]) == 2


def test_split_lanes_are_right(see):
    """A board of 16 lanes in two slots of 8 has all it can have."""
    assert "NIC 0 has its 16 lanes split into x8 + x8" in see("snap-io").marked("ok")


def test_boards_are_told_without_root(see):
    """By the system image GUID; and it says what it could not see."""
    seen = see("socket-direct")
    assert seen.json["nics"][0]["same_board_by"] == ["slot", "system image GUID"]
    assert any("not read by root" in note for note in seen.marked("note"))


@pytest.mark.parametrize("name, note", [
    ("dual-port", "ordinary NIC with 2 ports"), ("two-cards", "ordinary NIC with one PF"),
    ("one-socket", "gains nothing"), ("virtual", "is virtual"),
])
def test_why_there_is_nothing_to_gain(see, name, note):
    """In plain words."""
    assert any(note in n for n in see(name).marked("note"))


# path of a PF in the fixture, what is written there, what is then in the way
CHANGES = [
    ("snap-io", "sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages: 0",
     r"node 1 has no free hugepages: others"),
    ("snap-io", "proc/mounts: proc /proc proc rw 0 0", r"no hugetlbfs"),
    ("snap-io", "sys/devices/system/node/node1/meminfo: Node 1 MemTotal: 0 kB", r"has no memory"),
    ("snap-io", "sys/devices/system/node/node1/cpulist: ", r"node 1 has no CPUs"),
    ("snap-io", "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/class: 0x020700",
     r"0000:3b:00\.0 is in InfiniBand mode"),
    ("snap-io", "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/current_link_width: 0",
     r"0000:3b:00\.0 tells no PCIe link"),
    ("socket-direct", "sys/devices/pci0000:80/0000:80:02.0/0000:82:00.1/class: 0x088000",
     r"NIC 0 lacks a PF: the port of 0000:05:00\.1"),
]


@pytest.mark.parametrize("name, change, obstacle", CHANGES,
                         ids=[c[1].rpartition("/")[2] for c in CHANGES])
def test_one_thing_amiss(see, name, change, obstacle):
    """A machine that was ready is not, and says why."""
    seen = see(name, change)
    assert seen.status == IN_THE_WAY
    assert any(re.search(obstacle, o) for o in seen.obstacles()), seen.obstacles()


def _rebound(tmp_path, name: str, driver: str) -> Seen:
    """With another driver for all PFs, or none."""
    captured.make(name, tmp_path / name)
    for device in (tmp_path / name / "sys/devices").glob("pci*/*/*:*"):
        link = device / "driver"
        link.unlink()
        if driver:
            link.symlink_to(f"../../../../bus/pci/drivers/{driver}")
    return Seen(tmp_path / name)


def test_mlx5_stays_with_the_kernel(tmp_path):
    """Given to vfio-pci it must go back; without a driver it needs one."""
    seen = _rebound(tmp_path, "snap-io", "vfio-pci")
    assert "$ dpdk-devbind.py --bind=mlx5_core 0000:3b:00.0" in seen.todo("0000:3b:00.0")
    assert all("IOMMU" not in o for o in seen.obstacles())
    (tmp_path / "none").mkdir()
    assert "$ modprobe mlx5_core" in _rebound(tmp_path / "none", "snap-io", "").todo("0000:d8:00.0")


def test_others_need_vfio(tmp_path):
    """With the kernel, without a driver; uio is a note."""
    for driver, status in (("bnxt_en", IN_THE_WAY), ("", IN_THE_WAY), ("uio_pci_generic", READY)):
        (tmp_path / f"d{driver}").mkdir()
        seen = _rebound(tmp_path / f"d{driver}", "vfio-ready", driver)
        assert seen.status == status
        assert "--bind=vfio-pci 0000:41:00.0" in seen.todo("0000:41:00.0")


def test_vfio_without_iommu(see, tmp_path):
    """Allowed when vfio was told to, with a warning; and with uio it does not matter."""
    seen = _rebound(tmp_path, "vfio-no-iommu", "uio_pci_generic")
    assert all("IOMMU" not in o for o in seen.obstacles())
    seen = see("vfio-no-iommu", "sys/module/vfio/parameters/enable_unsafe_noiommu_mode: Y")
    assert all("IOMMU" not in o for o in seen.obstacles())
    assert any("enable_unsafe_noiommu_mode" in n for n in seen.marked("note"))
    assert "iommu=pt" in see("vfio-no-iommu").todo("machine")


def test_kernel_says_that_pfs_are_not_joined(see):
    """A netdev can be in another network namespace; debugfs knows better."""
    told = [f"sys/kernel/debug/mlx5/{a}/vhca_id: 0" for a in ("0000:16:00.0", "0000:99:00.0")]
    assert see("kernel-joined-user", *told).status == READY


ENP193S0 = "[sys/devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0/net/enp193s0] "
ABOVE = "[sys/devices/virtual/net/br0] "


def _route6(prefix: str, name: str) -> str:
    """A line of the kernel's, of a route to a prefix of 16 bits, or to all."""
    return (f"{prefix:0<32} {10 if prefix else 0:02x} {0:032x} 00 {0:032x} "
            f"00000400 00000001 00000000 00000003 {name:>8}")


IN_USE = {
    "IPv4": (["proc/net/route: Iface\tDestination\nenp193s0\t00000000"], ""),
    "IPv6": (["proc/net/ipv6_route: " + _route6("", "enp193s0")], ""),
    "IPv6 prefix": (["proc/net/ipv6_route: " + _route6("2001", "enp193s0")], ""),
    "bridge": (["proc/net/route: Iface\tDestination\nbr0\t00000000",
                ENP193S0 + "master -> sys/devices/virtual/net/br0",
                ENP193S0 + "upper_br0 -> sys/devices/virtual/net/br0"], " below br0"),
    "VLAN on a bond": (["proc/net/ipv6_route: " + _route6("", "bond0.7"),
                        ENP193S0 + "upper_br0 -> sys/devices/virtual/net/br0",
                        ABOVE + "upper_bond0.7 -> sys/devices/virtual/net/bond0.7"],
                       " below bond0.7"),
}


@pytest.mark.parametrize("name", IN_USE)
def test_interface_in_use(see, tmp_path, name):
    """Who gives away the interface they came by is told before; a capture says the same."""
    lines, below = IN_USE[name]
    seen = see("vfio-no-iommu", *lines)
    warned = f"enp193s0{below}, which has routes"
    assert any(warned in n for n in seen.marked("note"))
    assert seen.text.index("has routes") < seen.text.index("--bind=vfio-pci 0000:c1:00.0")
    Seen(tmp_path / "m0", "--capture", tmp_path / "c.tar")
    assert any(warned in n for n in Seen(tmp_path / "c.tar").marked("note"))


def _full_table(count: int, last: str) -> str:
    """Lines as long as the kernel's, of which the last one is of another interface."""
    names = ["eth9"] * count + [last]
    return "\n".join(f"{line:127}" for line in ("Iface\tDestination", *(f"{n}\t0" for n in names)))


@pytest.mark.parametrize("lines", [
    ["proc/net/route: " + _full_table(20000, "enp193s0")],
    ["proc/net/ipv6_route: " + "\n".join([_route6("2001", "eth9")] * 20000 +
                                         [_route6("2002", "enp193s0")])],
], ids=["IPv4", "IPv6"])
def test_interface_in_use_of_a_router(see, lines):
    """A table of many routes is read to its end."""
    warned = [n for n in see("vfio-no-iommu", *lines).marked("note") if "routes" in n]
    assert len(warned) == 1 and "enp193s0, which has routes" in warned[0]


@pytest.mark.parametrize("line", [
    "proc/net/route: " + _full_table(100, "enp193s0"),
    "proc/net/ipv6_route: " + "\n".join([_route6("2001", "\u00e9th9")] * 100),
], ids=["IPv4", "IPv6"])
def test_more_routes_than_are_read(see, tmp_path, monkeypatch, line):
    """Each interface may have one of the others; a capture says the same."""
    monkeypatch.setattr("doctor.read_nics.MOST_ROUTES", 128 * 20)
    seen = see("vfio-no-iommu", line)
    warned = "enp193s0, which may have routes, as there are more than were read"
    assert any(warned in n for n in seen.marked("note"))
    Seen(tmp_path / "m0", "--capture", tmp_path / "c.tar")
    assert any(warned in n for n in Seen(tmp_path / "c.tar").marked("note"))


@pytest.mark.parametrize("above", [
    [ENP193S0 + "master -> sys/devices/virtual/net/ovs-system",
     ENP193S0 + "upper_ovs-system -> sys/devices/virtual/net/ovs-system"],
    [ENP193S0 + "upper_br0 -> sys/devices/virtual/net/br0",
     ABOVE + "upper_ovs-system -> sys/devices/virtual/net/ovs-system"],
], ids=["port", "below a bond"])
def test_interface_of_open_vswitch(see, tmp_path, above):
    """The addresses are those of a bridge's internal port, which no link leads to."""
    seen = see("vfio-no-iommu", "proc/net/route: Iface\tDestination\nbr-ex\t00000000", *above)
    warned = "enp193s0 below ovs-system, whose bridges may have routes"
    assert any(warned in n for n in seen.marked("note"))
    Seen(tmp_path / "m0", "--capture", tmp_path / "c.tar")
    assert any(warned in n for n in Seen(tmp_path / "c.tar").marked("note"))


@pytest.mark.parametrize("lines", [
    ["proc/net/ipv6_route: " + _route6("fe80", "enp193s0") + "\n" + _route6("ff00", "enp193s0")],
    ["proc/net/ipv6_route: " + _route6("", "lo") + "\n" + _route6("2001", "enp193s0")[:-9]],
    ["proc/net/route: Iface\tDestination\nbr0\t00000000",
     ENP193S0 + "upper_br1 -> sys/devices/virtual/net/br1",
     "[sys/devices/virtual/net/br1] upper_br1 -> sys/devices/virtual/net/br1"],
])
def test_interface_not_in_use(see, lines):
    """Each interface that is up has routes of the link; links in a circle lead nowhere."""
    assert not any("has routes" in n for n in see("vfio-no-iommu", *lines).marked("note"))


def test_interface_of_virtio_in_use(see):
    """Its netdev belongs to a device below the PCI function."""
    seen = see("virtual", "proc/net/route: Iface\tDestination\neth0\t00000000",
               "[sys/devices/pci0000:00/0000:00:03.0] virtio2/net/eth0/carrier: 1")
    assert [n["name"] for n in seen.json["nics"][0]["pfs"][0]["netdevs"]] == ["eth0"]
    assert "eth0, which has routes" in seen.arguments()["before"][0]


@pytest.mark.parametrize("words, names", [
    (["--nonsense"], "--nonsense"), (["extra"], "extra"), (["--json"], "--json"),
    (["--root", "/nonexistent"], "--root /nonexistent"), (["--root", "/usr"], "--root /usr"),
    (["--root", __file__], "neither a directory nor a tar"),
    (["--json", "/nonexistent/x"], "--json /nonexistent/x"),
    (["--capture", "/nonexistent/x.tar"], "--capture /nonexistent/x.tar"),
    (["--capture", "-"], "--capture -: the name of a file is needed"),
])
def test_wrong_use_is_one_line_and_status_2(words, names):
    """It names the argument, and prints nothing else."""
    done = _octo(*words)
    assert done.returncode == WRONG_USE and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and names in done.stderr


def _tar(path, **member):
    """A capture with a member that no doctor has written."""
    with tarfile.open(path, "w") as tar:
        info = tarfile.TarInfo("sys")
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
        info = tarfile.TarInfo(member.pop("name"))
        data = member.pop("data", b"")
        info.size = len(data)
        for key, value in member.items():
            setattr(info, key, value)
        tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("member", [
    {"name": "../outside", "data": b"x"}, {"name": "/tmp/outside", "data": b"x"},
    {"name": "sys/pipe", "type": tarfile.FIFOTYPE}, {"name": "sys/large", "data": b"x" * (2 << 20)},
    {"name": "sys/hard", "type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
], ids=lambda m: m["name"])
def test_hostile_capture_is_refused(tmp_path, member):
    """A capture may come from anybody."""
    done = _octo("--root", _tar(tmp_path / "c.tar", **member))
    assert done.returncode == WRONG_USE and len(done.stderr.splitlines()) == 1
    assert member["name"] in done.stderr and not (tmp_path / "outside").exists()


def test_links_do_not_lead_outside(tmp_path):
    """Neither in a directory nor in a capture is anything read that is not in it."""
    machine = captured.make("virtual", tmp_path / "m")
    (tmp_path / "m/proc/sys/kernel/osrelease").unlink()
    (tmp_path / "secret").write_text("outside")
    (machine.root / "proc/sys/kernel/osrelease").symlink_to(tmp_path / "secret")
    assert Seen(machine.root).json["machine"]["kernel"] == ""


# Decisions, without any machine

def _pf(address: str, node: int = 0, **more) -> Pf:
    return Pf(address, **{**CX5, "node": node, **more})


def _two_sockets() -> Machine:
    return Machine(nodes=[Node(0, [0, 1], [0]), Node(1, [2, 3], [1])])


def _mac(mac: str) -> list:
    return [Netdev("e", mac)]


@pytest.mark.parametrize("a, b, expected", [
    ({"vpd": {"V3": "8f5d1b0e"}}, {"vpd": {"V3": "8f5d1b0e"}}, ("VPD UUID", True)),
    ({"vpd": {"V3": "8f5d1b", "SN": "MT1912"}}, {"vpd": {"V3": "9f5d1b", "SN": "MT1912"}}, None),
    ({"vpd": {"SN": "MT1912"}}, {"vpd": {"SN": "MT1912"}}, ("VPD serial number", True)),
    ({"vpd": {"SN": "N/A"}}, {"vpd": {"SN": "N/A"}}, None),
    ({"vpd": {"SN": "MT1912"}, "ids": "15b3:1018"}, {"vpd": {"SN": "MT1912"}}, None),
    ({"image_guid": "9803:9b03"}, {"image_guid": "9803:9b03"}, ("system image GUID", True)),
    ({"image_guid": "0000:0000"}, {"image_guid": "0000:0000"}, None),
    ({"serial": "98-03-9b"}, {"serial": "98-03-9b"}, ("PCIe serial number", True)),
    ({"netdevs": _mac("98:03:9b:00:00:0e")}, {"netdevs": _mac("98:03:9b:00:00:10")},
     ("MAC addresses next to each other", False)),
    ({"netdevs": _mac("98:03:9b:00:00:00")}, {"netdevs": _mac("98:03:9b:00:00:10")}, None),
    ({"netdevs": _mac("98:03:9b:00:00:00"), "all_readable": True},
     {"netdevs": _mac("98:03:9b:00:00:01"), "all_readable": True}, None),
    ({"netdevs": [Netdev("e", switch_id="0a1b2c")]}, {"netdevs": [Netdev("f", switch_id="0a1b2c")]},
     ("switch id", True)),
])
def test_same_board(a, b, expected):
    """Strong evidence first; what is blank, or alike by chance, is none."""
    assert boards.same_board(_pf("0000:3b:00.0", **a), _pf("0000:d8:00.0", **b)) == expected


def test_functions_of_a_slot_are_a_board():
    """Whatever they are."""
    assert boards.same_board(_pf("0000:3b:00.0"), _pf("0000:3b:00.1")) == ("slot", True)


def test_wires_by_physical_port():
    """The physical port id goes before the number of the function."""
    machine = _two_sockets()
    for address, node, port in (("0000:3b:00.0", 0, "aa01"), ("0000:3b:00.1", 0, "aa02"),
                                ("0000:d8:00.0", 1, "aa02"), ("0000:d8:00.1", 1, "aa01")):
        machine.pfs.append(_pf(address, node, vpd={"SN": "MT1912"},
                               netdevs=[Netdev("e", port_id=port)]))
    board, = boards.find(machine)
    assert [[p.address for p in w.pfs] for w in board.wires] == [
        ["0000:3b:00.0", "0000:d8:00.1"], ["0000:3b:00.1", "0000:d8:00.0"]]


@pytest.mark.parametrize("most, slot, halves, lanes", [
    (16, 8, 2, 8), (16, None, 2, 8), (8, 8, 2, 8), (16, 16, 1, 16), (16, 8, 1, 8), (16, 4, 4, 4),
    (None, None, 2, None),
])
def test_lanes_expected(most, slot, halves, lanes):
    """What both ends can have, and a share of a board that is split."""
    pf = _pf("0000:3b:00.0", link=Link(max_width=most), parent=Link(max_width=slot))
    assert check_pfs.lanes_expected(pf, halves) == lanes


def test_lcores_of_small_machines():
    """A main lcore is found, workers are as many on each node, one of each core."""
    machine = _two_sockets()
    assert eal.choose_lcores(machine, machine.nodes) == (0, [1, 2])
    machine.nodes[1].cpus = [2]
    machine.siblings = {0: [0, 1], 1: [0, 1]}
    assert eal.choose_lcores(machine, machine.nodes) == (1, [0, 2])
    assert eal.choose_lcores(machine, [Node(0, [])]) == (None, [])


@pytest.mark.parametrize("text", ["0-3,8", "0", "0,2-4,9", "0,1", ""])
def test_cpu_lists(text):
    """As the kernel writes them."""
    assert cpulist.render(cpulist.parse(text)) == text


@pytest.mark.parametrize("data", [
    b"", b"\0" * 4096, b"\xff" * 4096, b"\0" * 256 + b"\x03\0\x01\0",
    b"\0" * 256 + b"\x01\0\x01\x10" + b"\0" * 20, b"\x82\xff\xff", b"\x82\x01\0A\x90\x05\0SN\x40AB",
    bytes(range(256)) * 16,
])
def test_broken_devices(data):
    """A device that is gone reads as ones; nothing that it holds is trusted."""
    assert pci.serial_number(data) is None or len(pci.serial_number(data)) == 23
    assert "SN" not in pci.parse_vpd(data)
