/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_GATE_H
#define OCTO_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_bitops.h>
#include <rte_compat.h>
#include <rte_stdatomic.h>

/**
 * @file
 * The consumer's side of the fence for an Rx queue: which legs are held, what has been drained,
 * and when holding ends. No device and no clock: time is the caller's TSC.
 *
 * A fence keeps the order of flows whose path changes. Some legs of a destination queue are
 * held from before the rules are flipped until every source is known to be drained of earlier
 * packets. A source is the queue itself (its other legs), or another queue, which has another
 * consumer. The gate does not wait for the end of the flips, however long they take: packets
 * that a held leg had at some time may be taken as soon as the sources are drained up to that
 * time.
 *
 * Gates are in shared memory, since consumers may be in any process. The control side arms;
 * everything else is done by the consumer, inside its bursts.
 */

#define OCTO_GATE_MAX_LEGS 8

/** In the word: legs that are held. */
#define OCTO_GATE_HELD UINT32_C(0xff)
/** In the word: another queue waits for this one to be drained. */
#define OCTO_GATE_SOURCE RTE_BIT32(8)
/** If any of these bits is set the consumer has something to do. */
#define OCTO_GATE_OPEN (OCTO_GATE_HELD | OCTO_GATE_SOURCE)
/** Counted in the word: armings of a gate that held nothing. */
#define OCTO_GATE_OPENING RTE_BIT32(9)
#define OCTO_GATE_OPENINGS UINT32_C(0xffe00)
/** Counted in the word: all armings, so that a consumer cannot end a later one. */
#define OCTO_GATE_TURN RTE_BIT32(20)

/** Timeouts after which a source that polls and is not drained is given up. */
#define OCTO_GATE_STUCK 16

/** Value of flipped while rules are being flipped. */
#define OCTO_GATE_UNDER_WAY UINT64_MAX

/**
 * Vector PMDs return packets in multiples of four or eight, and none if asked for less: only a
 * burst of at least this size tells that a ring is empty.
 */
#define OCTO_GATE_SURE 8

struct octo_gate_leg {
	uint64_t as_of;   /**< TSC; what its ring had then was returned by polls; 0: unknown */
	uint64_t empty;   /**< TSC of a poll that got nothing; none got anything since; 0: none */
	uint64_t mark;    /**< TSC since which packets are counted; 0: they are not */
	uint32_t taken;   /**< since the mark */
	uint32_t allowed; /**< packets to be taken although it is held, see octo_gate_note() */
};

/** Written by the consumer. */
struct octo_gate_counts {
	uint64_t timeouts;
	uint64_t held_cycles;   /**< for which legs were held */
	uint64_t waits;         /**< times that packets were seen to wait on held legs */
	uint64_t waited_cycles; /**< until they could be taken */
};

/** Zeroed memory with grace, timeout and depth is a valid start. */
struct octo_gate {
	RTE_ATOMIC(uint32_t) word;    /**< OCTO_GATE_... */
	uint32_t depth;               /**< most packets that a ring can have */
	RTE_ATOMIC(uint64_t) flipped; /**< TSC; written by the control side */
	uint64_t grace;               /**< cycles that a packet may be in the NIC */
	uint64_t timeout;             /**< cycles that a silent source is waited for */
	/**
	 * cycles until what the NIC had at an empty poll can be polled, as the poll made the NIC
	 * deliver it; 0: a ring that is empty has got all
	 */
	uint64_t settle;
	/** as_of of each leg, for other queues; 0: unknown */
	RTE_ATOMIC(uint64_t) drained[OCTO_GATE_MAX_LEGS];
	/* private to the consumer */
	struct octo_gate_leg leg[OCTO_GATE_MAX_LEGS];
	uint64_t flip_stored; /**< value of flipped to which flip_seen belongs */
	uint64_t flip_seen;   /**< that, or when it was seen if earlier; 0: unknown */
	uint64_t noted;       /**< TSC at which allowed was noted; 0: it was not */
	uint64_t opened;      /**< TSC at which the first burst found legs held */
	uint32_t opening;     /**< OCTO_GATE_OPENINGS of the word at that time */
	uint64_t silent;      /**< TSC since which the source in waits_for has not polled */
	uint32_t epoch;       /**< of that source */
	uint16_t waits_for;   /**< queue id of the source that is waited for */
	bool has_polled;      /**< some source has, since the gate was opened */
	uint8_t first;        /**< leg to be drained first */
	struct octo_gate_counts counts;
};

