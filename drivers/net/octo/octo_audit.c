/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Audit: do rules have the expected effect? Pollers sample strays; the control thread looks
 * for rules that should have prevented them. If the NIC ignores the rules, they are written in the
 * next dialect; after the last one the tier is dropped, so that reports about steering are true.
 */

#include <inttypes.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_elapsed.h"
#include "octo_private.h"

/*
 * Interval between audits of all rules while some are ineffective. It doubles up to MAX_LOOK_MS, as
 * an audit queries each rule. After LOOK_MS a few failed rules suffice, if none is unproven:
 * octo_tally_is_ignored().
 */
#define LOOK_MS 1000
/* The same while there is another dialect, which costs little to try. */
#define DIALECT_MS 250
#define MAX_LOOK_MS 64000u
/* If all packets of a learned flow strayed, this many samples would have been taken. */
#define MANY_SAMPLES 64
/*
 * Time limits per tick for reading samples and for auditing rules: other threads wait for
 * the mutex.
 */
#define DRAIN_US 1000
#define LOOK_US 250

/*
 * The expected PF and queue of a rule; also used after its tier was dropped. No PF is expected
 * while the rule waits to be written in another dialect.
 */
static struct octo_expected
expected_of(const struct octo_dev *octo, const struct rte_flow *rule)
{
	const uint8_t pf = octo_rule_pf(octo, rule);

	return (struct octo_expected){
		.queue = rule->queue,
		.pf = pf == OCTO_NO_PF || !octo_rule_is_current(octo, rule) ? OCTO_AUDIT_ANY_PF :
									      pf,
	};
}

/* Hits of a learned rule from which strays would have shown up in the samples. */
static uint64_t
many_hits(const struct octo_dev *octo)
{
	return (uint64_t)MANY_SAMPLES * octo->learning.settings.sample;
}

/* Record the PFs' counts of the rule. Returns false if a PF cannot count. */
static bool
heed_pfs(struct octo_dev *octo, struct rte_flow *rule, uint64_t hits)
{
	struct octo_rule_ext *ext = octo_rule_ext_get(octo, rule);
	const struct octo_expected p = expected_of(octo, rule);
	uint64_t by_pf = hits;

	if (ext == NULL)
		return true;
	/* the only rule on slices chooses the PF, too */
	if (!octo->sliced && p.pf != OCTO_AUDIT_ANY_PF &&
	    !octo_rule_hits_locked(octo, rule, p.pf, &by_pf))
		return false;
	octo_observed_hits(&ext->observed, by_pf, hits, octo_now_ms());
	octo_rule_ext_count_locked(octo, ext);
	return true;
}

/*
 * The count of an agent, or of the switch for a learned rule, is of matched packets, not of
 * received ones: it only lets old strays expire.
 */
static void
heed_time(struct octo_dev *octo, const struct rte_flow *rule, bool counted, uint64_t hits)
{
	struct octo_rule_ext *ext = rule->ext;

	if (ext == NULL)
		return;
	if (counted)
		octo_observed_matched(&ext->observed, hits, many_hits(octo), octo_now_ms());
	else
		octo_observed_uncounted(&ext->observed, octo_now_ms());
	octo_rule_ext_count_locked(octo, ext);
}

/* Read and record the hits of a rule. Returns false if they are unknown. */
static bool
read_hits(struct octo_dev *octo, struct rte_flow *rule, uint64_t *hits)
{
	const bool counted = octo_rule_hits_locked(octo, rule, OCTO_NO_PF, hits);

	if (counted && !octo->agent_queues && rule->origin != OCTO_BY_LEARNING)
		return heed_pfs(octo, rule, *hits);
	heed_time(octo, rule, counted, *hits);
	return counted;
}

/* The hits are those that rte_flow_query() returns, where the application counts them. */
enum octo_rule_status
octo_audit_status_locked(struct octo_dev *octo, struct rte_flow *rule, int64_t *hits)
{
	struct rte_flow_query_count count = {0};
	uint64_t counted;

	*hits = read_hits(octo, rule, &counted) ? (int64_t)counted : -1;
	if (rule->count &&
	    octo_rule_hits_query_locked(octo, rule, octo_rule_hits_count, &count, NULL) == 0 &&
	    count.hits_set)
		*hits = (int64_t)count.hits;
	return octo_rule_ext_status(rule);
}

