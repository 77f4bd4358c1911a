/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MOVE_H
#define OCTO_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * Moves of flows to another queue, and with it to another PF, in order. Under the control
 * mutex.
 */

struct octo_dev;
struct octo_handle;
struct octo_pf_rule;
struct octo_rule_spec;

/** A move: of a rule, or of all rules of an indirect action. */
struct octo_move {
	struct octo_dev *octo;
	uint16_t from;
	uint16_t to;
	uint8_t home;       /**< octo_move_home_locked() */
	unsigned int users; /**< rules that the move takes along */
	/**
	 * Make the rule or action lead to the new queue on this port, or back to the old one.
	 * Returns 0, also if the PF does not have it, or a negative errno.
	 */
	int (*change)(struct octo_move *m, uint8_t port, bool back, struct rte_flow_error *error);
	/** Take each of its rules along to the list of the new queue. */
	void (*follow)(struct octo_move *m, uint16_t from, uint16_t to);
	/* progress */
	unsigned int led; /**< rules whose flows come by it */
	bool rerouted;    /**< some flows came by another PF before */
};

/**
 * The PF by which the rule's flow comes when it has moved: the home of the new queue. But a rule
 * that is the flow's only one (slices) keeps its leg if it keeps its queue: another leg of the same
 * queue needs the fence of a rehome.
 */
uint8_t
octo_move_home_locked(const struct octo_dev *octo, const struct rte_flow *rule, uint16_t to);

/**
 * Execute a move on every PF, or on none: after an error the changes are undone. Waits for the
 * grace time if flows change their PF.
 *
 * @return
 *   0, or a negative errno, also in rte_errno, with *error filled.
 */
int octo_move_locked(struct octo_move *m, struct rte_flow_error *error);

/** The rule leads to this queue now: make the switch lead it to that queue's home PF. */
void octo_move_lead_locked(struct octo_move *m, struct rte_flow *rule, uint16_t queue);

/** Wait for the grace time: packets that have passed the switch are in a ring when this returns. */
void octo_move_await_grace(const struct octo_dev *octo);

/**
 * Replace a rule on its ports by what the spec says, except spec->pf; a rule with a tuple moves to
 * spec->queue. The caller changes the other fields of the rule when this succeeds.
 */
int octo_move_to_spec_locked(struct octo_dev *octo, struct rte_flow *rule,
			     const struct octo_rule_spec *spec, struct rte_flow_error *error);

/** Move an exact rule to another queue. */
int octo_move_exact_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue,
			   struct rte_flow_error *error);

/** Move all flows of an indirect QUEUE action from its old queue to the new one. */
int octo_move_indirect_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			      const struct rte_flow_action *old, const struct rte_flow_action *new,
			      struct rte_flow_error *error);

/* octo_replace.c */

/** Changes the actions of a PF's rule in place; NULL before DPDK 23.07. */
extern int (*octo_replace_in_place)(uint16_t port_id, struct rte_flow *flow,
				    const struct rte_flow_action actions[],
				    struct rte_flow_error *error);

/** Replace a PF's rule, in place or by another one. COUNT continues. */
int octo_replace_on_pf(struct octo_dev *octo, uint8_t port, struct rte_flow *rule,
		       const struct octo_pf_rule *from, const struct octo_pf_rule *to,
		       struct rte_flow_error *error);

/** octo_replace_on_pf(), never in place: counters begin at 0. *on may be NULL. */
int octo_replace_anew(struct octo_dev *octo, uint8_t port, struct octo_handle *on,
		      const struct octo_pf_rule *from, const struct octo_pf_rule *to,
		      struct rte_flow_error *error);

/** Remove the PF's rule; the inverse of octo_replace_anew() where there was none. */
void octo_replace_by_none(const struct octo_dev *octo, uint8_t port, struct octo_handle *on);

#endif /* OCTO_MOVE_H */
