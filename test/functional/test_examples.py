# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's examples forward over octo ports what they forward over PFs."""

from typing import Iterator, List, Sequence

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, fragment6
from scapy.layers.ipsec import ESP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import checksum

from octotest import env, hugepages, packets
from octotest.examples import (PCAP, PORTS, SENT, Example, by_flow, check_forwards,
                               exchange, numbered, two_cables)
from octotest.packets import Flow
from octotest.veth import Wire

MTU = 6000  # of cables that take whole datagrams
ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
# Their routing tables: 100.10.0.0/16 and 101:101:101::/48 by port 0, and by port 1:
SOURCES = {4: ["100.10.0.1", "100.20.0.1"], 6: ["101:101:101::1", "201:101:101::1"]}


@PORTS
def test_l2fwd_event(ports):
    """Event device, Rx and Tx adapters, of which a service lcore takes care."""
    with two_cables("l2fwd-event") as cables:
        app = Example("l2fwd-event", "0@0,1@1,2@0", ["-S", "2", "--vdev=event_sw0", *ports(cables)],
                      ["-p", "3", "-T", "0", "--no-mac-updating"], "entering eventdev main loop")
        check_forwards(cables)
        assert app.stop() == 0


@PORTS
def test_dmafwd(ports):
    """A DMA channel for each port copies its packets, which it sends back."""
    with two_cables("dmafwd") as cables:
        app = Example("dmafwd", "0@0,1@1",
                      ["--vdev=dma_skeleton0", "--vdev=dma_skeleton1", *ports(cables)],
                      ["-p", "3", "-c", "hw", "--no-mac-updating"], "Entering main .*loop")
        check_forwards(cables, cables)
        for channel in range(2):
            app.expect(rf"DMA channel {channel}\s+Total submitted ops: {SENT}\s+"
                       rf"Total completed ops: {SENT}\s+Total failed ops: 0\s")
        assert app.stop() == 0


def datagrams(version: int, port: int) -> List[Packet]:
    """To the port, no two alike, with a checksum of UDP; without the Ethernet header."""
    source, sink = SOURCES[version][1 - port], SOURCES[version][port]
    made = []
    for n in range(40):
        ip = IP(src=source, dst=sink, id=n) if version == 4 else IPv6(src=source, dst=sink)
        payload = bytes((n + i) % 251 for i in range(3000 + 7 * n))
        made.append(type(ip)(bytes(ip / UDP(sport=1000 + n, dport=2000) / Raw(payload))))
    return made


def windows(sent: List[Packet]) -> Iterator[List[Packet]]:
    """So few at a time that a ring of net_pcap has room for them all: an example that gets no CPU
    would lose others."""
    for at in range(0, len(sent), 4):
        yield sent[at:at + 4]


def received(cable: Wire, number: int) -> List[Packet]:
    """So many datagrams or fragments, with their header checksums right."""
    got = [Ether(frame).payload for frame in cable.receive(number)]
    assert len(got) == number
    assert not any(checksum(bytes(ip)[:20]) for ip in got if IP in ip)
    return got


def payloads(got: Sequence[Packet]) -> List[bytes]:
    """Of datagrams, whole or in fragments, whose order must be right."""
    made, parts = [], b""
    for ip in got:
        if IP in ip:
            offset, more = ip.frag, ip.flags.MF
        else:
            ip = ip[IPv6ExtHdrFragment] if IPv6ExtHdrFragment in ip else ip
            offset, more = getattr(ip, "offset", 0), getattr(ip, "m", 0)
        assert 8 * offset == len(parts)
        parts += bytes(ip.payload)
        if not more:
            made.append(parts)
            parts = b""
    return made


@PORTS
@pytest.mark.parametrize("version", SOURCES)
def test_ip_fragmentation(ports, version):
    """Datagrams that are larger than 1500 bytes come out in three fragments each."""
    with two_cables("ip_fragmentation", mtu=MTU) as cables:
        app = Example("ip_fragmentation", "0@0", ports(cables, PCAP), ["-p", "3", "-q", "2"],
                      "portid=1")
        for port in (0, 1):
            for sent in windows(datagrams(version, port)):
                for datagram in sent:
                    cables[1 - port].send(bytes(ETHER / datagram))
                got = received(cables[port], 3 * len(sent))
                assert max(map(len, got)) <= 1500
                assert payloads(got) == payloads(sent)
        assert not any(cable.receive(1, timeout=0) for cable in cables)
        assert app.alive()


