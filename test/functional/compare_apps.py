#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pktgen, Suricata, grout, VPP, F-Stack, OVS or l3fwd over octo ports, and alike over bare PFs.

They are too large for CI, or their loss is nothing that a test could ask for. An octo port
has two simulated PFs, a bare PF is the first of them.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import statistics
import tempfile
import time
from pathlib import Path
from typing import Dict, List

import test_l3fwd_rings
from octotest import env, examples, hugepages, iperf, ovs, packets, vdevs
from octotest.netns import Host, run
from octotest.packets import TCP, Flow
from octotest.process import Process, kill_leftovers
from octotest.telemetry import Telemetry
from octotest.testpmd import wait_until
from octotest.veth import Wire

PACKETS, MIB = 1000000, 64
KINDS = {"octo": examples.over_octo, "bare PF": examples.over_pfs}


def _devices(kind: str, wires: List[str]) -> List[str]:
    """The --vdev of all, the two ports first; octo ports learn, as they do by default."""
    return [arg.replace(",learn=off", "")
            for arg in KINDS[kind]([argparse.Namespace(name=wire) for wire in wires])]


def pktgen(program: str, kind: str) -> str:
    """One lcore sends into the simulator's loop, another receives, by port 0."""
    prefix = env.unique()
    port = [vdevs.octo(learn=None)] if kind == "octo" else []
    process = Process([program, "--no-huge", "-m", "1536", "--no-pci", "--lcores=0@0,1@0,2@1",
                       f"--file-prefix={prefix}", *env.plugin_args(), *port,
                       *vdevs.nic("A", 0, 2, "loop"), "--", "-P", "-m", "[1:2].0"])
    process.expect("Pktgen:/>", timeout=60)
    process.send(f"set 0 count {PACKETS}\nstart 0")
    stats = _settled(process, Telemetry(prefix))
    process.send("quit")
    process.wait(30)
    return f"{stats['opackets']} sent, {stats['ipackets']} received"


def _settled(process: Process, telemetry: Telemetry) -> Dict[str, int]:
    """The counters, once nothing has been sent or has come for ten seconds, one if all is sent."""
    now: Dict[str, int] = {}
    same = 0
    while same < (1 if now.get("opackets") == PACKETS else 10):
        process.read(0)
        time.sleep(1)
        before, now = now, telemetry.get("/ethdev/stats", 0)
        same = same + 1 if now == before else 0
    return now


INTERFACE = """
    - {{interface: {}, copy-iface: {}, copy-mode: ips, threads: 1, mempool-size: 16383,
       mempool-cache-size: auto, rx-descriptors: 1024, tx-descriptors: 1024}}"""
SURICATA = """%YAML 1.1
---
dpdk:
  eal-params: {{proc-type: primary, no-pci: , no-huge: , m: 2048, file-prefix: {prefix},
                d: {plugins}, vdev: {devices}}}
  interfaces: {interfaces}
threading: {{set-cpu-affinity: yes, cpu-affinity: [
  management-cpu-set: {{cpu: [ ]}}, worker-cpu-set: {{cpu: [ 0, 1 ]}} ]}}
"""
IPS_LOG = "outputs: [ fast: {enabled: yes, filename: fast.log} ]\n"
IDS = """
    - {{interface: {}, copy-iface: none, copy-mode: none, threads: 2, mempool-size: 32767,
       mempool-cache-size: auto, rx-descriptors: 1024, tx-descriptors: 1024,
       interrupt-mode: {}}}"""
IDS_COUNTS = """outputs: [ fast: {enabled: yes, filename: fast.log}, stats: {enabled: yes} ]
stats: {enabled: yes, interval: 1}
app-layer: {protocols: {http: {enabled: yes}}}
"""


