/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RING_PLAN_H
#define OCTO_RING_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * Sizes of the Rx rings of a queue, which has one on each PF. Many PMDs keep their rings filled
 * with mbufs: with N PFs an application that sized its mempool for one ring per queue would find
 * it empty. Pure functions.
 */

/** Which rings a queue has. */
enum octo_ring_mode {
	OCTO_RINGS_AUTO,   /**< full if the mempools are large enough for it, else shared */
	OCTO_RINGS_FULL,   /**< on each PF as many descriptors as were asked for */
	OCTO_RINGS_SHARED, /**< the descriptors that were asked for are shared out among the PFs */
};

/** Uses of a mempool, in mbufs, and the rings that are to be filled from it. */
struct octo_ring_demand {
	uint64_t size;   /**< of the mempool */
	uint64_t rx;     /**< in the Rx rings of all PFs, if they are full */
	uint64_t tx;     /**< in Tx rings: one per queue, as applications reckon */
	uint64_t caches; /**< in caches of lcores */
	uint64_t others; /**< in the rings of other ports */
	uint32_t rings;  /**< number of the Rx rings */
};

/** What PFs accept as the size of a ring, in descriptors. */
struct octo_ring_limits {
	uint16_t min;
	uint16_t align; /**< 0 is as 1 */
};

/** Is the mempool large enough for full rings? */
__rte_internal
bool octo_ring_has_room(const struct octo_ring_demand *demand);

/**
 * Descriptors of each ring of a queue, if they are not full.
 *
 * @param wanted
 *   Number of descriptors that the application asked for.
 * @param nb_rings
 *   Number of the queue's rings, at least 1.
 * @param demand
 *   Of the mempool, whose mbufs are shared out; NULL: share out only the wanted descriptors.
 * @return
 *   A power of two if `wanted` is one, as some PMDs round others up; at most `wanted`, and not 0
 *   unless `wanted` is.
 */
__rte_internal
uint16_t octo_ring_share(uint16_t wanted, uint16_t nb_rings, const struct octo_ring_demand *demand,
			 const struct octo_ring_limits *limits);

#endif /* OCTO_RING_PLAN_H */
