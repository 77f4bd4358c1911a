# SPDX-License-Identifier: BSD-3-Clause
"""Wrong devargs: one clear error that names the culprit, nothing left."""

import re

import pytest

from octotest import env, vdevs
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View

TWO = "pf=net_mpsim0,pf=net_mpsim1"
# Short: from 26.07 on EAL takes no more than 127 bytes of a hot-plugged device.
NINE = ",".join(f"pf=pf{i}" for i in range(9))


@pytest.fixture(scope="module")
def running(shared):
    """PFs 0 to 8 are free; net_octo8 has two others; queues, MTU differ."""
    args = [*vdevs.nic("A", 0, 8, "loop"), vdevs.mpsim(
        8, "B", wire="loop", mac="02:00:00:00:00:08", default_pf=0, lost_pf="drop",
        dialect="wire-item"),
            vdevs.mpsim(10, "C", max_mtu=2000),
            vdevs.mpsim(11, "D", queues=4),
            vdevs.mpsim(12, "E"), vdevs.mpsim(13, "E"),
            "--vdev=net_mpsim15,nic=F,representor=uplink",
            "--vdev=net_mpsim16,nic=F,representor=pf1",
            vdevs.octo(8, 12, 2), "--vdev=net_null0"]
    return shared(lambda: Testpmd(args, app=["--disable-device-start"],
                                  queues=1, memory=192))


@pytest.fixture
def pmd(running):
    """That testpmd."""
    return running.get()


def _state(pmd) -> tuple:
    """What a failed attach must leave as it was."""
    return (pmd.ports(), pmd.telemetry.get("/octo/list"),
            pmd.telemetry.get("/ethdev/list"),
            [pmd.telemetry.get("/ethdev/info", port) is None
             for port in range(24)])


def _refused(pmd, device: str) -> str:
    before = _state(pmd)
    out = pmd.cmd(f"port attach {device}")
    assert "Failed to attach port" in out, out
    assert _state(pmd) == before
    return out


def _complaints(out: str, who: str = "OCTO") -> list:
    """Lines that the driver logged, but for the port's birth."""
    return [line for line in
            re.findall(rf"^{who}: .*$", out, re.MULTILINE)
            if not re.search(r"port \d+ over \d+ PFs?$", line)]


def _check_error(out: str, names: str, who: str = "OCTO") -> None:
    """Exactly one line of the driver, and it names the culprit."""
    lines = _complaints(out, who)
    assert len(lines) == 1, f"one error expected:\n{out}"
    assert re.search(names, lines[0]), f"/{names}/ not in: {lines[0]}"


def _good(pmd) -> None:
    """The good port can be made, and goes away again."""
    out = pmd.cmd(f"port attach net_octo9,{TWO}")
    assert "Failed" not in out and _complaints(out) == [], out
    port = pmd.port("net_octo9")
    assert len(View(pmd, "net_octo9").topology()["pfs"]) == 2
    out = pmd.cmd(f"port detach {port}")
    assert "is detached" in out or "Done" in out, out
    assert "net_octo9" not in [p.name for p in pmd.ports()]


def test_good_port_can_come_and_go(pmd):
    """The reference for all that follows."""
    before = {p.name for p in pmd.ports()}
    _good(pmd)
    _good(pmd)
    assert {p.name for p in pmd.ports()} == before


