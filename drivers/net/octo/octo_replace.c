/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Change the actions of a rule on one PF: in place where the PF can, else the new rule is
 * created before the old one is destroyed.
 */

#include <errno.h>

#include "octo_private.h"

int (*octo_replace_in_place)(uint16_t port_id, struct rte_flow *flow,
			     const struct rte_flow_action actions[], struct rte_flow_error *error);

static struct rte_flow *
create(const struct octo_port *port, uint8_t index, const struct octo_rule_text *text,
       uint32_t step, struct rte_flow_error *error)
{
	struct octo_indirect_own own;
	const struct rte_flow_action *actions;
	struct rte_flow_attr attr = *text->rule.attr_ro;

	attr.priority += step;
	actions = octo_indirect_on_pf(text->rule.actions_ro, index, &own);
	return rte_flow_create(octo_port_usable_id(port), &attr, text->rule.pattern_ro, actions,
			       error);
}

/*
 * For a PF that refuses two rules of one pattern and priority: a temporary rule of the next
 * priority covers the gap. On failure the old rule, or a copy of it, is on the PF.
 */
static int
replace_by_bridge(const struct octo_port *port, uint8_t index, struct rte_flow **on,
		  const struct octo_rule_text *from, const struct octo_rule_text *to,
		  struct rte_flow_error *error)
{
	struct rte_flow *bridge = create(port, index, to, 1, error);
	int ret = 0;

	if (bridge == NULL)
		return -rte_errno;
	rte_flow_destroy(octo_port_usable_id(port), *on, NULL);
	*on = create(port, index, to, 0, error);
	if (*on == NULL) {
		ret = -rte_errno;
		*on = create(port, index, from, 0, NULL);
	}
	rte_flow_destroy(octo_port_usable_id(port), bridge, NULL);
	return ret;
}

static int
replace(const struct octo_port *port, uint8_t index, struct rte_flow **on,
	const struct octo_rule_text *from, const struct octo_rule_text *to,
	struct rte_flow_error *error)
{
	struct rte_flow *fresh = create(port, index, to, 0, error);

	if (fresh == NULL && rte_errno == EEXIST)
		return replace_by_bridge(port, index, on, from, to, error);
	if (fresh == NULL)
		return -rte_errno;
	rte_flow_destroy(octo_port_usable_id(port), *on, NULL);
	*on = fresh;
	return 0;
}

static int
change_in_place(const struct octo_port *port, uint8_t index, struct rte_flow *on,
		const struct octo_rule_text *to, struct rte_flow_error *error)
{
	struct octo_indirect_own own;
	const struct rte_flow_action *actions;

	if (octo_replace_in_place == NULL)
		return -ENOSYS;
	actions = octo_indirect_on_pf(to->rule.actions_ro, index, &own);
	return octo_replace_in_place(octo_port_usable_id(port), on, actions, error);
}

int
octo_replace_anew(struct octo_dev *octo, uint8_t pf, struct rte_flow **on,
		  const struct octo_rule_text *from, const struct octo_rule_text *to,
		  struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[pf];
	int ret = 0;

	if (*on != NULL) {
		ret = replace(p, pf, on, from, to, error);
	} else {
		*on = create(p, pf, to, 0, error);
		if (*on == NULL)
			ret = -rte_errno;
	}
	return ret == 0 ? 0 : octo_flow_blame(p, ret, error);
}

int
octo_replace_by_none(struct octo_dev *octo, uint8_t pf, struct rte_flow **on)
{
	if (*on != NULL)
		rte_flow_destroy(octo_port_usable_id(&octo->port[pf]), *on, NULL);
	*on = NULL;
	return 0;
}

int
octo_replace_on_pf(struct octo_dev *octo, uint8_t pf, struct rte_flow *rule,
		   const struct octo_rule_text *from, const struct octo_rule_text *to,
		   struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[pf];
	struct rte_flow *const old = rule->arfs[pf];
	int ret;

	if (old == NULL)
		return 0;
	ret = change_in_place(p, pf, old, to, error);
	if (ret == -ENOSYS || ret == -ENOTSUP) {
		octo_rule_hits_keep_pf_locked(octo, rule, pf);
		ret = replace(p, pf, &rule->arfs[pf], from, to, error);
		/* a new rule may reuse the old one's address, but it has its own counter */
		if (ret == 0 || rule->arfs[pf] != old)
			octo_rule_hits_end_pf(rule, pf);
	}
	if (octo->sliced && rule->arfs[pf] == NULL)
		octo_fanout_lose(octo, rule);
	return ret == 0 ? 0 : octo_flow_blame(p, ret, error);
}
