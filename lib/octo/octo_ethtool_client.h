/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_CLIENT_H
#define OCTO_ETHTOOL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_agent_addr.h"
#include "octo_credit.h"
#include "octo_ethtool_msg.h"

/**
 * @file
 * The connection of a port to the agent that sends its requests to the kernel. The agent removes
 * all rules and gives the RETA back when the connection ends. It is not trusted: its answers are
 * checked, and an agent that is slow is given up, see octo_credit.h. One thread at a time.
 */

struct octo_ethtool_client {
	struct octo_agent_addr addr; /**< of a unix socket */
	uint32_t ifindex;
	int fd;            /**< -1: away */
	bool is_welcome;   /**< the agent has accepted hello */
	bool has_answered; /**< and a request after it */
	bool was_lost;     /**< a session has ended since octo_ethtool_client_poll() */
	uint64_t deadline; /**< TSC; of the answer to hello, or until then it is not tried again */
	struct octo_credit credit;
	char why[96]; /**< why the agent is away */
	struct octo_ethtool_msg msg;
};

enum octo_ethtool_client_event {
	OCTO_ETHTOOL_CLIENT_NOTHING,
	OCTO_ETHTOOL_CLIENT_LOST,  /**< a session has ended, and all that was set with it */
	OCTO_ETHTOOL_CLIENT_BEGUN, /**< a session has begun */
};

/** Initialise, without a connection. octo_ethtool_client_is_addr() holds for the address. */
void octo_ethtool_client_init(struct octo_ethtool_client *c, const char *addr, uint32_t ifindex);

/** Is it "unix:PATH"? Else @p why is filled. */
__rte_internal
bool octo_ethtool_client_is_addr(const char *addr, char *why, size_t why_len);

/** End the connection. */
void octo_ethtool_client_fini(struct octo_ethtool_client *c);

/** Connect, and wait for the agent's answer for a second at most. */
void octo_ethtool_client_connect(struct octo_ethtool_client *c);

/** Notice the end of a session; without one, try to begin one each second. Never waits. */
__rte_internal
enum octo_ethtool_client_event octo_ethtool_client_poll(struct octo_ethtool_client *c);

/**
 * Have the agent send a request to the kernel. The answer is in its place.
 *
 * @return
 *   0 or a negative errno; -ENOTCONN: the agent is away.
 */
int octo_ethtool_client_io(struct octo_ethtool_client *c, void *request);

#endif /* OCTO_ETHTOOL_CLIENT_H */
