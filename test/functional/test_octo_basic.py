# SPDX-License-Identifier: BSD-3-Clause
"""The octo port as any application sees it, in the stock testpmd."""

import re

import pytest

from octotest import packets, vdevs
from octotest.packets import ICMP, IP, Dot1Q, Ether
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View, forwarded

FLOWS = packets.flows(4)
KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c" \
      "6a42b73bbeac01fa"


@pytest.fixture(scope="module")
def back_to_back(shared):
    """Two octo ports over two NICs joined by a cable, two queues each."""
    return shared(lambda: Testpmd(vdevs.back_to_back()))


@pytest.fixture
def pmd(back_to_back):
    """That testpmd."""
    return back_to_back.get()


@pytest.fixture
def view(pmd):
    """Its first octo port."""
    return View(pmd)


# What the application sees.

def test_only_octo_ports_are_seen(pmd):
    """PFs are owned: the application counts the octo ports only."""
    assert [p.name for p in pmd.ports()] == ["net_octo0", "net_octo1"]
    assert pmd.telemetry.get("/ethdev/list") == [p.port for p in pmd.ports()]


def test_pfs_share_the_mac(pmd, view):
    """The port and all of its PFs have one MAC address, each NIC its own."""
    macs = {info["mac_addr"] for info in view.pf_info()}
    assert macs == {pmd.info(view.port)["MAC address"]}
    assert macs != {pmd.info(pmd.port("net_octo1"))["MAC address"]}


def test_info(pmd, view):
    """Limits are those of the PFs; the driver and the device are octo's."""
    info = pmd.info(view.port)
    assert info["Driver name"] == "net_octo"
    assert info["Device name"] == "net_octo0"
    assert info["Max possible RX queues"] == "16"
    assert info["Redirection table size"] == "128"
    assert info["Hash key size in bytes"] == "40"
    assert info["Connect to socket"] == "0"


def test_topology(view):
    """Every PF is told with its simulated socket, one is the transfer proxy."""
    topology = view.topology()
    assert topology["name"] == "net_octo0"
    assert topology["tier"] == "exact"
    assert [pf["name"] for pf in topology["pfs"]] == vdevs.pf_names()
    assert [pf["socket"] for pf in topology["pfs"]] == [0, 1]
    assert [pf["transfer_proxy"] for pf in topology["pfs"]].count(True) == 1
    assert len(topology["queues"]) == 2


# Traffic.

def test_forwards(pmd, view):
    """Frames go round and round; nothing is lost; the counts agree."""
    pmd.start("io", first=True)
    pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 10000)
    summary = pmd.stop_forwarding()
    other = View(pmd, "net_octo1")
    for v in (view, other):
        v.assert_lost_nothing()
    done = forwarded(summary, view.port)
    assert done["RX-dropped"] == 0 and done["TX-dropped"] == 0
    assert view.stats()["RX-packets"] == done["RX-packets"]
    pmd.cmd("clear port stats all")


def test_each_lcore_sends_by_its_own_pf(pmd, view):
    """Tx leaves by the PF local to the sending CPU."""
    pmd.cmds(["clear port stats all", "clear port xstats all"])
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda: view.stats()["TX-packets"] > 10000)
    pmd.stop_forwarding()
    xstats, homes = view.xstats(), view.homes()
    assert sorted(homes.values()) == [0, 1]
    # Not only octo's word for it: the PFs say the same.
    assert [pf["opackets"] for pf in view.pf_stats()] == \
        [xstats["tx_pf0_packets"], xstats["tx_pf1_packets"]]
    for queue, home in homes.items():
        assert xstats[f"tx_q{queue}_pf{home}_packets"] > 0
        assert xstats[f"tx_q{queue}_pf{1 - home}_packets"] == 0
    assert xstats["tx_pf0_packets"] == xstats["tx_q0_pf0_packets"] \
        + xstats["tx_q1_pf0_packets"]


