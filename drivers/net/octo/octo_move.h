/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MOVE_H
#define OCTO_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * Flows that go to another queue, and with it to another PF, in order. Under the
 * control mutex.
 */

struct octo_dev;
struct octo_rule_text;

/** What leads them there: a rule, or an indirect action. */
struct octo_move {
	struct octo_dev *octo;
	uint16_t from;
	uint16_t to;
	unsigned int users; /**< rules that it takes along */
	/**
	 * Have it lead to the new queue on this PF, or back to the old one; 0 also
	 * where that PF does not have it.
	 */
	int (*change)(struct octo_move *m, uint8_t pf, bool back, struct rte_flow_error *error);
	/** Call octo_move_rule_locked() for each of its rules. */
	void (*follow)(struct octo_move *m, uint16_t from, uint16_t to);
	/* how that goes */
	uint8_t home;     /**< PF of the new queue */
	unsigned int led; /**< rules whose flows come by it */
	bool rerouted;    /**< some came by another before */
};

/** On every PF, or on none: what was changed is changed back. */
int octo_move_locked(struct octo_move *m, struct rte_flow_error *error);

/** It leads to this queue now, and the switch leads it to that queue's PF. */
void octo_move_rule_locked(struct octo_move *m, struct rte_flow *rule, uint16_t queue);

/** The same of a rule that is on no list yet, or not any more. */
void octo_move_lead_locked(struct octo_move *m, struct rte_flow *rule, uint16_t queue);

/** What has passed the switch has reached a ring when it returns. */
void octo_move_await_grace(const struct octo_dev *octo);

/** Move a rule of one flow to a queue, of which the PFs know no more than that. */
int octo_move_exact_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue,
			   struct rte_flow_error *error);

/** Move all flows of an indirect QUEUE action from its old queue to the new one. */
int octo_move_indirect_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			      const struct rte_flow_action *old, const struct rte_flow_action *new,
			      struct rte_flow_error *error);

/* octo_replace.c */

/** How a PF changes the actions of a rule in place, or NULL (DPDK 23.07). */
extern int (*octo_replace_in_place)(uint16_t port_id, struct rte_flow *flow,
				    const struct rte_flow_action actions[],
				    struct rte_flow_error *error);

/** The rule of a PF does something else from now on, or another one does. COUNT goes on. */
int octo_replace_on_pf(struct octo_dev *octo, uint8_t pf, struct rte_flow *rule,
		       const struct octo_rule_text *from, const struct octo_rule_text *to,
		       struct rte_flow_error *error);

/** The same, never in place: what counts, counts anew. *on may be NULL, too. */
int octo_replace_anew(struct octo_dev *octo, uint8_t pf, struct rte_flow **on,
		      const struct octo_rule_text *from, const struct octo_rule_text *to,
		      struct rte_flow_error *error);

/** The PF loses the rule; its inverse where there was none. */
int octo_replace_by_none(struct octo_dev *octo, uint8_t pf, struct rte_flow **on);

#endif /* OCTO_MOVE_H */
