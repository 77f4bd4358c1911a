/* SPDX-License-Identifier: BSD-3-Clause */

#include "mpsim.h"
#include "mpsim_post.h"
#include "mpsim_tx_ring.h"

/*
 * Hardware moves frames by itself; here a poller that gets the lock moves a burst for all
 * queues.
 */
static inline void
try_pump(struct mpsim_nic *nic)
{
	mpsim_tx_ring_move_all(nic);
	if (mpsim_wire_is_idle(nic))
		return;
	if (rte_atomic_load_explicit(&nic->waiters, rte_memory_order_relaxed) != 0)
		return;
	if (!rte_spinlock_trylock(&nic->lock))
		return;
	mpsim_pump(nic);
	rte_spinlock_unlock(&nic->lock);
}

void
mpsim_rx_settle(const struct mpsim_rxq *q)
{
	if (likely(!mpsim_pipe_is_due(q->pipe)))
		return;
	/*
	 * Waits for the lock, unlike for the wire's frames: if the ring is empty after this, no
	 * earlier frame is on its way to it.
	 */
	mpsim_nic_lock(q->nic);
	mpsim_pipe_leave(q->pf);
	mpsim_nic_unlock(q->nic);
}

static uint32_t
count_buffers(struct rte_mbuf *const *pkts, uint16_t n)
{
	uint32_t nb = 0;

	for (uint16_t i = 0; i < n; i++)
		nb += pkts[i]->nb_segs;
	return nb;
}

uint16_t
mpsim_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	struct mpsim_rxq *q = rxq;

	mpsim_rx_settle(q);
	if (rte_ring_count(q->ring) < n)
		try_pump(q->nic);
	n = rte_ring_sc_dequeue_burst(q->ring, (void **)pkts, n, NULL);
	q->delivered += n;
	if (unlikely(q->post.ring != NULL))
		mpsim_post_more(q, count_buffers(pkts, n));
	return n;
}
