# SPDX-License-Identifier: BSD-3-Clause
"""Two PFs on two real nodes, our own firmware behind them, and an auditor.

The NIC is octo-agent on this host: mpsim's core behind vhost-user. It sees the
addresses that the guest gives it, and tells of each packet on which node it lies.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from octotest import packets
from octotest.agent import Dma, dma
from octotest.bench import order_of
from octotest.testpmd import wait_until
from octotest.veth import Wire
from octovm import report
from octovm.echo import Echo, on_all_nodes, on_own_nodes
from octovm.firmware import SERIAL, Firmware
from octovm.firmware import memory as machine_memory
from octovm.qemu import Machine

MAC = "52:54:00:00:00:01"
QUEUES = 2
FLOWS = packets.flows(8)
OTHERS = packets.flows(12)[len(FLOWS):]  # that nobody steers
EACH = 250
# the agent's two PFs are served by turns, so packets wait in one while it has no CPU
GRACE = ",grace_us=500000"


@pytest.fixture(scope="module")
def wire():
    """The NIC's wire."""
    with Wire() as made:
        yield made


@pytest.fixture(scope="module")
def memory():
    """The machine's."""
    made = machine_memory()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def firmware(wire, memory, tmp_path_factory):
    """The NIC."""
    agent = Firmware(wire.name, memory, tmp_path_factory.mktemp("nic"), QUEUES)
    yield agent
    assert agent.quit() == 0


@pytest.fixture(scope="module")
def guest(boot, firmware, memory):
    """A machine whose PFs and agent are the firmware's."""
    guest = boot(Machine(firmware.functions(MAC), calls={SERIAL: firmware.listens},
                         memory_directory=memory))
    guest.bind_vfio()
    return guest


def _octo(guest, more: str = "") -> str:
    legs = "".join(f",pf={address}" for address in guest.machine.addresses())
    return f"--vdev=net_octo0{legs},learn=off,agent=dev:/dev/virtio-ports/{SERIAL}{more}"


def _start(guest, queues, more: str = "") -> Echo:
    return Echo(guest, "net_octo0", queues, [_octo(guest, more)], guest.machine.addresses())


def _exchange(wire: Wire, flows=FLOWS, each: int = EACH) -> None:
    """Numbered packets there and back: nothing is lost, doubled or reordered."""
    frames = packets.numbered(flows, each)
    back = wire.exchange(frames)
    assert order_of(back) == order_of(bytes(frame) for frame in frames)


def _report(agent: Firmware, setup: str) -> None:
    report.add(setup, {d: agent.audited(d) for d in ("rx", "tx")})


