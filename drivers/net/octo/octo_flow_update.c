/* SPDX-License-Identifier: BSD-3-Clause */

/* Update of a rule's actions (DPDK 23.07): on every PF, or on none. */

#include <errno.h>

#include "octo_flow_ops.h"
#include "octo_private.h"

static int
check_rule(const struct octo_dev *octo, const struct rte_flow *rule,
	   const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	if (actions == NULL)
		return octo_flow_refuse(error, EINVAL, "the actions are missing");
	if (!octo->started)
		return octo_flow_refuse(error, EINVAL, "the port is stopped: start it first");
	if (rule->by_table)
		return octo_flow_refuse(error, ENOTSUP, "the rule was made through a flow queue");
	if (octo->agent_queues && !rule->generic)
		return octo_flow_refuse(error, ENOTSUP,
					"an agent chooses the queue: destroy the "
					"rule and make another");
	return 0;
}

/*
 * An update keeps the rule's kind. A flow's rule that was left to the PFs stays with them: octo
 * steers the flow by another rule, or the PFs are slices, where one rule is all that a flow has.
 */
static int
keep_kind(const struct rte_flow *rule, struct octo_flow_request *r, struct rte_flow_error *error)
{
	if (!octo_rule_has_tuple(rule)) {
		octo_flow_specify_generic(r, false);
		return 0;
	}
	if (r->rule_spec.tuple != NULL)
		return 0;
	return octo_flow_refuse(error, ENOTSUP,
				"a rule of one flow to a queue stays one: destroy it and make "
				"another");
}

static int
update_locked(struct octo_dev *octo, struct rte_flow *rule, const struct rte_flow_action actions[],
	      struct rte_flow_error *error)
{
	struct octo_rule_spec spec = octo_fanout_spec_of(octo, rule);
	struct octo_app_spec app_spec = {0};
	struct octo_flow_request r;
	struct octo_pf_rule now;
	int ret = check_rule(octo, rule, actions, error);

	if (ret == 0)
		ret = octo_fanout_write(octo, &spec, &now, error);
	if (ret == 0)
		ret = octo_flow_read(octo, now.rule.attr_ro, now.rule.pattern_ro, actions, &r,
				     error);
	if (ret == 0)
		ret = keep_kind(rule, &r, error);
	if (ret == 0 && r.rule_spec.app_spec != NULL && octo_rule_ext_get(octo, rule) == NULL)
		ret = octo_flow_refuse(error, ENOMEM, "no memory for the rule");
	if (ret == 0 && r.rule_spec.app_spec != NULL)
		ret = octo_app_spec_take(&app_spec, r.rule_spec.app_spec, rule, error);
	if (ret != 0)
		return ret;
	spec = r.rule_spec;
	/* that on the PFs may be a lower one */
	spec.priority = rule->priority;
	/* contains the context by which the PFs report the rule to octo when it ages */
	if (app_spec.rule != NULL)
		spec.app_spec = app_spec.rule;
	spec.count = r.rule_spec.count || octo->count_rules;
	if (!octo_rule_has_tuple(rule))
		spec.queue = rule->queue;
	ret = octo_move_to_spec_locked(octo, rule, &spec, error);
	if (ret != 0) {
		octo_app_spec_drop(&app_spec);
		return ret;
	}
	/* the copies were made before, so that nothing can fail from here on */
	octo_rule_store_swap_app_spec(octo, rule, &app_spec);
	rule->count = r.rule_spec.count;
	return 0;
}

int
octo_flow_actions_update(struct rte_eth_dev *dev, struct rte_flow *rule,
			 const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, update_locked, rule, actions, error);
}

RTE_INIT(octo_flow_update_init)
{
	octo_replace_in_place = rte_flow_actions_update;
}
