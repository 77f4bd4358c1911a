/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_RULES_H
#define AGENT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_agent_msg.h"
#include "octo_tuple.h"

/**
 * @file
 * The agent's rules: 5-tuple to PF, and to queue where the PFs are the agent's
 * own, by nothing but rte_flow. Two kinds of NIC:
 * - with an uplink and a representor per PF, as on a BlueField: transfer rules
 *   REPRESENTED_PORT uplink + 5-tuple -> REPRESENTED_PORT representor;
 * - with PFs only, whose switch one of them programs: transfer rules
 *   REPRESENTED_PORT + 5-tuple -> PORT_REPRESENTOR PF.
 * One thread.
 */

#define AGENT_RULES_MAX_PFS 8

/** Room for a sentence that says why something was refused; it goes to the port. */
#define AGENT_WHY_MAX OCTO_AGENT_TEXT_MAX

struct agent_rules;

/** Ports are ethdevs; RTE_MAX_ETHPORTS means none. */
struct agent_rules_config {
	uint16_t nb_pfs;
	uint16_t pf_port[AGENT_RULES_MAX_PFS];  /**< the PF itself; none: another program has it */
	uint16_t rep_port[AGENT_RULES_MAX_PFS]; /**< its representor; none without an uplink */
	uint16_t uplink;                        /**< representor of the wire, or none */
	uint8_t default_pf; /**< with an uplink: gets what no other rule matches, at first */
};

/**
 * Find out what the NIC can do, and with an uplink let every PF out to the wire
 * and what comes from there in to the default PF.
 *
 * @param why
 *   AGENT_WHY_MAX bytes, filled on failure.
 * @return
 *   0, or a negative errno, with no rule left.
 */
int
agent_rules_create(const struct agent_rules_config *config, struct agent_rules **rules, char *why);

/**
 * Remove all rules, default paths as well, and forget them. NULL is ignored.
 *
 * @return
 *   0, or the first error as a negative errno, of a rule that a port would not give up.
 */
int agent_rules_destroy(struct agent_rules *rules);

/** Are the PFs the agent's, so that its rules choose the queue as well? */
bool agent_rules_chooses_queues(const struct agent_rules *rules);

/** Does the NIC count the hits of rules? */
bool agent_rules_counts(const struct agent_rules *rules);

/**
 * Steer a 5-tuple to a PF, whether there is a rule for it or not. The new rule is
 * there before the old one goes. A rule that would not change is only marked as fresh.
 *
 * @param queue
 *   Of the PF; ignored unless agent_rules_chooses_queues().
 * @param why
 *   AGENT_WHY_MAX bytes, filled on failure: which port refused, and its message.
 * @return
 *   0, or a negative errno: then what was there before stays.
 */
int agent_rules_put(struct agent_rules *rules, const struct octo_tuple *tuple, uint8_t pf,
		    uint16_t queue, char *why);

/** @return 0, -ENOENT, or another negative errno with the rule still known. */
int agent_rules_remove(struct agent_rules *rules, const struct octo_tuple *tuple, char *why);

/**
 * What the 5-tuple's rule has matched since it was first put.
 *
 * @return
 *   0, -ENOENT, -ENOTSUP unless agent_rules_counts(), or what the port answered.
 */
int agent_rules_query(struct agent_rules *rules, const struct octo_tuple *tuple, uint64_t *hits,
		      uint64_t *bytes);

/** Can it be chosen which PF gets what no other rule matches? */
bool agent_rules_sets_default(const struct agent_rules *rules);

/**
 * Choose that PF. The new default path is there before the old one goes.
 *
 * @param why
 *   AGENT_WHY_MAX bytes, filled on failure.
 * @return
 *   0, or a negative errno: then what was there before stays.
 */
int agent_rules_set_default(struct agent_rules *rules, uint8_t pf, char *why);

/** A port is going to resync its rules: those that it does not put again are stale. */
void agent_rules_mark(struct agent_rules *rules);

/** The resync is over: remove the stale ones. @return how many. */
unsigned int agent_rules_sweep(struct agent_rules *rules);

/** Remove all but the default paths. */
void agent_rules_flush(struct agent_rules *rules);

/** Number of 5-tuples that are steered. */
unsigned int agent_rules_count(const struct agent_rules *rules);

#endif /* AGENT_RULES_H */
