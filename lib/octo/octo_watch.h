/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_WATCH_H
#define OCTO_WATCH_H

#include <stdint.h>

#include <rte_compat.h>

#include "octo_dwell.h"

/**
 * @file
 * Poller tracking: from which node a queue is polled, or sent, and when its home is to change.
 * The node is checked rarely as long as nothing changes; a poller that is seen on another node
 * is checked in each burst until that is certain. No device and no clock.
 */

/** Number of checks in a row that must agree. */
#define OCTO_WATCH_SURE 4

/** Zeroed memory with a node of -1 is a valid start. */
struct octo_watch {
	struct octo_dwell dwell;
	int16_t node;        /**< node for which the home was planned; -1 at first */
	uint8_t elsewhere;   /**< checks in a row that found another node */
	uint32_t generation; /**< of the plan that was used last */
};

enum octo_watch_step {
	OCTO_WATCH_STAY,
	OCTO_WATCH_LOOK_AGAIN, /**< check again in the next burst */
	OCTO_WATCH_PLAN,       /**< find the home in the plan */
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
enum octo_watch_step
octo_watch_look(struct octo_watch *w, int node, uint32_t generation, uint64_t now);

/** The plan's home is not live so far: plan again at the next check. */
static inline void
octo_watch_ask_again(struct octo_watch *w)
{
	w->generation--;
}

#endif /* OCTO_WATCH_H */
