/* SPDX-License-Identifier: BSD-3-Clause */

/* Where the memory of a queue is, and what of it crosses from one node to another. */

#include <rte_memory.h>
#include <rte_mempool.h>

#include "octo_private.h"

/*
 * Of the CPU it is asked by the home leg only: it cannot be near them all. Simulated and
 * mapped nodes are not where memory is.
 */
struct octo_place
octo_place_rx(const struct octo_dev *octo, const struct octo_rxq *q, uint8_t leg)
{
	const struct octo_pf *pf = &octo->pf[leg];
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);

	return (struct octo_place){
		.pf = pf->node,
		.ring = octo->mapped ? -1 : pf->alloc_socket,
		.pool = octo->mapped || q->pools.leg[leg] == NULL ? -1 : q->pools.leg_node[leg],
		.cpu = leg == home ? q->watch.node : -1,
	};
}

/* What is sent may be anywhere. */
struct octo_place
octo_place_tx(const struct octo_dev *octo, const struct octo_txq *q, uint8_t leg)
{
	const struct octo_pf *pf = &octo->pf[leg];
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);

	return (struct octo_place){
		.pf = pf->node,
		.ring = octo->mapped ? -1 : pf->alloc_socket,
		.pool = -1,
		.cpu = leg == home ? q->watch.node : -1,
	};
}

/* A queue's node and home change one after the other: what crosses still does at the next look. */
static void
tell(const struct octo_dev *octo, const char *kind, uint16_t queue, const struct octo_place *place,
     struct octo_crossings *c)
{
	const uint32_t crossings = octo_plan_crossings(place);
	const uint32_t new = crossings & c->before & ~c->told;

	c->now |= crossings;
	if (new == 0)
		return;
	OCTO_LOG(WARNING,
		 "port %u: %s queue %u crosses sockets: its %s and its home PF are on two "
		 "(all queues: octo show topology, /octo/legs)",
		 octo->port_id, kind, queue, octo_plan_crossing_names(new));
	c->told |= new;
}

static void
next_look(struct octo_crossings *c)
{
	c->before = c->now;
	c->now = 0;
}

void
octo_place_start_locked(struct octo_dev *octo)
{
	octo->rx_crossings = (struct octo_crossings){0};
	octo->tx_crossings = (struct octo_crossings){0};
}

static void
follow_rx(struct octo_dev *octo, const struct octo_rxq *q)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	const struct octo_place place = octo_place_rx(octo, q, home);

	tell(octo, "Rx", q->queue_id, &place, &octo->rx_crossings);
}

static void
follow_tx(struct octo_dev *octo, const struct octo_txq *q)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	const struct octo_place place = octo_place_tx(octo, q, home);

	tell(octo, "Tx", q->queue_id, &place, &octo->tx_crossings);
}

/*
 * By the control thread: what crosses by the home leg is told once. Not of a queue that
 * nobody has used, as its home is a guess, nor while a PF has no link: then queues must cross.
 */
void
octo_place_follow_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	if (octo->plan.usable != octo_pf_mask(octo, OCTO_PF_STARTED))
		return;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		const struct octo_rxq *q = data->rx_queues[i];

		if (q != NULL && q->watch.node >= 0)
			follow_rx(octo, q);
	}
	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		const struct octo_txq *q = data->tx_queues[i];

		/* nor while it is on its way */
		if (q != NULL && q->watch.node >= 0 &&
		    rte_atomic_load_explicit(&q->via, rte_memory_order_relaxed) != OCTO_TX_NO_PF)
			follow_tx(octo, q);
	}
	next_look(&octo->rx_crossings);
	next_look(&octo->tx_crossings);
}