/* Log the first ineffective rule; octo show steering lists all. */
static void
complain(struct octo_dev *octo, const struct rte_flow *rule)
{
	const struct octo_observed *e = &rule->ext->observed;
	char by[OCTO_PF_NAME_MAX], expected[OCTO_PF_NAME_MAX];
	char text[OCTO_TUPLE_TEXT_MAX];

	octo_tuple_format(&rule->tuple, text);
	octo_pf_format(octo, e->pf, by, sizeof(by));
	octo_pf_format(octo, octo_rule_pf(octo, rule), expected, sizeof(expected));
	if (e->queue == rule->queue)
		OCTO_LOG(WARNING,
			 "port %u: the rule for %s is ineffective: it comes by PF %s, not %s",
			 octo->port_id, text, by, expected);
	else
		OCTO_LOG(WARNING,
			 "port %u: the rule for %s is ineffective: "
			 "PF %s puts it into queue %u, not %u",
			 octo->port_id, text, by, e->queue, rule->queue);
	octo->audit.logged = true;
}

/*
 * Evaluate a rule that strayed. The PFs' counts are read first, but an agent's are not: the
 * answer may take time.
 */
static void
review(struct octo_dev *octo, struct rte_flow *rule)
{
	uint64_t hits;

	if (!octo->agent_queues)
		read_hits(octo, rule, &hits);
	if (!octo->audit.logged && octo_rule_status_is_ineffective(octo_rule_ext_status(rule)))
		complain(octo, rule);
}

/*
 * The NIC sends the packets of a dead PF to another one at once, before the bus reports the
 * loss. Such strays do not count against the rule.
 */
static bool
is_excused(const struct octo_dev *octo, const struct octo_expected *p)
{
	return p->pf != OCTO_AUDIT_ANY_PF && !octo_port_works_locked(octo->pf[p->pf].port);
}

static uint32_t
look_ms(const struct octo_dev *octo)
{
	return octo_mpfs_switch_has_next(octo) ? DIALECT_MS : LOOK_MS;
}

static void
judge(struct octo_dev *octo, struct rte_flow *rule, const struct octo_sample *s)
{
	const uint64_t under_way = octo_rule_ext_time_installed(rule) + OCTO_AUDIT_GRACE_MS;
	const struct octo_expected p = expected_of(octo, rule);
	const bool was_wrong = octo_rule_ext_status(rule) > OCTO_STATUS_WORKS;
	struct octo_rule_ext *ext;

	/* most learned rules have a stray or two that were under way when the rule was installed */
	if (rule->origin == OCTO_BY_LEARNING && rule->ext == NULL && s->when < under_way)
		return;
	ext = octo_rule_ext_get(octo, rule);
	if (ext == NULL)
		return;
	ext->strays++;
	if (octo_mpfs_agent_may_lack(octo, rule))
		return;
	octo_observed_stray(&ext->observed, &p, s);
	if (!was_wrong && octo_rule_ext_status(rule) > OCTO_STATUS_WORKS && is_excused(octo, &p))
		octo_observed_start(&ext->observed, octo_now_ms(), true);
	octo_rule_ext_count_locked(octo, ext);
	if (was_wrong || octo_rule_ext_status(rule) <= OCTO_STATUS_WORKS)
		return;
	review(octo, rule);
	if (!octo->audit.suspect)
		octo->audit.since = octo_now_ms();
	octo->audit.suspect = true;
	/* an audit under way may already have passed this rule */
	octo->audit.look.suspect = true;
	octo->audit.next_look = 0;
	octo->audit.pause = look_ms(octo);
}

static void
heed(struct octo_dev *octo, const struct octo_sample *s)
{
	struct rte_flow *rule = octo_table_find(octo->table, &s->tuple);

	if (rule == NULL) {
		octo_learn_stray_locked(octo, s);
		return;
	}
	octo->audit.steered_strays++;
	if (rule->origin != OCTO_BY_LEARNING || rule->queue == s->queue)
		judge(octo, rule, s);
	else if (s->when >= octo_rule_ext_time_installed(rule))
		octo_learn_follow_queue_locked(octo, rule, s->queue);
}

