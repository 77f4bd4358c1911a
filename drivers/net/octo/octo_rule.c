/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A steered flow is an ARFS rule on every PF (whichever PF it comes in by, it
 * reaches its queue) and an MPFS rule to the queue's home PF. All of them or
 * none. A learned one is the MPFS rule alone: RSS is the same on all PFs.
 */

#include <errno.h>

#include "octo_flow_build.h"
#include "octo_private.h"

static int
remove_arfs(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	int ret;

	if (rule->arfs[pf] == NULL)
		return 0;
	ret = rte_flow_destroy(octo->pf[pf].port_id, rule->arfs[pf], error);
	rule->arfs[pf] = NULL;
	return ret == 0 ? 0 : octo_flow_blame(&octo->pf[pf], ret, error);
}

/* Teardown goes on after an error and reports the first. */
static int
remove_from_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int first_error = octo->mpfs_ops->remove(octo, rule, error);

	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		int ret = remove_arfs(octo, rule, pf, first_error == 0 ? error : NULL);

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

/* The queue of the flow, on every PF. */
static int
insert_arfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int pf;

	octo_flow_build_queue(&r, &rule->tuple, rule->priority, rule->queue,
			      rule->count || octo->count_rules);
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		const struct octo_pf *p = &octo->pf[pf];

		rule->arfs[pf] = rte_flow_create(p->port_id, &r.attr, r.pattern, r.actions, error);
		if (rule->arfs[pf] == NULL)
			return octo_flow_blame(p, -rte_errno, error);
	}
	return 0;
}

/* Where the flows of a queue belong. Its poller may not have noticed yet that its PF is gone. */
uint8_t
octo_rule_home(const struct octo_dev *octo, uint16_t queue)
{
	const struct octo_rxq *q = octo_data(octo)->rx_queues[queue];
	uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_acquire);

	return octo->pf[home].state >= OCTO_PF_STARTED ? home :
							 octo_topo_home(octo, q->node, queue);
}

/* What the PFs are not asked about. */
static int
check_agent_rule(const struct octo_dev *octo, bool count, struct rte_flow_error *error)
{
	if (!octo_tier_has_mpfs(octo->tier))
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the PFs refuse 5-tuple rules, and no agent that chooses "
					  "queues was there yet");
	if (count && !octo->count_rules)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "neither the PFs nor the agent can count");
	return 0;
}

/* First the queue on every PF, then the way to the PF: no packet finds a PF without its rule. */
static int
insert_on_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = 0;

	if (octo->agent_queues)
		ret = check_agent_rule(octo, rule->count, error);
	else if (rule->origin != OCTO_BY_LEARNING)
		ret = insert_arfs(octo, rule, error);
	if (ret == 0 && octo_tier_has_mpfs(octo->tier))
		ret = octo->mpfs_ops->insert(octo, rule, octo_rule_home(octo, rule->queue), error);
	if (ret != 0)
		remove_from_pfs(octo, rule, NULL);
	return ret;
}

/* What the application wants goes before what octo thinks is good for it. */
static int
insert_with_room(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = insert_on_pfs(octo, rule, error);

	while (ret == -ENOSPC && rule->origin != OCTO_BY_LEARNING &&
	       octo_learn_make_room_locked(octo))
		ret = insert_on_pfs(octo, rule, error);
	return ret;
}

static int
refuse_twice(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, EEXIST, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "this 5-tuple is steered already: destroy that rule first");
}

/* Returns NULL with rte_errno set to what octo_table_add() says. */
static struct rte_flow *
new_rule(struct octo_dev *octo, const struct octo_rule_wish *wish)
{
	struct rte_flow *rule = octo_slab_get(&octo->rule_slab);
	int ret;

	if (rule == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	rule->tuple = *wish->tuple;
	rule->origin = wish->origin;
	rule->priority = wish->priority;
	rule->queue = wish->queue;
	rule->count = wish->count;
	rule->pf = OCTO_NO_PF;
	ret = octo_table_add(octo->table, &rule->tuple, rule);
	if (ret == 0)
		return rule;
	octo_slab_put(&octo->rule_slab, rule);
	rte_errno = -ret;
	return NULL;
}

static void
free_rule(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_table_remove(octo->table, &rule->tuple);
	octo_rule_notes_drop(octo, rule);
	octo_slab_put(&octo->rule_slab, rule);
}

/* May this tuple be steered? By whom it is already, if it is; a learned rule steps aside. */
static bool
is_taken(const struct octo_dev *octo, const struct octo_rule_wish *wish, struct rte_flow **known)
{
	*known = octo_table_find(octo->table, wish->tuple);
	return *known != NULL &&
	       ((*known)->origin != OCTO_BY_LEARNING || wish->origin == OCTO_BY_LEARNING);
}

/* The new rule in the table, with no other of its tuple. */
static struct rte_flow *
enter_rule(struct octo_dev *octo, const struct octo_rule_wish *wish, struct rte_flow_error *error)
{
	struct rte_flow *rule = new_rule(octo, wish);
	struct rte_flow *known;

	if (rule == NULL && rte_errno == EEXIST) {
		if (is_taken(octo, wish, &known)) {
			refuse_twice(error);
			return NULL;
		}
		octo_rule_remove_locked(octo, known, NULL);
		rule = new_rule(octo, wish);
	}
	if (rule == NULL)
		rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "no memory for the rule");
	return rule;
}

struct rte_flow *
octo_rule_add_locked(struct octo_dev *octo, const struct octo_rule_wish *wish,
		     struct rte_flow_error *error)
{
	struct rte_flow *rule = enter_rule(octo, wish, error);
	int ret;

	if (rule == NULL)
		return NULL;
	ret = insert_with_room(octo, rule, error);
	if (ret != 0) {
		free_rule(octo, rule);
		rte_errno = -ret;
		return NULL;
	}
	octo_rule_notes_placed(rule);
	TAILQ_INSERT_TAIL(&octo->rules, rule, next);
	TAILQ_INSERT_TAIL(&octo->queue_rules[rule->queue], rule, next_of_queue);
	return rule;
}

int
octo_rule_remove_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = remove_from_pfs(octo, rule, error);

	TAILQ_REMOVE(&octo->rules, rule, next);
	TAILQ_REMOVE(&octo->queue_rules[rule->queue], rule, next_of_queue);
	free_rule(octo, rule);
	return ret;
}

/* Would octo_rule_add_locked() take it, as far as that can be known? */
int
octo_rule_check_locked(struct octo_dev *octo, const struct octo_rule_wish *wish,
		       struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	struct rte_flow *known;
	int pf;

	if (is_taken(octo, wish, &known))
		return refuse_twice(error);
	if (octo->agent_queues)
		return check_agent_rule(octo, wish->count, error);
	octo_flow_build_queue(&r, wish->tuple, wish->priority, wish->queue, wish->count);
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		const struct octo_pf *p = &octo->pf[pf];
		int ret = rte_flow_validate(p->port_id, &r.attr, r.pattern, r.actions, error);

		if (ret != 0)
			return octo_flow_blame(p, ret, error);
	}
	return 0;
}
