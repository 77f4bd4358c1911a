# SPDX-License-Identifier: BSD-3-Clause
"""The rte_flow command lines of DPDK's testpmd guide, 22.11 to 26.07.

What the guide abbreviates is written out. {port} is the port that is asked,
{pf} its first PF and {other} the other one. Lines that belong together are in
one case; a line without {port} is for testpmd itself.
"""

from typing import Dict, List, Tuple

_UDP = "eth / ipv4 / udp"
_DECAP = "mplsoudp_decap / l2_encap"
_GRE_DECAP = "mplsogre_decap / l2_encap"
_MACS = "eth-src 11:11:11:11:11:11 eth-dst 22:22:22:22:22:22"
_IPV4 = f"ip-src 127.0.0.1 ip-dst 128.0.0.1 {_MACS}"
_IPV6 = f"ip-src ::1 ip-dst ::2222 {_MACS}"
_PPP = f"{_UDP} / l2tpv2 / ppp"


def _create(pattern: str, actions: str, attributes: str = "ingress") -> str:
    pattern = f"{pattern} / end" if pattern else "end"
    actions = f"{actions} / end" if actions else "end"
    return (f"flow create {{port}} {attributes} pattern {pattern} "
            f"actions {actions}").replace("  ", " ")


def _validate(pattern: str, actions: str) -> str:
    return _create(pattern, actions).replace("create", "validate", 1)


def _queue(pattern: str, queue: int = 3) -> str:
    return _create(pattern, f"queue index {queue}")


def _rss(pattern: str, types: str) -> str:
    return _create(pattern, f"rss types {types} end queues end")


def _to(queue: int, pf: str = "pf / ") -> str:
    return f"{pf}queue index {queue}"


_PLAIN = [
    _validate("eth", "queue index 6"),
    _validate("eth / ipv6 / tcp", "drop"),
    _create("", "", ""),
    _create(_UDP, "queue index 6", "group 42 group 24 group 4 ingress"),
    _queue("eth", 6),
    _queue("eth / udp / ipv4", 6),
    _queue("eth / ipv4 src is 10.1.1.1 dst is 10.2.0.0", 6),
    _queue("eth / ipv4 src spec 10.1.1.1 src last 10.1.1.9 src mask "
           "255.255.255.255 dst spec 10.2.0.0 dst mask 255.255.0.0", 6),
    _create(_UDP, "drop"),
    _queue(_UDP, 6),
    _create(_UDP, "queue"),
    _queue("eth / ipv6", 2),
    _queue("eth / ipv4", 3),
    _create("eth / ipv6 / tcp", "queue index 6 / count"),
    _create(_UDP, "rss queues 6 7 8 end", "priority 5 ingress"),
    _create("eth", "drop", "group 1"),
    _create("", "drop", "ingress"),
    _create("eth / ipv4", "sample ratio 2 index 2"),
]

