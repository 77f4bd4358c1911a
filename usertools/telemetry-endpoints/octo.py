# SPDX-License-Identifier: BSD-3-Clause
"""octo ports for dpdk-telemetry-exporter.py: what /octo/measure tells.

The exporter calls info() and metrics(); see its help. PFs, queues and sockets
are labels.
"""

import re

_TRAFFIC = {
    "rx_packets_per_second": "Packets received per second.",
    "rx_bits_per_second": "Bits received per second.",
    "tx_packets_per_second": "Packets sent per second.",
    "tx_bits_per_second": "Bits sent per second.",
    "rx_missed_per_second": "Packets per second for which no descriptor was free.",
    "rx_errors_per_second": "Bad packets received per second.",
    "rx_nombuf_per_second": "Packets per second for which no mbuf was free.",
    "tx_errors_per_second": "Packets per second that could not be sent.",
}

_STRAYS = {
    "home_packets_per_second": "Packets per second by the home PF of their queue.",
    "stray_packets_per_second": "Packets per second by another PF.",
    "stray_ppm": "Strays among a million packets.",
}

_REST = {
    "interval_ms": "The time that rates are of.",
    "counters_restarted": "Whether counters began anew in that time.",
    "rules": "Steered flows.",
    "rules_learned": "Those of them that strays have taught.",
    "rules_ineffective": "Those of them that are known not to work.",
    "rule_hits_per_second": "Packets per second that hit rules.",
    "busy_cycles_per_packet": "TSC cycles of work for a packet.",
    "latency_min_ns": "Shortest time from receiving to sending.",
    "latency_avg_ns": "Average time from receiving to sending.",
    "latency_max_ns": "Longest time from receiving to sending.",
    "latency_jitter_ns": "Its jitter.",
}

_SOCKET = {
    "link_out_bytes_per_second": "Bytes per second to other sockets.",
    "link_in_bytes_per_second": "Bytes per second from other sockets.",
    "dram_read_bytes_per_second": "Bytes per second read from DRAM.",
    "dram_write_bytes_per_second": "Bytes per second written to DRAM.",
    "dram_bytes_per_second": "Bytes per second to and from DRAM.",
}

_COUNTERS = {
    "rx_packets": "Packets received.",
    "rx_bytes": "Bytes received.",
    "tx_packets": "Packets sent.",
    "tx_bytes": "Bytes sent.",
    "rx_missed": "Packets for which no descriptor was free.",
    "rx_errors": "Bad packets received.",
    "rx_nombuf": "Packets for which no mbuf was free.",
    "tx_errors": "Packets that could not be sent.",
    "home_packets": "Packets by the home PF of their queue.",
    "stray_packets": "Packets by another PF.",
    "rule_hits": "Packets that hit rules.",
    "home_bytes": "Bytes by the home PF of their queue.",
    "stray_bytes": "Bytes by another PF.",
}

# Prefix of the metric: the fields.
_GAUGES = {
    "": {**_TRAFFIC, **_STRAYS, **_REST},
    "pf_": _TRAFFIC,
    "socket_": _SOCKET,
    "queue_": {**_TRAFFIC, **_STRAYS},
}


def info():
    """Every metric, with what it is and of which type."""
    known = {}
    for prefix, fields in _GAUGES.items():
        for name, text in fields.items():
            known[prefix + name] = (text, "gauge")
    for prefix in ("", "queue_"):
        for name, text in _COUNTERS.items():
            known[prefix + name] = (text, "counter")
    return known


def _split(field):
    """pf1_rx_packets: the metric pf_rx_packets, with the label pf."""
    found = re.match(r"(pf|socket)(\d+)_(.*)", field)
    if found:
        return f"{found[1]}_{found[3]}", {found[1]: found[2]}
    return field, {}


def _port(sock, port, known):
    for field, value in (sock.cmd("/octo/measure", port) or {}).items():
        name, labels = _split(field)
        if name in known:
            yield name, value, {"port": port, **labels}


def _queues(sock, port, known):
    queue = 0
    while True:
        told = sock.cmd("/octo/measure", f"{port},{queue}")
        if not told:
            return
        for field, value in told.items():
            if f"queue_{field}" in known and field != "queue":
                yield f"queue_{field}", value, {"port": port, "queue": queue}
        queue += 1


def metrics(sock):
    """Ask, and return (metric, value, labels) of all octo ports."""
    known = info()
    found = []
    for port in sock.cmd("/octo/list") or []:
        found += _port(sock, port, known)
        found += _queues(sock, port, known)
    return found
