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
 * An Rx queue's side of the fence: which legs are held back, what has been drained,
 * and when it is time to let go. No device and no clock: time is the caller's TSC.
 *
 * A fence keeps the order of flows whose path changes. Some legs of a destination
 * queue are held from before the rules are flipped until every source is known to
 * be drained of what came before: a source is the queue itself (its other legs),
 * or another queue, which has another consumer. It never waits for the flips to
 * end, however long they take: what a held leg had at some time may be taken as
 * soon as the sources are drained up to that time.
 *
 * It is in shared memory, since consumers may be in any process. The control side
 * arms, everything else is the consumer's, inside its bursts.
 */

#define OCTO_GATE_MAX_LEGS 8

/** In the word: legs that are held back. */
#define OCTO_GATE_HELD UINT32_C(0xff)
/** In the word: another queue waits for this one to be drained. */
#define OCTO_GATE_SOURCE RTE_BIT32(8)
/** One of these bits is set: the consumer has something to do. */
#define OCTO_GATE_OPEN (OCTO_GATE_HELD | OCTO_GATE_SOURCE)
/** Counted in the word: armings of a gate that held nothing. */
#define OCTO_GATE_OPENING RTE_BIT32(9)
#define OCTO_GATE_OPENINGS UINT32_C(0xffe00)
/** Counted in the word: all armings, so that no consumer ends what is not its turn. */
#define OCTO_GATE_TURN RTE_BIT32(20)

/** A source that polls and still is not drained after so many timeouts never will be. */
#define OCTO_GATE_STUCK 16

/** Of flipped: rules are being flipped. */
#define OCTO_GATE_UNDER_WAY UINT64_MAX

/**
 * Vector PMDs hand out multiples of four or eight packets, and nothing to who asks
 * for less: only who asked for as many knows that a ring is empty.
 */
#define OCTO_GATE_SURE 8

struct octo_gate_leg {
	uint64_t as_of;   /**< what its ring had then is with the application; 0: unknown */
	uint64_t mark;    /**< packets are counted since; 0: they are not */
	uint32_t taken;   /**< since the mark */
	uint32_t allowed; /**< packets that may be taken though it is held, or may be soon */
};

/** The consumer's. */
struct octo_gate_counts {
	uint64_t timeouts;
	uint64_t held_cycles;   /**< for which legs were held back */
	uint64_t waits;         /**< times that packets were seen to wait there ... */
	uint64_t waited_cycles; /**< ... until they could be taken */
};

/** Zeroed memory with grace, timeout and depth is a valid start. */
struct octo_gate {
	RTE_ATOMIC(uint32_t) word;    /**< OCTO_GATE_... */
	uint32_t depth;               /**< packets that a ring can have, at most */
	RTE_ATOMIC(uint64_t) flipped; /**< TSC; control side */
	uint64_t grace;               /**< cycles that a packet may be in the NIC for */
	uint64_t timeout;             /**< cycles that a silent source is waited for */
	/** as_of of each leg, for other queues; 0: unknown */
	RTE_ATOMIC(uint64_t) drained[OCTO_GATE_MAX_LEGS];
	/* the consumer's own */
	struct octo_gate_leg leg[OCTO_GATE_MAX_LEGS];
	uint64_t flip_stored; /**< the flipped that flip_seen is of */
	uint64_t flip_seen;   /**< that, or when it had been seen if that was earlier; 0: unknown */
	uint64_t noted;       /**< when allowed was read off the rings; 0: it was not */
	uint64_t opened;      /**< when the first burst found legs held */
	uint32_t opening;     /**< that was of; OCTO_GATE_OPENINGS of the word */
	uint64_t silent;      /**< since when the source that is waited for has not polled */
	uint32_t epoch;       /**< of that source */
	uint16_t waits_for;   /**< that source */
	bool has_polled;      /**< some source has, since the gate was opened */
	uint8_t first;        /**< leg to be drained first */
	struct octo_gate_counts counts;
};

/** Is TSC a before b? Survives a wrap, and a start value of 0. */
static inline bool
octo_gate_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/** @name Control side @{ */

/**
 * Hold legs back, besides those that are held already; what was flipped is under
 * way again. It is certain once the consumer has left the burst it may be in.
 */
__rte_internal
void octo_gate_arm(struct octo_gate *g, uint32_t legs);

/** The flips that it was armed for are done. */
__rte_internal
void octo_gate_flipped(struct octo_gate *g, uint64_t now);

/** Another queue waits for this one to be drained, or none does any more. */
__rte_internal
void octo_gate_set_source(struct octo_gate *g, bool is_source);

/** Legs are held no more, without anything being drained. */
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
 * A burst begins: the application is done with what it was given before, and other
 * queues are told so.
 *
 * @param word
 *   Loaded with acquire order in this burst.
 */
__rte_internal
void octo_gate_enter(struct octo_gate *g, uint32_t word, uint64_t now);

/**
 * A leg was asked for packets.
 *
 * @param began
 *   TSC before that.
 * @param sure
 *   It was asked for so many that nothing means that it is empty.
 */
__rte_internal
void octo_gate_polled(struct octo_gate *g, uint8_t leg, uint64_t began, bool sure, uint16_t got);

/**
 * What these legs had at the time that is returned is with the application; 0 if
 * that is not known of one of them. Without legs it is now.
 */
__rte_internal
uint64_t octo_gate_as_of(const struct octo_gate *g, uint32_t legs, uint64_t now);

/** The same of another queue's gate, whose application is done with it. */
__rte_internal
uint64_t octo_gate_drained(const struct octo_gate *g, uint32_t legs, uint64_t now);

/** The earlier of two such times; 0 if one is. */
static inline uint64_t
octo_gate_earlier(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return 0;
	return octo_gate_before(a, b) ? a : b;
}

/** Let go if the sources are drained up to `until` and that is enough. @return whether it did. */
__rte_internal
bool octo_gate_release(struct octo_gate *g, uint32_t word, uint64_t until, uint64_t now);

/** May what octo_gate_note() has noted be taken? */
__rte_internal
bool octo_gate_may_merge(const struct octo_gate *g, uint64_t until);

/** Note what held legs have now, in packets by leg. */
__rte_internal
void octo_gate_note(struct octo_gate *g, uint64_t now, const uint32_t *packets);

/** A held leg was asked for `asked` of what it may give. */
__rte_internal
void
octo_gate_merged(struct octo_gate *g, uint8_t leg, uint64_t began, uint16_t asked, uint16_t got);

/**
 * The gate waits for another queue.
 *
 * @param epoch
 *   Of that queue: it changes when it is polled.
 * @param crowded
 *   There is hardly room for more on a held leg.
 * @return
 *   Whether it has waited in vain: the source does not poll, or its clock is another.
 */
__rte_internal
bool
octo_gate_is_vain(struct octo_gate *g, uint16_t source, uint32_t epoch, bool crowded, uint64_t now);

/** Let go without the source being drained: counted. @return whether it did. */
__rte_internal
bool octo_gate_time_out(struct octo_gate *g, uint32_t word, uint64_t now);

/** @} */

#endif /* OCTO_GATE_H */