_TUNNELS = [
    _validate("eth / vlan tci is 123 / vlan tci is 456",
              "vf id 1 / queue index 0"),
    _create("eth / vlan tci is 4 / vlan tci is 456",
            "vf id 123 / queue index 0"),
    _validate("eth / vlan tci is 321 / vlan tci is 654",
              "pf / queue index 0"),
    _create("eth / vlan tci is 321 / vlan tci is 654", _to(1)),
    *(_create(f"{before}{vxlan} / eth dst is 00:11:22:33:44:55{after}",
              _to(queue, pf))
      for pf in ("pf / ", "")
      for queue, before, vxlan, after in (
          (1, _UDP + " / ", "vxlan", ""),
          (2, _UDP + " / ", "vxlan vni is 3", ""),
          (3, _UDP + " / ", "vxlan", " / vlan tci is 10"),
          (4, _UDP + " / ", "vxlan vni is 5", " / vlan tci is 20"),
          (5, "eth dst is 00:00:00:00:01:00 / ipv4 / udp / ",
           "vxlan vni is 6", ""))),
    *(_queue(f"eth / {ip} / {udp}{what} spi is 1")
      for what in ("esp", "ah") for ip in ("ipv4", "ipv6")
      for udp in ("", "udp / ")),
    *(_queue(f"eth / {ip} / pfcp s_field is {field}")
      for ip in ("ipv4", "ipv6") for field in ("0", "1 seid is 1")),
    _rss(f"{_UDP} / l2tpv2 type control", "l2tpv2"),
    _rss(f"{_UDP} / l2tpv2", "eth l2-src-only"),
    _rss(_PPP, "l2tpv2"),
    _rss(f"{_PPP} / ipv4", "ipv4"),
    _rss(f"{_PPP} / ipv6 / udp", "ipv6-udp"),
    _rss("eth / ipv6 / udp / l2tpv2 / ppp / ipv4 / tcp", "ipv4-tcp"),
    _rss("eth / ipv6 / udp / l2tpv2 / ppp / ipv6", "ipv6"),
    _queue(f"{_UDP} / l2tpv2 type control session_id is 0x1111"),
    _queue("eth src is 00:00:00:00:00:01 / ipv4 / udp / l2tpv2 type data"),
    _queue(f"{_UDP} / l2tpv2 type data session_id is 0x1111 / ppp"),
    _queue(f"{_PPP} / ipv4 src is 10.0.0.1"),
    _queue("eth / ipv6 / udp / l2tpv2 / ppp / ipv6 dst is "
           "ABAB:910B:6666:3457:8295:3333:1800:2929"),
    _queue(f"{_PPP} / ipv4 / udp src is 22"),
    _queue(f"{_PPP} / ipv4 / tcp dst is 23"),
    _create("eth / ipv4 / tcp / integrity value mask 8 value spec 8",
            "jump group 1"),
    _queue("integrity value mask 1 value spec 0", 0),
    _create("raw relative is 0 search is 0 offset is 0 limit is 0 "
            f"pattern_hex spec {'00' * 26}0a0a0a0a "
            f"pattern_hex mask {'00' * 26}ffffffff", "queue index 4",
            "group 0 priority 1 ingress"),
    _create("", "raw_decap / queue index 0"),
]

_CHANGES: List[Tuple[str, ...]] = [
    (f"set vxlan ip-version ipv4 vni 4 udp-src 4 udp-dst 4 {_IPV4}",
     _create("", "vxlan_encap / queue index 0")),
    ("set vxlan-with-vlan ip-version ipv4 vni 4 udp-src 4 udp-dst 4 "
     f"ip-src 127.0.0.1 ip-dst 128.0.0.1 vlan-tci 34 {_MACS}",
     _create("", "vxlan_encap / queue index 0")),
    ("set vxlan-tos-ttl ip-version ipv4 vni 4 udp-src 4 udp-dst 4 ip-tos 0 "
     f"ip-ttl 255 {_IPV4}", _create("", "vxlan_encap / queue index 0")),
    (f"set vxlan ip-version ipv6 vni 4 udp-src 4 udp-dst 4 {_IPV6}",
     _create("", "vxlan_encap / queue index 0")),
    (f"set nvgre ip-version ipv4 tni 4 {_IPV4}",
     _create("", "nvgre_encap / queue index 0")),
    ("set nvgre-with-vlan ip-version ipv6 tni 4 ip-src ::1 ip-dst ::2222 "
     f"vlan-tci 34 {_MACS}", _create("", "nvgre_encap / queue index 0")),
    (f"set l2_encap ip-version ipv4 {_MACS}",
     "set mplsoudp_decap ip-version ipv4",
     _create(f"{_UDP} / mpls", _DECAP)),
    (f"set l2_encap-with-vlan ip-version ipv4 vlan-tci 34 {_MACS}",
     "set mplsoudp_decap-with-vlan ip-version ipv4",
     _create("eth / vlan / ipv4 / udp / mpls", _DECAP)),
    ("set mplsoudp_decap ip-version ipv6",
     _create("eth / ipv6 / udp / mpls", _DECAP)),
    ("set mplsoudp_decap-with-vlan ip-version ipv6",
     _create("eth / vlan / ipv6 / udp / mpls", _DECAP)),
    ("set mplsogre_decap ip-version ipv4",
     _create("eth / ipv4 / gre / mpls", _GRE_DECAP)),
    ("set mplsogre_decap-with-vlan ip-version ipv4",
     _create("eth / vlan / ipv4 / gre / mpls", _GRE_DECAP)),
    ("set mplsogre_decap ip-version ipv6",
     _create("eth / ipv6 / gre / mpls", _GRE_DECAP)),
    ("set mplsogre_decap-with-vlan ip-version ipv6",
     _create("eth / vlan / ipv6 / gre / mpls", _GRE_DECAP)),
    ("set l2_decap",
     _create("eth", "l2_decap / mplsoudp_encap / queue index 0", "egress")),
    ("set l2_encap-with-vlan ip-version ipv4 vlan-tci 34 " + _MACS,
     _create("eth", "l2_encap / mplsoudp_encap / queue index 0", "egress")),
    (f"set mplsogre_encap ip-version ipv4 label 4 {_IPV4}",
     _create("eth", "l2_decap / mplsogre_encap", "egress")),
    ("set mplsogre_encap-with-vlan ip-version ipv6 label 4 ip-src ::1 "
     f"ip-dst ::2222 vlan-tci 34 {_MACS}",
     _create("eth", "l2_decap / mplsogre_encap", "egress")),
    ("set mplsoudp_encap ip-version ipv4 label 4 udp-src 5 udp-dst 10 "
     + _IPV4, _create("eth", "l2_decap / mplsoudp_encap", "egress")),
    ("set raw_encap 4 eth src is 10:11:22:33:44:55 / vlan tci is 1 "
     "inner_type is 0x0800 / ipv4 / udp dst is 4789 / vxlan vni is 2 "
     "/ end_set",
     *(_create("eth / ipv4", f"raw_encap index {i}", "egress")
       for i in (2, 3, 4))),
    ("set raw_decap eth / ipv4 / udp / vxlan / end_set",
     _create(f"{_UDP} / vxlan / eth / ipv4", "raw_decap / queue index 0")),
    ("set sample_actions 0 mark id 0x1234 / queue index 0 / end",
     _create("eth", "sample ratio 2 index 0 / queue index 1",
             "ingress group 1")),
    ("set sample_actions 0 represented_port ethdev_port_id {other} / end",
     _create("represented_port ethdev_port_id is {pf}",
             "sample ratio 2 index 0 / vxlan_encap / represented_port "
             "ethdev_port_id {other}", "transfer")),
]

