/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PLAN_H
#define OCTO_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * The plan: which PF is a queue's home. Pure functions.
 */

#define OCTO_PLAN_MAX_PFS 8

/** Distance between two nodes as ACPI SLIT gives it: 10 is local, more is farther, 0 unknown. */
typedef int (*octo_plan_distance_t)(int node_a, int node_b);

/** The PFs, as far as the plan depends on them. */
struct octo_plan_pfs {
	uint16_t nb;                     /**< number of PFs */
	uint32_t usable;                 /**< bit mask: present, and link up where that matters */
	int16_t node[OCTO_PLAN_MAX_PFS]; /**< NUMA node of each PF, -1 if unknown */
};

/**
 * The home PF of a queue whose CPU is on `node`: the nearest usable PF. If several are equally
 * near, the queues are spread over them by their number.
 *
 * @param node
 *   -1 if unknown: all PFs are equally near.
 * @return
 *   Index of the PF, or -1 if none is usable.
 */
__rte_internal
int octo_plan_home(const struct octo_plan_pfs *pfs, int node, uint16_t queue,
		   octo_plan_distance_t distance);

/** 10 for the same node, 20 otherwise: for nodes that exist in a socket map only. */
__rte_internal
int octo_plan_flat_distance(int node_a, int node_b);

/**
 * Choose among objects, one on each of these nodes, the nearest to `node`; the first of equals.
 *
 * @param nb
 *   1 to OCTO_PLAN_MAX_PFS.
 * @return
 *   Index of the object.
 */
__rte_internal
int octo_plan_nearest(const int16_t *nodes, uint16_t nb, int node, octo_plan_distance_t distance);

/** Are two of these nodes the same? Then first and second are set to their indices. */
__rte_internal
bool octo_plan_twins(const int16_t *nodes, uint16_t nb, uint16_t *first, uint16_t *second);

/** Node of memory that is on several nodes. */
#define OCTO_PLAN_MIXED (-2)

/** NUMA locality of a leg; -1 where unknown, which crosses nothing. */
struct octo_locality {
	int pf;   /**< the leg's PF */
	int ring; /**< descriptors on this PF */
	int pool; /**< packets; may be OCTO_PLAN_MIXED */
	int cpu;  /**< that polls the queue */
};

#define OCTO_CROSS_RING 0x1u
#define OCTO_CROSS_POOL 0x2u
#define OCTO_CROSS_CPU 0x4u

/** Which of ring, pool and CPU are on another node than the PF: a mask of OCTO_CROSS_*. */
__rte_internal
uint32_t octo_plan_crossings(const struct octo_locality *locality);

/** "none", "ring", "pool", "cpu", or several of them separated by blanks. */
__rte_internal
const char *octo_plan_crossing_names(uint32_t crossings);

#endif /* OCTO_PLAN_H */
