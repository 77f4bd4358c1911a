#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure an octo port of a running DPDK application, by its telemetry socket.

The application needs nothing but the driver. Fields are those of testpmd's "octo measure"
(lib/octo_measure). An answer of the application is checked before it is used.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import sys
import time

PROG = "dpdk-octo-measure"
SOCKET_NAME = "dpdk_telemetry.v2"
STOP = {signal.SIGINT, signal.SIGTERM}  # blocked: taken between questions only
ANSWER_BYTES = 1 << 16  # DPDK's have up to 16 KiB
ANSWER_SECONDS = 10
MAX_PFS, MAX_QUEUES, MAX_NAME = 8, 1024, 64
MAX_PAGED = 1 << 17  # more xstats than so many queues have
MAX_RULES = 1024  # the hits of more are unknown
LOOKS, LOOK_SECONDS = 100, 0.01  # xstats cannot be read while a PF comes or goes
MIN_NS = 5_000_000  # a shorter span is no sample
GAUGE, PPM = "gauge", "ppm"

# Xstat, counter, field, and what makes the field of the counter: a factor, or one of these.
TRAFFIC = (
    ("rx_good_packets", "rx_packets", "rx_packets_per_second", 1),
    ("rx_good_bytes", "rx_bytes", "rx_bits_per_second", 8),
    ("tx_good_packets", "tx_packets", "tx_packets_per_second", 1),
    ("tx_good_bytes", "tx_bytes", "tx_bits_per_second", 8),
    ("rx_missed_errors", "rx_missed", "rx_missed_per_second", 1),
    ("rx_errors", "rx_errors", "rx_errors_per_second", 1),
    ("rx_mbuf_allocation_errors", "rx_nombuf", "rx_nombuf_per_second", 1),
    ("tx_errors", "tx_errors", "tx_errors_per_second", 1),
)
LOSSES = ("rx_missed", "rx_errors", "rx_nombuf", "tx_errors")
STRAYS = (
    ("", "home_packets", "home_packets_per_second", 1),
    ("", "stray_packets", "stray_packets_per_second", 1),
    ("", "stray_packets", "stray_ppm", PPM),
)
RULES = (
    ("steered_flows", "rules", "rules", GAUGE),
    ("learned_flows", "rules_learned", "rules_learned", GAUGE),
    ("steered_flows_ineffective", "rules_ineffective", "rules_ineffective", GAUGE),
)
GAUGES = [name for _, name, _, _ in RULES]
UNKNOWN = tuple(("", "", name, GAUGE) for name in (
    "busy_cycles_per_packet", "latency_min_ns", "latency_avg_ns", "latency_max_ns",
    "latency_jitter_ns"))
# After those of testpmd's files, which end before.
OWN = (
    ("", "tx_remote_packets", "tx_remote_packets_per_second", 1),
    ("fence_waits", "fence_waits", "fence_waits_per_second", 1),
    ("fence_waited_ns", "fence_waited_ns", "fence_waited_ns_per_second", 1),
)
QUEUE = ("home_packets", "home_bytes", "stray_packets", "stray_bytes", "tx_packets", "tx_bytes")
UNAVAILABLE = {what: f"only testpmd's own octo measure {how}" for what, how in (
    ("busy_cycles_per_packet", "counts them"), ("latency", "asks the latencystats library"),
    ("link", "counts the machine's uncore"), ("dram", "counts the machine's uncore"))}


class End(Exception):
    """Why there is nothing more to measure, and the exit status."""

    def __init__(self, why, status=1):
        super().__init__(why)
        self.status = status


def member(of, name, kind, low=0, most=(1 << 64) - 1):
    """A part of an answer: of this kind, and this large or long."""
    value = of.get(name) if isinstance(of, dict) else None
    size = len(value) if isinstance(value, (str, dict, list)) else value
    if type(value) is not kind or not low <= size <= most:  # a bool is no int
        raise End(f"the application's answer is not understood: {name!a:.40} is wrong or missing")
    return value


def text(of, name):
    """A name, fit for any terminal."""
    return "".join(c if " " <= c <= "~" else "?" for c in member(of, name, str, most=MAX_NAME))


def stopped(seconds):
    """Wait; was the program told to stop?"""
    return signal.sigtimedwait(STOP, seconds) is not None


