/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules that lead to another queue than before, and with it to another PF. */

#include "octo_private.h"

bool
octo_rule_has_handle(const struct rte_flow *rule, const struct rte_flow_action_handle *handle)
{
	return rule->generic && octo_indirect_is_used(rule->notes->words.rule->actions_ro, handle);
}

/* It leads to the home of its queue; 0, or a negative errno if it does not. */
static int
lead_home(struct octo_dev *octo, struct rte_flow *rule)
{
	const uint8_t home = octo_rule_home(octo, rule->queue);

	if (!octo->started || !octo_tier_has_mpfs(octo->tier) || rule->pending || rule->pf == home)
		return 0;
	return rule->pf == OCTO_NO_PF ? octo->mpfs_ops->insert(octo, rule, home, NULL) :
					octo->mpfs_ops->flip(octo, rule, home, NULL);
}

/*
 * The PFs put the flow into another queue already. If the switch cannot send it to
 * that queue's PF it strays, but arrives, and the control thread tries again.
 */
void
octo_rule_requeue_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue)
{
	struct octo_rxq *q = octo_data(octo)->rx_queues[queue];

	octo_rule_list_leave_queue(octo, rule);
	octo_rule_list_join_queue(octo, rule, queue);
	if (lead_home(octo, rule) != 0)
		q->rules_home = OCTO_NO_PF;
	octo_rule_notes_moved(octo, rule);
}

/* Its words are others, or none; there are notes to keep them in if there are any. */
void
octo_rule_swap_words(struct octo_dev *octo, struct rte_flow *rule, struct octo_words *words)
{
	if (words->rule != NULL)
		octo_indirect_hold(words->rule->actions_ro);
	octo->words_bytes += words->bytes;
	if (rule->generic) {
		octo->words_bytes -= rule->notes->words.bytes;
		octo_indirect_release(rule->notes->words.rule->actions_ro);
		octo_words_drop(&rule->notes->words);
	}
	rule->generic = words->rule != NULL;
	if (rule->generic)
		rule->notes->words = *words;
}
