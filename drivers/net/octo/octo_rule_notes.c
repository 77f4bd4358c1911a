/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rule extensions, allocated when needed. Nearly all of a million rules need only the time
 * at which they were installed.
 */

#include <stdlib.h>

#include "octo_clock.h"
#include "octo_private.h"

/* The full time, in ms, of which the rule stores the lower 32 bits. */
uint64_t
octo_rule_notes_time_placed(const struct rte_flow *rule)
{
	const uint64_t now = octo_now_ms();

	return now - (uint32_t)(now - rule->placed);
}

/*
 * Get or allocate the rule's extension. Returns NULL without memory: then nothing is
 * recorded.
 */
struct octo_notes *
octo_rule_notes_get(struct octo_dev *octo, struct rte_flow *rule)
{
	if (rule->notes != NULL)
		return rule->notes;
	rule->notes = octo_slab_get(&octo->notes_slab);
	if (rule->notes == NULL)
		return NULL;
	rule->notes->rule = rule;
	if (rule->moved)
		octo_observed_move(&rule->notes->observed, octo_rule_notes_time_placed(rule));
	else
		octo_observed_start(&rule->notes->observed, octo_rule_notes_time_placed(rule));
	TAILQ_INSERT_TAIL(&octo->notes, rule->notes, next);
	return rule->notes;
}

void
octo_rule_notes_drop(struct octo_dev *octo, struct rte_flow *rule)
{
	if (rule->notes == NULL)
		return;
	octo->audit.ineffective -= rule->notes->ineffective;
	octo->rule_counts.ineffective = octo->audit.ineffective;
	TAILQ_REMOVE(&octo->notes, rule->notes, next);
	free(rule->notes->kept);
	octo_slab_put(&octo->notes_slab, rule->notes);
	rule->notes = NULL;
}

/* The rule was just installed. */
void
octo_rule_notes_placed(struct rte_flow *rule)
{
	const uint64_t now = octo_now_ms();

	rule->placed = (uint32_t)now;
	if (rule->notes != NULL)
		octo_observed_start(&rule->notes->observed, now);
}

/* The rule leads elsewhere from now on: the audit starts again, but remembers the move. */
void
octo_rule_notes_moved(struct octo_dev *octo, struct rte_flow *rule)
{
	const uint64_t now = octo_now_ms();

	rule->placed = (uint32_t)now;
	rule->moved = true;
	if (rule->notes == NULL)
		return;
	octo_observed_move(&rule->notes->observed, now);
	octo_rule_notes_count_locked(octo, rule->notes);
}

/* The rule was withdrawn: forget everything recorded of it. */
void
octo_rule_notes_reset(struct octo_dev *octo, struct rte_flow *rule)
{
	rule->moved = false;
	if (rule->notes == NULL)
		return;
	octo_observed_start(&rule->notes->observed, octo_now_ms());
	octo_rule_notes_count_locked(octo, rule->notes);
	rule->notes->strays = 0;
	rule->notes->words.aged_on = 0;
	rule->notes->words.aged_told = false;
	memset(&rule->notes->agent_base, 0, sizeof(rule->notes->agent_base));
}

enum octo_rule_status
octo_rule_notes_status(const struct rte_flow *rule)
{
	return rule->notes != NULL ? octo_observed_status(&rule->notes->observed) :
				     OCTO_STATUS_UNPROVEN;
}

/* Update the count of ineffective rules after a change, which saves walking all rules. */
void
octo_rule_notes_count_locked(struct octo_dev *octo, struct octo_notes *notes)
{
	const enum octo_rule_status status = octo_observed_status(&notes->observed);
	const bool ineffective = octo_rule_status_is_ineffective(status);

	octo->audit.ineffective += ineffective;
	octo->audit.ineffective -= notes->ineffective;
	notes->ineffective = ineffective;
	octo->rule_counts.ineffective = octo->audit.ineffective;
}
