/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MBUFS_H
#define OCTO_MBUFS_H

#include <stdint.h>

#include <rte_mbuf.h>

/**
 * @file
 * What the data path does to each packet it receives, in as few instructions as can be:
 * that is half of what the port costs. Hence the steps of four, and sums of four lengths
 * that are not widened one by one; no packet is a gigabyte long.
 */

#define OCTO_MBUFS_STEP 4

/** Received packets become those of another port. @return their bytes. */
static inline uint64_t
octo_mbufs_adopt(struct rte_mbuf *const *pkts, uint16_t nb, uint16_t port)
{
	struct rte_mbuf *const *const end = pkts + nb;
	uint64_t bytes = 0;

	for (; end - pkts >= OCTO_MBUFS_STEP; pkts += OCTO_MBUFS_STEP) {
		/* each once: for all that the compiler knows, a port may lie over them */
		struct rte_mbuf *const a = pkts[0], *const b = pkts[1];
		struct rte_mbuf *const c = pkts[2], *const d = pkts[3];

		a->port = port;
		b->port = port;
		c->port = port;
		d->port = port;
		bytes += a->pkt_len + b->pkt_len + c->pkt_len + d->pkt_len;
	}
	for (; pkts < end; pkts++) {
		pkts[0]->port = port;
		bytes += pkts[0]->pkt_len;
	}
	return bytes;
}

#endif /* OCTO_MBUFS_H */
