/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A steered flow is an ARFS rule on every PF (whichever PF it comes in by, it
 * reaches its queue) and an MPFS rule to the queue's home PF. All of them or
 * none. A learned one is the MPFS rule alone: RSS is the same on all PFs.
 */

#include <errno.h>

#include "octo_flow_build.h"
#include "octo_private.h"

/* Learned rules that go for one of the application's: what does not help then never will. */
#define MAKE_ROOM_TRIES 16

static int
remove_arfs(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	int ret = 0;

	if (rule->arfs[pf] == NULL)
		return 0;
	/* one that is about to go takes it along */
	if (octo_pf_is(&octo->pf[pf], OCTO_PF_OWNED))
		ret = rte_flow_destroy(octo->pf[pf].port_id, rule->arfs[pf], error);
	ret = octo_flow_destroyed(&octo->pf[pf], ret, error);
	if (ret == 0) {
		rule->arfs[pf] = NULL;
		octo_rule_hits_end_pf(rule, pf);
	}
	return ret;
}

/* Of a rule from a template table the PFs' own come and go by their flow queues. */
static bool
goes_by_flow_queue(const struct octo_dev *octo, const struct rte_flow *rule, uint8_t pf)
{
	return rule->by_table && !octo->pf[pf].no_flow_queues;
}

/* Teardown goes on after an error and reports the first. */
static int
remove_from_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int first_error = 0;

	/* a rule that was made before the first start was never anywhere */
	if (octo->mpfs_ops != NULL && octo_rule_has_tuple(rule))
		first_error = octo->mpfs_ops->remove(octo, rule, error);
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		int ret = 0;

		if (!goes_by_flow_queue(octo, rule, pf))
			ret = remove_arfs(octo, rule, pf, first_error == 0 ? error : NULL);
		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

int
octo_rule_write(const struct octo_dev *octo, const struct octo_rule_wish *wish,
		struct octo_rule_text *text, struct rte_flow_error *error)
{
	if (wish->words != NULL) {
		text->rule = *wish->words;
		return octo_words_pfs(octo, wish->words, &text->pfs, error);
	}
	octo_flow_build_queue(&text->built, wish->tuple, wish->priority, wish->queue, wish->count);
	text->rule.attr_ro = &text->built.attr;
	text->rule.pattern_ro = text->built.pattern;
	text->rule.actions_ro = text->built.actions;
	text->pfs = UINT32_MAX;
	return 0;
}

struct octo_rule_wish
octo_rule_wish_of(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return (struct octo_rule_wish){
		.tuple = &rule->tuple,
		.words = rule->generic ? rule->notes->words.rule : NULL,
		.priority = rule->priority,
		.queue = rule->queue,
		.count = rule->count || octo->count_rules,
	};
}

/* The rule on the PFs that lack it, usually on every one. */
static int
insert_arfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	const struct octo_rule_wish wish = octo_rule_wish_of(octo, rule);
	const struct rte_flow_action *actions;
	struct octo_indirect_own own;
	struct octo_rule_text text;
	int ret = octo_rule_write(octo, &wish, &text, error);
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		const struct octo_pf *p = &octo->pf[pf];

		if (ret != 0)
			break;
		if ((text.pfs & RTE_BIT32(pf)) == 0 || rule->arfs[pf] != NULL ||
		    goes_by_flow_queue(octo, rule, (uint8_t)pf))
			continue;
		actions = octo_indirect_on_pf(text.rule.actions_ro, (uint8_t)pf, &own);
		rule->arfs[pf] = rte_flow_create(p->port_id, text.rule.attr_ro,
						 text.rule.pattern_ro, actions, error);
		if (rule->arfs[pf] == NULL && !octo_replay_excuses_locked(octo, pf, -rte_errno))
			ret = octo_flow_blame(p, -rte_errno, error);
	}
	return ret;
}

/* Where the flows of a queue belong. Its poller may not have noticed yet that its PF is no use. */
uint8_t
octo_rule_home(const struct octo_dev *octo, uint16_t queue)
{
	const struct octo_rxq *q = octo_data(octo)->rx_queues[queue];
	uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_acquire);

	return octo->plan.usable & RTE_BIT32(home) ? home :
						     octo_topo_home(octo, q->watch.node, queue);
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

