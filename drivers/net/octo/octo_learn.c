/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Learning: the control thread installs MPFS rules for strays that the pollers have sampled, so
 * that these flows come by their queue's home PF. lib/octo/octo_learn.c decides which flows get
 * a rule; this file applies the decision to the port. All under the control mutex, so every
 * step is short.
 */

#include <errno.h>

#include <eal_export.h>

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

/* Time limit per tick for reading the hits of learned rules. */
#define WORK_US 250
/* So many packets of one direction and none of the other: the other does not come by this port. */
#define ONE_WAY_HITS 32

static void
say_no_room(struct octo_dev *octo)
{
	struct octo_learn_stats stats;

	if (octo->learning.logged_full)
		return;
	octo->learning.logged_full = true;
	octo_learn_stats(octo->learning.policy, &stats);
	OCTO_LOG(NOTICE,
		 "port %u: the switch is full with %u learned rules: "
		 "from now on the flows with most packets have them",
		 octo->port_id, stats.rules);
}

static void
say_refused(struct octo_dev *octo, const struct rte_flow_error *error)
{
	if (octo->learning.logged_refused)
		return;
	octo->learning.logged_refused = true;
	OCTO_LOG(WARNING, "port %u: a learned rule was refused, and will be tried again: %s",
		 octo->port_id, error->message != NULL ? error->message : rte_strerror(rte_errno));
}

/*
 * The rule of the other direction of its connection, learned with it and until one of them is
 * removed; NULL if there is none.
 */
static struct rte_flow *
twin_of(const struct octo_dev *octo, const struct rte_flow *rule)
{
	const struct octo_tuple back = octo_tuple_reverse(&rule->tuple);
	struct rte_flow *twin;

	if (rule->learned == NULL)
		return NULL;
	twin = octo_table_find(octo->table, &back);
	return twin != rule && twin != NULL && twin->learned == rule->learned ? twin : NULL;
}

/*
 * The rules of the flow and of its mate, or none: while one direction came by another PF its
 * packets would have no order among those of the other. Returns that of the flow.
 */
static struct rte_flow *
learn_both(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
	   struct octo_learned *learned, struct rte_flow_error *error)
{
	struct rte_flow *flow = octo_rule_learn_locked(octo, tuple, queue, error);
	struct rte_flow *mate;
	int ret;

	if (flow == NULL)
		return NULL;
	if (octo->learning.mate.family != 0) {
		mate = octo_rule_learn_locked(octo, &octo->learning.mate, queue, error);
		if (mate == NULL) {
			ret = rte_errno;
			octo_rule_remove_locked(octo, flow, NULL);
			rte_errno = ret;
			return NULL;
		}
		mate->learned = learned;
	}
	flow->learned = learned;
	return flow;
}

static int
install(void *ctx, const struct octo_tuple *tuple, uint16_t queue, struct octo_learned *learned,
	void **rule)
{
	struct rte_flow_error error = {.message = NULL};
	struct octo_dev *octo = ctx;
	struct rte_flow *flow;

	/* octo_learn_stray_locked() has checked that the fence can be armed */
	octo_fence_arm_home_locked(octo, queue, octo_topo_home_of(octo, queue));
	flow = learn_both(octo, tuple, queue, learned, &error);
	if (flow != NULL) {
		*rule = flow;
		return 0;
	}
	if (octo_rule_says_full(-rte_errno)) {
		say_no_room(octo);
		return -ENOSPC;
	}
	say_refused(octo, &error);
	return -rte_errno;
}

static void
take_out(void *ctx, void *rule, struct octo_tuple *tuple)
{
	struct rte_flow *flow = rule;
	struct rte_flow *twin = twin_of(ctx, flow);

	*tuple = flow->tuple;
	flow->learned = NULL;
	octo_rule_remove_locked(ctx, flow, NULL);
	if (twin == NULL)
		return;
	twin->learned = NULL;
	octo_rule_remove_locked(ctx, twin, NULL);
}

