# SPDX-License-Identifier: BSD-3-Clause
"""An octo port over one simulated NIC, beside the plain PFs of another.

    pcap 0 -> plain port -> cable -> NIC A: octo port over two PFs
    pcap 1 -> plain port -> cable -> NIC T: the same two PFs, used directly

Both hear the same frames. What the octo port does with them is to be what a
PF does. The octo port and PF 0 of T forward to each other, and PF 1 of T, to
which only transfer rules lead, to itself.
"""

import re
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence

from scapy.packet import Packet

from . import packets, vdevs
from .testpmd import Testpmd, parse_seen
from .view import View


class Answer(NamedTuple):
    """What testpmd said to a flow command."""

    outcome: str  # accepted, refused by a driver, or unknown to testpmd
    why: str      # the driver's message and error
    text: str


class Fate(NamedTuple):
    """Where a frame was seen, and what rules had written on it."""

    queue: int
    marks: str


class ParityBench(Testpmd):
    """That testpmd."""

    def __init__(self, directory: Path, queues: int) -> None:
        self.directory = directory
        args: List[str] = []
        for i, name in enumerate("AT"):
            packets.write(self._file(i), [])
            args += [f"--vdev=net_pcap{i},rx_pcap={self._file(i)}"
                     f"{f',rx_pcap={self._empty()}' * (queues - 1)}"
                     + f",tx_pcap={directory}/out{i}.pcap" * queues,
                     vdevs.mpsim(20 + i, f"W{i}", wire=f"nic:{name}"),
                     # the twin has PFs, also where octo's are slices
                     *vdevs.nic(name, 2 * i, sliced=vdevs.SLICED and i == 0)]
        super().__init__([*args, vdevs.octo()], queues=queues, mbufs=16384,
                         memory=192)
        number = {p.name: p.port for p in self.ports()}
        self.octo = number["net_octo0"]
        self.twins = [number["net_mpsim2"], number["net_mpsim3"]]
        # the octo port's own PFs are not the application's to use
        self.pfs = [pf["port"] for pf in View(self).topology()["pfs"]]
        self.players = [number["net_pcap0"], number["net_pcap1"]]
        self.far = [number["net_mpsim20"], number["net_mpsim21"]]
        self.cmd("port config all rss all")
        forwarding = [self.players[0], self.far[0], self.players[1],
                      self.far[1], self.octo, *self.twins]
        self.cmds(["set portlist " + ",".join(map(str, forwarding)),
                   "set fwd io"])

    def _file(self, player: int) -> Path:
        return self.directory / f"in{player}.pcap"

    def _empty(self) -> Path:
        return packets.write(self.directory / "empty.pcap", [])

    def flow(self, line: str, port: int) -> Answer:
        """One command; for the octo port or a PF, with its PFs' numbers."""
        pfs = self.pfs if port == self.octo else self.twins
        text = self.cmd(line.format(port=port, pf=pfs[0], other=pfs[1]))
        found = re.search(r"Caught (?:PMD )?error type \d+ \([^)]*\): "
                          r"(?:cause: \S+ )?(.*)", text)
        if found:
            return Answer("refused", found[1].strip(), text)
        unknown = re.search(r"Bad arg|[Nn]ot found|Ambig|Fail|Invalid", text)
        return Answer("unknown" if unknown else "accepted", "", text)

    def play(self, frames: Sequence[Packet]) -> List[Dict[str, Fate]]:
        """Send the frames to both; fates by source MAC, of octo and twin."""
        for i in range(2):
            packets.write(self._file(i), frames)
        self.cmds([line for port in self.players
                   for line in (f"port stop {port}", f"port start {port}")]
                  + ["clear port xstats all", "set verbose 1"])
        start = len(self.text)
        self.send("start")  # lcores print into what follows
        self.wait_until("all frames on the wires", lambda: all(
            self._xstat(pf, "nic_wire_packets") >= len(frames)
            for pf in (self.pfs[0], self.twins[0])))
        self.wait_until("all that arrived is seen",
                        lambda: self._is_quiet(start))
        self.send("stop")
        self.expect(r"\nDone\.\s+testpmd> ", start)
        self.cmd("set verbose 0")
        return [self._fates(start, ports)
                for ports in ([self.octo], self.twins)]

    def _xstat(self, port: int, name: str) -> int:
        return self.telemetry.get("/ethdev/xstats", port)[name]

    def _is_quiet(self, start: int) -> bool:
        """Nothing is under way in a NIC, which counts a burst before its packets arrive."""
        accounts = [self.telemetry.get("/mpsim/account", nic) for nic in "AT"]
        if any(a[place] for a in accounts for place in ("in_pipelines", "on_wire", "in_rings")):
            return False
        seen = parse_seen(self.text[start:])
        return all(sum(s.port == port for s in seen)
                   == self._xstat(port, "rx_good_packets")
                   for port in (self.octo, *self.twins))

    def _fates(self, start: int, ports: Sequence[int]) -> Dict[str, Fate]:
        return {s.src: Fate(s.queue, " ".join(re.findall(
            r"FDIR matched[^-]*", s.text)))
                for s in parse_seen(self.text[start:]) if s.port in ports}
