/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_WATCH_H
#define OCTO_WATCH_H

#include <stdint.h>

#include <rte_compat.h>

#include "octo_dwell.h"

/**
 * @file
 * From which node a queue is polled, or sent from, and when it is to follow. Looks
 * are rare as long as everything is as before; who is seen on another node is
 * looked at in each burst until that is certain. No device and no clock.
 */

/** So many looks in a row must agree. */
#define OCTO_WATCH_SURE 4

/** Zeroed memory with a node of -1 is a valid start. */
struct octo_watch {
	struct octo_dwell dwell;
	int16_t node;        /**< that the queue has followed to; -1 at first */
	uint8_t elsewhere;   /**< looks in a row that found another node */
	uint32_t generation; /**< of the plan that was last asked */
};

enum octo_watch_step {
	OCTO_WATCH_STAY,
	OCTO_WATCH_LOOK_AGAIN, /**< in the next burst */
	OCTO_WATCH_PLAN,       /**< find out where the home is now */
};

/**
 * Somebody looked.
 *
 * @param node
 *   That the queue is polled from.
 * @param generation
 *   Of the plan: a change of the PFs waits for nothing.
 */
__rte_internal
enum octo_watch_step
octo_watch_look(struct octo_watch *w, int node, uint32_t generation, uint64_t now);

/** The plan leads to where nothing can be had yet: ask again. */
static inline void
octo_watch_ask_again(struct octo_watch *w)
{
	w->generation--;
}

#endif /* OCTO_WATCH_H */
