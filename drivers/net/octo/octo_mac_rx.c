/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier mac, Rx: the switch copies frames to groups to each PF, and all frames to a promiscuous one.
 * One of these frames is a packet of the port, the others are dropped by their destination address:
 * no lock, no allocation, no log, no rte_flow call.
 */

#include "octo_private.h"

/* Free the copies among the packets that a leg has returned. Returns how many are left. */
uint16_t
octo_mac_sift(struct octo_rxq *q, uint8_t leg, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct octo_mac_view *c = &q->octo->macs.view;
	const uint32_t foreign = rte_atomic_load_explicit(&c->foreign[leg],
							  rte_memory_order_relaxed);
	const bool groups = rte_atomic_load_explicit(&c->groups, rte_memory_order_relaxed) >> leg &
			    1;
	uint16_t kept = 0;

	q->sifted = 0;
	if (!groups && foreign == 0)
		return nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *const m = pkts[i];
		const uint8_t *dst = rte_pktmbuf_mtod(m, const uint8_t *);
		const bool group = dst[0] & 1;

		if (likely(group ? !groups : octo_mac_find(c, foreign, octo_mac_key(dst)) < 0)) {
			pkts[kept++] = m;
			continue;
		}
		rte_pktmbuf_free(m);
		q->copies.groups += group;
		q->copies.foreign += !group;
	}
	q->sifted = nb - kept;
	return kept;
}
