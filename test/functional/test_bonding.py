# SPDX-License-Identifier: BSD-3-Clause
"""Octo ports as members of net_bonding, in the stock testpmd.

    test - veth - net_af_packet - NIC A - net_octo0 \\
                                                     > net_bonding0 - testpmd, which sends back
    test - veth - net_af_packet - NIC B - net_octo1 /

A NIC has two PFs.
"""

import re
from typing import Dict, Iterator, List

import pytest

from octotest import packets, vdevs
from octotest.testpmd import Testpmd, wait_until
from octotest.veth import Wire

FLOWS = packets.flows(16)
BACKUP, BALANCE = 1, 2  # modes of net_bonding
OCTOS = ("net_octo0", "net_octo1")


@pytest.fixture
def cables(program) -> Iterator[List[Wire]]:
    """One for each NIC."""
    program("ip")
    with Wire() as one, Wire() as other:
        yield [one, other]


def member_word() -> str:
    """How this DPDK calls a port that net_bonding has."""
    with Testpmd(["--vdev=net_null0"]) as pmd:
        return "member" if pmd.release() >= (23, 11) else "slave"


class Bonded(Testpmd):
    """Sends back what it gets by the bonding port."""

    def __init__(self, cables: List[Wire], mode: int) -> None:
        args = []
        for i, cable in enumerate(cables):
            args.append(f"--vdev=net_af_packet{i},iface={cable.name},blocksz=4096,"
                        "framesz=2048,framecnt=2048")
            args += vdevs.nic("AB"[i], 2 * i, 2, f"net_af_packet{i}")
            args.append(vdevs.octo(i, 2 * i))
        word = member_word()
        members = "".join(f",{word}={name}" for name in OCTOS)
        super().__init__([*args, f"--vdev=net_bonding0,mode={mode},xmit_policy=l34{members}"])
        self.number = {row.name: row.port for row in self.ports()}
        self.cmd(f"set portlist {self.number['net_bonding0']}")
        self.start()

    def quit(self, timeout: float = 30.0) -> int:
        """testpmd closes no port that is a member. EAL's cleanup would remove the PFs, then the
        octo ports, while testpmd closes them in another thread, as it does 0.1 s after a port
        has lost its last PF."""
        number = self.number["net_bonding0"]
        self.cmds(["stop", f"port stop {number}", f"port close {number}"])
        status = super().quit(timeout)
        assert "Please remove port" not in self.text
        return status

    def lose(self, member: int) -> None:
        """The link of a member goes down, and the bonding port knows."""
        self.cmd(f"set link-down port {self.number[OCTOS[member]]}")
        self.wait_until("the member is not active", lambda: re.search(
            rf"Active \w+ \(1\): \[{self.number[OCTOS[1 - member]]}\]",
            self.cmd(f"show bonding config {self.number['net_bonding0']}")))

    def _sums(self, *directions: str) -> List[int]:
        """Over the members."""
        all_stats = [self.stats(self.number[name]) for name in OCTOS]
        return [sum(stats[f"{d}-packets"] for stats in all_stats) for d in directions]

    def _is_all_sent(self) -> bool:
        received, sent = self._sums("RX", "TX")
        return received == sent

    def check_counts(self) -> Dict[str, List[int]]:
        """What the bonding port counts its members count, and their PFs; by the members' names."""
        counts = {}
        # frames are on the wire before the burst that sends them has returned, and counts them
        self.wait_until("all are counted", self._is_all_sent)
        for name in OCTOS:
            stats, more = self.stats(self.number[name]), self.xstats(self.number[name])
            counts[name] = [stats["RX-packets"], stats["TX-packets"]]
            for kind, number in zip("rt", counts[name]):
                assert number == sum(more[f"pf{pf}_{kind}x_good_packets"] for pf in (0, 1))
        stats = self.stats(self.number["net_bonding0"])
        assert [stats["RX-packets"], stats["TX-packets"]] == \
            [sum(both) for both in zip(*counts.values())]
        return counts


def frames() -> List[bytes]:
    """No two alike."""
    return [bytes(packet) for packet in packets.numbered(FLOWS, 10)]


def come_back(sent: List[bytes], by: Wire, cables: List[Wire]) -> List[int]:
    """Send them; how many come back by each wire, after all have."""
    for frame in sent:
        by.send(frame)
    got: List[List[bytes]] = [[] for _ in cables]

    def all_are_back() -> bool:
        for frames_of_one, cable in zip(got, cables):
            frames_of_one += cable.receive(len(sent), timeout=0.01)
        return sum(map(len, got)) >= len(sent)
    wait_until("all frames", all_are_back)
    assert sorted(got[0] + got[1]) == sorted(sent)
    return [len(frames_of_one) for frames_of_one in got]


def test_active_backup(cables):
    """All goes by the first; when its link is down, by the other."""
    sent = frames()
    with Bonded(cables, BACKUP) as pmd:
        assert come_back(sent, cables[0], cables) == [len(sent), 0]
        assert pmd.check_counts() == {"net_octo0": [len(sent)] * 2, "net_octo1": [0, 0]}
        pmd.lose(0)
        assert come_back(sent, cables[1], cables) == [0, len(sent)]
        assert pmd.check_counts() == {name: [len(sent)] * 2 for name in OCTOS}


def test_balance(cables):
    """Both receive, and flows are shared out; when a link is down, the other has them all."""
    sent = frames()
    with Bonded(cables, BALANCE) as pmd:
        back = [come_back(sent, cable, cables) for cable in cables]
        shares = [sum(both) for both in zip(*back)]
        assert min(shares) > 0
        assert pmd.check_counts() == {name: [len(sent), share]
                                      for name, share in zip(OCTOS, shares)}
        pmd.lose(0)
        assert come_back(sent, cables[1], cables) == [0, len(sent)]
        pmd.check_counts()
