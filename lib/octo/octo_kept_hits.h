/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_KEPT_HITS_H
#define OCTO_KEPT_HITS_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

#include "octo_plan.h"

/**
 * @file
 * The sum of a counter that is one on each PF. A PF that is lost, or on which the counter is
 * made again, takes its count along: what was read from it last stays in the sum, so that the
 * sum never goes backwards.
 */

struct octo_hits {
	uint64_t hits;
	uint64_t bytes;
};

/** Zeroed memory is a valid start. */
struct octo_kept_hits {
	struct octo_hits gone; /**< of counters that are not there any more */
	struct {
		const void *counter; /**< that it was read from */
		struct octo_hits hits;
	} last[OCTO_PLAN_MAX_PFS];
};

/** The counter of this PF was read. `counter` is the PF's object, only ever compared. */
__rte_internal
void octo_kept_hits_read(struct octo_kept_hits *k, uint8_t pf, const void *counter,
			 struct octo_hits now);

/** The counter of this PF is gone: a later one may have its address. */
__rte_internal
void octo_kept_hits_end(struct octo_kept_hits *k, uint8_t pf);

/** The sum over all PFs, those that are gone included. */
__rte_internal
struct octo_hits octo_kept_hits_sum(const struct octo_kept_hits *k);

#endif /* OCTO_KEPT_HITS_H */
