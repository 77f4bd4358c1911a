/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_bitops.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "bench_order.h"

#define NOBODYS UINT32_MAX

int
bench_order_open(struct bench_order *o, uint32_t nb_flows, bench_seen_t seen, void *arg)
{
	memset(o, 0, sizeof(*o));
	rte_spinlock_init(&o->lock);
	o->nb_flows = nb_flows;
	o->seen = seen;
	o->arg = arg;
	o->flow = calloc(nb_flows, sizeof(o->flow[0]));
	o->burst = aligned_alloc(RTE_CACHE_LINE_SIZE, BENCH_ORDER_BURSTS * sizeof(o->burst[0]));
	if (o->flow == NULL || o->burst == NULL) {
		fprintf(stderr, "%s: no memory to follow %u flows\n", app_name, nb_flows);
		return -ENOMEM;
	}
	memset(o->burst, 0, BENCH_ORDER_BURSTS * sizeof(o->burst[0]));
	return 0;
}

void
bench_order_close(struct bench_order *o)
{
	free(o->flow);
	free(o->burst);
	o->flow = NULL;
	o->burst = NULL;
}

/* More packets came than went out, doubles for one: wait until these were looked at. */
static void
await_room(struct bench_order *o, uint64_t stamp)
{
	/* pairs with the release in bench_order_look() */
	while (stamp - rte_atomic_load_explicit(&o->next, rte_memory_order_acquire) >=
	       BENCH_ORDER_BURSTS) {
		bench_order_look(o);
		rte_pause();
	}
}

void
bench_order_receive(struct bench_order *o, uint8_t worker, uint8_t lane,
		    struct rte_mbuf *const *pkts, uint16_t nb)
{
	const uint64_t tsc = rte_rdtsc();
	/* in one order for all: whoever got packets that follow ours has a later stamp */
	const uint64_t stamp = rte_atomic_fetch_add_explicit(&o->stamp, 1,
							     rte_memory_order_seq_cst);
	struct bench_burst *b = &o->burst[stamp % BENCH_ORDER_BURSTS];

	await_room(o, stamp);
	b->tsc = tsc;
	b->worker = worker;
	b->lane = lane;
	b->nb = nb;
	for (uint16_t i = 0; i < nb; i++) {
		const int64_t flow = bench_frame_flow(pkts[i], o->nb_flows);

		b->record[i].flow = flow < 0 ? NOBODYS : (uint32_t)flow;
		b->record[i].label = flow < 0 ? (struct bench_label){0} : *bench_label_of(pkts[i]);
	}
	/* pairs with the acquire in bench_order_look() */
	rte_atomic_store_explicit(&b->ready, stamp + 1, rte_memory_order_release);
}

/* The bits of the numbers up to this one are those of numbers of long ago. */
static void
advance(struct bench_order_flow *f, uint32_t number)
{
	const uint32_t ahead = number + 1 - f->next;

	for (uint32_t i = 0; i < RTE_MIN(ahead, (uint32_t)BENCH_ORDER_WINDOW); i++) {
		const uint32_t at = (number - i) % BENCH_ORDER_WINDOW;

		f->came[at / 64] &= ~RTE_BIT64(at % 64);
	}
	f->next = number + 1;
}

/* Returns whether it is not a double. */
static bool
account(struct bench_order *o, const struct bench_record *r)
{
	struct bench_order_flow *f;
	const uint32_t number = r->label.number, at = number % BENCH_ORDER_WINDOW;
	int32_t ahead;

	if (r->flow == NOBODYS) {
		o->foreign++;
		return false;
	}
	f = &o->flow[r->flow];
	ahead = (int32_t)(number - f->next);
	if (ahead >= 0) {
		advance(f, number);
	} else if (ahead >= -BENCH_ORDER_WINDOW && (f->came[at / 64] & RTE_BIT64(at % 64))) {
		o->duplicated++;
		return false;
	} else {
		o->reordered++;
	}
	if (ahead >= -BENCH_ORDER_WINDOW)
		f->came[at / 64] |= RTE_BIT64(at % 64);
	return true;
}

static void
look_at(struct bench_order *o, const struct bench_burst *b)
{
	uint64_t n = 0;

	for (uint16_t i = 0; i < b->nb; i++)
		n += account(o, &b->record[i]);
	if (o->seen != NULL)
		o->seen(o->arg, b);
	/* who sees them delivered knows nothing else by it */
	rte_atomic_store_explicit(&o->delivered, bench_order_delivered(o) + n,
				  rte_memory_order_relaxed);
}

void
bench_order_look(struct bench_order *o)
{
	uint64_t next;

	if (!rte_spinlock_trylock(&o->lock))
		return;
	next = rte_atomic_load_explicit(&o->next, rte_memory_order_relaxed);
	for (;;) {
		const struct bench_burst *b = &o->burst[next % BENCH_ORDER_BURSTS];

		/* pairs with the release in bench_order_receive() */
		if (rte_atomic_load_explicit(&b->ready, rte_memory_order_acquire) != next + 1)
			break;
		look_at(o, b);
		/* pairs with the acquire in await_room() */
		rte_atomic_store_explicit(&o->next, ++next, rte_memory_order_release);
	}
	rte_spinlock_unlock(&o->lock);
}
