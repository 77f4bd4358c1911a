# SPDX-License-Identifier: BSD-3-Clause
"""What octo says of the nodes that memory is on, against what the kernel says.

The kernel knows the node of each page of a process (numa_maps), testpmd the address
of each ring and pool. Every crossing that octo tells must be one, and every
silence, too.
"""

import re
from collections import Counter

import pytest

from octotest.view import View, ask

pytestmark = pytest.mark.long

NAMES = ("ring", "pool", "cpu")


class Truth:
    """Where the kernel put the memory of testpmd."""

    def __init__(self, guest, pmd):
        self._guest = guest
        pid = guest.run("pidof octo-testpmd").strip()
        self._areas = []
        for line in guest.run(f"cat /proc/{pid}/numa_maps").splitlines():
            nodes = re.findall(r" N(\d+)=\d+", line)
            if nodes:
                self._areas.append((int(line.split()[0], 16), {int(n) for n in nodes}))
        self._zones = dict(re.findall(r"name:<?([^,>]+)>?, len:0x[0-9a-f]+, virt:(0x[0-9a-f]+)",
                                      pmd.cmd("dump_memzone")))

    def node(self, zone):
        """The one node of a memory zone, by the beginning of its name."""
        found = [int(at, 16) for name, at in self._zones.items() if name.startswith(zone)]
        assert found, f"no {zone} in {sorted(self._zones)}"
        nodes = set()
        for at in found:
            nodes |= max(area for area in self._areas if area[0] <= at)[1]
        assert len(nodes) == 1, f"{zone} is on nodes {nodes}"
        return nodes.pop()

    def of_device(self, address):
        """The node of a PCI device."""
        return int(self._guest.read(f"/sys/bus/pci/devices/{address}/numa_node"))

    def of_cpu(self, cpu):
        """The node of a CPU."""
        return int(self._guest.run(
            f"ls -d /sys/devices/system/cpu/cpu{cpu}/node*").strip()[-1])


def queue_truth(truth, pmd, view, queue):
    """PF, ring, pool and CPU of a queue: their nodes."""
    home = view.topology()["pfs"][queue["home_pf"]]
    index = queue["queue"]
    pool = re.search(r"Mempool: (\S+)", pmd.cmd(f"show rxq info {home['port']} {index}"))[1]
    return {"pf": truth.of_device(home["name"]),
            "ring": truth.node(f"eth_p{home['port']}_q{index}_rx_ring"),
            "pool": truth.node(f"MP_{pool}"),
            "cpu": truth.of_cpu(queue["cpu"])}


def leg_truth(truth, pmd, view, leg):
    """PF, ring and, of Rx, pool of a leg: their nodes."""
    pf = view.topology()["pfs"][leg["pf"]]
    nodes = {"pf": truth.of_device(pf["name"]),
             "ring": truth.node(f"eth_p{pf['port']}_q{leg['index']}_{leg['queue']}_ring")}
    if leg["queue"] == "rx":
        pool = re.search(r"Mempool: (\S+)", pmd.cmd(f"show rxq info {pf['port']} {leg['index']}"))
        nodes["pool"] = truth.node(f"MP_{pool[1]}")
    return nodes


def check_legs(truth, pmd, view, clones):
    """Each leg is told where it is, and with clones no leg's memory crosses."""
    shown = pmd.cmd(f"octo show topology {view.port}")
    for leg in ask(pmd, "legs", view.port)["legs"]:
        nodes = leg_truth(truth, pmd, view, leg)
        assert (leg["pf_socket"], leg["ring"]) == (nodes["pf"], nodes["ring"])
        assert leg["pool"] == nodes.get("pool", -1)
        crosses = nodes.get("pool", nodes["pf"]) != nodes["pf"]
        assert ("pool" in leg["crosses"]) == crosses
        assert not (clones and crosses)
        warned = rf"Warning: {leg['queue'].title()} queue {leg['index']} by PF {leg['pf']} .* pool"
        assert bool(re.search(warned, shown)) == crosses


# PFs of the port, more for testpmd, and what crosses in queues 0 and 1
LAYOUTS = {
    # testpmd takes the pool of the port's node
    "pool of PF 0's node": ([0, 1], [], ["none", "pool"]),
    "pool of PF 1's node": ([0, 1], ["--port-numa-config=({port},1)"], ["pool", "none"]),
    "clones of the pool": ([0, 1], [], ["none", "none"]),
    "one PF": ([0], [], ["none", "cpu"]),
    "one PF and the other's pool": ([0], ["--port-numa-config=({port},1)"],
                                    ["pool", "pool cpu"]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_crossings_are_those_of_the_kernel(real_igbs, layout):
    """Each queue's ring, pool and CPU: shown where they are, and no others."""
    pfs, app, crossings = LAYOUTS[layout]
    addresses = [real_igbs.machine.address(i) for i in pfs]
    port = len(pfs)  # after those of the PFs
    pools = "local" if "clones" in layout else "app"
    with real_igbs.testpmd([f"--vdev=net_octo0,learn=off,pools={pools},"
                            + ",".join(f"pf={a}" for a in addresses)],
                      pci=addresses, app=[a.format(port=port) for a in app]) as pmd:
        view = View(pmd)
        assert view.port == port
        pmd.wait_until("links", lambda: all(
            pf["link"] == "up" for pf in view.topology()["pfs"]), 30)
        pmd.start("rxonly")
        pmd.wait_until("homes", lambda: [q["cpu"] for q in view.topology()["queues"]] == [1, 2])
        truth = Truth(real_igbs, pmd)
        for queue, crossing in zip(view.topology()["queues"], crossings):
            nodes = queue_truth(truth, pmd, view, queue)
            assert (queue["ring"], queue["pool"]) == (nodes["ring"], nodes["pool"])
            real = [name for name in NAMES if nodes[name] != nodes["pf"]]
            assert queue["crosses"] == (" ".join(real) or "none") == crossing
            assert re.search(rf"Rx {queue['queue']} .* {crossing}$",
                             pmd.cmd(f"octo show topology {port}"), re.MULTILINE)
        check_legs(truth, pmd, view, pools == "local")
        kinds = {kind for crossing in crossings for kind in crossing.split()} - {"none"}
        pmd.wait_until("each kind is told once", lambda: Counter(
            kind for _, said in told(pmd, port) for kind in said) == Counter(kinds))
        for queue, said in told(pmd, port):
            assert said <= set(crossings[queue].split())
        pmd.stop_forwarding()


def told(pmd, port):
    """Queue and what is said of it. Which is told of depends on which was polled first."""
    return [(int(queue), set(said.split())) for queue, said in re.findall(
        rf"port {port}: Rx queue (\d) crosses sockets: its (.*) and its home", pmd.text)]
