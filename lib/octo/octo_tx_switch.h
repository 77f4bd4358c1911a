/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TX_SWITCH_H
#define OCTO_TX_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * When a Tx queue may switch from one PF to another: not before the old PF has sent its
 * packets, or packets of a flow would be reordered. No device and no clock: time is the
 * caller's TSC.
 *
 * At first packets still go to the old PF, as its ring may be found empty between two bursts.
 * The ring of a busy queue never is, so after the grace time the old PF gets no more packets
 * and has to drain.
 */

/** Number of descriptors whose status is queried. */
#define OCTO_TX_PROBES 5

/** State of the ring that has to drain. */
enum octo_tx_report {
	OCTO_TX_EMPTY, /**< all its packets have been sent */
	OCTO_TX_QUIET, /**< empty if it stays in this state for the grace time */
	OCTO_TX_BUSY,  /**< it holds packets */
};

enum octo_tx_step {
	OCTO_TX_FEED,  /**< send by the old PF */
	OCTO_TX_HOLD,  /**< send by none */
	OCTO_TX_GO,    /**< send by the new PF */
	OCTO_TX_FORCE, /**< send by the new PF, although the old one is stuck and never drains */
};

struct octo_tx_switch {
	uint64_t since; /**< TSC at which the switch began */
	uint64_t quiet; /**< TSC since which the old ring is not known to hold packets */
	bool held;      /**< the old PF gets no more packets */
};

struct octo_tx_limits {
	uint64_t grace; /**< TSC cycles after which a quiet ring is empty */
	uint64_t stuck; /**< TSC cycles after which a busy ring is stuck */
};

/** Offset of probe i, for rte_eth_tx_descriptor_status(). */
__rte_internal
uint16_t octo_tx_switch_probe(unsigned int i, uint16_t nb_desc);

/**
 * Evaluate the probes. PMDs differ: most check the descriptor itself, where the last used one
 * is at the greatest offset, and round it up to one that the hardware reports; mlx5 counts from
 * the oldest, and may not see the last few.
 *
 * @param full
 *   A bit for each probe: RTE_ETH_TX_DESC_FULL.
 * @param coarse
 *   The hardware reports only some of the descriptors.
 */
__rte_internal
enum octo_tx_report octo_tx_switch_report(uint32_t full, bool coarse);

/** Begin a switch. */
__rte_internal
void octo_tx_switch_begin(struct octo_tx_switch *s, uint64_t now);

/** Decide how the packets of this burst are sent. */
__rte_internal
enum octo_tx_step octo_tx_switch_step(struct octo_tx_switch *s, enum octo_tx_report report,
				      uint64_t now, const struct octo_tx_limits *limits);

/** The old PF got packets. */
static inline void
octo_tx_switch_fed(struct octo_tx_switch *s, uint64_t now)
{
	s->quiet = now;
}

#endif /* OCTO_TX_SWITCH_H */