_SEQUENCES: List[Tuple[str, ...]] = [
    (_queue("eth / ipv6", 2), _queue("eth / ipv4", 3),
     "flow destroy {port} rule 0 rule 1"),
    (_queue("eth / ipv6", 2), _queue("eth / ipv4", 3), "flow flush {port}"),
    (_queue("eth / ipv6", 2), _queue("eth / ipv4", 3),
     "flow destroy {port} rule 42 rule 10 rule 2",
     "flow destroy {port} rule 0"),
    tuple(_queue(f"eth / ipv4 src is 2.2.2.{i}", i - 10)
          for i in range(14, 18)) + ("flow query {port} 4 count",),
    (_create("eth / ipv6 / tcp", "queue index 6 / count"),
     "flow query {port} 0 count"),
    (_queue("eth / ipv4", 1), _queue("eth / ipv6", 2),
     _create(_UDP, "rss queues 6 7 8 end", "priority 5 ingress"),
     "flow list {port}", "flow list {port} group 0 group 63"),
    (_queue("eth / ipv6 / tcp", 1), "flow isolate {port} true"),
    ("flow isolate {port} true", "flow isolate {port} false"),
    ("flow aged {port}",
     *(_create(f"eth / ipv4 src is 2.2.2.{i}",
               f"age timeout {seconds} / queue index 0")
       for i, seconds in ((14, 5), (15, 4), (16, 2), (17, 3))),
     "flow aged {port}", "flow aged {port} destroy", "flow aged {port}"),
    ("flow indirect_action {port} create action_id 100 ingress action rss "
     "queues 1 2 end / end",
     _create(_UDP, "indirect 100"),
     "flow indirect_action {port} update 100 action rss queues 0 3 end / end",
     "flow indirect_action {port} query 100"),
    ("flow indirect_action {port} create action_id 100 ingress action rss "
     "queues 0 1 end / end",
     "flow indirect_action {port} create action_id 101 ingress action "
     "queue index 1 / end",
     "flow indirect_action {port} destroy action_id 100 action_id 101"),
    ("flow indirect_action {port} create action_id 100 ingress action "
     "count / end",
     _create(_UDP, "indirect 100 / queue index 1"),
     _create("eth / ipv4 / tcp", "indirect 100 / queue index 2"),
     "flow indirect_action {port} query 100"),
    ("flow indirect_action {port} create action_id 0 ingress action "
     "conntrack / end",
     _create("eth / ipv4 / tcp", "indirect 0 / jump group 5",
             "group 3 ingress"),
     _create("eth / ipv4 / tcp / conntrack is 1", "queue index 5",
             "group 5 ingress"),
     "flow indirect_action {port} update 0 action conntrack_update dir "
     "/ end"),
    ("add port meter profile srtcm_rfc2697 {port} 13 21504 2688 0 0",
     "add port meter policy {port} 1 g_actions color type green / end "
     "y_actions color type yellow / end r_actions color type red / end",
     "create port meter {port} 1 13 1 yes 0xffff 0 0",
     _create("eth", "meter mtr_id 1", "priority 0 ingress group 1")),
    ("flow flex_item pattern 5 is 45FF",
     _create(f"{_UDP} / flex item is 3 pattern is 5",
             "mark id 1 / queue index 0")),
    (_queue("eth / ipv4", 0),
     "flow update {port} 0 actions queue index 1 / end"),
    ("flow actions_template {port} create ingress actions_template_id 1 "
     "template count / drop / end mask count / drop / end",
     "flow pattern_template {port} create ingress pattern_template_id 1 "
     "template compare op mask le a_type mask tag a_tag_index mask 1 b_type "
     "mask tag b_tag_index mask 2 width mask 0xffffffff / end",
     "flow template_table {port} create table_id 1 group 2 priority 1 "
     "ingress rules_number 1 pattern_template 1 actions_template 1",
     "flow queue {port} create 0 template_table 1 pattern_template 0 "
     "actions_template 0 postpone no pattern compare op is le a_type is tag "
     "a_tag_index is 1 b_type is tag b_tag_index is 2 width is 32 / end "
     "actions count / drop / end"),
]

