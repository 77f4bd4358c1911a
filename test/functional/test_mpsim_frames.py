# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC: which frames it takes, and what it does to them."""

import re

import pytest
from scapy.packet import Raw

from octotest import packets
from octotest.packets import ICMP, IP, TCP, UDP, Dot1Q, Ether
from octotest.simbench import FAR, PF0, PF1, PLAYER, SimBench

QUEUES = 2
FLOW = packets.Flow("udp", "10.1.0.1", 1000, "10.2.0.1", 2000)
CSUMS = ("ipv4_cksum", "udp_cksum", "tcp_cksum")
OTHER_MAC = "02:00:00:00:00:99"
GROUP = "01:00:5e:00:00:05"


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """Two PFs as testpmd sets them up, which is promiscuous."""
    return shared(lambda: SimBench(tmp_path_factory.mktemp("sim"), QUEUES,
                                   mbufs=16384, memory=256))


@pytest.fixture
def bench(shared_bench):
    """That bench."""
    return shared_bench.get()


@pytest.fixture
def choosy(bench):
    """Promiscuous mode off."""
    bench.cmds(f"set promisc {port} off" for port in (PF0, PF1))
    yield bench
    if bench.alive():
        bench.cmds(f"set promisc {port} on" for port in (PF0, PF1))


@pytest.fixture
def with_offloads(bench):
    """Switch Rx offloads on for one test."""
    used = []

    def switch(*names, direction="rx"):
        used.append((names, direction))
        bench.offload(*names, direction=direction)
        return bench
    yield switch
    if bench.alive():
        for names, direction in used:
            bench.offload(*names, on=False, direction=direction)


def _mac(bench) -> str:
    return next(p.mac for p in bench.ports() if p.port == PF0)


def _to(mac) -> Ether:
    return FLOW.packet(dst_mac=mac)


def _accepts(bench, mac) -> bool:
    taken = len(bench.play([_to(mac)])) == 1
    assert bench.drops() == ({} if taken else {"nic_mac_filter_drops": 1})
    return taken


# The MAC filter.

def test_own_address_and_broadcast_are_taken(choosy):
    """And nobody else's."""
    assert _accepts(choosy, _mac(choosy))
    assert _accepts(choosy, "ff:ff:ff:ff:ff:ff")
    assert not _accepts(choosy, OTHER_MAC)
    assert not _accepts(choosy, GROUP)


@pytest.mark.parametrize("port", [PF0, PF1])
def test_one_promiscuous_pf_is_enough(choosy, port):
    """The filter belongs to the NIC."""
    choosy.cmd(f"set promisc {port} on")
    assert _accepts(choosy, OTHER_MAC)
    choosy.cmd(f"set promisc {port} off")
    assert not _accepts(choosy, OTHER_MAC)


@pytest.mark.parametrize("port", [PF0, PF1])
def test_allmulticast(choosy, port):
    """Takes all groups, not other unicast addresses."""
    choosy.cmd(f"set allmulti {port} on")
    assert _accepts(choosy, GROUP)
    assert not _accepts(choosy, OTHER_MAC)
    choosy.cmd(f"set allmulti {port} off")
    assert not _accepts(choosy, GROUP)


@pytest.mark.parametrize("port", [PF0, PF1])
def test_group_in_the_list(choosy, port):
    """Only the group that was asked for."""
    choosy.cmd(f"mcast_addr add {port} {GROUP}")
    assert _accepts(choosy, GROUP)
    assert not _accepts(choosy, "01:00:5e:00:00:06")
    choosy.cmd(f"mcast_addr remove {port} {GROUP}")
    assert not _accepts(choosy, GROUP)


def test_second_address(choosy):
    """Stays while any PF wants it."""
    for port in (PF0, PF1):
        choosy.cmd(f"mac_addr add {port} {OTHER_MAC}")
    assert _accepts(choosy, OTHER_MAC)
    choosy.cmd(f"mac_addr remove {PF0} {OTHER_MAC}")
    assert _accepts(choosy, OTHER_MAC)
    choosy.cmd(f"mac_addr remove {PF1} {OTHER_MAC}")
    assert not _accepts(choosy, OTHER_MAC)


def test_new_address_is_that_of_all_pfs(choosy):
    """Set on one, shown by all, the old one no longer taken."""
    old = _mac(choosy)
    choosy.cmd(f"mac_addr set {PF1} {OTHER_MAC}")
    try:
        shown = {p.mac.lower() for p in choosy.ports()
                 if p.port in (PF0, PF1)}
        assert shown == {OTHER_MAC}
        assert _accepts(choosy, OTHER_MAC)
        assert not _accepts(choosy, old)
    finally:
        choosy.cmd(f"mac_addr set {PF0} {old}")


# Length.

def _long(length: int):
    return Ether(dst="02:00:00:00:00:02") / IP(src="10.1.0.1",
                                               dst="10.2.0.1") / \
        UDP(sport=7, dport=8) / Raw(bytes(i % 251 for i in
                                          range(length - 42)))


