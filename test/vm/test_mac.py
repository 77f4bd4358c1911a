# SPDX-License-Identifier: BSD-3-Clause
"""Tier mac over two PFs on two real nodes, whose switch is a bridge of the host's kernel.

The PFs are virtio-net with a RETA. Each node's memory is a file: where a frame was written to is
read there, whatever octo and the guest say. It is sent from the same buffer; the PF that sends it
is the one whose cable it comes by.
"""

import contextlib
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


def exchange(bridge, setup, each):
    """Let frames to each address, each with a mark, be returned: the marks, and frames by PF."""
    _, station, taps = bridge
    marks = [f"{setup}: to PF {pf}, ".encode() for pf in range(len(MACS))]
    frames = [flow.packet(packets.flow_mac(i), MACS[i % 2], marks[i % 2] + f"f{i} n{n} ".encode())
              for n in range(each) for i, flow in enumerate(FLOWS)]
    with contextlib.ExitStack() as stack:
        ends = [stack.enter_context(tap.listen()) for tap in taps]
        back = station.exchange(frames)
        by_pf = [[frame for frame in end.heard() if setup.encode() in frame] for end in ends]
    assert order_of(back) == order_of(bytes(frame) for frame in frames)
    for sent, mac in zip(by_pf, MACS):
        assert {frame[6:12].hex(":") for frame in sent} <= {mac}
    return marks, [[sum(mark in frame for frame in sent) for sent in by_pf] for mark in marks]


def at_home(each):
    """Of so many frames of each flow: those to each address, by node or PF."""
    number = each * len(FLOWS) // 2
    return [[number, 0], [0, number]]


def is_settled(view, bridge):
    """Does no flow stray, and does each queue send by its home? Senders follow under traffic."""
    before = view.strays()["stray_packets"]
    _, left = exchange(bridge, "settling", 1)
    return view.strays()["stray_packets"] == before and left == at_home(1)


def moved(view, bridge, memory, setup):
    """Of frames to each address: how many are in the memory of each node, and left by each PF.

    They are fewer than a ring has buffers, so that none is written over.
    """
    view.pmd.wait_until("all is at home", lambda: is_settled(view, bridge))
    marks, left = exchange(bridge, setup, EACH)
    found = [[count(memory / f"node{node}", mark) for node in range(2)] for mark in marks]
    # with no copy of a frame, and all of a mark on one node, the buffer of each is known
    assert all(sorted(row) == [0, ALL] for row in found), found
    report.add(setup, {"rx": dma(found, at_home(EACH)), "tx": dma(found, left)})
    return found, left


def dma(found, by_pf):
    """Of the packets by each PF: whether their buffer is on its node."""
    local = sum(pfs[nodes.index(ALL)] for nodes, pfs in zip(found, by_pf))
    return Dma(local, 2 * ALL - local, 0)


def test_frames_cross_neither_way(view, bridge, memory):
    """Without a rule, all by the home leg, and back; also with the lcores of both exchanged."""
    assert moved(view, bridge, memory, "octo, tier mac") == (at_home(EACH),) * 2
    assert view.strays()["stray_packets"] == 0
    view.pmd.cmds(["stop", "set corelist 2,1"])
    view.pmd.start("5tswap")
    await_homes(view, {0: 1, 1: 0})
    view.pmd.wait_until("the RETAs have followed", lambda: is_settled(view, bridge))
    strays = view.strays()["stray_packets"]
    assert moved(view, bridge, memory, "octo, tier mac, after a rehome") == (at_home(EACH),) * 2
    assert view.strays()["stray_packets"] == strays


def test_memory_tells_what_crosses(guest, bridge, memory):
    """With one pool for both PFs the frames of one of them are on the other's node."""
    view = start(guest, "app")
    node = view.topology()["queues"][1]["pool"]
    found, left = moved(view, bridge, memory, "octo, tier mac, one pool")
    assert [row[node] for row in found] == [ALL, ALL]
    assert [row[1 - node] for row in found] == [0, 0]
    assert left == at_home(EACH)
    assert [(row.direction, row.local, row.remote) for row in report.ROWS[-2:]] == [
        ("rx", ALL, ALL), ("tx", ALL, ALL)]
    assert view.pmd.quit() == 0