def suricata(program: str, kind: str) -> str:
    """Inline, with a rule that drops a part of the packets, and two threads."""
    with Wire() as one, Wire() as two, tempfile.TemporaryDirectory() as tmp:
        config, rules = Path(tmp, "suricata.yaml"), Path(tmp, "drop.rules")
        devices = [d.partition("=")[2] for d in _devices(kind, [one.name, two.name])]
        names = [d.partition(",")[0] for d in devices[:2]]
        config.write_text(SURICATA.format(
            prefix=env.unique(), plugins=env.plugins(), devices=devices,
            interfaces="".join(INTERFACE.format(*n) for n in (names, names[::-1]))) + IPS_LOG)
        rules.write_text('drop udp any any -> any any (msg:"no"; content:"7 "; sid:1;)\n')
        process = Process([program, "--dpdk", "-c", config, "-S", rules, "-l", tmp])
        process.expect("Engine started", timeout=60)
        told = f"{_pass(one, two)}; back: {_pass(two, one)}"
        assert process.stop() == 0
        return f"{told}; {Path(tmp, 'fast.log').read_text().count('[Drop]')} drops logged"


CONNECTIONS = 200
PAUSE = 0.05  # seconds in which flows are learned, after every two packets of each connection
SPLIT = b"GET /atta", b"ck HTTP/1.0\r\n\r\n"  # the rule's word is in two segments


def ids(program: str, kind: str) -> str:
    """Polling and with Rx interrupts, octo also with learn=off. Both directions of TCP connections
    come by one port, of two queues with a thread each, which has to have all of one, in order."""
    return "; ".join(f"interrupts {mode}{more}: {_inspect(program, kind, mode, more)}"
                     for more in (["", ",learn=off"] if kind == "octo" else [""])
                     for mode in ("off", "on"))


def _inspect(program: str, kind: str, interrupts: str, more: str) -> str:
    frames = _connections()
    with Wire() as wire, tempfile.TemporaryDirectory() as tmp:
        config, rules = Path(tmp, "suricata.yaml"), Path(tmp, "alert.rules")
        devices = [d.partition("=")[2] for d in _devices(kind, [wire.name])]
        prefix, interface = env.unique(), IDS.format(devices[0].partition(",")[0], interrupts)
        devices[0] += more
        config.write_text(SURICATA.format(prefix=prefix, plugins=env.plugins(), devices=devices,
                                          interfaces=interface) + IDS_COUNTS)
        rules.write_text('alert tcp any any -> any 80 (msg:"a"; content:"/attack"; sid:1;)\n')
        process = Process([program, "--dpdk", "-c", config, "-S", rules, "-l", tmp])
        process.expect("Engine started", timeout=60)
        telemetry = Telemetry(prefix)
        for number, frame in enumerate(frames):
            if number % (2 * CONNECTIONS) == 0:
                time.sleep(PAUSE)
            wire.send(frame)
        log = Path(tmp, "stats.log")
        wait_until("Suricata has all", lambda: sum(_by_queue(telemetry, 0)) == len(frames), 60,
                   process)
        time.sleep(3)  # when it is ended at once it loses what it has received
        queues = _by_queue(telemetry, 0)
        assert process.stop() == 0
        alerts = Path(tmp, "fast.log").read_text().count("[1:1:0]")
        wrong, early = (_counted(log, name) for name in (
            "tcp.pkt_on_wrong_thread", "tcp.ack_unseen_data"))
    return (f"{alerts} of {CONNECTIONS} alerts, packets by queue {queues}, "
            f"{wrong} with the wrong thread, {early} before what they acknowledge")


def _counted(log: Path, name: str) -> int:
    """The last value that Suricata wrote; it leaves out what is 0."""
    last = log.read_text().rpartition("Date:")[2] if log.exists() else ""
    found = re.search(rf"^{re.escape(name)} .* (\d+)$", last, re.MULTILINE)
    return int(found[1]) if found else 0


def _by_queue(telemetry: Telemetry, port: int) -> List[int]:
    stats = telemetry.get("/ethdev/xstats", port)
    return [stats[f"rx_q{q}_packets"] for q in (0, 1)]


