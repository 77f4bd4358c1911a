/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_HOOKS_H
#define OCTO_HOOKS_H

#include <stdbool.h>

struct octo_dev;
struct rte_flow;

/**
 * @file
 * Calls from a lower layer to a higher one (devtools/layers.txt): these and no others. The
 * table is in octo_ethdev.c. All are called under the control mutex, in the primary process.
 */
struct octo_hooks {
	/**
	 * PFs have posted events. Called when the control mutex is taken and before it is
	 * released: the handler of an event does not wait for the mutex, as its holder may be
	 * waiting for the handler.
	 */
	void (*settle_events_locked)(struct octo_dev *octo);
	/**
	 * A rule is about to leave its lists. Learning has state of its own about it.
	 */
	void (*forget_rule_locked)(struct octo_dev *octo, struct rte_flow *rule);
	/**
	 * A table of the NIC is full. Removes the learned rule with the lowest flow rate, which
	 * only learning knows. Returns false if there is none.
	 */
	bool (*make_room_locked)(struct octo_dev *octo);
	/**
	 * The table of an agent turned out to be full after this rule was learned. Removes it.
	 */
	void (*unlearn_locked)(struct octo_dev *octo, struct rte_flow *rule);
};

extern const struct octo_hooks *octo_hooks;

#endif /* OCTO_HOOKS_H */
