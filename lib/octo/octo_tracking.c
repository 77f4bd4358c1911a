/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_common.h>

#include "octo_tracking.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_hysteresis_restart)
void
octo_hysteresis_restart(struct octo_hysteresis *d, uint64_t now)
{
	const uint64_t stayed = octo_elapsed(d->went, now);

	if (d->length == 0 || stayed >= 8 * d->length)
		d->length = d->base;
	else if (stayed < 2 * d->length)
		d->length = RTE_MIN(2 * d->length, OCTO_HYSTERESIS_MAX * d->base);
	d->went = now;
}

static enum octo_tracking_step
plan(struct octo_tracking *w, int node, uint32_t generation)
{
	w->node = (int16_t)node;
	w->generation = generation;
	w->elsewhere = 0;
	return OCTO_TRACKING_PLAN;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tracking_check)
enum octo_tracking_step
octo_tracking_check(struct octo_tracking *w, int node, uint32_t generation, uint64_t now)
{
	if (w->node < 0 || generation != w->generation)
		return plan(w, node, generation);
	if (node == w->node) {
		w->elsewhere = 0;
		return OCTO_TRACKING_STAY;
	}
	/* the home has just changed: flows do not move again until the hysteresis is over */
	if (!octo_hysteresis_is_over(&w->hysteresis, now))
		return OCTO_TRACKING_STAY;
	if (++w->elsewhere < OCTO_TRACKING_SURE)
		return OCTO_TRACKING_CHECK_AGAIN;
	return plan(w, node, generation);
}