/* Remove the rule of a direction that does not come. An agent's counts may be old ones. */
static void
part_pair(struct octo_dev *octo, struct rte_flow *rule, uint64_t hits, struct rte_flow *twin,
	  uint64_t twin_hits)
{
	if (octo->agent != NULL || hits + twin_hits < ONE_WAY_HITS)
		return;
	if (hits == 0 || twin_hits == 0)
		octo_rule_remove_locked(octo, hits == 0 ? rule : twin, NULL);
}

/*
 * The same for the learned rule that is left when the application has steered the other direction.
 * Until it is known that no packet comes the rule stays, so that both directions keep to one PF.
 */
static void
give_up(struct octo_dev *octo, struct rte_flow *rule, uint64_t hits)
{
	const struct octo_tuple back = octo_tuple_reverse(&rule->tuple);
	struct rte_flow *other = octo_table_find(octo->table, &back);
	uint64_t others;

	/* the hits of one that moved are those since then */
	if (octo->agent == NULL && hits == 0 && !rule->moved && other != NULL &&
	    octo_rule_hits_locked(octo, other, OCTO_NO_PF, &others) && others >= ONE_WAY_HITS)
		octo_learn_give_up(rule->learned);
}

static bool
read_hits(void *ctx, void *rule, uint64_t *hits)
{
	struct rte_flow *twin = twin_of(ctx, rule);
	uint64_t own, others;

	if (!octo_rule_hits_locked(ctx, rule, OCTO_NO_PF, &own))
		return false;
	*hits = own;
	if (twin == NULL)
		give_up(ctx, rule, own);
	if (twin == NULL || !octo_rule_hits_locked(ctx, twin, OCTO_NO_PF, &others))
		return true;
	*hits += others;
	part_pair(ctx, rule, own, twin, others);
	return true;
}

static const struct octo_learn_ops ops = {
	.install = install,
	.remove = take_out,
	.hits = read_hits,
};

/* By port id: the pointer in shared memory may outlive the process in whose heap the policy is. */
static struct octo_learn *policies[RTE_MAX_ETHPORTS];

/*
 * Is learning on, and of use? In tier partition flows stray for a moment only. An MPFS rule that
 * chooses the queue would take the choice from RSS. The only rule of a flow of slices must not take
 * it from rules of the application.
 */
static bool
has_use(const struct octo_dev *octo)
{
	return octo->learning.settings.on && octo->tier == OCTO_TIER_EXACT &&
	       !octo_mpfs_choose_queues(octo) && !octo_rule_store_forbids_learning(octo);
}

static bool
agent_is_away(const struct octo_dev *octo)
{
	return octo->agent != NULL &&
	       (octo->agent->state != OCTO_AGENT_READY || octo->agent_resyncing);
}

/* Without learning strays do not end, and fewer samples are enough to judge rules. */
static void
set_sampling(struct octo_dev *octo)
{
	const uint32_t sample = octo->learning.settings.sample;
	const uint32_t every = has_use(octo) ? sample :
					       RTE_MAX(sample, (uint32_t)OCTO_SAMPLE_EVERY);

	rte_atomic_store_explicit(&octo->sample_every, every, rte_memory_order_relaxed);
}

int
octo_learn_init(struct octo_dev *octo, const struct rte_pmd_octo_learning_settings *settings)
{
	const struct octo_learn_conf conf = {settings->max_rules, settings->idle_ms};

	octo->learning.settings = *settings;
	set_sampling(octo);
	octo->learning.policy = octo_learn_create(&conf, &ops, octo);
	policies[octo->port_id] = octo->learning.policy;
	if (octo->learning.policy != NULL)
		return 0;
	OCTO_LOG(ERR, "%s: no memory for what strays teach", octo_data(octo)->name);
	return -ENOMEM;
}

