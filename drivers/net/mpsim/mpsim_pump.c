/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_ether.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "mpsim.h"
#include "mpsim_csum.h"
#include "mpsim_filter.h"
#include "mpsim_post.h"

#define VLAN_TAG_LEN 4

/* The first buffer is of q->pool; a frame with other headers needs one of the last pool. */
static bool
exchange(struct mpsim_rxq *q, struct rte_mempool *pool, struct rte_mbuf **buf)
{
	struct rte_mbuf *other;

	if (mpsim_post_take(q, pool, &other, 1) == 0)
		return false;
	rte_pktmbuf_free(*buf);
	*buf = other;
	return true;
}

/* The buffer after the last one, or the first; NULL: the pool has none. */
static struct rte_mbuf *
next_buffer(struct mpsim_rxq *q, struct rte_mempool *pool, struct rte_mbuf **head,
	    struct rte_mbuf *last)
{
	if (last == NULL)
		return pool == (*head)->pool || exchange(q, pool, head) ? *head : NULL;
	if (mpsim_post_take(q, pool, &last->next, 1) == 0)
		return NULL;
	(*head)->nb_segs++;
	return last->next;
}

/*
 * Copy a frame that has several segments, or needs several buffers. Its length is 0 if all of it
 * is discarded.
 */
static bool
copy_chain(struct mpsim_rxq *q, const struct mpsim_batch *b, uint16_t i, struct rte_mbuf **head)
{
	const struct rte_mbuf *from = b->frame[i];
	struct rte_mbuf *seg = NULL;
	uint32_t len, kept = 0;
	uint16_t next = 0;

	for (uint32_t done = 0; done < from->pkt_len; done += len) {
		const struct mpsim_part part = mpsim_split_next(&q->split, next, done, b->hdr[i],
								&b->parsed[i]);
		const struct mpsim_segment *s = &q->split.seg[part.seg];
		const void *data;
		char *at;

		next = part.seg + 1;
		len = RTE_MIN(from->pkt_len, part.end) - done;
		if (s->pool == NULL)
			continue;
		seg = next_buffer(q, s->pool, head, seg);
		if (seg == NULL)
			return false;
		seg->data_off = s->data_off;
		len = RTE_MIN(len, (uint32_t)seg->buf_len - s->data_off);
		at = rte_pktmbuf_mtod(seg, char *);
		data = rte_pktmbuf_read(from, done, len, at);
		/* rare enough for no second copy of what rte_memcpy() inlines */
		if (data != at)
			memcpy(at, data, len);
		seg->data_len = len;
		kept += len;
	}
	(*head)->pkt_len = kept;
	return true;
}

static bool
copy_frame(struct mpsim_rxq *q, const struct mpsim_batch *b, uint16_t i, struct rte_mbuf **to)
{
	const struct rte_mbuf *from = b->frame[i];
	const uint32_t len = from->pkt_len;

	if (unlikely(from->nb_segs > 1 || len > q->room))
		return copy_chain(q, b, i, to);
	rte_memcpy(rte_pktmbuf_mtod(*to, void *), rte_pktmbuf_mtod(from, const void *), len);
	(*to)->pkt_len = len;
	(*to)->data_len = len;
	return true;
}

static void
strip_vlan(struct rte_mbuf *m, uint16_t tci)
{
	char *frame = rte_pktmbuf_mtod(m, char *);

	memmove(frame + VLAN_TAG_LEN, frame, 2 * RTE_ETHER_ADDR_LEN);
	rte_pktmbuf_adj(m, VLAN_TAG_LEN);
	m->vlan_tci = tci;
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
}

static bool
has_first_segment(const struct mpsim_rxq *q, const struct mpsim_batch *b, uint16_t i)
{
	const uint16_t seg = mpsim_split_next(&q->split, 0, 0, b->hdr[i], &b->parsed[i]).seg;

	return q->split.seg[seg].pool != NULL;
}

