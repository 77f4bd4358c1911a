/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEARN_H
#define OCTO_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_tuple.h"

/**
 * @file
 * Learning: which of the flows that stray get a rule, and which of those rules are removed. As
 * long as there is room the first sample of a flow is enough; later a flow must have a clearly
 * higher rate than one that has a rule. The flow rate is packets per time: for a rule the hits,
 * for any other flow the strays that its samples stand for. No device, no clock, no lock: all
 * under the control mutex; times are milliseconds of any monotonic clock.
 */

/** A flow that has a rule. */
struct octo_learned;

/** Operations that apply its decisions. */
struct octo_learn_ops {
	/**
	 * Install a rule.
	 *
	 * @param learned
	 *   The handle to keep with the rule for octo_learn_forget().
	 * @param rule
	 *   Set to the argument of the other operations.
	 * @return
	 *   0, -ENOSPC if the NIC has no room for it, or another negative errno.
	 */
	int (*install)(void *ctx, const struct octo_tuple *tuple, uint16_t queue,
		       struct octo_learned *learned, void **rule);
	/** Remove the rule; cannot fail. *tuple is set to its flow. */
	void (*remove)(void *ctx, void *rule, struct octo_tuple *tuple);
	/**
	 * Read the packets that have hit the rule so far.
	 *
	 * @return
	 *   False if they are not counted.
	 */
	bool (*hits)(void *ctx, void *rule, uint64_t *hits);
};

struct octo_learn_conf {
	uint32_t max_rules;
	uint32_t idle_ms; /**< a rule without hits for this long is removed; 0: never */
};

struct octo_learn_stats {
	uint64_t installed;  /**< rules installed */
	uint64_t evicted;    /**< rules removed for others, or on trial */
	uint64_t aged;       /**< rules removed because of no hits */
	uint64_t refused;    /**< rules for which there was no room */
	uint64_t failed;     /**< rules that could not be installed for another reason */
	uint32_t rules;      /**< now */
	uint32_t candidates; /**< flows without a rule that are remembered now */
	size_t bytes;        /**< memory of all of them, without the rules themselves */
};

struct octo_learn;

/**
 * Create the state of a port's learning; ops and ctx must stay valid.
 *
 * @return
 *   NULL if there is no memory.
 */
__rte_internal
struct octo_learn *
octo_learn_create(const struct octo_learn_conf *conf, const struct octo_learn_ops *ops, void *ctx);

/** Free the state. The rules stay installed. NULL is ignored. */
__rte_internal
void octo_learn_free(struct octo_learn *l);

/** May be called at any time; surplus rules are removed by octo_learn_work(). */
__rte_internal
void octo_learn_configure(struct octo_learn *l, const struct octo_learn_conf *conf);

/**
 * A flow that has no rule strayed.
 *
 * @param queue
 *   Queue that received it.
 * @param packets
 *   Strays that this sample stands for.
 */
__rte_internal
void octo_learn_stray(struct octo_learn *l, const struct octo_tuple *tuple, uint16_t queue,
		      uint32_t packets, uint64_t now);

/**
 * Do one unit of pending work: read the hits of one rule and act on them.
 *
 * @return
 *   False if there was nothing to do.
 */
__rte_internal
bool octo_learn_work(struct octo_learn *l, uint64_t now);

/** Remove the rule with the lowest flow rate. @return false if there is none. */
__rte_internal
bool octo_learn_make_room(struct octo_learn *l, uint64_t now);

/** Return the rule with the lowest flow rate, as of the last reads, or NULL if there is none. */
__rte_internal
void *octo_learn_least(const struct octo_learn *l);

/** Another rule takes the place of the rule that install() returned: of two, one is left. */
__rte_internal
void octo_learn_replace(struct octo_learned *f, void *rule);

/** To be called in hits() only: if the rule is the one left of two, it is removed as if idle. */
__rte_internal
void octo_learn_give_up(struct octo_learned *f);

/** The rule is removed by other code. */
__rte_internal
void octo_learn_forget(struct octo_learn *l, struct octo_learned *f);

/** The same, after the table turned out to have no room for the rule. */
__rte_internal
void octo_learn_refused(struct octo_learn *l, struct octo_learned *flow, uint64_t now);

/** All rules were removed; candidates are forgotten, too. */
__rte_internal
void octo_learn_forget_all(struct octo_learn *l);

__rte_internal
void octo_learn_stats(const struct octo_learn *l, struct octo_learn_stats *stats);

#endif /* OCTO_LEARN_H */
