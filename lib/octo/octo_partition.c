/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_partition.h"

/* A PF's share may deviate by 1/TOLERANCE of it: there are 2^depth equal buckets. */
#define TOLERANCE 100

/* A RETA entry that belongs to no queue. */
#define NO_QUEUE UINT16_MAX

/* Buckets that each PF should get, out of 2^depth. */
struct scheme {
	unsigned int depth;
	uint32_t buckets[OCTO_PLAN_MAX_PFS];
};

/*
 * Each PF gets the difference of two rounded running sums, so that all buckets are assigned.
 * Returns whether all shares are within the tolerance.
 */
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
		s->buckets[pf] = end - given;
		given = end;
		fair &= llabs((int64_t)s->buckets[pf] * all_queues - due) * TOLERANCE <= due;
	}
	return fair;
}

/* Chooses the smallest depth that gives all PFs fair shares. */
static void
choose_scheme(struct scheme *s, const uint16_t queues[], uint16_t nb_pfs)
{
	uint32_t all_queues = 0;

	for (uint16_t pf = 0; pf < nb_pfs; pf++)
		all_queues += queues[pf];
	s->depth = 1;
	while (!share_out(s, queues, nb_pfs, all_queues) && s->depth < OCTO_PARTITION_DEPTH)
		s->depth++;
	for (uint16_t pf = 0; pf < nb_pfs; pf++)
		s->buckets[pf] <<= OCTO_PARTITION_DEPTH - s->depth;
}

/* Assigns big blocks first, so that each begins at a multiple of its size. */
static void
share_anew(const struct scheme *s, uint16_t nb_pfs, uint8_t buckets[])
{
	uint32_t at = 0;

	for (uint32_t size = OCTO_PARTITION_BUCKETS; size > 0; size /= 2) {
		for (uint8_t pf = 0; pf < nb_pfs; pf++) {
			if (!(s->buckets[pf] & size))
				continue;
			memset(&buckets[at], pf, size);
			at += size;
		}
	}
}

static bool
is_all_of(const uint8_t buckets[], uint32_t size, uint8_t pf)
{
	return buckets[0] == pf && memcmp(buckets, buckets + 1, size - 1) == 0;
}

/* Rates a block to be given to a PF: best if it joins its other half there. */
static int
rate_block(const uint8_t buckets[], uint32_t at, uint32_t size, uint8_t to)
{
	const uint8_t *half = &buckets[at ^ size];

	if (size == OCTO_PARTITION_BUCKETS)
		return 1;
	if (is_all_of(half, size, to))
		return 2;
	/* worst if it breaks up a larger block */
	return is_all_of(half, size, buckets[at]) ? 0 : 1;
}

/* A block of one PF for another; OCTO_PARTITION_BUCKETS if there is none of this size. */
static uint32_t
choose_block(const uint8_t buckets[], uint32_t size, uint8_t from, uint8_t to)
{
	uint32_t best = OCTO_PARTITION_BUCKETS;
	int best_rate = -1;

	for (uint32_t at = 0; at < OCTO_PARTITION_BUCKETS; at += size) {
		if (is_all_of(&buckets[at], size, from) &&
		    rate_block(buckets, at, size, to) > best_rate) {
			best_rate = rate_block(buckets, at, size, to);
			best = at;
		}
	}
	return best;
}

/* Gives n buckets in blocks as large as possible, which need the fewest rules. */
static void
give(uint8_t buckets[], uint32_t n, uint8_t from, uint8_t to)
{
	for (uint32_t size = OCTO_PARTITION_BUCKETS; n > 0; size /= 2) {
		while (n >= size) {
			const uint32_t at = choose_block(buckets, size, from, to);

			if (at == OCTO_PARTITION_BUCKETS)
				break;
			memset(&buckets[at], to, size);
			n -= size;
		}
	}
}

