/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_IO_H
#define OCTO_ETHTOOL_IO_H

#include <stdint.h>

/**
 * @file
 * The way to the kernel's ethtool functions. Port tests replace octo_ethtool_io(): they have a
 * kernel of their own.
 */

/** A socket of the network namespace of this thread, or a negative errno. */
int octo_ethtool_io_open(void);

/**
 * Send one request about a netdev, which may be renamed at any time. The answer is in its place.
 * Returns 0 or a negative errno.
 */
int octo_ethtool_io(int fd, uint32_t ifindex, void *request);

#endif /* OCTO_ETHTOOL_IO_H */