/* Would the PFs take it? While the port is stopped nobody knows what an agent would. */
static int
ask_pfs(const struct octo_dev *octo, const struct octo_rule_wish *wish,
	struct rte_flow_error *error)
{
	const struct rte_flow_action *actions;
	struct octo_indirect_own own;
	struct octo_rule_text text;
	int ret = 0;
	int pf;

	if (wish->words == NULL && octo->agent != NULL && !octo->started)
		return 0;
	if (wish->words == NULL && octo->agent_queues)
		return check_agent_rule(octo, wish->count, error);
	ret = octo_rule_write(octo, wish, &text, error);
	if (ret == 0 && text.pfs == 0)
		ret = rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, NULL,
					 "the PF that the rule names is gone, or the one that "
					 "manages the switch");
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_CONFIGURED) {
		const struct octo_pf *p = &octo->pf[pf];

		if (ret != 0)
			break;
		if ((text.pfs & RTE_BIT32(pf)) == 0)
			continue;
		actions = octo_indirect_on_pf(text.rule.actions_ro, (uint8_t)pf, &own);
		ret = rte_flow_validate(p->port_id, text.rule.attr_ro, text.rule.pattern_ro,
					actions, error);
		if (ret != 0)
			ret = octo_flow_blame(p, ret, error);
	}
	return ret;
}

/* What the application wants goes before what octo thinks is good for it. */
static int
insert_mpfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	const uint8_t home = octo_rule_home(octo, rule->queue);
	int ret = octo->mpfs_ops->insert(octo, rule, home, error);

	if (octo_rule_says_full(ret) && octo_rule_part_end_locked(octo))
		ret = octo->mpfs_ops->insert(octo, rule, home, error);
	for (unsigned int i = 0;
	     i < MAKE_ROOM_TRIES && octo_rule_says_full(ret) && rule->origin != OCTO_BY_LEARNING &&
	     octo_learn_make_room_locked(octo);
	     i++)
		ret = octo->mpfs_ops->insert(octo, rule, home, error);
	return ret;
}

/* First the queue on every PF, then the way to the PF: no packet finds a PF without its rule. */
static int
insert_on_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = 0;

	if (octo->agent_queues && !rule->generic)
		ret = check_agent_rule(octo, rule->count, error);
	else if (rule->origin != OCTO_BY_LEARNING)
		ret = insert_arfs(octo, rule, error);
	if (ret == 0 && octo_rule_has_tuple(rule) && octo_tier_has_mpfs(octo->tier))
		ret = insert_mpfs(octo, rule, error);
	if (ret != 0)
		remove_from_pfs(octo, rule, NULL);
	return ret;
}

/* On the PFs that lack it. */
int
octo_rule_join_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	if ((octo->agent_queues && !rule->generic) || rule->origin == OCTO_BY_LEARNING ||
	    rule->pending)
		return 0;
	return insert_arfs(octo, rule, error);
}

bool
octo_rule_is_transfer(const struct rte_flow *rule)
{
	return rule->generic && rule->notes->words.rule->attr->transfer;
}

int
octo_rule_place_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = insert_on_pfs(octo, rule, error);

	if (octo_rule_says_full(ret) && octo_rule_part_end_locked(octo))
		ret = insert_on_pfs(octo, rule, error);
	/* the application's own rules for the switch go first there, too */
	for (unsigned int i = 0; i < MAKE_ROOM_TRIES && octo_rule_says_full(ret) &&
				 octo_rule_is_transfer(rule) && octo_learn_make_room_locked(octo);
	     i++)
		ret = insert_on_pfs(octo, rule, error);
	if (ret == 0)
		octo_rule_notes_placed(rule);
	return ret;
}

/* The rule is kept, the PFs lose it: the inverse of octo_rule_place_locked(). */
void
octo_rule_withdraw_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
		octo_rule_hits_keep_pf_locked(octo, rule, pf);
	remove_from_pfs(octo, rule, NULL);
	/* what a PF did not give up is lost to us all the same */
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		if (goes_by_flow_queue(octo, rule, pf))
			continue;
		rule->arfs[pf] = NULL;
		octo_rule_hits_end_pf(rule, pf);
	}
	rule->mpfs = NULL;
	rule->pf = OCTO_NO_PF;
	rule->stale = false;
	octo_rule_notes_reset(octo, rule);
}

static int
refuse_twice(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, EEXIST, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "this 5-tuple is steered already: destroy that rule first");
}

