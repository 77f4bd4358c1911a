# SPDX-License-Identifier: BSD-3-Clause
"""A second process that calls ethdev in its own time, and dies in it."""

import errno
import signal

import pytest

from octotest import env, hugepages, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View

PROGRAM = env.test_program("octo-test-secondary")


class Secondary(Process):
    """Does what it is told, by test/process/secondary.c."""

    def __init__(self, primary, until="ready", **environ) -> None:
        super().__init__([
            PROGRAM, "--no-pci", "--proc-type=secondary", "--lcores=2@1",
            f"--file-prefix={primary.file_prefix}", *env.plugin_args()], environ)
        self.expect(until, timeout=60)

    def ask(self, *words: object) -> int:
        """What the call returned."""
        return _ask(self, *words)


def _ask(process, *words: object) -> int:
    start = len(process.text)
    process.send(" ".join(map(str, words)))
    return int(process.expect(r"answer (-?\d+)", start)[1])


@pytest.fixture
def primary(huge_dir):
    """A testpmd with an octo port in hugepages."""
    if not PROGRAM.exists():
        pytest.skip(f"no {PROGRAM.name} was built")
    with Testpmd(vdevs.looped(), memory=None,
                 eal=["-m", "256", f"--huge-dir={huge_dir}",
                      *hugepages.SHARED]) as pmd:
        yield pmd


def _lose(view, pf: str) -> None:
    """A PF is removed, and comes back."""
    def states():
        return [p["state"] for p in view.topology()["pfs"]]

    def fault(what: str) -> bool:
        return view.pmd.telemetry.get("/mpsim/fault", pf, what) == "done"

    assert fault("remove")
    view.pmd.wait_until("the PF is gone", lambda: "gone" in states())
    view.pmd.wait_until("it can be plugged", lambda: fault("plug"))
    view.pmd.wait_until("it is back", lambda: states() == 2 * ["started"])


def test_killed_while_it_asks(primary):
    """It is waited for once; a new one that asks is waited for as ever."""
    view = View(primary)
    first = Secondary(primary)
    assert first.ask("count", view.port) >= 0
    first.send(f"die {view.port} 0")
    assert first.wait() == -signal.SIGKILL
    second = Secondary(primary)
    for pf in ("net_mpsim1", "net_mpsim0", "net_mpsim1"):
        _lose(view, pf)
        # the PF is there before this process has attached it
        primary.wait_until("the secondary has it, too", lambda:
                           second.ask("count", view.port) >= 0)
    for process in (primary, second):
        process.read(0)
    # either process may be the one that takes the legs out
    assert (primary.text + second.text).count("does not leave its burst") == 1


def test_a_pf_goes_while_it_asks(primary):
    """The PF is let go here when nobody is inside of its driver any more."""
    view = View(primary)
    secondary = Secondary(primary)
    start = len(secondary.text)
    secondary.send(f"stay {view.port} {view.topology()['pfs'][1]['port']}")
    secondary.expect("inside", start)
    _lose(view, "net_mpsim1")
    assert secondary.expect(r"answer (-?\d+)", start)[1] == "0"
    primary.wait_until("the secondary has it, too", lambda:
                       secondary.ask("count", view.port) >= 0)


def test_sets_up_no_queue(primary):
    """That of a running port stays: what is offered to the primary is not offered here."""
    port = primary.port()
    secondary = Secondary(primary)
    primary.cmd(f"port {port} txq 0 stop")
    assert secondary.ask("txq", port, 0) == -errno.EBUSY
    primary.cmd(f"port {port} txq 0 start")
    primary.start("io", first=True)
    primary.wait_until("traffic", lambda: primary.stats(port)["RX-packets"] > 1000)


def test_closes_its_port(primary):
    """It uses nothing of the port when that and a PF go in the primary."""
    port = primary.port()
    secondary = Secondary(primary)
    assert secondary.ask("count", port) >= 0
    assert secondary.ask("close", port) == 0
    primary.cmds([f"port stop {port}", f"port close {port}"])
    assert "does not answer" not in primary.text
    primary.cmd("device detach net_mpsim1")
    assert "EAL: " not in primary.text[len(primary.boot_text):]
    assert secondary.ask("close", port) < 0
    secondary.send("quit")
    assert secondary.wait() == 0


@pytest.fixture
def plain(huge_dir):
    """The same program as a primary, with a port."""
    if not PROGRAM.exists():
        pytest.skip(f"no {PROGRAM.name} was built")
    prefix = env.unique()
    process = Process([
        PROGRAM, "--no-pci", "--lcores=0@0", "-m", "256", f"--file-prefix={prefix}",
        f"--huge-dir={huge_dir}", *hugepages.SHARED, "--vdev=net_null9", *env.plugin_args()])
    process.file_prefix = prefix
    process.expect("ready", timeout=60)
    yield process
    process.kill()


def test_starts_while_the_port_is_built(plain):
    """It has the port when that is there, and lets it go when the primary closes it."""
    start = len(plain.text)
    plain.send("plug net_octo0 pf=net_null0,pf=net_null1")
    plain.expect("inside", start)
    secondary = Secondary(plain)
    plain.send("on")
    assert plain.expect(r"answer (-?\d+)", start)[1] == "0"
    assert secondary.ask("intr", 1, 0) not in (0, -errno.ENODEV)
    assert _ask(plain, "close", 1) == 0
    assert secondary.ask("intr", 1, 0) == -errno.ENODEV
    assert "does not answer" not in plain.text


def test_the_port_is_closed_while_it_attaches(plain):
    """Which takes its time: the primary waits for it, and then the port is released there."""
    start = len(plain.text)
    plain.send("plug net_octo0 pf=net_null0,pf=net_null1")
    plain.expect("inside", start)
    plain.send("on")
    assert plain.expect(r"answer (-?\d+)", start)[1] == "0"
    secondary = Secondary(plain, "inside", OCTO_STAY="1")
    start = len(plain.text)
    plain.send("close 1")
    # an answer would come too early; the primary waits for five seconds only
    for _ in range(5):
        plain.read(0.1)
    secondary.send("on")
    assert plain.expect(r"answer (-?\d+)", start)[1] == "0"
    secondary.expect("ready")
    assert secondary.ask("intr", 1, 0) == -errno.ENODEV
    assert "does not answer" not in plain.text


def test_closes_its_port_of_a_pf(primary):
    """It asks the other PF alone, also when the primary has started the port anew."""
    port = primary.port()
    pf = View(primary).topology()["pfs"][1]["port"]
    secondary = Secondary(primary)
    assert secondary.ask("count", port) >= 0
    assert secondary.ask("close", pf) == 0
    assert secondary.ask("count", port) >= 0
    primary.cmds([f"port stop {port}", f"port start {port}"])
    assert secondary.ask("count", port) >= 0
