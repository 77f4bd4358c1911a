# SPDX-License-Identifier: BSD-3-Clause
"""NICs that octo-agent steers, and octo ports over them in another process."""

from pathlib import Path
from typing import List

from . import agent, captured, vdevs
from .agent import Agent
from .testpmd import Testpmd
from .veth import Wire

QUEUES = 2

# kinds of NICs: the agent has the PFs, or an uplink and representors of the PFs, or of VFs
DIRECT, ESWITCH, SHARED_FDB = "direct", "eswitch", "shared-fdb"

# of switchdev-shared, a machine of test/fixtures/doctor: VFs, and netdevs by interface index
VFS = ("0000:16:00.2", "0000:99:00.2")
IFINDEX = {"uplink": 2, "pf0": 4, "pf1": 5}


def representors(nic: str = "A", first: int = 2) -> List[str]:
    """The uplink and a representor of each PF, as netdevs of that machine."""
    return [f"--vdev=net_mpsim{first + i},nic={nic},representor={what},ifindex={IFINDEX[what]}"
            for i, what in enumerate(IFINDEX)]


class Nic:
    """What the tests need of the NIC."""

    def __init__(self, wire: Wire, base: Path, kind: str) -> None:
        self.wire = wire
        self.listens = base / "agent.sock"
        self.sockets = [base / f"pf{i}.sock" for i in range(2)]
        self.machine = base / "machine"
        self._kind = kind
        if kind == SHARED_FDB:
            captured.make("switchdev-shared", self.machine)

    def start(self, *options: object) -> Agent:
        """The agent."""
        args = [f"--vdev=net_af_packet0,iface={self.wire.name}",
                *vdevs.nic("A", wire="net_af_packet0", queues=QUEUES)]
        more = {DIRECT: [{}, {}], ESWITCH: [{"rep": f"net_mpsim{i}"} for i in (3, 4)],
                SHARED_FDB: [{"vf": vf} for vf in VFS]}[self._kind]
        if self._kind != DIRECT:
            args += representors()
            options = ("--uplink=net_mpsim2", *options)
        if self._kind == SHARED_FDB:
            options = (f"--root={self.machine}", *options)
        pfs = [agent.pf(f"net_mpsim{i}", path, queues=QUEUES, **more[i])
               for i, path in enumerate(self.sockets)]
        return Agent(args, pfs, [f"--listen=unix:{self.listens}", *options])

    def octo(self, **more: object) -> Testpmd:
        """A port over it, which sends back what it receives."""
        args = [f"--vdev=net_virtio_user{i},path={path},queues={QUEUES},"
                "mac=02:00:00:00:00:02" for i, path in enumerate(self.sockets)]
        return Testpmd([*args, "--vdev=" + vdevs.octo_devargs(
            0, ["net_virtio_user0@0", "net_virtio_user1@1"],
            agent=f"unix:{self.listens}", **more)],
            ["--auto-start", "--forward-mode=io"])
