/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_ORDER_H
#define BENCH_ORDER_H

#include <rte_spinlock.h>
#include <rte_stdatomic.h>

#include "bench_flow.h"

/**
 * @file
 * What is lost, duplicated or reordered in any flow, exactly, though several
 * threads receive. Packets carry the number that they have in their flow; a
 * burst is stamped with a global order as soon as it was received, and whoever
 * finds the time looks at all bursts in the order of the stamps.
 */

/** Bursts that wait to be looked at; a power of two, more than packets are under way. */
#define BENCH_ORDER_BURSTS 8192

/** How far back a packet is told from its double; a power of two. */
#define BENCH_ORDER_WINDOW 4096

/** In front of the bench_mark of a frame. */
struct bench_label {
	uint32_t number; /**< in the flow, from 0 */
	uint32_t pf;     /**< that it went by, written as it passes */
};

struct bench_record {
	uint32_t flow;
	struct bench_label label;
};

/** Packets that one call returned. */
struct __rte_cache_aligned bench_burst {
	RTE_ATOMIC(uint64_t) ready; /**< its stamp + 1 as soon as it can be read */
	uint64_t tsc;
	uint8_t worker;
	uint8_t lane;
	uint16_t nb;
	struct bench_record record[APP_BURST];
};

struct bench_order_flow {
	uint32_t next; /**< number above all that came */
	uint64_t came[BENCH_ORDER_WINDOW / 64];
};

/** Told of bursts in order, one at a time, by whichever thread. */
typedef void (*bench_seen_t)(void *arg, const struct bench_burst *burst);

struct bench_order {
	struct bench_burst *burst;
	struct bench_order_flow *flow;
	uint32_t nb_flows;
	bench_seen_t seen; /**< or NULL */
	void *arg;
	/* by who has the lock; others may read the last two */
	rte_spinlock_t lock;
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t foreign;
	RTE_ATOMIC(uint64_t) delivered; /**< without doubles */
	RTE_ATOMIC(uint64_t) next;      /**< stamp of the next burst to look at */
	RTE_ATOMIC(uint64_t) stamp;
};

/** @return 0 or a negative errno, after a message. */
int bench_order_open(struct bench_order *order, uint32_t nb_flows, bench_seen_t seen, void *arg);
void bench_order_close(struct bench_order *order);

/** Record packets that have just been received. */
void bench_order_receive(struct bench_order *order, uint8_t worker, uint8_t lane,
			 struct rte_mbuf *const *pkts, uint16_t nb);

/** Look at what was received, unless somebody does. */
void bench_order_look(struct bench_order *order);

static inline uint64_t
bench_order_delivered(const struct bench_order *order)
{
	return rte_atomic_load_explicit(&order->delivered, rte_memory_order_relaxed);
}

static inline struct bench_label *
bench_label_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct bench_label *,
				       BENCH_FRAME_LEN - sizeof(struct bench_mark) -
					       sizeof(struct bench_label));
}

#endif /* BENCH_ORDER_H */