static void
describe_tag(const struct mpsim_rxq *q, const struct mpsim_batch *b, uint16_t i, struct rte_mbuf *m)
{
	const uint16_t tci = b->parsed[i].vlan_tci;

	if (has_first_segment(q, b, i)) {
		strip_vlan(m, tci);
		return;
	}
	/* the tag was discarded, no more is to be stripped */
	m->vlan_tci = tci;
	m->ol_flags |= RTE_MBUF_F_RX_VLAN;
}

/* Fill in the mbuf, as from a completion of hardware. */
static void
describe(const struct mpsim_rxq *q, const struct mpsim_batch *b, uint16_t i, struct rte_mbuf *m)
{
	const struct mpsim_parsed *p = &b->parsed[i];

	m->port = q->port_id;
	m->packet_type = p->ptype;
	if (b->hashed[i] && (q->offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH)) {
		m->hash.rss = b->hash[i];
		m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	}
	if (unlikely(b->marked[i] != 0)) {
		m->ol_flags |= RTE_MBUF_F_RX_FDIR;
		if (b->marked[i] & MPSIM_FATE_MARK) {
			m->ol_flags |= RTE_MBUF_F_RX_FDIR_ID;
			m->hash.fdir.hi = b->mark[i];
		}
	}
	if (unlikely(mpsim_clock_is_on(&q->pf->clock)))
		mpsim_clock_receive(q->pf, b->hdr[i], m);
	if (q->offloads & RTE_ETH_RX_OFFLOAD_CHECKSUM)
		m->ol_flags |= mpsim_csum_check(b->frame[i], b->hdr[i], p,
						q->offloads & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM,
						q->offloads & RTE_ETH_RX_OFFLOAD_UDP_CKSUM,
						q->offloads & RTE_ETH_RX_OFFLOAD_TCP_CKSUM);
	if (p->vlan && (q->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP))
		describe_tag(q, b, i, m);
}

/* Drop frames for which there is no descriptor, or that do not fit into a buffer. */
static uint16_t
admit_pending(struct mpsim_rxq *q, const struct mpsim_batch *b)
{
	const bool piped = q->pipe->slots != NULL;
	const uint32_t room = unlikely(piped)   ? mpsim_pipe_room(q->pipe) :
			      unlikely(q->full) ? 0 :
						  rte_ring_free_count(q->ring);
	const uint32_t space = RTE_MIN(room, mpsim_post_count(q));
	uint64_t *full = unlikely(piped) ? &q->pf->stats.pipe_full : &q->stats->missed;
	uint16_t n = 0;

	for (uint16_t k = 0; k < q->nb_pending; k++) {
		const struct rte_mbuf *m = b->frame[q->pending[k]];

		if (unlikely(m->pkt_len > q->room && !q->chains))
			q->stats->errors++;
		else if (unlikely(n == space))
			(*full)++;
		else
			q->pending[n++] = q->pending[k];
	}
	q->nb_pending = 0;
	return n;
}

static void
count_nombuf(struct mpsim_rxq *q, uint16_t n)
{
	q->stats->nombuf += n;
	q->pf->data->rx_mbuf_alloc_failed += n;
}

static void
put_on_ring(struct mpsim_rxq *q, struct rte_mbuf **bufs, uint16_t n, uint64_t bytes)
{
	rte_ring_sp_enqueue_bulk(q->ring, (void **)bufs, n, NULL);
	q->stats->packets += n;
	q->stats->bytes += bytes;
}

static void
deliver(struct mpsim_rxq *q, const struct mpsim_batch *b)
{
	struct rte_mbuf *bufs[MPSIM_BURST];
	const uint16_t n = admit_pending(q, b);
	const uint16_t got = mpsim_post_take(q, q->pool, bufs, n);
	uint16_t done = 0, discarded = 0;
	uint64_t bytes = 0;

	for (uint16_t k = 0; k < got; k++) {
		const uint16_t i = q->pending[k];

		if (unlikely(!copy_frame(q, b, i, &bufs[k]))) {
			mpsim_post_free(q, bufs[k]);
			continue;
		}
		if (unlikely(bufs[k]->pkt_len == 0)) {
			mpsim_post_free(q, bufs[k]);
			discarded++;
			continue;
		}
		bytes += bufs[k]->pkt_len;
		describe(q, b, i, bufs[k]);
		bufs[done++] = bufs[k];
	}
	if (unlikely(done + discarded < n))
		count_nombuf(q, n - done - discarded);
	if (likely(q->pipe->slots == NULL))
		put_on_ring(q, bufs, done, bytes);
	else
		mpsim_pipe_enter(q->pipe, q, bufs, done);
}

