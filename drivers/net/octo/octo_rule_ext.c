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
octo_rule_ext_time_installed(const struct rte_flow *rule)
{
	const uint64_t now = octo_now_ms();

	return now - (uint32_t)(now - rule->installed);
}

/*
 * Get or allocate the rule's extension. Returns NULL without memory: then nothing is
 * recorded.
 */
struct octo_rule_ext *
octo_rule_ext_get(struct octo_dev *octo, struct rte_flow *rule)
{
	if (rule->ext != NULL)
		return rule->ext;
	rule->ext = octo_slab_get(&octo->rule_ext_slab);
	if (rule->ext == NULL)
		return NULL;
	rule->ext->rule = rule;
	octo_observed_start(&rule->ext->observed, octo_rule_ext_time_installed(rule), rule->moved);
	TAILQ_INSERT_TAIL(&octo->rule_exts, rule->ext, next);
	return rule->ext;
}

void
octo_rule_ext_drop(struct octo_dev *octo, struct rte_flow *rule)
{
	if (rule->ext == NULL)
		return;
	octo->rule_counts.ineffective -= rule->ext->ineffective;
	TAILQ_REMOVE(&octo->rule_exts, rule->ext, next);
	free(rule->ext->kept);
	octo_slab_put(&octo->rule_ext_slab, rule->ext);
	rule->ext = NULL;
}

/* The rule was just installed. */
void
octo_rule_ext_installed(struct rte_flow *rule)
{
	const uint64_t now = octo_now_ms();

	rule->installed = (uint32_t)now;
	if (rule->ext != NULL)
		octo_observed_start(&rule->ext->observed, now, false);
}

/* The rule leads elsewhere from now on: the audit starts again, but remembers the move. */
void
octo_rule_ext_moved(struct octo_dev *octo, struct rte_flow *rule)
{
	const uint64_t now = octo_now_ms();

	rule->installed = (uint32_t)now;
	rule->moved = true;
	if (rule->ext == NULL)
		return;
	octo_observed_start(&rule->ext->observed, now, true);
	octo_rule_ext_count_locked(octo, rule->ext);
}

/* The rule was withdrawn: forget everything recorded of it. */
void
octo_rule_ext_reset(struct octo_dev *octo, struct rte_flow *rule)
{
	rule->moved = false;
	if (rule->ext == NULL)
		return;
	octo_observed_start(&rule->ext->observed, octo_now_ms(), false);
	octo_rule_ext_count_locked(octo, rule->ext);
	rule->ext->strays = 0;
	rule->ext->app_spec.aged_on = 0;
	rule->ext->app_spec.aged_reported = false;
	memset(&rule->ext->agent_base, 0, sizeof(rule->ext->agent_base));
}

enum octo_rule_status
octo_rule_ext_status(const struct rte_flow *rule)
{
	return rule->ext != NULL ? octo_observed_status(&rule->ext->observed) :
				   OCTO_STATUS_UNPROVEN;
}

/* Update the count of ineffective rules after a change, which saves walking all rules. */
void
octo_rule_ext_count_locked(struct octo_dev *octo, struct octo_rule_ext *ext)
{
	const enum octo_rule_status status = octo_observed_status(&ext->observed);
	const bool ineffective = octo_rule_status_is_ineffective(status);

	octo->rule_counts.ineffective += ineffective - ext->ineffective;
	ext->ineffective = ineffective;
}