def test_xstats_names_and_sums(pmd, view):
    """Per-queue home and stray counters exist and add up to the basic."""
    _drain(pmd, view)
    pmd.cmd("clear port stats all")
    pmd.cmd("clear port xstats all")
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 10000)
    pmd.stop_forwarding()
    _drain(pmd, view)
    xstats, stats = view.xstats(), view.stats()
    for queue in (0, 1):
        for kind in ("home", "stray"):
            for unit in ("packets", "bytes"):
                assert f"rx_q{queue}_{kind}_{unit}" in xstats
    for kind in ("home", "stray"):
        assert xstats[f"rx_{kind}_packets"] == \
            sum(xstats[f"rx_q{q}_{kind}_packets"] for q in (0, 1))
    assert xstats["rx_home_packets"] + xstats["rx_stray_packets"] == \
        stats["RX-packets"] == xstats["rx_good_packets"]
    assert sum(v for k, v in xstats.items()
               if re.fullmatch(r"rx_q\d_(home|stray)_bytes", k)) == \
        stats["RX-bytes"]
    assert xstats["steered_flows"] == 0
    for pf in (0, 1):
        assert any(k.startswith(f"pf{pf}_") for k in xstats)
    assert sum(xstats[f"pf{pf}_rx_good_packets"] for pf in (0, 1)) == \
        stats["RX-packets"]


def test_clearing_statistics_clears_all(pmd, view):
    """Clearing the port clears basic, extended and the PFs' counters."""
    pmd.start("flowgen")
    pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
    pmd.stop_forwarding()
    _drain(pmd, view)
    pmd.cmd("clear port stats all")
    pmd.cmd("clear port xstats all")
    assert not any(view.stats().values())
    # memory and what there is now are not counters
    left = {k: v for k, v in view.xstats().items() if v}
    assert left.pop("steered_flows_bytes", 0) >= 0 and left == {"usable_pfs": 2}


def _drain(pmd, view) -> None:
    """Take what is still on the wire and in rings: the NIC counted that."""
    before = [-1]

    def empty() -> bool:
        before.append(view.stats()["RX-packets"])
        return before[-1] == before[-2] and all(
            "count = 0" in pmd.cmd(f"show port {view.port} rxq {q} desc used"
                                   " count") for q in (0, 1))
    pmd.start("rxonly")
    pmd.wait_until("drained", empty)
    pmd.stop_forwarding()


# rte_flow, through testpmd only.

def test_flow_validate_create_query_list_destroy(pmd, view):
    """The life of a rule, with the words of the issue."""
    port, flow = view.port, FLOWS[0]
    assert "validated" in pmd.cmd(flow.rule(port, 1, "validate"))
    assert view.steering()["total"] == 0
    rule = flow_id(pmd.cmd(flow.rule(port, 1, count=True)))
    assert re.search(rf"^{rule}\s.*ETH IPV4 UDP => QUEUE COUNT",
                     pmd.cmd(f"flow list {port}"), re.MULTILINE)
    hits = pmd.cmd(f"flow query {port} {rule} count")
    assert re.search(r"hits: 0\b", hits)
    assert view.xstats()["steered_flows"] == 1
    assert f"Flow rule #{rule} destroyed" in \
        pmd.cmd(f"flow destroy {port} rule {rule}")
    assert view.steering()["total"] == 0
    assert view.xstats()["steered_flows"] == 0


def test_flow_flush(pmd, view):
    """Flush removes every rule."""
    for i, flow in enumerate(FLOWS):
        flow_id(pmd.cmd(flow.rule(view.port, i % 2)))
    assert view.steering()["total"] == len(FLOWS)
    assert pmd.cmd(f"flow flush {view.port}") == ""
    assert view.steering()["total"] == 0
    flow_id(pmd.cmd(FLOWS[0].rule(view.port, 0)))
    pmd.cmd(f"flow flush {view.port}")


def test_port_stop_flushes_rules(pmd, view):
    """Rules live while the port is started."""
    flow_id(pmd.cmd(FLOWS[0].rule(view.port, 1)))
    pmd.cmd(f"port stop {view.port}")
    assert view.steering()["total"] == 0
    pmd.cmd(f"port start {view.port}")
    assert view.xstats()["steered_flows"] == 0
    flow_id(pmd.cmd(FLOWS[0].rule(view.port, 1)))
    pmd.cmd(f"flow flush {view.port}")


@pytest.mark.parametrize("started", [False, True])
def test_flow_isolate(tmp_path, started):
    """In isolated mode only what a rule asks for comes in."""
    frames = packets.numbered(FLOWS, 8)
    with _played(tmp_path, frames) as pmd:
        view = View(pmd)
        if not started:
            pmd.cmd(f"port stop {view.port}")
        out = pmd.cmd(f"flow isolate {view.port} 1")
        assert "Ingress traffic on port" in out and "is now restricted" in out
        pmd.cmd(f"port start {view.port}")
        flow_id(pmd.cmd(FLOWS[2].rule(view.port, 1)))
        seen = pmd.watch(8)
        assert {s.src for s in seen} == {packets.flow_mac(2)}
        assert len(seen) == 8


