/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_stray.h"

/* Least that vector PMDs return (i40e, ixgbe, iavf, mlx5: four descriptors a step). */
#define VECTOR_STEP 4

RTE_EXPORT_INTERNAL_SYMBOL(octo_stray_quota)
uint16_t
octo_stray_quota(uint16_t nb)
{
	if (nb >= 4 * VECTOR_STEP)
		return RTE_ALIGN_FLOOR(nb / 4, VECTOR_STEP);
	return RTE_MIN(nb, VECTOR_STEP);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_stray_polled)
void
octo_stray_polled(struct octo_stray *s, uint8_t leg, uint16_t nb, uint16_t got)
{
	if (got > 0) {
		s->interval[leg] = 1;
		s->active |= RTE_BIT32(leg);
		s->taken += got;
		/*
		 * In small bursts the quota is more than a quarter, and several legs may each
		 * use it: the pause compensates for all of them.
		 */
		s->pause = (4 * s->taken + nb - 1) / nb;
	} else {
		s->active &= ~RTE_BIT32(leg);
		s->interval[leg] = RTE_MIN(RTE_MAX(s->interval[leg], 1) * 2,
					   OCTO_STRAY_MAX_INTERVAL);
	}
	s->leg_due[leg] = s->now + s->interval[leg];
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_stray_plan)
void
octo_stray_plan(struct octo_stray *s, uint32_t legs)
{
	const uint32_t earliest = s->now + s->pause;

	s->due = s->now + OCTO_STRAY_MAX_INTERVAL;
	for (uint8_t leg = 0; leg < OCTO_STRAY_MAX_LEGS; leg++) {
		if (!(legs & RTE_BIT32(leg))) {
			/* keep it from falling so far behind that it seems to be in the future */
			s->leg_due[leg] = s->now;
		} else if (!octo_stray_reached(s->leg_due[leg], s->due)) {
			s->due = s->leg_due[leg];
			s->first = leg;
		}
	}
	if (!octo_stray_reached(s->due, earliest))
		s->due = earliest;
	s->pause = 0;
	s->taken = 0;
}
