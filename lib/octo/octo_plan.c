/* SPDX-License-Identifier: BSD-3-Clause */

#include <limits.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_plan.h"

#define DISTANCE_LOCAL 10
#define DISTANCE_REMOTE 20

RTE_EXPORT_INTERNAL_SYMBOL(octo_plan_flat_distance)
int
octo_plan_flat_distance(int node_a, int node_b)
{
	return node_a == node_b ? DISTANCE_LOCAL : DISTANCE_REMOTE;
}

static int
pf_distance(const struct octo_plan_pfs *pfs, uint16_t pf, int node, octo_plan_distance_t distance)
{
	int d;

	if (!(pfs->usable & RTE_BIT32(pf)))
		return INT_MAX;
	if (node < 0)
		return DISTANCE_LOCAL;
	if (pfs->node[pf] < 0)
		return INT_MAX - 1;
	d = distance(node, pfs->node[pf]);
	/* libnuma says 0 of a node that the machine does not have */
	return d > 0 ? d : octo_plan_flat_distance(node, pfs->node[pf]);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_plan_home)
int
octo_plan_home(const struct octo_plan_pfs *pfs, int node, uint16_t queue,
	       octo_plan_distance_t distance)
{
	uint16_t nearest[OCTO_PLAN_MAX_PFS];
	uint16_t nb_nearest = 0;
	int best = INT_MAX;

	for (uint16_t pf = 0; pf < pfs->nb; pf++) {
		int d = pf_distance(pfs, pf, node, distance);

		if (d == INT_MAX || d > best)
			continue;
		if (d < best)
			nb_nearest = 0;
		best = d;
		nearest[nb_nearest++] = pf;
	}
	return nb_nearest == 0 ? -1 : nearest[queue % nb_nearest];
}
