/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>

#include "octo_elapsed.h"
#include "octo_audit.h"

/* Least difference of turns between two packets of a ring that were not in it at the same time. */
#define TURNS 2

RTE_EXPORT_INTERNAL_SYMBOL(octo_observed_start)
void
octo_observed_start(struct octo_observed *e, uint64_t now, bool moved)
{
	*e = (struct octo_observed){.installed = now, .hits_unknown = moved};
}

static bool
is_same_ring(const struct octo_observed *e, const struct octo_sample *s)
{
	return e->has_bad && e->queue == s->queue && e->pf == s->pf;
}

static void
count_proof(uint8_t *proofs, bool wrong)
{
	if (!wrong)
		*proofs = 0;
	else if (*proofs < OCTO_AUDIT_PROOFS)
		++*proofs;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_observed_stray)
void
octo_observed_stray(struct octo_observed *e, const struct octo_expected *expected,
		    const struct octo_sample *s)
{
	const bool wrong_queue = s->queue != expected->queue;
	const bool wrong_pf = expected->pf != OCTO_AUDIT_ANY_PF && s->pf != expected->pf;

	if (s->when < e->installed + OCTO_AUDIT_GRACE_MS)
		return;
	if (!wrong_queue)
		e->kept_queue = true;
	/* the rule worked, but the queue has another home by now: the rule will follow */
	if (!wrong_queue && !wrong_pf)
		return;
	e->last_bad = s->when;
	if (is_same_ring(e, s)) {
		if (s->turn - e->turn < TURNS)
			return;
		count_proof(&e->wrong_queue, wrong_queue);
		count_proof(&e->wrong_pf, wrong_pf);
	}
	e->has_bad = true;
	e->queue = s->queue;
	e->pf = s->pf;
	e->turn = s->turn;
}

/* Also true if the application has reset the PFs' counters. */
static bool
has_grown(uint64_t before, uint64_t now)
{
	return now != before && now != 0;
}

static bool
is_proven_wrong(const struct octo_observed *e)
{
	return e->wrong_pf >= OCTO_AUDIT_PROOFS || e->wrong_queue >= OCTO_AUDIT_PROOFS;
}

static void
forget_bad(struct octo_observed *e)
{
	e->wrong_pf = 0;
	e->wrong_queue = 0;
	e->has_bad = false;
}

/* While packets come to wrong places, old hits do not count for the rule. */
static void
end_of_reading(struct octo_observed *e, bool by_its_pf, bool by_any, uint64_t now)
{
	if (is_proven_wrong(e)) {
		e->kept_pf = by_its_pf;
		e->kept_queue = by_any;
	}
	if (by_its_pf && now >= e->last_bad + OCTO_AUDIT_QUIET_MS)
		forget_bad(e);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_observed_hits)
void
octo_observed_hits(struct octo_observed *e, uint64_t by_pf, uint64_t by_all, uint64_t now)
{
	const bool by_its_pf = !e->hits_unknown && has_grown(e->hits_pf, by_pf);
	const bool by_any = !e->hits_unknown && has_grown(e->hits_all, by_all);

	e->kept_pf |= by_its_pf;
	e->kept_queue |= by_any;
	/* between two queries within a moment there may be no packets */
	if (!e->hits_unknown && octo_elapsed(e->hits_read, now) < OCTO_AUDIT_QUIET_MS)
		return;
	end_of_reading(e, by_its_pf, by_any, now);
	e->hits_pf = by_pf;
	e->hits_all = by_all;
	e->hits_read = now;
	e->hits_unknown = false;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_observed_matched)
void
octo_observed_matched(struct octo_observed *e, uint64_t matched, uint64_t many, uint64_t now)
{
	/* count from the last stray, or from a reset of the counter */
	if (e->hits_read <= e->last_bad || matched < e->hits_all) {
		e->kept_pf = e->kept_pf && !is_proven_wrong(e);
		e->hits_all = matched;
		e->hits_read = now;
		return;
	}
	if (matched - e->hits_all <= many || now < e->last_bad + OCTO_AUDIT_QUIET_MS)
		return;
	e->kept_pf = true;
	forget_bad(e);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_observed_uncounted)
void
octo_observed_uncounted(struct octo_observed *e, uint64_t now)
{
	if (now >= e->last_bad + OCTO_AUDIT_FORGET_MS)
		forget_bad(e);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_observed_status)
enum octo_rule_status
octo_observed_status(const struct octo_observed *e)
{
	if (!is_proven_wrong(e))
		return e->kept_pf ? OCTO_STATUS_WORKS : OCTO_STATUS_UNPROVEN;
	if (e->kept_pf)
		return OCTO_STATUS_PARTLY;
	return e->wrong_queue >= OCTO_AUDIT_PROOFS ? OCTO_STATUS_QUEUE_IGNORED :
						     OCTO_STATUS_PF_IGNORED;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_rule_status_name)
const char *
octo_rule_status_name(enum octo_rule_status v)
{
	static const char *const names[] = {
		[OCTO_STATUS_UNPROVEN] = "unproven",
		[OCTO_STATUS_WORKS] = "works",
		[OCTO_STATUS_PARTLY] = "works in part",
		[OCTO_STATUS_PF_IGNORED] = "PF ignored",
		[OCTO_STATUS_QUEUE_IGNORED] = "queue ignored",
	};

	return names[v];
}

static void
add_way(struct octo_tally *t, uint16_t way)
{
	if (t->kept + t->broken == 0)
		t->way = way;
	t->several |= t->way != way;
}

static void
add(struct octo_tally *t, bool kept, bool broken, uint16_t expected, uint16_t came)
{
	if (!kept && !broken) {
		t->unknown++;
		return;
	}
	add_way(t, kept ? expected : came);
	t->kept += kept;
	t->broken += !kept;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tally_pf)
void
octo_tally_pf(struct octo_tally *t, const struct octo_observed *e, uint8_t expected)
{
	add(t, e->kept_pf, e->wrong_pf >= OCTO_AUDIT_PROOFS, expected, e->pf);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tally_queue)
void
octo_tally_queue(struct octo_tally *t, const struct octo_observed *e, uint16_t expected)
{
	add(t, e->kept_queue, e->wrong_queue >= OCTO_AUDIT_PROOFS, expected, e->queue);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tally_is_doubtful)
bool
octo_tally_is_doubtful(const struct octo_tally *t)
{
	return t->broken > 0 && (t->kept == 0 || !t->several);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tally_is_ignored)
bool
octo_tally_is_ignored(const struct octo_tally *t, bool waited)
{
	if (t->broken == 0)
		return false;
	/*
	 * without hit counters, flows that the NIC cannot match are observed as strays, and
	 * flows whose rules work are not observed
	 */
	if (t->kept == 0 || !t->several)
		return (t->broken >= OCTO_AUDIT_MANY &&
			t->broken >= t->unknown / OCTO_AUDIT_MANY) ||
		       (waited && t->unknown == 0);
	return t->broken >= OCTO_AUDIT_MANY && t->broken >= t->kept;
}
