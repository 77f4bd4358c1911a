/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Bursts while timesync is enabled: a packet whose time of sending is asked for is sent by the
 * clock PF, which is then asked for the time. It may overtake other packets of its queue.
 */

#include "octo_private.h"

static bool
is_timed(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_TX_IEEE1588_TMST) != 0;
}

static uint16_t
send_timed(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts, uint16_t nb)
{
	uint16_t sent;

	/* pairs with the release in set_via() */
	if (likely(rte_atomic_load_explicit(&q->via, rte_memory_order_acquire) != OCTO_TX_NO_PF))
		return octo_tx_by(q, pf, pkts, nb);
	/* during a switch the control thread may send by the same ring */
	if (!octo_legs_try_lock(&q->holder)) {
		q->counts.refused += nb;
		return 0;
	}
	sent = octo_tx_by(q, pf, pkts, nb);
	octo_legs_unlock(&q->holder);
	return sent;
}

uint16_t
octo_tx_timed(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb,
	      octo_tx_send_fn send)
{
	const uint8_t clock = (uint8_t)rte_bsf32(octo_tx_clock(sending));
	uint16_t first = 0;

	while (first < nb) {
		const bool timed = is_timed(pkts[first]);
		uint16_t n = 1;
		uint16_t sent;

		while (first + n < nb && is_timed(pkts[first + n]) == timed)
			n++;
		sent = timed ? send_timed(q, clock, pkts + first, n) :
			       send(q, sending & OCTO_TX_LEGS, pkts + first, n);
		first += sent;
		if (sent < n)
			break;
	}
	return first;
}
