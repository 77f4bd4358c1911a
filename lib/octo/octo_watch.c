/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdbool.h>

#include <eal_export.h>

#include "octo_watch.h"

static enum octo_watch_step
plan(struct octo_watch *w, int node, uint32_t generation)
{
	w->node = (int16_t)node;
	w->generation = generation;
	w->elsewhere = 0;
	return OCTO_WATCH_PLAN;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_watch_look)
enum octo_watch_step
octo_watch_look(struct octo_watch *w, int node, uint32_t generation, uint64_t now)
{
	if (w->node < 0 || generation != w->generation)
		return plan(w, node, generation);
	if (node == w->node) {
		w->elsewhere = 0;
		return OCTO_WATCH_STAY;
	}
	/* the home has just changed: flows do not move again until the hysteresis is over */
	if (!octo_dwell_is_over(&w->dwell, now))
		return OCTO_WATCH_STAY;
	if (++w->elsewhere < OCTO_WATCH_SURE)
		return OCTO_WATCH_LOOK_AGAIN;
	return plan(w, node, generation);
}
