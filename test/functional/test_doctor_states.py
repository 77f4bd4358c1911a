# SPDX-License-Identifier: BSD-3-Clause
"""./octo doctor: how the kernel presents PFs together, and the best command for each way."""

import pytest

from octotest.judged import IN_THE_WAY, READY, Seen, looker

from doctor import advice, boards, states
from doctor.model import Machine, Netdev, Node, Pf

pytestmark = pytest.mark.no_c

FIRST = "sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0"
SECOND = "sys/devices/pci0000:98/0000:98:01.0/0000:99:00.0"


@pytest.fixture
def see(tmp_path):
    """Doctor on a machine of the fixtures, after lines of it were changed."""
    return looker(tmp_path)


def _finding(seen, words: str) -> dict:
    """The only one with these words."""
    found, = (f for f in seen.json["findings"] if words in f["text"])
    return found


STATES = {
    "kernel-joined": ["joined"], "kernel-joined-user": ["joined"],
    "kernel-joined-channel": ["joined"], "kernel-joined-ports": ["joined", "joined"], "half-joined": ["half-joined"],
    "half-joined-failed": ["half-joined"], "half-joined-port": ["joined", "half-joined"],
    "apart": ["apart"], "snap-io": ["apart"], "socket-direct": ["apart", "apart"],
    "four-sockets": ["apart"], "vfio-ready": ["other"], "switchdev": ["switchdev"],
    "switchdev-shared": ["shared switch"], "switchdev-shared-user": ["shared switch"],
    "mpesw": ["shared switch"],
}


@pytest.mark.parametrize("name", STATES)
def test_state(see, name):
    """Of each wire of the NIC."""
    assert [port["state"] for port in see(name).json["nics"][0]["ports"]] == STATES[name]


@pytest.mark.parametrize("name, sure", [("kernel-joined", "is"),
                                        ("kernel-joined-user", "seems to be")])
def test_joined(see, name, sure):
    """Slices of the netdev, however it is known."""
    seen = see(name)
    found = _finding(seen, "joined by the kernel")
    assert found["text"].startswith(f"{sure} joined by the kernel in one netdev eth2")
    assert "0000:16:00.0 is the primary" in found["text"]
    assert found["mark"] == ("ok" if sure == "is" else "note")
    assert ("$ sudo ./octo doctor" in found["todo"]) == (sure != "is")
    told = seen.arguments()
    assert told["tier"] == "exact" and told["workers"] == 8
    assert told["before"][:2] == ["$ ethtool -L eth2 combined 16", "$ ip link set eth2 up"]
    for words, lines in (("CAP_NET_ADMIN", told["before"]), ("pool", told["before"]),
                         ("shared_umem=1", told["avoid"]), ("busy_budget=0", told["avoid"])):
        assert any(words in line for line in lines), words
        assert words in seen.text
    assert "--vdev='net_octo0,pf=net_af_xdp0[0::2]@0," in seen.text  # brackets are the shell's


@pytest.mark.parametrize("channels, mark, words", [
    (1, "in the way", "none is on 0000:99:00.0"), (2, "in the way", "2 channels"),
    (16, None, ""), (48, "note", "go to the kernel"),
])
def test_channels(see, channels, mark, words):
    """As many as the slices need; otherwise the command that sets them."""
    seen = see("kernel-joined-user", f"[{FIRST}] channels := eth2 {channels}")
    found = [f for f in seen.json["findings"] if "wanted" in f["text"]]
    assert [f["mark"] for f in found] == ([mark] if mark else [])
    assert all(words in f["text"] for f in found)
    assert all(f["todo"] == ["$ ethtool -L eth2 combined 16"] for f in found)
    assert seen.status == (IN_THE_WAY if mark == "in the way" else READY)


def test_joined_netdev_is_elsewhere(see):
    """In another network namespace: it has no name here."""
    path = "sys/kernel/debug/mlx5/0000:16:00.1/multi-pf"
    seen = see("half-joined-port", f"{path}/primary: 0000:16:00.1 vhca 0x2",
               f"{path}/secondary_0: 0000:99:00.1 vhca 0x3")
    assert "--vdev=net_af_xdp1,iface=IFACE,queue_count=16" in seen.eal()
    assert "$ ip netns" in _finding(seen, "no network namespace")["todo"]


