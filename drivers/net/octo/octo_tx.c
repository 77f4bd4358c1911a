/* SPDX-License-Identifier: BSD-3-Clause */

/* The data path, Tx. The PF by which a queue sends is chosen in octo_tx_home.c. */

#include "octo_private.h"
#include "octo_thread.h"

__rte_hot uint16_t
octo_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	const uint32_t epoch = octo_epoch_enter(&q->epoch);
	/* pairs with the release in publish_sending() */
	const uint32_t sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	uint16_t sent;

	if (likely(octo_call_holds(&q->call, sending, epoch))) {
		sent = rte_eth_tx_burst(q->call.leg.port, q->call.leg.queue, pkts, nb);
		octo_tx_count(q, q->call.pf, sent);
	} else {
		sent = octo_tx_long_way(q, sending, pkts, nb);
	}
	octo_epoch_leave(&q->epoch);
	return sent;
}

/* Burst of a secondary process; see octo_rx_burst_borrowed(). */
uint16_t
octo_tx_burst_borrowed(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	uint32_t sending;
	uint16_t sent;

	octo_legs_sign(&q->process);
	octo_epoch_enter(&q->epoch);
	sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	sending = octo_legs_follow(q->octo, sending);
	sent = octo_tx_long_way(q, sending, pkts, nb);
	octo_epoch_leave(&q->epoch);
	return sent;
}

/* All PFs belong to one NIC, so if `via` cannot be used, any other PF prepares as well. */
static uint8_t
prepares_for(const struct octo_txq *q, uint32_t sending)
{
	const uint8_t via = rte_atomic_load_explicit(&q->via, rte_memory_order_acquire);

	return sending & RTE_BIT32(via) ? via : (uint8_t)rte_bsf32(sending);
}

uint16_t
octo_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_txq *q = txq;
	struct octo_leg leg;
	uint16_t ready = 0;
	uint32_t sending;

	octo_legs_sign(&q->process);
	octo_epoch_enter(&q->epoch);
	sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
	sending = octo_legs_follow(q->octo, sending);
	if (likely(sending != 0)) {
		leg = q->leg[prepares_for(q, sending)];
		ready = rte_eth_tx_prepare(leg.port, leg.queue, pkts, nb);
	} else {
		rte_errno = ENODEV;
	}
	octo_epoch_leave(&q->epoch);
	return ready;
}

/* May be called by another thread than the sender; see octo_rx_queue_count(). */
int
octo_tx_descriptor_status(void *txq, uint16_t offset)
{
	struct octo_txq *q = txq;
	int ret = -ENODEV;
	uint32_t live;
	uint8_t leg;

	/* packets in the stash are not sent, either; read without a lock, like the PFs' answers */
	if (offset < q->nb_desc && offset >= q->nb_desc - RTE_MIN(q->stash.nb, q->nb_desc))
		return RTE_ETH_TX_DESC_FULL;
	octo_askers_enter(octo_legs_askers(q->askers));
	live = octo_legs_follow(q->octo,
				rte_atomic_load_explicit(&q->live, rte_memory_order_acquire));
	if (live != 0) {
		leg = octo_legs_told(live,
				     rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed));
		ret = rte_eth_tx_descriptor_status(q->leg[leg].port, q->leg[leg].queue, offset);
	}
	octo_askers_leave(octo_legs_askers(q->askers));
	return ret;
}

/*
 * Packets that are not sent: those put aside, and those on the rings of all PFs, as an earlier home
 * may still have some. So 0 means that all are sent. May be called by another thread, too.
 */
int
octo_tx_queue_count(void *txq)
{
	struct octo_txq *q = txq;
	int used = RTE_MAX(q->stash.nb - q->stash.first, 0);
	uint32_t live;
	int n = 0;

	/* pairs with the release in flush(): what left the stash is on a ring */
	rte_atomic_thread_fence(rte_memory_order_acquire);
	octo_askers_enter(octo_legs_askers(q->askers));
	live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	live = octo_legs_follow(q->octo, live);
	for (uint8_t leg = 0; leg < OCTO_MAX_PFS && n >= 0; leg++) {
		if (!(live & RTE_BIT32(leg)))
			continue;
		n = rte_eth_tx_queue_count(q->leg[leg].port, q->leg[leg].queue);
		used += n;
	}
	octo_askers_leave(octo_legs_askers(q->askers));
	return n < 0 ? n : used;
}

/* Free on every leg, as a previous home may still hold packets. */
static int
clean_up(struct octo_txq *q, uint32_t free_cnt)
{
	uint32_t freed = 0;
	uint32_t live;
	int n = 0;

	live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	live = octo_legs_follow(q->octo, live);
	for (uint8_t leg = 0; leg < OCTO_MAX_PFS; leg++) {
		if (!(live & RTE_BIT32(leg)))
			continue;
		n = rte_eth_tx_done_cleanup(q->leg[leg].port, q->leg[leg].queue,
					    free_cnt == 0 ? 0 : free_cnt - freed);
		if (n < 0)
			break;
		freed += n;
		if (free_cnt != 0 && freed >= free_cnt)
			break;
	}
	return n < 0 ? n : (int)freed;
}

int
octo_tx_done_cleanup(void *txq, uint32_t free_cnt)
{
	struct octo_txq *q = txq;
	int ret = 0;

	octo_legs_sign(&q->process);
	octo_epoch_enter(&q->epoch);
	octo_tx_go_on(q);
	/* pairs with the release in set_via(); only the sender begins a switch */
	if (rte_atomic_load_explicit(&q->via, rte_memory_order_acquire) != OCTO_TX_NO_PF) {
		ret = clean_up(q, free_cnt);
	} else if (octo_legs_try_lock(&q->holder)) {
		/* without the lock the control thread may send by the same rings */
		ret = clean_up(q, free_cnt);
		octo_legs_unlock(&q->holder);
	}
	octo_epoch_leave(&q->epoch);
	return ret;
}