class Telemetry:
    """A connection to an application."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(ANSWER_SECONDS)
        try:
            self.sock.connect(path)
        except FileNotFoundError:
            raise End(f"there is no socket {path}: start the application, or give its "
                      "--file-prefix (dpdk-telemetry.py --list shows them)") from None
        except ConnectionRefusedError:
            raise End(f"nobody answers at {path}: start the application again") from None
        except PermissionError:
            raise End(f"no permission for {path}: be the application's user, or root") from None
        except OSError as err:
            raise End(f"cannot connect to {path}: {err.strerror or err}") from None
        member(self._receive("the application takes no more telemetry clients"),
               "max_output_len", int)

    def ask(self, command, *params):
        """The answer to a command, None if it is refused."""
        if signal.sigpending() & STOP:
            raise End("stopped", 0)
        try:
            self.sock.send(",".join([command, *map(str, params)]).encode())
        except OSError:
            raise End("the application ended", 3) from None
        answer = self._receive()
        return None if answer.get(command, "") is None else answer

    def _receive(self, closed="the application ended"):
        try:
            data, _, flags, _ = self.sock.recvmsg(ANSWER_BYTES)
        except socket.timeout:
            raise End(f"the application does not answer within {ANSWER_SECONDS} s") from None
        except OSError:
            data, flags = b"", 0
        if not data:
            raise End(closed, 3)
        try:
            answer = None if flags & socket.MSG_TRUNC else json.loads(data)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise End(f"the application's answer is no JSON object of up to {ANSWER_BYTES} bytes")
        return answer


class Port:
    """An octo port of an application."""

    def __init__(self, telemetry, wanted):
        self.telemetry = telemetry
        known = self.known()
        told = ", ".join(map(str, known))
        if not known:
            raise End("this application has no octo port")
        if wanted is not None and wanted not in known:
            raise End(f"port {wanted} is not an octo port: give --port one of {told}")
        if wanted is None and len(known) > 1:
            raise End(f"this application has several octo ports: give --port one of {told}")
        self.number = known[0] if wanted is None else wanted
        answer = telemetry.ask("/octo/topology", self.number) or {}
        topology = member(answer, "/octo/topology", dict)
        self.name = text(topology, "name")
        self.pfs = [text(pf, "name")
                    for pf in member(topology, "pfs", dict, 1, MAX_PFS).values()]

    def known(self):
        """The application's octo ports; none if it has not the driver."""
        answer = self.telemetry.ask("/octo/list") or {"/octo/list": []}
        ports = dict(enumerate(member(answer, "/octo/list", list)))
        return [member(ports, i, int, most=65535) for i in ports]

    def pages(self, command, key, read):
        """All of what is told in parts; None if it is not, or changes meanwhile."""
        found, total = {}, None
        while total is None or len(found) < total:
            answer = self.telemetry.ask(command, self.number, len(found))
            if answer is None:
                return None
            page = member(answer, command, dict)
            before, total = total, member(page, "total", int, most=MAX_PAGED)
            some = member(page, key, dict)
            if before not in (None, total) or (total and not some) or found.keys() & some.keys():
                return None
            found.update((name[:MAX_NAME], read(some, name)) for name in some)
        return found

    def xstats(self):
        """All of them, or None if they cannot be read now."""
        for _ in range(LOOKS):
            found = self.pages("/octo/xstats", "xstats", lambda of, name: member(of, name, int))
            if found is not None:
                return found
            if self.number not in self.known():
                raise End("the port was closed", 3)
            if stopped(LOOK_SECONDS):
                raise End("stopped", 0)
        return None

    def hits(self, rules):
        """Of all rules, or None."""
        found = None if rules > MAX_RULES else self.pages(
            "/octo/steering", "rules", lambda of, name: member(of[name], "hits", int, -1))
        return None if found is None or -1 in found.values() else sum(found.values())

    def remote_legs(self):
        """Tx legs (queue, PF) whose PF is not on the socket of the queue's CPU, or None."""
        def read(of, name):
            leg = of[name]
            return (member(leg, "index", int), member(leg, "pf", int)) if \
                member(leg, "queue", str) == "tx" and \
                member(leg, "cpu_socket", int, -1) != member(leg, "pf_socket", int, -1) else None

        found = self.pages("/octo/legs", "legs", read)
        return None if found is None else {leg for leg in found.values() if leg is not None}


# Counters are dictionaries, at a time, in a span or a sum; None is unknown.