def test_mtu_limits_the_frame(bench):
    """1518 bytes by default, VLAN tag included."""
    seen = bench.play([_long(1518), _long(1519)])
    assert [s.length for s in seen] == [1518]
    assert bench.drops() == {"rx_oversize_drops": 1}
    assert bench.xstat(PF0, "rx_errors") == 1


@pytest.fixture
def jumbo(bench):
    """MTU 9710 at either end of the cable; the player, too, may have to be told."""
    for port in (PLAYER, FAR):
        if "SCATTER" in bench.cmd(f"show port {port} rx_offload capabilities"):
            bench.cmds([f"port stop {port}",
                        f"port config {port} rx_offload scatter on",
                        f"port start {port}"])
    bench.cmds(f"port config mtu {p} 9710" for p in (FAR, PF0, PF1))
    yield bench
    if bench.alive():
        bench.cmds(f"port config mtu {p} 1500" for p in (FAR, PF0, PF1))


def test_scatter_chains_buffers(jumbo, with_offloads):
    """Content and length survive; 2048 bytes fit into a buffer."""
    with_offloads("scatter")
    jumbo.cmds(f"port config mtu {p} 9710" for p in (PF0, PF1))
    frames = [_long(n) for n in (2047, 2048, 2049, 4096, 4097, 9000, 9728)]
    seen = jumbo.play(frames)
    segments = [int(re.search(r"nb_segs=(\d+)", s.text)[1]) for s in seen]
    assert segments == [1, 1, 2, 2, 3, 5, 5]
    assert [s.length for s in seen] == [len(f) for f in frames]
    assert jumbo.returned() == [bytes(f) for f in frames]


def test_without_scatter_long_frames_are_errors(jumbo):
    """What does not fit a buffer is dropped and counted."""
    seen = jumbo.play([_long(2048), _long(2049), _long(9000)])
    assert [s.length for s in seen] == [2048]
    assert jumbo.drops() == {"rx_too_long_drops": 2}
    assert jumbo.xstat(PF0, "rx_errors") == 2


# Checksums.

def _cksum_flags(seen) -> tuple:
    found = re.search(r"RX_L4_CKSUM_(\w+) RTE_MBUF_F_RX_IP_CKSUM_(\w+)",
                      seen.text)
    return (found[2], found[1])


def _broken(frame, layer, field):
    """The same frame with one wrong checksum."""
    frame = Ether(bytes(frame))
    setattr(frame[layer], field, getattr(frame[layer], field) ^ 0x0100)
    return frame


def test_checksums_are_checked(with_offloads):
    """IPv4, UDP and TCP, over IPv4 and IPv6: good, bad or unknown."""
    bench = with_offloads(*CSUMS)
    rows = []
    for proto, layer in (("udp", UDP), ("tcp", TCP)):
        for version, good in ((4, "GOOD"), (6, "UNKNOWN")):
            frame = packets.flows(1, version, proto)[0].packet()
            rows.append((frame, (good, "GOOD")))
            rows.append((_broken(frame, layer, "chksum"), (good, "BAD")))
    rows.append((_broken(FLOW.packet(), IP, "chksum"), ("BAD", "GOOD")))
    rows.append((Ether(dst="02:00:00:00:00:02") / IP() / ICMP(),
                 ("GOOD", "UNKNOWN")))
    seen = []
    for frame, _ in rows:  # one by one: RSS would mix them
        seen += bench.play([frame])
    assert [_cksum_flags(s) for s in seen] == [row[1] for row in rows]


def test_checksums_are_not_checked_unasked(bench):
    """Unknown, whatever they are."""
    seen = bench.play([FLOW.packet(), _broken(FLOW.packet(), UDP, "chksum")])
    assert [_cksum_flags(s) for s in seen] == [("UNKNOWN", "UNKNOWN")] * 2


def _needs_checksums(version, proto):
    frame = packets.flows(1, version, proto)[0].packet(payload=b"odd")
    good = Ether(bytes(frame))
    bad = _broken(frame, {"udp": UDP, "tcp": TCP}[proto], "chksum")
    return (_broken(bad, IP, "chksum") if version == 4 else bad), good


@pytest.mark.parametrize("version, proto", [
    c for c in packets.COMBINATIONS if c[1] != "sctp"])
def test_checksums_are_filled_in(with_offloads, version, proto):
    """testpmd's csum engine leaves them to the NIC."""
    bench = with_offloads("ipv4_cksum", "udp_cksum", "tcp_cksum",
                          direction="tx")
    for port in (PF0, PF1):
        bench.cmd(f"port stop {port}")
        bench.cmds(f"csum set {what} hw {port}"
                   for what in ("ip", "udp", "tcp"))
        bench.cmd(f"port start {port}")
    bad, good = _needs_checksums(version, proto)
    bench.play([bad], engine="csum")
    back = [Ether(f) for f in bench.returned()]
    assert len(back) == 1
    assert bytes(back[0].payload) == bytes(good.payload)  # MACs are swapped


# VLAN.

def _tagged(vlan: int, prio: int = 0):
    frame = FLOW.packet()
    return Ether(dst=frame.dst, src=frame.src) / Dot1Q(
        vlan=vlan, prio=prio) / frame.payload


