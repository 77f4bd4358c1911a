# SPDX-License-Identifier: BSD-3-Clause
"""A shell in the machine of two igb, for developers: ./octo test vm --shell."""

import subprocess
import sys
import tempfile
from pathlib import Path

from octotest import env

from . import initramfs, qemu
from .guest import Guest
from .wire import Wire

GREETING = """\
Two igb, bound to vfio-pci: {pfs}
{testpmd} -a 0000:00:00.0 -l 0-2 --vdev=net_octo0,pf={pfs0},pf={pfs1} -- -i --rxq=2 --txq=2
Leave by exit: the machine is gone then.
"""


def main() -> int:
    """The shell's exit status."""
    wire = Wire()
    with tempfile.TemporaryDirectory(prefix="octovm-") as base:
        initrd = initramfs.build(Path(base) / "initrd")
        pfs = [wire.nic(i, "igb", "02:0c:70:00:00:01") for i in range(2)]
        machine = qemu.Qemu(qemu.Machine(pfs=pfs), initramfs.kernel_image(), initrd)
        try:
            guest = Guest(machine)
            guest.bind_vfio()
            first, second = guest.machine.addresses()
            print(GREETING.format(pfs=f"{first} {second}", pfs0=first, pfs1=second,
                                  testpmd=env.find_built("octo-testpmd")))
            return subprocess.call([*guest.prefix(1), "sh", "-i"])
        finally:
            machine.close()
            wire.close()


if __name__ == "__main__":
    sys.exit(main())
