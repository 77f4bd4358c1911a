/* SPDX-License-Identifier: BSD-3-Clause */

/* Storage of rules: memory, the table of 5-tuples, the lists. */

#include <errno.h>

#include "octo_agent.h"
#include "octo_private.h"

/* Rules without a 5-tuple, for octo_rule_store_may_place_locked(). */
#define MANY_OTHERS 16

static void
drop_app_spec(struct octo_dev *octo, struct rte_flow *rule)
{
	if (!rule->generic)
		return;
	octo->app_spec_bytes -= rule->ext->app_spec.bytes;
	octo_indirect_release(rule->ext->app_spec.rule->actions_ro);
	octo_app_spec_drop(&rule->ext->app_spec);
}

/* Free a rule that is on no PF and on no list. */
void
octo_rule_store_free(struct octo_dev *octo, struct rte_flow *rule)
{
	drop_app_spec(octo, rule);
	if (octo->agent != NULL)
		octo_agent_forget(octo->agent, rule);
	octo_rule_ext_drop(octo, rule);
	octo_slab_put(&octo->rule_slab, rule);
	octo_rule_store_publish_locked(octo);
}

static int
keep_app_spec(struct octo_dev *octo, struct rte_flow *rule, const struct octo_rule_spec *spec,
	      struct rte_flow_error *error)
{
	struct octo_rule_ext *ext = octo_rule_ext_get(octo, rule);
	int ret;

	if (ext == NULL)
		return octo_flow_error_memory(error);
	ret = octo_app_spec_take(&ext->app_spec, spec->app_spec, rule, error);
	if (ret != 0)
		return ret;
	octo_indirect_hold(ext->app_spec.rule->actions_ro);
	octo->app_spec_bytes += ext->app_spec.bytes;
	rule->generic = true;
	return 0;
}

/*
 * Allocate a rule, on no list yet, with a copy of the application's spec, which the PFs have
 * validated. Returns NULL with *error set.
 */
struct rte_flow *
octo_rule_store_new(struct octo_dev *octo, const struct octo_rule_spec *spec,
		    struct rte_flow_error *error)
{
	struct rte_flow *rule = octo_slab_get(&octo->rule_slab);

	if (rule == NULL) {
		octo_flow_error_memory(error);
		return NULL;
	}
	if (spec->tuple != NULL)
		rule->tuple = *spec->tuple;
	rule->origin = spec->origin;
	rule->priority = spec->priority;
	rule->queue = spec->queue;
	rule->count = spec->count;
	octo_fanout_unlead(rule);
	if (spec->app_spec != NULL && keep_app_spec(octo, rule, spec, error) != 0) {
		octo_rule_store_free(octo, rule);
		return NULL;
	}
	return rule;
}

/* May a learned rule take its packets, if that has no higher priority? */
static bool
is_ingress(const struct rte_flow *rule)
{
	const struct rte_flow_attr *attr;

	if (octo_rule_has_tuple(rule) || !rule->generic)
		return false;
	attr = rule->ext->app_spec.rule->attr;
	return attr->ingress && attr->group == 0;
}

/* Of slices: would a learned rule take packets of this one? */
bool
octo_rule_store_is_behind_learned(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return octo->sliced && is_ingress(rule) && rule->priority >= octo->learned_priority;
}

/* Of slices: is there a rule whose packets a learned one would take? */
bool
octo_rule_store_forbids_learning(const struct octo_dev *octo)
{
	return octo->sliced && (octo->nb_ingress[1] > 0 ||
				(octo->nb_ingress[0] > 0 && octo->learned_priority == 0));
}

/*
 * May another rule than that of its 5-tuple choose the queue of a flow? With many rules, of which
 * all may be of flows that are dropped, it is not worth the time to look at each.
 */