static bool
drain(struct octo_dev *octo, struct octo_rxq *q, uint64_t end)
{
	struct octo_sample s;
	unsigned int n = 0;

	/* bounded: the poller may produce samples as fast as they are read */
	while (n < OCTO_SAMPLE_ROOM && octo_now() < end && octo_sample_pop(&q->samples, &s)) {
		s.when = octo_ms_of(s.cycles);
		heed(octo, &s);
		n++;
	}
	return n > 0;
}

/*
 * Read the samples of all queues, starting with another queue each time, as time may run
 * out.
 */
static bool
drain_all(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint64_t end = octo_deadline(DRAIN_US);
	bool any = false;

	octo->audit.first_queue++;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq
			*q = data->rx_queues[(octo->audit.first_queue + i) % data->nb_rx_queues];

		if (q != NULL)
			any |= drain(octo, q, end);
	}
	return any;
}

/* The switch has counted many packets of a learned flow, and no sample of it strayed. */
static bool
came_home(struct octo_dev *octo, struct rte_flow *rule)
{
	uint64_t hits;

	return rule->origin == OCTO_BY_LEARNING && rule->ext == NULL && octo->agent == NULL &&
	       octo_rule_hits_locked(octo, rule, OCTO_NO_PF, &hits) && hits > many_hits(octo);
}

/*
 * Add a rule to the audit's tally. A learned rule does not count for queues: RSS chooses
 * its queue.
 */
static void
tally(struct octo_dev *octo, struct rte_flow *rule)
{
	static const struct octo_observed home = {.kept_pf = true};
	static const struct octo_observed nothing;
	const struct octo_expected p = expected_of(octo, rule);
	const bool learned = rule->origin == OCTO_BY_LEARNING;
	const struct octo_observed *e;

	if (octo_mpfs_agent_may_lack(octo, rule))
		return;
	if (octo_rule_ext_status(rule) != OCTO_STATUS_WORKS && (!learned || rule->ext != NULL))
		review(octo, rule);
	e = rule->ext != NULL ? &rule->ext->observed : came_home(octo, rule) ? &home : &nothing;
	octo->audit.look.suspect |= octo_observed_status(e) > OCTO_STATUS_WORKS;
	if (!learned)
		octo_tally_queue(&octo->audit.look.queue, e, rule->queue);
	if (p.pf != OCTO_AUDIT_ANY_PF)
		octo_tally_pf(&octo->audit.look.pf, e, p.pf);
}

static void
drop_tier(struct octo_dev *octo, enum octo_tier tier, enum octo_ignored what,
	  const struct octo_tally *t)
{
	OCTO_LOG(WARNING,
		 "port %u: the NIC accepts %s rules and ignores them (%u of %u flows seen): "
		 "steering tier is %s now, not %s",
		 octo->port_id, octo_tier_ignored_name(what), t->broken, t->broken + t->kept,
		 octo_tier_name(tier), octo_tier_name(octo->tier));
	octo->tier = tier;
	octo->ignored = what;
	octo_learn_adapt_locked(octo);
}

/* MPFS rules are written in the next dialect: octo_sync.c does so, and they are judged anew. */
static void
leave_dialect(struct octo_dev *octo, const struct octo_tally *t, bool failed)
{
	const char *before = octo_mpfs_switch_dialect(octo)->name;

	octo_mpfs_switch_take_next_locked(octo, failed);
	octo_sync_mark_flows_locked(octo);
	OCTO_LOG(WARNING,
		 "port %u: the NIC accepts MPFS rules of dialect %s and ignores them "
		 "(%u of %u flows seen): dialect %s is used now",
		 octo->port_id, before, t->broken, t->broken + t->kept,
		 octo_mpfs_switch_dialect(octo)->name);
	octo->audit.suspect = false;
	/* the masked rules had no effect, either */
	if (octo->tier == OCTO_TIER_PARTITION)
		octo->tier = OCTO_TIER_EXACT;
	octo_learn_adapt_locked(octo);
}

static void
begin_look(struct octo_dev *octo, uint64_t now)
{
	struct octo_audit *t = &octo->audit;

	t->look.under_way = true;
	t->look.lasted = octo_elapsed(t->since, now);
	t->next_look = now + t->pause;
	if (RTE_MAX(t->look.lasted, t->pause) >= LOOK_MS)
		t->pause = RTE_MIN(2 * t->pause, MAX_LOOK_MS);
	t->look.suspect = false;
	octo->sync.cursor[OCTO_CURSOR_AUDIT] = TAILQ_FIRST(&octo->rules);
	t->look.pf = (struct octo_tally){0};
	t->look.queue = (struct octo_tally){0};
}