OCTO_ROWS = [
    ("no-pf", "", r"no pf="),
    ("only-map", "socket_map=0:0", r"no pf="),
    ("unknown-pf", "pf=net_mpsim99", r"net_mpsim99"),
    ("unknown-driver", "pf=nothing_like_this0", r"nothing_like_this0"),
    ("unknown-pci", "pf=0000:ff:1f.7", r"0000:ff:1f\.7"),
    ("twice", "pf=net_mpsim0,pf=net_mpsim0", r"net_mpsim0.*twice"),
    ("owned", "pf=net_mpsim0,pf=net_mpsim12",
     r"net_mpsim12.*net_octo8"),
    ("itself", "pf=net_mpsim0,pf=net_octo9", r"pf=net_octo9"),
    ("other-octo", "pf=net_mpsim0,pf=net_octo8", r"pf=net_octo8"),
    ("mtu-differs", "pf=net_mpsim0,pf=net_mpsim10",
     r"net_mpsim10.*MTU"),
    ("queues-differ", "pf=net_mpsim0,pf=net_mpsim11",
     r"net_mpsim11.*queues"),
    ("nine-pfs", NINE, r"pf8.*8"),
    ("unknown-argument", TWO + ",colour=blue", r"net_octo9: colour=: .* known are pf= "),
    ("unknown-without-value", "colour," + TWO, r"net_octo9: colour=: .* known are pf= "),
    ("empty-pf", "pf=", r"pf"),
    ("pf-without-value", "pf", r"pf"),
    ("empty-second-pf", "pf=net_mpsim0,pf=", r"pf"),
    ("socket-empty", "pf=net_mpsim0@", r"net_mpsim0@"),
    ("socket-no-name", "pf=@1", r"@1"),
    ("socket-word", "pf=net_mpsim0@one", r"@one"),
    ("socket-negative", "pf=net_mpsim0@-1", r"@-1"),
    ("socket-huge", "pf=net_mpsim0@64", r"@64"),
    ("socket-space", "pf=net_mpsim0@ 1", r"pf=net_mpsim0@ 1: NAME@SOCKET"),
    ("port-socket-plus", TWO + ",socket=+0", r"socket=\+0: a NUMA node of 0 to 63"),
    ("port-socket-word", TWO + ",socket=one", r"socket=one"),
    ("port-socket-negative", TWO + ",socket=-1", r"socket=-1"),
    ("port-socket-twice", TWO + ",socket=0,socket=0", r"socket=.*once"),
    ("port-socket-absent", TWO + ",socket=63", r"socket=63: there is no memory"),
    ("mac-word", TWO + ",mac=hello", r"mac=hello"),
    ("mac-group", TWO + ",mac=01:00:5e:00:00:01", r"mac=01:00:5e"),
    ("mac-zero", TWO + ",mac=00:00:00:00:00:00", r"mac=00:00"),
    ("tx-pf-word", TWO + ",tx_pf=cpu", r"tx_pf=cpu.*lcore or mbuf"),
    ("tx-pf-empty", TWO + ",tx_pf=", r"tx_pf="),
    ("rx-rings-word", TWO + ",rx_rings=half", r"rx_rings=half: auto, full or shared is expected"),
    ("mac-source-word", TWO + ",tier=mac,mac_source=both", r"mac_source=both.*rewrite, address or app"),
    ("mac-source-tier", TWO + ",tier=queue,mac_source=app", r"mac_source=app: tier=mac is needed"),
    ("mac-source-twice", TWO + ",tier=mac,mac_source=address,tx_pf=mbuf", r"tx_pf=mbuf.*one of the two"),
    ("tier-word", TWO + ",tier=best", r"tier=best.*partition"),
    ("dialect-word", TWO + ",dialect=wire",
     r"dialect=wire: wire-item, no-item, represented or indirect is expected"),
    ("dialect-empty", TWO + ",dialect=", r"dialect=: wire-item, no-item, represented or indirect"),
    ("dialect-slices", "pf=net_mpsim0[0::2]@0,pf=net_mpsim0[1::2]@1,dialect=no-item",
     r"dialect=: .* not with slices of a port"),
    ("learn-max-huge", TWO + ",learn_max=99999999999",
     r"learn_max=99999999999: 1 to 16777216 learned rules are possible"),
    ("learn-max-word", TWO + ",learn_max=many", r"learn_max=many: 1 to 16777216 learned rules"),
    ("idle-empty", TWO + ",idle_ms=", r"idle_ms=: a learned rule may be idle for up to 86400000"),
    ("sample-negative", TWO + ",learn_sample=-1", r"learn_sample=-1: one stray of 1 to 65536"),
    ("tier-empty", TWO + ",tier=", r"tier="),
    ("tier-twice", TWO + ",tier=exact,tier=queue", r"tier="),
    ("long-name", "pf=" + "x" * 70, r"pf=x+"),
    *((f"map-{name}", f"{TWO},socket_map={text}",
       r"socket_map=" + re.escape(text)) for name, text in (
        ("no-node", "0"), ("empty-node", "0:"), ("empty-cpu", ":0"),
        ("trailing", "0:0/"), ("backwards", "1-0:0"),
        ("cpu-twice", "0:0/0:1"),
        ("word", "a:0"), ("node-huge", "0:99"), ("cpu-huge", "5000:0"),
        ("double-slash", "0:0//1:1"), ("open-range", "0-:0"),
        ("negative", "0:-1"), ("space", "0:0;1:1"))),
    ("map-empty", TWO + ",socket_map=", r"socket_map"),
    ("map-twice", TWO + ",socket_map=0:0,socket_map=1:1", r"socket_map"),
]


@pytest.mark.many(asan=12)
@pytest.mark.parametrize("args, names", [r[1:] for r in OCTO_ROWS],
                         ids=[r[0] for r in OCTO_ROWS])
def test_octo_refuses(pmd, args, names):
    """A bad octo port is refused; the good one can then be made."""
    out = _refused(pmd, f"net_octo9,{args}" if args else "net_octo9")
    _check_error(out, names)
    _good(pmd)


