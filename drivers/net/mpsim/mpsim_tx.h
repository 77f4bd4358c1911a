/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_TX_H
#define MPSIM_TX_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_stdatomic.h>

#include "mpsim_tx_fetch.h"

/**
 * @file
 * Tx queues: mpsim_tx_ring.h delays frames, mpsim_tx_fetch.h counts bytes that cross nodes.
 */

struct mpsim_charge;
struct mpsim_nic;
struct mpsim_pf;
struct mpsim_tx_ring;

/** Written by the thread that sends on the queue, or under the lock of its ring. */
struct mpsim_txq_stats {
	alignas(RTE_CACHE_LINE_SIZE) uint64_t packets;
	uint64_t bytes;
	uint64_t errors;    /**< malformed, or an offload does not fit the frame */
	uint64_t no_wire;   /**< dropped because there was no wire, or no receiving peer */
	uint64_t wire_full; /**< dropped because the wire stayed full */
	uint64_t link_down; /**< dropped because the PF's link is down */
	uint64_t copied;    /**< copied because an offload had to change a shared buffer */
	uint64_t lost;      /**< in the ring when the queue was stopped */
};

/** A sender's view of a wire with a limited number of frames. */
enum mpsim_wire_state {
	MPSIM_WIRE_MOVES,
	MPSIM_WIRE_FULL,  /**< for some time: the sender retries */
	MPSIM_WIRE_STUCK, /**< for too long: frames that do not fit are dropped */
};

struct mpsim_txq {
	alignas(RTE_CACHE_LINE_SIZE) struct mpsim_pf *pf;
	struct mpsim_nic *nic;
	struct mpsim_txq_stats *stats;
	uint64_t offloads; /**< RTE_ETH_TX_OFFLOAD_* */
	RTE_ATOMIC(bool) started;
	uint16_t nb_desc;
	bool deferred_start;
	enum mpsim_wire_state wire;              /**< written like stats */
	uint64_t wire_since;                     /**< TSC, when it was seen full */
	struct mpsim_charge *charge;             /**< NULL without a model */
	bool counts_nodes;                       /**< see mpsim_tx_fetch.h */
	RTE_ATOMIC(struct mpsim_tx_ring *) ring; /**< NULL: frames never wait */
};

/** Pairs with the release in mpsim_tx_ring_setup(). */
static inline struct mpsim_tx_ring *
mpsim_txq_ring(const struct mpsim_txq *q)
{
	return rte_atomic_load_explicit(&q->ring, rte_memory_order_acquire);
}

/* mpsim_tx.c */
int mpsim_tx_descriptor_status(void *txq, uint16_t offset);
int mpsim_tx_queue_count(void *txq);
int mpsim_tx_done_cleanup(void *txq, uint32_t n);
bool mpsim_tx_has_listener(const struct mpsim_pf *pf, bool to_wire);

/**
 * Send to the wire, or to the other side of the E-Switch. Returns how many frames were sent or
 * dropped.
 */
uint16_t mpsim_tx_send(struct mpsim_txq *q, struct mpsim_txq_stats *stats, bool to_wire,
		       struct rte_mbuf **frames, uint16_t n);

/** Free frames that cannot be sent, and count them. Returns n. */
uint16_t mpsim_tx_drop_all(struct rte_mbuf **pkts, uint16_t n, uint64_t *counter);
uint16_t mpsim_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t n);

/* compat/ has another where DPDK is older than 24.03 */
#ifndef OCTO_SET_TX_QUEUE_COUNT
#define OCTO_SET_TX_QUEUE_COUNT(dev, fn) ((dev)->tx_queue_count = (fn))
#endif

#endif /* MPSIM_TX_H */
