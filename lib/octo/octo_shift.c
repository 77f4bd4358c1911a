/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <eal_export.h>
#include <rte_bitops.h>

#include "octo_shift.h"

/* For each PF, the PFs to which it gives buckets: bit masks. */
struct gifts {
	uint32_t to[OCTO_PLAN_MAX_PFS];
};

static void
find_gifts(const struct octo_shift_map *map, const struct octo_shift_map *wish, struct gifts *g)
{
	memset(g, 0, sizeof(*g));
	for (uint32_t i = 0; i < OCTO_PARTITION_PARTS; i++)
		if (map->part[i] != wish->part[i])
			g->to[map->part[i]] |= RTE_BIT32(wish->part[i]);
}

/* PFs that have some of the traffic. */
static uint32_t
find_loaded(const struct octo_shift_map *map)
{
	uint32_t loaded = 0;

	for (uint32_t i = 0; i < OCTO_PARTITION_PARTS; i++)
		loaded |= RTE_BIT32(map->part[i]);
	return loaded;
}

/* Marks the legs of this PF that lose flows (drained) or get some (held). */
static void
mark_pf(const struct octo_shift_port *port, const struct octo_shift_map *map, uint8_t pf,
	struct octo_shift *s, bool held)
{
	const uint8_t leg = port->present & RTE_BIT32(pf);

	for (uint16_t i = 0; i < port->reta_size; i++) {
		struct octo_shift_legs *legs = &s->legs[map->reta[pf][i]];

		if (held)
			legs->held |= leg;
		else
			legs->drained |= leg;
	}
}

static void
move_parts(const struct octo_shift_port *port, struct octo_shift_map *map,
	   const struct octo_shift_map *wish, uint32_t from, uint32_t to, struct octo_shift *s)
{
	for (uint32_t i = 0; i < OCTO_PARTITION_PARTS; i++)
		if ((from & RTE_BIT32(map->part[i])) && (to & RTE_BIT32(wish->part[i])))
			map->part[i] = wish->part[i];
	s->parts = true;
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
shift_parts(const struct octo_shift_port *port, struct octo_shift_map *map,
	    const struct octo_shift_map *wish, const struct gifts *gifts, uint32_t givers,
	    struct octo_shift *s)
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
		move_parts(port, map, wish, from, to, s);
}

/* Moves unhashed packets to the new queue 0, unless the rest of the step conflicts. */
static void
shift_rest(const struct octo_shift_port *port, struct octo_shift_map *map,
	   const struct octo_shift_map *wish, struct octo_shift *s)
{
	const uint8_t from = port->present & RTE_BIT32(map->rest);
	const uint8_t to = from == 0 ? 0 : RTE_BIT32(wish->rest);

	if (map->rest == wish->rest || (s->legs[0].held & from) || (s->legs[0].drained & to))
		return;
	s->legs[0].drained |= from;
	s->legs[0].held |= to;
	s->parts = true;
	map->rest = wish->rest;
}

/* First moves what comes by PFs that are absent or have no link, as it is lost until it moves. */
static void
leave_lost(const struct octo_shift_port *port, struct octo_shift_map *map,
	   const struct octo_shift_map *wish, const struct gifts *gifts, struct octo_shift *s)
{
	shift_parts(port, map, wish, gifts, ~port->present, s);
	if (!s->parts)
		shift_parts(port, map, wish, gifts, ~port->usable, s);
	if (!(port->usable & RTE_BIT32(map->rest)))
		shift_rest(port, map, wish, s);
}

/* A queue that gives entries gets none in this step, unless there is no traffic (leg 0). */
static void
shift_reta(uint16_t size, uint16_t reta[], const uint16_t wish[], uint8_t leg, struct octo_shift *s)
{
	for (uint16_t i = 0; i < size; i++) {
		struct octo_shift_legs *from = &s->legs[reta[i]];
		struct octo_shift_legs *to = &s->legs[wish[i]];

		if (reta[i] == wish[i] || (from->held & leg) || (to->drained & leg))
			continue;
		from->drained |= leg;
		to->held |= leg;
		reta[i] = wish[i];
	}
}

/* Changes the RETAs of the PFs that have no buckets left to give. */
static void
shift_retas(const struct octo_shift_port *port, struct octo_shift_map *map,
	    const struct octo_shift_map *wish, const struct gifts *gifts, struct octo_shift *s)
{
	const uint32_t loaded = find_loaded(map);

	for (uint8_t pf = 0; pf < port->nb_pfs; pf++) {
		const uint32_t bit = RTE_BIT32(pf);

		if (!(port->present & bit) || gifts->to[pf] != 0 ||
		    memcmp(map->reta[pf], wish->reta[pf], port->reta_size * sizeof(uint16_t)) == 0)
			continue;
		shift_reta(port->reta_size, map->reta[pf], wish->reta[pf], (uint8_t)(loaded & bit),
			   s);
		s->retas |= bit;
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_shift_next)
bool
octo_shift_next(const struct octo_shift_port *port, struct octo_shift_map *map,
		const struct octo_shift_map *wish, struct octo_shift *shift)
{
	struct gifts gifts;

	memset(shift, 0, sizeof(*shift));
	find_gifts(map, wish, &gifts);
	leave_lost(port, map, wish, &gifts, shift);
	if (shift->parts)
		return true;
	shift_retas(port, map, wish, &gifts, shift);
	shift_rest(port, map, wish, shift);
	if (shift->retas == 0 && !shift->parts)
		shift_parts(port, map, wish, &gifts, port->usable, shift);
	return shift->retas != 0 || shift->parts;
}
