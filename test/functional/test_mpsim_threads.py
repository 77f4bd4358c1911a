# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC with several lcores on the wire, and control beside them."""

from octotest import packets, vdevs
from octotest.simbench import rule
from octotest.testpmd import Testpmd, flow_id

FLOWS = [packets.gen_flow(i) for i in range(64)]
LOSSES = ("rx_missed_errors", "rx_errors", "tx_errors",
          "rx_mbuf_allocation_errors")


def _cabled(**more) -> Testpmd:
    """Two NICs of two PFs, joined; two lcores poll all of them."""
    return Testpmd([*vdevs.nic("A", 0, 2, "nic:B"), *vdevs.nic("B", 2, 2)],
                   queues=2, app=["--rss-udp", "--flowgen-flows=64"], **more)


def _balance(pmd) -> tuple:
    """What was sent and what became of it, summed up over all ports."""
    sent = taken = 0
    for port in range(4):
        xstats = pmd.xstats(port)
        sent += xstats["tx_good_packets"]
        taken += xstats["rx_good_packets"] + sum(
            xstats[name] for name in (*LOSSES, "rx_stopped_drops",
                                      "rx_rule_drops"))
    taken += sum(pmd.xstats(port)["nic_mac_filter_drops"] for port in (0, 2))
    return sent, taken


def _stop_and_balance(pmd) -> None:
    """Stop sending, take all that is on the wire, and compare."""
    pmd.stop_forwarding()
    pmd.start("rxonly")
    pmd.wait_until("all accounted for", lambda: len(set(_balance(pmd))) == 1)
    pmd.stop_forwarding()


def test_two_lcores_lose_nothing_uncounted():
    """Whoever moves the packets: each is received or counted as dropped."""
    with _cabled() as pmd:
        pmd.start("flowgen")
        pmd.wait_until("traffic", lambda: all(
            pmd.stats(p)["RX-packets"] > 100000 for p in (0, 2)))
        _stop_and_balance(pmd)
        for port in (0, 2):
            assert pmd.xstats(port)["rx_mpfs_packets"] == 0


def test_control_beside_traffic():
    """Rules, RETA, MAC table and queues change while packets move."""
    with _cabled() as pmd:
        pmd.start("flowgen")
        for turn in range(20):
            rules = [flow_id(pmd.cmd(rule(f, "queue index 1", port=0)))
                     for f in FLOWS[:8]]
            pmd.cmds([f"port config 0 rss reta ({turn},{turn % 2})",
                      "mac_addr add 0 02:00:00:00:00:77",
                      "set promisc 0 off", "port 0 rxq 1 stop",
                      "port 0 rxq 1 start", "set promisc 0 on",
                      "mac_addr remove 0 02:00:00:00:00:77"])
            for number in rules:
                assert "destroyed" in pmd.cmd(f"flow destroy 0 rule {number}")
        _stop_and_balance(pmd)
        assert pmd.xstats(0)["rx_arfs_packets"] > 0