bool
octo_rule_store_may_place_locked(const struct octo_dev *octo)
{
	const struct rte_flow *rule;

	octo_assert_locked(octo);
	if (octo->nb_others > MANY_OTHERS)
		return octo->nb_ingress[0] + octo->nb_ingress[1] > 0;
	TAILQ_FOREACH(rule, &octo->others, next) {
		if (is_ingress(rule) && octo_app_spec_find(rule->ext->app_spec.rule->actions_ro,
							   RTE_FLOW_ACTION_TYPE_DROP) == NULL)
			return true;
	}
	return false;
}

/* The rule is about to be on the list of others, or off it. */
static void
count_other(struct octo_dev *octo, const struct rte_flow *rule, bool on)
{
	const bool before = octo_rule_store_forbids_learning(octo);

	octo->nb_others += on ? 1 : -1;
	if (is_ingress(rule))
		octo->nb_ingress[rule->priority >= OCTO_LEARNED_PRIORITY] += on ? 1 : -1;
	octo->learning.stale |= octo_rule_store_forbids_learning(octo) != before;
}

void
octo_rule_store_enlist(struct octo_dev *octo, struct rte_flow *rule)
{
	if (octo_rule_has_tuple(rule)) {
		TAILQ_INSERT_TAIL(&octo->rules, rule, next);
		octo_rule_store_join_queue(octo, rule, rule->queue);
	} else {
		TAILQ_INSERT_TAIL(&octo->others, rule, next);
		count_other(octo, rule, true);
	}
	octo_rule_store_publish_locked(octo);
}

/* A flow of this queue may not lead to its home: octo_sync.c looks at all of them. */
void
octo_rule_store_mark_queue_locked(struct octo_dev *octo, uint16_t queue)
{
	octo_assert_locked(octo);
	octo->sync.queue[queue].home = OCTO_NO_PF;
	octo->sync.queue[queue].walking = false;
}

/* The same, but after a walk that is under way: a walk that often begins anew does not end. */
void
octo_rule_store_look_again_locked(struct octo_dev *octo, uint16_t queue)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];

	if (q->walking)
		q->again = true;
	else
		octo_rule_store_mark_queue_locked(octo, queue);
}

/*
 * The same for a flow that an agent has refused since it was sent: after a delay. Other flows do
 * not wait for it: a walk that is under way goes on.
 */
void
octo_rule_store_refused_locked(struct octo_dev *octo, uint16_t queue)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];

	if (q->walking) {
		q->failed++;
		return;
	}
	octo_rule_store_mark_queue_locked(octo, queue);
	q->refused = true;
}

/* Rules without a 5-tuple may be missing: transfer rules on the switch, others on a PF. */
void
octo_rule_store_mark_others_locked(struct octo_dev *octo)
{
	octo_assert_locked(octo);
	octo->sync.others = true;
	octo->sync.others_logged = false;
	octo->sync.others_retry = 0;
	octo_wake(octo);
}

/* A flow of this queue leads to the PF: are there others that lead elsewhere? */
void
octo_rule_store_led_locked(struct octo_dev *octo, uint16_t queue, uint8_t pf)
{
	const uint8_t home = octo->sync.queue[queue].home;

	if (home != OCTO_NO_PF && home != pf)
		octo_rule_store_mark_queue_locked(octo, queue);
}

/* Take the rule off its lists and out of the table. */
void
octo_rule_store_delist_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_hooks->forget_rule_locked(octo, rule);
	for (unsigned int i = 0; i < OCTO_NB_CURSORS; i++)
		if (octo->sync.cursor[i] == rule)
			octo->sync.cursor[i] = TAILQ_NEXT(rule, next);
	if (octo_rule_has_tuple(rule)) {
		if (octo->page.rule == rule)
			octo->page.rule = TAILQ_NEXT(rule, next);
		TAILQ_REMOVE(&octo->rules, rule, next);
		octo_rule_store_leave_queue(octo, rule);
		octo_table_remove(octo->table, &rule->tuple);
	} else {
		TAILQ_REMOVE(&octo->others, rule, next);
		count_other(octo, rule, false);
	}
	octo_rule_store_publish_locked(octo);
}

/*
 * The next rule of a walk over those with a 5-tuple, and then over the others, or NULL after the
 * last.
 */