def count(xstats, before):
    """Counters at a time, and the numbers of PFs, Rx and Tx queues."""
    pfs, rx_queues, tx_queues = shape = tuple(
        next((i for i in range(most) if name.format(i) not in xstats), most)
        for name, most in (("tx_pf{}_packets", MAX_PFS), ("rx_q{}_home_packets", MAX_QUEUES),
                           ("tx_q{}_pf0_packets", MAX_QUEUES)))
    now = {name: xstats.get(xstat, 0) for xstat, name, _, _ in TRAFFIC + RULES + OWN if xstat}
    for i in range(pfs):  # one that is gone keeps its last
        now.update((f"pf{i}_{name}", xstats.get(f"pf{i}_{xstat}", before.get(f"pf{i}_{name}", 0)))
                   for xstat, name, _, _ in TRAFFIC)
    for q in range(rx_queues):
        now.update((f"q{q}_{name}", xstats.get(f"rx_q{q}_{name}", 0)) for name in QUEUE[:4])
    for q in range(tx_queues):
        legs = {f"q{q}_pf{i}": xstats.get(f"tx_q{q}_pf{i}_packets", 0) for i in range(pfs)}
        sent, octets = sum(legs.values()), xstats.get(f"tx_q{q}_bytes", 0)
        # many PFs do not count bytes by queue
        now.update(legs, **{f"q{q}_tx_packets": sent,
                            f"q{q}_tx_bytes": None if sent and not octets else octets})
    return now, shape


def since(before, now, remote_legs):
    """The span between two times."""
    span = {"restarted": 0}
    for name, value in now.items():
        then = before[name]
        if name in GAUGES or None in (then, value):
            span[name] = value if name in GAUGES else None
        elif name == "rule_hits":  # of the rules that are there
            span[name] = max(value - then, 0)
        else:  # below half it began anew, else it is misread
            span[name] = value - then if value >= then else value if value < then // 2 else 0
            span["restarted"] |= value < then
    for q in (name[:-len("home_packets")] for name in now if name.endswith("_home_packets")):
        for unit in ("packets", "bytes"):
            span[f"{q}rx_{unit}"] = span[f"{q}home_{unit}"] + span[f"{q}stray_{unit}"]
    for kind in ("home_packets", "stray_packets"):
        span[kind] = sum(span[name] for name in now if name.endswith(f"_{kind}"))
    span["tx_remote_packets"] = None if remote_legs is None else \
        sum(span.get(f"q{q}_pf{pf}", 0) for q, pf in remote_legs)
    return span


def add(total, span):
    """Add a span to a sum."""
    for name, value in span.items():
        before = 0 if name in GAUGES else total.get(name, 0)
        total[name] = None if None in (before, value) else before + value


def field(counters, name, how):
    """A field of a span or a sum."""
    value = counters.get(name)
    if how is GAUGE or value is None:
        return value
    if how is PPM:
        return value and 1e6 * value / (value + counters[name.replace("stray", "home")])
    return how * value * 1e9 / counters["ns"] if counters["ns"] else None


def fields(counters, shape):
    """All fields in the order of the files."""
    found = {"interval_ms": counters["ns"] / 1e6,
             "counters_restarted": int(counters["restarted"] > 0)}
    hits = (("", "rule_hits", "rule_hits_per_second", 1),)
    groups = [("", TRAFFIC + STRAYS + RULES + hits + UNKNOWN)]
    groups += [(f"pf{i}_", TRAFFIC) for i in range(shape[0])]
    for q in range(max(shape[1:])):
        groups += [(f"q{q}_", TRAFFIC[:2] + STRAYS)] if q < shape[1] else []
        groups += [(f"q{q}_", TRAFFIC[2:4])] if q < shape[2] else []
    for prefix, group in groups + [("", OWN)]:
        found.update((prefix + name, field(counters, prefix + counter, how))
                     for _, counter, name, how in group)
    return found


def totals(counters, shape):
    """Counters of a summary."""
    names = [name for _, name, _, _ in TRAFFIC] + ["home_packets", "stray_packets", "rule_hits"]
    names += [f"q{q}_{name}" for q in range(max(shape[1:])) for name in QUEUE]
    return {name: counters[name] for name in names + [own[1] for own in OWN] if name in counters}


def rounded(values):
    """As in testpmd's files."""
    return {name: value if value is None or value != int(value) else int(value)
            for name, value in ((n, v and round(v, 3)) for n, v in values.items())}


