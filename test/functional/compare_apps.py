#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pktgen or Suricata (inline) over octo ports, then in the same way over bare PFs.

They are too large for CI: the script takes the path of one, which need not be changed, and prints
a line for each kind of port. An octo port has two simulated PFs, a bare PF is the first of them.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Dict, List

from octotest import env, examples, packets, vdevs
from octotest.process import Process
from octotest.telemetry import Telemetry
from octotest.veth import Wire

PACKETS = 1000000
KINDS = {"octo": examples.over_octo, "bare PF": examples.over_pfs}


def _devices(kind: str, wires: List[str]) -> List[str]:
    """The --vdev of all, the two ports first; octo ports learn, as they do by default."""
    cables = [argparse.Namespace(name=wire) for wire in wires]
    return [arg.replace(",learn=off", "") for arg in KINDS[kind](cables)]


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
    """The counters, once all is sent and nothing more has come for a second."""
    before, now = None, {"opackets": 0}
    while now["opackets"] < PACKETS or now != before:
        process.read(0)
        time.sleep(1)
        before, now = now, telemetry.get("/ethdev/stats", 0)
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
        told = [_pass(one, two), _pass(two, one)]
        assert process.stop() == 0
        drops = Path(tmp, "fast.log").read_text(encoding="ascii").count("[Drop]")
    return f"{'; back: '.join(told)}; {drops} drops logged"


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


def main() -> None:
    """A line for each kind of port."""
    applications = {"pktgen": pktgen, "suricata": suricata}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("application", choices=applications)
    parser.add_argument("program", help="its path")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        parser.error(f"argument program: {options.program} cannot be executed")
    for kind in KINDS:
        print(f"{kind}:", applications[options.application](options.program, kind), flush=True)


if __name__ == "__main__":
    main()
