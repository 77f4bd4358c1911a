/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <eal_export.h>
#include <rte_bitops.h>

#include "octo_migration.h"

/* For each PF, the PFs to which it gives buckets: bit masks. */
struct gifts {
	uint32_t to[OCTO_PLAN_MAX_PFS];
};

static void
find_gifts(const struct octo_migration_map *map, const struct octo_migration_map *target,
	   struct gifts *g)
{
	memset(g, 0, sizeof(*g));
	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		if (map->bucket[i] != target->bucket[i])
			g->to[map->bucket[i]] |= RTE_BIT32(target->bucket[i]);
}

/* PFs that have some of the traffic. */
static uint32_t
find_loaded(const struct octo_migration_map *map)
{
	uint32_t loaded = 0;

	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		loaded |= RTE_BIT32(map->bucket[i]);
	return loaded;
}

/* Marks the legs of this PF that lose flows (drained) or get some (held). */
static void
mark_pf(const struct octo_migration_port *port, const struct octo_migration_map *map, uint8_t pf,
	struct octo_migration_step *s, bool held)
{
	const uint8_t leg = port->present & RTE_BIT32(pf);

	for (uint16_t i = 0; i < port->reta_size; i++) {
		struct octo_migration_legs *legs = &s->legs[map->reta[pf][i]];

		if (held)
			legs->held |= leg;
		else
			legs->drained |= leg;
	}
}

static void
move_buckets(const struct octo_migration_port *port, struct octo_migration_map *map,
	     const struct octo_migration_map *target, uint32_t from, uint32_t to,
	     struct octo_migration_step *s)
{
	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		if ((from & RTE_BIT32(map->bucket[i])) && (to & RTE_BIT32(target->bucket[i])))
			map->bucket[i] = target->bucket[i];
	s->buckets = true;
	/* packets of lost PFs are in no ring, and nothing waits for them */
	if (!(from & port->present))
		return;
	for (uint8_t pf = 0; pf < port->nb_pfs; pf++) {
		if (from & RTE_BIT32(pf))
			mark_pf(port, map, pf, s, false);
		if (to & RTE_BIT32(pf))
			mark_pf(port, map, pf, s, true);
	}
}

/* Moves buckets between two disjoint sets of PFs. */
static void
migrate_buckets(const struct octo_migration_port *port, struct octo_migration_map *map,
		const struct octo_migration_map *target, const struct gifts *gifts, uint32_t givers,
		struct octo_migration_step *s)
{
	uint32_t from = 0, to = 0;

	for (uint8_t pf = 0; pf < port->nb_pfs; pf++) {
		const uint32_t more = gifts->to[pf] & ~from;

		if (!(givers & RTE_BIT32(pf)) || (to & RTE_BIT32(pf)) || more == 0)
			continue;
		from |= RTE_BIT32(pf);
		to |= more;
	}
	if (from != 0)
		move_buckets(port, map, target, from, to, s);
}

/* Moves unhashed packets to the new queue 0, unless the rest of the step conflicts. */
static void
migrate_rest(const struct octo_migration_port *port, struct octo_migration_map *map,
	     const struct octo_migration_map *target, struct octo_migration_step *s)
{
	const uint8_t from = port->present & RTE_BIT32(map->rest);
	const uint8_t to = from == 0 ? 0 : RTE_BIT32(target->rest);

	if (map->rest == target->rest || (s->legs[0].held & from) || (s->legs[0].drained & to))
		return;
	s->legs[0].drained |= from;
	s->legs[0].held |= to;
	s->buckets = true;
	map->rest = target->rest;
}

/* First moves what comes by PFs that are absent or have no link, as it is lost until it moves. */
static void
leave_lost(const struct octo_migration_port *port, struct octo_migration_map *map,
	   const struct octo_migration_map *target, const struct gifts *gifts,
	   struct octo_migration_step *s)
{
	migrate_buckets(port, map, target, gifts, ~port->present, s);
	if (!s->buckets)
		migrate_buckets(port, map, target, gifts, ~port->usable, s);
	if (!(port->usable & RTE_BIT32(map->rest)))
		migrate_rest(port, map, target, s);
}

/*
 * A queue that gives entries gets none in this step, nor the other way round. On a PF without
 * traffic that does not matter: `leg` is 0 then, not the PF's bit.
 */
static void
migrate_reta(uint16_t size, uint16_t reta[], const uint16_t target[], uint8_t leg,
	     struct octo_migration_step *s)
{
	for (uint16_t i = 0; i < size; i++) {
		struct octo_migration_legs *from = &s->legs[reta[i]];
		struct octo_migration_legs *to = &s->legs[target[i]];

		if (reta[i] == target[i] || (from->held & leg) || (to->drained & leg))
			continue;
		from->drained |= leg;
		to->held |= leg;
		reta[i] = target[i];
	}
}

/* Changes the RETAs of the PFs that have no buckets left to give. */
static void
migrate_retas(const struct octo_migration_port *port, struct octo_migration_map *map,
	      const struct octo_migration_map *target, const struct gifts *gifts,
	      struct octo_migration_step *s)
{
	const uint32_t loaded = find_loaded(map);

	for (uint8_t pf = 0; pf < port->nb_pfs; pf++) {
		const uint32_t bit = RTE_BIT32(pf);

		if (!(port->present & bit) || gifts->to[pf] != 0 ||
		    memcmp(map->reta[pf], target->reta[pf], port->reta_size * sizeof(uint16_t)) ==
			    0)
			continue;
		migrate_reta(port->reta_size, map->reta[pf], target->reta[pf],
			     (uint8_t)(loaded & bit), s);
		s->retas |= bit;
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_migration_next)
bool
octo_migration_next(const struct octo_migration_port *port, struct octo_migration_map *map,
		    const struct octo_migration_map *target, struct octo_migration_step *step)
{
	struct gifts gifts;

	memset(step, 0, sizeof(*step));
	find_gifts(map, target, &gifts);
	leave_lost(port, map, target, &gifts, step);
	if (step->buckets)
		return true;
	migrate_retas(port, map, target, &gifts, step);
	migrate_rest(port, map, target, step);
	if (step->retas == 0 && !step->buckets)
		migrate_buckets(port, map, target, &gifts, port->usable, step);
	return step->retas != 0 || step->buckets;
}