/** Is TSC a before b? Correct across a wrap, and for a start value of 0. */
static inline bool
octo_gate_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/** @name Control side @{ */

/**
 * Hold legs, in addition to those that are held already; earlier flips count as in progress
 * again. The legs are held for certain once the consumer has left its present burst.
 */
__rte_internal
void octo_gate_arm(struct octo_gate *g, uint32_t legs);

/** The flips for which the gate was armed are done. */
__rte_internal
void octo_gate_flipped(struct octo_gate *g, uint64_t now);

/** Set whether another queue waits for this one to be drained. */
__rte_internal
void octo_gate_set_source(struct octo_gate *g, bool is_source);

/** Stop holding legs, without anything being drained. */
__rte_internal
void octo_gate_forget(struct octo_gate *g, uint32_t legs);

static inline bool
octo_gate_is_held(const struct octo_gate *g)
{
	/* pairs with the release in let_go() */
	return (rte_atomic_load_explicit(&g->word, rte_memory_order_acquire) & OCTO_GATE_HELD) != 0;
}

/** @} @name Consumer @{ */

/**
 * A burst begins: the application has processed the packets of earlier bursts, which is
 * published to other queues.
 *
 * @param word
 *   Loaded with acquire order in this burst.
 */
__rte_internal
void octo_gate_enter(struct octo_gate *g, uint32_t word, uint64_t now);

/**
 * A leg was polled, and returned `got` packets.
 *
 * @param began
 *   TSC before the poll.
 * @param sure
 *   The burst was large enough that no packets mean an empty ring.
 */
__rte_internal
void octo_gate_polled(struct octo_gate *g, uint8_t leg, uint64_t began, bool sure, uint16_t got);

/**
 * Packets that these legs had at the returned TSC are with the application; 0 if that is
 * unknown of any of them. Without legs, the present time.
 */
__rte_internal
uint64_t octo_gate_as_of(const struct octo_gate *g, uint32_t legs, uint64_t now);

/** octo_gate_as_of() for another queue's gate, whose application has processed the packets. */
__rte_internal
uint64_t octo_gate_drained(const struct octo_gate *g, uint32_t legs, uint64_t now);

/** The earlier of two such times; 0 if either is 0. */
static inline uint64_t
octo_gate_earlier(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return 0;
	return octo_gate_before(a, b) ? a : b;
}

/**
 * Stop holding if the sources are drained up to `until` and that is late enough.
 *
 * @return
 *   Whether it did.
 */
__rte_internal
bool octo_gate_release(struct octo_gate *g, uint32_t word, uint64_t until, uint64_t now);

/** May the packets that octo_gate_note() has noted be taken? */
__rte_internal
bool octo_gate_may_merge(const struct octo_gate *g, uint64_t until);

/** Note how many packets each held leg has now. */
__rte_internal
void octo_gate_note(struct octo_gate *g, uint64_t now, const uint32_t *packets);

/** A held leg was polled for `asked` of its allowed packets. */
__rte_internal
void
octo_gate_merged(struct octo_gate *g, uint8_t leg, uint64_t began, uint16_t asked, uint16_t got);

/**
 * Called while the gate waits for another queue.
 *
 * @param epoch
 *   Of that queue: it changes when it is polled.
 * @param crowded
 *   A held leg has hardly any room left.
 * @return
 *   Whether waiting is in vain: the source does not poll, or its clock differs too much.
 */
__rte_internal
bool
octo_gate_is_vain(struct octo_gate *g, uint16_t source, uint32_t epoch, bool crowded, uint64_t now);

/** Stop holding without the source being drained, and count a timeout. @return whether it did. */
__rte_internal
bool octo_gate_time_out(struct octo_gate *g, uint32_t word, uint64_t now);

/** @} */

#endif /* OCTO_GATE_H */
