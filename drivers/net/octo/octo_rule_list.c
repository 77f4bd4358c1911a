/* SPDX-License-Identifier: BSD-3-Clause */

/* All steered flows: where they are kept, and what happens to many of them at once. */

#include <errno.h>

#include "octo_clock.h"
#include "octo_private.h"

/* So many rules, or for so long, follow their queue at once: then others get the mutex. */
#define SLICE_RULES 64
#define SLICE_US 50

int
octo_rule_list_init(struct octo_dev *octo)
{
	char name[24];

	TAILQ_INIT(&octo->rules);
	TAILQ_INIT(&octo->handles);
	TAILQ_INIT(&octo->others);
	TAILQ_INIT(&octo->notes);
	for (unsigned int i = 0; i < RTE_DIM(octo->queue_rules); i++)
		TAILQ_INIT(&octo->queue_rules[i]);
	octo_rule_part_init(octo);
	octo_slab_init(&octo->rule_slab, "octo_rules",
		       sizeof(struct rte_flow) + octo->nb_pfs * sizeof(struct rte_flow *),
		       SOCKET_ID_ANY);
	octo_slab_init(&octo->notes_slab, "octo_notes", sizeof(struct octo_notes), SOCKET_ID_ANY);
	snprintf(name, sizeof(name), "octo_p%u", octo->port_id);
	octo->table = octo_table_create(name, SOCKET_ID_ANY);
	if (octo->table == NULL) {
		OCTO_LOG(ERR, "%s: no memory for the steering table", octo_data(octo)->name);
		return -ENOMEM;
	}
	return 0;
}

void
octo_rule_list_fini(struct octo_dev *octo)
{
	octo_rule_list_flush_locked(octo, NULL);
	octo_table_free(octo->table);
	octo->table = NULL;
	octo_slab_fini(&octo->notes_slab);
	octo_slab_fini(&octo->rule_slab);
}

/* Memory of all rules; what the PFs keep for them is theirs. */
uint64_t
octo_rule_list_bytes_locked(const struct octo_dev *octo)
{
	struct octo_learn_stats learned;

	octo_learn_stats(octo->learning.policy, &learned);
	return octo_table_bytes(octo->table) + octo_slab_bytes(&octo->rule_slab) +
	       octo_slab_bytes(&octo->notes_slab) + octo->words_bytes + learned.bytes;
}

/* An agent that has yet to come is told of the rules when it does. */
static bool
waits_for_agent(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return octo->agent_queues && !rule->generic && !octo_tier_has_mpfs(octo->tier);
}

static int
place_all(struct octo_dev *octo, const struct octo_rules *rules)
{
	struct rte_flow_error error = {.message = NULL};
	char text[OCTO_RULE_TEXT_MAX];
	struct rte_flow *rule;
	int ret;

	TAILQ_FOREACH(rule, rules, next) {
		if (waits_for_agent(octo, rule))
			continue;
		ret = octo_rule_place_locked(octo, rule, &error);
		if (ret == 0)
			continue;
		OCTO_LOG(ERR, "port %u: cannot start with this rule, destroy it first: %s: %s",
			 octo->port_id, octo_rule_dump_format(rule, text),
			 error.message != NULL ? error.message : rte_strerror(-ret));
		return ret;
	}
	return 0;
}

/*
 * PFs that are back are named by their numbers again. What is on the switch has those
 * that they had: it leaves, to be put there anew.
 */
static void
name_again(struct octo_dev *octo)
{
	struct rte_flow *rule;
	int pf;

	TAILQ_FOREACH(rule, &octo->others, next) {
		bool changed = false;

		if (!octo_rule_is_transfer(rule))
			continue;
		OCTO_FOREACH_PF(octo, pf, OCTO_PF_OWNED)
			changed |= octo_words_renumber(&rule->notes->words, OCTO_LOST_PORT(pf),
						       octo->pf[pf].port_id);
		if (changed && !rule->by_table)
			octo_rule_withdraw_locked(octo, rule);
	}
}

/* The port starts: the PFs get the rules that were kept. All of them, or none. */
int
octo_rule_list_place_locked(struct octo_dev *octo)
{
	int ret;

	name_again(octo);
	ret = place_all(octo, &octo->rules);
	if (ret == 0)
		ret = place_all(octo, &octo->others);
	if (ret != 0)
		octo_rule_list_withdraw_locked(octo);
	return ret;
}

