# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-dumpcap records what a running octo port receives and sends."""

import re
from collections import Counter
from typing import List

import pytest
from scapy.utils import PcapNgReader

from octotest import env, hugepages, packets, vdevs
from octotest.netns import run
from octotest.process import Process
from octotest.testpmd import Testpmd
from octotest.view import View

FLOWS, EACH = 16, 10


@pytest.fixture
def frames(tmp_path):
    """What the wire plays to the port, once that is polled."""
    made = packets.numbered(packets.flows(FLOWS), EACH)
    packets.write(tmp_path / "in.pcap", made)
    return [bytes(frame) for frame in made]


@pytest.fixture
def primary(huge_dir, tmp_path, frames):
    """A testpmd that does not forward yet."""
    del frames
    with Testpmd([vdevs.pcap_wire(tmp_path / "in.pcap", tmp_path / "out.pcap"),
                  *vdevs.nic("A", 0, 2, "net_pcap0"), vdevs.octo()],
                 memory=None, eal=["-m", "256", f"--huge-dir={huge_dir}",
                                   *hugepages.SHARED]) as pmd:
        pmd.cmd("port config all rss all")
        yield pmd


def _preloaded(primary: Process) -> str:
    """What the loader is to bring along, as dpdk-dumpcap takes no -d.

    Processes that share mempools must have the mempool drivers in the same
    order: those that the primary is linked with come first, in both.
    """
    linked = re.findall(r"=> (\S*/librte_mempool_\S+)",
                        run("ldd", primary.argv[0]))
    return " ".join([*primary.sanitizer.preloaded(), *linked,
                     *env.plugins()])


def _dumpcap(program, pmd, *args: object) -> Process:
    dump = Process([program("dpdk-dumpcap"),
                    f"--file-prefix={pmd.file_prefix}", *map(str, args)],
                   {"LD_PRELOAD": _preloaded(pmd)})
    dump.expect("Packets captured: ")  # once it listens
    return dump


def _read(path) -> List[bytes]:
    with PcapNgReader(str(path)) as reader:
        return [bytes(frame) for frame in reader]


def test_records_both_directions(primary, program, frames, tmp_path):
    """Every packet of both queues as it was, when it came and when it went."""
    file = tmp_path / "dump.pcapng"
    dump = _dumpcap(program, primary, "-i", "net_octo0", "-w", file,
                    "-c", 2 * len(frames))
    primary.start("io")
    assert dump.wait(60) == 0
    primary.stop_forwarding()
    assert Counter(_read(file)) == Counter(2 * frames)
    queues = View(primary).strays()["queues"]
    # All enters by PF 0: what queue 1 got strayed, and is recorded as well.
    assert queues[0]["home_packets"] > 0 and queues[1]["stray_packets"] > 0
    assert queues[0]["home_packets"] + queues[1]["stray_packets"] == \
        len(frames)


def test_records_what_the_filter_lets_through(primary, program, frames,
                                              tmp_path):
    """One flow of all; the end by a signal, and the port goes on."""
    file = tmp_path / "dump.pcapng"
    flow = packets.flows(FLOWS)[3]
    dump = _dumpcap(program, primary, "-i", "net_octo0", "-w", file,
                    "-f", f"udp and src host {flow.src}")
    primary.start("macswap")
    view = View(primary)
    primary.wait_until("all sent", lambda: view.stats()["TX-packets"]
                       == len(frames))
    dump.expect(rf"captured: .*{2 * EACH} ")
    assert dump.stop() == 0
    wanted = [frame for frame in frames if bytes(flow.packet())[26:38]
              == frame[26:38]]
    assert len(wanted) == EACH  # addresses and ports are compared
    swapped = [frame[6:12] + frame[:6] + frame[12:] for frame in wanted]
    assert Counter(_read(file)) == Counter(wanted + swapped)
    view.assert_lost_nothing()
