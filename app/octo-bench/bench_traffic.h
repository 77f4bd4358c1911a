/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include <rte_stdatomic.h>

#include "bench_flow.h"
#include "bench_nic.h"

/**
 * @file
 * Two lcores, one on each socket: they generate on the peer, and poll the queues
 * of the octo port that are at home on their socket. No more packets are under
 * way than fit in any ring, so that what does not arrive was lost by a fault.
 */

/** Any queue will do. */
#define BENCH_ANY_QUEUE UINT8_MAX

struct bench_traffic;

/** All that one lcore works on. */
struct __rte_cache_aligned bench_worker {
	struct bench_traffic *traffic;
	unsigned int index;
	uint16_t nb_queues;
	uint16_t queue[BENCH_MAX_QUEUES]; /**< of the octo port */
	uint64_t random;                  /**< state of its generator */
	uint64_t to_send;                 /**< UINT64_MAX: until it is stopped */
	uint64_t sent;
	uint64_t received;
	uint64_t sent_before; /**< bench_traffic_send() */
	uint64_t received_before;
	uint64_t misdirected; /**< received from another queue than was expected */
	uint64_t foreign;     /**< not ours, or damaged */
	uint64_t of_queue[BENCH_MAX_QUEUES];
	uint32_t *arrived; /**< packets of each flow */
	/* for the others */
	RTE_ATOMIC(uint64_t) told_sent;
	RTE_ATOMIC(uint64_t) told_received;
	RTE_ATOMIC(bool) done; /**< nothing more to send */
};

/** Which flow sends next. */
typedef uint32_t (*bench_pick_t)(struct bench_worker *worker);

struct bench_traffic {
	const struct bench_nic *nic;
	struct rte_mempool *pool;
	const struct bench_flows *flows;
	const uint8_t *expected; /**< queue of each flow, or NULL */
	bench_pick_t pick;
	const void *pick_arg;
	uint64_t given_up; /**< packets of earlier runs that were lost */
	RTE_ATOMIC(bool) stop;
	struct bench_worker worker[APP_NB_WORKERS];
};

/** What came of it, since bench_traffic_open() or bench_traffic_send() began. */
struct bench_count {
	uint64_t sent;
	uint64_t received;
	uint64_t misdirected; /**< and foreign ones */
	uint64_t of_queue[BENCH_MAX_QUEUES];
};

/** @return 0 or a negative errno. */
int bench_traffic_open(struct bench_traffic *traffic, const struct bench *bench,
		       const struct bench_nic *nic, const struct bench_flows *flows,
		       bench_pick_t pick, const void *pick_arg);
void bench_traffic_close(struct bench_traffic *traffic);

/** Have a queue of the octo port polled by a worker. */
void bench_traffic_poll(struct bench_traffic *traffic, unsigned int worker, uint16_t queue);

/** Poll all queues for a while, so that they know where they are at home. */
int bench_traffic_settle(struct bench_traffic *traffic);

/**
 * The workers send so many, half of them each; then wait until everything has come. What came
 * before is forgotten.
 *
 * @param strays
 *   How many of them strayed.
 * @return 0 or a negative errno.
 */
int bench_traffic_send(struct bench_traffic *traffic, uint64_t nb, uint64_t *strays);

/** Each worker sends so many, until it is stopped: what goes on can be watched meanwhile. */
int bench_traffic_start(struct bench_traffic *traffic, const uint64_t to_send[APP_NB_WORKERS]);

/** Stop sending, and wait for what is under way. */
void bench_traffic_stop(struct bench_traffic *traffic);

void bench_traffic_count(const struct bench_traffic *traffic, struct bench_count *count);

/** Packets of a flow that arrived. */
uint32_t bench_traffic_arrived(const struct bench_traffic *traffic, uint32_t flow);

/** Flows in turn, each worker every other one. */
uint32_t bench_pick_in_turn(struct bench_worker *worker);

/** Any flow, all with the same probability. */
uint32_t bench_pick_any(struct bench_worker *worker);

static inline uint64_t
bench_worker_random(struct bench_worker *worker)
{
	return bench_random_of(worker->random++);
}

#endif /* BENCH_TRAFFIC_H */
