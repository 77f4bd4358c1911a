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

/* What is replaced. */
struct place {
	struct octo_dev *octo;
	struct rte_flow *rule;  /* COUNT continues; NULL: counters begin at 0 */
	struct octo_handle *on; /* is arfs[port] of the rule, if there is one */
	uint8_t port;
};

static void
give_way(const struct place *p, const struct octo_handle *next)
{
	struct octo_handle old = *p->on;

	if (p->rule != NULL)
		octo_rule_hits_hand_over_locked(p->octo, p->rule, p->port, next);
	octo_replace_by_none(p->octo, p->port, &old);
	*p->on = *next;
}

/*
 * For a PF that refuses two rules of one pattern and priority: a temporary rule of the next
 * priority covers the gap. On failure the old rule, or a copy of it, is on the PF. Returns -EEXIST
 * if there is no such priority.
 */
static int
replace_by_bridge(const struct place *p, const struct octo_pf_rule *from,
		  const struct octo_pf_rule *to, struct rte_flow_error *error)
{
	const bool is_last = to->rule.attr_ro->priority == UINT32_MAX;
	struct octo_handle bridge = {0};
	struct octo_handle next;
	int ret = 0;

	if (!is_last)
		bridge = octo_fanout_create_on(p->octo, p->port, to, 1, error);
	if (!is_last && bridge.h == NULL && octo_rule_says_full(-rte_errno))
		return -rte_errno;
	if (bridge.h == NULL)
		return octo_flow_refuse(error, EEXIST,
					"it takes no two rules of this pattern and priority, and "
					"none of the next priority: destroy the rule first");
	give_way(p, &bridge);
	next = octo_fanout_create_on(p->octo, p->port, to, 0, error);
	if (next.h == NULL) {
		ret = -rte_errno;
		next = octo_fanout_create_on(p->octo, p->port, from, 0, NULL);
	}
	give_way(p, &next);
	return ret;
}

static int
replace(const struct place *p, const struct octo_pf_rule *from, const struct octo_pf_rule *to,
	struct rte_flow_error *error)
{
	const struct octo_handle fresh = octo_fanout_create_on(p->octo, p->port, to, 0, error);

	if (fresh.h == NULL && rte_errno == EEXIST)
		return replace_by_bridge(p, from, to, error);
	if (fresh.h == NULL)
		return -rte_errno;
	give_way(p, &fresh);
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
	const struct place place = {.octo = octo, .on = on, .port = port};
	const struct octo_port *p = &octo->port[port];
	int ret = 0;

	if (octo_port_object(p, on) != NULL) {
		ret = replace(&place, from, to, error);
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
	const struct place place = {
		.octo = octo, .rule = rule, .on = &rule->arfs[port], .port = port};
	struct rte_flow *const old = octo_rule_on(octo, rule, port);
	int ret;

	if (old == NULL)
		return 0;
	/* the other PFs are to change the rule all the same */
	if (octo_port_may_lack_rules(octo, port) && octo_fanout_lacks_action(to, port, NULL)) {
		octo_replace_by_none(octo, port, &rule->arfs[port]);
		return 0;
	}
	ret = octo_fanout_lacks_action(to, port, error) ?
		      -ENODEV :
		      change_in_place(octo, port, old, to, error);
	if (ret == -ENOSYS || ret == -ENOTSUP)
		ret = replace(&place, from, to, error);
	if (octo->sliced && octo_rule_on(octo, rule, port) == NULL)
		octo_fanout_lose(octo, rule);
	return ret == 0 ? 0 : octo_flow_blame(&octo->port[port], ret, error);
}