def test_half_joined_names_what_is_missing(see):
    """The PF, its driver, the command that gives it back; not twice."""
    seen = see("half-joined")
    assert len(seen.obstacles()) == 1
    found = _finding(seen, "half-joined")
    assert "0000:99:00.0 (vfio-pci)" in found["text"]
    assert "$ dpdk-devbind.py --bind=mlx5_core 0000:99:00.0" in found["todo"]
    assert "$ dmesg | grep Socket-Direct" in found["todo"]
    failed = _finding(see("half-joined-failed"), "half-joined")
    assert "$ devlink dev reload pci/0000:99:00.0" in failed["todo"]


def test_half_joined_port_leaves_the_other_one(see):
    """Until it is whole the command is that of the port that is."""
    seen = see("half-joined-port")
    assert "EAL arguments for NIC 0 without its half-joined PFs" in seen.text
    assert "net_octo1" not in seen.eal() and "eth2" in seen.eal()


@pytest.mark.parametrize("name, why", [
    ("snap-io", "Linux 6.1.0-18-amd64 is older than 6.9"), ("apart", "firmware gives its PFs no group"),
])
def test_apart(see, name, why):
    """Tier queue, the reason, and the way to a better one."""
    seen = see(name)
    found = _finding(seen, "not joined by the kernel")
    assert why in found["text"] and "tier queue" in found["text"]
    assert any("mlxconfig" in line and "PF_SD_GROUP" in line for line in found["todo"])
    assert seen.arguments()["tier"] == "queue" and "picks the PF" in seen.arguments()["why"]
    assert "append ,tier=mac to --vdev=net_octo" in " ".join(seen.text.split())


def test_switchdev(see):
    """A switch of its own for each PF: two ports, and the way to a shared switch."""
    seen = see("switchdev")
    found = _finding(seen, "a switch of its own")
    assert "f6edd50003c0639c, f7edd50003c0639c" in found["text"]
    assert ("$ devlink dev param set pci/0000:99:00.0 name esw_multiport value true cmode runtime"
            in found["todo"])
    assert seen.arguments()["tier"] == "queue" and "tier=mac" not in seen.text
    assert any("one owner" in line for line in seen.arguments()["avoid"])


@pytest.mark.parametrize("name, by, uplink", [
    ("switchdev-shared", "Socket Direct group", "0000:16:00.0"),
    ("switchdev-shared-user", "switch id f6edd50003c0639c", "0000:16:00.0"),
    ("mpesw", "multiport E-Switch", "0000:16:00.0_p0"),
])
def test_shared_switch(see, name, by, uplink):
    """The port is over VFs, and octo-agent has the switch."""
    seen = see(name)
    assert by in _finding(seen, "share a switch")["text"]
    told = seen.arguments()
    assert told["tier"] == "exact"
    command, = (line for line in told["before"] if line.startswith("$ octo-agent "))
    assert "-a '0000:16:00.0,dv_flow_en=2,representor=" in command
    assert f"--uplink {uplink} --pf pf0,vf=0000:16:00.2 --pf pf1,vf=0000:99:00.2" in command
    assert "--file-prefix=octo-agent0 " in command  # a second primary process
    assert command.endswith("--listen unix:/run/octo-agent0.sock")
    assert any("eth4 of 0000:16:00.0" in line and "doc/guides/shared_fdb.rst" in line
               for line in told["before"])
    at = next(i for i, line in enumerate(told["before"]) if "the same name" in line)
    path = "/sys/bus/pci/devices/0000:99:00.0/sriov_numvfs"
    assert told["before"][at + 1:at + 3] == [f"$ echo 0 > {path}", f"$ echo 2 > {path}"]
    assert not any("left out" in note for note in seen.marked("note"))


def test_uplink_of_joined_pfs_is_that_of_the_primary(see):
    """Whichever PF that is; the order of VFs is that of the PFs."""
    path = "sys/kernel/debug/mlx5/0000:99:00.0/multi-pf"
    told = see("switchdev-shared", f"{path}/primary: 0000:99:00.0 vhca 0x1",
               f"{path}/secondary_0: 0000:16:00.0 vhca 0x0", f"{path}/sd_lag_state: active").arguments()
    command, = (line for line in told["before"] if line.startswith("$ octo-agent "))
    assert "-a '0000:99:00.0,dv_flow_en=2" in command
    assert "--uplink 0000:99:00.0 --pf pf0,vf=0000:16:00.2 --pf pf1,vf=0000:99:00.2" in command


def test_one_switch_id_is_no_shared_switch(see):
    """It is that of the card: debugfs knows better."""
    path = f"[{SECOND}/net]"
    seen = see("switchdev", f"{path} eth3/phys_switch_id: f6edd50003c0639c",
               f"{path} eth5/phys_switch_id: f6edd50003c0639c")
    assert seen.states() == ["switchdev"] and seen.arguments()["tier"] == "queue"


