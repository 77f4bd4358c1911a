# SPDX-License-Identifier: BSD-3-Clause
"""NVMe over TCP: the kernel's target behind an octo port, its initiator on the wire.

octo-echo passes frames between the octo port and virtio-user, a queue on each CPU; vhost-net and
tun lead them into a network namespace with the target. The NIC is octo-agent, which tells of each
packet on which node it lies. OCTO_NVME_MIB is the size of the one long round of verified I/O.
"""

import os
import shutil

import pytest

from octotest.agent import DIRECTIONS, dma
from octotest.netns import run, silence
from octotest.testpmd import wait_until
from octovm import firmware as nic
from octovm import nvme, report
from octovm.echo import Echo
from octovm.qemu import Machine
from octovm.tap import Tap

MAC = "02:0c:70:00:00:01"  # of the PFs, and of the target's netdev behind them
INITIATOR_MAC = "02:0c:70:00:00:02"
CPUS = range(4)  # of the machine, two on each node; the initiator has a queue pair for each
QUEUES = len(CPUS)  # queue q is of lcore q + 1, which shares CPU q with the kernel
LCORES = ",".join(["0@0", *(f"{cpu + 1}@{cpu}" for cpu in CPUS)])
MIB = int(os.environ.get("OCTO_NVME_MIB", "64"))
DISK = max(MIB, 1)
TRIES = 20  # with four connections, two are of either node's queues in three of eight tries

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tap():
    """The wire: the initiator's netdev is at its other end."""
    made = Tap(QUEUES)
    silence(made.name)
    run("ip", "link", "set", made.name, "up")
    yield made
    made.close()


@pytest.fixture(scope="module")
def memory():
    """The machine's."""
    made = nic.memory()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def firmware(tap, memory, tmp_path_factory):
    """The NIC."""
    agent = nic.Firmware(tap.name, memory, tmp_path_factory.mktemp("nic"), QUEUES)
    yield agent
    assert agent.quit() == 0


@pytest.fixture(scope="module")
def guest(boot, firmware, memory, tap):
    """A machine with the PFs, and the initiator's eth0, whose frames are as long as the wire's."""
    booted = boot(Machine([*firmware.functions(MAC), tap.nic(0, INITIATOR_MAC)],
                          calls={nic.SERIAL: firmware.listens}, memory_directory=memory))
    booted.bind_vfio(booted.machine.addresses()[:2])
    booted.run("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6")
    booted.modprobe("virtio_net", "vhost_net")
    booted.run("ethtool -K eth0 tx off tso off gso off gro off")
    return booted


def node_of(number):
    """Of a CPU, or of the queue with its number."""
    return number // 2


class Forwarder(Echo):
    """octo-echo. A queue's I/O thread is its lcore, and vhost-net's worker with it."""

    def __init__(self, guest, pools):
        legs = guest.machine.addresses()[:2]
        octo = "".join(f",pf={address}" for address in legs)
        super().__init__(
            guest, "net_octo0,net_virtio_user0", [f"{q}@{q + 1}:{pools(q)}" for q in range(QUEUES)],
            [f"--vdev=net_virtio_user0,path=/dev/vhost-net,iface=octo0,queues={QUEUES},mac={MAC}",
             f"--vdev=net_octo0{octo},learn=off,agent=dev:/dev/virtio-ports/{nic.SERIAL}"],
            legs, LCORES)
        self.process.keep = True
        workers = guest.run("ps | grep '[[]vhost-' | cut -c 1-6").split()
        assert len(workers) == QUEUES
        self._threads = [(self.thread(q + 1), worker)
                         for q, worker in enumerate(sorted(map(int, workers)))]
        for cpu in CPUS:
            self.move(cpu, cpu)

    def move(self, queue, cpu):
        """A queue's I/O thread to a CPU."""
        for thread in self._threads[queue]:
            self._guest.run(f"taskset -pc {cpu} {thread}")


def on_own(queue):
    """The pool of a queue where each has one."""
    return node_of(queue)


def on_both(queue):
    """The pools of a queue where each has one on either node."""
    return f"{node_of(queue)},{1 - node_of(queue)}"


one_pool = pytest.mark.parametrize("echo", [on_own], indirect=True)
two_pools = pytest.mark.parametrize("echo", [on_both], indirect=True)


@pytest.fixture(scope="module")
def echo(request, guest):
    """octo-echo, with these pools."""
    running = Forwarder(guest, request.param)
    yield running
    running.quit()


@pytest.fixture(scope="module")
def target(guest):
    """The kernel's target, which needs its netdev but once: octo0 of whichever octo-echo."""
    nvme.reach(guest, "eth0", MAC)
    served = []

    def serve():
        if not served:
            nvme.serve(guest, "octo0", INITIATOR_MAC, DISK)
            served.append(True)
        else:
            nvme.attach(guest, "octo0", INITIATOR_MAC)
    return serve