def _connections() -> List[bytes]:
    """Frames of TCP connections, all at once, each with a request and the end."""
    frames: List[bytes] = []
    ends = [(Flow("tcp", f"10.1.{n % 7}.{n % 50 + 1}", 2000 + 37 * n, "10.2.0.1", 80),
             Flow("tcp", "10.2.0.1", 80, f"10.1.{n % 7}.{n % 50 + 1}", 2000 + 37 * n))
            for n in range(CONNECTIONS)]
    sent = [0, 0]  # each way, by each connection
    for way, flags, payload in ((0, "S", b""), (1, "SA", b""), (0, "A", b""),
                                (0, "PA", SPLIT[0]), (1, "A", b""), (0, "PA", SPLIT[1]),
                                (1, "PA", b"HTTP/1.0 404 No\r\n\r\n"), (0, "FA", b""),
                                (1, "FA", b""), (0, "A", b"")):
        for end in ends:
            packet = end[way].packet(payload=payload)
            packet[TCP].flags, packet[TCP].seq = flags, 1000 + sent[way]
            packet[TCP].ack = 1000 + sent[1 - way] if "A" in flags else 0
            frames.append(bytes(packet))
        sent[way] += len(payload) + ("S" in flags or "F" in flags)
    return frames


def _pass(source: Wire, sink: Wire) -> str:
    sent = [bytes(p) for p in packets.numbered(packets.flows(10), 200)]
    good = [p for p in sent if b"7 " not in p]
    came: List[bytes] = []
    for at in range(0, len(sent), 40):
        for frame in sent[at:at + 40]:
            source.send(frame)
        came += sink.receive(sum(p in good for p in sent[at:at + 40]))
    came += sink.receive(len(sent), 0.1)
    same = examples.by_flow(came) == examples.by_flow(good)
    return f"{len(sent)} sent, {len(came)} of {len(good)} came, unchanged, in order: {same}"


def grout(program: str, kind: str) -> str:
    """Built with a DPDK that has the drivers, it routes between two namespaces, both ways."""
    with contextlib.ExitStack() as stack:
        hosts = _hosts(stack)
        devices = _devices(kind, [host.wire for host in hosts])
        if kind != "octo":  # grout probes a PF as well: the wire comes with it
            devices[:4] = [vdevs.mpsim(2 * i, "AB"[i], wire=f"net_af_packet{i}") for i in (0, 1)]
        api = Path(stack.enter_context(tempfile.TemporaryDirectory()), "api")
        process = Process([program, "-t", "-s", api, "--", *devices[2:]])
        wait_until("grout listens", api.exists, 60, process)
        for i, port in enumerate(devices[:2]):  # grout probes its ports itself
            for line in (f"interface add port p{i} devargs {port[len('--vdev='):]}",
                         f"address add 10.{i + 1}.0.1/24 iface p{i}"):
                run(Path(program).with_name("grcli"), "-s", api, *line.split())
        told = f"{_reach(*hosts)}; back: {_reach(*hosts[::-1])}"
        assert process.stop(signal.SIGTERM) == 0
    return told


def _hosts(stack: contextlib.ExitStack) -> List[Host]:
    """Two, each behind a router of its own."""
    hosts = [Host(n, "02:0c:70:00:00:01") for n in (1, 2)]
    for host in hosts:
        stack.callback(host.remove)
        host.small_windows()
        host.ip("route", "add", "default", "via", f"10.{host.number}.0.1")
    return hosts


def _reach(one: Host, two: Host) -> str:
    one.run("ping", "-c", 3, two.ip4, check=False)  # until ARP is answered
    pings = one.run("ping", "-c", 500, "-i", "0.01", two.ip4, check=False)
    iperf.send(one, two, two.ip4, MIB)
    answered = re.findall("([0-9]+) received", pings)[0]
    return f"{answered} of 500 pings, {MIB} MiB by TCP, {two.out_of_order()} out of order"


VPP = """unix {{ nodaemon nobanner runtime-dir {tmp} cli-listen {tmp}/cli.sock poll-sleep-usec 20 }}
cpu {{ main-core 0 corelist-workers 1 }}
dpdk {{ no-hugetlb no-pci telemetry mem-alloc-request 768 file-prefix {prefix}
  dev default {{ num-rx-queues 2 }}
  {devices}
}}
"""