def test_shared_switch_without_vfs(see):
    """Of joined PFs, whose channels are all on the primary then: VFs first."""
    path = "sys/kernel/debug/mlx5/0000:16:00.0/multi-pf/sd_lag_state"
    seen = see("kernel-joined", f"{path}: active")
    assert seen.states() == ["shared switch"]
    assert _finding(seen, "no VF of each PF")["mark"] == "in the way"
    assert _finding(seen, "no VF of each PF")["todo"] == [
        f"$ echo 1 > /sys/bus/pci/devices/{address}/sriov_numvfs"
        for address in ("0000:16:00.0", "0000:99:00.0")]
    assert see("kernel-joined", f"{path}: disabled").states() == ["joined"]


def test_shared_switch_without_vfs_of_ours(tmp_path):
    """A VF that belongs to a virtual machine is none: two ports, and the reason."""
    look = looker(tmp_path)
    driver = tmp_path / "m0" / SECOND.replace("99:00.0", "99:00.2") / "driver"
    assert look("mpesw").arguments()["tier"] == "exact"
    driver.unlink()
    driver.symlink_to("../../../../bus/pci/drivers/vfio-pci")
    seen = Seen(tmp_path / "m0")
    assert seen.eal().endswith("--vdev=net_octo0,pf=0000:16:00.0,pf=0000:99:00.0")
    assert seen.arguments()["tier"] == "queue"
    assert _finding(seen, "no VF of each PF")["mark"] == "note"


@pytest.mark.parametrize("name", ["dual-port", "half-missing", "two-cards", "virtual"])
def test_nic_that_gains_nothing_is_used_by_itself(see, name):
    """A command without net_octo, and the drivers that it needs; it is no reason to be ready."""
    seen = see(name)
    assert seen.status == IN_THE_WAY and "EAL arguments for NIC 0 as it is:" in seen.text
    assert "net_octo" not in seen.eal() and "without net_octo" in seen.arguments()["why"]
    needs = [line for line in seen.arguments()["before"] if "--bind=vfio-pci" in line]
    assert len(needs) == (0 if name == "half-missing" else seen.eal().count("-a "))


def test_joined_on_one_socket(see):
    """Nothing is gained, and two ports would not work either."""
    path = "sys/kernel/debug/mlx5/0000:05:00.0/multi-pf"
    seen = see("one-socket", f"{path}/primary: 0000:05:00.0 vhca 0x0",
               f"{path}/secondary_0: 0000:06:00.0 vhca 0x1",
               "[sys/devices/pci0000:00/0000:00:02.0/0000:05:00.0] channels := enp0 1")
    assert "--vdev=net_af_xdp0,iface=enp0,queue_count=8" in seen.eal()
    assert "nothing is gained" in seen.arguments()["why"]
    assert _finding(seen, "joined by the kernel")["mark"] == "ok"
    assert _finding(seen, "1 channel")["todo"] == ["$ ethtool -L enp0 combined 8"]


def test_representor_of_the_first_vf(see):
    """There are others, of whatever name."""
    more = f"[{FIRST}/net] eth0"
    told = see("mpesw", f"{more}/phys_port_name: pf0vf1", f"{more}/address: 1a:2b:3c:00:00:09",
               f"{more}/phys_switch_id: f6edd50003c0639c").arguments()
    assert any("representors, eth4 of 0000:16:00.0" in line for line in told["before"])


def test_representors_of_different_names(see):
    """As in a kernel that counts the PFs of a group: no warning."""
    path = f"[{SECOND}/net] eth5"
    told = see("switchdev-shared", f"{path}/phys_port_name: pf1vf0").arguments()
    assert any("eth5 of 0000:99:00.0" in line for line in told["before"])
    assert not any("the same name" in line for line in told["before"])


