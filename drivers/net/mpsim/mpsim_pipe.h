/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_PIPE_H
#define MPSIM_PIPE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_stdatomic.h>

#include "octo_clock.h"

/**
 * @file
 * What is between the switch and the rings of a PF: frames that have been
 * sorted and are not to be seen yet. They come out in the order in which they
 * went in, latency_us= later. Everything but `due` is used under the NIC's lock.
 */

#define MPSIM_PIPE_SLOTS 4096 /* a power of two */
#define MPSIM_PIPE_NEVER UINT64_MAX
#define MPSIM_LATENCY_MAX 1000000 /* us */

struct mpsim_pf;
struct mpsim_rxq;

struct mpsim_pipe_slot {
	struct rte_mbuf *frame; /**< NULL: its queue was released meanwhile */
	struct mpsim_rxq *queue;
	uint64_t ready; /**< TSC */
};

struct mpsim_pipe {
	/* TSC at which the first is ready; a line of its own, not written without latency */
	alignas(RTE_CACHE_LINE_SIZE) RTE_ATOMIC(uint64_t) due;
	struct mpsim_pipe_slot *slots; /**< NULL: frames are in their rings at once */
	uint64_t latency;              /**< TSC cycles */
	uint64_t last;                 /**< `ready` of the frame that went in last */
	uint32_t head;                 /**< counts what went in, */
	uint32_t tail;                 /**< and what came out */
	uint32_t frames;               /**< in there, without those that were dropped */
};

/** @return 0 or -ENOMEM. A latency of 0 keeps the pipe that is there, or makes none. */
int mpsim_pipe_set_latency(struct mpsim_pipe *pipe, uint32_t us);
void mpsim_pipe_init(struct mpsim_pipe *pipe);
/** Nothing may be in it. */
void mpsim_pipe_free(struct mpsim_pipe *pipe);

static inline uint32_t
mpsim_pipe_room(const struct mpsim_pipe *pipe)
{
	return MPSIM_PIPE_SLOTS - (pipe->head - pipe->tail);
}

/** Is there a frame that should be in its ring by now? From any thread. */
static inline bool
mpsim_pipe_is_due(const struct mpsim_pipe *pipe)
{
	/* no pair: who finds it due looks again under the lock */
	const uint64_t due = rte_atomic_load_explicit(&pipe->due, rte_memory_order_relaxed);

	return unlikely(due != MPSIM_PIPE_NEVER) && due <= octo_now();
}

/** Put n frames of a queue in; there must be room. */
void mpsim_pipe_enter(struct mpsim_pipe *pipe, struct mpsim_rxq *queue, struct rte_mbuf **frames,
		      uint16_t n);

/** Put what is ready into the rings; what finds its ring full is dropped and counted. */
void mpsim_pipe_leave(struct mpsim_pf *pf);

/** Drop what is for this queue, or all if it is NULL. @return how many frames that were. */
uint32_t mpsim_pipe_drop(struct mpsim_pipe *pipe, const struct mpsim_rxq *queue);

#endif /* MPSIM_PIPE_H */
