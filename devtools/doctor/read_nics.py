# SPDX-License-Identifier: BSD-3-Clause
"""Reads the PFs of all NICs."""

import re

from . import pci, states
from .model import OVS_DATAPATH, UNKNOWN_NODE, Group, Link, Netdev, Pf
from .tree import TooMuch

DEVICES = "sys/bus/pci/devices"
ADDRESS = r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
CLASS_NETWORK, CLASS_BRIDGE, CLASS_INFINIBAND = 0x02, 0x06, 0x0207
MAC = r"[0-9a-f]{2}(:[0-9a-f]{2})+"
MOST_PFS = 1024  # each is compared with every other
MOST_ROUTES = 16 << 20  # bytes of them: some 100000 routes
MOST_VFS = 256  # an octo port needs one, of a number that no other PF has
LINK_OR_GROUP = re.compile(r"fe[89ab]|ff")  # IPv6 addresses of the link or of a group
MORE = ":"  # no name of an interface: there are more routes than were read
REPRESENTOR = re.compile(r"(c\d+)?pf\d+((vf|sf)\d+|hpf)?")


def _more(text):
    return {MORE} if len(text.encode(errors="replace")) >= MOST_ROUTES else set()


def _keep_names(text):
    """Names of interfaces that have a route, and MORE; not where to."""
    names = {li.split()[0] for li in text.splitlines()[1:] if li.split()}
    return "\n".join(["Iface", *sorted(names | _more(text))])


def _keep_names6(text):
    """As _keep_names(). Every interface that is up has routes of the link and for multicast."""
    lines = (li.split() for li in text.splitlines())
    names = {li[9] for li in lines if len(li) == 10 and not LINK_OR_GROUP.match(li[0])}
    return "\n".join("- " * 9 + name for name in sorted(names | _more(text)))


def _read_routed(tree):
    """Names of interfaces that have a route, or may have one, and MORE."""
    names = set((tree.read("proc/net/route", _keep_names, MOST_ROUTES) or "").split()[1:])
    names6 = tree.read("proc/net/ipv6_route", _keep_names6, MOST_ROUTES) or ""
    return names | {OVS_DATAPATH} | {li.split()[9] for li in names6.splitlines()}


def _routed_above(tree, path, routed):
    """The interface with routes that a netdev is a port of, or that is on top of it, or None."""
    todo, known = [path], {path}
    while todo:
        here = todo.pop(0)
        for link in tree.names(here, r"upper_.{1,15}"):
            if link[len("upper_"):] in routed:
                return link[len("upper_"):]
            above = tree.link(f"{here}/{link}")
            if above and above not in known:
                known.add(above)
                todo.append(above)
    return None


def _read_link(tree, path):
    return Link(pci.parse_width(tree.read(f"{path}/current_link_width")),
                pci.parse_width(tree.read(f"{path}/max_link_width")),
                pci.parse_speed(tree.read(f"{path}/current_link_speed")),
                pci.parse_speed(tree.read(f"{path}/max_link_speed")))


def _read_netdev(tree, path, routed):
    name = path.rpartition("/")[2]
    carrier, mac = tree.read(f"{path}/carrier"), tree.read(f"{path}/address")
    below = None if name in routed else _routed_above(tree, path, routed)
    return Netdev(name, mac if re.fullmatch(MAC, mac or "") else None,
                  carrier == "1" if carrier in ("0", "1") else None,
                  tree.read(f"{path}/phys_switch_id") or None,
                  tree.read(f"{path}/phys_port_id") or None,
                  tree.read(f"{path}/phys_port_name") or None,
                  True if name in routed or below else None if MORE in routed else False, below)


def _netdev_paths(tree, path):
    """Those of virtio belong to a device below the PCI function."""
    parents = [path, *(f"{path}/{n}" for n in tree.names(path, r"virtio[0-9]{1,5}"))]
    return [f"{p}/net/{n}" for p in parents for n in tree.names(f"{p}/net")]


def _read_netdevs(tree, path, routed):
    """(netdevs, representors): the latter stand for others."""
    own, others = [], []
    for netdev_path in _netdev_paths(tree, path):
        netdev = _read_netdev(tree, netdev_path, routed)
        if REPRESENTOR.fullmatch(netdev.port_name or ""):
            others.append(netdev)
            continue
        queues = tree.names(f"{netdev_path}/queues", r"rx-[0-9]{1,5}")
        netdev.channels = len(queues) or None
        own.append(netdev)
    return own, others


def _read_group(tree, path):
    """Bridges do not count: the kernel lets a group be used with them in it."""
    number = tree.link_name(f"{path}/iommu_group")
    if number is None:
        return None
    group = Group(number, tree.read(f"sys/kernel/iommu_groups/{number}/type"))
    for address in tree.names(f"sys/kernel/iommu_groups/{number}/devices", ADDRESS):
        if (tree.read_int(f"{DEVICES}/{address}/class", 0) >> 16) != CLASS_BRIDGE:
            group.drivers[address] = tree.link_name(f"{DEVICES}/{address}/driver")
    return group


