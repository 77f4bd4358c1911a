# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC: what it can be cabled to."""

import re

import pytest

from octotest import env, packets, vdevs
from octotest.netns import run
from octotest.testpmd import Testpmd

FLOWS = packets.flows(8)


def _forward(pmd, ports, packets_at_least=1000) -> None:
    """Send something around until every port has received."""
    pmd.start("io", first=True)
    pmd.wait_until("traffic", lambda: all(
        pmd.stats(p)["RX-packets"] >= packets_at_least for p in ports))
    pmd.stop_forwarding()


def test_loop_hears_itself():
    """What a PF sends comes back by the default PF."""
    with Testpmd(vdevs.nic("A", 0, 2, "loop")) as pmd:
        pmd.cmd("set portlist 1,0")
        _forward(pmd, [0])
        assert pmd.stats(1)["RX-packets"] == 0
        # what is still on the wire when forwarding stops was not received
        assert 0 <= pmd.stats(1)["TX-packets"] + pmd.stats(0)["TX-packets"] \
            - pmd.stats(0)["RX-packets"] <= 1024


@pytest.mark.parametrize("one, other", [("nic:B", None), (None, "nic:A"),
                                        ("nic:B", "nic:A")])
def test_cable_joins_two_nics(one, other):
    """Named by either end, or by both."""
    with Testpmd([vdevs.mpsim(0, "A", wire=one),
                  vdevs.mpsim(1, "B", wire=other)]) as pmd:
        _forward(pmd, [0, 1])
        assert pmd.link(0) == pmd.link(1) == "up"


def test_several_pairs_do_not_mix():
    """NICs of one process are apart."""
    with Testpmd([vdevs.mpsim(0, "A", wire="nic:B"),
                  vdevs.mpsim(1, "B"),
                  vdevs.mpsim(2, "C", wire="nic:D"),
                  vdevs.mpsim(3, "D")]) as pmd:
        pmd.cmd("set portlist 0,1")
        _forward(pmd, [0, 1])
        for port in (2, 3):
            assert pmd.stats(port)["RX-packets"] == 0
            assert pmd.xstats(port)["nic_wire_packets"] == 0


def test_other_end_comes_later():
    """net_memif does not tell that its link is up: it is looked at."""
    socket = f"socket={env.unique()},id=0"
    with Testpmd([f"--vdev=net_memif0,role=server,{socket}",
                  *vdevs.nic("A", 0, 2, "net_memif0"), vdevs.octo()]) as pmd:
        port = pmd.port("net_octo0")
        assert pmd.link(port) == "down"
        with Testpmd([f"--vdev=net_memif0,role=client,{socket}"], queues=1):
            pmd.wait_until("the link is up", lambda: pmd.link(port) == "up")
        # net_memif frees what it listens by, and EAL still looks at it: SIGSEGV at the end
        pmd.kill()


def test_cable_to_nobody_is_down():
    """A peer without PFs: link down, what is sent is dropped and counted."""
    with Testpmd([vdevs.mpsim(0, "A", wire="nic:B")]) as pmd:
        assert pmd.link(0) == "down"
        pmd.start("io", first=True)
        pmd.stop_forwarding()
        xstats = pmd.xstats(0)
        assert xstats["tx_no_wire_drops"] > 0
        assert xstats["tx_errors"] == xstats["tx_no_wire_drops"]
        out = pmd.cmd("port attach net_mpsim1,nic=B")
        assert "is attached" in out, out
        pmd.wait_until("link up", lambda: pmd.link(0) == "up")


def test_no_wire_drops_and_counts():
    """Link up, nothing arrives."""
    with Testpmd([vdevs.mpsim(0, "A")]) as pmd:
        assert pmd.link(0) == "up"
        pmd.start("io", first=True)
        pmd.stop_forwarding()
        assert pmd.stats(0)["RX-packets"] == 0
        assert pmd.xstats(0)["tx_no_wire_drops"] > 0


