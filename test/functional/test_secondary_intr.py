# SPDX-License-Identifier: BSD-3-Clause
"""A second process that sleeps until a packet comes, by Rx interrupts of the primary's PFs."""

import errno
import os
import signal
from pathlib import Path

import pytest

from octotest import env, hugepages, vdevs
from octotest.process import Process
from octotest.telemetry import Telemetry
from octotest.testpmd import wait_until
from octotest.view import ask

PROGRAM = env.test_program("octo-test-secondary")
FLOWS = range(16)
QUEUES = 10
# bytes of a question of a secondary, in drivers/net/octo/octo_rx_intr_peer.c
ASK_LENGTH = 24


def nb_descriptors(process) -> int:
    """Of all kinds."""
    return len(os.listdir(f"/proc/{process.pid}/fd"))


class Program(Process):
    """Does what it is told, by test/process/secondary.c."""

    def __init__(self, file_prefix, *eal, plugins=True) -> None:
        super().__init__([PROGRAM, "--no-pci", f"--file-prefix={file_prefix}",
                          *(env.plugin_args() if plugins else []), *eal])
        self.prefix = file_prefix
        self.expect("ready", timeout=60)

    def answer(self, start: int) -> int:
        """What the call returned."""
        return int(self.expect(r"answer (-?\d+)", start)[1])

    def ask(self, *words: object) -> int:
        """Call, and wait for the end."""
        start = len(self.text)
        self.send(" ".join(map(str, words)))
        return self.answer(start)


def start_primary(huge_dir, vdev):
    """A process whose last port is an octo port that may have Rx interrupts, not started yet."""
    if not PROGRAM.exists():
        pytest.skip(f"no {PROGRAM.name} was built")
    process = Program(env.unique(), "--lcores=0@0", "-m", "256",
                      f"--huge-dir={huge_dir}", *hugepages.SHARED, *vdev)
    process.port = len(vdev) - 1
    assert process.ask("setup", process.port, 1) == 0
    return process


def start_secondary(primary, plugins=True):
    """Of this primary."""
    return Program(primary.prefix, "--proc-type=secondary", "--lcores=2@1", plugins=plugins)


@pytest.fixture
def primary(huge_dir):
    """Over two PFs, not started yet."""
    return start_primary(huge_dir, vdevs.looped())


def sleep(secondary, primary, queue=0):
    """Let it fall asleep; where its answer will be. The answer before it slept is over."""
    start = len(secondary.text)
    secondary.send(f"sleep {primary.port} {queue}")
    secondary.expect("asleep", start)
    return start


def check_each_flow_wakes(secondary, primary):
    """One frame at a time, and the primary is asked to enable the interrupts each time."""
    for flow in FLOWS:
        start = sleep(secondary, primary)
        assert primary.ask("send", primary.port, flow) == 1
        assert secondary.answer(start) == 1


def test_a_packet_wakes(primary):
    """The PFs' interrupts are those of the primary."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    check_each_flow_wakes(secondary, primary)


@pytest.mark.parametrize("lost", [0, 1])
def test_sleeps_while_a_pf_goes_and_comes(primary, lost):
    """Packets come by the other PF, and wake as those of both do when it is back."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    start = sleep(secondary, primary)
    telemetry = Telemetry(primary.prefix)

    def states():
        return [pf["state"] for pf in ask(telemetry, "topology", primary.port)["pfs"]]

    def fault(what):
        return telemetry.get("/mpsim/fault", f"net_mpsim{lost}", what) == "done"

    assert fault("remove")
    wait_until("the PF is gone", lambda: states()[lost] == "gone")
    assert primary.ask("send", primary.port, 1) == 1
    assert secondary.answer(start) == 1
    start = sleep(secondary, primary)
    wait_until("it can be plugged", lambda: fault("plug"))
    wait_until("it is back", lambda: states() == 2 * ["started"])
    assert primary.ask("send", primary.port, 1) == 1
    assert secondary.answer(start) == 1
    check_each_flow_wakes(secondary, primary)
    assert telemetry.get("/ethdev/stats", 1 - lost)["ipackets"] > 0
    telemetry.close()


