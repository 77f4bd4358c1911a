/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_POST_H
#define MPSIM_POST_H

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_stdatomic.h>

/**
 * @file
 * Buffers that a PMD posts to an Rx ring, with fill_rings=1: each free descriptor holds an mbuf, as
 * with hardware. Without it the NIC takes an mbuf of the pool when a frame comes.
 *
 * The poller posts, one at a time; the NIC takes, under its lock.
 */

struct mpsim_rxq;

/** What is posted to a queue. */
struct mpsim_post {
	struct rte_ring *ring; /**< NULL: nothing is posted */
	uint32_t missing;      /**< descriptors without a buffer; of the poller */
	/** Buffers of frames that were dropped: by the NIC's side, taken by the poller. */
	RTE_ATOMIC(uint32_t) dropped;
};

/** @return 0 or -ENOMEM. */
int mpsim_post_setup(struct mpsim_rxq *q, unsigned int socket);
/** Free a frame that the queue's poller will not get: its descriptors need other buffers. */
void mpsim_post_free(struct mpsim_rxq *q, struct rte_mbuf *frame);
/** The queue is stopped: free what is posted. */
void mpsim_post_drop(struct mpsim_rxq *q);

/**
 * Fill the ring, before the queue is started.
 *
 * @return
 *   0, or -ENOMEM if the pool lacks buffers: the start fails, as with hardware.
 */
int mpsim_post_fill(struct mpsim_rxq *q);

/** The poller took packets of so many buffers: post as many, and those that were missing. */
void mpsim_post_more(struct mpsim_rxq *q, uint32_t nb);

/** Buffers that the NIC may fill now; UINT32_MAX without fill_rings=1. */
uint32_t mpsim_post_count(const struct mpsim_rxq *q);

/** Take up to n buffers for frames, of the pool or posted ones. @return how many. */
uint16_t
mpsim_post_take(struct mpsim_rxq *q, struct rte_mempool *pool, struct rte_mbuf **bufs, uint16_t n);

#endif /* MPSIM_POST_H */