def _played(tmp_path, frames, queues=2, pfs=2, app=(), **more) -> Testpmd:
    """A testpmd with one octo port; the wire plays the frames once."""
    rx = packets.write(tmp_path / "in.pcap", frames)
    wire = vdevs.pcap_wire(rx, tmp_path / "out.pcap")
    return Testpmd([wire, *vdevs.nic("A", 0, pfs, "net_pcap0", **more),
                    vdevs.octo(0, 0, pfs)], app=app, queues=queues)


# Control operations: done on every PF.

def test_mtu(pmd, view):
    """The MTU changes on a running port and on every PF."""
    before = view.pf_info()[0]["mtu"]
    assert pmd.cmd(f"port config mtu {view.port} 1400") == ""
    assert pmd.info(view.port)["MTU"] == "1400"
    assert [i["mtu"] for i in view.pf_info()] == [1400, 1400]
    pmd.cmd(f"port config mtu {view.port} {before}")
    assert [i["mtu"] for i in view.pf_info()] == [before, before]


def test_mtu_too_large_changes_nothing(pmd, view):
    """An MTU above the limit is refused and no PF keeps it."""
    before = view.pf_info()[0]["mtu"]
    assert pmd.cmd(f"port config mtu {view.port} 60000") != ""
    assert pmd.info(view.port)["MTU"] == str(before)
    assert [i["mtu"] for i in view.pf_info()] == [before, before]


@pytest.mark.parametrize("command, field, shown", [
    ("promisc", "promiscuous", "Promiscuous mode"),
    ("allmulti", "all_multicast", "Allmulticast mode"),
])
def test_promiscuous_and_allmulticast(pmd, view, command, field, shown):
    """Both modes follow on every PF."""
    for word, value in (("on", 1), ("off", 0), ("on", 1)):
        pmd.cmd(f"set {command} {view.port} {word}")
        assert pmd.info(view.port)[shown] == f"{'en' if value else 'dis'}abled"
        assert [i[field] for i in view.pf_info()] == [value, value]
    pmd.cmd(f"set allmulti {view.port} off")


def test_mac_set(pmd, view):
    """A new default MAC address goes to every PF."""
    before = pmd.info(view.port)["MAC address"]
    new = "02:0A:0B:0C:0D:0E"
    assert pmd.cmd(f"mac_addr set {view.port} {new}") == ""
    assert pmd.info(view.port)["MAC address"] == new
    assert {i["mac_addr"] for i in view.pf_info()} == {new}
    pmd.cmd(f"mac_addr set {view.port} {before}")
    assert {i["mac_addr"] for i in view.pf_info()} == {before}


def test_mac_add_and_remove(pmd, view):
    """Further addresses are kept and removed again."""
    extra = "02:0A:0B:0C:0D:0F"
    assert pmd.cmd(f"mac_addr add {view.port} {extra}") == ""
    assert extra in pmd.cmd(f"show port {view.port} macs")
    assert pmd.cmd(f"mac_addr remove {view.port} {extra}") == ""
    assert extra not in pmd.cmd(f"show port {view.port} macs")


def _to(mac: str, index: int):
    return Ether(src=packets.flow_mac(index), dst=mac) / \
        IP(src="10.1.0.1", dst=f"10.2.0.{index + 1}") / ICMP() / (b"." * 40)


def test_mac_filter(tmp_path):
    """Without promiscuity: own, added and broadcast addresses only."""
    own, added, foreign = ("02:0C:00:00:00:01", "02:0C:00:00:00:02",
                           "02:0C:00:00:00:03")
    group = "01:00:5E:00:00:05"
    frames = [_to(mac, i) for i, mac in
              enumerate((own, added, foreign, group, "ff:ff:ff:ff:ff:ff"))]
    with _played(tmp_path, frames, mac=own) as pmd:
        view = View(pmd)
        assert pmd.info(view.port)["MAC address"] == own
        pmd.cmd(f"set promisc {view.port} off")
        pmd.cmd(f"set allmulti {view.port} off")
        pmd.cmd(f"mac_addr add {view.port} {added}")
        seen = pmd.watch(3)
        assert sorted(s.dst for s in seen) == \
            sorted([own, added, "FF:FF:FF:FF:FF:FF"])


def test_allmulticast_lets_groups_in(tmp_path):
    """With allmulticast a group address passes and a foreign one not."""
    frames = [_to("02:0C:00:00:00:03", 0), _to("01:00:5E:00:00:05", 1)]
    with _played(tmp_path, frames, mac="02:0C:00:00:00:01") as pmd:
        view = View(pmd)
        pmd.cmd(f"set promisc {view.port} off")
        pmd.cmd(f"set allmulti {view.port} on")
        assert [s.dst for s in pmd.watch(1)] == ["01:00:5E:00:00:05"]


