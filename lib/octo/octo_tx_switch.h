/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TX_SWITCH_H
#define OCTO_TX_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * When a Tx queue may go from one PF to another: not before the old PF has sent
 * what it got, or packets of a flow would overtake each other. No device and no
 * clock: time is the caller's TSC.
 *
 * At first the old PF goes on being fed, in the hope that its ring is found empty
 * between two bursts; a busy queue's never is, so after the grace time it gets
 * nothing any more and has to drain.
 */

/** Descriptors that are asked for. */
#define OCTO_TX_PROBES 5

/** The ring that has to drain. */
enum octo_tx_report {
	OCTO_TX_EMPTY, /**< all that was in it has been sent */
	OCTO_TX_QUIET, /**< maybe so: it is, when it has been quiet for the grace time */
	OCTO_TX_BUSY,  /**< it holds packets */
};

enum octo_tx_step {
	OCTO_TX_FEED,  /**< send by the old PF */
	OCTO_TX_HOLD,  /**< send by none */
	OCTO_TX_GO,    /**< send by the new PF */
	OCTO_TX_FORCE, /**< the same, though the old one has not drained: it never will */
};

struct octo_tx_switch {
	uint64_t since; /**< TSC; when the queue was to switch */
	uint64_t quiet; /**< TSC; since when the old ring is not known to have held anything */
	bool held;      /**< the old PF gets nothing any more */
};

struct octo_tx_limits {
	uint64_t grace; /**< TSC cycles; a ring that is quiet for so long is empty */
	uint64_t stuck; /**< TSC cycles; one that is busy for so long is stuck */
};

/** The offset of a descriptor that rte_eth_tx_descriptor_status() is to be asked for. */
__rte_internal
uint16_t octo_tx_switch_probe(unsigned int i, uint16_t nb_desc);

/**
 * What the answers mean. PMDs differ: most look at the descriptor itself, where
 * the last that was used is at the greatest offset, and round it up to one that the
 * hardware reports; mlx5 counts from the oldest, and need not hear of the last few.
 *
 * @param full
 *   A bit for each probe: RTE_ETH_TX_DESC_FULL.
 * @param coarse
 *   The hardware reports only some of the descriptors.
 */
__rte_internal
enum octo_tx_report octo_tx_switch_report(uint32_t full, bool coarse);

/** The queue is to switch. */
__rte_internal
void octo_tx_switch_begin(struct octo_tx_switch *s, uint64_t now);

/** What is to be done with the packets that come now. */
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
