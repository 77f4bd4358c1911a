# SPDX-License-Identifier: BSD-3-Clause
"""What a PF accepts, an octo port over such PFs accepts, and does the same.

Every rte_flow command line of DPDK's testpmd guide is given to an octo port
and to a PF beside it. Where a rule was made, both get the same frames.
"""

import re
from collections import Counter
from typing import List

import pytest

from octotest import env, packets, rules
from octotest.packets import Dot1Q, Ether, IP, TCP, UDP
from octotest.paritybench import Answer, ParityBench
from scapy.layers.inet import ICMP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE
from scapy.layers.sctp import SCTP
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

QUEUES = 9  # the guide's rules name up to number 8
CASES = [(group, i) for group, cases in rules.CASES.items()
         for i in range(len(cases))]
# Of every case that was run: group, command, and the outcome for both.
OUTCOMES: List[tuple] = []


def _frames() -> list:
    """One of each kind that the rules speak of, named by its source MAC."""
    inner = Ether(dst="00:11:22:33:44:55") / IP() / TCP()
    tagged = Ether(dst="00:11:22:33:44:55") / Dot1Q(vlan=10) / IP() / UDP()
    ip = IP(src="10.1.1.1", dst="10.2.0.0")
    ip6 = IPv6(src="fd00::1", dst="fd00::2")
    bodies = [
        ip / UDP(sport=7, dport=9), ip / TCP(sport=7, dport=9), ip / ICMP(),
        ip / SCTP(sport=7, dport=9), ip / GRE() / IP() / UDP(),
        ip6 / UDP(sport=7, dport=9), ip6 / TCP(sport=7, dport=9),
        IP(src="10.1.1.5", dst="10.2.3.4") / UDP(sport=7, dport=9),
        IP(src="10.1.1.12", dst="10.2.3.4") / UDP(sport=22, dport=23),
        IP(src="10.1.1.1", dst="10.9.0.0") / UDP(sport=7, dport=9),
        *(IP(src=f"2.2.2.{i}", dst="3.3.3.3") / UDP() for i in range(14, 18)),
        Dot1Q(vlan=4) / ip / UDP(), Dot1Q(vlan=5) / ip / TCP(),
        Dot1Q(vlan=4) / Dot1Q(vlan=456) / ip / UDP(),
        Dot1Q(vlan=321) / Dot1Q(vlan=654) / ip / UDP(),
        *(ip / UDP(dport=4789) / VXLAN(vni=vni) / frame
          for vni in (3, 5, 6) for frame in (inner, tagged)),
        IP(src="10.1.1.1", dst="10.10.10.10") / UDP(),
        Raw(b"neither IPv4 nor IPv6".ljust(46)),
    ]
    frames = []
    for i, body in enumerate(bodies):
        dst = "02:00:00:00:00:02" if i % 2 else "00:00:00:00:01:00"
        frame = Ether(src=packets.flow_mac(i), dst=dst) / body
        if isinstance(body, Raw):
            frame.type = 0x88b5
        frames.append(frame / Raw(b"octo" * 6))
    return frames


FRAMES = _frames()


@pytest.fixture(scope="module")
def shared_bench(shared, tmp_path_factory):
    """One testpmd for all cases."""
    def make():
        bench = ParityBench(tmp_path_factory.mktemp("parity"), QUEUES)
        for port in (bench.octo, *bench.twins):
            bench.cmd(f"set promisc {port} on")
        return bench
    return shared(make)


@pytest.fixture
def bench(shared_bench):
    """That testpmd, without rules, as it was."""
    bench = shared_bench.get()
    yield bench
    if bench.alive():
        for port in (bench.octo, *bench.twins):
            bench.cmd(f"flow isolate {port} 0")
            bench.cmd(f"flow flush {port}")
            bench.cmds(f"flow indirect_action {port} destroy action_id {i}"
                       for i in (0, 100, 101))


def _plain(why: str) -> str:
    """A refusal without the names of who refused."""
    why = re.sub(r"^PF \S+: ", "", why)
    why = re.sub(r"net_octo(sim)?\d+", "PORT", why)
    return re.sub(r"\b(NIC|port|ethdev) \w+", r"\1", why)


def _same_answer(line: str, octo: Answer, twin: Answer) -> None:
    assert octo.outcome == twin.outcome, \
        f"{line}\nocto: {octo.text}\nPF: {twin.text}"
    assert _plain(twin.why) in _plain(octo.why), line


def _result(text: str) -> list:
    """What a command showed that both must show."""
    return re.findall(r"(?:hits|bytes)(?:_set)?: \d+|Flow rule \S+ \w+", text)


def _run(bench: ParityBench, group: str, line: str) -> bool:
    """One line for both; returns whether they have a new rule."""
    if "{port}" not in line:
        bench.flow(line, bench.octo)
        return False
    twin = bench.flow(line, bench.twins[0])
    octo = bench.flow(line, bench.octo)
    OUTCOMES.append((group, line, octo.outcome, twin.outcome))
    _same_answer(line, octo, twin)
    assert _result(octo.text) == _result(twin.text), \
        f"{line}\nocto: {octo.text}\nPF: {twin.text}"
    return bool(re.search(r"Flow rule #\d+ created|updated", octo.text))


def _on_second_pf(bench: ParityBench, line: str) -> None:
    """Its rules are those of the first, as an octo port's PFs' are."""
    if "transfer" not in line and "{port}" in line:
        bench.flow(line, bench.twins[1])


@pytest.mark.many(asan=28)
@pytest.mark.parametrize("group, index", CASES,
                         ids=[f"{g}-{i}" for g, i in CASES])
def test_as_on_a_pf(bench, group, index):
    """Accepted or refused alike, and frames fare alike."""
    lines = rules.CASES[group][index]
    last = 0
    made = False
    for i, line in enumerate(lines):
        query = line.startswith("flow query")
        if query and made:  # of what has been counted
            _compare(bench)
            made = False
        made |= _run(bench, group, line)
        _on_second_pf(bench, line)
        last = i
    assert last == len(lines) - 1
    if made:
        _compare(bench)


def _compare(bench: ParityBench) -> None:
    octo, twin = bench.play(FRAMES)
    names = {packets.flow_mac(i): f.summary() for i, f in enumerate(FRAMES)}
    for mac, name in names.items():
        assert octo.get(mac) == twin.get(mac), name


def test_all_frames_come_without_rules(bench):
    """To the queue that RSS chooses, on both; nothing is marked."""
    octo, twin = bench.play(FRAMES)
    assert set(octo) == {packets.flow_mac(i) for i in range(len(FRAMES))}
    assert octo == twin
    assert len({fate.queue for fate in octo.values()}) > 4
    assert {fate.marks for fate in octo.values()} == {""}


def test_not_all_is_refused(request, capsys):
    """A table of what became of each line; many a one is accepted."""
    if len({(group, line) for group, line, _, _ in OUTCOMES}) < 100:
        pytest.skip("only of use after all others of this file")
    count = Counter(octo for _, _, octo, _ in OUTCOMES)
    table = env.BUILD / "flow-parity.txt"
    table.write_text("".join(f"{octo:9} {twin:9} {group:10} {line}\n"
                             for group, line, octo, twin in OUTCOMES))
    with capsys.disabled():
        print(f"\n{len(OUTCOMES)} rte_flow commands: {count['accepted']} "
              f"accepted, {count['refused']} refused, {count['unknown']} "
              f"unknown to testpmd: {table}")
    assert count["accepted"] >= 80
    assert count["refused"] >= 40
