/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FENCE_H
#define OCTO_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_config.h>
#include <rte_stdatomic.h>

#include "octo_gate.h"
#include "octo_migration.h"

/**
 * @file
 * The fence, for code that changes the path of flows: arm it, install and flip any number of
 * rules, then call octo_fence_flipped_locked(). From then on the consumers keep the order of
 * every flow by themselves, and no control thread waits for them. Each flip, also a failed one,
 * must end with that call: without it nothing is stuck, but packets on the held leg are
 * delayed.
 *
 * All under the control mutex, in the primary process. Never from inside a burst.
 */

struct octo_dev;
struct octo_rxq;

#define OCTO_FENCE_GRACE_US 50
#define OCTO_FENCE_MAX_GRACE_US 1000000
#define OCTO_FENCE_TIMEOUT_MS 10
#define OCTO_FENCE_MAX_TIMEOUT_MS 10000
#define OCTO_FENCE_DWELL_MS 1
#define OCTO_FENCE_MAX_DWELL_MS 1000
#define OCTO_FENCE_LINGER_MS 10
#define OCTO_FENCE_MAX_LINGER_MS 10000

struct octo_fence_settings {
	uint32_t grace_us;   /**< longest time a packet may stay in the NIC */
	uint32_t timeout_ms; /**< longest time another queue's consumer may be silent */
	uint32_t dwell_ms;   /**< shortest time between two changes of a queue's home */
	uint32_t linger_ms;  /**< how long a destroyed rule still leads its flow */
};

enum octo_fence_kind {
	OCTO_FENCE_NONE,
	OCTO_FENCE_HOME, /**< one leg of the queue is held, the others are drained */
	OCTO_FENCE_MOVE, /**< all legs are held, other queues are drained */
	OCTO_FENCE_STEP, /**< some legs are held, some legs of some queues are drained */
};

#define OCTO_FENCE_WORDS (RTE_MAX_QUEUES_PER_PORT / 64)

/** The fence of its destination queue; the consumer sees it through the gate. */
struct octo_fence {
	RTE_ATOMIC(uint64_t) sources[OCTO_FENCE_WORDS]; /**< bit mask of queues */
	RTE_ATOMIC(uint32_t) drains; /**< legs of this queue that a step drains */
	bool by_leg;                 /**< STEP: wait only for these legs of the sources */
	bool merges;                 /**< ring counts are counts of packets */
	/* control side */
	uint8_t kind; /**< enum octo_fence_kind */
	uint8_t leg;  /**< the leg held by kind HOME, OCTO_NO_PF if several are */
	bool under_way;
	bool reads;          /**< a burst since the last wait may read other queues, its sources */
	uint32_t dead_epoch; /**< epoch of a consumer that never left its burst; 0: none */
};

struct octo_fence_counts {
	uint64_t rehomes; /**< queues whose flows have followed them to a new home */
	uint64_t opened;
	struct octo_gate_counts gates;
};

/** The fences of a port; under the control mutex. */
struct octo_fences {
	struct octo_fence_settings settings;
	uint32_t nb_open;   /**< armed and not seen closed: their consumers may have closed them */
	bool stale_sources; /**< a fence with sources was closed, maybe outside of the sweep */
	bool by_others;     /**< the hotplug request changes paths, and ends the hold itself */
	uint64_t opened;    /**< so far */
	uint64_t rehomes;   /**< so far: queues whose flows have followed them */
	uint64_t given_up;  /**< so far: closed for others that waited */
	uint64_t step_end;  /**< TSC at which waiting for a step ends */
	uint64_t step_patience; /**< TSC until which a step lets others close; 0: no wait */
	/* values at the last reset */
	uint64_t opened_base;
	uint64_t rehomes_base;
	uint64_t given_up_base;
};

/**
 * Flows of a queue are about to come by this leg: it is held until the other legs of the queue
 * have been drained of earlier packets.
 *
 * @return
 *   0, also if no order has to be kept; -EBUSY: the queue has an open fence of another kind, or
 *   to another leg. Then nothing has changed, and the caller tries again later.
 */