def vpp(program: str, kind: str) -> str:
    """It routes between two namespaces by its main thread and a worker, each with an Rx queue of
    each port. It takes over malloc(), so LD_PRELOAD is no way to load the drivers: they are in
    DPDK's directory, of its own mounts."""
    with contextlib.ExitStack() as stack:
        hosts = _hosts(stack)
        tmp, prefix = stack.enter_context(tempfile.TemporaryDirectory()), env.unique()
        config = Path(tmp, "startup.conf")
        config.write_text(VPP.format(tmp=tmp, prefix=prefix, devices="\n  ".join(
            d.lstrip("-").replace("=", " ", 1) for d in _devices(kind, [h.wire for h in hosts]))))
        process = Process([program, "-c", config], prefix=_with_drivers(tmp))
        vppctl = Path(program).with_name("vppctl"), "-s", f"{tmp}/cli.sock"
        ports = wait_until("VPP has its ports", lambda: re.findall(
            "^(\\S+) +([12]) +down", run(*vppctl, "show", "interface", check=False),
            re.MULTILINE), 60, process)
        for port, number in ports:
            for line in (f"rx-placement {port} queue 1 main", f"ip address {port} 10.{number}.0.1/24",
                         f"state {port} up"):
                run(*vppctl, "set", "interface", *line.split())
        told = f"{_reach(*hosts)}; back: {_reach(*hosts[::-1])}"
        queues = [_by_queue(Telemetry(prefix), port) for port in (0, 1)]
        assert process.stop(signal.SIGTERM) == 0
    return f"{told}; packets received by each port's queues: {queues}"


def _with_drivers(tmp: str) -> List[str]:
    """The start of a command line: the directory from which EAL loads all it finds has ours."""
    Path(tmp, "drivers").mkdir()
    for plugin in env.plugins()[:2]:
        shutil.copy(plugin, Path(tmp, "drivers"))
    place, = Path(run("pkg-config", "--variable=libdir", "libdpdk").strip()).glob("dpdk/pmds-*")
    return ["unshare", "--mount", "sh", "-ec", "mount -t overlay overlay "
            f"-o lowerdir={tmp}/drivers:{place} {place}; exec \"$@\"", "sh"]


FSTACK = """[dpdk]
lcore_mask=3
file_prefix={prefix}
allow=0000:00:00.0,net_tap0
port_list=1
idle_sleep=20
[port1]
addr=10.2.0.1
netmask=255.255.255.0
broadcast=10.2.0.255
gateway=10.2.0.2
"""
FETCHES = 1000
FETCH = f"seq {FETCHES} | xargs -P 8 -I N curl -sf --max-time 60 -o N http://10.2.0.1/"


def fstack(program: str, kind: str) -> str:
    """Its helloworld as two processes, over a tap, as that needs no arguments: --allow is all that
    F-Stack offers. The tap is port 0. F-Stack takes port numbers below that of free ports: the
    last PF is a second one."""
    devices = [*([vdevs.octo(learn=None)] if kind == "octo" else []),
               *vdevs.nic("A", 0, 2, "net_tap0"), vdevs.mpsim(2, "B")]
    environ = ["LD_PRELOAD=" + " ".join(env.plugins()),
               "OCTO_VDEVS=" + " ".join(d.partition("=")[2] for d in devices)]
    with contextlib.ExitStack() as stack:
        host = Host(1, "")
        stack.callback(host.remove)
        stack.enter_context(hugepages.reserved(256))
        tmp, prefix = stack.enter_context(tempfile.TemporaryDirectory()), env.unique()
        stack.callback(_remove_pages, prefix)
        config = Path(tmp, "config.ini")
        config.write_text(FSTACK.format(prefix=prefix))
        for number, role in enumerate(("primary", "secondary")):
            process = Process([Path(program).resolve(), "--conf", config, f"--proc-type={role}",
                               f"--proc-id={number}"], prefix=host.argv("env", "-C", tmp, *environ))
            stack.callback(process.kill)
            process.expect("register dpdk interface", timeout=60)
        host.ip("addr", "add", "10.2.0.2/24", "dev", "dtap0")
        host.run("ping", "-c", 3, "10.2.0.1")  # until ARP is answered
        host.be_patient(6)  # then only what was lost is sent again
        host.run("sh", "-c", f"cd {tmp}; {FETCH}", check=False, timeout=600)
        pages = [path.read_bytes() for path in Path(tmp).glob("[0-9]*")]
        stats = Telemetry(f"container-{prefix}").get("/ethdev/xstats", 1)
        again = host.retransmitted()
    page = re.search(b"<!DOCTYPE.*?</html>", Path(program).read_bytes(), re.DOTALL)[0]
    return (f"{pages.count(page)} of {FETCHES} pages, {again} segments sent again, packets "
            f"received by each process: {[stats[f'rx_q{q}_packets'] for q in (0, 1)]}")


