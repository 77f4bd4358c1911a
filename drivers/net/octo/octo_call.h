/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CALL_H
#define OCTO_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_stdatomic.h>

#include "octo_epoch.h"
#include "octo_thread.h"

/**
 * @file
 * The short way of a burst: rte_eth_rx_burst() or rte_eth_tx_burst() of one PF. A burst that
 * took the long way, and looked at everything, keeps here what it found, for whom, with which
 * legs, and for how many bursts that will do. The next ones only look whether that is so.
 *
 * What is kept includes the queue of the PF: ethdev finds it by four loads, each of which
 * waits for the one before. Here nothing waits for the look whether it would be found again.
 *
 * What ethdev knows is the process', so this is for the one that set the port up alone.
 */

/** Bursts that may go the short way on end: what is counted in them must not wrap. */
#define OCTO_CALL_BURSTS 64

/** Owned by who polls the queue, or sends by it. Zeroed memory holds nothing. */
struct octo_call {
	RTE_ATOMIC(uintptr_t) thread; /**< whose it is; 0: nobody's, which anyone may store */
	const struct rte_eth_fp_ops *ops;
	void *queue;
	uint32_t legs;  /**< that were to be used */
	uint32_t until; /**< epoch of the last burst that it is for */
	uint16_t queue_id;
	uint8_t leg; /**< that it is of; set and read by Tx, to count */
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

/** By the one that calls, in a burst; ops and queue are there. */
static inline void
octo_call_keep(struct octo_call *c, uint32_t legs, uint32_t until)
{
	c->legs = legs;
	c->until = until;
	rte_atomic_store_explicit(&c->thread, octo_thread_here(), rte_memory_order_relaxed);
}

static inline void
octo_call_find_rx(struct octo_call *c, uint16_t port, uint16_t queue)
{
	c->ops = &rte_eth_fp_ops[port];
	c->queue = c->ops->rxq.data[queue];
	c->queue_id = queue;
}

static inline void
octo_call_find_tx(struct octo_call *c, uint16_t port, uint16_t queue)
{
	c->ops = &rte_eth_fp_ops[port];
	c->queue = c->ops->txq.data[queue];
	c->queue_id = queue;
}

static inline bool
octo_call_holds(const struct octo_call *c, uint32_t legs, uint32_t epoch)
{
	return rte_atomic_load_explicit(&c->thread, rte_memory_order_relaxed) ==
		       octo_thread_here() &&
	       c->legs == legs && c->until - epoch < OCTO_CALL_BURSTS * OCTO_EPOCH_BURST;
}

/** Would it be found again? A port that was stopped, or whose queue was set up anew, is not. */
static inline bool
octo_call_holds_rx(const struct octo_call *c, uint32_t legs, uint32_t epoch)
{
	return octo_call_holds(c, legs, epoch) && c->ops->rxq.data[c->queue_id] == c->queue;
}

static inline bool
octo_call_holds_tx(const struct octo_call *c, uint32_t legs, uint32_t epoch)
{
	return octo_call_holds(c, legs, epoch) && c->ops->txq.data[c->queue_id] == c->queue;
}

/** The PF's. */
static inline uint16_t
octo_call_port(const struct octo_call *c)
{
	return (uint16_t)(c->ops - rte_eth_fp_ops);
}

/** After octo_call_holds_rx(). The function is the one of now: PMDs change it as they like. */
static inline uint16_t
octo_call_rx(const struct octo_call *c, struct rte_mbuf **pkts, uint16_t nb)
{
	uint16_t got = c->ops->rx_pkt_burst(c->queue, pkts, nb);

#ifdef RTE_ETHDEV_RXTX_CALLBACKS
	/* no pair: as in ethdev, what it points to is found by the address alone */
	void *cb = rte_atomic_load_explicit(&c->ops->rxq.clbk[c->queue_id],
					    rte_memory_order_relaxed);

	if (unlikely(cb != NULL))
		got = rte_eth_call_rx_callbacks(octo_call_port(c), c->queue_id, pkts, got, nb, cb);
#endif
	return got;
}

/** The same of octo_call_holds_tx(). */
static inline uint16_t
octo_call_tx(const struct octo_call *c, struct rte_mbuf **pkts, uint16_t nb)
{
#ifdef RTE_ETHDEV_RXTX_CALLBACKS
	void *cb = rte_atomic_load_explicit(&c->ops->txq.clbk[c->queue_id],
					    rte_memory_order_relaxed);

	if (unlikely(cb != NULL))
		nb = rte_eth_call_tx_callbacks(octo_call_port(c), c->queue_id, pkts, nb, cb);
#endif
	return c->ops->tx_pkt_burst(c->queue, pkts, nb);
}

#endif /* OCTO_CALL_H */
