/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_HOLD_H
#define OCTO_HOLD_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_config.h>
#include <rte_stdatomic.h>

/**
 * @file
 * For how long a lock is held: a histogram, written by the holder, read by any thread. Time is
 * the caller's TSC.
 */

/** Below 1 us; from 2^(i-1) us on and below 2^i us; the last: from 2^20 us (1.05 s) on. */
#define OCTO_HOLD_BUCKETS 22

/** Zeroed memory is a valid start. */
struct octo_hold {
	RTE_ATOMIC(uint64_t) since;   /**< TSC; 0: the lock is free */
	RTE_ATOMIC(uint64_t) longest; /**< TSC cycles, of holds that have ended */
	RTE_ATOMIC(uint64_t) holds[OCTO_HOLD_BUCKETS];
};

struct octo_hold_view {
	uint64_t held_ns;    /**< since it was taken; 0: it is free */
	uint64_t longest_ns; /**< of holds that have ended */
	uint64_t holds[OCTO_HOLD_BUCKETS];
};

/** Index of the bucket for a time in microseconds. */
unsigned int octo_hold_bucket(uint64_t us);

/** Lower end of a bucket in microseconds. */
__rte_internal
uint64_t octo_hold_floor_us(unsigned int bucket);

/** The lock was taken. By its holder, as octo_hold_end(). */
static inline void
octo_hold_begin(struct octo_hold *h, uint64_t now)
{
	rte_atomic_store_explicit(&h->since, now, rte_memory_order_relaxed);
}

/** The lock is about to be released; hz is of the TSC. */
__rte_internal
void octo_hold_end(struct octo_hold *h, uint64_t now, uint64_t hz);

__rte_internal
void
octo_hold_read(const struct octo_hold *h, uint64_t now, uint64_t hz, struct octo_hold_view *view);

#endif /* OCTO_HOLD_H */