/* PFs with too many buckets give them to PFs with too few. */
static void
share_again(const struct scheme *s, uint16_t nb_pfs, uint8_t buckets[])
{
	int32_t excess[UINT8_MAX + 1] = {0};

	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		excess[buckets[i]]++;
	for (uint16_t pf = 0; pf < nb_pfs; pf++)
		excess[pf] -= (int32_t)s->buckets[pf];
	for (uint16_t from = 0; from < nb_pfs; from++) {
		for (uint16_t to = 0; to < nb_pfs && excess[from] > 0; to++) {
			const int32_t n = RTE_MIN(excess[from], -excess[to]);

			if (n <= 0)
				continue;
			give(buckets, (uint32_t)n, (uint8_t)from, (uint8_t)to);
			excess[from] -= n;
			excess[to] += n;
		}
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_partition_share)
void
octo_partition_share(const uint16_t queues[], uint16_t nb_pfs,
		     uint8_t buckets[OCTO_PARTITION_BUCKETS], bool keep)
{
	struct scheme s;

	choose_scheme(&s, queues, nb_pfs);
	if (keep)
		share_again(&s, nb_pfs, buckets);
	else
		share_anew(&s, nb_pfs, buckets);
}

/* After the XORs the deciding bits come from both addresses alternately. */
static void
set_plain_bit(struct octo_partition_rule *rule, unsigned int xors, unsigned int level, uint32_t bit)
{
	const unsigned int nth = level - xors;

	if (nth % 2 == 0) {
		rule->src_mask |= RTE_BIT32(xors + nth / 2);
		rule->src |= bit << (xors + nth / 2);
	} else {
		rule->dst_mask |= RTE_BIT32(xors + 1 + nth / 2);
		rule->dst |= bit << (xors + 1 + nth / 2);
	}
}

/* State of octo_partition_rules(). */
struct writer {
	struct octo_partition_rule *rules;
	unsigned int n;
	unsigned int xors; /* number of leading deciding bits that are XORs */
};

/* Deciding bits of the block at `at`: the first bit is the highest of the position. */
static uint32_t
block_value(uint32_t at, unsigned int bits)
{
	uint32_t value = 0;

	for (unsigned int level = 0; level < bits; level++)
		value |= (at >> (OCTO_PARTITION_DEPTH - 1 - level) & 1) << level;
	return value;
}

/*
 * Adds the rules of a block: its packets have, in their first `bits` deciding bits, those of
 * its position. There is one rule for each value of the source bits in the XORs.
 */
static void
add_block(struct writer *w, unsigned int bits, uint32_t at, uint8_t pf)
{
	const uint32_t mask = RTE_BIT32(RTE_MIN(bits, w->xors)) - 1;
	const uint32_t value = block_value(at, bits);

	if (w->n + mask + 1 > OCTO_PARTITION_MAX_RULES) {
		w->n = OCTO_PARTITION_MAX_RULES + 1;
		return;
	}
	for (uint32_t src = 0; src <= mask; src++) {
		struct octo_partition_rule *rule = &w->rules[w->n++];

		*rule = (struct octo_partition_rule){
			.src = src,
			.src_mask = mask,
			.dst = ((src ^ value) & mask) << 1,
			.dst_mask = mask << 1,
			.pf = pf,
		};
		for (unsigned int level = w->xors; level < bits; level++)
			set_plain_bit(rule, w->xors, level, value >> level & 1);
	}
}

/* Adds the block of this many deciding bits at `at`, or its two halves if they differ. */
static void
add_buckets(struct writer *w, const uint8_t buckets[], unsigned int bits, uint32_t at)
{
	const uint32_t size = OCTO_PARTITION_BUCKETS >> bits;

	if (bits > 0 && is_all_of(&buckets[at], size, buckets[at])) {
		add_block(w, bits, at, buckets[at]);
		return;
	}
	add_buckets(w, buckets, bits + 1, at);
	add_buckets(w, buckets, bits + 1, at + size / 2);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_partition_rules)
unsigned int
octo_partition_rules(const uint8_t buckets[OCTO_PARTITION_BUCKETS], uint8_t rest,
		     uint16_t nb_queues, struct octo_partition_rule rules[])
{
	/* more XORs than are needed to tell queues apart would only improve rounding */
	struct writer w = {
		.rules = rules,
		.xors = RTE_MIN(rte_log2_u32(nb_queues) + 1, (uint32_t)OCTO_PARTITION_XORS),
	};

	if (!is_all_of(buckets, OCTO_PARTITION_BUCKETS, rest))
		add_buckets(&w, buckets, 0, 0);
	return w.n;
}

/* A RETA under construction; due and has are entries by queue. */
struct dealer {
	uint16_t *reta;
	uint16_t size;
	uint16_t nb_queues;
	uint16_t due[RTE_MAX_QUEUES_PER_PORT];
	uint16_t has[RTE_MAX_QUEUES_PER_PORT];
};

static void
set_due(struct dealer *d, const uint8_t home[], uint8_t pf)
{
	uint16_t own = 0, nth = 0;

	for (uint16_t q = 0; q < d->nb_queues; q++)
		own += home[q] == pf;
	for (uint16_t q = 0; q < d->nb_queues; q++) {
		const uint16_t n = own == 0 ? d->nb_queues : own;

		if (own != 0 && home[q] != pf)
			continue;
		d->due[q] = d->size / n + (nth < d->size % n);
		nth++;
	}
}

static void
take_entry(struct dealer *d, uint16_t entry)
{
	const uint16_t q = d->reta[entry];

	if (q >= d->nb_queues || d->has[q] <= d->due[q])
		return;
	d->has[q]--;
	d->reta[entry] = NO_QUEUE;
}

/* Frees surplus entries: entry 0 first if queue 0 should get it, then from the end. */
static void
take_excess(struct dealer *d)
{
	for (uint16_t i = 0; i < d->size; i++)
		if (d->reta[i] < d->nb_queues)
			d->has[d->reta[i]]++;
		else
			d->reta[i] = NO_QUEUE;
	if (d->has[0] < d->due[0])
		take_entry(d, 0);
	for (uint16_t i = d->size; i > 0; i--)
		take_entry(d, i - 1);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_partition_reta)
void
octo_partition_reta(const uint8_t home[], uint16_t nb_queues, uint8_t pf, uint16_t reta[],
		    uint16_t size, bool keep)
{
	struct dealer d = {.reta = reta, .size = size, .nb_queues = nb_queues};
	uint16_t q = 0;

	if (!keep)
		for (uint16_t i = 0; i < size; i++)
			reta[i] = NO_QUEUE;
	set_due(&d, home, pf);
	take_excess(&d);
	for (uint16_t i = 0; i < size; i++) {
		if (reta[i] != NO_QUEUE)
			continue;
		while (d.has[q] >= d.due[q])
			q = (q + 1) % nb_queues;
		reta[i] = q;
		d.has[q]++;
		q = (q + 1) % nb_queues;
	}
}
