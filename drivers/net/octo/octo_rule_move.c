/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules in other words than before. */

#include "octo_private.h"

bool
octo_rule_has_handle(const struct rte_flow *rule, const struct rte_flow_action_handle *handle)
{
	return rule->generic && octo_indirect_is_used(rule->notes->words.rule->actions_ro, handle);
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
