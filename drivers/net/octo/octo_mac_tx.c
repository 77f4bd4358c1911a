/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier mac, Tx: the source address of packets. Applications write the port's first address, or, in
 * what they return, the one to which it was sent. Sent by another PF than that which has it, a
 * bridge would learn it there, and a check of addresses might drop the packets. So either packets
 * with the address of another PF get that of the PF, or each packet is sent by the PF that has its
 * source address.
 */

#include "octo_private.h"

/* A mask has as many bits. */
#define AT_ONCE 64

static uint8_t *
source_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, uint8_t *, RTE_ETHER_ADDR_LEN);
}

/* Is the packet the sender's alone? Others may read the buffer of one that is shared. */
static bool
is_writable(const struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

struct rewriting {
	const struct octo_mac_view *view;
	uint32_t others;        /* addresses that other PFs hold: a mask */
	uint64_t to;            /* key of the PF's address */
	uint64_t done;          /* packets that were rewritten: a mask */
	uint64_t shared;        /* packets that should have been: a mask */
	uint64_t from[AT_ONCE]; /* by packet that was rewritten: key of its address */
};

static void
rewrite(struct rewriting *r, struct rte_mbuf **pkts, uint16_t nb)
{
	r->done = 0;
	r->shared = 0;
	for (uint16_t i = 0; i < nb; i++) {
		uint8_t *source = source_of(pkts[i]);
		const uint64_t key = octo_mac_key(source);

		if (octo_mac_find(r->view, r->others, key) < 0)
			continue;
		if (likely(is_writable(pkts[i]))) {
			r->from[i] = key;
			octo_mac_put(source, r->to);
			r->done |= RTE_BIT64(i);
		} else {
			r->shared |= RTE_BIT64(i);
		}
	}
}

/* Packets that are left to the application may be sent by another PF: undo it. */
static void
take_back(const struct rewriting *r, struct rte_mbuf **pkts, uint16_t first, uint16_t nb)
{
	for (uint16_t i = first; i < nb; i++)
		if (r->done & RTE_BIT64(i))
			octo_mac_put(source_of(pkts[i]), r->from[i]);
}

static uint16_t
send_some(struct octo_txq *q, uint8_t pf, struct rewriting *r, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct octo_leg leg = q->leg[pf];
	uint64_t sent_mask;
	uint16_t sent;

	rewrite(r, pkts, nb);
	sent = rte_eth_tx_burst(leg.port, leg.queue, pkts, nb);
	if (unlikely(sent < nb))
		take_back(r, pkts, sent, nb);
	sent_mask = sent == AT_ONCE ? UINT64_MAX : RTE_BIT64(sent) - 1;
	q->counts.rewritten += (unsigned int)__builtin_popcountll(r->done & sent_mask);
	q->counts.shared += (unsigned int)__builtin_popcountll(r->shared & sent_mask);
	return sent;
}

/* octo_tx_by() of queues that rewrite. A packet that is shared keeps its address, and its order. */
uint16_t
octo_mac_tx_by(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct octo_mac_view *view = &q->octo->macs.view;
	struct rewriting r;
	uint16_t sent = 0;

	r.view = view;
	r.others = rte_atomic_load_explicit(&view->others[pf], rte_memory_order_relaxed);
	if (r.others == 0)
		return rte_eth_tx_burst(q->leg[pf].port, q->leg[pf].queue, pkts, nb);
	r.to = rte_atomic_load_explicit(&view->mac[pf], rte_memory_order_relaxed);
	while (sent < nb) {
		const uint16_t n = RTE_MIN(nb - sent, AT_ONCE);
		const uint16_t done = send_some(q, pf, &r, pkts + sent, n);

		sent += done;
		if (done < n)
			break;
	}
	return sent;
}

uint16_t
octo_tx_burst_mac(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	const uint32_t epoch = octo_epoch_enter(&q->epoch);
	/* pairs with the release in publish_sending() */
	const uint32_t sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	uint16_t sent;

	if (likely(octo_call_holds(&q->call, sending, epoch)))
		sent = octo_tx_by(q, q->call.pf, pkts, nb);
	else
		sent = octo_tx_long_way(q, sending, pkts, nb);
	octo_epoch_leave(&q->epoch);
	return sent;
}

/* The PF with the packet's source address; with any other address, that of the first one. */
static inline uint8_t
pf_of(struct octo_txq *q, uint32_t sending, struct rte_mbuf *m)
{
	const struct octo_mac_view *view = &q->octo->macs.view;
	const uint32_t apart = rte_atomic_load_explicit(&view->apart, rte_memory_order_relaxed);
	const int i = octo_mac_find(view, apart, octo_mac_key(source_of(m)));
	const uint8_t pf = rte_atomic_load_explicit(&view->holder[i < 0 ? 0 : i],
						    rte_memory_order_relaxed);

	return sending & RTE_BIT32(pf) ? pf : (uint8_t)rte_bsf32(sending);
}

/*
 * mac_source=address: no PF is near the sender, and so none is switched to. In the tier below, all
 * PFs have all addresses, and the queue sends as any other.
 */
uint16_t
octo_tx_burst_by_source(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	const struct octo_mac_view *view = &q->octo->macs.view;
	uint16_t sent = 0;
	uint32_t sending;

	octo_legs_sign(&q->process);
	octo_epoch_enter(&q->epoch);
	/* pairs with the release in publish_sending() */
	sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	sending = octo_legs_follow(q->octo, sending);
	if (rte_atomic_load_explicit(&view->apart, rte_memory_order_relaxed) == 0)
		sent = octo_tx_long_way(q, sending, pkts, nb);
	else if (likely(sending != 0 && nb > 0))
		sent = octo_tx_runs(q, sending, pkts, nb, pf_of, octo_tx_by);
	octo_epoch_leave(&q->epoch);
	return sent;
}
