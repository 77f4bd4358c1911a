/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TRACKING_H
#define OCTO_TRACKING_H

#include <stdint.h>

#include <rte_compat.h>

#include "octo_hysteresis.h"

/**
 * @file
 * Poller tracking: from which node a queue is polled, or sent, and when its home is to change.
 * The node is checked rarely as long as nothing changes; a poller that is seen on another node
 * is checked in each burst until that is certain. No device and no clock.
 */

/** Number of checks in a row that must agree. */
#define OCTO_TRACKING_SURE 4

/** Zeroed memory with a node of -1 is a valid start. */
struct octo_tracking {
	struct octo_hysteresis hysteresis;
	int16_t node;        /**< node for which the home was planned; -1 at first */
	uint8_t elsewhere;   /**< checks in a row that found another node */
	uint32_t generation; /**< of the plan that was used last */
};

enum octo_tracking_step {
	OCTO_TRACKING_STAY,
	OCTO_TRACKING_CHECK_AGAIN, /**< check again in the next burst */
	OCTO_TRACKING_PLAN,        /**< find the home in the plan */
};

/**
 * Account for a check.
 *
 * @param node
 *   From which the queue is polled.
 * @param generation
 *   Of the plan: a change of the PFs takes effect at once.
 */
__rte_internal
enum octo_tracking_step
octo_tracking_check(struct octo_tracking *w, int node, uint32_t generation, uint64_t now);

/** The plan's home is not live so far: plan again at the next check. */
static inline void
octo_tracking_plan_again(struct octo_tracking *w)
{
	w->generation--;
}

#endif /* OCTO_TRACKING_H */
