# SPDX-License-Identifier: BSD-3-Clause
"""The harness itself, with DPDK's own devices only."""

from octotest import packets
from octotest.testpmd import Testpmd


def test_harness_talks_to_testpmd():
    """Commands are answered and figures are read."""
    with Testpmd(["--vdev=net_null0", "--vdev=net_ring0"], plugins=False,
                 queues=1) as pmd:
        assert [p.name for p in pmd.ports()] == ["net_null0", "net_ring0"]
        assert pmd.link(0) == "up"
        assert pmd.stats(0)["RX-packets"] == 0
        assert pmd.xstats(0)["rx_good_packets"] == 0
        assert pmd.info(0)["Driver name"] == "net_null"
        assert pmd.telemetry.get("/ethdev/list") == [0, 1]


def test_harness_sees_each_packet(tmp_path):
    """What a pcap wire plays is told packet by packet and recorded."""
    sent = packets.numbered(packets.flows(3), 5)
    rx = packets.write(tmp_path / "in.pcap", sent)
    tx = tmp_path / "out.pcap"
    wire = f"--vdev=net_pcap0,rx_pcap={rx},tx_pcap={tx}"
    with Testpmd([wire], plugins=False, queues=1) as pmd:
        seen = pmd.watch(15, "io")
        assert [s.src for s in seen] == \
            [packets.flow_mac(i) for i in range(3)] * 5
        assert pmd.stats(0)["TX-packets"] == 15
    assert packets.read_bytes(tx) == [bytes(p) for p in sent]