/*
 * MPFS rules may be ignored, but the flows of some are silent. That is not enough to drop the tier.
 * It is enough to try another dialect: one that is new, or one that was left for fewer rules.
 */
static bool
is_worth_a_try(const struct octo_dev *octo)
{
	const struct octo_audit *t = &octo->audit;

	if (t->look.lasted < DIALECT_MS || !octo_tally_is_doubtful(&t->look.pf))
		return false;
	return octo_mpfs_switch_has_untried(octo) ||
	       (octo_mpfs_switch_has_next(octo) && t->look.pf.broken > t->doubts);
}

/* Judge MPFS rules: leave their dialect, or drop the tier. */
static void
judge_mpfs(struct octo_dev *octo)
{
	struct octo_audit *t = &octo->audit;

	if (!octo_tally_is_ignored(&t->look.pf, t->look.lasted >= look_ms(octo))) {
		if (is_worth_a_try(octo)) {
			t->doubts = t->look.pf.broken;
			leave_dialect(octo, &t->look.pf, false);
		}
		return;
	}
	if (octo_mpfs_switch_has_next(octo))
		leave_dialect(octo, &t->look.pf, true);
	else
		drop_tier(octo,
			  octo->agent_queues || octo->sliced ? OCTO_TIER_NONE : OCTO_TIER_QUEUE,
			  OCTO_IGNORED_MPFS, &t->look.pf);
}

/* Rules that choose queues have no effect. Tier mac needs none: it stays, and takes no more. */
static void
drop_queue_rules(struct octo_dev *octo)
{
	const enum octo_tier tier = octo->tier == OCTO_TIER_MAC ? OCTO_TIER_MAC : OCTO_TIER_NONE;

	octo->tier_below = OCTO_TIER_NONE;
	if (octo->ignored != OCTO_IGNORED_QUEUE)
		drop_tier(octo, tier, OCTO_IGNORED_QUEUE, &octo->audit.look.queue);
}

/* End an audit: leave the dialect if its rules are ignored, or drop the tier. */
static void
end_look(struct octo_dev *octo)
{
	struct octo_audit *t = &octo->audit;

	t->look.under_way = false;
	t->suspect = t->look.suspect;
	if (octo_tally_is_ignored(&t->look.queue, t->look.lasted >= LOOK_MS))
		drop_queue_rules(octo);
	else if (octo_tier_has_mpfs(octo->tier))
		judge_mpfs(octo);
}

/* Audit all rules, possibly a million, a few in each tick. */
static void
look_at_rules(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(LOOK_US);
	struct rte_flow **next = &octo->sync.cursor[OCTO_CURSOR_AUDIT];
	struct octo_audit *t = &octo->audit;
	const uint64_t now = octo_now_ms();

	if (octo->tier == OCTO_TIER_NONE)
		return;
	if (!t->look.under_way) {
		if (!t->suspect || now < t->next_look)
			return;
		begin_look(octo, now);
	}
	while (*next != NULL) {
		struct rte_flow *rule = *next;

		*next = TAILQ_NEXT(rule, next);
		tally(octo, rule);
		if (octo_now() >= end && *next != NULL)
			return;
	}
	end_look(octo);
}

/* Called by the control thread. Returns whether there were samples. */
bool
octo_audit_follow_locked(struct octo_dev *octo)
{
	bool any;

	octo_learn_follow_tier_locked(octo);
	any = drain_all(octo);
	look_at_rules(octo);
	return any;
}

/* At port start: forget the results so far. */
void
octo_audit_start_locked(struct octo_dev *octo)
{
	struct octo_sample s;
	struct octo_rxq *q;

	octo_learn_follow_tier_locked(octo);
	octo_learn_forget_all(octo->learning.policy);
	octo->audit.logged = false;
	octo->audit.suspect = false;
	octo->audit.doubts = 0;
	octo->audit.look.under_way = false;
	OCTO_FOREACH_RXQ(octo, q)
		while (octo_sample_pop(&q->samples, &s))
			;
}