def _pcap_wire(directory, first: bool, frames) -> list:
    rx = packets.write(directory / "in.pcap", frames)
    wire = vdevs.pcap_wire(rx, directory / "out.pcap")
    pf = vdevs.mpsim(0, "A", wire="net_pcap0")
    return [wire, pf] if first else [pf, wire]


@pytest.mark.parametrize("first", [True, False],
                         ids=["wire-first", "wire-last"])
def test_ethdev_wire(tmp_path_factory, first):
    """Owned by the NIC, whatever the order of the command line."""
    frames = packets.numbered(FLOWS, 4)
    # Short: from 26.07 on a driver can probe a device by 127 bytes at most.
    directory = tmp_path_factory.mktemp("w")
    with Testpmd(_pcap_wire(directory, first, frames), queues=1) as pmd:
        assert [p.name for p in pmd.ports()] == ["net_mpsim0"]
        port = pmd.port("net_mpsim0")
        pmd.start("io")
        pmd.wait_until("all frames", lambda:
                       pmd.stats(port)["TX-packets"] == len(frames))
        pmd.stop_forwarding()
    assert packets.read_bytes(directory / "out.pcap") == \
        [bytes(f) for f in frames]


def test_ethdev_wire_follows_stop_and_start(tmp_path):
    """The first PF that starts starts the wire, the last one stops it."""
    frames = packets.numbered(FLOWS, 1)
    args = [*_pcap_wire(tmp_path, True, frames), vdevs.mpsim(1, "A", 1)]
    with Testpmd(args, queues=1) as pmd:
        ports = [pmd.port(f"net_mpsim{i}") for i in range(2)]
        wire = 0
        assert pmd.telemetry.get("/ethdev/link_status", wire)["status"] == "UP"
        pmd.cmd(f"port stop {ports[0]}")
        assert pmd.telemetry.get("/ethdev/link_status", wire)["status"] == "UP"
        pmd.cmd(f"port stop {ports[1]}")
        assert pmd.telemetry.get("/ethdev/link_status",
                                 wire)["status"] == "DOWN"
        for port in ports:
            pmd.cmd(f"port start {port}")
        pmd.start("io")  # a restarted player begins anew
        pmd.wait_until("all frames", lambda:
                       pmd.stats(ports[0])["RX-packets"] == len(frames))
        pmd.stop_forwarding()


@pytest.mark.parametrize("wire", ["net_null0", "net_ring0"])
def test_other_ethdevs(wire):
    """Any ethdev will do."""
    with Testpmd([vdevs.mpsim(0, "A", wire=wire), f"--vdev={wire}"],
                 queues=2) as pmd:
        _forward(pmd, [0])


def test_wire_that_goes_away():
    """The port lives on, without a wire."""
    with Testpmd([vdevs.mpsim(0, "A", wire="net_null0"),
                  "--vdev=net_null0"], queues=1) as pmd:
        _forward(pmd, [0])
        pmd.cmd("device detach net_null0")
        assert "wire net_null0 is gone" in pmd.text
        pmd.wait_until("link down", lambda: pmd.link(0) == "down")
        before = pmd.stats(0)["RX-packets"]
        pmd.start("io", first=True)
        pmd.stop_forwarding()
        assert pmd.stats(0)["RX-packets"] == before
        assert pmd.xstats(0)["tx_no_wire_drops"] > 0
        pmd.cmd("port stop 0")


def test_last_pf_gives_the_wire_back():
    """The ethdev is the application's again, and another NIC may have it."""
    with Testpmd([vdevs.mpsim(0, "A", wire="net_null0"),
                  "--vdev=net_null0"], queues=1) as pmd:
        pmd.cmds(["port stop 0", "port detach 0"])
        assert [p.name for p in pmd.ports()] == ["net_null0"]
        out = pmd.cmd("port attach net_mpsim7,nic=B,wire=net_null0")
        assert "is attached" in out, out
        assert [p.name for p in pmd.ports()] == ["net_mpsim7"]


