# SPDX-License-Identifier: BSD-3-Clause
"""octo over two net_tap, whose rules are the kernel's cls_flower.

The kernel sends from sockets, so nothing of ours but the driver has a hand in it.
"""

import pytest

from octotest.packets import Flow
from octotest.testpmd import flow_id
from octotest.view import View

QUEUES = 4
# SIGRTMIN + 1, by which net_tap learns of packets. It counts these signals without an atomic
# operation: on a busy machine two threads count one, and the last packet waits for the next.
TAP_SIGNAL = 35
MODULES = ("tun", "cls_flower", "sch_multiq", "sch_ingress", "act_skbedit",
           "act_gact", "act_mirred")


def flow(pf, number):
    """A flow that the kernel sends by a PF's interface."""
    return Flow("udp", f"10.9.{pf}.1", 1000 + number, f"10.9.{pf}.2", 2000)


def prepare(guest, pf):
    """Give the kernel's end of the PF an address, and a peer that need not answer."""
    ip, device = "/usr/sbin/ip", f"dtap{pf}"
    guest.run(f"{ip} addr add 10.9.{pf}.1/24 dev {device} && {ip} link set {device} up &&"
              f" {ip} neigh replace 10.9.{pf}.2 lladdr 02:00:00:00:00:02 dev {device}")


@pytest.fixture(scope="module")
def running(bare):
    """testpmd that receives, its PFs on different nodes."""
    bare.modprobe(*MODULES)
    # or the kernel would say something by itself
    bare.run("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6")
    pmd = bare.testpmd(["--vdev=net_tap0,iface=dtap0", "--vdev=net_tap1,iface=dtap1",
                        "--vdev=net_octo0,learn=off,pf=net_tap0@0,pf=net_tap1@1"], queues=QUEUES)
    pmd.keep = True
    for pf in (0, 1):
        prepare(bare, pf)
    view = View(pmd)
    pmd.start("rxonly")
    pmd.wait_until("homes are known", lambda: all(
        queue["cpu"] >= 0 for queue in view.topology()["queues"]))
    yield view
    assert pmd.quit() == 0


@pytest.fixture
def view(running):
    """It has no rules."""
    yield running
    running.pmd.cmd(f"flow flush {running.port}")


def received(view):
    """Of each queue: packets by its home PF, and strays."""
    return [(queue["home_packets"], queue["stray_packets"])
            for queue in view.strays()["queues"]]


def send(view, guest, flow_to_send, number):
    """Let the kernel send so many; what each queue got, by home PF and astray."""
    before = received(view)
    guest.run(f"octo-guest udp {flow_to_send.src} {flow_to_send.sport}"
              f" {flow_to_send.dst} {flow_to_send.dport} {number}")
    total = sum(map(sum, before)) + number

    def all_came():
        guest.run(f"kill -{TAP_SIGNAL} $(pidof octo-testpmd)")
        return sum(map(sum, received(view))) >= total

    view.pmd.wait_until("all came", all_came)
    return [(home - home0, stray - stray0) for (home, stray), (home0, stray0)
            in zip(received(view), before)]


def queue_of(view, guest, flow_to_send, number=20):
    """The one queue that the flow goes to, which gets all of it."""
    got = [sum(both) for both in send(view, guest, flow_to_send, number)]
    assert sorted(got) == [0] * (QUEUES - 1) + [number], got
    return got.index(number)


@pytest.mark.parametrize("pf", [0, 1])
def test_rules_choose_the_queue(view, bare, pf):
    """Each flow goes where its rule says, not where it went before, and back."""
    flows = [flow(pf, number) for number in range(4)]
    hashed = [queue_of(view, bare, one) for one in flows]
    wanted = [(queue + 1 + i % 3) % QUEUES for i, queue in enumerate(hashed)]
    for one, queue in zip(flows, wanted):
        flow_id(view.pmd.cmd(one.rule(view.port, queue)))
    assert [queue_of(view, bare, one) for one in flows] == wanted
    view.pmd.cmd(f"flow flush {view.port}")
    assert [queue_of(view, bare, one) for one in flows] == hashed


def test_one_rule_is_removed_alone(view, bare):
    """The other flow keeps its queue."""
    first, second = flow(0, 10), flow(0, 11)
    hashed = [queue_of(view, bare, one) for one in (first, second)]
    wanted = [(queue + 1) % QUEUES for queue in hashed]
    numbers = [flow_id(view.pmd.cmd(one.rule(view.port, queue)))
               for one, queue in zip((first, second), wanted)]
    view.pmd.cmd(f"flow destroy {view.port} rule {numbers[0]}")
    view.await_lingering()
    assert [queue_of(view, bare, one) for one in (first, second)] == [hashed[0], wanted[1]]


def test_strays_are_told_by_the_pf(view, bare):
    """The network chose the PF: a packet is a stray if its queue's home is the other."""
    homes = view.homes()
    assert set(homes.values()) == {0, 1}
    for pf in (0, 1):
        for queue in range(QUEUES):
            one = flow(pf, 20 + queue)
            flow_id(view.pmd.cmd(one.rule(view.port, queue)))
            got = send(view, bare, one, 10)
            assert got[queue] == ((10, 0) if homes[queue] == pf else (0, 10))
    assert view.topology()["tier"] == "queue"
    assert all(rule["pf"] == -1 for rule in view.steering()["rules"])
