/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FENCE_H
#define OCTO_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_config.h>
#include <rte_stdatomic.h>

#include "octo_gate.h"
#include "octo_shift.h"

/**
 * @file
 * The fence, for whoever changes the path of flows: arm it, place and flip any
 * number of rules, say that they are flipped. From then on the consumers keep the
 * order of every flow by themselves, and nobody waits for them. Each flip, also
 * one that failed, ends with octo_fence_flipped_locked(): nothing is stuck without,
 * but what comes by the held leg is late for as long.
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
	uint32_t grace_us;   /**< for so long a packet may be in the NIC */
	uint32_t timeout_ms; /**< for so long another queue's consumer may be silent */
	uint32_t dwell_ms;   /**< for so long a queue stays with a home that it has gone to */
	uint32_t linger_ms;  /**< for so long a rule that was destroyed still leads its flow */
};

enum octo_fence_kind {
	OCTO_FENCE_NONE,
	OCTO_FENCE_HOME, /**< one leg of the queue is held, the others are drained */
	OCTO_FENCE_MOVE, /**< all legs are held, other queues are drained */
	OCTO_FENCE_STEP, /**< some legs are held, some legs of some queues are drained */
};

#define OCTO_FENCE_WORDS (RTE_MAX_QUEUES_PER_PORT / 64)

/** Of the queue that it ends at; the gate is what its consumer knows of it. */
struct octo_fence {
	RTE_ATOMIC(uint64_t) sources[OCTO_FENCE_WORDS]; /**< bit mask of queues */
	RTE_ATOMIC(uint32_t) drains; /**< legs of this queue that a step drains */
	bool by_leg;                 /**< of the sources, only these are waited for: kind STEP */
	bool merges;                 /**< its rings are counted in packets */
	/* control side */
	uint8_t kind; /**< enum octo_fence_kind */
	uint8_t leg;  /**< that is held, of kind HOME */
	bool under_way;
	uint32_t dead_epoch; /**< of a consumer that never left its burst */
};

struct octo_fence_counts {
	uint64_t rehomes; /**< queues whose flows have followed them */
	uint64_t opened;
	struct octo_gate_counts gates;
};

/** Of a port; under the control mutex. */
struct octo_fences {
	struct octo_fence_settings settings;
	uint32_t nb_open;  /**< their consumers may have closed them since */
	bool by_others;    /**< somebody else changes the flows' paths, and tells when it is done */
	uint64_t opened;   /**< so far */
	uint64_t rehomes;  /**< so far: queues whose flows have followed them */
	uint64_t given_up; /**< so far, by the control side: others waited for them */
	uint64_t step_end; /**< TSC, at which a step is not waited for any longer */
	uint64_t step_patience; /**< TSC, until which it lets others go first; 0: no wait */
	/* what was counted at the last reset */
	uint64_t opened_base;
	uint64_t rehomes_base;
	uint64_t given_up_base;
};

/**
 * Flows of a queue are to come by this leg: it is held back until the other legs
 * of the queue have been drained of what came before.
 *
 * @return
 *   0, also if there is nothing to keep in order, or -EBUSY: the queue has an open
 *   fence of another kind, or to another leg. Nothing has changed: come back.
 */
int octo_fence_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * Flows of a queue that came by this leg are to come by nobody knows which other: these
 * are held back until this one has been drained of what came before.
 *
 * @return
 *   0, also if there is nothing to keep in order, or -EBUSY: the queue has an open fence.
 */
int octo_fence_arm_away_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * Whatever has a rule is to come by nobody knows which leg: by the NIC's default, when the
 * PF that manages the switch goes, and the rules with it. Each queue's legs but its home
 * are held back, until it is told that it has happened.
 *
 * @return
 *   Whether they are: not while another fence is open, which closes soon.
 */
bool octo_fence_hold_strays_locked(struct octo_dev *octo);
void octo_fence_let_strays_go_locked(struct octo_dev *octo);

/** Would it return 0? */
bool octo_fence_can_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * The same of all queues: whatever has no rule is to come by this leg, or may come by it
 * from now on. A queue that has an open fence of another kind goes without. Ends with
 * octo_fence_flipped_all_locked().
 */
void octo_fence_hold_leg_locked(struct octo_dev *octo, uint8_t leg);

/** Would no queue go without? */
bool octo_fence_can_hold_leg_locked(struct octo_dev *octo, uint8_t leg);

/**
 * Flows are to go from one queue to another, which is held back until the first has
 * been drained of what came before, and its consumer is done with it. Waits, no
 * longer than the fence's timeout, for an open fence that this one could be in a
 * circle with.
 *
 * @return
 *   0.
 */
int octo_fence_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue);

/** Would it not have to wait for another fence? */
bool octo_fence_can_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue);

/**
 * Flows of many queues are to go to many others: the legs that get some are held back
 * until those that lose some are drained. No leg does both.
 *
 * @return
 *   0, or -EBUSY: a queue has an open fence of another kind that this one could be in a
 *   circle with. Nothing has changed: come back.
 */
int octo_fence_arm_step_locked(struct octo_dev *octo, const struct octo_shift *shift);

/** What it was armed for is done, or has failed. */
void octo_fence_step_flipped_locked(struct octo_dev *octo);

/** Is everything in its new queue? Or has it been waited for in vain: that is counted. */
bool octo_fence_step_is_over_locked(struct octo_dev *octo);

/** What was armed for this (destination) queue is done, or has failed. */
void octo_fence_flipped_locked(struct octo_dev *octo, uint16_t queue);

/** The same of all queues. */
void octo_fence_flipped_all_locked(struct octo_dev *octo);

/** See which fences their consumers have closed. By the control thread, often. */
void octo_fence_sweep_locked(struct octo_dev *octo);

/** A PF is taken away: its legs hold nothing any more, and there is nothing to drain. */
void octo_fence_forget_pf_locked(struct octo_dev *octo, uint8_t pf);

/** The queue is stopped: what its rings had is gone. */
void octo_fence_forget_queue_locked(struct octo_dev *octo, uint16_t queue);

/** The port starts: its queues' rings are what they are. */
void octo_fence_start_locked(struct octo_dev *octo);

/** The port is stopped, and nobody is inside a burst. */
void octo_fence_stop_locked(struct octo_dev *octo);

/* of the queues' counters, in any process */
struct octo_fence_counts octo_fence_counts(const struct octo_dev *octo);
void octo_fence_reset_counts(struct octo_dev *octo);

/* for the consumer of the queue, inside a burst, octo_fence_rx.c */

/** Until when all sources are drained, of the queue itself these legs; 0: unknown. */
uint64_t octo_fence_drained(struct octo_rxq *q, uint32_t legs, uint64_t now);

/** May the held legs go on? If not, notes what they have. */
bool octo_fence_release(struct octo_rxq *q, uint32_t word, uint32_t live, uint64_t now);

#endif /* OCTO_FENCE_H */
