/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_common.h>

#include "octo_stray.h"

/* What vector PMDs hand out at least (i40e, ixgbe, iavf, mlx5: four descriptors a step). */
#define VECTOR_STEP 4

uint16_t
octo_stray_quota(uint16_t nb)
{
	if (nb >= 4 * VECTOR_STEP)
		return RTE_ALIGN_FLOOR(nb / 4, VECTOR_STEP);
	return RTE_MIN(nb, VECTOR_STEP);
}

/* In small bursts the quota is more than a quarter: make up for it by waiting. */
static uint8_t
interval_while_yielding(uint16_t nb)
{
	const uint16_t quota = octo_stray_quota(nb);

	return nb == 0 ? 1 : (4 * quota + nb - 1) / nb;
}

void
octo_stray_polled(struct octo_stray *s, uint8_t leg, uint16_t nb, uint16_t got)
{
	if (got > 0)
		s->interval[leg] = interval_while_yielding(nb);
	else
		s->interval[leg] = RTE_MIN(RTE_MAX(s->interval[leg], 1) * 2,
					   OCTO_STRAY_MAX_INTERVAL);
	s->leg_due[leg] = s->now + s->interval[leg];
}

void
octo_stray_plan(struct octo_stray *s, uint32_t legs)
{
	s->due = s->now + OCTO_STRAY_MAX_INTERVAL;
	for (uint8_t leg = 0; leg < OCTO_STRAY_MAX_LEGS; leg++)
		if ((legs & RTE_BIT32(leg)) && !octo_stray_reached(s->leg_due[leg], s->due))
			s->due = s->leg_due[leg];
	s->first = (s->first + 1) % OCTO_STRAY_MAX_LEGS;
}