def lose_and_plug_all(telemetry, primary, secondary):
    def states():
        return {pf["state"] for pf in ask(telemetry, "topology", primary.port)["pfs"]}

    def fault(pf, what):
        return telemetry.get("/mpsim/fault", f"net_mpsim{pf}", what) == "done"

    assert fault(0, "remove") and fault(1, "remove")
    wait_until("the port is removed", lambda: secondary.ask("removed", primary.port) == 1)
    wait_until("a PF can be plugged", lambda: fault(0, "plug"))
    wait_until("the other can, too", lambda: fault(1, "plug"))
    wait_until("they are back", lambda: states() == {"started"})


def test_it_is_removed_until_a_pf_is_back(primary):
    """For a process that has asked while all PFs were away, too."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    telemetry = Telemetry(primary.prefix)

    assert secondary.ask("removed", primary.port) == 0
    lose_and_plug_all(telemetry, primary, secondary)
    # the PFs are there before this process has attached them
    wait_until("the secondary has them, too",
               lambda: secondary.ask("count", primary.port) >= 0)
    assert secondary.ask("removed", primary.port) == 0
    check_each_flow_wakes(secondary, primary)
    telemetry.close()


def test_it_is_removed_until_a_pf_is_back_that_is_not_used(primary):
    """The process polls nothing."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    telemetry = Telemetry(primary.prefix)

    lose_and_plug_all(telemetry, primary, secondary)
    wait_until("it is there", lambda: secondary.ask("removed", primary.port) == 0)
    telemetry.close()


def test_a_pf_that_the_secondary_lacks(primary):
    """What comes by it wakes nobody, until the secondary has it."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    telemetry = Telemetry(primary.prefix)
    start = len(secondary.text)
    assert secondary.ask("lack", 0) == 0
    assert primary.ask("send", primary.port, 1) == 1
    assert secondary.ask("nap", primary.port, 0) == 0
    secondary.expect("asleep", start)
    assert primary.ask("send", primary.port, 1) == 1
    wait_until("both wait", lambda: telemetry.get("/ethdev/stats", 0)["ipackets"] == 2)
    telemetry.close()
    assert secondary.ask("removed", primary.port) == 0
    assert secondary.text.count("asleep", start) == 1
    assert secondary.ask("gain", 0) == 0
    secondary.expect("got 2", start)


def test_a_stop_wakes_and_a_restart_keeps_the_descriptor(primary):
    """Nobody sleeps at a port that is stopped."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    start = sleep(secondary, primary)
    assert primary.ask("stop", primary.port) == 0
    assert secondary.answer(start) == -errno.ENOTSUP
    # or enable: it may wake when the PFs stop, and so arm once more
    secondary.expect("the primary process does not (dis|en)able the interrupt of Rx queue 0", start)
    assert primary.ask("start", primary.port) == 0
    check_each_flow_wakes(secondary, primary)


def test_attached_before_the_start(primary):
    """Who has attached the port gets the descriptors when it is started."""
    secondaries = [start_secondary(primary) for _ in range(2)]
    assert all(s.ask("fd", primary.port, 0) == -1 for s in secondaries)
    assert primary.ask("start", primary.port) == 0
    for secondary in secondaries:
        check_each_flow_wakes(secondary, primary)
    assert "does not answer" not in primary.text


@pytest.mark.parametrize("before", [0, 1])
def test_attached_before_the_port_has_more_queues(primary, before):
    """It has the descriptors of the first start, if any, and gets the others: more than go into a
    message."""
    if before:
        assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    fds = [secondary.ask("fd", primary.port, 0)]
    if before:
        assert primary.ask("stop", primary.port) == 0
    assert primary.ask("setup", primary.port, QUEUES) == 0
    assert secondary.ask("fd", primary.port, QUEUES - 1) == -1
    assert primary.ask("start", primary.port) == 0
    assert secondary.ask("fd", primary.port, 0) == fds[0] or not before
    fds = [secondary.ask("fd", primary.port, queue) for queue in range(QUEUES)]
    assert min(fds) >= 0 and len(set(fds)) == QUEUES
    start = sleep(secondary, primary, QUEUES - 1)
    assert primary.ask("stop", primary.port) == 0
    assert secondary.answer(start) == -errno.ENOTSUP
    descriptors = nb_descriptors(secondary)
    assert primary.ask("start", primary.port) == 0
    assert [secondary.ask("fd", primary.port, queue) for queue in range(QUEUES)] == fds
    assert nb_descriptors(secondary) == descriptors