/* The port stops: rules are kept, but for learned ones, which are learned again. */
void
octo_rule_list_withdraw_locked(struct octo_dev *octo)
{
	struct rte_flow *rule, *next;

	memset(octo->rehoming, 0, sizeof(octo->rehoming));
	octo_rule_part_end_locked(octo);
	for (rule = TAILQ_FIRST(&octo->rules); rule != NULL; rule = next) {
		next = TAILQ_NEXT(rule, next);
		if (rule->origin == OCTO_BY_LEARNING)
			octo_rule_remove_locked(octo, rule, NULL);
		else
			octo_rule_withdraw_locked(octo, rule);
	}
	TAILQ_FOREACH(rule, &octo->others, next)
		octo_rule_withdraw_locked(octo, rule);
}

/* The highest queue that the rule leads to, -1 if it leads to none by name. */
static int
queue_of(const struct rte_flow *rule)
{
	const int queue = octo_rule_has_tuple(rule) ? rule->queue : -1;

	return rule->generic ? RTE_MAX(queue, octo_words_max_queue(rule->notes->words.rule)) :
			       queue;
}

/* What somebody did by hand must not be in the application's way, which knows nothing of it. */
static void
drop_commands(struct octo_dev *octo, uint16_t nb_queues)
{
	struct rte_flow *rule, *next;
	unsigned int dropped = 0;

	for (rule = TAILQ_FIRST(&octo->rules); rule != NULL; rule = next) {
		next = TAILQ_NEXT(rule, next);
		if (rule->origin != OCTO_BY_COMMAND || rule->queue < nb_queues)
			continue;
		octo_rule_remove_locked(octo, rule, NULL);
		dropped++;
	}
	if (dropped > 0)
		OCTO_LOG(NOTICE,
			 "port %u: %u flows are not steered any more: there are %u queues now",
			 octo->port_id, dropped, nb_queues);
}

static int
check_queues(const struct octo_dev *octo, const struct octo_rules *rules, uint16_t nb_queues)
{
	char text[OCTO_RULE_TEXT_MAX];
	const struct rte_flow *rule;

	TAILQ_FOREACH(rule, rules, next) {
		if (queue_of(rule) < nb_queues)
			continue;
		OCTO_LOG(ERR,
			 "port %u: a rule leads to queue %d, destroy it before there are %u: %s",
			 octo->port_id, queue_of(rule), nb_queues,
			 octo_rule_dump_format(rule, text));
		return -EBUSY;
	}
	return 0;
}

/* The port is to have so many Rx queues: can it, with the rules that were kept? */
int
octo_rule_list_fit_locked(struct octo_dev *octo, uint16_t nb_queues)
{
	int ret;

	drop_commands(octo, nb_queues);
	ret = check_queues(octo, &octo->rules, nb_queues);
	return ret != 0 ? ret : check_queues(octo, &octo->others, nb_queues);
}

