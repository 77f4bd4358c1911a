# SPDX-License-Identifier: BSD-3-Clause
"""NVMe over TCP: the kernel's target behind an octo port, its initiator on the wire.

octo-echo passes frames between the octo port and virtio-user, a queue on each node; vhost-net and
tun lead them into a network namespace with the target. The NIC is octo-agent, which tells of each
packet on which node it lies. OCTO_NVME_MIB is the size of a round of verified I/O.
"""

import os
import shutil

import pytest

from octotest.agent import DIRECTIONS
from octotest.netns import run, silence
from octotest.testpmd import wait_until
from octovm import firmware as nic
from octovm import nvme, report
from octovm.echo import Echo, on_own_nodes
from octovm.qemu import Machine
from octovm.tap import Tap

MAC = "02:0c:70:00:00:01"  # of the PFs, and of the target's netdev behind them
INITIATOR_MAC = "02:0c:70:00:00:02"
QUEUES = 2
CPUS = range(4)  # of the machine; the initiator has a queue pair for each
WORKER_CPUS = (0, 2)  # of vhost-net's worker of each queue, on the node of the queue's lcore
DISK = 64  # MiB
MIB = int(os.environ.get("OCTO_NVME_MIB", "1"))

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


@pytest.fixture(scope="module")
def echo(guest):
    """octo-echo; what leaves by a queue of virtio-user goes on on a CPU of its lcore's node."""
    legs = guest.machine.addresses()[:2]
    octo = "".join(f",pf={address}" for address in legs)
    running = Echo(guest, "net_octo0,net_virtio_user0", on_own_nodes(),
                   [f"--vdev=net_virtio_user0,path=/dev/vhost-net,iface=octo0,queues={QUEUES},"
                    f"mac={MAC}",
                    f"--vdev=net_octo0{octo},learn=off,agent=dev:/dev/virtio-ports/{nic.SERIAL}"],
                   legs)
    running.process.keep = True
    workers = guest.run("ps | grep '[[]vhost-' | cut -c 1-6").split()
    assert len(workers) == QUEUES
    for worker, cpu in zip(sorted(map(int, workers)), WORKER_CPUS):
        guest.run(f"taskset -pc {cpu} {worker}")
    yield running
    running.quit()


def share(firmware):
    """The part of the packets to the target that crossed."""
    seen = firmware.audited("rx")
    return seen.remote / max(1, seen.all)


@pytest.fixture(scope="module")
def io(guest, echo, firmware):
    """I/O by connections which the hash has given to both queues: it chooses anew for others."""
    nvme.serve(guest, "octo0", INITIATOR_MAC, DISK)
    nvme.reach(guest, "eth0", MAC)

    def is_spread():
        nvme.connect(guest, len(CPUS))
        firmware.reset()
        trial = nvme.Io(guest, nvme.DEVICE, 1)
        trial.round(CPUS)
        trial.quit()
        if 0.2 < share(firmware) < 0.8:
            return True
        nvme.disconnect(guest)
        return False
    wait_until("connections of both queues", is_spread, 60)
    running = nvme.Io(guest, nvme.DEVICE, MIB)
    yield running
    running.quit()
    nvme.disconnect(guest)


def crossed(firmware):
    """Packets, in and out."""
    return {way: firmware.audited(way).remote for way in DIRECTIONS}


def settle(io, firmware, setup, cpus=CPUS):
    """Once a change has come about, no packet crosses any more."""
    def is_local():
        firmware.reset()
        io.round(cpus)
        return not any(crossed(firmware).values())
    wait_until(f"DMA is local: {setup}", is_local, 60)
    report.add(f"NVMe/TCP, {setup}", {way: firmware.audited(way) for way in DIRECTIONS})


def test_connections_of_the_other_node_cross(io, firmware):
    """They come by the default PF, and leave by their own."""
    firmware.reset()
    io.round(CPUS)
    report.add("NVMe/TCP, not learned", {way: firmware.audited(way) for way in DIRECTIONS})
    assert 0.2 < share(firmware) < 0.8
    assert crossed(firmware)["tx"] == 0


def test_connections_come_home(io, firmware, echo):
    """Each is learned from its strays, and nothing crosses; all that was written is read."""
    echo.learn(True)
    settle(io, firmware, "learned")


def test_io_threads_move(io, firmware):
    """To the other node's CPUs: by the connections of these CPUs nothing crosses either, once
    those that were idle for long are learned again."""
    for node, cpus in enumerate((CPUS[:2], CPUS[2:])):
        settle(io, firmware, f"threads on node {node}", cpus)


def test_a_pf_is_pulled_out_and_put_back(io, guest, firmware):
    """Under I/O: no request fails. Back in, it has its connections again."""
    def handled():
        return sum(firmware.packets(1, way).all for way in DIRECTIONS)
    with io.going(CPUS):
        guest.qemu.monitor.unplug(0)
        wait_until("the PF is out", lambda: not guest.qemu.monitor.is_in(0), 60)
        before = handled()
        wait_until("I/O by the other PF", lambda: handled() > before + 100, 60)
        guest.plug(0)
        wait_until("the PF is back", lambda: firmware.pfs()[0]["enabled_queues"] == QUEUES, 60)
    settle(io, firmware, "a PF was out")