def received(firmware):
    """Packets to the target, by queue."""
    audits = [firmware.audit(pf) for pf in range(2)]
    return [sum(dma(audit[q]["rx"]).all for audit in audits) for q in range(QUEUES)]


def is_spread(guest, firmware):
    """Has the hash given about half of the packets to the queues of either node?"""
    firmware.reset()
    trial = nvme.Io(guest, 1)
    trial.round(CPUS)
    trial.quit()
    by_queue = received(firmware)
    return 0.4 < sum(by_queue[QUEUES // 2:]) / sum(by_queue) < 0.6


@pytest.fixture(scope="module")
def io(guest, echo, target, firmware):  # pylint: disable=unused-argument
    """Rounds of 1 MiB, by connections of which about half are of either node's queues: others
    are made until the hash has chosen so."""
    target()
    for _ in range(TRIES):
        nvme.connect(guest, len(CPUS))
        if is_spread(guest, firmware):
            break
        nvme.disconnect(guest)
    else:
        pytest.fail(f"no connections of both nodes in {TRIES} tries")
    running = nvme.Io(guest, 1)
    yield running
    running.quit()
    nvme.disconnect(guest)


def audited(firmware, setup):
    """Packets that crossed, in and out; all are told of in the end."""
    seen = {way: firmware.audited(way) for way in DIRECTIONS}
    report.add(f"NVMe/TCP, {setup}", seen)
    return {way: seen[way].remote for way in DIRECTIONS}


NOTHING = {way: 0 for way in DIRECTIONS}


def settle(io, firmware, setup, cpus=CPUS):
    """Once a change has come about, no packet crosses any more."""
    def is_local():
        firmware.reset()
        io.round(cpus)
        return not any(firmware.audited(way).remote for way in DIRECTIONS)
    wait_until(f"DMA is local: {setup}", is_local, 60)
    audited(firmware, setup)


@one_pool
def test_connections_of_the_other_node_cross(io, firmware):
    """They come by the default PF, and leave by their own."""
    firmware.reset()
    io.round(CPUS)
    share = firmware.audited("rx").remote / firmware.audited("rx").all
    assert audited(firmware, "not learned")["tx"] == 0
    assert 0.4 < share < 0.6


@one_pool
def test_connections_come_home(io, firmware, echo):
    """Each is learned from its strays, and nothing crosses; all that was written is read."""
    echo.learn(True)
    settle(io, firmware, "learned")


@one_pool
def test_much_is_written_and_read(io, guest, firmware):  # pylint: disable=unused-argument
    """By all queue pairs, each on its CPU: nothing crosses, no byte is wrong."""
    much = nvme.Io(guest, MIB)
    firmware.reset()
    much.round(CPUS)
    much.quit()
    assert audited(firmware, f"{MIB} MiB at home") == NOTHING


@one_pool
def test_threads_of_the_initiator_move(io, firmware):
    """To the other node's CPUs: by the connections of these CPUs nothing crosses either, once
    those that were idle for long are learned again."""
    for node in range(2):
        settle(io, firmware, f"initiator on node {node}",
               [cpu for cpu in CPUS if node_of(cpu) == node])


@two_pools
def test_a_thread_of_the_target_moves(io, firmware, echo):
    """To the other node and back, under I/O: octo follows it, with the memory of both ways."""
    echo.learn(True)
    settle(io, firmware, "pools on both nodes")
    by_queue = received(firmware)
    queue = by_queue.index(max(by_queue))
    there = 1 - node_of(queue)

    def handled(pf):
        return dma(firmware.audit(pf)[queue]["rx"]).all
    for node, cpu, setup in ((there, 3 - queue, "away"), (1 - there, queue, "back")):
        before = handled(node)
        with io.going(CPUS):
            echo.move(queue, cpu)
            wait_until("it receives by the PF there", lambda: handled(node) > before + 20, 60)
        settle(io, firmware, f"a thread of the target {setup}")
        assert (handled(node) > 0, handled(1 - node)) == (True, 0)


@two_pools
def test_a_pf_is_pulled_out_and_put_back(io, guest, firmware):
    """Under I/O: no request fails. Back in, it has its connections again."""
    def handled():
        return sum(firmware.packets(1, way).all for way in DIRECTIONS)
    with io.going(CPUS):
        guest.qemu.monitor.unplug(0)
        wait_until("the PF is out", lambda: not guest.qemu.monitor.is_in(0), 60)
        before = handled()
        wait_until("I/O by the other PF", lambda: handled() > before + 100, 60)
        firmware.reset()
        io.more()
        audited(firmware, "PF 0 is out")
        guest.plug(0)
        wait_until("the PF is back", lambda: firmware.pfs()[0]["enabled_queues"] == QUEUES, 60)
    settle(io, firmware, "PF 0 was out")
