# SPDX-License-Identifier: BSD-3-Clause
"""Tier mac over two PFs on two real nodes, whose switch is a bridge of the host's kernel.

The PFs are virtio-net with a RETA. Each node's memory is a file: where a frame was written to is
read there, whatever octo and the guest say.
"""

import shutil

import pytest

from octotest import packets
from octotest.agent import Dma
from octotest.bench import order_of
from octotest.bridge import Bridge
from octotest.veth import Wire
from octotest.view import View
from octovm import report
from octovm.memory import count
from octovm.qemu import Machine, memory_directory
from octovm.tap import Tap

QUEUES = 2
MACS = ("02:0c:70:00:00:01", "02:0c:70:00:00:02")
FLOWS = packets.flows(16)
EACH = 8
ALL = EACH * len(FLOWS) // 2  # frames to each address


@pytest.fixture(scope="module")
def bridge():
    """The NIC's switch, with a raw socket on it."""
    taps = [Tap(QUEUES) for _ in MACS]
    made = Bridge()
    with Wire() as station:
        made.join(station.name)
        yield made, station, taps
    made.remove()
    for tap in taps:
        tap.close()


@pytest.fixture(scope="module")
def memory():
    """A file for the memory of each node."""
    made = memory_directory(Machine())
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def guest(boot, bridge, memory):
    """A machine with a PF on each node, both on the bridge."""
    switch, _, taps = bridge
    booted = boot(Machine([tap.nic(i, mac) for i, (tap, mac) in enumerate(zip(taps, MACS))],
                          memory_directory=memory))
    for tap in taps:
        tap.plug_into(switch)
    booted.bind_vfio()
    return booted


def start(guest, pools):
    """testpmd that returns all frames, a lcore on each node."""
    pci = guest.machine.addresses()
    legs = "".join(f",pf={address}" for address in pci)
    pmd = guest.testpmd([f"--vdev=net_octo0{legs},learn=off,tier=mac,pools={pools}"],
                        eal=["--iova-mode=pa"], queues=QUEUES, pci=pci, app=["--rss-udp"])
    view = View(pmd)
    assert view.topology()["tier"] == "mac"
    pmd.cmd(f"set promisc {view.port} off")
    pmd.start("5tswap")
    await_homes(view, {0: 0, 1: 1})
    return view


@pytest.fixture
def view(guest):
    """A pool on each node."""
    made = start(guest, "local")
    yield made
    assert made.pmd.quit() == 0


def await_homes(view, homes):
    """Wait until each queue has the home of its poller's node."""
    view.pmd.wait_until(f"homes {homes}", lambda: view.homes() == homes and all(
        queue["cpu"] >= 0 for queue in view.topology()["queues"]))


def written(bridge, memory, setup):
    """Of frames to each address: how many are in the memory of each node.

    They are fewer than a ring has buffers, so that none is written over.
    """
    station = bridge[1]
    marks = [f"{setup}: to PF {pf}, " for pf in range(len(MACS))]
    frames = [flow.packet(packets.flow_mac(i), MACS[i % 2], (marks[i % 2] + f"f{i} n{n} ").encode())
              for n in range(EACH) for i, flow in enumerate(FLOWS)]
    back = station.exchange(frames)
    assert order_of(back) == order_of(bytes(frame) for frame in frames)
    found = [[count(memory / f"node{node}", mark.encode()) for node in range(2)]
             for mark in marks]
    report.add(setup, {"rx": Dma(found[0][0] + found[1][1], found[0][1] + found[1][0], 0)})
    return found


def test_frames_are_written_to_their_pfs_node(view, bridge, memory):
    """Without a rule, all by the home leg; also with the lcores of both queues exchanged."""
    assert written(bridge, memory, "octo, tier mac") == [[ALL, 0], [0, ALL]]
    assert view.strays()["stray_packets"] == 0
    view.pmd.cmds(["stop", "set corelist 2,1"])
    view.pmd.start("5tswap")
    await_homes(view, {0: 1, 1: 0})
    view.pmd.wait_until("the RETAs have followed", lambda: no_strays(view, bridge))
    strays = view.strays()["stray_packets"]
    assert written(bridge, memory, "octo, tier mac, after a rehome") == [[ALL, 0], [0, ALL]]
    assert view.strays()["stray_packets"] == strays


def no_strays(view, bridge):
    """Does no flow stray?"""
    station = bridge[1]
    before = view.strays()["stray_packets"]
    frames = [flow.packet(dst_mac=MACS[i % 2]) for i, flow in enumerate(FLOWS)]
    assert len(station.exchange(frames)) == len(frames)
    return view.strays()["stray_packets"] == before


def test_memory_tells_what_crosses(guest, bridge, memory):
    """With one pool for both PFs the frames of one of them are on the other's node."""
    view = start(guest, "app")
    node = view.topology()["queues"][1]["pool"]
    found = written(bridge, memory, "octo, tier mac, one pool")
    assert [row[node] for row in found] == [ALL, ALL]
    assert [row[1 - node] for row in found] == [0, 0]
    assert view.pmd.quit() == 0
