#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What octo costs Open vSwitch: iperf3's throughput, against bare PFs.

    namespace 1 - veth - NIC A - port \\
                                      bridge br0
    namespace 2 - veth - NIC B - port /

The ports are octo ports of two PFs each, or each NIC's first PF alone, in
turn, with everything else the same; both orders alternate. What counts is the
median of the rounds' ratios: the figures themselves are those of this machine.
"""

import argparse
import statistics

from octotest import hugepages, iperf, ovs, vdevs
from octotest.netns import Host

PINNED = "0:0,1:1"


def _ports(kind: str, socket_map: str) -> list:
    if kind == "octo":
        return [vdevs.octo_devargs(i, vdevs.pf_names(2 * i), socket_map)
                for i in (0, 1)]
    return ["net_mpsim0", "net_mpsim2"]


def _measure(switch, hosts, kind: str, options) -> float:
    """Mbit/s from the first host to the second."""
    one, two = hosts
    names = [f"{kind}{i}" for i in (0, 1)]
    for name, devargs in zip(names, _ports(kind, options.socket_map)):
        switch.add_dpdk_port(name, devargs, PINNED)
    one.run("ping", "-c", "3", "-i", "0.1", "-W", "5", two.ip4)
    result = iperf.measure(one, two, two.ip4, "-t", options.seconds,
                           "-O", 1)
    for name in names:
        switch.vsctl("del-port", "br0", name)
    return result["end"]["sum_received"]["bits_per_second"] / 1e6


def _rounds(switch, hosts, options) -> list:
    ratios = []
    for number in range(options.rounds):
        kinds = ["octo", "bare"][::1 if number % 2 else -1]
        mbps = {k: _measure(switch, hosts, k, options) for k in kinds}
        ratios.append(mbps["octo"] / mbps["bare"])
        print(f"round {number + 1}: bare {mbps['bare']:.0f} Mbit/s, octo "
              f"{mbps['octo']:.0f} Mbit/s, ratio {ratios[-1]:.3f}", flush=True)
    return ratios


def main() -> None:
    """Print each round, then the median."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--sleep", type=int, default=0, metavar="US",
                        help="let idle PMD threads sleep for so long at most")
    parser.add_argument("--socket-map", default=vdevs.SOCKET_MAP, metavar="MAP",
                        help="of the octo ports; 0-1:0, and nothing strays")
    options = parser.parse_args()
    tree = ovs.find()
    if tree is None:
        parser.error("no Open vSwitch is there that has this DPDK: ./octo setup")
    hosts: list = []
    try:
        for number in (1, 2):
            hosts.append(Host(number, "02:0c:70:00:00:01"))
        with hugepages.reserved(ovs.PAGES) as huge_dir:
            switch = ovs.Switch(tree, huge_dir, hosts, options.sleep)
            try:
                ratios = _rounds(switch, hosts, options)
            finally:
                switch.close()
    finally:
        for host in hosts:
            host.remove()
    print(f"median ratio {statistics.median(ratios):.3f}, from "
          f"{min(ratios):.3f} to {max(ratios):.3f}, {len(ratios)} rounds of "
          f"{options.seconds} s")


if __name__ == "__main__":
    main()
