# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's examples forward over octo ports what they forward over PFs."""

from octotest.examples import PORTS, SENT, Example, check_forwards, two_cables


@PORTS
def test_l2fwd_event(ports):
    """Event device, Rx and Tx adapters, of which a service lcore takes care."""
    with two_cables("l2fwd-event") as cables:
        app = Example("l2fwd-event", "0@0,1@1,2@0", ["-S", "2", "--vdev=event_sw0", *ports(cables)],
                      ["-p", "3", "-T", "0", "--no-mac-updating"], "entering eventdev main loop")
        check_forwards(cables)
        assert app.stop() == 0


@PORTS
def test_dmafwd(ports):
    """A DMA channel for each port copies its packets, which it sends back."""
    with two_cables("dmafwd") as cables:
        app = Example("dmafwd", "0@0,1@1",
                      ["--vdev=dma_skeleton0", "--vdev=dma_skeleton1", *ports(cables)],
                      ["-p", "3", "-c", "hw", "--no-mac-updating"], "Entering main .*loop")
        check_forwards(cables, cables)
        for channel in range(2):
            app.expect(rf"DMA channel {channel}\s+Total submitted ops: {SENT}\s+"
                       rf"Total completed ops: {SENT}\s+Total failed ops: 0\s")
        assert app.stop() == 0
