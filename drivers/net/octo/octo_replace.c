/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Change the actions of a rule on one PF: in place where the PF can, else the new rule is
 * created before the old one is destroyed.
 */

#include <errno.h>

#include "octo_private.h"

int (*octo_replace_in_place)(uint16_t port_id, struct rte_flow *flow,
			     const struct rte_flow_action actions[], struct rte_flow_error *error);

void
octo_replace_by_none(const struct octo_dev *octo, uint8_t port, struct octo_handle *on)
{
	struct rte_flow *flow = octo_handle_take(on, octo->port[port].fsm.life);

	if (flow != NULL)
		octo_port_nic(&octo->port[port])->destroy(&octo->port[port], flow, NULL);
}

/*
 * For a PF that refuses two rules of one pattern and priority: a temporary rule of the next
 * priority covers the gap. On failure the old rule, or a copy of it, is on the PF. Returns -EEXIST
 * if there is no such priority.
 */
static int
replace_by_bridge(const struct octo_dev *octo, uint8_t port, struct octo_handle *on,
		  const struct octo_pf_rule *from, const struct octo_pf_rule *to,
		  struct rte_flow_error *error)
{
	struct octo_handle bridge = octo_fanout_create_on(octo, port, to, 1, error);
	int ret = 0;

	if (bridge.h == NULL && octo_rule_says_full(-rte_errno))
		return -rte_errno;
	if (bridge.h == NULL)
		return octo_flow_refuse(error, EEXIST,
					"it takes no two rules of this pattern and priority, and "
					"none of the next priority: destroy the rule first");
	octo_replace_by_none(octo, port, on);
	*on = octo_fanout_create_on(octo, port, to, 0, error);
	if (on->h == NULL) {
		ret = -rte_errno;
		*on = octo_fanout_create_on(octo, port, from, 0, NULL);
	}
	octo_replace_by_none(octo, port, &bridge);
	return ret;
}

static int
replace(const struct octo_dev *octo, uint8_t port, struct octo_handle *on,
	const struct octo_pf_rule *from, const struct octo_pf_rule *to,
	struct rte_flow_error *error)
{
	const struct octo_handle fresh = octo_fanout_create_on(octo, port, to, 0, error);

	if (fresh.h == NULL && rte_errno == EEXIST)
		return replace_by_bridge(octo, port, on, from, to, error);
	if (fresh.h == NULL)
		return -rte_errno;
	octo_replace_by_none(octo, port, on);
	*on = fresh;
	return 0;
}

static int
change_in_place(const struct octo_dev *octo, uint8_t port, struct rte_flow *on,
		const struct octo_pf_rule *to, struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[port];
	struct octo_indirect_own own;
	const struct rte_flow_action *actions;

	if (octo_replace_in_place == NULL && octo_port_nic(p)->update == NULL)
		return -ENOSYS;
	actions = octo_fanout_actions_on(octo, port, to, &own);
	if (octo_port_nic(p)->update != NULL)
		return octo_port_nic(p)->update(p, on, actions, error);
	return octo_replace_in_place(octo_port_usable_id(p), on, actions, error);
}

int
octo_replace_anew(struct octo_dev *octo, uint8_t port, struct octo_handle *on,
		  const struct octo_pf_rule *from, const struct octo_pf_rule *to,
		  struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[port];
	int ret = 0;

	if (octo_port_object(p, on) != NULL) {
		ret = replace(octo, port, on, from, to, error);
	} else {
		*on = octo_fanout_create_on(octo, port, to, 0, error);
		if (on->h == NULL)
			ret = -rte_errno;
	}
	return ret == 0 ? 0 : octo_flow_blame(p, ret, error);
}

int
octo_replace_on_pf(struct octo_dev *octo, uint8_t port, struct rte_flow *rule,
		   const struct octo_pf_rule *from, const struct octo_pf_rule *to,
		   struct rte_flow_error *error)
{
	struct rte_flow *const old = octo_rule_on(octo, rule, port);
	int ret;

	if (old == NULL)
		return 0;
	ret = change_in_place(octo, port, old, to, error);
	if (ret == -ENOSYS || ret == -ENOTSUP) {
		octo_rule_hits_keep_pf_locked(octo, rule, port);
		ret = replace(octo, port, &rule->arfs[port], from, to, error);
		/* a new rule may reuse the old one's address, but it has its own counter */
		if (ret == 0 || octo_rule_on(octo, rule, port) != old)
			octo_rule_hits_end_pf(rule, port);
	}
	if (octo->sliced && octo_rule_on(octo, rule, port) == NULL)
		octo_fanout_lose(octo, rule);
	return ret == 0 ? 0 : octo_flow_blame(&octo->port[port], ret, error);
}