def test_vlan_filter(tmp_path):
    """With the filter on, only VLANs that were added come in."""
    frames = [Ether(src=packets.flow_mac(v), dst="02:0c:00:00:00:01")
              / Dot1Q(vlan=v) / IP(dst="10.2.0.1") / ICMP() / (b"." * 40)
              for v in (100, 200, 300)]
    with _played(tmp_path, frames) as pmd:
        view = View(pmd)
        pmd.cmd(f"vlan set filter on {view.port}")
        for vlan in (100, 300, 200):
            pmd.cmd(f"rx_vlan add {vlan} {view.port}")
        pmd.cmd(f"rx_vlan rm 200 {view.port}")
        seen = pmd.watch(2)
        assert [s.src for s in seen] == [packets.flow_mac(100),
                                         packets.flow_mac(300)]


def test_vlan_strip(tmp_path):
    """Stripped tags are in the mbuf, not in the frame."""
    frames = [Ether(src=packets.flow_mac(1), dst="02:0c:00:00:00:01")
              / Dot1Q(vlan=77) / IP(dst="10.2.0.1") / ICMP() / (b"." * 40)]
    with _played(tmp_path, frames) as pmd:
        view = View(pmd)
        out = pmd.cmd(f"vlan set strip on {view.port}")
        assert "fail" not in out.lower()
        seen = pmd.watch(1)
        assert "VLAN tci=0x4d" in seen[0].text
        assert seen[0].length == len(frames[0]) - 4


def test_rss_key(pmd, view):
    """The key that is set is the key that is shown."""
    out = pmd.cmd(f"port config {view.port} rss-hash-key ipv4-udp {KEY}")
    assert out == ""
    assert KEY.upper() in pmd.cmd(f"show port {view.port} rss-hash key")


def test_reta(pmd, view):
    """RETA entries that are set are shown, the rest is unchanged."""
    port = view.port
    show = f"show port {port} rss reta 128 (0xffffffffffffffff," \
           "0xffffffffffffffff)"
    before = _reta(pmd.cmd(show))
    assert len(before) == 128
    assert {q for q in before.values()} == {0, 1}
    _set_reta(pmd, port, {0: 1, 1: 1, 127: 0})
    after = _reta(pmd.cmd(show))
    assert after == {**before, 0: 1, 1: 1, 127: 0}
    _set_reta(pmd, port, {i: before[i] for i in (0, 1, 127)})


def _set_reta(pmd, port: int, entries: dict) -> None:
    """testpmd reads at most 127 characters of entries at once."""
    pairs = list(entries.items())
    for i in range(0, len(pairs), 8):
        out = pmd.cmd(f"port config {port} rss reta " + ",".join(
            f"({h},{q})" for h, q in pairs[i:i + 8]))
        assert not re.search(r"Bad|Fail|rror", out), out


def _reta(text: str) -> dict:
    return {int(i): int(q) for i, q in
            re.findall(r"hash index=(\d+), queue=(\d+)", text)}


@pytest.mark.parametrize("what", ["default", "reta", "key"])
def test_rss_is_the_same_on_every_pf(tmp_path, what):
    """A flow lands in the same queue by whichever PF it comes in."""
    flow_list = packets.flows(48)
    landed = []
    for default_pf in (0, 1):
        with _played(tmp_path, packets.numbered(flow_list, 1), queues=4,
                     app=["--rss-udp"], default_pf=default_pf) as pmd:
            view = View(pmd)
            _set_rss(pmd, view.port, what)
            seen = pmd.watch(48)
            landed.append({s.src: s.queue for s in seen})
            assert view.pf_stats()[1 - default_pf]["ipackets"] == 0
    assert landed[0] == landed[1]
    assert len(set(landed[0].values())) == (2 if what == "reta" else 4)


def _set_rss(pmd, port: int, what: str) -> None:
    if what == "reta":  # queues 1 and 3 only
        _set_reta(pmd, port, {i: 1 + 2 * (i % 2) for i in range(128)})
    elif what == "key":
        pmd.cmd(f"port config {port} rss-hash-key ipv4-udp {KEY}")


