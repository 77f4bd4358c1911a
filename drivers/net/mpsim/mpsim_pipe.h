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
 * The pipeline between the switch and the rings of a PF: frames that were classified and are
 * not visible yet. They leave in order, latency_us= after they entered. All fields but `due`
 * are used under the NIC's lock.
 */

#define MPSIM_PIPE_SLOTS 4096 /* a power of two */
#define MPSIM_PIPE_NEVER UINT64_MAX
#define MPSIM_LATENCY_MAX 1000000 /* us */

struct mpsim_pf;
struct mpsim_rxq;

struct mpsim_pipe_slot {
	struct rte_mbuf *frame; /**< NULL: its queue was released */
	struct mpsim_rxq *queue;
	uint64_t ready; /**< TSC */
};

struct mpsim_pipe {
	/*
	 * TSC; when the first frame is ready. In a cache line of its own, not written without
	 * latency
	 */
	alignas(RTE_CACHE_LINE_SIZE) RTE_ATOMIC(uint64_t) due;
	struct mpsim_pipe_slot *slots; /**< NULL: no pipeline, frames go to their rings at once */
	uint64_t latency;              /**< TSC cycles */
	uint64_t last;                 /**< `ready` of the last frame that entered */
	uint32_t head;                 /**< frames that have entered */
	uint32_t tail;                 /**< frames that have left */
	uint32_t frames;               /**< frames inside, without dropped ones */
};

/** Set the latency. Returns 0 or -ENOMEM. A latency of 0 keeps an existing pipeline. */
int mpsim_pipe_set_latency(struct mpsim_pipe *pipe, uint32_t us);
void mpsim_pipe_init(struct mpsim_pipe *pipe);
/** Free an empty pipeline. */
void mpsim_pipe_free(struct mpsim_pipe *pipe);

static inline uint32_t
mpsim_pipe_room(const struct mpsim_pipe *pipe)
{
	return MPSIM_PIPE_SLOTS - (pipe->head - pipe->tail);
}

/** Is a frame due to be in its ring? From any thread. */
static inline bool
mpsim_pipe_is_due(const struct mpsim_pipe *pipe)
{
	/* no pair: checked again under the lock */
	const uint64_t due = rte_atomic_load_explicit(&pipe->due, rte_memory_order_relaxed);

	return unlikely(due != MPSIM_PIPE_NEVER) && due <= octo_now();
}

/** Enter n frames of a queue; there must be room. */
void mpsim_pipe_enter(struct mpsim_pipe *pipe, struct mpsim_rxq *queue, struct rte_mbuf **frames,
		      uint16_t n);

/**
 * Move frames that are ready to the rings. If a ring is full, its frames are dropped and
 * counted.
 */
void mpsim_pipe_leave(struct mpsim_pf *pf);

/** Drop the frames of this queue, or all for NULL. Returns how many. */
uint32_t mpsim_pipe_drop(struct mpsim_pipe *pipe, const struct mpsim_rxq *queue);

#endif /* MPSIM_PIPE_H */
