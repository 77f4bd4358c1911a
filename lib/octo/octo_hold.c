/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_elapsed.h"
#include "octo_hold.h"

unsigned int
octo_hold_bucket(uint64_t us)
{
	return RTE_MIN((unsigned int)rte_fls_u64(us), OCTO_HOLD_BUCKETS - 1u);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_hold_floor_us)
uint64_t
octo_hold_floor_us(unsigned int bucket)
{
	return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
}

static uint64_t
get(const RTE_ATOMIC(uint64_t) * value)
{
	return rte_atomic_load_explicit(value, rte_memory_order_relaxed);
}

/* There is one writer at a time: no atomic addition is needed. */
static void
set(RTE_ATOMIC(uint64_t) * value, uint64_t to)
{
	rte_atomic_store_explicit(value, to, rte_memory_order_relaxed);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_hold_end)
void
octo_hold_end(struct octo_hold *h, uint64_t now, uint64_t hz)
{
	const uint64_t cycles = octo_elapsed(get(&h->since), now);
	RTE_ATOMIC(uint64_t) *holds = &h->holds[octo_hold_bucket(cycles / (hz / US_PER_S))];

	set(holds, get(holds) + 1);
	if (cycles > get(&h->longest))
		set(&h->longest, cycles);
	set(&h->since, 0);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_hold_read)
void
octo_hold_read(const struct octo_hold *h, uint64_t now, uint64_t hz, struct octo_hold_view *view)
{
	const uint64_t since = get(&h->since);

	view->held_ns = since == 0 ? 0 : octo_cycles_to_ns(octo_elapsed(since, now), hz);
	view->longest_ns = octo_cycles_to_ns(get(&h->longest), hz);
	for (unsigned int i = 0; i < OCTO_HOLD_BUCKETS; i++)
		view->holds[i] = get(&h->holds[i]);
}