# Of the same kind, and not in the guide: what the table above leaves out.
_MORE: List[Tuple[str, ...]] = [
    (_create("eth / ipv4 src is 10.1.1.1 dst is 10.2.0.0 / udp src is 7 "
             "dst is 9", "queue index 5 / count"),
     "flow query {port} 0 count"),
    (_create(_UDP, "mark id 7 / queue index 4"),
     _create("eth / ipv4 / tcp", "flag / queue index 5")),
    (_create("eth / ipv4 dst spec 10.2.0.0 dst mask 255.255.0.0",
             "queue index 4 / count"), "flow query {port} 0 count"),
    (_create("eth / ipv4", "queue index 1", "priority 3 ingress"),
     _create(_UDP, "drop / count", "priority 1 ingress"),
     "flow query {port} 1 count"),
    (_create("eth / ipv4", "jump group 2"),
     _create(_UDP, "queue index 7", "group 2 ingress"),
     _create("eth / ipv4 / tcp", "drop", "group 2 ingress")),
    (_create("eth / vlan tci is 4 / ipv4", "queue index 8"),),
    (_create("eth / ipv4 / icmp", "drop"),
     _create("eth / ipv4 / sctp", "queue index 7")),
    (_create(_UDP, "passthru / mark id 3"),),
    (_create("eth dst is 02:00:00:00:00:02", "rss queues 3 4 5 end"),),
    (_create("eth / ipv4 / gre", "queue index 6"),),
    (_create("represented_port ethdev_port_id is {pf} / eth / ipv4 src is "
             "10.1.1.1 dst is 10.2.0.0 / udp src is 7 dst is 9",
             "count / port_representor port_id {other}", "transfer"),
     "flow query {port} 0 count"),
]


def _single(lines: List[str]) -> List[Tuple[str, ...]]:
    return [(line,) for line in lines]


CASES: Dict[str, List[Tuple[str, ...]]] = {
    "plain": _single(_PLAIN),
    "tunnels": _single(_TUNNELS),
    "changes": _CHANGES,
    "sequences": _SEQUENCES,
    "more": _MORE,
}
