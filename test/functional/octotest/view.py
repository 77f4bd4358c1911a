# SPDX-License-Identifier: BSD-3-Clause
"""What an octo port says of itself: telemetry, xstats, its PFs' ports."""

import re
from typing import Any, Dict, List

from .packets import Flow
from .process import ProcessError
from .testpmd import Testpmd


def ask(pmd: Any, what: str, *params: object) -> Any:
    """An /octo/ reply; DPDK 22.11 can only put tables in as dicts of dicts."""
    telemetry = getattr(pmd, "telemetry", pmd)
    reply = telemetry.get(f"/octo/{what}", *params)
    for key, value in (reply or {}).items():
        if isinstance(value, dict):
            reply[key] = [value[k] for k in sorted(value, key=int)]
    return reply


class View:
    """One octo port of a running testpmd."""

    def __init__(self, pmd: Testpmd, name: str = "net_octo0") -> None:
        self.pmd = pmd
        self.name = name
        self.port = pmd.port(name)

    def topology(self) -> Dict[str, Any]:
        """PFs and queues."""
        return ask(self.pmd, "topology", self.port)

    def strays(self) -> Dict[str, Any]:
        """Home and stray packets."""
        return ask(self.pmd, "strays", self.port)

    def steering(self) -> Dict[str, Any]:
        """All rules, put together from pages."""
        first = ask(self.pmd, "steering", self.port)
        rules: List[dict] = list(first["rules"])
        while len(rules) < first["total"]:
            page = ask(self.pmd, "steering", self.port, len(rules))
            assert page["rules"], "an empty page before the end"
            rules += page["rules"]
        first["rules"] = rules
        return first

    def rule(self, flow: Flow) -> Dict[str, Any]:
        """How a flow is steered."""
        for rule in self.steering()["rules"]:
            if all(rule[k] == v for k, v in flow.key().items()):
                return rule
        raise ProcessError(f"{flow} is not steered")

    def await_lingering(self) -> None:
        """Destroyed rules lead their flows for a moment yet: until none does."""
        self.pmd.wait_until("destroyed rules lead nothing", lambda: ask(
            self.pmd, "steering", self.port)["lingering"] == 0)

    def xstats(self) -> Dict[str, int]:
        """Extended statistics of the octo port."""
        return self.pmd.xstats(self.port)

    def stats(self) -> Dict[str, int]:
        """Basic statistics of the octo port."""
        return self.pmd.stats(self.port)

    def homes(self) -> Dict[int, int]:
        """Queue to home PF, once somebody polls it."""
        return {q["queue"]: q["home_pf"] for q in self.topology()["queues"]}

    def pf_ports(self) -> List[int]:
        """The ethdev port of every PF."""
        return [pf["port"] for pf in self.topology()["pfs"]]

    def pf_info(self) -> List[Dict[str, Any]]:
        """ethdev's own view of every PF, which applications do not see."""
        return [self.pmd.telemetry.get("/ethdev/info", port)
                for port in self.pf_ports()]

    def pf_stats(self) -> List[Dict[str, int]]:
        """Basic statistics of every PF; packets of a slice are those of its queues."""
        ports = self.pf_ports()
        stats = [self.pmd.telemetry.get("/ethdev/stats", port)
                 for port in ports]
        if len(set(ports)) == len(ports):
            return stats
        xstats = self.pmd.telemetry.get("/ethdev/xstats", ports[0])
        for pf, own in enumerate(stats):
            for total, way in (("ipackets", "rx"), ("opackets", "tx")):
                own[total] = sum(xstats.get(f"{way}_q{queue}_packets", 0)
                                 for queue in range(pf, 64, len(ports)))
        return stats

    def await_no_strays(self, each: int = 10000) -> None:
        """Until each queue has had so many packets and none of the queues a stray. Those of
        before may wait in a ring for a poller that has no CPU."""
        before = self.strays()

        def none_strayed() -> bool:
            nonlocal before
            now = self.strays()
            if now["stray_packets"] != before["stray_packets"]:
                before = now
            return all(q["home_packets"] > q0["home_packets"] + each
                       for q, q0 in zip(now["queues"], before["queues"]))
        self.pmd.wait_until("no more strays", none_strayed, timeout=60)

    def _pf_drops(self) -> Dict[int, Dict[str, int]]:
        """What each PF has dropped, by the reason."""
        return {port: {name: count for name, count in self.pmd.telemetry.get(
            "/ethdev/xstats", port).items() if count and re.search("drop|error|miss", name)}
            for port in self.pf_ports()}

    def assert_lost_nothing(self) -> None:
        """Nothing was lost by the port nor by any PF of the NIC."""
        stats = self.stats()
        for name in ("RX-missed", "RX-errors", "RX-nombuf", "TX-errors"):
            assert stats[name] == 0, (name, stats, self._pf_drops())
        for pf in self.pf_stats():
            for name in ("imissed", "ierrors", "rx_nombuf", "oerrors"):
                assert pf[name] == 0, (name, pf)


def forwarded(summary: str, port: int) -> Dict[str, int]:
    """A port's part of what testpmd prints on `stop`."""
    block = re.search(rf"statistics for port {port} .*?\n(.*?)\n  -{{9}}",
                      summary, re.DOTALL)
    assert block, summary
    return {k: int(v) for k, v in
            re.findall(r"([RT]X-\w+): (\d+)", block[1])}