static int
refuse_memory(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "no memory for the rule");
}

static void
free_rule(struct octo_dev *octo, struct rte_flow *rule)
{
	if (rule->generic) {
		octo->words_bytes -= rule->notes->words.bytes;
		octo_indirect_release(rule->notes->words.rule->actions_ro);
		octo_words_drop(&rule->notes->words);
	}
	octo_rule_notes_drop(octo, rule);
	octo_slab_put(&octo->rule_slab, rule);
}

static int
keep_words(struct octo_dev *octo, struct rte_flow *rule, const struct octo_rule_wish *wish,
	   struct rte_flow_error *error)
{
	struct octo_notes *notes = octo_rule_notes_get(octo, rule);
	int ret;

	if (notes == NULL)
		return refuse_memory(error);
	/* copying follows pointers that nobody has looked at before the PFs do */
	ret = ask_pfs(octo, wish, error);
	if (ret == 0)
		ret = octo_words_take(&notes->words, wish->words, rule, error);
	if (ret != 0)
		return ret;
	octo_indirect_hold(notes->words.rule->actions_ro);
	octo->words_bytes += notes->words.bytes;
	rule->generic = true;
	return 0;
}

/* Returns NULL with *error set. */
static struct rte_flow *
new_rule(struct octo_dev *octo, const struct octo_rule_wish *wish, struct rte_flow_error *error)
{
	struct rte_flow *rule = octo_slab_get(&octo->rule_slab);

	if (rule == NULL) {
		refuse_memory(error);
		return NULL;
	}
	if (wish->tuple != NULL)
		rule->tuple = *wish->tuple;
	rule->origin = wish->origin;
	rule->priority = wish->priority;
	rule->queue = wish->queue;
	rule->count = wish->count;
	rule->pf = OCTO_NO_PF;
	if (wish->words != NULL && keep_words(octo, rule, wish, error) != 0) {
		free_rule(octo, rule);
		return NULL;
	}
	return rule;
}

/* Is this tuple somebody else's? A learned rule steps aside. */
static bool
is_taken(const struct octo_rule_wish *wish, const struct rte_flow *known)
{
	return known->origin != OCTO_BY_LEARNING || wish->origin == OCTO_BY_LEARNING;
}

/* The rule into the table; it is freed on failure. */
static int
enter_rule(struct octo_dev *octo, const struct octo_rule_wish *wish, struct rte_flow *rule,
	   struct rte_flow_error *error)
{
	int ret = octo_table_add(octo->table, &rule->tuple, rule);
	struct rte_flow *known;

	if (ret == -EEXIST) {
		known = octo_table_find(octo->table, wish->tuple);
		if (is_taken(wish, known))
			return refuse_twice(error);
		if (!octo_rule_part_locked(octo, known))
			octo_rule_remove_locked(octo, known, NULL);
		ret = octo_table_add(octo->table, &rule->tuple, rule);
	}
	return ret == 0 ? 0 : refuse_memory(error);
}

static int
place_new(struct octo_dev *octo, const struct octo_rule_wish *wish, struct rte_flow *rule,
	  struct rte_flow_error *error)
{
	int ret = octo_rule_has_tuple(rule) ? enter_rule(octo, wish, rule, error) : 0;

	if (ret != 0)
		return ret;
	/* what else it may match must not be led elsewhere by what was destroyed */
	if (!octo_rule_has_tuple(rule))
		octo_rule_part_end_locked(octo);
	else if (octo_rule_part_succeed_locked(octo, rule))
		return 0;
	ret = octo->started ? octo_rule_place_locked(octo, rule, error) :
			      ask_pfs(octo, wish, error);
	if (ret != 0 && octo_rule_has_tuple(rule))
		octo_table_remove(octo->table, &rule->tuple);
	return ret;
}

static void
enlist(struct octo_dev *octo, struct rte_flow *rule)
{
	if (octo_rule_has_tuple(rule)) {
		TAILQ_INSERT_TAIL(&octo->rules, rule, next);
		octo_rule_list_join_queue(octo, rule, rule->queue);
	} else {
		TAILQ_INSERT_TAIL(&octo->others, rule, next);
		octo->nb_others++;
	}
}

