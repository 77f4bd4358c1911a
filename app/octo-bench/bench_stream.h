/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include "bench_nic.h"
#include "bench_order.h"

/**
 * @file
 * Traffic while things change: two lcores, one on each socket, poll lanes (queues
 * of ports) that are handed from one to the other. So few packets are under way that no
 * ring ever has as many that a fence gives up. Whoever has nothing to receive sends.
 */

#define BENCH_MAX_LANES 4

/**
 * Packets under way at most: fewer than three quarters of the smallest ring, which is of 1024
 * where the mempool is to fill those of four PFs. A poller without a CPU fills a ring, and a fence
 * whose source has not been polled then opens before its time.
 */
#define BENCH_STREAM_WINDOW 512

#define BENCH_NOBODY UINT8_MAX
#define BENCH_ANYBODY (UINT8_MAX - 1)

struct bench_lane {
	uint16_t port;
	uint16_t queue;
	RTE_ATOMIC(uint8_t) owner; /**< worker, or nobody, or anybody */
};

/** By a worker between two bursts of its own: it may give lanes away. */
typedef void (*bench_turn_t)(void *arg, uint8_t worker);

/** By a worker: packets that it has received from a lane, and that are its own now. */
typedef void (*bench_take_t)(void *arg, unsigned int lane, struct rte_mbuf **pkts, uint16_t nb);

/** A callback that writes into packets by which PF they came. */
struct bench_mark_of_pf {
	uint16_t port;
	uint16_t queue;
	const struct rte_eth_rxtx_callback *callback;
};

struct bench_stream {
	const struct bench_nic *nic;
	struct rte_mempool *pool;    /**< of what is sent */
	struct rte_mempool *rx_pool; /**< and of what is received of it */
	const struct bench_flows *flows;
	struct bench_order order;
	bench_turn_t turn;
	bench_take_t take; /**< or NULL: they are freed */
	void *arg;
	unsigned int nb_lanes;
	struct bench_lane lane[BENCH_MAX_LANES]; /**< that are received from */
	bool marks_tx;
	unsigned int nb_marks;
	struct bench_mark_of_pf mark[BENCH_MAX_PFS * BENCH_MAX_LANES];
	/* the sender's, under its lock */
	rte_spinlock_t sending;
	struct bench_lane out;
	uint32_t *number; /**< of the next packet of each flow */
	uint32_t next_flow;
	uint16_t nb_unsent;
	uint16_t first_unsent;
	struct rte_mbuf *unsent[APP_BURST];
	/* all read it */
	RTE_ATOMIC(uint64_t) sent; /**< or just about to be */
	RTE_ATOMIC(uint64_t) given_up;
	RTE_ATOMIC(bool) stop; /**< sending */
	RTE_ATOMIC(bool) quit;
};

struct bench_stream_conf {
	const struct bench *bench;
	const struct bench_nic *nic;
	const struct bench_flows *flows;
	bench_seen_t seen;
	bench_turn_t turn;
	bench_take_t take;
	void *arg; /**< of all of them */
};

/** @return 0, or a negative errno after a message. */
int bench_stream_open(struct bench_stream *stream, const struct bench_stream_conf *conf);
void bench_stream_close(struct bench_stream *stream);

void
bench_stream_add_lane(struct bench_stream *stream, uint16_t port, uint16_t queue, uint8_t owner);
void
bench_stream_set_out(struct bench_stream *stream, uint16_t port, uint16_t queue, uint8_t owner);

/** Have packets tell by which PF they came, or went; until the stream is closed. */
int bench_stream_mark_rx(struct bench_stream *stream);
int bench_stream_mark_tx(struct bench_stream *stream);

int bench_stream_start(struct bench_stream *stream);

/**
 * From the main thread, now and then: what has not come for long never will.
 *
 * @return 0, or -ETIMEDOUT after a message if nothing comes at all.
 */
int bench_stream_watch(struct bench_stream *stream);

/** From the main thread: wait until traffic runs. @return as bench_stream_watch(). */
int bench_stream_warm_up(struct bench_stream *stream);

/** What is under way is not waited for before more is sent; and it is again. */
void bench_stream_give_up(struct bench_stream *stream);
void bench_stream_forgive(struct bench_stream *stream);

/** Send no more; what is under way is not waited for. */
void bench_stream_hush(struct bench_stream *stream);

/**
 * Send no more and wait for what is under way; then go on. While paused, counts stand still.
 *
 * @return how many packets have been lost since the start.
 */
int64_t bench_stream_pause(struct bench_stream *stream);
void bench_stream_resume(struct bench_stream *stream);

/** Send no more, wait for what is under way, and stop. @return how many packets were lost. */
uint64_t bench_stream_stop(struct bench_stream *stream);

/** What its order and its port count. */
void bench_stream_result(const struct bench_stream *stream, struct bench_changes *changes);

static inline uint8_t
bench_lane_owner(const struct bench_lane *lane)
{
	/* pairs with the release in bench_lane_give() */
	return rte_atomic_load_explicit(&lane->owner, rte_memory_order_acquire);
}

/** By its owner: what it did with the lane comes before what the next one does. */
static inline void
bench_lane_give(struct bench_lane *lane, uint8_t worker)
{
	rte_atomic_store_explicit(&lane->owner, worker, rte_memory_order_release);
}

static inline uint64_t
bench_stream_sent(const struct bench_stream *stream)
{
	return rte_atomic_load_explicit(&stream->sent, rte_memory_order_acquire);
}

#endif /* BENCH_STREAM_H */
