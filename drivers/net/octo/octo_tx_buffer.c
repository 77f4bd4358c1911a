/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * tx_pf=mbuf: each packet is sent by the PF that is near its buffer. Packets of one queue
 * may be sent by different PFs and overtake each other.
 */

#include "octo_private.h"

static int
node_of_pool(const struct octo_txq *q, struct rte_mempool *pool)
{
	/*
	 * Nodes of a socket map, or of simulated PFs, are unknown to libnuma: use the pool's
	 * socket.
	 */
	return q->octo->mapped ? pool->socket_id : octo_home_of_pool(pool);
}

/* Find the node of a pool in the cache, or determine and cache it. */
static int
look_up(struct octo_txq *q, struct rte_mempool *pool)
{
	struct octo_tx_near *near = &q->near;
	int node;

	for (unsigned int i = 0; i < OCTO_TX_POOLS; i++)
		if (near->pools[i].pool == pool)
			return near->pools[i].node;
	node = node_of_pool(q, pool);
	if (node > OCTO_SOCKET_MAP_MAX_NODE)
		node = -1;
	near->pools[near->next_pool].pool = pool;
	near->pools[near->next_pool].node = (int16_t)node;
	near->next_pool = (near->next_pool + 1) % OCTO_TX_POOLS;
	return node;
}

static inline int
node_of(struct octo_txq *q, struct rte_mbuf *m)
{
	struct rte_mempool *pool = octo_tx_data_pool(m);

	if (unlikely(pool == NULL))
		return -1;
	/* most applications have one pool */
	return likely(pool == q->near.pools[0].pool) ? q->near.pools[0].node : look_up(q, pool);
}

static uint8_t
nearest(const struct octo_txq *q, int node, uint32_t sending)
{
	const uint8_t pf = octo_tx_plan_home(q, node, sending);

	if (sending & RTE_BIT32(pf))
		return pf;
	return sending & RTE_BIT32(q->home) ? q->home : (uint8_t)rte_bsf32(sending);
}

/* Recompute which PF is nearest to each node: periodically, and when the PFs have changed. */
static __rte_noinline void
look_around(struct octo_txq *q, uint32_t sending)
{
	int16_t cpu;
	const int node = octo_home_here(q->octo, &cpu);

	rte_atomic_store_explicit(&q->cpu, cpu, rte_memory_order_relaxed);
	q->tracking.node = (int16_t)node;
	rte_atomic_store_explicit(&q->home, nearest(q, node, sending), rte_memory_order_relaxed);
	/* a stopped queue must not be in the middle of a switch */
	q->to = q->home;
	for (int i = 0; i <= OCTO_SOCKET_MAP_MAX_NODE; i++)
		q->near.pf_of_node[i] = nearest(q, i, sending);
	q->near.sending = sending;
	q->look = octo_epoch_in(&q->epoch, OCTO_HOME_SAMPLE);
}

/* Is no segment shared, so that hints may be written? */
static bool
is_writable(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if (rte_mbuf_refcnt_read(m) != 1)
			return false;
	return true;
}

static void
give_hints(struct octo_txq *q, struct rte_mbuf *m, uint8_t pf)
{
	const struct octo_tx_hint *hint = &q->octo->tx_hint;

	m->ol_flags |= hint->flag;
	for (struct rte_mbuf *seg = m; seg != NULL; seg = seg->next) {
		const int node = node_of(q, seg);

		*octo_tx_hint_of(hint, seg) = q->leg[node < 0 ? pf : q->near.pf_of_node[node]].port;
	}
}

static bool
takes_hints(const struct octo_txq *q, uint8_t pf, const struct rte_mbuf *m)
{
	return (q->hints & RTE_BIT32(pf)) && is_writable(m);
}

