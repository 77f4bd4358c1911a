/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LOCK_ORDER_H
#define OCTO_LOCK_ORDER_H

#include <stdint.h>

#include <rte_common.h>

/**
 * @file
 * The order of the port's locks, checked in builds with OCTO_DEBUG_LOCKS (meson option
 * debug_locks): each thread knows which of them it holds, and aborts when it breaks a rule. Other
 * builds have no code for it.
 */

/**
 * The outermost first. A thread that waits for a lock holds none of its rank, as that of another
 * port, and none of an inner rank. A thread that holds a mutex takes it again without a wait.
 */
enum octo_lock_rank {
	OCTO_RANK_REGISTRY, /**< a rwlock: octo_registry.c */
	OCTO_RANK_CONTROL,  /**< a recursive mutex: octo_lock.c */
	OCTO_RANK_COUNTS,   /**< a recursive mutex: octo_lock.c */
};

#ifdef OCTO_DEBUG_LOCKS

/**
 * A thread is about to wait for a lock without a time limit. Readers of a rwlock are exempt, as
 * they wait only for its writers, who take no other lock; so are octo_lock_try(),
 * octo_lock_in_time() and octo_lock_counts_in_time().
 *
 * @param port_id
 *   0 for what is the process's.
 */
void octo_lock_order_wait(enum octo_lock_rank rank, uint16_t port_id);

/** It has got the lock, in whatever way. */
void octo_lock_order_took(enum octo_lock_rank rank, uint16_t port_id);

/** It is about to release the lock. */
void octo_lock_order_left(enum octo_lock_rank rank, uint16_t port_id);

/** Abort unless this thread holds the control mutex of the port, which the function needs. */
void octo_lock_order_need(uint16_t port_id, const char *function);

#define octo_assert_locked(octo) octo_lock_order_need((octo)->port_id, __func__)

#else

#define octo_lock_order_wait(rank, port_id) RTE_SET_USED(port_id)
#define octo_lock_order_took(rank, port_id) RTE_SET_USED(port_id)
#define octo_lock_order_left(rank, port_id) RTE_SET_USED(port_id)
#define octo_assert_locked(octo) RTE_SET_USED(octo)

#endif

#endif /* OCTO_LOCK_ORDER_H */