void
octo_learn_fini(struct octo_dev *octo)
{
	octo_learn_free(policies[octo->port_id]);
	octo->learning.policy = NULL;
	policies[octo->port_id] = NULL;
}

/* Called when the tier or the settings have changed. */
void
octo_learn_adapt_locked(struct octo_dev *octo)
{
	struct octo_learning *l = &octo->learning;
	const struct octo_learn_conf conf = {l->settings.max_rules, l->settings.idle_ms};

	l->counted = has_use(octo) && octo->mpfs_ops->counts(octo);
	l->logged_full = false;
	l->logged_refused = false;
	l->stale = false;
	set_sampling(octo);
	octo_learn_configure(l->policy, &conf);
}

/* Lower layers mark learning as stale when the tier changes: adapt to it. */
void
octo_learn_follow_tier_locked(struct octo_dev *octo)
{
	if (octo->learning.stale)
		octo_learn_adapt_locked(octo);
}

/* Rules of slices choose the queue, too, which must be that of RSS: it may have changed since. */
static bool
is_outdated(const struct octo_dev *octo, const struct octo_sample *s)
{
	const int queue = octo->sliced ? octo_rss_queue_locked(octo, &s->tuple) : -1;

	return queue >= 0 && queue != s->queue;
}

/*
 * A learned rule would end a lingering one at once: the flow would go to the queue of RSS out of
 * order, if that is another. When the rule has ended, samples may be of that queue yet: the flow
 * would change its PF, and the fence would be that of the queue it has left.
 */
static bool
is_of_lingering(struct octo_dev *octo, const struct octo_sample *s)
{
	int queue = octo_rule_linger_queue_locked(octo, &s->tuple);

	if (queue < 0 && octo_rule_linger_is_stale_locked(octo, s))
		queue = s->queue;
	return queue >= 0 && queue != octo_rss_queue_locked(octo, &s->tuple);
}

/*
 * An application with a symmetric RSS key wants to see both directions of a connection by one
 * queue: they are learned together, unless a rule of the application may lead one elsewhere. Both
 * may be candidates for the same rules: returns the one by which the policy knows them.
 */
static struct octo_tuple
find_mate(struct octo_dev *octo, const struct octo_sample *s)
{
	struct octo_sample back = *s;
	struct octo_tuple *mate = &octo->learning.mate;

	back.tuple = octo_tuple_reverse(&s->tuple);
	mate->family = 0;
	if (!octo_rss_joins_locked(octo, &s->tuple, &back.tuple) ||
	    octo_rss_queue_locked(octo, &back.tuple) != s->queue ||
	    octo_rule_store_may_place_locked(octo) || octo_tuple_equal(&s->tuple, &back.tuple) ||
	    is_of_lingering(octo, &back) || octo_table_find(octo->table, &back.tuple) != NULL)
		return s->tuple;
	if (memcmp(&s->tuple, &back.tuple, sizeof(*mate)) < 0) {
		*mate = back.tuple;
		return s->tuple;
	}
	*mate = s->tuple;
	return back.tuple;
}

/* Called for a sample of a flow that has no rule. */
void
octo_learn_stray_locked(struct octo_dev *octo, const struct octo_sample *s)
{
	const uint8_t home = octo_topo_home_of(octo, s->queue);
	struct octo_tuple tuple;

	if (!has_use(octo) || agent_is_away(octo) || is_outdated(octo, s) ||
	    is_of_lingering(octo, s))
		return;
	/* it came before the RETA was changed, which leads the flow home */
	if (octo->sliced && octo_rss_pf_locked(octo, &s->tuple) == home)
		return;
	/*
	 * the queue has another home by now, or an open fence prevents the rule: the flow
	 * strays until its next sample
	 */
	if (s->pf == home || !octo_fence_can_arm_home_locked(octo, s->queue, home))
		return;
	octo->learning.samples++;
	tuple = find_mate(octo, s);
	octo_learn_stray(octo->learning.policy, &tuple, s->queue, s->packets, octo_now_ms());
}

