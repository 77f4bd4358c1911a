/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CALL_H
#define OCTO_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_stdatomic.h>

/**
 * @file
 * rte_eth_rx_burst() and rte_eth_tx_burst() of a PF, as often as bursts come. ethdev finds
 * the queue by four loads, each of which waits for the one before; that waiting is half of
 * what the layer costs. So the poller of a queue keeps what it found last. It looks all the
 * same whether that still holds, but nothing waits for the answer.
 *
 * What ethdev knows is the process', so this is for the one that set the port up alone.
 */

/** Owned by who polls the queue, or sends by it. Zeroed memory holds nothing. */
struct octo_call {
	const struct rte_eth_fp_ops *ops;
	void *queue;
};

static inline void
octo_call_find_rx(struct octo_call *c, uint16_t port, uint16_t queue)
{
	const struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[port];

	*c = (struct octo_call){.ops = ops, .queue = ops->rxq.data[queue]};
}

static inline void
octo_call_find_tx(struct octo_call *c, uint16_t port, uint16_t queue)
{
	const struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[port];

	*c = (struct octo_call){.ops = ops, .queue = ops->txq.data[queue]};
}

/** Would it be found again? A port that was stopped, or whose queue was set up anew, is not. */
static inline bool
octo_call_holds_rx(const struct octo_call *c, uint16_t port, uint16_t queue)
{
	return c->ops == &rte_eth_fp_ops[port] && c->ops->rxq.data[queue] == c->queue;
}

static inline bool
octo_call_holds_tx(const struct octo_call *c, uint16_t port, uint16_t queue)
{
	return c->ops == &rte_eth_fp_ops[port] && c->ops->txq.data[queue] == c->queue;
}

/** After octo_call_holds_rx(). The function is the one of now: PMDs change it as they like. */
static inline uint16_t
octo_call_rx(const struct octo_call *c, uint16_t port, uint16_t queue, struct rte_mbuf **pkts,
	     uint16_t nb)
{
	uint16_t got = c->ops->rx_pkt_burst(c->queue, pkts, nb);

#ifdef RTE_ETHDEV_RXTX_CALLBACKS
	/* no pair: as in ethdev, what it points to is found by the address alone */
	void *cb = rte_atomic_load_explicit(&c->ops->rxq.clbk[queue], rte_memory_order_relaxed);

	if (unlikely(cb != NULL))
		got = rte_eth_call_rx_callbacks(port, queue, pkts, got, nb, cb);
#endif
	return got;
}

/** The same of octo_call_holds_tx(). */
static inline uint16_t
octo_call_tx(const struct octo_call *c, uint16_t port, uint16_t queue, struct rte_mbuf **pkts,
	     uint16_t nb)
{
#ifdef RTE_ETHDEV_RXTX_CALLBACKS
	void *cb = rte_atomic_load_explicit(&c->ops->txq.clbk[queue], rte_memory_order_relaxed);

	if (unlikely(cb != NULL))
		nb = rte_eth_call_tx_callbacks(port, queue, pkts, nb, cb);
#endif
	return c->ops->tx_pkt_burst(c->queue, pkts, nb);
}

#endif /* OCTO_CALL_H */
