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
 * A Tx ring that holds its frames for a while (devarg tx_delay_us=), or for as
 * long as the PF is stuck. Without one, frames are on the wire at once.
 *
 * The sender puts frames in; whoever sends, asks for descriptors or polls any
 * PF of the NIC, or of the one at the other end of the cable, moves what is due
 * to the wire. Order is kept within a ring, and nowhere else.
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
	rte_spinlock_t lock; /**< of whoever moves frames out */
	uint16_t size;
	uint64_t delay;                /**< TSC cycles */
	RTE_ATOMIC(uint32_t) head;     /**< frames that were put in; one writer: the sender */
	RTE_ATOMIC(uint32_t) tail;     /**< and out; under the lock */
	uint32_t cleaned;              /**< of those, the ones that the sender knows of */
	struct mpsim_txq_stats *stats; /**< of what came out; under the lock */
	struct mpsim_tx_slot slot[];
};

/** Frames that it still holds. */
static inline uint16_t
mpsim_tx_ring_used(const struct mpsim_tx_ring *r)
{
	/* pairs with the releases in mpsim_tx_ring_put() and when frames are out */
	return (uint16_t)(rte_atomic_load_explicit(&r->head, rte_memory_order_acquire) -
			  rte_atomic_load_explicit(&r->tail, rte_memory_order_acquire));
}

/** A ring of nb_desc frames if the PF is to have one, or with `always`. 0 or -ENOMEM. */
int mpsim_tx_ring_setup(struct mpsim_txq *q, uint16_t queue, unsigned int socket, bool always);

/** The inverse. Whatever it holds is lost, and counted. */
void mpsim_tx_ring_free(struct mpsim_txq *q);

/** What has not left when a queue is stopped never will. Nobody may be sending. */
void mpsim_tx_ring_stop(struct mpsim_txq *q);

/** By the sender: as many frames as there is room for. */
uint16_t mpsim_tx_ring_put(struct mpsim_txq *q, struct rte_mbuf **frames, uint16_t n);

/** By the sender, or whoever asks about the queue: what is due goes to the wire. */
void mpsim_tx_ring_move(struct mpsim_txq *q);

/** By the sender: forget up to n frames that are out, or all. @return how many. */
uint32_t mpsim_tx_ring_clean(struct mpsim_txq *q, uint32_t n);

/** By who sends: hardware would have moved long ago what is due on any PF. */
void mpsim_tx_ring_move_first(struct mpsim_nic *nic);

/** By a poller: the same as mpsim_tx_ring_move() for all of this NIC and its peer. */
void mpsim_tx_ring_move_all(struct mpsim_nic *nic);

/**
 * Let nothing leave the Tx rings of a PF, or let it go on. By a control thread;
 * queues that have no ring get one, and those that are set up later, too.
 *
 * @return
 *   0 or -ENOMEM, with nothing changed.
 */
int mpsim_tx_ring_set_stuck(struct mpsim_pf *pf, bool stuck);

#endif /* MPSIM_TX_RING_H */
