/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_NETDEV_H
#define AGENT_NETDEV_H

#include <net/if.h>
#include <stdint.h>

#include "octo_ethtool_msg.h"

/**
 * @file
 * What the agent does to its netdev for a port that has no CAP_NET_ADMIN. A request is checked, and
 * then executed as net_octo does it in its own process (octo_ethtool_table.h): to the port the
 * agent looks like a driver that chooses the locations of rules, and whose table has no rules but
 * the port's own. No sockets here. One thread.
 */

struct octo_ethtool;

struct agent_netdev {
	char name[IF_NAMESIZE];
	char dir[256]; /**< of the journal */
	uint32_t ifindex;
	struct octo_ethtool *et; /**< NULL: nobody is served */
};

/**
 * Take the netdev over, and remove what a previous run has left.
 *
 * @return
 *   0 or a negative errno: there is no such netdev, or neither its rules nor its RETA can be set.
 */
int agent_netdev_take(struct agent_netdev *netdev);

/** Remove all rules, and give the RETA back: 0, or why something stays. Harmless if not taken. */
int agent_netdev_give_back(struct agent_netdev *netdev);

/** Is the port of this netdev? Returns 0 or a negative errno. */
int
agent_netdev_check_hello(const struct agent_netdev *netdev, const struct octo_ethtool_hello *hello);

/**
 * Execute a request, whose answer is in its place; its length was checked.
 *
 * @return
 *   0 or a negative errno.
 */
int agent_netdev_execute(struct agent_netdev *netdev, struct octo_ethtool_msg *msg);

#endif /* AGENT_NETDEV_H */
