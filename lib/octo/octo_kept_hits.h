/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_KEPT_HITS_H
#define OCTO_KEPT_HITS_H

#include <stdint.h>

#include <rte_compat.h>

#include "octo_life.h"
#include "octo_plan.h"

/**
 * @file
 * The sum of a counter that exists once per PF. If a PF is lost, or its counter is created
 * again, the last value read from it stays in the sum, so that the sum never decreases.
 */

struct octo_hits {
	uint64_t hits;
	uint64_t bytes;
};

/** Zeroed memory is a valid start. */
struct octo_kept_hits {
	struct octo_hits gone; /**< of counters that do not exist any more */
	struct {
		struct octo_handle counter; /**< the object it was read from */
		struct octo_hits hits;
	} last[OCTO_PLAN_MAX_PFS + 1];
};

/** In place of a PF: the counter of the rule that leads the flow to a PF, where that counts. */
#define OCTO_KEPT_HITS_LEAD OCTO_PLAN_MAX_PFS

/** The counter of this PF's object was read; the handle is only compared. */
__rte_internal
void octo_kept_hits_read(struct octo_kept_hits *k, uint8_t pf, const struct octo_handle *counter,
			 struct octo_hits now);

/** The counter is gone: a later one of the same life may have the same address. */
__rte_internal
void octo_kept_hits_end(struct octo_kept_hits *k, uint8_t pf);

/** The sum over all PFs, including those that are gone. */
__rte_internal
struct octo_hits octo_kept_hits_sum(const struct octo_kept_hits *k);

#endif /* OCTO_KEPT_HITS_H */
