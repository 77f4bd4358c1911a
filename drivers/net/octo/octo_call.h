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
 * The fast path of a burst: rte_eth_rx_burst() or rte_eth_tx_burst() of one PF. A burst on the
 * slow path, which makes all checks, caches here the PF's port, the thread and the legs for
 * which the result is valid, and for how many bursts. The next bursts only check that the cache
 * is valid.
 *
 * ethdev looks up the PF's queue and burst function in each burst, so that a queue which was
 * set up again, or a port which was stopped, needs no check here.
 *
 * A thread is identified by an address in its own process, so the cache can be used only by the
 * process that set up the port.
 */

/** Bursts in a row that may take the fast path: a counter of their packets must not wrap. */
#define OCTO_CALL_BURSTS 64

/** A hardware queue of a PF's port. */
struct octo_leg {
	uint16_t port;
	uint16_t queue;
};

/** Owned by the thread that polls the queue, or sends by it. Zeroed memory is an invalid cache. */
struct octo_call {
	RTE_ATOMIC(uintptr_t) thread; /**< owner; 0: none, any thread may store itself */
	uint32_t legs;                /**< live legs at the time */
	uint32_t until;               /**< epoch of the last burst for which it is valid */
	struct octo_leg leg;
	uint8_t pf; /**< index of the PF; set and read by Tx, for counting */
};

/**
 * Make the next burst take the slow path. The control side calls this before it changes the
 * legs: at the next burst the mask of legs may be the same again, with other ports behind it.
 */
static inline void
octo_call_forget(struct octo_call *c)
{
	/* no pair: the legs that are stored next have one, and removal waits for the burst */
	rte_atomic_store_explicit(&c->thread, 0, rte_memory_order_relaxed);
}

/** Fill the cache; called by the owning thread in a burst. */
static inline void
octo_call_keep(struct octo_call *c, struct octo_leg leg, uint32_t legs, uint32_t until)
{
	c->leg = leg;
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
