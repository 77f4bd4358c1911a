/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_LISTEN_H
#define AGENT_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "octo_agent_addr.h"

/**
 * @file
 * Where the agent listens. A unix socket's permissions (0600, or 0660 and a group) keep others out;
 * behind TCP there is whoever reaches the address, and only a secret tells them apart.
 */

/** What TCP is allowed to be, and what a unix socket is. */
struct agent_listen_policy {
	bool remote;        /**< TCP: an address that other machines can reach */
	bool anyone;        /**< TCP: served without a secret */
	bool packets;       /**< unix: SOCK_SEQPACKET */
	const gid_t *group; /**< unix: that may connect, too; NULL: none */
};

/** Where the agent listens now. */
struct agent_ear {
	int fd;    /**< -1: nowhere */
	dev_t dev; /**< of the unix socket */
	ino_t ino;
};

/**
 * Listen on a unix or TCP address. A unix socket on which nobody listens is replaced, one
 * that another agent has is not, also if both begin at once.
 *
 * @param why
 *   Filled with what is wrong, for people, on failure.
 * @return
 *   0, or a negative errno.
 */
int agent_listen_open(struct agent_ear *ear, const struct octo_agent_addr *addr,
		      const struct agent_listen_policy *policy, char *why, size_t why_len);

/** Stop listening; a unix socket disappears, unless it is somebody else's by now. */
void agent_listen_close(struct agent_ear *ear, const struct octo_agent_addr *addr);

/**
 * Keep other agents from making or replacing sockets beside this one.
 *
 * @return
 *   What agent_listen_unlock() takes, or a negative errno.
 */
int agent_listen_lock(const char *path);
void agent_listen_unlock(int lock);

#endif /* AGENT_LISTEN_H */
