/* SPDX-License-Identifier: BSD-3-Clause */

/* NUMA locality of a queue's memory, and which of it crosses from one node to another. */

#include "octo_private.h"

/*
 * The CPU counts for the home leg only, as it cannot be near all of them. Memory is never on
 * simulated or mapped nodes.
 */
static struct octo_locality
locality_of(const struct octo_dev *octo, uint8_t leg, int pool, int cpu)
{
	const struct octo_pf *pf = &octo->pf[leg];

	return (struct octo_locality){
		.pf = pf->node,
		.ring = octo->mapped ? -1 : pf->alloc_socket,
		.pool = octo->mapped ? -1 : pool,
		.cpu = cpu,
	};
}

struct octo_locality
octo_locality_rx(const struct octo_dev *octo, const struct octo_rxq *q, uint8_t leg)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);

	return locality_of(octo, leg, q->pools.leg[leg] == NULL ? -1 : q->pools.leg_node[leg],
			   leg == home ? q->tracking.node : -1);
}

/* The pool is unknown: packets to be sent may be anywhere. */
struct octo_locality
octo_locality_tx(const struct octo_dev *octo, const struct octo_txq *q, uint8_t leg)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);

	return locality_of(octo, leg, -1, leg == home ? q->tracking.node : -1);
}

/*
 * A queue's node and home change one after the other, so a crossing is logged only if it is
 * there at the next look, too.
 */
static void
log_crossings(const struct octo_dev *octo, const char *kind, uint16_t queue,
	      const struct octo_locality *locality, struct octo_crossings *c)
{
	const uint32_t crossings = octo_plan_crossings(locality);
	const uint32_t new = crossings & c->before & ~c->logged;

	c->now |= crossings;
	if (new == 0)
		return;
	OCTO_LOG(WARNING,
		 "port %u: %s queue %u crosses sockets: its %s and its home PF are on two "
		 "(all queues: octo show topology, /octo/legs)",
		 octo->port_id, kind, queue, octo_plan_crossing_names(new));
	c->logged |= new;
}

static void
next_look(struct octo_crossings *c)
{
	c->before = c->now;
	c->now = 0;
}

void
octo_locality_start_locked(struct octo_dev *octo)
{
	octo->rx_crossings = (struct octo_crossings){0};
	octo->tx_crossings = (struct octo_crossings){0};
}

/*
 * Called by the control thread: each kind of crossing by a home leg is logged once. Queues that
 * were never used are left out, as their home is a guess. While a PF has no link queues must
 * cross.
 */
void
octo_locality_follow_locked(struct octo_dev *octo)
{
	const struct octo_rxq *rxq;
	const struct octo_txq *txq;
	struct octo_locality l;
	uint8_t home;

	if (octo->plan.usable != octo_pf_mask(octo, OCTO_PORT_RUNNING))
		return;
	OCTO_FOREACH_RXQ(octo, rxq) {
		if (rxq->tracking.node < 0)
			continue;
		home = rte_atomic_load_explicit(&rxq->home, rte_memory_order_relaxed);
		l = octo_locality_rx(octo, rxq, home);
		log_crossings(octo, "Rx", rxq->queue_id, &l, &octo->rx_crossings);
	}
	/* a Tx queue that switches to another PF is left out, too */
	OCTO_FOREACH_TXQ(octo, txq) {
		if (txq->tracking.node < 0 ||
		    rte_atomic_load_explicit(&txq->via, rte_memory_order_relaxed) == OCTO_TX_NO_PF)
			continue;
		home = rte_atomic_load_explicit(&txq->home, rte_memory_order_relaxed);
		l = octo_locality_tx(octo, txq, home);
		log_crossings(octo, "Tx", txq->queue_id, &l, &octo->tx_crossings);
	}
	next_look(&octo->rx_crossings);
	next_look(&octo->tx_crossings);
}