int octo_fence_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * Flows of a queue that came by this leg are about to come by an unknown other one: all others
 * are held until this one has been drained of earlier packets. Does nothing if the queue has an
 * open fence, or no order has to be kept.
 */
void octo_fence_arm_away_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * Flows with rules are about to come by an unknown leg, the NIC's default, as the transfer
 * proxy PF is removed and the switch rules with it. All legs of each queue but its home are
 * held, until octo_fence_let_strays_go_locked().
 *
 * @return
 *   Whether they are held: false while another fence is open, which closes soon.
 */
bool octo_fence_hold_strays_locked(struct octo_dev *octo);
void octo_fence_let_strays_go_locked(struct octo_dev *octo);

/** Would octo_fence_arm_home_locked() not return -EBUSY? */
bool octo_fence_can_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * octo_fence_arm_home_locked() of all queues: packets that match no rule are about to come by
 * this leg, or may do so from now on. A queue with an open fence of another kind is left out.
 * Ends with octo_fence_flipped_all_locked().
 */
void octo_fence_hold_leg_locked(struct octo_dev *octo, uint8_t leg);

/** Would octo_fence_hold_leg_locked() leave out no queue? */
bool octo_fence_can_hold_leg_locked(struct octo_dev *octo, uint8_t leg);

/**
 * Flows are about to move from one queue to another, which is held until the first has been
 * drained of earlier packets and its consumer has processed them. Waits, no longer than the
 * fence's timeout, for an open fence with which this one could form a cycle.
 */
void octo_fence_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue);

/** Would octo_fence_arm_move_locked() not have to wait for another fence? */
bool octo_fence_can_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue);

/**
 * Flows of many queues are about to move to many others: the legs that get some are held until
 * those that lose some are drained. No leg does both.
 *
 * @return
 *   0; -EBUSY: a queue has an open fence of another kind with which this one could form a
 *   cycle. Then nothing has changed, and the caller tries again later.
 */
int octo_fence_arm_step_locked(struct octo_dev *octo, const struct octo_migration_step *step);

/** The step's change of paths is done, or has failed. */
void octo_fence_step_flipped_locked(struct octo_dev *octo);

/**
 * Has every packet of the step reached its new queue? Also true once waiting has timed out,
 * which counts as fences given up.
 */
bool octo_fence_step_is_over_locked(struct octo_dev *octo);

/**
 * The change for which the fence of this (destination) queue was armed is done, or has failed. A
 * fence on legs of the queue itself is left for later while an agent has to answer.
 */
void octo_fence_flipped_locked(struct octo_dev *octo, uint16_t queue);

/** octo_fence_flipped_locked() of all queues. */
void octo_fence_flipped_all_locked(struct octo_dev *octo);

/** Account for fences that their consumers have closed. Called by the control thread, often. */
void octo_fence_sweep_locked(struct octo_dev *octo);

/** A PF is taken away: its legs no longer hold anything, and are not drained. */
void octo_fence_forget_pfs_locked(struct octo_dev *octo, uint32_t pfs);

/** The queue is stopped: its packets are gone. Bursts of other queues may read it yet. */
void octo_fence_forget_queue_locked(struct octo_dev *octo, uint16_t queue);

/** The port starts: read the sizes of the queues' rings. */
void octo_fence_start_locked(struct octo_dev *octo);
void octo_fence_start_queue_locked(struct octo_dev *octo, struct octo_rxq *q);

/** The port is stopped, and no thread is inside a burst. */
void octo_fence_stop_locked(struct octo_dev *octo);

/* sums of the queues' counters, in any process */
struct octo_fence_counts octo_fence_counts(const struct octo_dev *octo);
void octo_fence_reset_counts(struct octo_dev *octo);

/* octo_fence_rx.c, for the consumer of the queue, inside a burst */

/** TSC up to which all sources are drained, of the queue itself these legs; 0: unknown. */
uint64_t octo_fence_drained(struct octo_rxq *q, uint32_t legs, uint64_t now);

/** May the held legs be polled again? If not, notes how many packets wait on them. */
bool octo_fence_release(struct octo_rxq *q, uint32_t word, uint32_t live, uint64_t now);

#endif /* OCTO_FENCE_H */
