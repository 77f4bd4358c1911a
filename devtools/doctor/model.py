# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a machine, and what is said of it."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional

OK, NOTE, IN_THE_WAY = "ok", "note", "in the way"

UNKNOWN_NODE = -1

OVS_DATAPATH = "ovs-system"  # above ports of Open vSwitch; no link leads to the bridges' own ports


@dataclass
class Link:
    """A PCIe link's end: lanes, GT/s; None where it has none or does not tell."""
    width: Optional[int] = None
    max_width: Optional[int] = None
    speed: Optional[float] = None
    max_speed: Optional[float] = None


@dataclass
class Netdev:
    """A kernel interface of a PF."""
    name: str
    mac: Optional[str] = None
    carrier: Optional[bool] = None  # None: it is set down, so that nobody knows
    switch_id: Optional[str] = None
    port_id: Optional[str] = None
    port_name: Optional[str] = None
    has_route: Optional[bool] = False  # None: unknown, there are too many
    below: Optional[str] = None  # the bridge, bond, VLAN or the like above it that has routes
    channels: Optional[int] = None  # Rx queues that are in use now; None: not known


@dataclass
class Group:
    """An IOMMU group: type as the kernel calls it, other devices in it that are no bridges."""
    number: str
    kind: Optional[str] = None
    drivers: Dict[str, Optional[str]] = field(default_factory=dict)  # by PCI address


@dataclass
class Pf:
    """A physical function of a NIC."""
    address: str
    ids: str  # vendor:device, as 15b3:1017
    board_ids: str  # of the subsystem
    infiniband_class: bool = False
    node: int = UNKNOWN_NODE
    root_node: int = UNKNOWN_NODE  # of others below the same root of the PCI tree
    link: Link = field(default_factory=Link)
    parent: Link = field(default_factory=Link)
    driver: Optional[str] = None
    rdma: Optional[str] = None  # name of its RDMA device
    image_guid: Optional[str] = None
    serial: Optional[str] = None  # Device Serial Number
    vpd: Dict[str, str] = field(default_factory=dict)
    all_readable: bool = False  # config space and VPD: by root only
    netdevs: List[Netdev] = field(default_factory=list)
    representors: List[Netdev] = field(default_factory=list)  # of its VFs, in switchdev mode
    group: Optional[Group] = None
    vfs: int = 0
    first_vf: Optional[str] = None  # PCI address of its VF 0, if that has the PF's driver
    own_vfs: Dict[int, str] = field(default_factory=dict)  # the same of its first VFs, by number
    lag: Optional[str] = None  # what mlx5 says of PFs that share a switch: "multiport_eswitch", ...
    joined_to: Optional[str] = None  # the primary PF of the kernel's multi-PF netdev ...
    joined_seen: bool = False  # ... which the kernel says, and which is not only likely
    debugfs: bool = False  # the kernel's word on that could be read

    def place(self):
        """The node that it is on, or seems to be on; may be unknown."""
        return self.node if self.node >= 0 else self.root_node


@dataclass
class Pages:
    """Hugepages of a node, of one size."""
    size_kb: int
    total: int
    free: int


@dataclass
class Node:
    """A NUMA node. Sockets: where its CPUs are."""
    number: int
    cpus: List[int] = field(default_factory=list)
    sockets: List[int] = field(default_factory=list)
    memory_mb: Optional[int] = None
    pages: List[Pages] = field(default_factory=list)

    def free_mb(self):
        """Of all sizes."""
        return sum(p.size_kb * p.free for p in self.pages) // 1024


@dataclass
class Machine:
    """Everything that was read."""
    kernel: str = ""
    vendor: str = ""  # of the CPUs: GenuineIntel, AuthenticAMD, or nothing
    virtual: bool = False
    boot_words: List[str] = field(default_factory=list)
    nodes: List[Node] = field(default_factory=list)
    siblings: Dict[int, List[int]] = field(default_factory=dict)
    isolated: List[int] = field(default_factory=list)
    huge_mounts: List[str] = field(default_factory=list)
    iommu: bool = False
    unsafe_no_iommu: bool = False
    vfio_loaded: bool = False
    verbs: bool = False  # user space may have RDMA devices
    pfs: List[Pf] = field(default_factory=list)
    vfs: int = 0

    def node(self, number):
        """The node of that number, or None."""
        return next((n for n in self.nodes if n.number == number), None)

    def places(self, pfs):
        """Nodes that PFs are on; all, if that is not known of one."""
        nodes = [self.node(p.place()) for p in pfs]
        return self.nodes if None in nodes else sorted({n.number: n for n in nodes}.values(),
                                                       key=lambda n: n.number)

    def sockets(self):
        """Numbers of the sockets that have CPUs."""
        return sorted({s for n in self.nodes for s in n.sockets})


@dataclass
class Finding:
    """A sentence about something, and what to do: sentences, and commands after a "$ "."""
    mark: str
    about: str
    text: str
    todo: List[str] = field(default_factory=list)


@dataclass
class Wire:
    """The PFs of a board that lead to the same port of it: one octo port."""
    pfs: List[Pf]
    kind: str = ""
    state: str = ""  # how the kernel presents the PFs together: of states.py


@dataclass
class Board:
    """PFs of one NIC, why they are believed to be, and its wires."""
    pfs: List[Pf]
    evidence: List[str] = field(default_factory=list)
    sure: bool = True
    wires: List[Wire] = field(default_factory=list)
    kind: str = ""

    def slots(self):
        """Each half of a board that is split has one."""
        return sorted({p.address.rpartition(".")[0] for p in self.pfs})
