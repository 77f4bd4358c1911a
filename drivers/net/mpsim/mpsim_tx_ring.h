/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_TX_RING_H
#define MPSIM_TX_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_spinlock.h>
#include <rte_stdatomic.h>

/**
 * @file
 * A Tx ring that delays its frames (devarg tx_delay_us=), or holds them while the PF is stuck.
 * Without a ring, frames are on the wire at once.
 *
 * The sender puts frames in. Frames that are due are moved to the wire in calls that send,
 * query descriptors, or poll any PF of the NIC or of the peer. Order is kept within a ring
 * only.
 */

struct mpsim_nic;
struct mpsim_pf;
struct mpsim_txq;
struct mpsim_txq_stats;
struct rte_eth_dev_data;

struct mpsim_tx_slot {
	struct rte_mbuf *frame;
	uint64_t due; /**< TSC */
};

struct mpsim_tx_ring {
	rte_spinlock_t lock; /**< taken to move frames out */
	uint16_t size;
	uint64_t delay;                /**< TSC cycles */
	RTE_ATOMIC(uint32_t) head;     /**< frames put in; written by the sender only */
	RTE_ATOMIC(uint32_t) tail;     /**< frames moved out; under the lock */
	uint32_t cleaned;              /**< frames out that the sender has cleaned up */
	struct mpsim_txq_stats *stats; /**< of frames moved out; under the lock */
	struct mpsim_tx_slot slot[];
};

/** Frames in the ring. */
static inline uint16_t
mpsim_tx_ring_used(const struct mpsim_tx_ring *r)
{
	/* pairs with the releases in mpsim_tx_ring_put() and move_locked() */
	return (uint16_t)(rte_atomic_load_explicit(&r->head, rte_memory_order_acquire) -
			  rte_atomic_load_explicit(&r->tail, rte_memory_order_acquire));
}

/**
 * Allocate a ring of nb_desc frames, if the PF has a delay or is stuck, or with `always`. Under
 * the NIC's lock. Returns 0 or -ENOMEM.
 */
int mpsim_tx_ring_setup(struct mpsim_txq *q, uint16_t queue, unsigned int socket, bool always);

/** Free the ring. Frames in it are lost, and counted. */
void mpsim_tx_ring_free(struct mpsim_txq *q);

/** Drop the frames of a queue that is stopped. No thread may be sending. */
void mpsim_tx_ring_stop(struct mpsim_txq *q);

/** Put in as many frames as there is room for; returns how many. By the sender. */
uint16_t mpsim_tx_ring_put(struct mpsim_txq *q, struct rte_mbuf **frames, uint16_t n);

/** Move frames that are due to the wire. By the sender, or by a query of the queue. */
void mpsim_tx_ring_move(struct mpsim_txq *q);

/** Clean up to n frames that are out, or all. Returns how many. By the sender. */
uint32_t mpsim_tx_ring_clean(struct mpsim_txq *q, uint32_t n);

/** Move frames of all PFs that are due, as hardware would have done. By the sender. */
void mpsim_tx_ring_move_first(struct mpsim_nic *nic);

/** Move frames that are due, of all PFs of this NIC and its peer. By a poller. */
void mpsim_tx_ring_move_all(struct mpsim_nic *nic);

/**
 * Hold all frames in the Tx rings of a PF, or let them go on. By a control thread; queues
 * without a ring get one, and so do those that are set up later.
 *
 * @return
 *   0 or -ENOMEM, with nothing changed.
 */
int mpsim_tx_ring_set_stuck(struct mpsim_pf *pf, bool stuck);

#endif /* MPSIM_TX_RING_H */
