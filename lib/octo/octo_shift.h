/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SHIFT_H
#define OCTO_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_config.h>

#include "octo_partition.h"

/**
 * @file
 * How traffic without rules of its own goes from queues to others while nothing is
 * reordered: in steps. In a step no leg of a queue both loses flows and gets some:
 * those that get some are held back until those that lose some are drained, and
 * so none of them waits for itself. A step follows from what is now and what is to
 * be, so that another wish in between just changes where the next ones lead. Pure
 * functions.
 *
 * First the RETAs of PFs that give no parts away, then the parts, then the RETAs of
 * those that gave some: no flow moves twice, and until its new queues are there, a PF
 * gets no more traffic than before. What comes of octo_partition_share() and
 * octo_partition_reta() with `keep` takes three steps, whatever changes.
 */

#define OCTO_SHIFT_MAX_RETA 2048

/** By which PF unsteered traffic comes, and there to which queue. */
struct octo_shift_map {
	uint8_t part[OCTO_PARTITION_PARTS]; /**< PF of each */
	uint8_t rest;                       /**< PF of what is not hashed: it goes to queue 0 */
	uint16_t reta[OCTO_PLAN_MAX_PFS][OCTO_SHIFT_MAX_RETA];
};

struct octo_shift_port {
	uint16_t nb_pfs;
	uint16_t nb_queues;
	uint16_t reta_size; /**< 0: nothing is hashed */
	uint32_t present;   /**< PFs that have rings: bit mask */
	uint32_t usable;    /**< and link; the wish leads to no other */
};

/** Of a queue, in a step: bit masks of PFs. */
struct octo_shift_legs {
	uint8_t held;    /**< flows come there */
	uint8_t drained; /**< flows came there before */
};

/** A step. */
struct octo_shift {
	bool parts;     /**< parts change their PFs, or what is not hashed does */
	uint32_t retas; /**< PFs whose RETA changes: bit mask */
	struct octo_shift_legs legs[RTE_MAX_QUEUES_PER_PORT];
};

/**
 * The next step.
 *
 * @param map
 *   As it is now; and then as it is after the step.
 * @return
 *   Whether there is one.
 */
__rte_internal
bool octo_shift_next(const struct octo_shift_port *port, struct octo_shift_map *map,
		     const struct octo_shift_map *wish, struct octo_shift *shift);

#endif /* OCTO_SHIFT_H */
