/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TRACKING_H
#define OCTO_TRACKING_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_elapsed.h"

/**
 * @file
 * Poller tracking: from which node a queue is polled, or sent, and when its home is to change.
 * The node is checked rarely as long as nothing changes; a poller that is seen on another node
 * is checked in each burst until that is certain. With hysteresis a queue keeps its home for a
 * while, so that a thread that goes back and forth between sockets does not take the queue's flows
 * along each time. No device and no clock; time is the caller's TSC.
 */

/** Largest factor by which the time grows over its base. */
#define OCTO_HYSTERESIS_MAX 256

/** Zeroed memory with a base is a valid start. */
struct octo_hysteresis {
	uint64_t base;   /**< cycles; 0: no hysteresis */
	uint64_t length; /**< cycles for which the present home is kept */
	uint64_t went;   /**< TSC of the last change; valid if length is not 0 */
};

/** Has the home been kept for long enough? */
static inline bool
octo_hysteresis_is_over(const struct octo_hysteresis *d, uint64_t now)
{
	return octo_elapsed(d->went, now) >= d->length;
}

/**
 * The home changes. If the last change is less than twice the length ago, the length doubles;
 * if it is eight times the length ago or more, the length is reset to the base.
 */
__rte_internal
void octo_hysteresis_restart(struct octo_hysteresis *d, uint64_t now);

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
