/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CALL_H
#define OCTO_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_stdatomic.h>

#include "octo_epoch.h"
#include "octo_thread.h"

/**
 * @file
 * The short way of a burst: rte_eth_rx_burst() or rte_eth_tx_burst() of one PF. A burst
 * that took the long way, and checked everything, keeps here the PF's port, the thread and the
 * legs that it holds for, and for how many bursts. The next bursts only check that it holds.
 *
 * ethdev finds the PF's queue and burst function in each burst, so that a queue which was
 * set up again, or a port which was stopped, needs no check here.
 *
 * A thread is known by an address of its own process, so this is for the process that set
 * the port up alone.
 */

/** Bursts in a row that may take the short way: what is counted in them must not wrap. */
#define OCTO_CALL_BURSTS 64

/** Owned by the thread that polls the queue, or sends by it. Zeroed memory holds nothing. */
struct octo_call {
	RTE_ATOMIC(uintptr_t) thread; /**< whose it is; 0: nobody's, which anyone may store */
	uint32_t legs;                /**< that were to be used */
	uint32_t until;               /**< epoch of the last burst that it is for */
	uint16_t port;                /**< the PF's */
	uint8_t leg;                  /**< that it is of; set and read by Tx, to count */
};

/**
 * The next burst takes the long way. By the control side before it changes the legs: they
 * may be the same again at the next burst, and the PFs' ports others.
 */
static inline void
octo_call_forget(struct octo_call *c)
{
	/* no pair: the legs that are stored next have one, and removal awaits the burst */
	rte_atomic_store_explicit(&c->thread, 0, rte_memory_order_relaxed);
}

/** By the calling thread for itself, in a burst. */
static inline void
octo_call_keep(struct octo_call *c, uint16_t port, uint32_t legs, uint32_t until)
{
	c->port = port;
	c->legs = legs;
	c->until = until;
	rte_atomic_store_explicit(&c->thread, octo_thread_here(), rte_memory_order_relaxed);
}

static inline bool
octo_call_holds(const struct octo_call *c, uint32_t legs, uint32_t epoch)
{
	return rte_atomic_load_explicit(&c->thread, rte_memory_order_relaxed) ==
		       octo_thread_here() &&
	       c->legs == legs && c->until - epoch < OCTO_CALL_BURSTS * OCTO_EPOCH_BURST;
}

#endif /* OCTO_CALL_H */
