/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_PIPE_H
#define OCTOSIM_PIPE_H

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

#define OCTOSIM_PIPE_SLOTS 4096 /* a power of two */
#define OCTOSIM_PIPE_NEVER UINT64_MAX
#define OCTOSIM_LATENCY_MAX 1000000 /* us */

struct octosim_pf;
struct octosim_rxq;

struct octosim_pipe_slot {
	struct rte_mbuf *frame; /**< NULL: its queue was released meanwhile */
	struct octosim_rxq *queue;
	uint64_t ready; /**< TSC */
};

struct octosim_pipe {
	/* TSC at which the first is ready; a line of its own, not written without latency */
	alignas(RTE_CACHE_LINE_SIZE) RTE_ATOMIC(uint64_t) due;
	struct octosim_pipe_slot *slots; /**< NULL: frames are in their rings at once */
	uint64_t latency;                /**< TSC cycles */
	uint64_t last;                   /**< `ready` of the frame that went in last */
	uint32_t head;                   /**< counts what went in, */
	uint32_t tail;                   /**< and what came out */
	uint32_t frames;                 /**< in there, without those that were dropped */
};

/** @return 0 or -ENOMEM. A latency of 0 keeps the pipe that is there, or makes none. */
int octosim_pipe_set_latency(struct octosim_pipe *pipe, uint32_t us);
void octosim_pipe_init(struct octosim_pipe *pipe);
/** Nothing may be in it. */
void octosim_pipe_free(struct octosim_pipe *pipe);

static inline uint32_t
octosim_pipe_room(const struct octosim_pipe *pipe)
{
	return OCTOSIM_PIPE_SLOTS - (pipe->head - pipe->tail);
}

/** Is there a frame that should be in its ring by now? From any thread. */
static inline bool
octosim_pipe_is_due(const struct octosim_pipe *pipe)
{
	/* no pair: who finds it due looks again under the lock */
	const uint64_t due = rte_atomic_load_explicit(&pipe->due, rte_memory_order_relaxed);

	return unlikely(due != OCTOSIM_PIPE_NEVER) && due <= octo_now();
}

/** Put n frames of a queue in; there must be room. */
void octosim_pipe_enter(struct octosim_pipe *pipe, struct octosim_rxq *queue,
			struct rte_mbuf **frames, uint16_t n);

/** Put what is ready into the rings; what finds its ring full is dropped and counted. */
void octosim_pipe_leave(struct octosim_pf *pf);

/** Drop what is for this queue, or all if it is NULL. @return how many frames that were. */
uint32_t octosim_pipe_drop(struct octosim_pipe *pipe, const struct octosim_rxq *queue);

#endif /* OCTOSIM_PIPE_H */
