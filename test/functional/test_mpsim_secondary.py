# SPDX-License-Identifier: BSD-3-Clause
"""The simulated NIC in two processes, each polling a queue of its own."""

import re

from octotest import hugepages, vdevs
from octotest.testpmd import Testpmd, flow_id


def _start(huge_dir, proc: int, lcores: str, like=None, vdevs_=()) -> Testpmd:
    """One of two testpmds that share ports and queues."""
    eal = [f"--huge-dir={huge_dir}"]
    if like is None:
        eal += ["-m", "256", "--proc-type=primary", *hugepages.SHARED]
    else:
        eal += ["--proc-type=secondary"]
    return Testpmd(vdevs_, memory=None, eal=eal, lcores=lcores, mbufs=16384,
                   file_prefix=like and like.file_prefix,
                   app=["--num-procs=2", f"--proc-id={proc}"])


def _received(pmd) -> int:
    """What the process itself received since it was told to start."""
    out = pmd.stop_forwarding()
    total = out[out.index("Accumulated"):]
    return int(re.search(r"RX-packets: (\d+)", total)[1])


def test_secondary_polls_and_sends(huge_dir):
    """Each process gets and sends the packets of its own queue."""
    args = [vdevs.mpsim(0, "A", wire="nic:B"), vdevs.mpsim(1, "B")]
    with _start(huge_dir, 0, "0@0,1@0", vdevs_=args) as one, \
            _start(huge_dir, 1, "2@1,3@1", like=one) as two:
        for pmd in (one, two):
            pmd.cmd("set fwd flowgen")
            pmd.cmd("start")
        for queue in (0, 1):
            one.wait_until("traffic", lambda name=f"rx_q{queue}_packets": all(
                one.telemetry.get("/ethdev/xstats", p)[name] > 10000
                for p in (0, 1)))
        assert _received(two) > 1000
        assert _received(one) > 1000
        # the secondary sees the counters of both
        stats = {p: one.stats(p) for p in (0, 1)}
        assert stats == {p: two.stats(p) for p in (0, 1)}
        assert all(s["RX-errors"] == s["TX-errors"] == 0
                   for s in stats.values())


def test_secondary_sends_to_an_ethdev_wire(huge_dir):
    """The primary, which alone has the ethdev, sends its frames for it."""
    args = ["--vdev=net_ring0", vdevs.mpsim(0, "A", wire="net_ring0")]
    with _start(huge_dir, 0, "0@0,1@0", vdevs_=args) as one, \
            _start(huge_dir, 1, "2@1,3@1", like=one) as two:
        port = one.port("net_mpsim0")
        one.start("rxonly")
        two.start("flowgen")
        for name in ("tx_q1_packets", "rx_q0_packets", "rx_q1_packets"):
            one.wait_until(name, lambda n=name: one.telemetry.get(
                "/ethdev/xstats", port)[n] > 10000)
        assert _received(two) > 1000
        assert _received(one) > 1000
        stats = one.stats(port)
        assert stats["TX-errors"] == stats["RX-errors"] == 0
        assert one.xstats(port)["tx_q0_packets"] == 0


def test_secondary_follows_rules_of_any_kind(huge_dir):
    """It alone polls: what the primary has made of a rule is there, too."""
    args = [vdevs.mpsim(0, "A", wire="nic:B"), vdevs.mpsim(1, "B")]
    rules = ["priority 1 ingress pattern eth / end actions mark id 5 / "
             "count / age timeout 1000 / passthru",
             "priority 2 ingress pattern eth / ipv4 src spec 10.0.0.0 src "
             "mask 255.0.0.0 / udp / end actions count identifier 4 / jump group 1",
             "group 1 ingress pattern eth / end actions count / rss level 1 "
             "queues 1 end types ipv4-udp end",
             "transfer pattern represented_port ethdev_port_id is 1 / ipv4 / "
             "end actions count / port_representor port_id 1"]
    with _start(huge_dir, 0, "0@0,1@0", vdevs_=args) as one, \
            _start(huge_dir, 1, "2@1,3@1", like=one) as two:
        made = [flow_id(one.cmd(f"flow create 1 {r} / end")) for r in rules]
        two.start("flowgen")
        one.wait_until("traffic", lambda: one.telemetry.get(
            "/ethdev/xstats", 1)["rx_q1_packets"] > 10000)
        assert _received(two) > 1000
        stats = one.telemetry.get("/ethdev/xstats", 1)
        assert stats["rx_q0_packets"] == 0
        for number in made:
            out = one.cmd(f"flow query 1 {number} count")
            assert int(re.search(r"hits: (\d+)", out)[1]) > 10000, out


def test_primary_survives_the_secondary(huge_dir):
    """Its coming and going leaves ports and traffic alone."""
    args = [vdevs.mpsim(0, "A", wire="loop")]
    with _start(huge_dir, 0, "0@0,1@0", vdevs_=args) as one:
        for _ in range(2):
            with _start(huge_dir, 1, "2@1,3@1", like=one) as two:
                assert [p.name for p in two.ports()] == ["net_mpsim0"]
        before = one.stats(0)["RX-packets"]
        one.start("flowgen")  # RSS gives half of the flows to its queue
        one.wait_until("traffic", lambda:
                       one.stats(0)["RX-packets"] > before + 1000)
        one.stop_forwarding()