def _remove_pages(prefix: str) -> None:
    """F-Stack does not end DPDK, and its files keep the pages."""
    for line in Path("/proc/mounts").read_text(encoding="ascii").splitlines():
        where, kind = line.split()[1:3]
        if kind == "hugetlbfs":
            for path in Path(where).glob(f"container-{prefix}map_*"):
                path.unlink()


def open_vswitch(_: str, kind: str) -> str:
    """A bridge of two ports between two namespaces; a thread for queue 0 of both, one for 1."""
    with contextlib.ExitStack() as stack:
        hosts = [Host(n, "02:0c:70:00:00:01") for n in (1, 2)]
        for host in hosts:
            stack.callback(host.remove)
        tree = ovs.find()
        assert tree, "no Open vSwitch is there that has this DPDK: ./octo setup"
        switch = ovs.Switch(tree, stack.enter_context(hugepages.reserved(ovs.PAGES)), hosts, 100)
        stack.callback(switch.close)
        names = [f"net_octo{i}" if kind == "octo" else f"net_mpsim{2 * i}" for i in (0, 1)]
        for i, name in enumerate(names):
            switch.add_dpdk_port(f"port{i}", vdevs.octo_devargs(
                i, vdevs.pf_names(2 * i), learn=None) if kind == "octo" else name, "0:0,1:1")
        told = f"{_reach(*hosts)}; back: {_reach(*hosts[::-1])}"
        queues = [_by_queue(switch.telemetry, switch.port(name)) for name in names]
        switch.stop()
    return f"{told}; packets received by each port's queues: {queues}"


BURST, BURSTS = 1000, 5


def l3fwd(program: str, kind: str) -> str:
    """Its pool has room for one full ring per queue. Packets of one flow that come while it does
    not run wait in the wire and the rings of one queue."""
    return "; ".join(_forward(program, queues, kind) for queues in (2, 8))


def _forward(program: str, queues: int, kind: str) -> str:
    burst = [bytes(p) for p in packets.numbered(test_l3fwd_rings.FLOWS[:1], BURST)]
    with Wire() as cable:
        process = test_l3fwd_rings.L3fwd(cable, queues, 2 if kind == "octo" else 1, program=program)
        process.expect(test_l3fwd_rings.READY, timeout=60)
        steady = len(cable.exchange(packets.numbered(test_l3fwd_rings.FLOWS, 40)))
        came = []
        for _ in range(BURSTS):
            process.stand_still()
            for frame in burst:
                cable.send(frame)
            process.send_signal(signal.SIGCONT)
            came.append(len(cable.receive(BURST, 1)))
        process.stop(timeout=60)
    rings = re.search(test_l3fwd_rings.SHARED, process.text)
    return (f"{queues} queues, rings of {rings[1] if rings else 1024}: {steady} of 1280 came, of "
            f"bursts of {BURST}: {statistics.median(came):.0f}")


def main() -> None:
    """A line for each kind of port, in each round."""
    applications = {"pktgen": pktgen, "suricata": suricata, "suricata-ids": ids, "grout": grout,
                    "vpp": vpp, "fstack": fstack, "ovs": open_vswitch, "l3fwd": l3fwd}
    known = {"ovs": "/bin/true", "l3fwd": env.find_built("octo-l3fwd")}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("application", choices=applications)
    parser.add_argument("program", nargs="?", help="its path; ovs and l3fwd are found without")
    parser.add_argument("--rounds", type=int, default=1, help="in which either is first in turn")
    options = parser.parse_args()
    program = options.program or known.get(options.application) or "none"
    if not os.access(program, os.X_OK):
        parser.error(f"argument program: {program} cannot be executed")
    print("commit", run("git", "-C", env.REPO, "describe", "--always", "--dirty").strip())
    try:
        for number in range(options.rounds):
            for kind in list(KINDS)[::-1 if number % 2 else 1]:
                print(f"{kind}:", applications[options.application](program, kind),
                      f"(load {os.getloadavg()[0]:.0f})", flush=True)
    finally:
        kill_leftovers()


if __name__ == "__main__":
    main()