/* May remove the rule. */
static void
follow_queue(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue)
{
	const uint8_t home = octo_topo_home_of(octo, queue);
	int ret;

	/* the rule itself chose the queue: without it the flow is learned again */
	if (octo->sliced) {
		octo_rule_remove_locked(octo, rule, NULL);
		return;
	}
	octo_rule_store_leave_queue(octo, rule);
	octo_rule_store_join_queue(octo, rule, queue);
	if (octo_rule_leads_to(octo, rule, home) || !has_use(octo))
		return;
	if (octo_fence_arm_home_locked(octo, queue, home) != 0) {
		/* the rule follows its queue when order can be kept */
		octo_rule_store_mark_queue_locked(octo, queue);
		return;
	}
	ret = octo_fanout_lead_to_locked(octo, rule, home);
	if (ret == 0)
		octo_rule_ext_moved(octo, rule);
	else if (ret == -EAGAIN && octo->agent != NULL)
		octo_rule_store_mark_queue_locked(octo, queue);
	else
		/* without its rule the flow is learned again */
		octo_rule_remove_locked(octo, rule, NULL);
}

/*
 * RSS, or a rule of the application, has put the flow into another queue: its rule follows, with
 * that of the other direction if that was in the same queue and RSS leads it along. May remove the
 * rule.
 */
void
octo_learn_follow_queue_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue)
{
	struct rte_flow *twin = twin_of(octo, rule);
	const uint16_t before = rule->queue;

	follow_queue(octo, rule, queue);
	if (twin != NULL && twin->queue == before &&
	    octo_rss_queue_locked(octo, &twin->tuple) == queue)
		follow_queue(octo, twin, queue);
}

/* A table is full: evict a learned rule for an explicit one. Returns false if there is none. */
bool
octo_learn_make_room_locked(struct octo_dev *octo)
{
	const bool any = octo_learn_make_room(octo->learning.policy, octo_now_ms());

	octo_learn_publish_counts_locked(octo);
	return any;
}

/* A learned rule is removed by code other than learning. */
void
octo_learn_forget_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	struct rte_flow *twin = twin_of(octo, rule);

	if (rule->learned == NULL)
		return;
	if (twin != NULL)
		octo_learn_replace(rule->learned, twin);
	else
		octo_learn_forget(octo->learning.policy, rule->learned);
	rule->learned = NULL;
	octo_learn_stats(octo->learning.policy, &octo->rule_counts.learned);
}

/* The table of an agent turned out to be full after the rule was learned. */
void
octo_learn_unlearn_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	struct octo_learned *learned = rule->learned;
	struct rte_flow *twin = twin_of(octo, rule);

	if (learned != NULL) {
		say_no_room(octo);
		rule->learned = NULL;
		octo_learn_refused(octo->learning.policy, learned, octo_now_ms());
	}
	octo_rule_remove_locked(octo, rule, NULL);
	if (twin != NULL) {
		twin->learned = NULL;
		octo_rule_remove_locked(octo, twin, NULL);
	}
}

/* Learning is off: learned rules are removed in slices. */
static void
put_out(struct octo_dev *octo, uint64_t end)
{
	struct rte_flow *rule;

	do {
		rule = octo_learn_least(octo->learning.policy);
		if (rule != NULL)
			octo_rule_remove_locked(octo, rule, NULL);
	} while (rule != NULL && octo_now() < end);
}

/* Called by the control thread, often. */
void
octo_learn_tick_locked(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(WORK_US);

	octo_assert_locked(octo);
	if (!has_use(octo)) {
		put_out(octo, end);
		return;
	}
	if (agent_is_away(octo))
		return;
	while (octo_now() < end && octo_learn_work(octo->learning.policy, octo_now_ms()))
		;
}

