/* SPDX-License-Identifier: BSD-3-Clause */

/* All steered flows: where they are kept, and what happens to many of them at once. */

#include <errno.h>

#include "octo_private.h"

int
octo_rule_list_init(struct octo_dev *octo)
{
	char name[24];

	TAILQ_INIT(&octo->rules);
	TAILQ_INIT(&octo->notes);
	for (unsigned int i = 0; i < RTE_DIM(octo->queue_rules); i++)
		TAILQ_INIT(&octo->queue_rules[i]);
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
	return octo_table_bytes(octo->table) + octo_slab_bytes(&octo->rule_slab) +
	       octo_slab_bytes(&octo->notes_slab);
}

int
octo_rule_list_flush_locked(struct octo_dev *octo, struct rte_flow_error *error)
{
	struct rte_flow *rule;
	int first_error = 0;

	while ((rule = TAILQ_FIRST(&octo->rules)) != NULL) {
		int ret = octo_rule_remove_locked(octo, rule, first_error == 0 ? error : NULL);

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

/* The flows of a queue go to its new home. Returns how many could not. */
unsigned int
octo_rule_list_rehome_locked(struct octo_dev *octo, uint16_t queue, uint8_t home)
{
	unsigned int failed = 0;
	struct rte_flow *rule;

	if (!octo_tier_has_mpfs(octo->tier))
		return 0;
	TAILQ_FOREACH(rule, &octo->queue_rules[queue], next_of_queue) {
		if (rule->pf == home)
			continue;
		if (rule->pf == OCTO_NO_PF)
			failed += octo->mpfs_ops->insert(octo, rule, home, NULL) != 0;
		else
			failed += octo->mpfs_ops->flip(octo, rule, home, NULL) != 0;
		octo_rule_notes_moved(rule);
	}
	return failed;
}

/* The PF's rules went with it, and the MPFS with the manager. */
void
octo_rule_list_forget_pf(struct octo_dev *octo, uint8_t pf)
{
	const bool manager = octo->manager == pf;
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->rules, next) {
		rule->arfs[pf] = NULL;
		if (manager) {
			rule->mpfs = NULL;
			rule->pf = OCTO_NO_PF;
			octo_rule_notes_moved(rule);
		}
	}
	if (!manager)
		return;
	octo->manager = OCTO_NO_PF;
	if (octo_tier_has_mpfs(octo->tier)) {
		octo->tier = OCTO_TIER_QUEUE;
		OCTO_LOG(WARNING, "port %u: the manager PF is gone: steering tier is queue now",
			 octo->port_id);
	}
}
