/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Other actions for a rule (DPDK 23.07): on every PF, or on none. A PF that cannot
 * change a rule in place gets a new one before the old one goes.
 */

#include <errno.h>

#include "octo_private.h"

static struct rte_flow *
create(const struct octo_pf *pf, uint8_t index, const struct octo_rule_text *text, uint32_t step,
       struct rte_flow_error *error)
{
	struct rte_flow_action own[OCTO_TEMPLATE_MAX];
	const struct rte_flow_action *actions;
	struct rte_flow_attr attr = *text->rule.attr_ro;

	attr.priority += step;
	actions = octo_indirect_on_pf(text->rule.actions_ro, index, own);
	return rte_flow_create(pf->port_id, &attr, text->rule.pattern_ro, actions, error);
}

/*
 * Where two rules of one pattern and priority cannot be, one of the next priority
 * does its work meanwhile. If that fails the PF has the old rule, or one like it.
 */
static int
replace_by_bridge(const struct octo_pf *pf, uint8_t index, struct rte_flow **on,
		  const struct octo_rule_text *from, const struct octo_rule_text *to,
		  struct rte_flow_error *error)
{
	struct rte_flow *bridge = create(pf, index, to, 1, error);
	int ret = 0;

	if (bridge == NULL)
		return -rte_errno;
	rte_flow_destroy(pf->port_id, *on, NULL);
	*on = create(pf, index, to, 0, error);
	if (*on == NULL) {
		ret = -rte_errno;
		*on = create(pf, index, from, 0, NULL);
	}
	rte_flow_destroy(pf->port_id, bridge, NULL);
	return ret;
}

static int
replace(const struct octo_pf *pf, uint8_t index, struct rte_flow **on,
	const struct octo_rule_text *from, const struct octo_rule_text *to,
	struct rte_flow_error *error)
{
	struct rte_flow *fresh = create(pf, index, to, 0, error);

	if (fresh == NULL && rte_errno == EEXIST)
		return replace_by_bridge(pf, index, on, from, to, error);
	if (fresh == NULL)
		return -rte_errno;
	rte_flow_destroy(pf->port_id, *on, NULL);
	*on = fresh;
	return 0;
}

static int
change_on_pf(const struct octo_pf *pf, uint8_t index, struct rte_flow **on,
	     const struct octo_rule_text *from, const struct octo_rule_text *to,
	     struct rte_flow_error *error)
{
	struct rte_flow_action own[OCTO_TEMPLATE_MAX];
	const struct rte_flow_action *actions;
	int ret;

	actions = octo_indirect_on_pf(to->rule.actions_ro, index, own);
	ret = rte_flow_actions_update(pf->port_id, *on, actions, error);
	return ret == -ENOSYS || ret == -ENOTSUP ? replace(pf, index, on, from, to, error) : ret;
}

/* What was changed is changed back. */
static int
change_on_pfs(struct octo_dev *octo, struct rte_flow *rule, const struct octo_rule_text *from,
	      const struct octo_rule_text *to, struct rte_flow_error *error)
{
	for (int pf = 0; pf < octo->nb_pfs; pf++) {
		int ret;

		if (rule->arfs[pf] == NULL)
			continue;
		ret = change_on_pf(&octo->pf[pf], (uint8_t)pf, &rule->arfs[pf], from, to, error);
		if (ret == 0)
			continue;
		ret = octo_flow_blame(&octo->pf[pf], ret, error);
		while (--pf >= 0)
			if (rule->arfs[pf] != NULL)
				change_on_pf(&octo->pf[pf], (uint8_t)pf, &rule->arfs[pf], to, from,
					     NULL);
		rte_errno = -ret;
		return ret;
	}
	return 0;
}

static int
refuse(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_ACTION, NULL, why);
}

static int
check(const struct octo_dev *octo, const struct rte_flow *rule,
      const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	if (actions == NULL)
		return refuse(error, EINVAL, "the actions are missing");
	if (!octo->started)
		return refuse(error, EINVAL, "the port is stopped: start it first");
	if (rule->by_table)
		return refuse(error, ENOTSUP, "the rule was made through a flow queue");
	if (octo->agent_queues && !rule->generic)
		return refuse(error, ENOTSUP,
			      "an agent chooses the queue: destroy the rule and make another");
	return 0;
}

/* A rule stays what it is: one flow to one queue, or anything else. */
static int
check_kind(const struct rte_flow *rule, const struct octo_rule_wish *wish,
	   struct rte_flow_error *error)
{
	if ((wish->tuple != NULL) == octo_rule_has_tuple(rule))
		return 0;
	return refuse(error, ENOTSUP,
		      "a rule of one flow to a queue stays one, and others stay others: destroy it "
		      "and make another");
}

/* The PFs have it: octo has it, too. The words were taken before, so that nothing can fail. */
static void
commit(struct octo_dev *octo, struct rte_flow *rule, const struct octo_rule_wish *wish,
       struct octo_words *words)
{
	octo_rule_swap_words(octo, rule, words);
	rule->count = wish->count;
	if (octo_rule_has_tuple(rule))
		octo_rule_requeue_locked(octo, rule, wish->queue);
}

static int
update_locked(struct octo_dev *octo, struct rte_flow *rule, const struct rte_flow_action actions[],
	      struct rte_flow_error *error)
{
	struct octo_rule_wish old = octo_rule_wish_of(octo, rule);
	struct octo_words words = {0};
	struct octo_flow_request r;
	struct octo_rule_text from;
	struct octo_rule_text to;
	int ret = check(octo, rule, actions, error);

	if (ret == 0)
		ret = octo_rule_write(octo, &old, &from, error);
	if (ret == 0)
		ret = octo_flow_read(octo, from.rule.attr_ro, from.rule.pattern_ro, actions, &r,
				     error);
	if (ret == 0)
		ret = check_kind(rule, &r.wish, error);
	if (ret == 0 && r.wish.words != NULL && octo_rule_notes_get(octo, rule) == NULL)
		ret = refuse(error, ENOMEM, "no memory for the rule");
	if (ret == 0 && r.wish.words != NULL)
		ret = octo_words_take(&words, r.wish.words, rule, error);
	if (ret != 0)
		return ret;
	old = r.wish;
	/* with the context by which the PFs name it to octo when it ages */
	if (words.rule != NULL)
		old.words = words.rule;
	old.count = r.wish.count || octo->count_rules;
	ret = octo_rule_write(octo, &old, &to, error);
	if (ret == 0)
		ret = change_on_pfs(octo, rule, &from, &to, error);
	if (ret == 0)
		commit(octo, rule, &r.wish, &words);
	else
		octo_words_drop(&words);
	return ret;
}

static int
actions_update(struct rte_eth_dev *dev, struct rte_flow *rule,
	       const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, update_locked(octo, rule, actions, error));
}

RTE_INIT(octo_flow_update_init)
{
	octo_flow_ops.actions_update = actions_update;
}