@pytest.mark.parametrize("kind", ["rxq", "txq"])
def test_queue_info(pmd, view, kind):
    """Queue information and the burst mode can be shown."""
    out = pmd.cmd(f"show {kind} info {view.port} 0")
    assert "Failed" not in out
    assert re.search(rf"Number of {kind[:2].upper()}Ds: \d+", out)
    if kind == "rxq":
        assert "Mempool: mb_pool_0" in out
    assert re.search(r"Burst mode: \S+", out)


def test_packet_types(pmd, view):
    """The packet types that l3fwd asks for are among the supported."""
    out = pmd.cmd(f"show port {view.port} ptypes")
    for name in ("L3_IPV4", "L3_IPV6", "L4_TCP", "L4_UDP"):
        assert name in out


def test_rx_descriptor_status(pmd, view):
    """An empty ring has free descriptors and none in use."""
    _drain(pmd, view)
    out = pmd.cmd(f"show port {view.port} rxq 0 desc 0 status")
    assert "AVAILABLE" in out
    out = pmd.cmd(f"show port {view.port} rxq 0 desc used count")
    assert re.search(r"[Uu]sed desc\w* count = 0|= 0", out)


def test_tx_descriptor_status(pmd, view):
    """A sent ring is done."""
    out = pmd.cmd(f"show port {view.port} txq 0 desc 0 status")
    assert "DONE" in out


def test_tx_done_cleanup(pmd, view):
    """Asking to free sent buffers is answered."""
    out = pmd.cmd(f"port cleanup {view.port} txq 0 10")
    assert "Failed" not in out
    assert re.search(r"\d", out)


def test_rx_queue_stop_start(tmp_path):
    """A stopped queue yields nothing; started again, it does."""
    flow = FLOWS[0]
    loops = vdevs.looped()
    with Testpmd(loops, app=["--flowgen-flows=4"]) as pmd:
        view = View(pmd)
        for i in range(4):
            flow_id(pmd.cmd(packets.gen_flow(i).rule(view.port, 1)))
        assert "Function not supported" not in \
            pmd.cmd(f"port {view.port} rxq 1 stop")
        pmd.start("flowgen")
        pmd.wait_until("sent", lambda: view.stats()["TX-packets"] > 1000)
        pmd.stop_forwarding()
        xstats = view.xstats()
        assert xstats["rx_q1_home_packets"] == 0
        assert xstats["rx_q1_stray_packets"] == 0
        assert "stopped" in pmd.cmd(f"show rxq info {view.port} 1")
        pmd.cmd(f"port {view.port} rxq 1 start")
        pmd.start("flowgen")
        pmd.wait_until("received", lambda:
                       view.xstats()["rx_q1_home_packets"] > 1000)
        pmd.stop_forwarding()
    assert flow


def test_rx_queue_set_up_again():
    """A stopped queue of the running port is set up again, started, and its counters go on."""
    loops = vdevs.looped()
    with Testpmd(loops, app=["--flowgen-flows=4"]) as pmd:
        view = View(pmd)
        for i in range(4):
            flow_id(pmd.cmd(packets.gen_flow(i).rule(view.port, 1)))
        pmd.start("flowgen")
        pmd.wait_until("received", lambda:
                       view.xstats()["rx_q1_home_packets"] > 1000)
        pmd.stop_forwarding()
        before = view.xstats()["rx_q1_home_packets"]
        pmd.cmd(f"port {view.port} rxq 1 stop")
        pmd.cmd(f"port config {view.port} rxq 1 ring_size 256")
        assert "rror" not in pmd.cmd(f"port {view.port} rxq 1 setup")
        pmd.cmd(f"port {view.port} rxq 1 start")
        info = pmd.cmd(f"show rxq info {view.port} 1")
        assert "started" in info
        assert "Number of RXDs: 256" in info
        assert view.xstats()["rx_q1_home_packets"] >= before
        pmd.start("flowgen")
        pmd.wait_until("received", lambda:
                       view.xstats()["rx_q1_home_packets"] > before + 1000)
        pmd.stop_forwarding()


def test_tx_queue_stop_start():
    """A stopped Tx queue sends nothing; the other one does."""
    with Testpmd(vdevs.looped()) as pmd:
        view = View(pmd)
        pmd.cmd(f"port {view.port} txq 1 stop")
        pmd.start("flowgen")
        pmd.wait_until("sent", lambda: view.stats()["TX-packets"] > 1000)
        pmd.stop_forwarding()
        xstats = view.xstats()
        assert sum(v for k, v in xstats.items()
                   if re.fullmatch(r"tx_q1_pf\d_packets", k)) == 0
        pmd.cmd(f"port {view.port} txq 1 start")
        pmd.start("flowgen")
        pmd.wait_until("sent again", lambda: sum(
            v for k, v in view.xstats().items()
            if re.fullmatch(r"tx_q1_pf\d_packets", k)) > 1000)
        pmd.stop_forwarding()


