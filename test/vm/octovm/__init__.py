# SPDX-License-Identifier: BSD-3-Clause
"""A QEMU machine with two CPU sockets, and what runs in it."""