def test_steered_dma_is_local(guest, firmware, wire):
    """Every packet of every flow, in and out; and the rings of the home legs."""
    echo = _start(guest, on_own_nodes())
    for i, flow in enumerate(FLOWS):
        echo.steer(flow, i % QUEUES)
    firmware.reset()
    _exchange(wire)
    _report(firmware, "octo, steered")
    total = len(FLOWS) * EACH
    assert firmware.audited("rx") == Dma(total, 0, 0)
    assert firmware.audited("tx") == Dma(total, 0, 0)
    assert echo.counts() == {q: total // QUEUES for q in range(QUEUES)}
    for i in range(2):
        home = firmware.audit(i)[i]  # queue i is polled on node i
        for direction in ("rx", "tx"):
            ring = home[direction]
            assert [ring[f"{part}_node"] for part in ("desc", "avail", "used")] == [i] * 3
        assert dma(home["rx"], "posted").remote == 0
    echo.quit()


def test_unsteered_dma_crosses(guest, firmware, wire):
    """What comes by the default PF for the other node's queue is seen to cross."""
    echo = _start(guest, on_own_nodes())
    firmware.reset()
    _exchange(wire)
    _report(firmware, "octo, unsteered")
    assert firmware.audited("rx").remote == echo.counts()[1] > 0
    assert firmware.audited("tx").remote == 0
    echo.quit()


def test_the_auditor_catches_pools_on_the_wrong_node(guest, firmware, wire):
    """Steered to the lcore's PF, but its buffers are on the other node."""
    echo = _start(guest, ["0@1:1", "1@3:0"])
    for i, flow in enumerate(FLOWS):
        echo.steer(flow, i % QUEUES)
    firmware.reset()
    _exchange(wire)
    _report(firmware, "octo, pools on the wrong node")
    total = len(FLOWS) * EACH
    assert firmware.audited("rx") == Dma(0, total, 0)
    assert firmware.audited("tx") == Dma(0, total, 0)
    echo.quit()


@pytest.mark.parametrize("lcores", [(3, 1), (1, 1), (3, 3), (1, 2)])
def test_any_layout_is_local(guest, firmware, wire, lcores):
    """Whichever lcore polls a queue: its packets come by the PF of that node."""
    echo = _start(guest, on_own_nodes(lcores))
    for i, flow in enumerate(FLOWS):
        echo.steer(flow, i % QUEUES)
    firmware.reset()
    _exchange(wire)
    for direction in ("rx", "tx"):
        assert firmware.audited(direction) == Dma(len(FLOWS) * EACH, 0, 0)
    echo.quit()


def _settle(agent: Firmware, wire: Wire, setup: str) -> None:
    """Once a change has come about, no packet crosses any more, in or out."""
    def is_local() -> bool:
        agent.reset()
        _exchange(wire, each=20)
        return not any(agent.audited(d).remote for d in ("rx", "tx"))
    wait_until(f"DMA is local again: {setup}", is_local, 30)
    agent.reset()
    _exchange(wire)
    _report(agent, setup)
    for direction in ("rx", "tx"):
        assert agent.audited(direction) == Dma(len(FLOWS) * EACH, 0, 0), setup


def _swap_sockets(echo: Echo, wire: Wire) -> None:
    """Under traffic, each queue goes to the other socket."""
    with ThreadPoolExecutor(1) as beside:
        traffic = beside.submit(_exchange, wire)
        echo.hand(0, 3)
        echo.hand(1, 1)
        traffic.result()


@pytest.mark.long
def test_dma_is_local_again_after_changes(guest, firmware, wire):
    """Queues change sockets and flows change queues, a cable is pulled and put back. With
    a clone of its pool on the other node nothing crosses after any of it."""
    echo = _start(guest, on_own_nodes(), f",pools=local{GRACE}")
    rules = [echo.steer(flow, i % QUEUES) for i, flow in enumerate(FLOWS)]
    _swap_sockets(echo, wire)
    _settle(firmware, wire, "octo, pools=local, after a rehome")
    for i, flow in enumerate(FLOWS):
        echo.destroy(rules[i])
        echo.steer(flow, 1 - i % QUEUES)
    _settle(firmware, wire, "octo, pools=local, after a move")
    guest.qemu.monitor.set_link(0, False)
    try:
        wait_until("all by PF 1", lambda: _all_by(firmware, wire, 1), 30)
    finally:
        guest.qemu.monitor.set_link(0, True)
    # by PF 1 alone nothing crosses either
    wait_until("not all by PF 1", lambda: not _all_by(firmware, wire, 1), 30)
    _settle(firmware, wire, "octo, pools=local, after a failback")
    echo.quit()


def test_dma_is_local_again_with_pools_of_both_nodes(guest, firmware, wire):
    """The same of the application's own pools, one on each node."""
    echo = _start(guest, on_all_nodes(), GRACE)
    for i, flow in enumerate(FLOWS):
        echo.steer(flow, i % QUEUES)
    _swap_sockets(echo, wire)
    _settle(firmware, wire, "octo, two pools, after a rehome")
    echo.quit()


def _all_by(agent: Firmware, wire: Wire, number: int) -> bool:
    """Does what is sent come back, by this PF? Also what has no rule."""
    agent.reset()
    sent = packets.numbered(FLOWS + OTHERS, 2)
    return len(wire.exchange(sent)) == agent.packets(number, "tx").all == len(sent)


def test_rules_outlive_the_connection(guest, firmware, wire):
    """A port that is killed leaves its rules; the next one's replace them."""
    echo = _start(guest, on_own_nodes())
    for flow in FLOWS:
        echo.steer(flow, 0)
    echo.process.kill()
    echo = _start(guest, on_own_nodes())
    for flow in FLOWS[:4]:
        echo.steer(flow, 1)
    _exchange(wire, FLOWS[:4])
    assert echo.counts() == {0: 0, 1: 4 * EACH}
    echo.quit()


def test_bonding_beside_it(guest, firmware, wire):
    """The same PFs under net_bonding: reported, as nothing there is to be asserted."""
    members = "".join(f",slave={address}" for address in guest.machine.addresses())
    echo = Echo(guest, "net_bonding0", on_own_nodes(),
                [f"--vdev=net_bonding0{members},mode=2,xmit_policy=l34"],
                guest.machine.addresses())
    firmware.reset()
    back = wire.exchange(packets.numbered(FLOWS, EACH))
    _report(firmware, "net_bonding, balance")
    assert len(back) == len(FLOWS) * EACH
    assert firmware.audited("rx").all == len(FLOWS) * EACH
    echo.quit()
