/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdbool.h>
#include <stdlib.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_partition.h"

/* A share may miss its due by this fraction of it: there are 2^depth parts, all alike. */
#define TOLERANCE 100

/* How the parts are told apart: by `depth` bits, of which the first `xors` are XORs. */
struct scheme {
	unsigned int depth;
	unsigned int xors;
	uint32_t parts[OCTO_PLAN_MAX_PFS]; /* of each PF */
};

/* Each PF gets what is between two rounded sums, so that all is given away. */
static bool
share_out(struct scheme *s, const uint16_t queues[], uint16_t nb_pfs, uint32_t all_queues)
{
	uint32_t sum = 0, given = 0;
	bool fair = true;

	for (uint16_t pf = 0; pf < nb_pfs; pf++) {
		const int64_t due = (int64_t)queues[pf] << s->depth;
		uint32_t end;

		sum += queues[pf];
		end = (((uint64_t)sum << s->depth) + all_queues / 2) / all_queues;
		s->parts[pf] = end - given;
		given = end;
		fair &= llabs((int64_t)s->parts[pf] * all_queues - due) * TOLERANCE <= due;
	}
	return fair;
}

/* As few bits as do justice to all PFs. */
static void
choose_scheme(struct scheme *s, const uint16_t queues[], uint16_t nb_pfs, uint32_t all_queues)
{
	s->depth = 1;
	while (!share_out(s, queues, nb_pfs, all_queues) && s->depth < OCTO_PARTITION_DEPTH)
		s->depth++;
	s->xors = RTE_MIN(s->depth, (unsigned int)OCTO_PARTITION_XORS);
	/* more of them than tell queues apart would be for the rounding only */
	s->xors = RTE_MIN(s->xors, rte_log2_u32(all_queues) + 1);
}

/* The bits after the XORs are of both addresses in turn. */
static void
set_plain_bit(struct octo_partition_rule *rule, const struct scheme *s, unsigned int level,
	      uint32_t bit)
{
	const unsigned int nth = level - s->xors;

	if (nth % 2 == 0) {
		rule->src_mask |= RTE_BIT32(s->xors + nth / 2);
		rule->src |= bit << (s->xors + nth / 2);
	} else {
		rule->dst_mask |= RTE_BIT32(s->xors + 1 + nth / 2);
		rule->dst |= bit << (s->xors + 1 + nth / 2);
	}
}

/*
 * The rules of a block: the packets whose first `bits` deciding bits are those of
 * `value`, first bit lowest. One rule for each value of the source bits in the XORs.
 */
static unsigned int
add_block(struct octo_partition_rule *rules, const struct scheme *s, unsigned int bits,
	  uint32_t value, uint16_t pf)
{
	const unsigned int xors = RTE_MIN(bits, s->xors);
	const uint32_t mask = RTE_BIT32(xors) - 1;

	for (uint32_t src = 0; src <= mask; src++) {
		struct octo_partition_rule *rule = &rules[src];

		*rule = (struct octo_partition_rule){
			.src = src,
			.src_mask = mask,
			.dst = ((src ^ value) & mask) << 1,
			.dst_mask = mask << 1,
			.pf = pf,
		};
		for (unsigned int level = xors; level < bits; level++)
			set_plain_bit(rule, s, level, value >> level & 1);
	}
	return mask + 1;
}

/* Deciding bits of the block at `at`: its first bit is the highest of the position. */
static uint32_t
block_value(const struct scheme *s, uint32_t at, unsigned int bits)
{
	uint32_t value = 0;

	for (unsigned int level = 0; level < bits; level++)
		value |= (at >> (s->depth - 1 - level) & 1) << level;
	return value;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_partition_rules)
unsigned int
octo_partition_rules(const uint16_t queues[], uint16_t nb_pfs, struct octo_partition_rule rules[])
{
	uint32_t all_queues = 0, at = 0;
	unsigned int n = 0;
	struct scheme s;

	for (uint16_t pf = 0; pf < nb_pfs; pf++)
		all_queues += queues[pf];
	if (all_queues == 0)
		return 0;
	for (uint16_t pf = 0; pf < nb_pfs; pf++)
		if (queues[pf] == all_queues)
			return 0;
	choose_scheme(&s, queues, nb_pfs, all_queues);
	/* big blocks first, so that each begins at a multiple of its size */
	for (unsigned int bits = 1; bits <= s.depth; bits++) {
		const uint32_t size = RTE_BIT32(s.depth - bits);

		for (uint16_t pf = 0; pf < nb_pfs; pf++) {
			if (!(s.parts[pf] & size))
				continue;
			n += add_block(&rules[n], &s, bits, block_value(&s, at, bits), pf);
			at += size;
		}
	}
	return n;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_partition_reta)
void
octo_partition_reta(const uint8_t home[], uint16_t nb_queues, uint8_t pf, uint16_t reta[],
		    uint16_t size)
{
	uint16_t filled = 0;

	/* a round over its own queues; what was filled then repeats itself */
	for (uint16_t q = 0; q < nb_queues && filled < size; q++)
		if (home[q] == pf)
			reta[filled++] = q;
	if (filled == 0)
		for (uint16_t q = 0; q < nb_queues && filled < size; q++)
			reta[filled++] = q;
	for (uint16_t i = filled; i < size; i++)
		reta[i] = reta[i - filled];
}
