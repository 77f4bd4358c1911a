/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEGS_H
#define OCTO_LEGS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_stdatomic.h>

#include "octo_epoch.h"

/**
 * @file
 * The legs as a secondary process knows them. What ethdev knows there of a PF's
 * queues it learns when the process attaches the port; a PF that joins a running
 * octo port is attached before it has queues, and nobody tells the process of them.
 * So the process looks, in the first burst after the live legs have changed.
 */

struct octo_dev;

/** Of a port, in shared memory. */
struct octo_legs {
	RTE_ATOMIC(uint32_t) changes;
	RTE_ATOMIC(uint32_t) live; /**< mask of PFs, as of the last change */
	/** processes that have attached it, those that were killed included */
	RTE_ATOMIC(uint32_t) nb_borrowers;
};

/** The process has the ports of the primary; set once, before there is a data path. */
extern bool octo_legs_borrowed;

/** The id of this process, with which it signs the queues that it uses; set at probe. */
extern int32_t octo_legs_process;

/** Store in a queue that this process uses it: in a burst, before a leg is used. */
static inline void
octo_legs_sign(RTE_ATOMIC(int32_t) * process)
{
	/* no pair: the control side reads it a second after it saw the burst */
	rte_atomic_store_explicit(process, octo_legs_process, rte_memory_order_relaxed);
}

/**
 * Is there no process any more with the id that a queue was signed with? Also true of a living
 * process of another pid namespace. Never true of this process, nor of a queue without an id.
 */
bool octo_legs_may_be_dead(const RTE_ATOMIC(int32_t) * process);

/** In the primary, before legs go live: other processes have to look. */
void octo_legs_change(struct octo_dev *octo, uint32_t live);

/** In a secondary that attaches the port. */
void octo_legs_borrow(struct octo_dev *octo);

/**
 * In a secondary that lets go of the port, if it has it: what it keeps of it is used no more
 * when this returns.
 *
 * @return
 *   The port, or NULL if it had it not.
 */
const struct octo_dev *octo_legs_return(uint16_t port_id, uint64_t owner_id);

/**
 * In a secondary, the octo port with this id, or NULL. Where not NULL, the process lets go of
 * no port before octo_legs_unhold(). Comes before the control mutex.
 */
struct octo_dev *octo_legs_hold(uint16_t port_id);
void octo_legs_unhold(void);

/** Secondary processes that may have the port. */
uint32_t octo_legs_nb_borrowers(const struct octo_dev *octo);

/** In a secondary, of all ports that it has. */
void octo_legs_foreach_borrowed(void (*tell)(struct octo_dev *octo, uint16_t arg), uint16_t arg);

void octo_legs_look(const struct octo_dev *octo);

/** After the live legs were read, and before one of them is used. */
static inline void
octo_legs_follow(const struct octo_dev *octo)
{
	if (unlikely(octo_legs_borrowed))
		octo_legs_look(octo);
}

/** Of a queue: those that ask in the primary, and in secondaries, which may be killed meanwhile. */
static inline struct octo_askers *
octo_legs_askers(struct octo_askers askers[2])
{
	return &askers[octo_legs_borrowed];
}

#endif /* OCTO_LEGS_H */
