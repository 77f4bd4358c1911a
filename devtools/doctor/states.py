# SPDX-License-Identifier: BSD-3-Clause
"""Decides how the kernel presents the PFs of a wire together. Pure."""

import re

from . import drivers

JOINED = "joined"  # in one netdev, whose channels are on the PFs in turn
HALF_JOINED = "half-joined"  # to be joined, and a PF is missing: none of them has a netdev
SHARED = "shared switch"  # one E-Switch for all PFs, in switchdev mode: its rules reach any VF
SWITCHDEV = "switchdev"  # an E-Switch for each PF, in switchdev mode
APART = "apart"  # a netdev for each PF
OTHER = "other"  # not mlx5: the PFs are not the kernel's

MPESW = "multiport_eswitch"  # mlx5's word for it in debugfs
SD_FDB = "sd_fdb"  # ours, of a Socket Direct group whose sd_lag_state is active


def is_driven(pf):
    """Does the kernel's mlx5 have it?"""
    return pf.driver == "mlx5_core"


def _switch_ids(pf):
    return {n.switch_id for n in (*pf.netdevs, *pf.representors)} - {None}


def _is_shared(pfs):
    """By debugfs; for users other than root by representors that have the same switch id.

    That is made of the card's GUID, and may be the same without a shared switch.
    """
    if all(p.lag == MPESW for p in pfs) or all(p.lag == SD_FDB for p in pfs):
        return True
    if all(p.debugfs for p in pfs):
        return False
    ids = [_switch_ids(p) for p in pfs]
    return all(p.representors for p in pfs) and bool(set.intersection(*ids))


def of_wire(pfs):
    """PFs of a group that is not complete have no netdev; a single one may lack it otherwise."""
    if any(drivers.kernel_driver(p) != "mlx5_core" for p in pfs):
        return OTHER
    if len(pfs) > 1 and _is_shared(pfs):
        return SHARED  # channels of a joined netdev are all on its primary then
    if any(p.joined_to for p in pfs):
        return JOINED
    driven = [p for p in pfs if is_driven(p)]
    if len(pfs) > 1 and driven and not any(p.netdevs for p in driven):
        return HALF_JOINED
    return SWITCHDEV if any(p.representors for p in pfs) else APART


def in_channel_order(pfs):
    """Channel i of a joined netdev is on PF i modulo their number, of which the primary is 0."""
    return sorted(pfs, key=lambda p: (p.joined_to != p.address, p.address))


def _vfs_of(pf):
    """(number, address, representor) of the VFs that an octo port can be made of."""
    reps = {}
    for netdev in pf.representors:
        match = re.fullmatch(r"pf[0-9]+vf([0-9]{1,5})", netdev.port_name or "")
        if match:
            reps[int(match[1])] = netdev
    return [(n, a, reps[n]) for n, a in sorted(pf.own_vfs.items()) if n in reps]


def vfs(pfs):
    """One of _vfs_of() each PF, or nothing.

    mlx5 makes an ethdev of the first of equally named representors: one of a later PF should have
    a name that no earlier PF has.
    """
    chosen, taken = [], set()
    for pf in pfs:
        own = _vfs_of(pf)
        if not own:
            return []
        chosen.append(next((vf for vf in own if vf[2].port_name not in taken), own[0]))
        taken.update(n.port_name for n in pf.representors)
    return chosen


def vfs_collide(pfs):
    """Are representors of these VFs called the same?"""
    return len({rep.port_name for _, _, rep in vfs(pfs)}) < len(vfs(pfs))
