/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MIGRATION_H
#define OCTO_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_config.h>

#include "octo_partition.h"

/**
 * @file
 * Migration steps: traffic without rules of its own moves from queues to others without being
 * reordered. In a step no leg of a queue both loses and gets flows: legs that get some are held
 * until those that lose some are drained, so no leg waits for itself. A step depends only on
 * the present map and the wanted one, so if the wanted map changes in between, only the next
 * steps change. Pure functions.
 *
 * First the RETAs of PFs that give no buckets change, then the buckets, then the RETAs of PFs
 * that gave some: no flow moves twice, and a PF gets more traffic only when its new queues are
 * in its RETA. Maps from octo_partition_share() and octo_partition_reta() with `keep` take
 * three steps, whatever changes.
 */

#define OCTO_MIGRATION_MAX_RETA 2048

/** Where unsteered traffic comes: PF and queue. */
struct octo_migration_map {
	uint8_t bucket[OCTO_PARTITION_BUCKETS]; /**< PF of each bucket */
	uint8_t rest;                           /**< PF of packets without a hash: queue 0 */
	uint16_t reta[OCTO_PLAN_MAX_PFS][OCTO_MIGRATION_MAX_RETA];
};

struct octo_migration_port {
	uint16_t nb_pfs;
	uint16_t nb_queues;
	uint16_t reta_size; /**< 0: nothing is hashed */
	uint32_t present;   /**< PFs that have rings: bit mask */
	uint32_t usable;    /**< PFs that have a link, too; the wanted map uses no other */
};

/** Legs of a queue in a step: bit masks of PFs. */
struct octo_migration_legs {
	uint8_t held;    /**< get flows */
	uint8_t drained; /**< lose flows */
};

/** A migration step. */
struct octo_migration_step {
	bool buckets;   /**< buckets, or packets that are not hashed, change their PFs */
	uint32_t retas; /**< PFs whose RETA changes: bit mask */
	struct octo_migration_legs legs[RTE_MAX_QUEUES_PER_PORT];
};

/**
 * Compute the next step.
 *
 * @param map
 *   The present map; updated to the one after the step.
 * @param target
 *   The wanted map.
 * @param step
 *   Filled with the step.
 * @return
 *   Whether there is one.
 */
__rte_internal
bool octo_migration_next(const struct octo_migration_port *port, struct octo_migration_map *map,
			 const struct octo_migration_map *target, struct octo_migration_step *step);

#endif /* OCTO_MIGRATION_H */
