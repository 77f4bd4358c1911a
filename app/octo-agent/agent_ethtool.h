/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_ETHTOOL_H
#define AGENT_ETHTOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * @file
 * The agent of a netdev: it listens at a unix socket and executes what one port at a time asks
 * for. When the port's connection ends, its rules are removed and the RETA is given back. One
 * thread.
 *
 * A connection is a guest until its hello is accepted. Guests cannot keep a port out, however many
 * there are and whatever they say.
 */

struct agent_ethtool_config {
	const char *netdev;
	const char *listen; /**< unix:PATH */
	const char *dir;    /**< of the journal */
	const gid_t *group; /**< that may connect as well as this user; NULL: none */
};

struct agent_ethtool;

/**
 * Begin to listen.
 *
 * @param why
 *   Filled with what is wrong, for people, on failure.
 * @return
 *   0, or a negative errno.
 */
int agent_ethtool_open(const struct agent_ethtool_config *config, struct agent_ethtool **agent,
		       char *why, size_t why_len);

/** End all connections. */
void agent_ethtool_close(struct agent_ethtool *agent);

/**
 * One look at all connections: a bounded number of requests of each.
 *
 * @param timeout_ms
 *   How long to wait for something to look at.
 */
void agent_ethtool_step(struct agent_ethtool *agent, int timeout_ms);

#endif /* AGENT_ETHTOOL_H */
