/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "octo_clock.h"
#include "mpsim.h"
#include "mpsim_tx_ring.h"

int
mpsim_tx_ring_setup(struct mpsim_txq *q, uint16_t queue, unsigned int socket, bool always)
{
	const uint32_t delay_us = q->pf->args.tx_delay_us;
	struct mpsim_tx_ring *r;

	if (q->ring != NULL || (delay_us == 0 && !always && !q->pf->tx_stuck))
		return 0;
	r = rte_zmalloc_socket("mpsim_tx_ring",
			       sizeof(*r) + q->nb_desc * sizeof(struct mpsim_tx_slot),
			       RTE_CACHE_LINE_SIZE, socket);
	if (r == NULL)
		return -ENOMEM;
	rte_spinlock_init(&r->lock);
	r->size = q->nb_desc;
	r->delay = delay_us * (rte_get_timer_hz() / US_PER_S);
	r->stats = &q->pf->tx_ring_stats[queue];
	/* pairs with the acquire in mpsim_txq_ring(): the queue may be in use */
	rte_atomic_store_explicit(&q->ring, r, rte_memory_order_release);
	return 0;
}

/* Drop all frames of the ring, unsent. Returns how many; under the ring's lock. */
static uint32_t
lose_all(struct mpsim_txq *q, struct mpsim_tx_ring *r)
{
	const uint32_t head = rte_atomic_load_explicit(&r->head, rte_memory_order_acquire);
	uint32_t tail = rte_atomic_load_explicit(&r->tail, rte_memory_order_relaxed);
	const uint32_t n = head - tail;

	r->stats->lost += n;
	/* pairs with the acquire in get_locked(): frames that no longer wait are in the counts */
	rte_atomic_fetch_sub_explicit(&q->nic->tx_waiting, n, rte_memory_order_release);
	for (; tail != head; tail++)
		rte_pktmbuf_free(r->slot[tail % r->size].frame);
	rte_atomic_store_explicit(&r->tail, tail, rte_memory_order_release);
	return n;
}

void
mpsim_tx_ring_stop(struct mpsim_txq *q)
{
	struct mpsim_tx_ring *r = mpsim_txq_ring(q);
	uint32_t lost;

	if (r == NULL)
		return;
	mpsim_tx_ring_move(q);
	rte_spinlock_lock(&r->lock);
	lost = lose_all(q, r);
	rte_spinlock_unlock(&r->lock);
	/* not within the ring's lock, which move_pf() takes under the NIC's lock */
	mpsim_nic_lock(q->nic);
	q->nic->stats.dead_tx += lost;
	mpsim_nic_unlock(q->nic);
}

void
mpsim_tx_ring_free(struct mpsim_txq *q)
{
	mpsim_tx_ring_stop(q);
	rte_free(q->ring);
	q->ring = NULL;
}

/*
 * Send frames that are due. All are dropped if there is no link or wire, or if the wire is
 * stuck.
 */
static uint16_t
send_due(struct mpsim_txq *q, struct mpsim_txq_stats *stats, struct rte_mbuf **frames, uint16_t n)
{
	const bool to_wire = mpsim_sends_to_wire(q->pf);

	if (unlikely(!rte_atomic_load_explicit(&q->pf->link_up, rte_memory_order_relaxed)))
		return mpsim_tx_drop_all(frames, n, &stats->link_down);
	if (unlikely(!mpsim_tx_has_listener(q->pf, to_wire)))
		return mpsim_tx_drop_all(frames, n, &stats->no_wire);
	return mpsim_tx_send(q, stats, to_wire, frames, n);
}

static uint16_t
take_due(const struct mpsim_tx_ring *r, uint64_t now, struct rte_mbuf **frames)
{
	const uint32_t tail = rte_atomic_load_explicit(&r->tail, rte_memory_order_relaxed);
	const uint16_t used = mpsim_tx_ring_used(r);
	uint16_t n = 0;

	while (n < RTE_MIN(used, MPSIM_BURST)) {
		const struct mpsim_tx_slot *s = &r->slot[(tail + n) % r->size];

		/* another CPU's clock may be a little ahead */
		if ((int64_t)(now - s->due) < 0)
			break;
		frames[n++] = s->frame;
	}
	return n;
}

static void
move_locked(struct mpsim_txq *q, struct mpsim_tx_ring *r)
{
	const uint64_t now = octo_now();
	struct rte_mbuf *frames[MPSIM_BURST];
	uint16_t due, sent;

	do {
		due = take_due(r, now, frames);
		if (due == 0)
			return;
		sent = send_due(q, r->stats, frames, due);
		/* pairs with the acquire in mpsim_tx_ring_used(): the slots are free */
		rte_atomic_fetch_add_explicit(&r->tail, sent, rte_memory_order_release);
		/* as in lose_all() */
		rte_atomic_fetch_sub_explicit(&q->nic->tx_waiting, sent, rte_memory_order_release);
	} while (sent == due);
}