struct rte_flow *
octo_rule_store_next_locked(struct octo_dev *octo, unsigned int cursor, bool *others)
{
	struct rte_flow **next = &octo->sync.cursor[cursor];
	struct rte_flow *rule;

	if (*next == NULL && !*others) {
		*others = true;
		*next = TAILQ_FIRST(&octo->others);
	}
	rule = *next;
	if (rule != NULL)
		*next = TAILQ_NEXT(rule, next);
	return rule;
}

int
octo_rule_store_init(struct octo_dev *octo)
{
	char name[24];

	TAILQ_INIT(&octo->rules);
	TAILQ_INIT(&octo->indirects);
	TAILQ_INIT(&octo->others);
	TAILQ_INIT(&octo->rule_exts);
	for (unsigned int i = 0; i < RTE_DIM(octo->queue_rules); i++)
		TAILQ_INIT(&octo->queue_rules[i]);
	TAILQ_INIT(&octo->lingering.rules);
	for (unsigned int i = 0; i < OCTO_LINGERING_BUCKETS; i++)
		TAILQ_INIT(&octo->lingering.by_tuple[i]);
	octo_slab_init(&octo->rule_slab, "octo_rules",
		       sizeof(struct rte_flow) + octo->nb_ports * sizeof(struct octo_handle));
	octo_slab_init(&octo->rule_ext_slab, "octo_rule_ext", sizeof(struct octo_rule_ext));
	snprintf(name, sizeof(name), "octo_p%u", octo->port_id);
	octo->table = octo_table_create(name);
	if (octo->table == NULL) {
		OCTO_LOG(ERR, "%s: no memory for the steering table", octo_data(octo)->name);
		return -ENOMEM;
	}
	return 0;
}

void
octo_rule_store_fini(struct octo_dev *octo)
{
	octo_table_free(octo->table);
	octo->table = NULL;
	octo_slab_fini(&octo->rule_ext_slab);
	octo_slab_fini(&octo->rule_slab);
}

/* Make the rule lead to this queue. */
void
octo_rule_store_join_queue(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue)
{
	rule->queue = queue;
	TAILQ_INSERT_TAIL(&octo->queue_rules[queue], rule, next_of_queue);
}

void
octo_rule_store_leave_queue(struct octo_dev *octo, struct rte_flow *rule)
{
	struct octo_sync_queue *q = &octo->sync.queue[rule->queue];

	if (q->next == rule)
		q->next = TAILQ_NEXT(rule, next_of_queue);
	TAILQ_REMOVE(&octo->queue_rules[rule->queue], rule, next_of_queue);
}

bool
octo_rule_store_has_handle(const struct rte_flow *rule, const struct rte_flow_action_handle *handle)
{
	return rule->generic && octo_indirect_is_used(rule->ext->app_spec.rule->actions_ro, handle);
}

/* Replace the application's spec. If there is a new one, the rule has its extension already. */
void
octo_rule_store_swap_app_spec(struct octo_dev *octo, struct rte_flow *rule,
			      struct octo_app_spec *app_spec)
{
	if (app_spec->rule != NULL)
		octo_indirect_hold(app_spec->rule->actions_ro);
	octo->app_spec_bytes += app_spec->bytes;
	drop_app_spec(octo, rule);
	rule->generic = app_spec->rule != NULL;
	if (rule->generic)
		rule->ext->app_spec = *app_spec;
}

/* Publish counts for readers without the control mutex, in any process. */
void
octo_rule_store_publish_locked(struct octo_dev *octo)
{
	struct octo_learn_stats learned;

	octo_learn_stats(octo->learning.policy, &learned);
	octo->rule_counts.steered = octo_table_count(octo->table);
	/* without the memory that the PFs take */
	octo->rule_counts.bytes = octo_table_bytes(octo->table) +
				  octo_slab_bytes(&octo->rule_slab) +
				  octo_slab_bytes(&octo->rule_ext_slab) + octo->app_spec_bytes +
				  learned.bytes;
}