/* Sort the batch by queue, keeping the order within each queue. */
static void
dispatch(struct mpsim_batch *b)
{
	struct mpsim_rxq *queues[MPSIM_BURST];
	uint16_t nb_queues = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct mpsim_rxq *q = b->rxq[i];

		if (q == NULL)
			continue;
		if (q->nb_pending == 0)
			queues[nb_queues++] = q;
		q->pending[q->nb_pending++] = i;
	}
	for (uint16_t k = 0; k < nb_queues; k++) {
		/* the PF may not have been polled for long */
		if (mpsim_pipe_is_due(queues[k]->pipe))
			mpsim_pipe_leave(queues[k]->pf);
		deliver(queues[k], b);
	}
}

void
mpsim_pump_to(struct mpsim_pf *pf, struct rte_mbuf *const *pkts, uint16_t n)
{
	struct mpsim_batch b;

	pf->nic->stats.switched += n;
	b.n = n;
	b.keyed = 0;
	b.keyed_inner = 0;
	memcpy(b.frame, pkts, n * sizeof(*pkts));
	mpsim_classify_on(pf, &b);
	dispatch(&b);
}

/* The frames of a batch that this PF gets, alone or as a copy. */
static void
pump_copies(struct mpsim_pf *pf, const struct mpsim_batch *all, uint32_t *taken)
{
	struct mpsim_batch b;

	b.n = 0;
	b.keyed = 0;
	b.keyed_inner = 0;
	for (uint16_t i = 0; i < all->n; i++) {
		const struct rte_mbuf *m = all->frame[i];
		uint8_t copy[RTE_ETHER_ADDR_LEN];

		if (m->pkt_len < RTE_ETHER_HDR_LEN ||
		    !mpsim_filter_pf_accepts(pf, rte_pktmbuf_read(m, 0, sizeof(copy), copy)))
			continue;
		b.frame[b.n++] = all->frame[i];
		pf->nic->stats.copied += *taken >> i & 1;
		*taken |= 1u << i;
	}
	if (b.n == 0)
		return;
	mpsim_classify_on(pf, &b);
	dispatch(&b);
}

/* The switch sorts by addresses: a group's frame, and one for a promiscuous PF, is copied. */
static void
pump_by_mac(struct mpsim_nic *nic, const struct mpsim_batch *b)
{
	uint32_t taken = 0;

	nic->stats.wire_packets += b->n;
	for (uint16_t i = 0; i < MPSIM_MAX_PFS; i++)
		if (nic->pf[i] != NULL)
			pump_copies(nic->pf[i], b, &taken);
	for (uint16_t i = 0; i < b->n; i++) {
		nic->stats.wire_bytes += b->frame[i]->pkt_len;
		if (b->frame[i]->pkt_len < RTE_ETHER_HDR_LEN)
			nic->stats.runts++;
		else if (!(taken & 1u << i))
			nic->stats.mac_filtered++;
	}
}

void
mpsim_pump(struct mpsim_nic *nic)
{
	struct mpsim_batch b;

	b.keyed = 0;
	b.keyed_inner = 0;
	b.n = mpsim_wire_rx(nic, b.frame, MPSIM_BURST);
	if (b.n == 0)
		return;
	for (uint16_t i = 0; i < b.n; i++)
		rte_prefetch0(b.frame[i]);
	if (unlikely(nic->sorts_by_mac)) {
		pump_by_mac(nic, &b);
	} else {
		mpsim_classify(nic, &b);
		dispatch(&b);
	}
	rte_pktmbuf_free_bulk(b.frame, b.n);
}
