/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TEMPLATE_H
#define OCTO_TEMPLATE_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

/**
 * @file
 * Templates of rte_flow: what all rules of a template table have in common. A template is
 * copied, and each rule adds what it leaves open. Accesses no device; the caller serialises.
 */

/** Limit for the items of a pattern, and the actions of a list, END included. */
#define OCTO_TEMPLATE_MAX 32

struct octo_template {
	struct rte_flow_item *pattern;   /**< of a pattern template, else NULL */
	struct rte_flow_action *actions; /**< of an actions template, else NULL */
	uint32_t constant;               /**< bit mask of constant `actions` */
	uint32_t users;                  /**< tables created with it */
};

/**
 * Copy a pattern or actions.
 *
 * @return
 *   0, or a negative errno with *error filled and *t unchanged.
 */
__rte_internal
int octo_template_set_pattern(struct octo_template *t, const struct rte_flow_item pattern[],
			      struct rte_flow_error *error);
__rte_internal
int octo_template_set_actions(struct octo_template *t, const struct rte_flow_action actions[],
			      const struct rte_flow_action masks[], struct rte_flow_error *error);

/** Free the copies, not *t. */
__rte_internal
void octo_template_clear(struct octo_template *t);

/**
 * Build the pattern of a rule: types, masks and ends of ranges from the template, values from
 * the rule's own items.
 *
 * @return
 *   0, or a negative errno with *error filled.
 */
__rte_internal
int octo_template_fill_pattern(const struct octo_template *t, const struct rte_flow_item given[],
			       struct rte_flow_item pattern[OCTO_TEMPLATE_MAX],
			       struct rte_flow_error *error);

/**
 * Build the actions of a rule: those that the template's masks mark as constant from the
 * template, the others from the rule's own actions.
 *
 * @return
 *   0, or a negative errno with *error filled.
 */
__rte_internal
int octo_template_fill_actions(const struct octo_template *t, const struct rte_flow_action given[],
			       struct rte_flow_action actions[OCTO_TEMPLATE_MAX],
			       struct rte_flow_error *error);

#endif /* OCTO_TEMPLATE_H */
