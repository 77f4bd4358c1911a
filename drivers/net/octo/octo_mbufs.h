/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MBUFS_H
#define OCTO_MBUFS_H

#include <stdint.h>

#include <rte_mbuf.h>

/**
 * @file
 * The data path's work on each received packet, in as few instructions as possible: it is half
 * of the port's cost. Hence the steps of four, and sums of four lengths that are not widened
 * one by one; no packet is a gigabyte long.
 */

#define OCTO_MBUFS_STEP 4

/** Set the port of two packets. @return the sum of their lengths in bytes. */
static inline uint32_t
octo_mbufs_adopt_two(struct rte_mbuf *const *pkts, uint16_t port)
{
	/* each pointer is read once: to the compiler the stores to port may alias pkts */
	struct rte_mbuf *const a = pkts[0], *const b = pkts[1];

	a->port = port;
	b->port = port;
	return a->pkt_len + b->pkt_len;
}

/** Set the port of received packets. @return the sum of their lengths in bytes. */
static inline uint64_t
octo_mbufs_adopt(struct rte_mbuf *const *pkts, uint16_t nb, uint16_t port)
{
	struct rte_mbuf *const *const end = pkts + nb;
	struct rte_mbuf *const *const last = pkts + (nb & ~(OCTO_MBUFS_STEP - 1));
	uint64_t bytes = 0;

	for (; pkts != last; pkts += OCTO_MBUFS_STEP)
		bytes += octo_mbufs_adopt_two(pkts, port) + octo_mbufs_adopt_two(pkts + 2, port);
	for (; pkts != end; pkts++) {
		pkts[0]->port = port;
		bytes += pkts[0]->pkt_len;
	}
	return bytes;
}

#endif /* OCTO_MBUFS_H */