SIM_ROWS = [
    ("no-nic", "", r"nic"),
    ("empty-nic", "nic=", r"nic"),
    ("bad-nic", "nic=a:b", r"nic=a:b"),
    ("nic-twice", "nic=X,nic=Y", r"nic"),
    ("unknown-argument", "nic=X,colour=blue", r"colour"),
    ("socket-word", "nic=X,socket=one", r"socket=one"),
    ("socket-negative", "nic=X,socket=-1", r"socket=-1"),
    ("wire-unknown", "nic=X,wire=net_nothing7", r"wire=net_nothing7"),
    ("wire-empty", "nic=X,wire=", r"wire="),
    ("wire-no-nic", "nic=X,wire=nic:", r"wire=nic:"),
    ("wire-self", "nic=X,wire=nic:X", r"wire=nic:X"),
    ("wire-is-pf", "nic=X,wire=net_mpsim12", r"wire=net_mpsim12"),
    ("wire-differs", "nic=B,wire=nic:Q", r"wire"),
    ("mac-differs", "nic=B,mac=02:00:00:00:00:09", r"mac"),
    ("default-differs", "nic=B,default_pf=1", r"default_pf"),
    ("default-pf", "nic=X,default_pf=8", r"default_pf=8"),
    ("lost-pf", "nic=X,lost_pf=keep", r"lost_pf=keep: drop or default"),
    ("lost-differs", "nic=B,lost_pf=default", r"lost_pf"),
    ("switch-word", "nic=X,switch=both", r"switch=both: rules or mac"),
    ("switch-differs", "nic=B,switch=mac", r"switch"),
    ("switch-representor", "nic=X,switch=mac,representor=pf0", r"switch=mac"),
    ("entries-zero", "nic=X,mpfs_entries=0", r"mpfs_entries=0"),
    ("arfs-zero", "nic=X,arfs_entries=0", r"arfs_entries=0"),
    ("entries-word", "nic=X,mpfs_entries=many", r"mpfs_entries=many"),
    ("queues-zero", "nic=X,queues=0", r"queues=0"),
    ("queues-65", "nic=X,queues=65", r"queues=65"),
    ("queues-tail", "nic=X,queues=4x", r"queues=4x"),
    ("mac-word", "nic=X,mac=hello", r"mac=hello"),
    ("mac-group", "nic=X,mac=01:00:5e:00:00:01", r"mac=01:00"),
    ("mtu-small", "nic=X,max_mtu=10", r"max_mtu=10"),
    ("tx-delay", "nic=X,tx_delay_us=60000001", r"tx_delay_us=60000001"),
    ("tx-nodes", "nic=X,tx_nodes=on", r"tx_nodes=on: off, count or hint"),
    ("latency", "nic=X,latency_us=1000001", r"latency_us=1000001: a number"),
    ("ifindex", "nic=X,ifindex=2147483648", r"ifindex=2147483648: a number"),
    ("ignore-word", "nic=X,ignore=none", r"ignore=none"),
    ("ignore-empty", "nic=X,ignore=", r"ignore="),
    ("dialect-word", "nic=X,dialect=any", r"dialect=any: wire-item, no-item, represented or indirect"),
    ("dialect-tail", "nic=X,dialect=no-item/all", r"dialect=no-item/all: "),
    ("dialect-differs", "nic=B,dialect=no-item", r"dialect"),
    ("caps-word", "nic=X,caps=-mpfs/-all", r"'-all' is not known; -mpfs, "),
    ("caps-plus", "nic=X,caps=mpfs", r"'mpfs' is not known"),
    ("caps-empty", "nic=X,caps=", r"caps=: '' is not known"),
    ("caps-end", "nic=X,caps=-mpfs/", r"caps=-mpfs/: '' is not known"),
    ("generic-entries", "nic=X,generic_entries=0", r"generic_entries=0"),
    ("ignore-twice", "nic=X,ignore=mpfs,ignore=arfs", r"ignore"),
    ("ninth-pf", "nic=A", r"\bA\b"),
    ("representor-empty", "nic=X,representor=", r"representor="),
    ("representor-word", "nic=X,representor=port0", r"representor=port0"),
    ("representor-pf8", "nic=X,representor=pf8", r"representor=pf8.*pf7"),
    ("representor-tail", "nic=X,representor=pf12", r"representor=pf12"),
    ("uplink-twice", "nic=F,representor=uplink",
     r"representor.*net_mpsim15"),
    ("representor-twice", "nic=F,representor=pf1",
     r"representor.*net_mpsim16"),
]


@pytest.mark.many(asan=12)
@pytest.mark.parametrize("args, names", [r[1:] for r in SIM_ROWS],
                         ids=[r[0] for r in SIM_ROWS])
def test_mpsim_refuses(pmd, args, names):
    """A bad PF is refused; a good one can then be made."""
    out = _refused(pmd, f"net_mpsim30,{args}" if args else "net_mpsim30")
    _check_error(out, names, "MPSIM")
    out = pmd.cmd("port attach net_mpsim30,nic=X")
    assert "Failed" not in out, out
    pmd.cmd(f"port detach {pmd.port('net_mpsim30')}")