def test_tx_queue_set_up_again():
    """A stopped Tx queue of the running port is set up again, started, and its counters go on."""
    def sent():
        return sum(v for k, v in view.xstats().items() if re.fullmatch(r"tx_q1_pf\d_packets", k))

    with Testpmd(vdevs.looped()) as pmd:
        view = View(pmd)
        pmd.start("flowgen")
        pmd.wait_until("sent", lambda: sent() > 1000)
        pmd.stop_forwarding()
        before = sent()
        pmd.cmd(f"port {view.port} txq 1 stop")
        pmd.cmd(f"port config {view.port} txq 1 ring_size 256")
        assert "rror" not in pmd.cmd(f"port {view.port} txq 1 setup")
        pmd.cmd(f"port {view.port} txq 1 start")
        info = pmd.cmd(f"show txq info {view.port} 1")
        assert "started" in info
        assert "Number of TXDs: 256" in info
        assert sent() >= before
        pmd.start("flowgen")
        pmd.wait_until("sent again", lambda: sent() > before + 1000)
        pmd.stop_forwarding()


def test_ring_sizes_are_on_every_leg(pmd, view):
    """The number of descriptors asked for is the number shown."""
    port = view.port
    pmd.cmd(f"port stop {port}")
    pmd.cmd(f"port config {port} rxq 0 ring_size 256")
    pmd.cmd(f"port start {port}")
    assert "Number of RXDs: 256" in pmd.cmd(f"show rxq info {port} 0")


# Legs.

@pytest.mark.parametrize("pfs", range(1, 9))
def test_one_to_eight_pfs(pfs):
    """A port with any allowed number of PFs carries traffic."""
    with Testpmd(vdevs.looped(pfs), memory=192) as pmd:
        view = View(pmd)
        topology = view.topology()
        assert [pf["index"] for pf in topology["pfs"]] == list(range(pfs))
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 5000)
        pmd.stop_forwarding()
        assert {f"tx_pf{i}_packets" for i in range(pfs)} <= set(view.xstats())
        assert f"tx_pf{pfs}_packets" not in view.xstats()


def test_octo_before_its_pfs():
    """A PF that is not probed yet is probed by octo, with its devargs."""
    sims = vdevs.nic("A", 0, 2, "loop")
    with Testpmd([vdevs.octo(), *sims]) as pmd:
        view = View(pmd)
        assert [p.name for p in pmd.ports()] == ["net_octo0"]
        assert view.port == 0  # what is given first is numbered first
        assert [pf["socket"] for pf in view.topology()["pfs"]] == [0, 1]
        assert "failed" not in pmd.boot_text.lower()
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
        pmd.stop_forwarding()


def test_octo_between_its_pfs():
    """Only the missing PF is probed by octo."""
    first, second = vdevs.nic("A", 0, 2, "loop")
    with Testpmd([first, vdevs.octo(), second]) as pmd:
        assert [p.name for p in pmd.ports()] == ["net_octo0"]
        assert len(View(pmd).topology()["pfs"]) == 2


def test_pfs_of_foreign_drivers():
    """PFs need not be simulated: any ethdev can carry a leg."""
    args = ["--vdev=net_ring0", "--vdev=net_ring1",
            "--vdev=net_octo0,pf=net_ring0@0,pf=net_ring1@1,"
            "socket_map=0:0/1:1"]
    with Testpmd(args, queues=1, lcores="0@0,1@0") as pmd:
        view = View(pmd)
        topology = view.topology()
        assert [pf["socket"] for pf in topology["pfs"]] == [0, 1]
        assert topology["tier"] in ("none", "queue")
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
        pmd.stop_forwarding()


def test_socket_by_suffix_wins():
    """@SOCKET beats the PF's own socket devarg."""
    args = [*vdevs.nic("A", 0, 2, "loop"),
            "--vdev=net_octo0,pf=net_mpsim0@1,pf=net_mpsim1@0,"
            "socket_map=0:0/1:1"]
    with Testpmd(args) as pmd:
        view = View(pmd)
        assert [pf["socket"] for pf in view.topology()["pfs"]] == [1, 0]
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
        pmd.stop_forwarding()
        for queue in view.topology()["queues"]:
            assert queue["home_pf"] == 1 - queue["socket"]


