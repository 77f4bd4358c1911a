/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_EPOCH_H
#define OCTO_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_compat.h>
#include <rte_stdatomic.h>

/**
 * @file
 * The in-burst epoch: tells the control side that a poller has left its burst, or is in a later
 * one, without a lock or a fence on the data path.
 *
 * The value is odd inside a burst. The poller's store of the odd value and its later loads of
 * what the control side publishes are ordered by the compiler barrier here and by membarrier(2)
 * in octo_epoch_await(). Epochs are in shared memory: pollers may be in any process that called
 * octo_epoch_init().
 */

struct octo_epoch {
	RTE_ATOMIC(uint32_t) value; /**< one writer: the thread that polls the queue */
};

/**
 * Count of threads inside a section, such as a query of a queue's fill level. Any thread may
 * enter one, while an epoch is for its poller only.
 */
struct octo_askers {
	RTE_ATOMIC(uint32_t) nb;
	RTE_ATOMIC(uint32_t) nb_lost; /**< of these, given up: not awaited any more */
};

/** Increment of the value from one burst to the next. */
#define OCTO_EPOCH_BURST 2

/** Enter a burst. Pairs with the membarrier in octo_epoch_await(). @return the new value. */
static inline uint32_t
octo_epoch_enter(struct octo_epoch *e)
{
	/* odd even if a poller that died inside a burst has left it odd */
	const uint32_t v = (rte_atomic_load_explicit(&e->value, rte_memory_order_relaxed) + 1) | 1;

	rte_atomic_store_explicit(&e->value, v, rte_memory_order_relaxed);
	rte_compiler_barrier();
	return v;
}

/** Leave a burst. The release pairs with the acquire in octo_epoch_await(). */
static inline void
octo_epoch_leave(struct octo_epoch *e)
{
	uint32_t v = rte_atomic_load_explicit(&e->value, rte_memory_order_relaxed);

	rte_atomic_store_explicit(&e->value, v + 1, rte_memory_order_release);
}

/** The present value; for the poller, in a burst. */
static inline uint32_t
octo_epoch_now(const struct octo_epoch *e)
{
	return rte_atomic_load_explicit(&e->value, rte_memory_order_relaxed);
}

/** The value that a later burst will have, @p bursts after this one. */
static inline uint32_t
octo_epoch_in(const struct octo_epoch *e, uint32_t bursts)
{
	return octo_epoch_now(e) + bursts * OCTO_EPOCH_BURST;
}

/**
 * Has `now` reached `then`, which was at most @p bursts ahead when it was computed? Correct
 * however long ago that was.
 */
static inline bool
octo_epoch_reached(uint32_t now, uint32_t then, uint32_t bursts)
{
	return then - now - 1 >= bursts * OCTO_EPOCH_BURST;
}

/** Is the poller inside a burst right now? */
static inline bool
octo_epoch_is_inside(const struct octo_epoch *e)
{
	return rte_atomic_load_explicit(&e->value, rte_memory_order_acquire) & 1;
}

/** Enter the section. The fence pairs with the one in octo_askers_await(). */
static inline void
octo_askers_enter(struct octo_askers *a)
{
	rte_atomic_fetch_add_explicit(&a->nb, 1, rte_memory_order_relaxed);
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
}

/** Leave the section. The release pairs with the acquire in octo_askers_await(). */
static inline void
octo_askers_leave(struct octo_askers *a)
{
	rte_atomic_fetch_sub_explicit(&a->nb, 1, rte_memory_order_release);
}

/**
 * Prepare this process for octo_epoch_await() in this or another one. Once per process; calling
 * it again does nothing.
 */
__rte_internal
void octo_epoch_init(void);

/**
 * Wait until every poller that was inside a burst at the time of the call has left it. Every
 * later burst sees the caller's earlier stores. Never call it from a thread that is inside one
 * of these bursts.
 *
 * @param epochs
 *   Pointers to nb epochs; NULL entries are skipped.
 * @param timeout_us
 *   Limit: a process that died inside a burst never leaves it.
 * @return
 *   0, or -ETIMEDOUT.
 */
__rte_internal
int octo_epoch_await(struct octo_epoch *const epochs[], unsigned int nb, uint64_t timeout_us);

/**
 * Wait until there was a moment at which no thread was inside the section.
 *
 * @return
 *   0, or -ETIMEDOUT.
 */
__rte_internal
int octo_askers_await(struct octo_askers *a, uint64_t timeout_us);

/**
 * octo_askers_await() for threads of processes that may be killed inside the section: threads
 * that do not leave in time are given up, and not awaited again. If such a thread is alive
 * after all, it is not awaited until it has left.
 *
 * @return
 *   0, or -ETIMEDOUT.
 */
__rte_internal
int octo_askers_await_mortal(struct octo_askers *a, uint64_t timeout_us);

#endif /* OCTO_EPOCH_H */
