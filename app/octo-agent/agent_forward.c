/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "agent_port.h"
#include "agent_vhost.h"

/* A client that comes back has other memory, other rings, other queues. */
static void
take_changes(struct agent_pf *pf)
{
	uint16_t queues[AGENT_MAX_QUEUES], nb = 0;
	struct agent_view *view;

	/* pairs with the release in notify_poller() */
	if (!rte_atomic_load_explicit(&pf->changed, rte_memory_order_relaxed) ||
	    !rte_atomic_exchange_explicit(&pf->changed, false, rte_memory_order_acquire))
		return;
	view = rte_atomic_exchange_explicit(&pf->next, NULL, rte_memory_order_acquire);
	if (view != NULL) {
		agent_view_free(pf->view);
		pf->view = view;
	}
	for (uint16_t i = 0; i < AGENT_RXQ(pf->own->queues); i++) {
		pf->on[i] = pf->vid >= 0 && pf->view->ring[i].size > 0 &&
			    rte_atomic_load_explicit(&pf->enabled[i], rte_memory_order_relaxed);
		if (!pf->on[i])
			continue;
		/* it is polled: spare the client the kicks */
		rte_vhost_enable_guest_notification(pf->vid, i, 0);
		if (i % 2 == 0)
			queues[nb++] = i / 2;
	}
	agent_port_spread(pf->own->name, pf->port, queues, nb);
}

static struct agent_dma
dma_of(const struct agent_pf *pf, uint16_t ring)
{
	return (struct agent_dma){
		.mem = &pf->view->mem,
		.ring = &pf->view->ring[ring],
		.node = pf->own->node,
	};
}

/* The entry of the available ring that vhost takes next. */
static uint16_t
next_entry(const struct agent_pf *pf, uint16_t ring)
{
	uint16_t avail = 0, used;

	/* a plain read in vhost, whose only writer in a running device is the caller's burst */
	rte_vhost_get_vring_base(pf->vid, ring, &avail, &used);
	return avail;
}

/* Account for n packets for which vhost took so many entries. */
static void
settle(struct agent_pf *pf, struct agent_count *count, const struct agent_span *span, uint16_t n,
       uint16_t entries)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++) {
		entries -= span[i].nb_heads;
		for (int locality = 0; locality < AGENT_NB_LOCALITIES; locality++)
			bytes += span[i].bytes[locality];
	}
	if (entries != 0) {
		/* the client changed what it had handed over, or its memory */
		pf->inexact++;
		agent_audit_account_unknown(count, n, bytes);
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		agent_audit_account(count, &span[i]);
}

/* How many of the packets find room, and where. */
static uint16_t
plan_write(const struct agent_pf *pf, uint16_t ring, uint16_t idx, struct rte_mbuf **pkts,
	   uint16_t n, struct agent_span *span)
{
	const struct agent_dma dma = dma_of(pf, ring);
	uint16_t nb = agent_audit_posted(dma.ring, idx);
	uint16_t i;

	for (i = 0; i < n; i++) {
		const uint32_t len = pkts[i]->pkt_len + pf->view->hdr_len;

		if (agent_audit_write(&dma, idx, nb, len, pf->view->mergeable, &span[i]) != 0)
			break;
		idx += span[i].nb_heads;
		nb -= span[i].nb_heads;
	}
	return i;
}

static void
write_packets(struct agent_pf *pf, uint16_t q, struct rte_mbuf **pkts, uint16_t n)
{
	const uint16_t before = next_entry(pf, AGENT_RXQ(q));
	struct agent_queue *queue = &pf->queue[q];
	struct agent_span span[AGENT_BURST];
	uint16_t done;

	done = plan_write(pf, AGENT_RXQ(q), before, pkts, n, span);
	if (done > 0)
		done = rte_vhost_enqueue_burst(pf->vid, AGENT_RXQ(q), pkts, done);
	settle(pf, &queue->rx, span, done, next_entry(pf, AGENT_RXQ(q)) - before);
	queue->rx_packets += done;
	queue->rx_no_buffer += n - done;
}

static uint16_t
to_client(struct agent_pf *pf, uint16_t q)
{
	struct rte_mbuf *pkts[AGENT_BURST];
	const uint16_t n = rte_eth_rx_burst(pf->port, q, pkts, AGENT_BURST);

	if (n == 0)
		return 0;
	if (pf->on[AGENT_RXQ(q)])
		write_packets(pf, q, pkts, n);
	else
		pf->queue[q].rx_no_client += n;
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

static uint16_t
plan_fetch(const struct agent_pf *pf, uint16_t ring, uint16_t idx, struct agent_span *span)
{
	const struct agent_dma dma = dma_of(pf, ring);
	const uint16_t nb = RTE_MIN(agent_audit_posted(dma.ring, idx), AGENT_BURST);
	uint16_t i;

	for (i = 0; i < nb; i++)
		if (agent_audit_fetch(&dma, idx + i, &span[i]) != 0)
			break;
	return i;
}

static void
send_packets(struct agent_pf *pf, uint16_t q, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = 0, more = n;

	/* a bad frame ends a burst early: the next one begins with it */
	while (sent < n && more > 0) {
		more = rte_eth_tx_burst(pf->port, q, pkts + sent, n - sent);
		sent += more;
	}
	pf->queue[q].tx_dropped += n - sent;
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
}

static uint16_t
from_client(struct agent_pf *pf, uint16_t q)
{
	struct agent_queue *queue = &pf->queue[q];
	struct rte_mbuf *pkts[AGENT_BURST];
	struct agent_span span[AGENT_BURST];
	uint16_t before, planned, n, entries;

	if (!pf->on[AGENT_TXQ(q)])
		return 0;
	before = next_entry(pf, AGENT_TXQ(q));
	planned = plan_fetch(pf, AGENT_TXQ(q), before, span);
	if (planned == 0)
		return 0;
	n = rte_vhost_dequeue_burst(pf->vid, AGENT_TXQ(q), pf->pool, pkts, planned);
	entries = next_entry(pf, AGENT_TXQ(q)) - before;
	/* what was no packet was fetched all the same */
	settle(pf, &queue->tx, span, RTE_MIN(entries, planned), entries);
	queue->tx_packets += n;
	queue->tx_malformed += entries - n;
	send_packets(pf, q, pkts, n);
	return n;
}

unsigned int
agent_forward_poll(struct agent *agent)
{
	unsigned int moved = 0;

	for (uint16_t i = 0; i < agent->options.nb_pfs; i++) {
		struct agent_pf *pf = &agent->pf[i];

		if (pf->own->vhost[0] == '\0')
			continue;
		rte_ticketlock_lock(&pf->lock);
		take_changes(pf);
		for (uint16_t q = 0; q < pf->own->queues; q++)
			moved += to_client(pf, q) + from_client(pf, q);
		rte_ticketlock_unlock(&pf->lock);
	}
	return moved;
}