def test_socket_devarg_is_what_applications_see():
    """socket= sets the socket of the port; mapped nodes never do."""
    with Testpmd([*vdevs.nic("A", 0, 2, "loop"),
                  vdevs.octo(0, 0, 2, socket=0)]) as pmd:
        assert pmd.info(pmd.port())["Connect to socket"] == "0"


def test_several_nics_do_not_mix():
    """What NIC A's loop carries is not seen by NIC B."""
    args = [*vdevs.nic("A", 0, 2, "loop"), *vdevs.nic("B", 2, 2, "loop"),
            vdevs.octo(0, 0, 2), vdevs.octo(1, 2, 2)]
    with Testpmd(args, app=["--port-topology=loop"]) as pmd:
        one, two = View(pmd), View(pmd, "net_octo1")
        pmd.cmd(f"set portlist {one.port}")
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda: one.stats()["RX-packets"] > 1000)
        pmd.stop_forwarding()
        assert two.stats()["RX-packets"] == two.stats()["TX-packets"] == 0


# Links.

def _links(view) -> list:
    return [pf["link"] for pf in view.topology()["pfs"]]


def test_link_is_up_while_any_pf_is():
    """One PF down changes nothing for the port but the path of packets."""
    with Testpmd(vdevs.looped()) as pmd:
        view = View(pmd)
        first, second = view.pf_ports()
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
        pmd.cmd(f"set link-down port {second}")
        pmd.wait_until("seen", lambda: _links(view) == ["up", "down"])
        assert pmd.link(view.port) == "up"
        assert "link state change" not in _after_start(pmd, view.port)
        before = view.xstats()["tx_pf0_packets"]
        pmd.wait_until("all by PF 0", lambda:
                       view.xstats()["tx_pf0_packets"] > before + 5000)
        pmd.wait_until("homes moved", lambda:
                       set(view.homes().values()) == {0})
        pmd.cmd(f"set link-up port {second}")
        pmd.wait_until("seen", lambda: _links(view) == ["up", "up"])
        pmd.wait_until("homes are back", lambda:
                       view.homes() == {0: 0, 1: 1})
        pmd.stop_forwarding()
        assert first != second


def _after_start(pmd, port: int) -> str:
    """Events of the octo port since the application runs."""
    # the echo of a command may be on the same line
    return "\n".join(re.findall(rf"Port {port}: .* event", pmd.text[len(pmd.boot_text):]))


def test_all_links_down_is_an_event():
    """The last PF's link takes the port down, the first brings it up."""
    # log lines of another thread would break up what testpmd says of events
    quiet = ["--log-level=pmd.net.octo:error"]
    with Testpmd(vdevs.looped(), eal=quiet) as pmd:
        view = View(pmd)
        ports = view.pf_ports()
        for pf in ports:
            pmd.cmd(f"set link-down port {pf}")
        pmd.wait_until("down", lambda: pmd.link(view.port) == "down")
        pmd.wait_until("event", lambda: "link state change"
                       in _after_start(pmd, view.port))
        pmd.cmd(f"set link-up port {ports[1]}")
        pmd.wait_until("up", lambda: pmd.link(view.port) == "up")
        pmd.wait_until("second event", lambda: _after_start(
            pmd, view.port).count("link state change") == 2)
        assert view.topology()["link"] == "up"


# PFs that go away.

@pytest.mark.parametrize("gone", [0, 1])
def test_pf_removed_under_traffic(gone):
    """The other PF carries on; the lost one is told as gone."""
    left = 1 - gone
    with Testpmd(vdevs.looped(), app=["--flowgen-flows=8"]) as pmd:
        view = View(pmd)
        for i in range(8):
            flow_id(pmd.cmd(packets.gen_flow(i).rule(view.port, i % 2)))
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 10000)
        out = pmd.cmd(f"device detach net_mpsim{gone}")
        assert "is detached" in out
        pmd.wait_until("homes moved", lambda:
                       set(view.homes().values()) == {left})
        states = [pf["state"] for pf in view.topology()["pfs"]]
        assert states[gone] == "gone" and states[left] == "started"
        assert pmd.link(view.port) == "up"
        before = view.xstats()
        pmd.wait_until("more traffic both ways", lambda: all(
            view.xstats()[name] > before[name] + 10000 for name in
            ("rx_home_packets", f"tx_pf{left}_packets")))
        pmd.stop_forwarding()
        pmd.cmds([f"port stop {view.port}", f"port start {view.port}"])
        pmd.start("io", first=True)
        start = view.stats()["RX-packets"]
        pmd.wait_until("traffic after a restart", lambda:
                       view.stats()["RX-packets"] > start + 1000)
        pmd.stop_forwarding()


