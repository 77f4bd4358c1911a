/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_STEER_H
#define AGENT_STEER_H

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "agent_options.h"

/**
 * @file
 * The agent as what programs the MPFS: its ports of the switch, the rules, and
 * the ear for the port that asks for them. Main thread.
 */

struct agent_rules;
struct agent_server;

struct agent_steer {
	struct agent_rules *rules;
	struct agent_server *server;
	uint16_t nb_ports; /**< uplink and representors that were started */
	uint16_t port[AGENT_MAX_PFS + 1];
};

/**
 * Begin to steer as the options say; nothing happens without --listen.
 *
 * @param pf_port
 *   The PFs' own ethdevs, RTE_MAX_ETHPORTS where another program has them.
 * @return
 *   0, or a negative errno after a message.
 */
int agent_steer_start(struct agent_steer *steer, const struct agent_options *options,
		      const uint16_t *pf_port, struct rte_mempool *pool);

/** Stop listening, and take all rules back. Harmless if nothing was started. */
void agent_steer_stop(struct agent_steer *steer);

#endif /* AGENT_STEER_H */
