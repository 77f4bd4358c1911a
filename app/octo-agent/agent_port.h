/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_PORT_H
#define AGENT_PORT_H

#include <stdint.h>

#include <rte_mempool.h>

#include "agent_options.h"

/**
 * @file
 * The hardware of a PF: any ethdev, by what all ethdevs have. mpsim's are
 * those whose NIC has an MPFS.
 */

/** Buffers that a PF keeps at most, on its rings and on the way. */
uint32_t agent_port_buffers(const struct agent_pf_options *options);

/** @return 0, or a negative errno after a message. */
int
agent_port_start(const struct agent_pf_options *options, struct rte_mempool *pool, uint16_t *port);
void agent_port_stop(uint16_t port);

/** Spread by RSS over the queues that have a consumer; none: as before. */
void agent_port_spread(const char *name, uint16_t port, const uint16_t *queues, uint16_t nb);

#endif /* AGENT_PORT_H */
