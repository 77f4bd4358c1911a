#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pktgen, Suricata (inline), grout, VPP or F-Stack over octo ports, then alike over bare PFs.

They are too large for CI. An octo port has two simulated PFs, a bare PF is the first of them.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Dict, List

from octotest import env, examples, hugepages, iperf, packets, vdevs
from octotest.netns import Host, run
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
outputs: [ fast: {{enabled: yes, filename: fast.log}} ]
threading: {{set-cpu-affinity: yes, cpu-affinity: [
  management-cpu-set: {{cpu: [ ]}}, worker-cpu-set: {{cpu: [ 0, 1 ]}} ]}}
"""


def suricata(program: str, kind: str) -> str:
    """Inline, with a rule that drops a part of the packets, and two threads."""
    with Wire() as one, Wire() as two, tempfile.TemporaryDirectory() as tmp:
        config, rules = Path(tmp, "suricata.yaml"), Path(tmp, "drop.rules")
        devices = [d.partition("=")[2] for d in _devices(kind, [one.name, two.name])]
        names = [d.partition(",")[0] for d in devices[:2]]
        config.write_text(SURICATA.format(
            prefix=env.unique(), plugins=env.plugins(), devices=devices,
            interfaces="".join(INTERFACE.format(*n) for n in (names, names[::-1]))))
        rules.write_text('drop udp any any -> any any (msg:"no"; content:"7 "; sid:1;)\n')
        process = Process([program, "--dpdk", "-c", config, "-S", rules, "-l", tmp])
        process.expect("Engine started", timeout=60)
        told = f"{_pass(one, two)}; back: {_pass(two, one)}"
        assert process.stop() == 0
        return f"{told}; {Path(tmp, 'fast.log').read_text().count('[Drop]')} drops logged"


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
        stats = [Telemetry(prefix).get("/ethdev/xstats", port) for port in (0, 1)]
        assert process.stop(signal.SIGTERM) == 0
    return told + "; packets received by each port's queues: " + ", ".join(
        str([one[f"rx_q{q}_packets"] for q in (0, 1)]) for one in stats)


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


def main() -> None:
    """A line for each kind of port."""
    applications = {"pktgen": pktgen, "suricata": suricata, "grout": grout, "vpp": vpp,
                    "fstack": fstack}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("application", choices=applications)
    parser.add_argument("program", help="its path")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        parser.error(f"argument program: {options.program} cannot be executed")
    try:
        for kind in KINDS:
            print(f"{kind}:", applications[options.application](options.program, kind), flush=True)
    finally:
        kill_leftovers()


if __name__ == "__main__":
    main()