static void
add_up(struct octo_txq *q, struct rte_mbuf *m, struct octo_tx_cost *cost, bool *mixed)
{
	const int first = node_of(q, m);

	*mixed = false;
	for (struct rte_mbuf *seg = m; seg != NULL; seg = seg->next) {
		const int node = node_of(q, seg);

		octo_tx_cost_add(cost, &q->octo->plan, node, seg->data_len);
		*mixed |= node != first;
	}
}

static __rte_noinline uint8_t
pf_of_chain(struct octo_txq *q, struct rte_mbuf *m)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	struct octo_tx_cost cost = {0};
	bool mixed;
	uint8_t pf;

	add_up(q, m, &cost, &mixed);
	/* with hints each PF fetches what is near it: use the PF near the sender's descriptors */
	if (mixed && takes_hints(q, home, m)) {
		give_hints(q, m, home);
		return home;
	}
	if (m->ol_flags & q->octo->tx_hint.flag)
		m->ol_flags &= ~q->octo->tx_hint.flag;
	pf = octo_tx_cost_least(&cost, &q->octo->plan, q->near.sending, home);
	if (mixed && takes_hints(q, pf, m))
		give_hints(q, m, pf);
	return pf;
}

static inline uint8_t
pf_of(struct octo_txq *q, __rte_unused uint32_t sending, struct rte_mbuf *m)
{
	int node;

	if (unlikely(m->nb_segs > 1))
		return pf_of_chain(q, m);
	node = node_of(q, m);
	return node < 0 ? rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed) :
			  q->near.pf_of_node[node];
}

struct chains {
	uint64_t hinted;
	uint64_t crossing; /* bytes */
};

static struct chains
count_chains(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts, uint16_t nb)
{
	struct chains sum = {0};

	for (uint16_t i = 0; i < nb; i++) {
		struct octo_tx_cost cost = {0};
		bool mixed;

		if (likely(pkts[i]->nb_segs == 1))
			continue;
		add_up(q, pkts[i], &cost, &mixed);
		if (pkts[i]->ol_flags & q->octo->tx_hint.flag)
			sum.hinted++;
		else
			sum.crossing += cost.crossing[pf];
	}
	return sum;
}

/* Send consecutive packets that use the same PF. */
static uint16_t
send_run(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts, uint16_t nb)
{
	/* counted before the burst: packets that were sent belong to the PF */
	const struct chains all = count_chains(q, pf, pkts, nb);
	const uint16_t sent = octo_tx_by(q, pf, pkts, nb);
	const struct chains left = count_chains(q, pf, pkts + sent, nb - sent);

	q->counts.hinted += all.hinted - left.hinted;
	q->counts.crossing += all.crossing - left.crossing;
	return sent;
}

static uint16_t
send_by_buffer(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb)
{
	return octo_tx_runs(q, sending, pkts, nb, pf_of, send_run);
}

static uint16_t
look_and_send(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb)
{
	if (octo_epoch_reached(octo_epoch_now(&q->epoch), q->look, OCTO_HOME_SAMPLE) ||
	    sending != q->near.sending)
		look_around(q, sending);
	return send_by_buffer(q, sending, pkts, nb);
}

uint16_t
octo_tx_burst_by_buffer(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	uint32_t epoch, sending;
	uint16_t sent = 0;

	octo_legs_sign(&q->process);
	epoch = octo_epoch_enter(&q->epoch);
	/* pairs with the release in publish_sending() */
	sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	sending = octo_legs_follow(q->octo, sending);
	if (likely(sending != 0 && nb > 0)) {
		if (unlikely(octo_epoch_reached(epoch, q->look, OCTO_HOME_SAMPLE) ||
			     sending != q->near.sending))
			sent = octo_tx_clock(sending) != 0 ?
				       octo_tx_timed(q, sending, pkts, nb, look_and_send) :
				       look_and_send(q, sending, pkts, nb);
		else
			sent = send_by_buffer(q, sending, pkts, nb);
	}
	octo_epoch_leave(&q->epoch);
	return sent;
}
