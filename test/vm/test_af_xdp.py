# SPDX-License-Identifier: BSD-3-Clause
"""octo over slices of a net_af_xdp port, steered by the guest's own kernel.

Its netdev is a virtio-net of four channels, which take turns at being on node 0 and on node 1. The
host's kernel speaks TCP with itself by testpmd, which returns each frame to its sender.
"""

import re

import pytest

from octotest import env
from octotest.view import View, forwarded
from octovm import initramfs
from octovm.qemu import Machine
from octovm.tap import ADDRESS, Connections, Tap

QUEUES = 2  # of the octo port
CHANNELS = 4
# virtio-net takes an XDP program only with a Tx queue for each CPU beside those of the channels
QUEUE_PAIRS = 8
FLOWS = 128
EACH = 4096  # bytes
MBUFS = 16384  # net_af_xdp keeps 2,048 of them in each queue
OWN_RETA = "equal 3"  # that the guest has before octo runs
# Of Microsoft's "Verifying the RSS Hash Calculation". The kernel draws another at each boot, and
# one of a hundred gives a channel none of these flows.
HASH_KEY = ":".join(re.findall("..", (
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")))
HOME_CHANNELS = {0: 0, 1: 3}  # of each queue while lcore 1 polls queue 0, lcore 2 queue 1
SWAPPED_CHANNELS = {0: 1, 1: 2}
GRACE_US = 1_000_000  # frames wait in the tap device and in QEMU while QEMU has no CPU
MAP = "/sys/fs/bpf/xsks_map"  # of the sockets, pinned there for whoever lacks CAP_NET_ADMIN
AGENT = "unix:/run/octo-eth0.sock"
# What a testpmd keeps that has an XDP program and its map made by another.
CONFINED = ("/usr/bin/setpriv", "--bounding-set=-all,+net_raw,+ipc_lock")
CONFINED_CAPS = 1 << 13 | 1 << 14
NO_RULES = ("the kernel has no such ntuple rules for this netdev: see ntuple in ethtool -k")


def lacks():
    """Why net_af_xdp cannot be had in the guest, or nothing."""
    if not initramfs.has_driver("net_af_xdp") or not initramfs.xdp_programs():
        return "no net_af_xdp here"
    return "" if env.find_binary("ethtool") else "no ethtool here"


@pytest.fixture(scope="module")
def tap():
    """The cable."""
    if lacks():
        pytest.skip(lacks())
    made = Tap(QUEUE_PAIRS)
    yield made
    made.close()


@pytest.fixture(scope="module")
def guest(boot, tap):
    """A machine whose kernel has the netdev eth0, with a RETA that an administrator has set."""
    booted = boot(Machine(pfs=[tap.nic(0)]))
    tap.plug_in()
    booted.run("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6")
    booted.modprobe("virtio_net")
    booted.run("mount -t bpf bpf /sys/fs/bpf && /usr/sbin/ip link set eth0 up")
    booted.run(f"ethtool -L eth0 combined {CHANNELS} && ethtool -X eth0 {OWN_RETA}"
               f" hkey {HASH_KEY}")
    return booted


def reta(guest):
    """The channels of the netdev's RETA."""
    rows = re.findall(r"^ +\d+: +(.*)$", guest.run("ethtool -x eth0"), re.MULTILINE)
    return [int(channel) for row in rows for channel in row.split()]


def start(guest, af_xdp="", octo="", **more):
    """testpmd whose lcores are on different nodes, with more devargs of both drivers."""
    pmd = guest.testpmd(
        [f"--vdev=net_af_xdp0,iface=eth0,queue_count={CHANNELS}{af_xdp}",
         "--vdev=net_octo0,pf=net_af_xdp0[0::2]@0,pf=net_af_xdp0[1::2]@1,"
         f"grace_us={GRACE_US}{octo}"],
        queues=QUEUES, mbufs=MBUFS, app=["--rss-ip"], **more)
    assert "Start ports failed" not in pmd.boot_text, pmd.boot_text
    return pmd


@pytest.fixture(scope="module")
def testpmd(guest):
    """It ends with the module, or before."""
    pmd = start(guest)
    pmd.keep = True
    yield pmd
    pmd.kill()


@pytest.fixture(scope="module")
def running(testpmd):
    """It returns frames, all of them (retry: for up to 10 s), and homes are known."""
    return forward(testpmd)


def forward(pmd):
    """Begin, and wait until homes are known; the view."""
    view = View(pmd)
    pmd.cmds(["set fwd 5tswap retry", "set burst tx delay 100 retry 100000", "start"])
    await_homes(view, {0: 0, 1: 1})
    return view


@pytest.fixture(scope="module")
def peer(running, tap):
    """The host's connections, which stay for all tests."""
    connections = Connections(tap, FLOWS)
    connections.talk(1)
    yield connections
    connections.process.kill()


def await_homes(view, homes):
    """Wait until each queue has the home of its poller's node."""
    view.pmd.wait_until(f"homes {homes}", lambda: view.homes() == homes and all(
        queue["cpu"] >= 0 for queue in view.topology()["queues"]))


def await_reta(view, guest, channels):
    """Wait until the netdev's RETA has these channels and no others."""
    view.pmd.wait_until(f"channels {channels}", lambda: set(reta(guest)) == set(channels))


def counted(view):
    """Of each queue: packets by its home leg, and strays."""
    return [(queue["home_packets"], queue["stray_packets"])
            for queue in view.strays()["queues"]]


def await_packets(view):
    """Wait until each queue gets packets by its home leg."""
    before = counted(view)
    view.pmd.wait_until("packets", lambda: all(
        home > home0 for (home, _), (home0, _) in zip(counted(view), before)))


def talk(view, peer, each=EACH):
    """The connections talk; what each queue got, by its home leg and astray."""
    before = counted(view)
    peer.talk(each)
    return [(home - home0, stray - stray0) for (home, stray), (home0, stray0)
            in zip(counted(view), before)]


def assert_at_home(got):
    """Each queue got packets, all of them by its home leg."""
    for home, stray in got:
        assert home > 0 and stray == 0, got


def test_homes_get_all(guest, running, peer, tap):
    """The kernel's RETA has the home legs only, and flows are in order."""
    await_reta(running, guest, HOME_CHANNELS.values())
    before = tap.out_of_order()
    assert_at_home(talk(running, peer))
    assert tap.out_of_order() == before


def test_all_channels_lead_astray(guest, running, peer):
    """Half of the packets, if the RETA has all channels, as by default; a start sets octo's."""
    guest.run(f"ethtool -X eth0 equal {CHANNELS}")
    got = talk(running, peer)
    homes, strays = (sum(column) for column in zip(*got))
    assert 0.3 < strays / (homes + strays) < 0.7, got
    pmd = running.pmd
    pmd.cmds(["stop", f"port stop {running.port}", f"port start {running.port}", "start"])
    await_homes(running, {0: 0, 1: 1})
    await_reta(running, guest, HOME_CHANNELS.values())
    assert_at_home(talk(running, peer))


def test_rules_are_refused_in_a_sentence(running, peer):
    """virtio-net has none."""
    rule = (f"flow create {running.port} ingress pattern eth / ipv4 src is {ADDRESS} dst is"
            " 10.9.0.2 / tcp src is 1 dst is 2 / end actions queue index 1 / end")
    assert NO_RULES in running.pmd.cmd(rule)
    assert running.pmd.boot_text.count(f"takes no rules: {NO_RULES}") == 1
    assert running.steering()["total"] == 0
    assert_at_home(talk(running, peer))


def unsent(view):
    """Packets that the port has received and not sent."""
    stats = view.stats()
    return stats["RX-packets"] - stats["TX-packets"]


@pytest.mark.long  # order depends on the time for which QEMU gets no CPU
def test_a_rehome_is_followed(guest, running, peer, tap):
    """Under traffic each queue goes to the other node's lcore, and back. TCP gets no segment
    before an earlier one, and testpmd drops none."""
    pmd = running.pmd
    pmd.cmds(["stop", "start"])
    before = unsent(running), tap.out_of_order()
    dropped = 0
    for lcores, homes, channels in (("2,1", {0: 1, 1: 0}, SWAPPED_CHANNELS),
                                    ("1,2", {0: 0, 1: 1}, HOME_CHANNELS)):
        with peer.talking():
            await_packets(running)
            dropped += forwarded(pmd.stop_forwarding(), running.port)["TX-dropped"]
            pmd.cmds([f"set corelist {lcores}", "start"])
            await_homes(running, homes)
            await_reta(running, guest, channels.values())
            await_packets(running)
        assert_at_home(talk(running, peer))
    dropped += forwarded(pmd.stop_forwarding(), running.port)["TX-dropped"]
    pmd.cmd("start")
    pmd.wait_until("all are sent", lambda: unsent(running) == before[0])
    assert (tap.out_of_order(), dropped) == (before[1], 0)


def test_what_is_lost_is_counted(guest, running, peer, tap):
    """Each frame that the host has sent was received or is counted by the kernel, and so back."""
    peer.talk(EACH)

    def all_are_counted():
        host, port = tap.counts(), running.stats()
        drops = re.findall(r" rx_queue_\d+_drops: (\d+)", guest.run("ethtool -S eth0"))
        return (host["tx_packets"] == port["RX-packets"] + sum(map(int, drops)) and
                port["TX-packets"] == host["rx_packets"])
    running.pmd.wait_until("all are counted", all_are_counted)


def test_there_are_no_offloads(running):
    """net_af_xdp has none: the application computes and checks all checksums."""
    for way in ("rx", "tx"):
        shown = running.pmd.cmd(f"show port {running.port} {way}_offload capabilities")
        assert "Per Port" in shown and "CKSUM" not in shown


def change_channels(guest, number):
    """How an administrator's attempt ended."""
    return guest.call(f"ethtool -L eth0 combined {number}")


def test_channels_stay_while_the_port_is_there(guest, running, peer):
    """virtio-net refuses fewer and more while XDP is on; the port notices nothing."""
    running.pmd.cmd("")
    said = len(running.pmd.text)
    before = guest.run("ethtool -l eth0")
    for number in (CHANNELS // 2, CHANNELS + 1):
        refused = change_channels(guest, number)
        assert refused.status != 0 and "Invalid argument" in refused.text, refused
    assert guest.run("ethtool -l eth0") == before
    assert_at_home(talk(running, peer))
    assert "OCTO:" not in running.pmd.text[said:]


def test_the_netdev_has_its_reta_back(guest, testpmd):
    """Once octo has ended."""
    own = {0, 1, 2}
    assert set(reta(guest)) != own
    assert testpmd.quit() == 0
    assert set(reta(guest)) == own


def test_a_crash_is_made_good(guest):
    """By the next testpmd, which leaves the RETA as the first one has found it."""
    own = reta(guest)
    start(guest).kill()
    guest.run("while pidof octo-testpmd; do usleep 10000; done")
    assert reta(guest) != own
    with start(guest):
        assert reta(guest) != own
    assert reta(guest) == own
    assert guest.call("ls /var/run/dpdk/octo_ethtool_*").status != 0


@pytest.fixture
def program(guest):
    """An XDP program that root has loaded, and its map."""
    path = next(path for path in initramfs.xdp_programs() if path.name == "xsk_def_xdp_prog.o")
    guest.run(f"/usr/sbin/ip link set eth0 xdp object {path} section xdp"
              f" && octo-guest pin xsks_map {MAP}")
    yield
    guest.run(f"/usr/sbin/ip link set eth0 xdp off; rm {MAP}")


def start_confined(guest, octo=""):
    """testpmd without CAP_NET_ADMIN, CAP_BPF and CAP_SYS_ADMIN."""
    if initramfs.knows_devarg("net_af_xdp", "use_pinned_map"):
        pmd = start(guest, f",use_pinned_map=1,dp_path={MAP}", octo, under=CONFINED)
    else:
        pmd = start(guest, "", octo, under=[
            *CONFINED, "env", "LD_PRELOAD=/usr/lib/libocto-pinned.so", f"OCTO_XSKS_MAP={MAP}"])
    caps = guest.run("grep CapEff /proc/$(pidof octo-testpmd)/status").split()[1]
    assert int(caps, 16) == CONFINED_CAPS
    return pmd


@pytest.mark.long
def test_an_agent_steers_for_who_must_not(guest, program, peer):
    """testpmd without CAP_NET_ADMIN: octo-agent sets the RETA, has it follow a rehome, and gives
    it back at the end."""
    own = reta(guest)
    agent = guest.agent(["--ethtool", "eth0", "--listen", AGENT],
                        ("/usr/bin/setpriv", "--bounding-set=-all,+net_admin"))
    with start_confined(guest, f",ethtool={AGENT}") as pmd:
        view = forward(pmd)
        await_reta(view, guest, HOME_CHANNELS.values())
        assert_at_home(talk(view, peer))
        pmd.cmds(["stop", "set corelist 2,1", "start"])
        await_homes(view, {0: 1, 1: 0})
        await_reta(view, guest, SWAPPED_CHANNELS.values())
        assert_at_home(talk(view, peer))
        assert "CAP_NET_ADMIN" not in pmd.text
    agent.expect("the port has gone, and its rules with it")
    assert reta(guest) == own
    guest.run("kill -INT $(pidof octo-agent)")
    assert agent.wait() == 0


@pytest.mark.long
def test_without_an_agent_the_remedy_is_named(guest, program):
    """The port starts, and the netdev keeps its own RETA.

    Nothing is sent: virtio-net's RSS is off from a change of its queues, as for an XDP program,
    until the next RETA is set.
    """
    own = reta(guest)
    with start_confined(guest) as pmd:
        for refusal in ("takes no rules", "RSS is as the netdev has it"):
            assert re.search(f"{refusal}: .* CAP_NET_ADMIN.*octo-agent --ethtool IFACE .*"
                             "ethtool=unix:PATH", pmd.boot_text), pmd.boot_text
        assert reta(guest) == own


@pytest.mark.long
def test_no_channel_of_the_reta_goes(guest, peer):
    """Whoever takes the XDP program away can add channels, but not remove those that the RETA
    names. A rehome is followed with more, and the RETA given back."""
    own = reta(guest)
    with start(guest) as pmd:
        view = forward(pmd)
        await_reta(view, guest, HOME_CHANNELS.values())
        guest.run("/usr/sbin/ip link set eth0 xdp off")
        fewer = change_channels(guest, CHANNELS - 1)
        assert "too low for existing indirection table settings" in fewer.text, fewer
        assert change_channels(guest, CHANNELS + 2).status == 0
        assert set(reta(guest)) == set(HOME_CHANNELS.values())
        pmd.cmds(["stop", "set corelist 2,1", "start"])
        await_reta(view, guest, SWAPPED_CHANNELS.values())
        assert "the RETA stays" not in pmd.text
    assert reta(guest) == own
    assert change_channels(guest, CHANNELS).status == 0
