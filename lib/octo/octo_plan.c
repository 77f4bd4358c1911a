/* SPDX-License-Identifier: BSD-3-Clause */

#include <limits.h>
#include <string.h>

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
	/* libnuma returns 0 for a node that the machine does not have */
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

RTE_EXPORT_INTERNAL_SYMBOL(octo_plan_nearest)
int
octo_plan_nearest(const int16_t *nodes, uint16_t nb, int node, octo_plan_distance_t distance)
{
	struct octo_plan_pfs all = {.nb = nb, .usable = RTE_BIT32(nb) - 1};

	memcpy(all.node, nodes, nb * sizeof(*nodes));
	return octo_plan_home(&all, node, 0, distance);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_plan_twins)
bool
octo_plan_twins(const int16_t *nodes, uint16_t nb, uint16_t *first, uint16_t *second)
{
	for (*second = 1; *second < nb; (*second)++)
		for (*first = 0; *first < *second; (*first)++)
			if (nodes[*first] == nodes[*second])
				return true;
	return false;
}

static bool
differ(int node, int pf_node)
{
	return node == OCTO_PLAN_MIXED || (node >= 0 && node != pf_node);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_plan_crossings)
uint32_t
octo_plan_crossings(const struct octo_locality *locality)
{
	if (locality->pf < 0)
		return 0;
	return (differ(locality->ring, locality->pf) ? OCTO_CROSS_RING : 0) |
	       (differ(locality->pool, locality->pf) ? OCTO_CROSS_POOL : 0) |
	       (differ(locality->cpu, locality->pf) ? OCTO_CROSS_CPU : 0);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_plan_crossing_names)
const char *
octo_plan_crossing_names(uint32_t crossings)
{
	static const char *const names[] = {
		"none", "ring", "pool", "ring pool", "cpu", "ring cpu", "pool cpu", "ring pool cpu",
	};

	return crossings < RTE_DIM(names) ? names[crossings] : "unknown";
}
