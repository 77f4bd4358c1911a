/* SPDX-License-Identifier: BSD-3-Clause */

/* Actions of rules: some of them may be indirect, and on each PF mean another handle. */

#include <errno.h>

#include "octo_private.h"

/* The handle of an indirect action, else NULL. */
static struct rte_flow_action_handle *
handle_of(const struct rte_flow_action *action)
{
	if (action->type != RTE_FLOW_ACTION_TYPE_INDIRECT)
		return NULL;
	return (void *)(uintptr_t)action->conf;
}

/* Could a rule have these actions? */
int
octo_indirect_check(const struct octo_dev *octo, const struct rte_flow_action actions[],
		    struct rte_flow_error *error)
{
	bool any = false;
	unsigned int n;

	for (n = 0; actions[n].type != RTE_FLOW_ACTION_TYPE_END; n++) {
		const struct rte_flow_action_handle *handle = handle_of(&actions[n]);

		if (handle == NULL)
			continue;
		if (handle->octo != octo)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
						  &actions[n],
						  "this indirect action is not of this port");
		any = true;
	}
	if (any && !octo->started)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "the port is stopped: start it before a rule gets an "
					  "indirect action");
	if (any && n >= OCTO_TEMPLATE_MAX)
		return rte_flow_error_set(error, E2BIG, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
					  "a rule with an indirect action has 31 actions at most");
	return 0;
}

void
octo_indirect_hold(const struct rte_flow_action actions[])
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		if (handle_of(actions) != NULL)
			handle_of(actions)->users++;
}

void
octo_indirect_release(const struct rte_flow_action actions[])
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		if (handle_of(actions) != NULL)
			handle_of(actions)->users--;
}

bool
octo_indirect_is_used(const struct rte_flow_action actions[],
		      const struct rte_flow_action_handle *handle)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		if (handle_of(actions) == handle)
			return true;
	return false;
}

/* The first action of a type, be it behind a handle. */
const struct rte_flow_action *
octo_indirect_find(const struct rte_flow_action actions[], enum rte_flow_action_type type)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++) {
		const struct rte_flow_action_handle *handle = handle_of(actions);
		const struct rte_flow_action *action = handle == NULL ? actions : handle->action;

		if (action->type == type)
			return action;
	}
	return NULL;
}

/* The actions as this PF knows them. They were checked: there is room for them. */
const struct rte_flow_action *
octo_indirect_on_pf(const struct rte_flow_action actions[], uint8_t pf,
		    struct rte_flow_action out[OCTO_TEMPLATE_MAX])
{
	bool any = false;

	for (unsigned int i = 0; i < OCTO_TEMPLATE_MAX; i++) {
		const struct rte_flow_action_handle *handle = handle_of(&actions[i]);

		out[i] = actions[i];
		if (handle != NULL) {
			out[i].conf = handle->on[pf];
			any = true;
		}
		if (out[i].type == RTE_FLOW_ACTION_TYPE_END)
			return any ? out : actions;
	}
	return actions;
}
