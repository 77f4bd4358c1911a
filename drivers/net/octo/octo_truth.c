/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rule is believed when it works. The poller of a queue samples strays; the
 * control thread looks whether they have a rule, whose promise they then broke.
 * A tier whose rules are ignored is dropped: what is said of steering is true.
 */

#include <inttypes.h>

#include <rte_cycles.h>

#include "octo_private.h"

/*
 * How soon all rules are looked at once one of them is known not to work, how long
 * all must have failed; and how rarely at last, because it takes a query for each.
 */
#define LOOK_MS 1000
#define MAX_LOOK_MS 64000u

uint64_t
octo_truth_now(void)
{
	return rte_get_timer_cycles() / (rte_get_timer_hz() / 1000);
}

/* Also of a rule whose tier was dropped: it is told what became of it. */
static struct octo_promise
promise_of(const struct rte_flow *rule)
{
	return (struct octo_promise){
		.queue = rule->queue,
		.pf = rule->pf == OCTO_NO_PF ? OCTO_VERDICT_ANY_PF : rule->pf,
	};
}

/*
 * What was counted; not every PF can. Returns false if nothing is known. What an
 * agent counts is what its switch matched, not what came in: no evidence.
 */
static bool
read_hits(struct octo_dev *octo, struct rte_flow *rule, uint64_t *hits)
{
	const struct octo_promise p = promise_of(rule);
	struct octo_notes *notes;
	uint64_t by_pf;

	if (!octo_rule_hits_locked(octo, rule, OCTO_NO_PF, hits))
		return false;
	if (octo->agent_queues)
		return true;
	notes = octo_rule_notes_get(octo, rule);
	if (notes == NULL)
		return true;
	by_pf = *hits;
	if (p.pf != OCTO_VERDICT_ANY_PF && !octo_rule_hits_locked(octo, rule, p.pf, &by_pf))
		return false;
	octo_evidence_hits(&notes->evidence, by_pf, *hits, octo_truth_now());
	return true;
}

enum octo_verdict
octo_truth_verdict_locked(struct octo_dev *octo, struct rte_flow *rule, int64_t *hits)
{
	uint64_t counted;

	*hits = read_hits(octo, rule, &counted) ? (int64_t)counted : -1;
	return octo_rule_notes_verdict(rule);
}

uint32_t
octo_truth_count_ineffective_locked(const struct octo_dev *octo)
{
	const struct octo_notes *notes;
	uint32_t n = 0;

	TAILQ_FOREACH(notes, &octo->notes, next)
		n += octo_verdict_is_ineffective(octo_evidence_verdict(&notes->evidence));
	return n;
}

/* The first one is told; octo show steering knows the others. */
static void
complain(struct octo_dev *octo, const struct rte_flow *rule)
{
	const struct octo_evidence *e = &rule->notes->evidence;
	const char *by = octo->pf[e->pf].name;
	char text[OCTO_TUPLE_TEXT_MAX];

	octo_tuple_format(&rule->tuple, text);
	if (e->queue == rule->queue)
		OCTO_LOG(WARNING,
			 "port %u: the rule for %s is ineffective: it comes by PF %s, not %s",
			 octo->port_id, text, by, octo->pf[rule->pf].name);
	else
		OCTO_LOG(WARNING,
			 "port %u: the rule for %s is ineffective: "
			 "PF %s puts it into queue %u, not %u",
			 octo->port_id, text, by, e->queue, rule->queue);
	octo->truth.told = true;
}

/* Not before the PFs have been asked what they counted; an agent may take its time. */
static void
review(struct octo_dev *octo, struct rte_flow *rule)
{
	uint64_t hits;

	if (!octo->agent_queues)
		read_hits(octo, rule, &hits);
	if (!octo->truth.told && octo_verdict_is_ineffective(octo_rule_notes_verdict(rule)))
		complain(octo, rule);
}