def test_wire_of_another_nic_is_refused(pmd):
    """A wire that one NIC owns cannot be the wire of another."""
    assert "Failed" not in pmd.cmd("port attach net_mpsim31,nic=Y,"
                                   "wire=net_null0")
    before = _state(pmd)
    out = pmd.cmd("port attach net_mpsim32,nic=Z,wire=net_null0")
    assert "Failed to attach" in out
    _check_error(out, r"wire=net_null0", "MPSIM")
    assert _state(pmd) == before
    pmd.cmd(f"port detach {pmd.port('net_mpsim31')}")
    assert "net_null0" in [p.name for p in pmd.ports()]


def test_more_queues_than_the_pfs_have():
    """The port offers what the PFs have and takes no more."""
    args = [*vdevs.nic("A", 0, 2, "loop", queues=4), vdevs.octo()]
    with Testpmd(args, queues=4) as pmd:
        view = View(pmd)
        assert pmd.info(view.port)["Max possible RX queues"] == "4"
        assert pmd.info(view.port)["Max possible TX queues"] == "4"
        pmd.cmd("port stop all")
        out = pmd.cmd("port config all rxq 5")
        assert re.search(r"rxq \(5\)|invalid|Fail", out)
        pmd.cmd("port start all")
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda: view.stats()["RX-packets"] > 100)
        pmd.stop_forwarding()


def test_rule_on_a_stopped_port():
    """It is kept, and in force when the port starts."""
    with Testpmd(vdevs.looped()) as pmd:
        view = View(pmd)
        pmd.cmd(f"port stop {view.port}")
        out = pmd.cmd(f"flow create {view.port} ingress pattern eth / ipv4 "
                      "src is 10.0.0.1 dst is 10.0.0.2 / udp src is 1 dst "
                      "is 2 / end actions queue index 0 / end")
        assert "created" in out
        assert view.steering()["rules"][0]["pf"] == -1
        pmd.cmd(f"port start {view.port}")
        assert view.steering()["rules"][0]["pf"] >= 0


def test_detach_of_a_started_port_is_refused(pmd):
    """testpmd refuses it; the port stays whole."""
    port = pmd.port("net_octo8")
    pmd.cmd(f"port start {port}")
    before = pmd.ports()
    assert "not stopped" in pmd.cmd(f"port detach {port}")
    assert pmd.ports() == before
    pmd.cmd(f"port stop {port}")


@pytest.mark.parametrize("bad", [
    "--vdev=net_octo0", "--vdev=net_octo0,pf=net_mpsim7",
    "--vdev=net_octo0,pf=net_mpsim0,pf=net_mpsim0",
    "--vdev=net_octo0,pf=net_mpsim0,socket_map=zero",
], ids=["no-pf", "unknown-pf", "twice", "map"])
def test_application_fails_to_start(bad):
    """A program that needs the port ends with exit status not 0."""
    l3fwd = env.find_built("octo-l3fwd")
    if l3fwd is None:
        pytest.skip("octo-l3fwd is not built")
    process = Process([
        l3fwd, "--no-huge", "-m", "64", "--no-pci", "--lcores=0@0",
        f"--file-prefix={env.unique()}", *vdevs.nic("A", 0, 2, "loop"), bad,
        "--", "-p", "0x4", "-P", "--config=(2,0,0)"])
    assert process.wait() != 0
    assert len(_complaints(process.text)) == 1, process.text


@pytest.mark.parametrize("more, why", [
    ("", "wire=net_mpsim1 is a port of NIC A itself"),
    (",wire=net_gone", "wire=net_mpsim1: there is no such ethdev"),
], ids=["comes", "fails"])
def test_wire_that_is_a_port_of_the_nic(more, why):
    """It is probed on the way, into a NIC that has no port yet."""
    l3fwd = env.find_built("octo-l3fwd")
    if l3fwd is None:
        pytest.skip("octo-l3fwd is not built")
    process = Process([
        l3fwd, "--no-huge", "-m", "64", "--no-pci", "--lcores=0@0",
        f"--file-prefix={env.unique()}",
        "--vdev=net_mpsim0,nic=A,wire=net_mpsim1",
        f"--vdev=net_mpsim1,nic=A{more}", "--", "-p", "0x1", "-P",
        "--config=(0,0,0)"])
    assert process.wait() > 0
    assert re.search(why, process.text), process.text
    assert "Invalid memory" not in process.text  # freed twice


def test_removal_asked_for_is_no_event(pmd):
    """A removal event would make applications remove the next port, too."""
    pmd.cmd("port attach net_mpsim33,nic=X")
    start = len(pmd.text)
    pmd.cmd(f"port detach {pmd.port('net_mpsim33')}")
    assert "device removal event" not in pmd.text[start:]
