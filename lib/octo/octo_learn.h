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
 * Strays teach steering: which of the flows that stray get a rule, and which of
 * those rules go again. While there is room the first sample of a flow is enough;
 * later a flow must be clearly worth more than one that has a rule. Worth is
 * packets per time: of a rule those that hit it, of any other flow those that
 * its samples stand for. No device, no clock, no lock: the control mutex covers
 * it, times are milliseconds of any clock that goes forward.
 */

/** What becomes of its decisions. */
struct octo_learn_ops {
	/**
	 * Make a rule.
	 *
	 * @param rule
	 *   Set to what the other operations are to be given for it.
	 * @return
	 *   0, -ENOSPC if the NIC has no room for it, or another negative errno.
	 */
	int (*install)(void *ctx, const struct octo_tuple *tuple, uint16_t queue, void **rule);
	/** Take the rule out, whatever happens. *tuple is set to its flow. */
	void (*remove)(void *ctx, void *rule, struct octo_tuple *tuple);
	/** Packets that hit the rule so far. @return false if nobody counts them. */
	bool (*hits)(void *ctx, void *rule, uint64_t *hits);
};

struct octo_learn_conf {
	uint32_t max_rules;
	uint32_t idle_ms; /**< a rule that nothing hits for so long goes; 0: never */
};

struct octo_learn_stats {
	uint64_t installed;  /**< rules made */
	uint64_t evicted;    /**< rules that went for others, or on trial */
	uint64_t aged;       /**< rules that went because nothing hit them */
	uint64_t refused;    /**< rules for which there was no room */
	uint64_t failed;     /**< rules that could not be made for another reason */
	uint32_t rules;      /**< now */
	uint32_t candidates; /**< flows without a rule that are remembered now */
	size_t bytes;        /**< memory for all of them, without the rules themselves */
};

struct octo_learn;
/** A flow that has a rule. */
struct octo_learned;

/** @return NULL if there is no memory. */
__rte_internal
struct octo_learn *
octo_learn_create(const struct octo_learn_conf *conf, const struct octo_learn_ops *ops, void *ctx);

/** The rules stay where they are. NULL is ignored. */
__rte_internal
void octo_learn_free(struct octo_learn *l);

/** May be called at any time; rules that are too many go by and by. */
__rte_internal
void octo_learn_configure(struct octo_learn *l, const struct octo_learn_conf *conf);

/**
 * A flow that has no rule strayed.
 *
 * @param queue
 *   It came to.
 * @param packets
 *   Strays that this sample stands for.
 */
__rte_internal
void octo_learn_stray(struct octo_learn *l, const struct octo_tuple *tuple, uint16_t queue,
		      uint32_t packets, uint64_t now);

/**
 * Do one piece of what is due: look at the hits of one rule, and what follows.
 *
 * @return
 *   False if there was nothing to do.
 */
__rte_internal
bool octo_learn_work(struct octo_learn *l, uint64_t now);

/** Take out the rule of least worth. @return false if there is none. */
__rte_internal
bool octo_learn_make_room(struct octo_learn *l, uint64_t now);

/** @return the rule of least worth, as far as is known, or NULL if there is none. */
__rte_internal
void *octo_learn_least(const struct octo_learn *l);

/**
 * During install(): what to keep with the rule for octo_learn_forget().
 */
__rte_internal
struct octo_learned *octo_learn_current(struct octo_learn *l);

/** Somebody else takes the rule out. */
__rte_internal
void octo_learn_forget(struct octo_learn *l, struct octo_learned *flow);

/** All rules were taken out; candidates are forgotten, too. */
__rte_internal
void octo_learn_forget_all(struct octo_learn *l);

__rte_internal
void octo_learn_stats(const struct octo_learn *l, struct octo_learn_stats *stats);

#endif /* OCTO_LEARN_H */