def fragments(datagram: Packet) -> List[Packet]:
    """Three of them."""
    if IP in datagram:
        return datagram.fragment(1400)
    head = IPv6(src=datagram.src, dst=datagram.dst)
    return fragment6(head / IPv6ExtHdrFragment(id=datagram[UDP].sport) / datagram.payload, 1400)


@PORTS
@pytest.mark.parametrize("version", SOURCES)
def test_ip_reassembly(ports, version):
    """Fragments that come out of order, and between those of others, leave as datagrams."""
    with two_cables("ip_reassembly", mtu=MTU) as cables:
        # by default it drops fragments that wait for others for a second
        app = Example("ip_reassembly", "0@0", ports(cables, PCAP),
                      ["-p", "3", "-q", "2", "--maxflows=128", "--flowttl=3600s"], "portid=1")
        for port in (0, 1):
            for sent in windows(datagrams(version, port)):
                for n in range(0, len(sent), 2):
                    one, other = (fragments(sent[n + i]) for i in (0, 1))
                    for part in (other[2], one[0], other[0], one[2], one[1], other[1]):
                        cables[1 - port].send(bytes(ETHER / part))
                assert payloads(received(cables[port], len(sent))) == payloads(sent)
        assert not any(cable.receive(1, timeout=0) for cable in cables)
        assert app.alive()


TUNNEL = """
sp ipv4 out esp protect 5 pri 1 dst 192.168.105.0/24 sport 0:65535 dport 0:65535
sp ipv4 in esp protect 5 pri 1 dst 192.168.105.0/24 sport 0:65535 dport 0:65535
sa out 5 {sa}
sa in 5 {sa}
rt ipv4 dst 172.16.2.5/32 port 0
rt ipv4 dst 192.168.105.0/24 port 1
""".format(sa=f"cipher_algo aes-128-cbc cipher_key {':'.join(16 * ['a5'])} auth_algo sha1-hmac "
           f"auth_key {':'.join(20 * ['5a'])} mode ipv4-tunnel src 172.16.1.5 dst 172.16.2.5")


@PORTS
def test_ipsec_secgw(ports, tmp_path):
    """What comes by port 1 leaves by port 0 encrypted, and comes back by it to be decrypted."""
    config = tmp_path / "tunnel.cfg"
    config.write_text(TUNNEL)
    flows = [Flow("udp", "10.1.0.1", 1000 + i, f"192.168.105.{i}", 2000) for i in range(8)]
    with two_cables("ipsec-secgw") as (outside, inside):
        app = Example("ipsec-secgw", "0@0", ["--vdev=crypto_openssl0", *ports([outside, inside])],
                      ["-p", "3", "-P", "-u", "1", "-f", str(config),
                       "--config=(0,0,0),(1,0,0)"], r"portid=1 rxqueueid=0")
        sent = [bytes(packet) for packet in packets.numbered(flows, 20)]
        secret = exchange(inside, outside, sent)
        esp = [Ether(frame)[ESP] for frame in secret]
        assert [(one.spi, one.seq) for one in esp] == [(5, n + 1) for n in range(len(sent))]
        assert not any(8 * b"." in one.data for one in esp)
        got = exchange(outside, inside, secret)
        # but for TTL and header checksum, in front of the addresses
        assert by_flow([frame[26:] for frame in got]) == by_flow([frame[26:] for frame in sent])
        assert not any(cable.receive(1, timeout=0) for cable in (outside, inside))
        assert app.stop() == 0


@PORTS
def test_client_server_mp(ports, huge_dir):
    """A server receives; clients, which are secondary processes with a Tx queue each, take turns
    to send. So packets of a flow may overtake each other, but each arrives once."""
    prefix, ready = env.unique(), "Finished Process Init"
    with two_cables("mp_server", "mp_client") as cables:
        apps = [Example("mp_server", "0@0", [*ports(cables), *hugepages.SHARED],
                        ["-p", "3", "-n", "2"], ready,
                        ["-m", "256", f"--huge-dir={huge_dir}"], prefix)]
        # no two lcores may be alike, as each has a cache in the shared pool
        apps += [Example("mp_client", f"{n + 1}@{1 - n}", ["--proc-type=secondary"],
                         ["-n", f"{n}"], ready, [], prefix) for n in range(2)]
        for _ in range(4):
            for source, sink in (cables, cables[::-1]):
                sent = numbered(8)  # a client's ring has room for 127
                assert sorted(exchange(source, sink, sent)) == sorted(sent)
        assert not any(cable.receive(1, timeout=0) for cable in cables)
        for app in reversed(apps):
            assert app.alive()
            # on SIGINT the server stops its ports inside the burst that it polls, which may have
            # the simulator's lock
            app.kill()