class Measurement:
    """Of one port; its outputs get each sample."""

    def __init__(self, port, interval, outputs):
        self.port, self.interval, self.outputs = port, interval, outputs
        self.now, self.shape, self.sum = {}, None, {}
        self.samples, self.seconds = 0, 0
        look = self._look()
        if look is None:
            raise End("its counters cannot be read: a PF does not tell")
        self.now, remote_legs = look
        self.began = self.now["ns"]
        self.last = since(self.now, self.now, remote_legs)
        add(self.sum, self.last)
        for output in outputs:
            output.begin(self)

    def _look(self):
        """Counters and remote legs, or None if they cannot be read now."""
        ns, xstats = time.monotonic_ns(), self.port.xstats()
        if xstats is None:
            return None
        now, shape = count(xstats, self.now)
        if shape != (self.shape or shape):
            raise End("the port was configured with other queues", 3)
        self.shape = shape
        now.update(ns=ns, rule_hits=self.port.hits(now["rules"]))
        return now, self.port.remote_legs()

    def sample(self, is_last=False):
        """Take one; a moment belongs to the next, or to the sum."""
        now, remote_legs = self._look() or (self.now, None)
        is_sample = now["ns"] - self.now["ns"] >= MIN_NS
        if now is self.now or not (is_sample or is_last):
            return
        span = since(self.now, now, remote_legs)
        add(self.sum, span)
        self.now = now
        if is_sample:
            self.last, self.samples = span, self.samples + 1
            self.seconds = (now["ns"] - self.began) / 1e9
            for output in self.outputs:
                output.sample(self)

    def run(self, most):
        """Take samples until there is an end."""
        interval = int(self.interval * 1e9)
        try:
            while self.samples != most:
                passed = time.monotonic_ns() - self.began
                if stopped((interval - passed % interval) / 1e9):
                    raise End("stopped", 0)
                self.sample()
        except End as end:
            return self._finish() if end.status == 0 else end
        return End("all samples were taken", 0)

    def _finish(self):
        stopped(0)  # take the signal, if it has ended a look
        try:
            self.sample(is_last=True)
        except End as end:
            return end
        return End("stopped", 0)


class Csv:
    """A line for each sample, written at once."""

    def __init__(self, path):
        self.path, self.file = path, None

    def begin(self, m):
        """The names of the fields."""
        self._write(["time_s", *fields(m.last, m.shape)])

    def sample(self, m):
        """Its fields, empty where unknown."""
        self._write(rounded({"time_s": m.seconds, **fields(m.last, m.shape)}).values())

    def _write(self, values):
        line = ",".join("" if value is None else str(value) for value in values) + "\n"
        try:
            if self.file is None:  # a pipe without a reader must not keep it from ending
                self.file = open(self.path, "wb", buffering=0, opener=lambda path, flags:
                                 os.open(path, flags | os.O_NONBLOCK, 0o666))
            self.file.write(line.encode())
        except OSError as err:
            raise End(f"cannot write {self.path}: {err.strerror}") from None


class Lines:
    """JSON, an object on each line: head, samples and rest of testpmd's file."""

    def begin(self, m):
        """Port and PFs."""
        self._print({"port": m.port.number, "name": m.port.name,
                     **{f"pf{i}": name for i, name in enumerate(m.port.pfs)},
                     **rounded({"interval_ms": m.interval * 1000})})

    def sample(self, m):
        """Its fields, null where unknown."""
        self._print(rounded({"time_s": m.seconds, **fields(m.last, m.shape)}))

    def end(self, m, why):
        """Averages and totals."""
        summary = rounded({**fields(m.sum, m.shape), **totals(m.sum, m.shape)})
        self._print({"unavailable": UNAVAILABLE,
                     "summary": {"ended": why, "samples": m.samples, **summary}})

    def _print(self, of):
        print(json.dumps(of, separators=(",", ":")), flush=True)