static int
flush(struct octo_dev *octo, struct octo_rules *rules, struct rte_flow_error *error)
{
	struct rte_flow *rule;
	int first_error = 0;

	while ((rule = TAILQ_FIRST(rules)) != NULL) {
		int ret = octo_rule_remove_locked(octo, rule, first_error == 0 ? error : NULL);

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

int
octo_rule_list_flush_locked(struct octo_dev *octo, struct rte_flow_error *error)
{
	int steered;
	int others;

	octo_rule_part_end_locked(octo);
	steered = flush(octo, &octo->rules, error);
	others = flush(octo, &octo->others, steered == 0 ? error : NULL);
	return steered != 0 ? steered : others;
}

/* A rule that leads to this queue from now on. */
void
octo_rule_list_join_queue(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue)
{
	rule->queue = queue;
	TAILQ_INSERT_TAIL(&octo->queue_rules[queue], rule, next_of_queue);
}

void
octo_rule_list_leave_queue(struct octo_dev *octo, struct rte_flow *rule)
{
	struct octo_rehoming *r = &octo->rehoming[rule->queue];

	if (r->next == rule)
		r->next = TAILQ_NEXT(rule, next_of_queue);
	TAILQ_REMOVE(&octo->queue_rules[rule->queue], rule, next_of_queue);
}

static void
rehome_rule(struct octo_dev *octo, struct rte_flow *rule, struct octo_rehoming *r)
{
	if (rule->pf == OCTO_NO_PF)
		r->failed += octo->mpfs_ops->insert(octo, rule, r->home, NULL) != 0;
	else
		r->failed += octo->mpfs_ops->flip(octo, rule, r->home, NULL) != 0;
	octo_rule_notes_moved(octo, rule);
}

static bool
must_rehome(const struct rte_flow *rule, uint8_t home)
{
	return !octo_rule_leads_to(rule, home) && !rule->pending;
}

/*
 * The flows of a queue go to its new home, some of them now: 0 if it was all of
 * them, -EAGAIN if there are more, or -EBUSY if they must wait for another change of
 * their path. In rehoming[queue] is how many could not go.
 */
int
octo_rule_list_rehome_locked(struct octo_dev *octo, uint16_t queue, uint8_t home)
{
	struct octo_rehoming *r = &octo->rehoming[queue];
	uint64_t end = octo_ctrl_deadline(SLICE_US);
	unsigned int n = 0;
	int ret;

	if (!r->under_way || r->home != home)
		*r = (struct octo_rehoming){.under_way = true,
					    .home = home,
					    .next = TAILQ_FIRST(&octo->queue_rules[queue])};
	if (!octo_tier_has_mpfs(octo->tier))
		r->next = NULL;
	while (r->next != NULL && n < SLICE_RULES && octo_now() < end) {
		struct rte_flow *rule = r->next;

		if (must_rehome(rule, home)) {
			ret = octo_fence_arm_home_locked(octo, queue, home);
			if (ret != 0)
				return ret;
			/* that may have taken as long as a burst does */
			if (n++ == 0)
				end = octo_ctrl_deadline(SLICE_US);
			rehome_rule(octo, rule, r);
		}
		r->next = TAILQ_NEXT(rule, next_of_queue);
	}
	octo_fence_flipped_locked(octo, queue);
	r->under_way = r->next != NULL;
	return r->under_way ? -EAGAIN : 0;
}

/*
 * The PF's rule went with it, and the MPFS rule if it had it. One that leads to it still
 * does so when it is back, but to the port that it had before.
 */
void
octo_rule_forget_pf(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf)
{
	struct octo_rxq *q = octo_data(octo)->rx_queues[rule->queue];

	rule->arfs[pf] = NULL;
	octo_rule_hits_end_pf(rule, pf);
	rule->stale |= rule->mpfs != NULL && rule->pf == pf;
	if (rule->mpfs == NULL || rule->manager != pf)
		return;
	rule->mpfs = NULL;
	rule->pf = OCTO_NO_PF;
	rule->stale = false;
	octo_rule_notes_moved(octo, rule);
	/* today's manager may be another than the rule's: it is put again all the same */
	if (q != NULL)
		q->rules_home = OCTO_NO_PF;
}

void
octo_rule_list_forget_pf(struct octo_dev *octo, uint8_t pf)
{
	struct rte_flow *rule;

	octo_rule_part_forget_pf(octo, pf);
	TAILQ_FOREACH(rule, &octo->rules, next)
		octo_rule_forget_pf(octo, rule, pf);
	TAILQ_FOREACH(rule, &octo->others, next) {
		rule->arfs[pf] = NULL;
		octo_rule_hits_end_pf(rule, pf);
	}
}

static bool
is_on_a_pf(const struct octo_dev *octo, const struct rte_flow *rule)
{
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
		if (rule->arfs[pf] != NULL)
			return true;
	return false;
}

/* Rules for the switch that waited for a PF, or for the one that manages it. */
void
octo_rule_list_resume_locked(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};
	struct rte_flow *rule;
	unsigned int failed = 0;

	name_again(octo);
	TAILQ_FOREACH(rule, &octo->others, next)
		if (octo_rule_is_transfer(rule) && !rule->by_table && !is_on_a_pf(octo, rule))
			failed += octo_rule_place_locked(octo, rule, &error) != 0;
	if (failed > 0)
		OCTO_LOG(WARNING, "port %u: %u transfer rules are not on the switch: %s",
			 octo->port_id, failed, error.message != NULL ? error.message : "unknown");
}

/*
 * The number of a PF that is gone may be another port's soon. Rules that name it, which
 * are the switch's, name it by one that is nobody's until it is back.
 */
void
octo_rule_list_name_lost_locked(struct octo_dev *octo, uint8_t pf)
{
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->others, next)
		if (octo_rule_is_transfer(rule))
			octo_words_renumber(&rule->notes->words, octo->pf[pf].port_id,
					    OCTO_LOST_PORT(pf));
}