def test_vfs_of_different_numbers(see):
    """Where a later PF has one with a number that no earlier PF has, it is taken."""
    vf = SECOND.replace("99:00.0", "99:00.3")
    told = see("switchdev-shared", f"[{SECOND}] virtfn1 -> {vf}",
               f"[{vf}] driver -> sys/bus/pci/drivers/mlx5_core",
               f"[sys/bus/pci/devices] 0000:99:00.3 -> {vf}", f"[{vf}] class: 0x020000",
               f"[{vf}] physfn -> {SECOND}", f"[{SECOND}] net/eth7/phys_port_name: pf0vf1",
               f"[{SECOND}] net/eth7/phys_switch_id: f6edd50003c0639c").arguments()
    command, = (line for line in told["before"] if line.startswith("$ octo-agent "))
    assert "representor=pf[0,1]vf[0,1]'" in command
    assert "--pf pf0,vf=0000:16:00.2 --pf pf1,vf=0000:99:00.3" in command
    assert "pf=0000:16:00.2,pf=0000:99:00.3,agent=" in " ".join(told["eal"])
    assert not any("the same name" in line for line in told["before"])


def test_one_vf_more_than_many(see):
    """The advice has an end, too, where the PFs have as many VFs as a device has functions."""
    lines = []
    for i in range(1, 9):
        vf = SECOND.replace("99:00.0", f"99:01.{i - 1}")
        lines += [f"[{SECOND}] virtfn{i} -> {vf}", f"[{vf}] driver -> sys/bus/pci/drivers/mlx5_core",
                  f"[sys/bus/pci/devices] 0000:99:01.{i - 1} -> {vf}", f"[{vf}] class: 0x020000",
                  f"[{vf}] physfn -> {SECOND}", f"[{SECOND}] net/eth{10 + i}/phys_port_name: pf0vf{i}",
                  f"[{SECOND}] net/eth{10 + i}/phys_switch_id: f6edd50003c0639c"]
    lines += [f"[{FIRST}] net/eth{30 + i}/phys_port_name: pf0vf{i}" for i in range(1, 8)]
    told = see("switchdev-shared", *lines).arguments()
    command, = (line for line in told["before"] if line.startswith("$ octo-agent "))
    assert "--pf pf0,vf=0000:16:00.2 --pf pf1,vf=0000:99:01.7" in command
    assert not any("the same name" in line for line in told["before"])


def test_odd_interfaces_are_not_in_devargs(see):
    """A comma would begin another argument."""
    path = "[sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/net] "
    seen = see("kernel-joined", f"{path}a,xdp_prog=x/address: 9c:63:c0:d5:ed:f0")
    assert "iface=IFACE,queue_count=16" in seen.eal()
    assert "$ ethtool -L IFACE combined 16" in seen.arguments()["before"]


# Decisions, without any machine

def _pf(address: str, node: int, **more) -> Pf:
    return Pf(address, **{"ids": "15b3:1021", "board_ids": "15b3:0041", "node": node,
                          "driver": "mlx5_core", "vpd": {"SN": "MT2421600A1B"}, **more})


def test_primary_is_first_in_channel_order():
    """Whatever the order of addresses: Linux takes the lowest bus, and tells which it took."""
    pfs = [_pf("0000:16:00.0", 0, joined_to="0000:99:00.0"),
           _pf("0000:99:00.0", 1, joined_to="0000:99:00.0")]
    assert [p.address for p in states.in_channel_order(pfs)] == ["0000:99:00.0", "0000:16:00.0"]


@pytest.mark.parametrize("first, second, state", [
    ({"netdevs": [Netdev("e")]}, {"netdevs": [Netdev("f")]}, states.APART),
    ({}, {}, states.HALF_JOINED),
    ({}, {"driver": "vfio-pci"}, states.HALF_JOINED),
    ({"netdevs": [Netdev("e")]}, {"driver": "vfio-pci"}, states.APART),
    ({"driver": None}, {"driver": None}, states.APART),
    ({"ids": "14e4:1760"}, {"ids": "14e4:1760"}, states.OTHER),
    ({"netdevs": [Netdev("e")], "lag": "roce"}, {"netdevs": [Netdev("f")], "lag": "roce"},
     states.APART),
    ({"netdevs": [Netdev("e")], "lag": states.MPESW}, {"netdevs": [Netdev("f")]}, states.APART),
    ({"netdevs": [Netdev("e", switch_id="1")]}, {"netdevs": [Netdev("f", switch_id="1")]},
     states.APART),
])
def test_state_of_a_wire(first, second, state):
    """A switch id alone tells nothing: recent kernels show it in every mode."""
    machine = Machine(nodes=[Node(0, [0, 1], [0]), Node(1, [2, 3], [1])])
    machine.pfs = [_pf("0000:16:00.0", 0, **first), _pf("0000:99:00.0", 1, **second)]
    board, = boards.find(machine)
    assert [w.state for w in board.wires] == [state]
    assert advice.tier(board.wires[0])[0] in ("exact", "queue")