static void
judge(struct octo_dev *octo, struct rte_flow *rule, const struct octo_sample *s)
{
	const struct octo_promise p = promise_of(rule);
	const uint64_t now = octo_truth_now();
	const bool was_wrong = octo_rule_notes_verdict(rule) > OCTO_VERDICT_WORKS;
	struct octo_notes *notes = octo_rule_notes_get(octo, rule);

	if (notes == NULL)
		return;
	notes->strays++;
	if (octo_mpfs_agent_may_lack(octo, rule))
		return;
	octo_evidence_stray(&notes->evidence, &p, s, now);
	if (was_wrong || octo_rule_notes_verdict(rule) <= OCTO_VERDICT_WORKS)
		return;
	review(octo, rule);
	if (!octo->truth.suspect)
		octo->truth.since = now;
	octo->truth.suspect = true;
	octo->truth.next_look = now;
	octo->truth.pause = LOOK_MS;
}

/* Samples that waited too long to tell which rules they came after judge nobody. */
static void
drain(struct octo_dev *octo, struct octo_rxq *q, bool fresh)
{
	struct octo_sample s;

	/* bounded: the poller may be as fast as this is */
	for (unsigned int i = 0; i < OCTO_SAMPLE_ROOM && octo_sample_pop(&q->samples, &s); i++) {
		struct rte_flow *rule = octo_table_find(octo->table, &s.tuple);

		if (rule == NULL)
			continue;
		octo->truth.steered_strays++;
		if (fresh)
			judge(octo, rule, &s);
	}
}

static void
tally(struct octo_dev *octo, struct octo_tally *pf, struct octo_tally *queue)
{
	static const struct octo_evidence nothing;
	struct rte_flow *rule;

	octo->truth.suspect = false;
	TAILQ_FOREACH(rule, &octo->rules, next) {
		const struct octo_promise p = promise_of(rule);
		const struct octo_evidence *e;

		if (octo_mpfs_agent_may_lack(octo, rule))
			continue;
		if (octo_rule_notes_verdict(rule) != OCTO_VERDICT_WORKS)
			review(octo, rule);
		e = rule->notes != NULL ? &rule->notes->evidence : &nothing;
		octo->truth.suspect |= octo_evidence_verdict(e) > OCTO_VERDICT_WORKS;
		octo_tally_queue(queue, e, rule->queue);
		if (p.pf != OCTO_VERDICT_ANY_PF)
			octo_tally_pf(pf, e, p.pf);
	}
}

static void
drop_tier(struct octo_dev *octo, enum octo_tier tier, const char *what, const struct octo_tally *t)
{
	OCTO_LOG(WARNING,
		 "port %u: the NIC accepts %s rules and ignores them (%u of %u flows seen): "
		 "steering tier is %s now, not %s",
		 octo->port_id, what, t->broken, t->broken + t->kept, octo_tier_name(tier),
		 octo_tier_name(octo->tier));
	octo->tier = tier;
	octo->ignored = what;
}

/* Does the tier hold what it promises? */
static void
look_at_tier(struct octo_dev *octo)
{
	struct octo_tally pf = {0}, queue = {0};
	const uint64_t now = octo_truth_now();
	bool waited;

	if (!octo->truth.suspect || now < octo->truth.next_look || octo->tier == OCTO_TIER_NONE)
		return;
	octo->truth.next_look = now + octo->truth.pause;
	octo->truth.pause = RTE_MIN(2 * octo->truth.pause, MAX_LOOK_MS);
	waited = now - octo->truth.since >= LOOK_MS;
	tally(octo, &pf, &queue);
	if (octo_tally_is_ignored(&queue, waited))
		drop_tier(octo, OCTO_TIER_NONE, "queue", &queue);
	else if (octo_tier_has_mpfs(octo->tier) && octo_tally_is_ignored(&pf, waited))
		drop_tier(octo, octo->agent_queues ? OCTO_TIER_NONE : OCTO_TIER_QUEUE, "MPFS", &pf);
}

/* By the control thread, now and then. */
void
octo_truth_follow_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint64_t now = octo_truth_now();
	const bool fresh = now - octo->truth.drained < OCTO_VERDICT_GRACE_MS;

	octo->truth.drained = now;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		if (data->rx_queues[i] != NULL)
			drain(octo, data->rx_queues[i], fresh);
	look_at_tier(octo);
}

/* The port starts: what was known is history. */
void
octo_truth_start_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	struct octo_sample s;

	octo->truth.told = false;
	octo->truth.suspect = false;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		while (octo_sample_pop(&q->samples, &s))
			;
	}
}
