# SPDX-License-Identifier: BSD-3-Clause
"""Kernel drivers, as DPDK sees them. Pure."""

# DPDK's driver works beside the kernel's, on the same PF ("bifurcated").
# By PCI vendor: NVIDIA (Mellanox). Device ids of ConnectX-3 belong to mlx4.
MELLANOX = "15b3"
MLX4_IDS = ("15b3:1003", "15b3:1004", "15b3:1007")

UIO = ("uio_pci_generic", "igb_uio")
USER_DRIVERS = ("vfio-pci", *UIO)


def kernel_driver(pf):
    """The kernel driver that DPDK needs the PF to stay with, or None."""
    if not pf.ids.startswith(MELLANOX):
        return None
    return "mlx4_core" if pf.ids in MLX4_IDS else "mlx5_core"


def is_bound(pf):
    """Is its driver one that DPDK can use it by?"""
    needed = kernel_driver(pf)
    return pf.driver == needed if needed else pf.driver in USER_DRIVERS