/* Out of the lists, and of the table. */
void
octo_rule_delist_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_replay_skip_locked(octo, rule);
	if (octo_rule_has_tuple(rule)) {
		octo_truth_forget_locked(octo, rule);
		/* the rules behind it have other numbers from now on */
		octo->page.rule = NULL;
		TAILQ_REMOVE(&octo->rules, rule, next);
		octo_rule_list_leave_queue(octo, rule);
		octo_table_remove(octo->table, &rule->tuple);
	} else {
		TAILQ_REMOVE(&octo->others, rule, next);
		octo->nb_others--;
	}
}

struct rte_flow *
octo_rule_add_locked(struct octo_dev *octo, const struct octo_rule_wish *wish,
		     struct rte_flow_error *error)
{
	struct rte_flow *rule = new_rule(octo, wish, error);
	int ret;

	if (rule == NULL)
		return NULL;
	ret = place_new(octo, wish, rule, error);
	if (ret != 0) {
		free_rule(octo, rule);
		rte_errno = -ret;
		return NULL;
	}
	enlist(octo, rule);
	return rule;
}

/* A rule that is on no list is no more. */
void
octo_rule_free_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	remove_from_pfs(octo, rule, NULL);
	free_rule(octo, rule);
}

/* A rule of a template table, which is on no PF yet. */
struct rte_flow *
octo_rule_enter_locked(struct octo_dev *octo, const struct octo_rule_wish *wish,
		       struct rte_flow_error *error)
{
	struct rte_flow *rule = new_rule(octo, wish, error);
	int ret = 0;

	if (rule == NULL)
		return NULL;
	/* nobody knows of its success or failure before the PFs tell */
	octo_rule_part_end_locked(octo);
	rule->by_table = true;
	rule->pending = true;
	if (octo_rule_notes_get(octo, rule) == NULL)
		ret = refuse_memory(error);
	if (ret == 0 && octo_rule_has_tuple(rule))
		ret = enter_rule(octo, wish, rule, error);
	if (ret != 0) {
		free_rule(octo, rule);
		rte_errno = -ret;
		return NULL;
	}
	enlist(octo, rule);
	return rule;
}

/* No PF has it any more: it leads nowhere, and its tuple is free for others. */
void
octo_rule_leave_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	remove_from_pfs(octo, rule, NULL);
	octo_rule_delist_locked(octo, rule);
	rule->tuple = (struct octo_tuple){0};
	enlist(octo, rule);
}

/* The rule is freed, whatever the PFs say. */
int
octo_rule_remove_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret;

	if (rule->by_table)
		octo_async_withdraw_locked(octo, rule);
	ret = remove_from_pfs(octo, rule, error);
	octo_learn_forget_locked(octo, rule);
	octo_rule_delist_locked(octo, rule);
	free_rule(octo, rule);
	return ret;
}

/* A PF did not give the rule up: the others get it again, as far as they take it. */
static void
restore(struct octo_dev *octo, struct rte_flow *rule)
{
	if (!octo->started)
		return;
	octo_rule_join_locked(octo, rule, NULL);
	if (octo_rule_has_tuple(rule) && octo_tier_has_mpfs(octo->tier) && rule->pf == OCTO_NO_PF)
		octo->mpfs_ops->insert(octo, rule, octo_rule_home(octo, rule->queue), NULL);
}

/*
 * The rule is destroyed by request: what comes next may be another rule of its flow. If a PF
 * refuses, the rule stays, and the handle is valid yet: it may be destroyed again.
 */
int
octo_rule_retire_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret;

	if (octo->fences.settings.linger_ms > 0 && octo_rule_part_locked(octo, rule))
		return 0;
	ret = remove_from_pfs(octo, rule, error);
	if (ret == 0)
		return octo_rule_remove_locked(octo, rule, NULL);
	restore(octo, rule);
	rte_errno = -ret;
	return ret;
}

/* Would octo_rule_add_locked() take it, as far as that can be known? */
int
octo_rule_check_locked(struct octo_dev *octo, const struct octo_rule_wish *wish,
		       struct rte_flow_error *error)
{
	const struct rte_flow *known = NULL;
	int ret;

	if (wish->tuple != NULL)
		known = octo_table_find(octo->table, wish->tuple);
	if (known != NULL && is_taken(wish, known))
		return refuse_twice(error);
	ret = ask_pfs(octo, wish, error);
	if (ret != 0 && octo_rule_part_end_locked(octo))
		ret = ask_pfs(octo, wish, error);
	return ret;
}
