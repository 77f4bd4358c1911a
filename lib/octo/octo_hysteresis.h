/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_HYSTERESIS_H
#define OCTO_HYSTERESIS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_elapsed.h"

/**
 * @file
 * Hysteresis: how long a queue keeps its home, so that a thread that goes back and forth
 * between sockets does not take the queue's flows along each time. Pure functions; time is the
 * caller's TSC.
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

#endif /* OCTO_HYSTERESIS_H */