# Of a NIC's wire on a kernel interface: net_pcap's iface= hears what it sends itself.
def _on_veth(name: str, veth: str) -> str:
    return f"--vdev={name}," + (f"rx_iface_in={veth},tx_iface={veth}" if name == "net_pcap0"
                                else f"iface={veth}")


def _ping_by_fragments(host, wire: str, comes) -> dict:
    """What a port has counted that was sent one datagram of 2 fragments, and a small one.

    So many packets come in as comes() says of DPDK's release.
    """
    host.neighbour(f"10.{host.number}.0.9", "02:00:00:00:00:09")
    with Testpmd([vdevs.mpsim(0, "A", wire=wire, mac="02:00:00:00:00:09"),
                  _on_veth(wire, host.wire)], queues=1) as pmd:
        port = pmd.port("net_mpsim0")
        pmd.cmd(f"set promisc {port} off")
        pmd.start("rxonly")
        for size in (2500, 8):
            host.run("ping", "-c", 1, "-W", "0.1", "-s", size, f"10.{host.number}.0.9",
                     check=False)
        wanted = comes(pmd.release())
        pmd.wait_until("all of it", lambda: pmd.xstats(port)["rx_good_packets"] == wanted)
        found = pmd.xstats(port)
        pmd.stop_forwarding()
    return found


def test_fragments_come_through(hosts, program):
    """By net_pcap they arrive as they are: the wire that the guide names."""
    program("ping")
    found = _ping_by_fragments(hosts[0], "net_pcap0", lambda _: 3)
    assert found["rx_errors"] == 0


def test_af_packet_reassembles(hosts, program):
    """Until DPDK 24.11 one long frame comes in the place of the fragments, and is dropped."""
    program("ping")
    found = _ping_by_fragments(hosts[0], "net_af_packet0",
                               lambda release: 1 if release < (25, 3) else 3)
    # the one, or none
    assert found["rx_oversize_drops"] == (found["rx_good_packets"] == 1)


def test_frames_above_a_buffer_are_refused(hosts):
    """The reason is told; net_af_packet's own error is that there is no memory."""
    for size, fits in ((16384, False), (8192, True)):
        with Testpmd([vdevs.mpsim(0, "A", wire="net_af_packet0"),
                      f"--vdev=net_af_packet0,iface={hosts[0].wire},framesz={size},"
                      f"blocksz={size},framecnt=64"], ["--disable-device-start"], queues=1) as pmd:
            pmd.cmd(f"port start {pmd.port('net_mpsim0')}")
            said = re.search("the wire net_af_packet0 takes no buffers of 9728 bytes: .*framesz=8192 "
                             "fits", pmd.text)
            assert (said is None) == fits, pmd.text


def test_kernel_packets_come_through(root, program):
    """net_af_packet on a veth: ping is answered by testpmd's icmpecho."""
    program("ping")
    tag = env.unique("w")
    run("ip", "link", "add", f"{tag}0", "type", "veth", "peer", f"{tag}1")
    try:
        run("ip", "netns", "add", tag)
        run("ip", "link", "set", f"{tag}1", "netns", tag)
        run("ip", "link", "set", f"{tag}0", "up")
        run("ip", "-n", tag, "addr", "add", "10.9.0.1/24", "dev", f"{tag}1")
        run("ip", "-n", tag, "link", "set", f"{tag}1", "up")
        with Testpmd([vdevs.mpsim(0, "A", wire="net_af_packet0"),
                      f"--vdev=net_af_packet0,iface={tag}0"],
                     queues=1) as pmd:
            pmd.start("icmpecho")
            for _ in range(5):  # -W is for the first answer alone
                out = run("ip", "netns", "exec", tag, "ping", "-c", 1, "-W",
                          round(env.seconds(2)), "10.9.0.2", check=False)
                assert re.search(r"1 received", out), out
            pmd.stop_forwarding()
    finally:
        run("ip", "link", "del", f"{tag}0", check=False)
        run("ip", "netns", "del", tag, check=False)
