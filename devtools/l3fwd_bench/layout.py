# SPDX-License-Identifier: BSD-3-Clause
"""What l3fwd is started with in each configuration. Pure."""

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

LOCAL, REMOTE, OCTO, BONDING = CASES = ("local", "remote", "octo", "bonding")

# that of the lcores and that of the other CPUs, where both are pretended
NODE, OTHER_NODE = 1, 0

NET4, NET6 = "198.18.0.0/16", "2001:2::/48"  # for tests, by RFC 2544 and RFC 5180

NO_NIC = "0000:00:00.0"  # EAL is to leave alone what octo probes

NIC_MAC = "02:0c:70:00:00:01"  # of the simulated one

# balance: 802.3ad has nobody to negotiate with at the other end of these wires
BOND_MODE, BOND_MODE_NUMBER = "balance", 2

BONDING_NEEDS = "--relax-rx-offload"
BONDING_ARGS = ("--parse-ptype", BONDING_NEEDS)


@dataclass(frozen=True)
class Setup:
    """A configuration of l3fwd."""
    name: str
    what: str
    devices: Tuple[str, ...]  # EAL arguments
    port: int                 # that forwards
    pfs: Tuple[int, ...]      # ports of the PFs in use


def bond_word(version: str) -> str:
    """How this DPDK calls a PF that net_bonding has."""
    year, month = (int(part) for part in version.split(".")[:2])
    return "member" if (year, month) >= (23, 11) else "slave"


def _above(name, pfs, octo_args, member):
    """The port above the PFs, if there is one."""
    if name == OCTO:
        return ["--vdev=net_octo0," + ",".join(f"pf={pf}" for pf in pfs) + octo_args]
    if name == BONDING:
        return [f"--vdev=net_bonding0,mode={BOND_MODE_NUMBER}," +
                ",".join(f"{member}={pf}" for pf in pfs)]
    return []


def _what(name, near, far):
    return {
        LOCAL: f"{near}, on the node of the lcores",
        REMOTE: f"{far}, on the other node",
        OCTO: f"net_octo over {far} and {near}",
        BONDING: f"net_bonding, mode {BOND_MODE}, over {far} and {near}",
    }[name]


def simulated(name: str, wire: Tuple[str, Sequence[str]], cpus: Sequence[int], member: str,
              model: Optional[str] = None) -> Setup:
    """A NIC of mpsim. What has no rule comes by PF 0, on the other node; in *local* by PF 1."""
    nodes = "/".join(f"{cpu}:{NODE}" for cpu in cpus)
    default = ",default_pf=1" if name == LOCAL else ""
    charged = f",model={model},socket_map={nodes}" if model else ""
    pfs = ("net_mpsim0", "net_mpsim1")
    port = {LOCAL: 2, REMOTE: 1}.get(name, 3)  # port 0 is the wire
    devices = ["--no-pci", *wire[1],
               f"--vdev={pfs[0]},nic=A,socket={OTHER_NODE},wire={wire[0]},mac={NIC_MAC}"
               f"{default}{charged}",
               f"--vdev={pfs[1]},nic=A,socket={NODE}",
               *_above(name, pfs, f",socket_map={nodes}", member)]
    return Setup(name, _what(name, "PF 1", "PF 0"), tuple(devices), port,
                 (port,) if port < 3 else (1, 2))


def on_hardware(name: str, near: str, far: str, member: str) -> Setup:
    """Two PFs by their PCI addresses: that on the lcores' node, and the other."""
    pfs = {LOCAL: [near], REMOTE: [far]}.get(name, [far, near])
    devices = [word for pf in ([NO_NIC] if name == OCTO else pfs) for word in ("-a", pf)]
    devices += _above(name, pfs, "", member)
    port = 2 if name == BONDING else 0
    first = 1 if name == OCTO else 0
    return Setup(name, _what(name, near, far), tuple(devices), port,
                 tuple(range(first, first + len(pfs))))


def rules(port: int) -> Tuple[str, str]:
    """The routes, IPv4 and IPv6: all goes out by the port that it came in by."""
    return f"R{NET4} {port}\n", f"R{NET6} {port}\n"


def l3fwd_args(setup: Setup, cpus: Sequence[int], files: Sequence[str],
               bonding: bool) -> List[str]:
    """What comes after EAL's arguments: a queue of the port for each lcore.

    net_bonding tells neither packet types nor, before it is configured, offloads. Where it is
    among the configurations, all get along without either.
    """
    queues = ",".join(f"({setup.port},{q},{cpu})" for q, cpu in enumerate(cpus))
    return ["-p", hex(1 << setup.port), f"--config={queues}", f"--rule_ipv4={files[0]}",
            f"--rule_ipv6={files[1]}", *(BONDING_ARGS if bonding else ())]
