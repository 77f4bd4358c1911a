/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_ring_plan.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_ring_has_room)
bool
octo_ring_has_room(const struct octo_ring_demand *demand)
{
	return demand->rx + demand->tx + demand->caches + demand->others <= demand->size;
}

/* Mbufs for each ring, when the other uses have theirs. */
static uint64_t
fit(const struct octo_ring_demand *demand)
{
	const uint64_t rest = demand->tx + demand->caches + demand->others;

	if (demand->rings == 0 || demand->size <= rest)
		return 0;
	return (demand->size - rest) / demand->rings;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ring_share)
uint16_t
octo_ring_share(uint16_t wanted, uint16_t nb_rings, const struct octo_ring_demand *demand,
		const struct octo_ring_limits *limits)
{
	const uint32_t step = RTE_MAX(limits->align, 1);
	const uint32_t min = (RTE_MAX(limits->min, step) + step - 1) / step * step;
	uint64_t share = wanted / nb_rings;

	if (demand != NULL)
		share = RTE_MAX(share, fit(demand));
	share = RTE_MIN(share, wanted);
	if (rte_is_power_of_2(wanted) && share > 0)
		share = rte_align64prevpow2(share);
	else
		share = share / step * step;
	return (uint16_t)RTE_MIN(RTE_MAX(share, min), wanted);
}
