/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ether.h>

#include "octo_clock.h"
#include "mpsim.h"
#include "mpsim_caps.h"
#include "mpsim_csum.h"
#include "mpsim_tx_ring.h"

#define NEEDS_WORK (RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_VLAN)

static inline bool
frame_is_valid(const struct rte_mbuf *m)
{
	return m->pkt_len >= RTE_ETHER_HDR_LEN && m->pkt_len <= MPSIM_FRAME_MAX;
}

/* May the headers be changed in place? */
static bool
headers_writable(const struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1 &&
	       mpsim_csum_headers(m) <= m->data_len && m->data_len >= RTE_ETHER_HDR_LEN;
}

/* Keep only the offloads that the queue is configured for. */
static uint64_t
wanted_work(const struct mpsim_txq *q, const struct rte_mbuf *m)
{
	uint64_t work = m->ol_flags & NEEDS_WORK;

	if (!(q->offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT))
		work &= ~RTE_MBUF_F_TX_VLAN;
	if (!(q->offloads & (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
			     RTE_ETH_TX_OFFLOAD_TCP_CKSUM)))
		work &= RTE_MBUF_F_TX_VLAN;
	return work;
}

/* Perform the offloads in place: checksums first, while l2_len is correct. */
static int
perform(struct rte_mbuf *m, uint64_t work)
{
	int ret = 0;

	if (work & ~RTE_MBUF_F_TX_VLAN)
		ret = mpsim_csum_fill(m);
	if (ret == 0 && (work & RTE_MBUF_F_TX_VLAN)) {
		ret = rte_vlan_insert(&m);
		m->ol_flags &= ~RTE_MBUF_F_TX_VLAN;
	}
	return ret;
}

/*
 * Make the frame for the wire: a copy if the application's buffer is shared or cannot be
 * changed in place.
 *
 * Returns 0; -ENOBUFS: no buffer for a copy, try again later; -EINVAL: bad frame.
 */
static int
prepare_one(struct mpsim_txq *q, struct rte_mbuf *m, struct rte_mbuf **out)
{
	const uint64_t work = wanted_work(q, m);
	const bool chain = q->nic->wire_linear && m->nb_segs > 1;
	bool copy = chain || (work != 0 && !headers_writable(m));
	int ret;

	*out = m;
	if (!frame_is_valid(m))
		return -EINVAL;
	if ((work & RTE_MBUF_F_TX_VLAN) && rte_pktmbuf_headroom(m) < sizeof(struct rte_vlan_hdr))
		copy = true;
	if (copy) {
		*out = rte_pktmbuf_copy(m, q->nic->pool, 0, UINT32_MAX);
		if (*out == NULL)
			return -ENOBUFS;
	}
	ret = work == 0 ? 0 : perform(*out, work);
	if (ret != 0 && copy)
		rte_pktmbuf_free(*out);
	return ret;
}

/* Frames to be sent, and the application's buffers they were made from. */
struct outgoing {
	uint16_t n;
	struct rte_mbuf *frame[MPSIM_BURST];
	struct rte_mbuf *orig[MPSIM_BURST];
};

/* Returns how many of pkts were freed as bad frames or are in *out. */
static uint16_t
prepare(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n, struct outgoing *out)
{
	uint16_t i;

	out->n = 0;
	for (i = 0; i < n; i++) {
		int ret = prepare_one(q, pkts[i], &out->frame[out->n]);

		if (ret == -ENOBUFS)
			break;
		if (ret != 0) {
			/* send the frames before it first: the next call starts with this one */
			if (out->n > 0)
				break;
			rte_pktmbuf_free(pkts[i]);
			q->stats->errors++;
			continue;
		}
		out->orig[out->n++] = pkts[i];
	}
	return i;
}

/* Count copies, and free either the original or the unsent copy. */
static void
settle(struct mpsim_txq *q, struct outgoing *out, uint16_t sent)
{
	for (uint16_t i = 0; i < out->n; i++) {
		if (out->frame[i] == out->orig[i])
			continue;
		if (i < sent) {
			q->stats->copied++;
			rte_pktmbuf_free(out->orig[i]);
		} else {
			rte_pktmbuf_free(out->frame[i]);
		}
	}
}

static uint64_t
total_len(struct rte_mbuf **pkts, uint16_t n)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++)
		bytes += pkts[i]->pkt_len;
	return bytes;
}

/*
 * Hardware always drains its rings; frames that the other end does not take are dropped there.
 * A wire here has no thread: the sender waits for a poller, but not for ever, as it may be the
 * poller itself.
 */
static uint16_t
wait_or_drop(struct mpsim_txq *q, struct mpsim_txq_stats *stats, struct rte_mbuf **frames,
	     uint16_t n)
{
	const uint64_t patience = q->pf->args.wire_wait_us * (rte_get_timer_hz() / US_PER_S);
	const uint64_t now = octo_now();

	if (q->wire == MPSIM_WIRE_MOVES) {
		q->wire = MPSIM_WIRE_FULL;
		q->wire_since = now;
	}
	/* another CPU's clock may be a little behind */
	if (q->wire == MPSIM_WIRE_FULL && (int64_t)(now - q->wire_since) < (int64_t)patience)
		return 0;
	q->wire = MPSIM_WIRE_STUCK;
	return mpsim_tx_drop_all(frames, n, &stats->wire_full);
}

uint16_t
mpsim_tx_send(struct mpsim_txq *q, struct mpsim_txq_stats *stats, bool to_wire,
	      struct rte_mbuf **frames, uint16_t n)
{
	/* read before sending: a sent frame may be freed */
	const uint64_t bytes = total_len(frames, n);
	const uint16_t sent = likely(to_wire) ? mpsim_wire_tx(q->nic, frames, n) :
						mpsim_eswitch_tx(q->pf, frames, n);