def test_last_pf_removed_removes_the_port():
    """The port is told as removed; the application can end as usual."""
    with Testpmd([*vdevs.looped(), "--vdev=net_null0"]) as pmd:
        view = View(pmd)
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 1000)
        starts = pmd.text.count("packet forwarding - ports=")
        pmd.cmds(["device detach net_mpsim1",
                  "device detach net_mpsim0"])
        pmd.wait_until("told", lambda: "device removal event" in
                       _after_start(pmd, view.port))
        # it forwards again then: must it end meanwhile, it frees what it forwards with
        pmd.wait_until("testpmd goes on", lambda: pmd.text.count(
            "packet forwarding - ports=") > starts)
        pmd.wait_until("removed by testpmd", lambda: [
            p.name for p in pmd.ports()] == ["net_null0"])
        null = pmd.port("net_null0")
        before = _received(pmd, null)
        # both: who is told to stop before he was started goes on for ever
        pmd.wait_until("its lcores do", lambda: all(
            now > then for now, then in zip(_received(pmd, null), before)))


def _received(pmd, port: int) -> list:
    """By each of its two queues."""
    xstats = pmd.xstats(port)
    return [xstats[f"rx_q{queue}_packets"] for queue in (0, 1)]


# Sizes.

def test_jumbo_frames(tmp_path):
    """Frames that need several buffers come and go unchanged."""
    flow_list = packets.flows(4)
    frames = packets.numbered(flow_list, 2, payload=8900)
    rx = packets.write(tmp_path / "in.pcap", frames)
    wire = vdevs.pcap_wire(rx, tmp_path / "out.pcap")
    with Testpmd([wire, *vdevs.nic("A", 0, 2, "net_pcap0"), vdevs.octo()],
                 app=["--max-pkt-len=9018", "--enable-scatter"]) as pmd:
        port = pmd.port()
        assert pmd.info(port)["MTU"] == "9000"
        seen = pmd.watch(8, "io")
        assert {s.length for s in seen} == {len(f) for f in frames}
        assert not re.search(r"nb_segs=1\b", "".join(s.text for s in seen))
        View(pmd).assert_lost_nothing()
    assert sorted(packets.read_bytes(tmp_path / "out.pcap")) == \
        sorted(bytes(f) for f in frames)


def test_sixty_four_queues():
    """As many queues as a PF can have, all of them in use."""
    args = [*vdevs.nic("A", 0, 2, "loop", queues=64), vdevs.octo()]
    with Testpmd(args, queues=64, memory=256, mbufs=32768, app=[
            "--rxd=128", "--txd=128", "--flowgen-flows=512"]) as pmd:
        view = View(pmd)
        pmd.start("flowgen")
        pmd.wait_until("all queues receive", lambda: all(
            q["home_packets"] + q["stray_packets"] > 0
            for q in view.strays()["queues"]))
        pmd.stop_forwarding()
        assert sorted(view.homes().values()) == [0] * 32 + [1] * 32


def test_offloads_of_the_pfs_are_offered(pmd, view):
    """What l3fwd and others need is there; a switch domain is not."""
    out = pmd.cmd(f"show port {view.port} rx_offload capabilities")
    for name in ("VLAN_STRIP", "IPV4_CKSUM", "UDP_CKSUM", "TCP_CKSUM",
                 "SCATTER", "RSS_HASH"):
        assert name in out
    out = pmd.cmd(f"show port {view.port} tx_offload capabilities")
    for name in ("VLAN_INSERT", "IPV4_CKSUM", "UDP_CKSUM", "TCP_CKSUM",
                 "MULTI_SEGS"):
        assert name in out
    assert "Switch domain" not in pmd.cmd(f"show port info {view.port}")


def test_bad_checksums_are_flagged(tmp_path):
    """The PFs' checksum verdict reaches the application."""
    frames = packets.numbered(FLOWS[:2], 1)
    frames[1] = Ether(bytes(frames[1]))
    frames[1][IP].chksum = 0x1234
    with _played(tmp_path, frames, app=["--enable-rx-cksum"]) as pmd:
        verdict = {s.src: s.text for s in pmd.watch(2)}
    assert "IP_CKSUM_GOOD" in verdict[packets.flow_mac(0)]
    assert "L4_CKSUM_GOOD" in verdict[packets.flow_mac(0)]
    assert "RX_IP_CKSUM_BAD" in verdict[packets.flow_mac(1)]
