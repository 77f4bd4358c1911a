#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""./octo bench idle: the CPU time of DPDK's l3fwd-power while it waits for Rx interrupts.

./octo sets OCTO_L3FWD_POWER. Before that, it sets OCTO_CHECK_USE: wrong use is told before minutes
of building.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from l3fwd_bench.children import INTERRUPTS, Child, Failed
from l3fwd_bench.report import table

AIM = 5  # percent of a CPU, for all threads
START_SECONDS = 90
SETTLE_SECONDS = 1
QUEUES = 2
TUN = "/dev/net/tun"

# the main thread is the first lcore; the names of the others, up to 22.11 and since
GROUPS = {"lcores": ("rte-worker", "dpdk-worker"), "octo": ("octo-", "dpdk-octo-"),
          "interrupts": ("eal-intr", "dpdk-intr"), "others": ("",)}


def group_of(tid, pid, name):
    """The group of a thread in the table."""
    if tid == pid:
        return "lcores"
    return next(group for group, heads in GROUPS.items() if name.startswith(heads))


def cpu_times(pid, proc=Path("/proc")):
    """Nanoseconds on a CPU so far, by group of threads."""
    times = dict.fromkeys(GROUPS, 0)
    for task in (proc / str(pid) / "task").iterdir():
        try:
            name = (task / "comm").read_text().strip()
            spent = int((task / "schedstat").read_text().split()[0])
        except (OSError, ValueError) as err:
            raise Failed(f"{task}/schedstat cannot be read: {err}") from err
        times[group_of(int(task.name), pid, name)] += spent
    return times


def configurations(cpus, pid):
    """What l3fwd-power is started over: name, EAL's arguments, why it is left out."""
    mpsim = [f"--vdev=net_mpsim{i},nic=A,socket={i}{',wire=loop' * (i == 0)}" for i in range(2)]
    taps = [f"--vdev=net_tap{i},iface=oi{pid % 1000000}n{i}" for i in range(2)]
    nodes = "/".join(f"{cpu}:{node}" for node, cpu in enumerate(dict.fromkeys(cpus)))
    octo = "--vdev=net_octo0,pf={0}0@0,pf={0}1@1,learn=off,socket_map={1}"
    no_taps = ""
    if os.geteuid() != 0 or not os.access(TUN, os.W_OK):
        no_taps = f"taps need root and {TUN}"
    return [
        ("octo, 2 net_mpsim", [octo.format("net_mpsim", nodes), *mpsim], ""),
        ("1 net_mpsim, no octo", mpsim[:1], ""),
        ("octo, 2 net_tap", [octo.format("net_tap", nodes + ",tier=none"), *taps], no_taps),
    ]


def measure(options, devices, cpus, scratch):
    """Percent of a CPU by group of threads."""
    lcores = ",".join(f"{i}@{cpu}" for i, cpu in enumerate(cpus))
    queues = ",".join(f"(0,{i},{i})" for i in range(QUEUES))
    argv = [os.environ.get("OCTO_L3FWD_POWER", "octo-l3fwd-power"), "--no-pci", "--no-huge", "-m",
            "512", f"--lcores={lcores}", f"--file-prefix=oi{os.getpid()}", *devices, "--", "-p",
            "1", "-P", f"--config={queues}", "--interrupt-only"]
    with INTERRUPTS.held():
        child = Child("l3fwd-power", argv, Path(scratch, "l3fwd-power.log"), Path(scratch))
    try:
        for lcore in range(QUEUES):
            child.expect(f"entering main interrupt loop on lcore {lcore}", START_SECONDS)
        time.sleep(min(SETTLE_SECONDS, options.seconds))
        began, before = time.monotonic(), cpu_times(child.pid)
        time.sleep(options.seconds)
        after, ended = cpu_times(child.pid), time.monotonic()
        child.check()
        if "won't enable" in child.text():
            raise Failed("l3fwd-power polls: an Rx interrupt could not be enabled")
        if "net_octo" in devices[0] and after["octo"] == 0:
            raise Failed(f"there is no octo port:\n{child.text()}")
    finally:
        child.stop()
    return {group: (after[group] - before[group]) / (ended - began) / 1e7 for group in GROUPS}


def is_met(ports):
    """Does each octo port take less than the aim? The bare PF is there to compare with."""
    return all(port["percent"]["all"] < AIM for port in ports if port["octo"])


def run(options, scratch):
    """All figures, as the JSON file has them."""
    usable = sorted(os.sched_getaffinity(0))
    cpus = [usable[i % len(usable)] for i in range(QUEUES)]
    found = {"seconds": options.seconds, "aim_percent": AIM, "load": os.getloadavg(),
             "cpus": len(usable), "dpdk": os.environ.get("OCTO_DPDK_VERSION", ""),
             "ports": [], "left_out": []}
    for name, devices, why in configurations(cpus, os.getpid()):
        if why:
            found["left_out"].append({"name": name, "why": why})
            continue
        print(f"octo bench idle: {name}, {options.seconds:g} s", file=sys.stderr)
        percent = measure(options, devices, cpus, scratch)
        found["ports"].append({"name": name, "octo": name.startswith("octo"), "percent":
                               {**percent, "all": sum(percent.values())}})
    found["met"] = is_met(found["ports"])
    return found


def text(found):
    """The figures as people read them."""
    rows = [["% of a CPU", "2 lcores", "octo-0", "EAL's interrupts", "others", "all"]]
    for port in found["ports"]:
        rows.append([port["name"], *(f"{port['percent'][group]:.2f}" for group in
                                     (*GROUPS, "all"))])
    lines = [f"l3fwd-power --interrupt-only (DPDK {found['dpdk']}) with {QUEUES} queues, idle for "
             f"{found['seconds']:g} s each;", f"{found['cpus']} CPUs, load {found['load'][0]:.1f} "
             "at the start. The simulator wakes every ms, the example every 10 ms.", "",
             table(rows).rstrip(), ""]
    lines += [f"Left out: {left['name']}: {left['why']}" for left in found["left_out"]]
    lines.append(f"All threads of an octo port's program below {found['aim_percent']} %: "
                 f"{'yes' if found['met'] else 'NO'}")
    return "\n".join(lines) + "\n"


def positive(word):
    """A number of seconds."""
    value = float(word)
    if not 0 < value <= 3600:
        raise ValueError
    return value


def read(args):
    """The options; wrong use ends the program."""
    parser = argparse.ArgumentParser(
        prog="octo bench idle", description="Starts DPDK's l3fwd-power --interrupt-only, "
        "unmodified, without traffic, over an octo port of two simulated PFs, over one of these "
        "alone and, as root, over an octo port of two taps, and tells how much of a CPU each group "
        "of its threads takes.", epilog="exit code: 0 if all was measured, whatever came out")
    parser.add_argument("--seconds", type=positive, default=30, metavar="N",
                        help="how long each is idle (default 30)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    options = parser.parse_args(args)
    if options.json is not None and not os.access(Path(options.json).parent, os.W_OK):
        parser.error(f"argument --json: {options.json} cannot be written")
    return options


def main():
    """The exit code."""
    options = read(sys.argv[1:])
    if os.environ.get("OCTO_CHECK_USE"):
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, INTERRUPTS.come)
    # names of sockets have 107 characters at most
    with tempfile.TemporaryDirectory(prefix="octo-idle-", dir="/tmp") as scratch:
        try:
            found = run(options, scratch)
        except (Failed, KeyboardInterrupt) as err:
            print(f"octo bench idle: {err or 'interrupted'}", file=sys.stderr)
            return 1
    sys.stdout.write(text(found))
    if options.json is not None:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
