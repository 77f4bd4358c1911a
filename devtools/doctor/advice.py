# SPDX-License-Identifier: BSD-3-Clause
"""Says which tier arguments reach and why, what to do before, and what to avoid. Pure."""

import shlex

from . import check_pfs, states

EXACT, QUEUE = "exact", "queue"

ADDRESS_PICKS = "the address of a packet picks the PF"
WHY = {
    states.JOINED: "a rule of the netdev leads a flow to a queue, which is on one PF, and the RETA "
    "names queues of every PF",
    states.APART: f"{ADDRESS_PICKS}, and rules of mlx5 the queue within it. If peers can send to an "
    "address of each PF, append ,tier=mac to --vdev=net_octo: nothing strays then, and it needs no "
    "rule (see Tier mac in the guide)",
    states.SWITCHDEV: f"{ADDRESS_PICKS}, as rules of its E-Switch do not reach the other PF; rules "
    "pick the queue within it",
    states.SHARED: f"{ADDRESS_PICKS}, and rules the queue within it; over a VF of each PF, and "
    "with octo-agent, it would be exact",
}
BY_AGENT = ("octo-agent leads a flow from the wire to a VF of either PF by a rule of the switch that "
            "they share, and a rule of the VF picks the queue (by documents, not run by us)")

SWITCH_AVOID = ["rules of others in the same switch (Open vSwitch, tc): it has one owner"]
JOINED_STATES = (states.JOINED, states.HALF_JOINED)
JOINED_BEFORE = [
    "be root, or have CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK and CAP_SYS_ADMIN: for AF_XDP "
    "sockets, and for the rules and the RETA, which net_octo sets as ethtool does (with less: see "
    "Without CAP_NET_ADMIN in the guide)",
    "have DPDK's net_af_xdp, which is built where libxdp is",
    "free hugepages on the node of every PF, for a pool on each (pools=local)",
]
JOINED_AVOID = [
    "shared_umem=1: queues would share one mapping for DMA, which is made for one PF",
    "busy_budget=0: a burst on an empty queue may wait for a second, and net_octo refuses the port",
    "start_queue=: channels are counted from 0 on, and the slices with them",
    "another ethtool -L while the program runs",
]


def _other_tier(pfs):
    """As doc/guides/vendors.rst has it; unknown of all others."""
    vendor = pfs[0].ids.partition(":")[0]
    return {"1924": EXACT, "10ee": EXACT, "14e4": QUEUE, "8086": QUEUE}.get(vendor, "")


def is_by_agent(wire):
    """Is the octo port best made of VFs, whose switch octo-agent has?"""
    return wire.state == states.SHARED and bool(states.vfs(wire.pfs))


def tier(wire):
    """That an octo port over these PFs is expected to reach, and why."""
    if wire.state == states.OTHER:
        return _other_tier(wire.pfs), ""
    if wire.state in JOINED_STATES:
        return EXACT, WHY[states.JOINED]
    if is_by_agent(wire):
        return EXACT, BY_AGENT
    return QUEUE, WHY[wire.state]


def _before_joined(interface, channels):
    name = shlex.quote(interface)
    return [f"$ ethtool -L {name} combined {channels}", f"$ ip link set {name} up"]


def agent_address(number):
    """Where octo-agent of the octo port of that number listens."""
    return f"unix:/run/octo-agent{number}.sock"


GUIDE = "doc/guides/shared_fdb.rst"


def _uplink(pfs):
    """The PF that EAL probes, and the ethdev of its wire: mlx5 adds the port if there are several."""
    address = pfs[0].joined_to or pfs[0].address  # of joined PFs, the primary has the only one
    ports = [n.port_name for p in pfs for n in p.netdevs if p.address == address and n.port_name]
    if pfs[0].lag == states.MPESW and ports:
        return address, f"{address}_{ports[0]}"
    return address, address


def _before_agent(wire, number):
    """A command, and what to do where mlx5 makes one ethdev of several representors."""
    pfs = wire.pfs
    probed, uplink = _uplink(pfs)
    chosen = states.vfs(pfs)
    names = " and ".join(f"{rep.name} of {p.address}" for (_, _, rep), p in zip(chosen, pfs))
    own = " ".join(f"--pf pf{i},vf={address}" for i, (_, address, _) in enumerate(chosen))
    functions = ",".join(map(str, range(len(pfs))))
    numbers = ",".join(map(str, sorted({n for n, _, _ in chosen})))
    lines = [f"start octo-agent, which owns the switch and leads to the VFs' representors, {names}; not "
             f"tried by us, see {GUIDE}:",
             f"$ octo-agent --file-prefix=octo-agent{number} "
             f"-a '{probed},dv_flow_en=2,representor=pf[{functions}]vf[{numbers}]' -- "
             f"--uplink {uplink} {own} --listen {agent_address(number)}"]
    if not states.vfs_collide(pfs):
        return lines
    path = f"/sys/bus/pci/devices/{pfs[-1].address}/sriov_numvfs"
    return ["representors of these VFs have the same name, and mlx5 makes an ethdev of one of them: give "
            f"a PF more VFs than the others have, and look again, see {GUIDE}:",
            f"$ echo 0 > {path}", f"$ echo {max(p.vfs for p in pfs) + 1} > {path}", *lines]


def _add(lines, more):
    lines += [line for line in more if line not in lines]


def _give(arguments, number, wire, interface):
    if wire.state in JOINED_STATES:
        channels = max(arguments.workers, 1) * len(wire.pfs)
        _add(arguments.before, _before_joined(interface, channels))
    if is_by_agent(wire):
        _add(arguments.before, _before_agent(wire, number))
    if wire.state in (states.SHARED, states.SWITCHDEV):
        _add(arguments.avoid, SWITCH_AVOID)


def give(arguments, wires):
    """Fills in all but the arguments; wires: pairs of a wire and its interface."""
    for number, (wire, interface) in enumerate(wires):
        reached, why = tier(wire)
        if not arguments.tier or reached == QUEUE:
            arguments.tier, arguments.why = reached, why
        _give(arguments, number, wire, interface)
    if any(wire.state in JOINED_STATES for wire, _ in wires):
        _add(arguments.before, JOINED_BEFORE)
        _add(arguments.avoid, JOINED_AVOID)


def give_plain(arguments, board):
    """A NIC that gains nothing by net_octo: its PFs need drivers, and may be in use."""
    arguments.why = "the program has the NIC without net_octo, which would gain nothing"
    for pf in board.pfs:
        _add(arguments.before, [f"{f.about} {f.text}" for f in check_pfs.check_routes(pf)])
        for finding in check_pfs.check_driver(pf):
            _add(arguments.before, finding.todo)
