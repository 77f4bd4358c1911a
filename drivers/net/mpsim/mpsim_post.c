/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "mpsim.h"
#include "mpsim_post.h"

int
mpsim_post_setup(struct mpsim_rxq *q, unsigned int socket)
{
	if (q->pf->args.fill_rings == 0)
		return 0;
	q->post.ring = mpsim_ring_create(q->nb_desc, socket);
	q->post.missing = q->nb_desc;
	return q->post.ring == NULL ? -ENOMEM : 0;
}

void
mpsim_post_drop(struct mpsim_rxq *q)
{
	struct rte_mbuf *bufs[MPSIM_BURST];
	unsigned int n;

	if (q->post.ring == NULL)
		return;
	mpsim_nic_lock(q->nic);
	do {
		n = rte_ring_sc_dequeue_burst(q->post.ring, (void **)bufs, MPSIM_BURST, NULL);
		rte_pktmbuf_free_bulk(bufs, n);
	} while (n > 0);
	mpsim_nic_unlock(q->nic);
	rte_atomic_store_explicit(&q->post.dropped, 0, rte_memory_order_relaxed);
	q->post.missing = q->nb_desc;
}

void
mpsim_post_free(struct mpsim_rxq *q, struct rte_mbuf *frame)
{
	rte_atomic_fetch_add_explicit(&q->post.dropped, frame->nb_segs, rte_memory_order_relaxed);
	rte_pktmbuf_free(frame);
}

/* Post what is missing, as far as the pool has it. */
static void
post_missing(struct mpsim_rxq *q)
{
	struct rte_mbuf *bufs[MPSIM_BURST];

	q->post.missing += rte_atomic_exchange_explicit(&q->post.dropped, 0,
							rte_memory_order_relaxed);
	while (q->post.missing > 0) {
		/* fewer are free where frames were on their way while the queue was stopped */
		const uint32_t room = RTE_MIN(rte_ring_free_count(q->post.ring),
					      (uint32_t)MPSIM_BURST);
		const uint32_t n = RTE_MIN(q->post.missing, room);

		if (n == 0)
			q->post.missing = 0;
		if (n == 0 || rte_pktmbuf_alloc_bulk(q->pool, bufs, n) != 0)
			return;
		rte_ring_sp_enqueue_bulk(q->post.ring, (void **)bufs, n, NULL);
		q->post.missing -= n;
	}
}

int
mpsim_post_fill(struct mpsim_rxq *q)
{
	if (q->post.ring == NULL)
		return 0;
	post_missing(q);
	if (q->post.missing == 0)
		return 0;
	MPSIM_LOG(ERR, q->pf->data->name,
		  "fill_rings=1: pool %s has no mbufs left for %u of the %u descriptors of an Rx "
		  "queue",
		  q->pool->name, q->post.missing, q->nb_desc);
	return -ENOMEM;
}

void
mpsim_post_more(struct mpsim_rxq *q, uint32_t nb)
{
	if (q->post.ring == NULL)
		return;
	q->post.missing += nb;
	post_missing(q);
	if (unlikely(q->post.missing > 0))
		q->pf->data->rx_mbuf_alloc_failed++;
}

uint32_t
mpsim_post_count(const struct mpsim_rxq *q)
{
	return q->post.ring == NULL ? UINT32_MAX : rte_ring_count(q->post.ring);
}

uint16_t
mpsim_post_take(struct mpsim_rxq *q, struct rte_mempool *pool, struct rte_mbuf **bufs, uint16_t n)
{
	uint16_t got = 0;

	if (unlikely(q->post.ring != NULL))
		return (uint16_t)rte_ring_sc_dequeue_burst(q->post.ring, (void **)bufs, n, NULL);
	if (likely(rte_pktmbuf_alloc_bulk(pool, bufs, n) == 0))
		return n;
	while (got < n) {
		bufs[got] = rte_pktmbuf_alloc(pool);
		if (bufs[got] == NULL)
			break;
		got++;
	}
	return got;
}