static bool
may_move(const struct mpsim_txq *q, const struct mpsim_tx_ring *r)
{
	return mpsim_tx_ring_used(r) != 0 &&
	       !rte_atomic_load_explicit(&q->pf->tx_stuck, rte_memory_order_relaxed);
}

void
mpsim_tx_ring_move(struct mpsim_txq *q)
{
	struct mpsim_tx_ring *r = mpsim_txq_ring(q);

	/* the thread that has the lock moves the frames as well */
	if (!may_move(q, r) || !rte_spinlock_trylock(&r->lock))
		return;
	move_locked(q, r);
	rte_spinlock_unlock(&r->lock);
}

uint16_t
mpsim_tx_ring_put(struct mpsim_txq *q, struct rte_mbuf **frames, uint16_t n)
{
	struct mpsim_tx_ring *r = mpsim_txq_ring(q);
	uint64_t due;
	uint32_t head;

	mpsim_tx_ring_move_first(q->nic);
	mpsim_tx_ring_move(q);
	mpsim_tx_ring_clean(q, UINT32_MAX);
	n = RTE_MIN(n, r->size - mpsim_tx_ring_used(r));
	/* before the frames are visible, so that the count is never too low */
	rte_atomic_fetch_add_explicit(&q->nic->tx_waiting, n, rte_memory_order_relaxed);
	head = rte_atomic_load_explicit(&r->head, rte_memory_order_relaxed);
	due = octo_now() + r->delay;
	for (uint16_t i = 0; i < n; i++)
		r->slot[(head + i) % r->size] = (struct mpsim_tx_slot){frames[i], due};
	/* pairs with the acquire in mpsim_tx_ring_used(): the slots are filled */
	rte_atomic_store_explicit(&r->head, head + n, rte_memory_order_release);
	if (r->delay == 0)
		mpsim_tx_ring_move(q);
	return n;
}

uint32_t
mpsim_tx_ring_clean(struct mpsim_txq *q, uint32_t n)
{
	struct mpsim_tx_ring *r = mpsim_txq_ring(q);
	const uint32_t out = rte_atomic_load_explicit(&r->tail, rte_memory_order_acquire) -
			     r->cleaned;
	const uint32_t done = RTE_MIN(n, out);

	r->cleaned += done;
	return done;
}

/* Move the frames of a PF's Tx rings that are due. Under the NIC's lock. */
static void
move_pf(struct mpsim_pf *pf)
{
	for (uint16_t i = 0; i < pf->data->nb_tx_queues; i++) {
		struct mpsim_txq *q = pf->data->tx_queues[i];

		if (q == NULL || mpsim_txq_ring(q) == NULL)
			continue;
		/*
		 * Sending to a representor takes the NIC's lock, which is held: leave that to
		 * the sender.
		 */
		if (mpsim_sends_to_wire(pf) && may_move(q, mpsim_txq_ring(q))) {
			rte_spinlock_lock(&mpsim_txq_ring(q)->lock);
			move_locked(q, mpsim_txq_ring(q));
			rte_spinlock_unlock(&mpsim_txq_ring(q)->lock);
		}
	}
}

static void
move_nic_locked(struct mpsim_nic *nic)
{
	for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++)
		if (nic->pf[i] != NULL && nic->pf[i]->started)
			move_pf(nic->pf[i]);
}

static void
try_move_nic(struct mpsim_nic *nic)
{
	if (!mpsim_tx_ring_waits(nic) ||
	    rte_atomic_load_explicit(&nic->waiters, rte_memory_order_relaxed) != 0 ||
	    !rte_spinlock_trylock(&nic->lock))
		return;
	move_nic_locked(nic);
	rte_spinlock_unlock(&nic->lock);
}

void
mpsim_tx_ring_move_first(struct mpsim_nic *nic)
{
	if (likely(!mpsim_tx_ring_waits(nic)))
		return;
	mpsim_nic_lock(nic);
	move_nic_locked(nic);
	mpsim_nic_unlock(nic);
}

void
mpsim_tx_ring_move_all(struct mpsim_nic *nic)
{
	try_move_nic(nic);
	if (mpsim_wire_kind(nic) == MPSIM_WIRE_NIC && nic->peer != nic)
		try_move_nic(nic->peer);
}

int
mpsim_tx_ring_set_stuck(struct mpsim_pf *pf, bool stuck)
{
	int ret = 0;

	/* queues of a running PF may be set up and released at the same time */
	mpsim_nic_lock(pf->nic);
	for (uint16_t i = 0; ret == 0 && stuck && i < pf->data->nb_tx_queues; i++)
		if (pf->data->tx_queues[i] != NULL)
			ret = mpsim_tx_ring_setup(pf->data->tx_queues[i], i, SOCKET_ID_ANY, true);
	if (ret == 0)
		rte_atomic_store_explicit(&pf->tx_stuck, stuck, rte_memory_order_relaxed);
	mpsim_nic_unlock(pf->nic);
	return ret;
}