def _read_ids(tree, path, prefix=""):
    numbers = (tree.read_int(f"{path}/{prefix}{w}", 0) for w in ("vendor", "device"))
    return ":".join(f"{n:04x}" for n in numbers)


def _read_own_vfs(tree, path):
    """The first VFs of a PF that have the same driver: others are given to virtual machines."""
    own = {}
    for number in range(MOST_VFS):
        address = tree.link_name(f"{path}/virtfn{number}")
        if not re.fullmatch(ADDRESS, address or ""):
            break
        driver = tree.link_name(f"{DEVICES}/{address}/driver")
        if driver and driver == tree.link_name(f"{path}/driver"):
            own[number] = address
    return own


def _read_pf(tree, address, routed):
    path = f"{DEVICES}/{address}"
    pf = Pf(address, _read_ids(tree, path), _read_ids(tree, path, "subsystem_"))
    pf.infiniband_class = tree.read_int(f"{path}/class", 0) >> 8 == CLASS_INFINIBAND
    pf.node = tree.read_int(f"{path}/numa_node", UNKNOWN_NODE)
    pf.link = _read_link(tree, path)
    pf.parent = _read_link(tree, (tree.link(path) or path).rpartition("/")[0])
    pf.driver = tree.link_name(f"{path}/driver")
    pf.rdma = next(iter(tree.names(f"{path}/infiniband")), None)
    if pf.rdma:
        pf.image_guid = tree.read(f"{path}/infiniband/{pf.rdma}/sys_image_guid")
    config = tree.read_bytes(f"{path}/config") or b""
    pf.all_readable = len(config) > pci.READABLE_BY_ALL
    pf.serial = pci.serial_number(config)
    pf.vpd = pci.parse_vpd(tree.read_bytes(f"{path}/vpd"))
    pf.netdevs, pf.representors = _read_netdevs(tree, path, routed)
    pf.group = _read_group(tree, path)
    pf.vfs = tree.read_int(f"{path}/sriov_numvfs", 0)
    pf.own_vfs = _read_own_vfs(tree, path)
    pf.first_vf = pf.own_vfs.get(0)
    return pf


def _read_debugfs(tree, pfs):
    """mlx5's multi-PF netdev has a directory there, at its primary PF; a LAG at each member."""
    by_address = {p.address: p for p in pfs}
    told = tree.names("sys/kernel/debug/mlx5", ADDRESS)
    for pf in pfs:
        pf.debugfs = pf.address in told
        path = f"sys/kernel/debug/mlx5/{pf.address}"
        if pf.debugfs and tree.read(f"{path}/lag/state") == "active":
            pf.lag = tree.read(f"{path}/lag/type")
        is_shared = tree.read(f"{path}/multi-pf/sd_lag_state") == "active"
        for name in tree.names(f"{path}/multi-pf", r"primary|secondary_\d+"):
            member = (tree.read(f"{path}/multi-pf/{name}") or "").split(" ")[0]
            if member in by_address:
                by_address[member].joined_to = pf.address
                by_address[member].joined_seen = True
                if is_shared:
                    by_address[member].lag = states.SD_FDB


def _root_of(tree, address):
    """The root of the PCI tree that it is below, such as pci0000:3a."""
    match = re.search(r"pci[0-9a-f]{4,}:[0-9a-f]{2}", tree.link(f"{DEVICES}/{address}") or "")
    return match[0] if match else None


def _read_root_nodes(tree, addresses, pfs):
    """Of a PF whose node is unknown: the node of others below its root, if they agree."""
    lost = {_root_of(tree, p.address) for p in pfs if p.node < 0} - {None}
    known = {root: set() for root in lost}
    for address in addresses if lost else []:
        node = tree.read_int(f"{DEVICES}/{address}/numa_node", UNKNOWN_NODE)
        if node >= 0:
            known.get(_root_of(tree, address), set()).add(node)
    for pf in pfs:
        nodes = known.get(_root_of(tree, pf.address), set())
        if pf.node < 0 and len(nodes) == 1:
            pf.root_node = next(iter(nodes))


def read(tree, machine):
    """Fills in machine.pfs, and counts the virtual functions that are left out."""
    addresses = tree.names(DEVICES, ADDRESS)
    routed = _read_routed(tree)
    for address in addresses:
        if tree.read_int(f"{DEVICES}/{address}/class", 0) >> 16 != CLASS_NETWORK:
            continue
        if tree.link(f"{DEVICES}/{address}/physfn"):
            machine.vfs += 1
        elif len(machine.pfs) == MOST_PFS:
            raise TooMuch(f"more than {MOST_PFS} PFs are in it")
        else:
            machine.pfs.append(_read_pf(tree, address, routed))
    _read_debugfs(tree, machine.pfs)
    _read_root_nodes(tree, addresses, machine.pfs)
