/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SAMPLE_H
#define OCTO_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_compat.h>
#include <rte_stdatomic.h>

#include "octo_stray.h"
#include "octo_tuple.h"

/**
 * @file
 * Sampling of strays: which packet of which burst is a sample, and the ring by which the poller
 * of a queue passes samples to the control thread. No device, no clock, no lock, no pointer:
 * the ring is in shared memory, and its two ends may be in two processes.
 */

/** Without learning about one of this many strays is sampled. */
#define OCTO_SAMPLE_EVERY 8
#define OCTO_SAMPLE_EVERY_MAX 65536

/** A sampled stray. */
struct octo_sample {
	struct octo_tuple tuple;
	uint64_t cycles;  /**< octo_now() after its ring was polled; it may be read much later */
	uint64_t when;    /**< the same in ms, set by its reader */
	uint32_t turn;    /**< turn of the leg, see octo_sampler_polled() */
	uint32_t packets; /**< strays that it stands for */
	uint16_t queue;   /**< that received it */
	uint8_t pf;       /**< by which it came */
};

struct octo_sampler_leg {
	uint32_t turn;  /**< how often the ring was emptied, or its size taken from it */
	uint32_t taken; /**< packets since */
};

/** Owned by the thread that polls the queue. Zeroed memory is a valid start. */
struct octo_sampler {
	uint32_t wait;  /**< strays to skip */
	uint32_t since; /**< strays that no sample stands for yet */
	uint32_t random;
	struct octo_sampler_leg leg[OCTO_STRAY_MAX_LEGS];
};

/**
 * Called after a stray leg was polled.
 *
 * When the turn of a leg has grown by two since some moment, its ring contains nothing that was
 * in it at that moment, however slow its poller may be.
 *
 * @param got
 *   Packets that the leg returned, less copies.
 * @param copies
 *   Packets that the leg returned, and that were dropped as copies.
 * @param ring
 *   Descriptors of the leg's ring.
 * @param every
 *   About one of this many strays is sampled; at most one per burst.
 * @return
 *   Index of the sample in the burst, or -1 for none.
 */
__rte_internal
int octo_sampler_polled(struct octo_sampler *s, uint8_t leg, uint16_t got, uint16_t copies,
			uint16_t ring, uint32_t every);

/**
 * Capacity of the ring; a power of two. The control thread empties it each millisecond while
 * there are samples: enough for two million strays per second.
 */
#define OCTO_SAMPLE_ROOM 256

/** One producer, the poller; one consumer, the control thread. Zeroed memory is empty. */
struct octo_sample_ring {
	RTE_ATOMIC(uint32_t) head; /**< written by the producer */
	RTE_ATOMIC(uint32_t) tail; /**< written by the consumer */
	struct octo_sample sample[OCTO_SAMPLE_ROOM];
};

/** Where the next sample goes, which octo_sample_push() adds; NULL if there is no room. */
static inline struct octo_sample *
octo_sample_next(struct octo_sample_ring *r)
{
	const uint32_t head = rte_atomic_load_explicit(&r->head, rte_memory_order_relaxed);
	/* pairs with the release in octo_sample_pop(): the slot has been read */
	const uint32_t tail = rte_atomic_load_explicit(&r->tail, rte_memory_order_acquire);

	return likely(head - tail < OCTO_SAMPLE_ROOM) ? &r->sample[head % OCTO_SAMPLE_ROOM] : NULL;
}

/** Add the sample that was written to octo_sample_next(). */
static inline void
octo_sample_push(struct octo_sample_ring *r)
{
	const uint32_t head = rte_atomic_load_explicit(&r->head, rte_memory_order_relaxed);

	rte_atomic_store_explicit(&r->head, head + 1, rte_memory_order_release);
}

/** Take the oldest sample. @return false if there is none. */
static inline bool
octo_sample_pop(struct octo_sample_ring *r, struct octo_sample *s)
{
	const uint32_t tail = rte_atomic_load_explicit(&r->tail, rte_memory_order_relaxed);
	/* pairs with the release in octo_sample_push(): the sample has been written */
	const uint32_t head = rte_atomic_load_explicit(&r->head, rte_memory_order_acquire);

	if (head == tail)
		return false;
	*s = r->sample[tail % OCTO_SAMPLE_ROOM];
	rte_atomic_store_explicit(&r->tail, tail + 1, rte_memory_order_release);
	return true;
}

#endif /* OCTO_SAMPLE_H */