def test_started_while_a_secondary_stands_still(primary):
    """The start does not wait for ever, and each of them has the descriptors later."""
    secondaries = [start_secondary(primary) for _ in range(3)]
    secondaries[1].stand_still()
    assert primary.ask("start", primary.port) == 0
    assert "a secondary process does not answer" in primary.text
    for secondary in (*secondaries[::2], secondaries[1]):
        secondary.send_signal(signal.SIGCONT)
        # those that come after the second in EAL's order are sent them without an answer
        wait_until("it has them", lambda one=secondary: one.ask("fd", primary.port, 0) >= 0)
        check_each_flow_wakes(secondary, primary)


def is_zombie(process) -> bool:
    """It has ended with all its threads, and its parent has not noticed."""
    proc = Path(f"/proc/{process.pid}")
    stat = (proc / "stat").read_text(encoding="ascii")
    return stat.rpartition(")")[2].split()[0] == "Z" and len(os.listdir(proc / "task")) == 1


@pytest.mark.parametrize("reaped", [True, False], ids=["reaped", "zombie"])
def test_started_and_closed_after_a_secondary_was_killed(primary, reaped):
    """Nobody is asked, as a process without net_octo would not answer."""
    secondary = start_secondary(primary)
    other = start_secondary(primary, plugins=False)
    secondary.send_signal(signal.SIGKILL)
    if reaped:
        secondary.wait()
    else:
        wait_until("it has ended", lambda: is_zombie(secondary))
    assert [primary.ask(what, primary.port) for what in ("start", "stop", "close")] == 3 * [0]
    assert other.alive()
    assert "does not answer" not in primary.text


def test_a_late_answer_is_not_taken_for_another(primary):
    """Each question that is answered follows one of the same name, which asks for a port that is
    not there: its answer may come when the next has been asked."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    assert secondary.ask("mix", primary.port, 0, "net_octo_rx_intr", ASK_LENGTH) == 0


@pytest.mark.parametrize("length", [0, ASK_LENGTH])
def test_descriptors_of_wrong_messages_are_closed(primary, length):
    """Those in questions to the primary, and in what it tells the others; with what looks like a
    question or with nothing."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    assert secondary.ask("intr", primary.port, 0) == 0
    before = nb_descriptors(primary)
    assert secondary.ask("attach", "net_octo_rx_intr", length) == 0
    # messages are received one after the other
    assert secondary.ask("intr", primary.port, 0) == 0
    assert nb_descriptors(primary) == before
    before = nb_descriptors(secondary)
    assert primary.ask("attach", "net_octo_let_go", length) == 0
    assert [primary.ask(what, primary.port) for what in ("stop", "start")] == [0, 0]
    assert nb_descriptors(secondary) == before


def test_a_pf_has_no_interrupts(huge_dir):
    """Neither has the primary nor a secondary."""
    primary = start_primary(huge_dir, vdevs.looped(caps="-rxintr"))
    assert primary.ask("start", primary.port) == 0
    assert "PF net_mpsim0 has none for Rx queue 0" in primary.text
    secondary = start_secondary(primary)
    assert secondary.ask("intr", primary.port, 0) == -errno.ENOTSUP
    assert "start the port with intr_conf.rxq in the primary process" in secondary.text


def test_the_primary_is_dead(primary):
    """Nobody can enable an interrupt."""
    assert primary.ask("start", primary.port) == 0
    secondary = start_secondary(primary)
    primary.send_signal(signal.SIGKILL)
    primary.wait()
    assert secondary.ask("intr", primary.port, 0) == -errno.ETIMEDOUT
    assert "does not enable the interrupt of Rx queue 0" in secondary.text
