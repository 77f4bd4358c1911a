/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_IO_H
#define OCTO_ETHTOOL_IO_H

#include <stdint.h>

/**
 * @file
 * The way to the kernel's ethtool functions. Port tests replace octo_ethtool_io(), as they have a
 * kernel of their own, and octo_ethtool_io_wait(), in which their agent answers.
 */

/** A socket of the network namespace of this thread, or a negative errno. */
int octo_ethtool_io_open(void);

/**
 * Send one request about a netdev, which may be renamed at any time. The answer is in its place.
 * Returns 0 or a negative errno.
 */
int octo_ethtool_io(int fd, uint32_t ifindex, void *request);

/** The network namespace of this process: indices of netdevs are unique in one only. 0: unknown. */
uint64_t octo_ethtool_io_netns(void);

/** Sleep until a socket can be read, or until octo_now() is so much. */
void octo_ethtool_io_wait(int fd, uint64_t until);

#endif /* OCTO_ETHTOOL_IO_H */