class Table:
    """For people: port and PFs of each sample; in the end queues as well."""

    ROW = "{:>9}  {:<20.20}" + " {:>8}" * 5 + " {:>11} {:>9} {:>7} {:>13}"
    HEADER = ROW.format("Time s", "", "Rx Mpps", "Rx Gb/s", "Tx Mpps", "Tx Gb/s", "Stray %",
                        "Remote Tx %", "Lost/s", "Rules", "Fence waits/s")
    left = 0  # rows below the header on this screen

    def begin(self, m):
        """What is measured."""
        print(f"Port {m.port.number} {m.port.name}: measured every {m.interval:g} s", flush=True)

    def sample(self, m):
        """Its rows."""
        rows = 1 + m.shape[0]
        if self.left < rows:
            print(self.HEADER)
            self.left = shutil.get_terminal_size().lines - 2
        self.left -= rows
        self._print(m, m.last, f"{m.seconds:.2f}", 0)
        sys.stdout.flush()

    def end(self, m, why):
        """Averages."""
        print(f"\nMeasured for {m.sum['ns'] / 1e9:.3f} s, {m.samples} samples, until: {why}; "
              f"on average:\n{self.HEADER}")
        self._print(m, m.sum, "", max(m.shape[1:]))
        hits = field(m.sum, "rule_hits", 1e-6)
        print(f"Rules: {m.sum['rules']}, of them learned {m.sum['rules_learned']}, ineffective "
              f"{m.sum['rules_ineffective']}, {self._cell(hits)} M hits/s")
        if m.sum["restarted"]:
            print("Counters began anew meanwhile: more may have come")

    def _print(self, m, of, first, queues):
        sent, remote = of["tx_packets"], of["tx_remote_packets"]
        share = 0 if sent == 0 else None if None in (sent, remote) else 100 * remote / sent
        own = [self._cell(share), of["rules"], self._cell(field(of, "fence_waits", 1), 1)]
        rows = [("", "Port", own)]
        rows += [(f"pf{i}_", f"PF {i} {name}", ["", "", ""]) for i, name in enumerate(m.port.pfs)]
        rows += [(f"q{q}_", f"Queue {q}", ["", "", ""]) for q in range(queues)]
        for prefix, name, rest in rows:
            cells = [self._cell(field(of, prefix + counter, how / unit))
                     for (_, counter, _, how), unit in zip(TRAFFIC, (1e6, 1e9, 1e6, 1e9))]
            strays = prefix + "stray_packets"
            cells.append(self._cell(field(of, strays, PPM), by=1e4) if strays in of else "")
            lost = [field(of, prefix + loss, 1) for loss in LOSSES]
            rest.insert(1, "" if None in lost else f"{sum(lost):.0f}")
            print(self.ROW.format(first if prefix == "" else "", name, *cells, *rest).rstrip())

    @staticmethod
    def _cell(value, digits=3, by=1):
        return "-" if value is None else f"{value / by:.{digits}f}"


class Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message):
        self.exit(2, f"{PROG}: {message} (see: --help)\n")


def parse():
    """The command line."""
    parser = Parser(prog=PROG, description="Measure an octo port of a running DPDK application. "
                    "Exit status: 0 done, 1 failed, 2 wrong use, 3 the application, or its port, "
                    "ended meanwhile.")
    parser.add_argument("-f", "--file-prefix", metavar="P", default="rte", help="its file prefix")
    parser.add_argument("-i", "--instance", metavar="N", type=int, default=0,
                        help="which of several with that prefix (0)")
    parser.add_argument("--port", metavar="N", type=int, help="which of its octo ports")
    parser.add_argument("--interval", metavar="S", type=float, default=1.,
                        help="seconds between samples (1)")
    parser.add_argument("--count", metavar="N", type=int, help="so many samples; else until Ctrl-C")
    parser.add_argument("--csv", metavar="FILE", help="write the samples there as well")
    parser.add_argument("--json", action="store_true", help="print JSON, an object on each line")
    args = parser.parse_args()
    if not 0.01 <= args.interval <= 3600:
        parser.error("--interval is not from 0.01 to 3600")
    if args.count is not None and args.count < 1:
        parser.error("--count is not 1 or more")
    return args


def runtime_dir():
    """Where EAL keeps its files, as in dpdk-telemetry.py."""
    user = "/var/run" if os.getuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp")
    return os.path.join(os.environ.get("RUNTIME_DIRECTORY") or user, "dpdk")


def main():
    """Measure; the exit status."""
    args = parse()
    instance = f":{args.instance}" if args.instance else ""
    path = os.path.join(runtime_dir(), args.file_prefix, SOCKET_NAME + instance)
    outputs = ([Csv(args.csv)] if args.csv else []) + [Lines() if args.json else Table()]
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP)
    try:
        m = Measurement(Port(Telemetry(path), args.port), args.interval, outputs)
        end = m.run(args.count)
        outputs[-1].end(m, str(end))
        sys.stdout.flush()
    except End as early:
        end = early
    except OSError as err:  # the reader of a pipe has gone, or a disk is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        end = End(f"cannot print: {err.strerror}")
    if end.status != 0:
        print(f"{PROG}: {end}", file=sys.stderr)
    return end.status


if __name__ == "__main__":
    sys.exit(main())