def test_tag_is_stripped(with_offloads):
    """Tag in the mbuf, not in the frame."""
    bench = with_offloads("vlan_strip")
    seen = bench.play([_tagged(0x123, 5), FLOW.packet()])
    tagged = next(s for s in seen if "VLAN tci=0xa123" in s.text)
    plain = next(s for s in seen if s is not tagged)
    assert "RX_VLAN_STRIPPED" in tagged.text
    assert tagged.length == plain.length == len(FLOW.packet())
    assert "RX_VLAN" not in plain.text
    assert bench.returned() == [bytes(FLOW.packet())] * 2


def test_tag_stays_without_strip(bench):
    """Frame as it came, but recognised."""
    seen = bench.play([_tagged(5)])
    assert "RX_VLAN" not in seen[0].text
    assert "hw ptype: L2_ETHER_VLAN L3_IPV4 L4_UDP" in seen[0].text
    assert bench.returned() == [bytes(_tagged(5))]


def test_strip_on_one_queue(bench):
    """`vlan set stripq` overrules the port."""
    for queue in range(QUEUES):
        bench.cmd(f"vlan set stripq on {PF0},{queue}")
    assert "RX_VLAN_STRIPPED" in bench.play([_tagged(5)])[0].text
    for queue in range(QUEUES):
        bench.cmd(f"vlan set stripq off {PF0},{queue}")
    assert "RX_VLAN_STRIPPED" not in bench.play([_tagged(5)])[0].text


def test_vlan_filter(bench):
    """Only VLANs that were added; untagged and priority-tagged frames too."""
    bench.cmd(f"vlan set filter on {PF0}")
    try:
        bench.cmd(f"rx_vlan add 5 {PF0}")
        seen = bench.play([_tagged(5), _tagged(6), _tagged(0, 3),
                           FLOW.packet()])
        assert len(seen) == 3
        assert bench.drops() == {"rx_vlan_filter_drops": 1}
        bench.cmd(f"rx_vlan rm 5 {PF0}")
        assert bench.play([_tagged(5)]) == []
    finally:
        bench.cmd(f"vlan set filter off {PF0}")


def test_tag_is_inserted(with_offloads):
    """What PF 1 sends gets the tag of the port."""
    bench = with_offloads("vlan_insert", direction="tx")
    bench.configure(f"tx_vlan set {PF1} 77")
    try:
        bench.play([FLOW.packet()], engine="mac")
        back = [Ether(f) for f in bench.returned()]
        assert [f[Dot1Q].vlan for f in back] == [77]
        assert bytes(back[0][Dot1Q].payload) == bytes(FLOW.packet().payload)
    finally:
        bench.configure(f"tx_vlan reset {PF1}")


# Queues, links, buffers.

def test_stopped_queue_drops(bench):
    """And takes again when started."""
    bench.cmds(f"port {PF0} rxq {q} stop" for q in range(QUEUES))
    try:
        assert bench.play([FLOW.packet()]) == []
        assert bench.drops() == {"rx_stopped_drops": 1}
    finally:
        bench.cmds(f"port {PF0} rxq {q} start" for q in range(QUEUES))
    assert len(bench.play([FLOW.packet()])) == 1


def test_link_down_drops_and_is_told(bench):
    """The application hears of it; Rx and Tx drop and count."""
    start = len(bench.text)
    bench.cmd(f"set link-down port {PF0}")
    bench.expect("Port 2: link state change event", start)
    assert bench.link(PF0) == "down" and bench.link(PF1) == "up"
    assert bench.play([FLOW.packet()]) == []
    assert bench.drops() == {"rx_link_down_drops": 1}
    bench.cmd(f"set link-up port {PF0}")
    assert bench.link(PF0) == "up"
    assert len(bench.play([FLOW.packet()])) == 1


def test_link_down_drops_on_tx(bench):
    """What arrives by PF 0 leaves by PF 1."""
    bench.cmd(f"set link-down port {PF1}")
    try:
        assert len(bench.play([FLOW.packet()])) == 1
        assert bench.xstat(PF1, "tx_link_down_drops") == 1
        assert bench.xstat(PF1, "tx_errors") == 1
        assert bench.returned() == []
    finally:
        bench.cmd(f"set link-up port {PF1}")


def test_full_ring_drops_and_counts(bench):
    """A queue that nobody polls holds what it has descriptors for."""
    frames = [FLOW.packet()] * 1100
    assert bench.play(frames, ports=[PF1]) == []
    assert bench.drops() == {"rx_missed_errors": 1100 - 1024,
                             "rx_ring_full_drops": 1100 - 1024}
    assert bench.xstat(PF0, "rx_good_packets") == 1024
    bench.cmds([f"port start {PLAYER}", f"set portlist {PF0}"])
    bench.start("rxonly")
    bench.wait_until("the ring is empty", lambda: bench.telemetry.get(
        "/mpsim/account", "A")["in_rings"] == 0)
    out = bench.stop_forwarding()
    assert re.search(r"RX-packets: 1024 ", out), out
