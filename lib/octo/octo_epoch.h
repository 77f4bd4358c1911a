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
 * The in-burst epoch: lets the control side know that a poller has left the
 * burst it was in, or is in a later one, without a lock or a fence on the data path.
 *
 * The value is odd inside a burst. The poller's store of the odd value and its
 * later loads of what the control side publishes are kept apart by the compiler
 * barrier here and by membarrier(2) in octo_epoch_await(). It lives in shared
 * memory: pollers may be in any process that called octo_epoch_init().
 */

struct octo_epoch {
	RTE_ATOMIC(uint32_t) value; /**< one writer: the thread that polls the queue */
};

/** Threads, any, that ask how full a queue is: its epoch is its poller's. */
struct octo_askers {
	RTE_ATOMIC(uint32_t) nb;
	RTE_ATOMIC(uint32_t) nb_lost; /**< of these, not awaited any more */
};

/** From one burst to the next. */
#define OCTO_EPOCH_BURST 2

/** Enter a burst. Pairs with the membarrier in octo_epoch_await(). @return the value now. */
static inline uint32_t
octo_epoch_enter(struct octo_epoch *e)
{
	/* odd also where a poller that died inside a burst left it odd */
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

/** By the poller, in a burst: the value now. */
static inline uint32_t
octo_epoch_now(const struct octo_epoch *e)
{
	return rte_atomic_load_explicit(&e->value, rte_memory_order_relaxed);
}

/** The same of a burst to come, so many after this one. */
static inline uint32_t
octo_epoch_in(const struct octo_epoch *e, uint32_t bursts)
{
	return octo_epoch_now(e) + bursts * OCTO_EPOCH_BURST;
}

/** Is a value that was so many bursts ahead at most not ahead any more, however long since? */
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

/** Begin to ask. The fence pairs with the one in octo_askers_await(). */
static inline void
octo_askers_enter(struct octo_askers *a)
{
	rte_atomic_fetch_add_explicit(&a->nb, 1, rte_memory_order_relaxed);
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
}

/** There is an answer. The release pairs with the acquire in octo_askers_await(). */
static inline void
octo_askers_leave(struct octo_askers *a)
{
	rte_atomic_fetch_sub_explicit(&a->nb, 1, rte_memory_order_release);
}

/**
 * Prepare this process for octo_epoch_await() in this or another one.
 * Once per process; calling it again does nothing.
 */
__rte_internal
void octo_epoch_init(void);

/**
 * Wait until every poller that was inside a burst when this was called has
 * left it. What the caller stored before is seen by every later burst.
 *
 * Never call it from a thread that is inside one of these bursts.
 *
 * @param epochs
 *   Pointers to nb epochs; NULL entries are skipped.
 * @param timeout_us
 *   Gives up after so long: a process that died inside a burst never leaves it.
 * @return
 *   0, or -ETIMEDOUT.
 */
__rte_internal
int octo_epoch_await(struct octo_epoch *const epochs[], unsigned int nb, uint64_t timeout_us);

/**
 * The same for those who were asking when this was called: waits until there was a
 * moment at which nobody did.
 *
 * @return
 *   0, or -ETIMEDOUT.
 */
__rte_internal
int octo_askers_await(struct octo_askers *a, uint64_t timeout_us);

/**
 * The same for threads of processes that may be killed while they ask: those that did not
 * stop asking in time are not awaited again. Should one of them still be alive, it is not
 * awaited until it has its answer.
 *
 * @return
 *   0, or -ETIMEDOUT.
 */
__rte_internal
int octo_askers_await_mortal(struct octo_askers *a, uint64_t timeout_us);

#endif /* OCTO_EPOCH_H */
