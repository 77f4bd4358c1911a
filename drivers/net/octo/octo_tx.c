/* SPDX-License-Identifier: BSD-3-Clause */

/* The data path, Tx, and by which PF a queue sends. */

#include "octo_private.h"

/* Has the PF sent everything that was put on its ring? Unknown counts as yes. */
static bool
is_drained(const struct octo_txq *q, uint8_t pf)
{
	return rte_eth_tx_descriptor_status(q->leg_port[pf], q->queue_id, q->nb_desc - 1) !=
	       RTE_ETH_TX_DESC_FULL;
}

static uint8_t
planned_tx_home(const struct octo_txq *q, uint32_t sending)
{
	const uint8_t pin = q->octo->tx_pin[q->queue_id];

	if (pin != 0 && (sending & RTE_BIT32(pin - 1)))
		return pin - 1;
	return octo_topo_home(q->octo, q->node, q->queue_id);
}

static void
follow_sender(struct octo_txq *q, uint32_t sending)
{
	int16_t cpu;
	const int node = octo_topo_here(q->octo, &cpu);
	uint8_t old = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	uint8_t home;

	rte_atomic_store_explicit(&q->cpu, cpu, rte_memory_order_relaxed);
	/* a plan that was made with an older mask may have led where nothing can be sent now */
	if (!octo_topo_needs_plan(q->octo, node, &q->node, &q->plan_generation,
				  &q->other_node_seen) &&
	    (sending & RTE_BIT32(old)))
		return;
	home = planned_tx_home(q, sending);
	if (home == old)
		return;
	/* the paper's ooo_okay: not before the old ring is empty, if it can ever be */
	if (!(sending & RTE_BIT32(home)) ||
	    ((sending & RTE_BIT32(old)) && q->packets[old] != 0 && !is_drained(q, old))) {
		q->plan_generation--; /* look again */
		return;
	}
	rte_atomic_store_explicit(&q->home, home, rte_memory_order_relaxed);
}

static inline uint64_t
sum_bytes(struct rte_mbuf **pkts, uint16_t nb)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < nb; i++)
		bytes += pkts[i]->pkt_len;
	return bytes;
}

static inline uint8_t
tx_home(struct octo_txq *q, uint32_t sending)
{
	uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);

	if (unlikely((q->now++ & (OCTO_HOME_SAMPLE - 1)) == 0 || !(sending & RTE_BIT32(home)))) {
		follow_sender(q, sending);
		home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	}
	return home;
}

uint16_t
octo_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	uint16_t sent = 0;
	uint64_t bytes;
	uint32_t sending;
	uint8_t home;

	octo_epoch_enter(&q->epoch);
	/* pairs with the release in publish_sending() */
	sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	home = tx_home(q, sending);
	if (likely(sending & RTE_BIT32(home))) {
		/* before the burst: what was sent belongs to the PF */
		bytes = sum_bytes(pkts, nb);
		sent = rte_eth_tx_burst(q->leg_port[home], q->queue_id, pkts, nb);
		q->packets[home] += sent;
		q->bytes[home] += bytes - sum_bytes(pkts + sent, nb - sent);
	}
	octo_epoch_leave(&q->epoch);
	return sent;
}

uint16_t
octo_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	uint16_t ready = 0;
	uint32_t sending;
	uint8_t home;

	octo_epoch_enter(&q->epoch);
	sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	home = tx_home(q, sending);
	if (likely(sending & RTE_BIT32(home)))
		ready = rte_eth_tx_prepare(q->leg_port[home], q->queue_id, pkts, nb);
	else
		rte_errno = ENODEV;
	octo_epoch_leave(&q->epoch);
	return ready;
}

/* May be called from another thread than the one that sends: no epoch, as in octo_rxtx.c. */
int
octo_tx_descriptor_status(void *txq, uint16_t offset)
{
	struct octo_txq *q = txq;
	uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);

	return rte_eth_tx_descriptor_status(q->leg_port[home], q->queue_id, offset);
}

/* Frees on every leg, since an earlier home may still hold packets. */
int
octo_tx_done_cleanup(void *txq, uint32_t free_cnt)
{
	struct octo_txq *q = txq;
	uint32_t freed = 0;
	uint32_t live;
	int n = 0;

	octo_epoch_enter(&q->epoch);
	live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	for (uint8_t leg = 0; leg < OCTO_MAX_PFS; leg++) {
		if (!(live & RTE_BIT32(leg)))
			continue;
		n = rte_eth_tx_done_cleanup(q->leg_port[leg], q->queue_id,
					    free_cnt == 0 ? 0 : free_cnt - freed);
		if (n < 0)
			break;
		freed += n;
		if (free_cnt != 0 && freed >= free_cnt)
			break;
	}
	octo_epoch_leave(&q->epoch);
	return n < 0 ? n : (int)freed;
}
