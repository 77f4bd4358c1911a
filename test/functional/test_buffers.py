# SPDX-License-Identifier: BSD-3-Clause
"""Which pool a leg has its buffers from, under the stock testpmd."""

import re

import pytest

from octotest import packets, vdevs
from octotest.packets import gen_flow
from octotest.testpmd import Testpmd, flow_id
from octotest.view import View


def pool_of(pmd, port, queue=0):
    """The pool of a queue, by its name."""
    return re.search(r"Mempool: (\S+)", pmd.cmd(f"show rxq info {port} {queue}"))[1]


def by_both_pfs(pmd, view):
    """Flows are steered to each PF; none of them lacks a buffer for their packets."""
    for i in range(8):
        flow_id(pmd.cmd(gen_flow(i).rule(view.port, i % 2)))
    pmd.start("flowgen")
    pmd.wait_until("traffic by both PFs", lambda: min(
        pmd.xstats(view.port)[f"pf{pf}_rx_good_packets"] for pf in (0, 1)) > 10000)
    assert pmd.stats(view.port)["RX-nombuf"] == 0


def test_clones_carry_traffic_and_go():
    """With pools=local testpmd does without fast free, and PF 1 has packets of its own."""
    with Testpmd([*vdevs.nic("A", wire="loop"), vdevs.octo(pools="local")],
                 app=["--flowgen-flows=8"]) as pmd:
        view = View(pmd)
        assert "MBUF_FAST_FREE" not in pmd.cmd(f"show port {view.port} tx_offload capabilities")
        pools = [pool_of(pmd, pf) for pf in view.pf_ports()]
        assert pools[0] == pool_of(pmd, view.port)
        assert re.fullmatch(rf"octo_p{view.port}_n1_\d+", pools[1])
        by_both_pfs(pmd, view)
        pmd.stop_forwarding()
        pmd.cmd(f"port stop {view.port}")
        pmd.cmd(f"port close {view.port}")
        assert "stays" not in pmd.text
        assert pools[1] not in pmd.cmd("dump_mempool")


def test_a_pool_for_each_node():
    """Of two pools each PF has one, until fast free is asked for, which is for one."""
    with Testpmd(vdevs.looped(), app=["--mbuf-size=2048,2048", "--multi-rx-mempool",
                                      "--tx-offloads=0", "--flowgen-flows=8"]) as pmd:
        view = View(pmd)
        pools = [pool_of(pmd, pf) for pf in view.pf_ports()]
        assert len(set(pools)) == 2 and pools[0] == pool_of(pmd, view.port)
        by_both_pfs(pmd, view)
        pmd.stop_forwarding()
        pmd.cmds([f"port stop {view.port}",
                  f"port config {view.port} tx_offload mbuf_fast_free on"])
        assert "Rx queue 0 has several pools and the port has MBUF_FAST_FREE" in \
            pmd.cmd(f"port start {view.port}")


@pytest.mark.parametrize("how", ["--rxpkts=42,2048", "--rxhdrs=ipv4-udp"])
def test_packets_are_split(tmp_path, how):
    """Headers apart from payload, whichever PF a packet comes by; the frames stay as they are."""
    frames = packets.numbered(packets.flows(4), 2, payload=400)
    wire = vdevs.pcap_wire(packets.write(tmp_path / "in.pcap", frames), tmp_path / "out.pcap")
    with Testpmd([wire, *vdevs.nic("A", 0, 2, "net_pcap0"), vdevs.octo()],
                 app=["--mbuf-size=512,2176", how, "--rx-offloads=0x100000",
                      "--tx-offloads=0x8000"]) as pmd:
        seen = pmd.watch(8, "io")
        assert all(re.search(r"nb_segs=2\b", s.text) for s in seen)
        assert {s.length for s in seen} == {len(f) for f in frames}
        View(pmd).assert_lost_nothing()
    assert sorted(packets.read_bytes(tmp_path / "out.pcap")) == sorted(bytes(f) for f in frames)


@pytest.mark.parametrize("mbufs, queue", [(4 * 512 - 1, 1), (4 * 512, None)])
def test_a_pool_that_cannot_fill_all_rings_is_warned_about(mbufs, queue):
    """Once, at the queue that is one too many: two queues have rings of 512 on two PFs."""
    with Testpmd([*vdevs.nic("A", wire="loop"), vdevs.octo(rx_rings="full")],
                 app=["--rxd=512", f"--total-num-mbufs={mbufs}"]) as pmd:
        said = re.findall(r"mempool (\S+) has (\d+) mbufs, and the Rx rings up to queue (\d+) "
                          r"take (\d+): each queue fills a ring on each of 2 PFs", pmd.text)
        pool = pool_of(pmd, View(pmd).port)
    assert said == ([] if queue is None else [(pool, str(mbufs), str(queue), "2048")])


@pytest.mark.parametrize("octo, mbufs, ring", [
    ({}, 3000, 256), ({}, 16384, 512), ({"rx_rings": "shared"}, 16384, 256),
    ({"rx_rings": "full"}, 3000, 512)])
def test_rings_are_as_large_as_the_pool_allows(octo, mbufs, ring):
    """Two queues of 512 descriptors; told by rxq info and topology."""
    with Testpmd([*vdevs.nic("A", wire="loop"), vdevs.octo(**octo)],
                 app=["--rxd=512", "--txd=512", f"--total-num-mbufs={mbufs}",
                      "--flowgen-flows=8"]) as pmd:
        view = View(pmd)
        info = pmd.cmd(f"show rxq info {view.port} 1")
        assert re.search(r"Number of RXDs: (\d+)", info)[1] == str(ring)
        topology = view.topology()
        assert (topology["rx_ring"], topology["rx_ring_wanted"]) == (ring, 512)
        shown = f"Rx rings have {ring} of 512 descriptors on each PF\n"
        assert (shown in pmd.telemetry.get("/ethdev/dump_priv", view.port)) == (ring < 512)
        assert pmd.text.count(f"Rx rings have {ring} of 512 descriptors on each of 2 PFs") == \
            (ring < 512 and not octo)
        by_both_pfs(pmd, view)
