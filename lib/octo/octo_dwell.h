/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DWELL_H
#define OCTO_DWELL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_elapsed.h"

/**
 * @file
 * How long a queue stays where it is, for the sake of its flows: a thread that
 * goes back and forth between sockets does not take them along each time. Pure
 * functions; time is the caller's TSC.
 */

/** The time doubles up to so many times the base. */
#define OCTO_DWELL_MAX 256

/** Zeroed memory with a base is a valid start. */
struct octo_dwell {
	uint64_t base;   /**< cycles; 0: it may always go */
	uint64_t length; /**< cycles that it stays after it went */
	uint64_t went;   /**< TSC; only with a length */
};

/** Has it stayed for long enough? */
static inline bool
octo_dwell_is_over(const struct octo_dwell *d, uint64_t now)
{
	return octo_elapsed(d->went, now) >= d->length;
}

/**
 * It goes. If it came less than twice its stay ago, it will stay for twice as long
 * next time; if it had been calm for eight times its stay, for as long as at first.
 */
__rte_internal
void octo_dwell_go(struct octo_dwell *d, uint64_t now);

#endif /* OCTO_DWELL_H */
