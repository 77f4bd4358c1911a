/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEGS_H
#define OCTO_LEGS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_stdatomic.h>

#include "octo_epoch.h"
#include "octo_lending.h"

/**
 * @file
 * The legs as a secondary process sees them. ethdev reads a PF's queues there when the process
 * attaches the port; a PF that joins a running octo port is attached before it has queues, and
 * ethdev does not announce them to the process. So the first burst after a change of the live
 * legs refreshes them. A process may lack the port of a PF that others use: EAL attaches and
 * detaches it in one process after the other.
 */

struct octo_dev;

/** Of a port, in shared memory. */
struct octo_legs {
	RTE_ATOMIC(uint32_t) changes;
	RTE_ATOMIC(uint32_t) live; /**< mask of PFs, as of the last change */
	struct octo_borrowers borrowers;
};

/** Does this process use the primary's ports? Set once, before there is a data path. */
extern bool octo_legs_borrowed;

/** The id of this process, stored in the queues that it uses; set at probe. */
extern int32_t octo_legs_process;

/**
 * Store in a queue that this process uses it: before a leg is used, and before the epoch is entered
 * where a secondary may be killed in between.
 */
static inline void
octo_legs_sign(RTE_ATOMIC(int32_t) * process)
{
	/* no pair: the control side reads it a second after it saw the burst */
	rte_atomic_store_explicit(process, octo_legs_process, rte_memory_order_relaxed);
}

/**
 * Has the process whose id is stored in a queue ended? Also true of a living process in another
 * pid namespace. Never true of this process, nor of a queue without an id.
 */
bool octo_legs_may_be_dead(const RTE_ATOMIC(int32_t) * process);

/**
 * Has the process of this id ended for certain? Not if one of another pid namespace may have it,
 * in which ids are unknown.
 */
bool octo_legs_is_dead(const struct octo_dev *octo, int32_t id);

/**
 * Take a lock that knows the process that holds it, which may be killed meanwhile.
 *
 * @return
 *   False if another thread, or a process that has died, holds it.
 */
static inline bool
octo_legs_try_lock(RTE_ATOMIC(int32_t) * holder)
{
	int32_t nobody = 0;

	return rte_atomic_compare_exchange_strong_explicit(holder, &nobody, octo_legs_process,
							   rte_memory_order_acquire,
							   rte_memory_order_relaxed);
}

static inline void
octo_legs_unlock(RTE_ATOMIC(int32_t) * holder)
{
	/* pairs with the acquire in octo_legs_try_lock() */
	rte_atomic_store_explicit(holder, 0, rte_memory_order_release);
}

/** Is it this process whose id is stored in a queue? */
static inline bool
octo_legs_is_here(const RTE_ATOMIC(int32_t) * process)
{
	return rte_atomic_load_explicit(process, rte_memory_order_relaxed) == octo_legs_process;
}

/** In the primary, before legs go live: make other processes refresh them. */
void octo_legs_change(struct octo_dev *octo, uint32_t live);

/**
 * In a secondary that attaches a port. The port may be another one than that which the caller has
 * seen there.
 *
 * @return
 *   The port that has this id; NULL if it is not open, or not of this driver: then it is not
 *   attached.
 */
struct octo_dev *octo_legs_borrow(uint16_t port_id);

/**
 * In a secondary that releases the port, if it has attached it: this process does not use the
 * port's shared memory any more when this returns.
 *
 * @return
 *   The port, or NULL if it was not attached.
 */
const struct octo_dev *octo_legs_return(uint16_t port_id, uint64_t owner_id);

/**
 * Has a process attached the port, or is about to, that may be alive? True of one in another pid
 * namespace, in which its id is unknown, until it releases the port.
 */
bool octo_legs_is_lent(const struct octo_dev *octo);

/**
 * In a secondary. lost: a PF's port is about to be detached from this process, and no use of it
 * begins any more. Not lost: it is attached again.
 */
void octo_legs_set_lost(uint16_t pf_port_id, bool lost);

/** In a secondary that is not about to lose it: has the process this port of a PF? */
bool octo_legs_has_port(uint16_t pf_port_id);

/**
 * When a PF is back, in each process: rte_eth_dev_is_removed() of the octo port stays true in a
 * process that has asked while all PFs were away, and asks the driver no more.
 */
void octo_legs_end_removal(const struct octo_dev *octo);

/**
 * In a secondary: refresh the legs if they have changed since this process last did so.
 *
 * @return
 *   Those whose ports this process has.
 */
uint32_t octo_legs_look(const struct octo_dev *octo, uint32_t legs);

/** Of octo_rxq.live, octo_txq.live or octo_txq.sending: the legs that this process may use. */
static inline uint32_t
octo_legs_follow(const struct octo_dev *octo, uint32_t legs)
{
	return unlikely(octo_legs_borrowed) ? octo_legs_look(octo, legs) : legs;
}

/** Of live legs, those that this process cannot use. */
static inline uint32_t
octo_legs_lacking(const struct octo_dev *octo, uint32_t live)
{
	return live & ~octo_legs_follow(octo, live);
}

/** The leg that is asked: the home leg if it is live, or else the first one; live is not 0. */
static inline uint8_t
octo_legs_told(uint32_t live, uint8_t home)
{
	return live & RTE_BIT32(home) ? home : (uint8_t)rte_bsf32(live);
}

/**
 * The counter of users of a queue for this process: primary and secondaries have separate ones,
 * as secondaries may be killed while they are counted.
 */
static inline struct octo_askers *
octo_legs_askers(struct octo_askers askers[2])
{
	return &askers[octo_legs_borrowed];
}

#endif /* OCTO_LEGS_H */