/* Counts since the last reset, as published last; from any thread and process. */
void
octo_learn_counts(const struct octo_dev *octo, struct octo_learn_stats *stats)
{
	const struct octo_learn_stats *base = &octo->learning.base;

	*stats = octo->rule_counts.learned;
	stats->installed -= base->installed;
	stats->evicted -= base->evicted;
	stats->aged -= base->aged;
	stats->refused -= base->refused;
	stats->failed -= base->failed;
}

void
octo_learn_reset_counts(struct octo_dev *octo)
{
	octo->learning.samples_base = octo->learning.samples;
	octo->learning.base = octo->rule_counts.learned;
}

/* For readers without the control mutex, in any process. */
void
octo_learn_publish_counts_locked(struct octo_dev *octo)
{
	octo_learn_stats(octo->learning.policy, &octo->rule_counts.learned);
	octo_rule_store_publish_locked(octo);
}

const char *
octo_learning_check(const struct rte_pmd_octo_learning_settings *s)
{
	if (s->sample < 1 || s->sample > OCTO_SAMPLE_EVERY_MAX)
		return "one stray of 1 to 65536 can be looked at";
	if (s->max_rules < 1 || s->max_rules > OCTO_LEARNING_MAX_RULES)
		return "1 to 16777216 learned rules are possible";
	if (s->idle_ms > OCTO_LEARNING_MAX_IDLE_MS)
		return "a learned rule may be idle for up to 86400000 ms, or for ever with 0";
	return NULL;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_learning_set, 26.11)
int
rte_pmd_octo_learning_set(uint16_t port_id, const struct rte_pmd_octo_learning_settings *settings,
			  const char **why)
{
	struct octo_dev *octo;

	*why = octo_learning_check(settings);
	if (*why != NULL)
		return -EINVAL;
	octo = octo_registry_get(port_id);
	if (octo == NULL) {
		*why = octo_registry_refusal(port_id);
		return -ENODEV;
	}
	octo_lock(octo);
	octo->learning.settings = *settings;
	if (octo->started)
		octo_learn_adapt_locked(octo);
	octo_unlock(octo);
	octo_registry_put();
	return 0;
}

static const char *
state_of(const struct octo_dev *octo)
{
	if (!octo->learning.settings.on)
		return "off";
	if (!octo->started)
		return "the port is stopped";
	if (!octo_tier_has_mpfs(octo->tier))
		return "asleep: in this tier no rule chooses the PF";
	if (octo_mpfs_choose_queues(octo))
		return "asleep: rules of this dialect choose the queue";
	if (octo->tier == OCTO_TIER_PARTITION)
		return "asleep: in this tier nothing strays";
	if (octo_rule_store_forbids_learning(octo))
		return "asleep: a rule of the application has no priority over learned ones";
	if (agent_is_away(octo))
		return "asleep: the agent is away";
	return "on";
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_learning_get, 26.11)
int
rte_pmd_octo_learning_get(uint16_t port_id, struct rte_pmd_octo_learning *view)
{
	struct octo_dev *octo = octo_registry_get(port_id);
	struct octo_learn_stats stats;

	if (octo == NULL)
		return -ENODEV;
	octo_lock(octo);
	octo_learn_follow_tier_locked(octo);
	octo_learn_publish_counts_locked(octo);
	octo_lock_counts(octo);
	octo_learn_counts(octo, &stats);
	*view = (struct rte_pmd_octo_learning){
		.settings = octo->learning.settings,
		.state = state_of(octo),
		.samples = octo->learning.samples - octo->learning.samples_base,
		.installed = stats.installed,
		.evicted = stats.evicted,
		.aged = stats.aged,
		.refused = stats.refused,
		.failed = stats.failed,
		.rules = stats.rules,
		.candidates = stats.candidates,
		.counted = octo->learning.counted,
	};
	octo_unlock_counts(octo);
	octo_unlock(octo);
	octo_registry_put();
	return 0;
}