	stats->packets += sent;
	stats->bytes += bytes - total_len(frames + sent, n - sent);
	if (unlikely(q->wire != MPSIM_WIRE_MOVES) && sent > 0 &&
	    (q->wire == MPSIM_WIRE_FULL || mpsim_wire_is_half_empty(q->nic)))
		q->wire = MPSIM_WIRE_MOVES;
	if (likely(sent == n) || !to_wire || mpsim_wire_kind(q->nic) == MPSIM_WIRE_ETHDEV)
		return sent;
	return sent + wait_or_drop(q, stats, frames + sent, n - sent);
}

static uint16_t
transmit(struct mpsim_txq *q, bool to_wire, struct rte_mbuf **frames, uint16_t n)
{
	if (unlikely(mpsim_txq_ring(q) != NULL))
		return mpsim_tx_ring_put(q, frames, n);
	mpsim_tx_ring_move_first(q->nic);
	return mpsim_tx_send(q, q->stats, to_wire, frames, n);
}

/* Frames with offloads, and invalid ones, take the long way. */
static bool
all_plain(const struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n)
{
	const uint64_t flags = q->offloads & ~(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE |
					       RTE_ETH_TX_OFFLOAD_MULTI_SEGS) ?
				       NEEDS_WORK :
				       0;
	uint64_t work = 0;
	bool bad = false;

	for (uint16_t i = 0; i < n; i++) {
		work |= pkts[i]->ol_flags & flags;
		bad |= !frame_is_valid(pkts[i]);
		bad |= q->nic->wire_linear && pkts[i]->nb_segs > 1;
	}
	return work == 0 && !bad;
}

static uint16_t
send_chunk(struct mpsim_txq *q, bool to_wire, struct rte_mbuf **pkts, uint16_t n)
{
	struct outgoing out;
	uint16_t taken, sent;

	if (likely(all_plain(q, pkts, n)))
		return transmit(q, to_wire, pkts, n);
	taken = prepare(q, pkts, n, &out);
	sent = transmit(q, to_wire, out.frame, out.n);
	settle(q, &out, sent);
	return taken - (out.n - sent);
}

uint16_t
mpsim_tx_drop_all(struct rte_mbuf **pkts, uint16_t n, uint64_t *counter)
{
	rte_pktmbuf_free_bulk(pkts, n);
	*counter += n;
	return n;
}

bool
mpsim_tx_has_listener(const struct mpsim_pf *pf, bool to_wire)
{
	return likely(to_wire) ? mpsim_wire_has_listener(pf->nic) : mpsim_eswitch_has_listener(pf);
}

uint16_t
mpsim_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n)
{
	struct mpsim_txq *q = txq;
	/* read once: the answer for one end is not valid for the other */
	const bool to_wire = mpsim_sends_to_wire(q->pf);
	uint16_t done = 0, stamped = 0;

	if (unlikely(!rte_atomic_load_explicit(&q->started, rte_memory_order_relaxed)))
		return 0;
	if (unlikely(!rte_atomic_load_explicit(&q->pf->link_up, rte_memory_order_relaxed)))
		return mpsim_tx_drop_all(pkts, n, &q->stats->link_down);
	if (unlikely(!mpsim_tx_has_listener(q->pf, to_wire)))
		return mpsim_tx_drop_all(pkts, n, &q->stats->no_wire);
	/* before sending: a sent frame may be freed */
	if (unlikely(q->counts_nodes))
		mpsim_fetch_add(q, pkts, n);
	if (unlikely(mpsim_clock_is_on(&q->pf->clock)))
		stamped = mpsim_clock_find(pkts, n);
	while (done < n) {
		const uint16_t chunk = RTE_MIN(n - done, MPSIM_BURST);
		const uint16_t sent = send_chunk(q, to_wire, pkts + done, chunk);

		if (sent == 0)
			break;
		done += sent;
	}
	if (unlikely(stamped != 0 && stamped <= done))
		mpsim_clock_send(q->pf);
	if (unlikely(q->counts_nodes))
		mpsim_fetch_undo(q, pkts + done, n - done);
	return done;
}

/* Without a ring, an accepted frame is on the wire at once: no descriptor is ever in use. */
int
mpsim_tx_queue_count(void *txq)
{
	struct mpsim_txq *q = txq;

	if (!mpsim_caps_has(q->pf, MPSIM_CAP_TXSTATUS))
		return -ENOTSUP;
	if (mpsim_txq_ring(q) == NULL)
		return 0;
	mpsim_tx_ring_move(q);
	return mpsim_tx_ring_used(mpsim_txq_ring(q));
}

int
mpsim_tx_descriptor_status(void *txq, uint16_t offset)
{
	const struct mpsim_txq *q = txq;
	const int used = mpsim_tx_queue_count(txq);

	if (used < 0)
		return used;
	if (offset >= q->nb_desc)
		return -EINVAL;
	/* offset 0 is the next descriptor to be used, so those in use have the highest offsets */
	return offset < q->nb_desc - used ? RTE_ETH_TX_DESC_DONE : RTE_ETH_TX_DESC_FULL;
}

int
mpsim_tx_done_cleanup(void *txq, uint32_t n)
{
	struct mpsim_txq *q = txq;

	if (!mpsim_caps_has(q->pf, MPSIM_CAP_TXDONE))
		return -ENOTSUP;
	if (mpsim_txq_ring(q) == NULL)
		return 0;
	mpsim_tx_ring_move(q);
	return (int)mpsim_tx_ring_clean(q, n == 0 ? UINT32_MAX : n);
}
