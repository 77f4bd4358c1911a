/* SPDX-License-Identifier: BSD-3-Clause */

/* What the PFs have counted of a rule, or an agent for them. */

#include "octo_private.h"

/* The hits on one PF, none if it has no rule. */
static int
query_pf(struct octo_dev *octo, const struct rte_flow *rule, uint8_t pf,
	 struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	static const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_COUNT},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	int ret;

	if (rule->arfs[pf] == NULL)
		return 0;
	ret = rte_flow_query(octo->pf[pf].port_id, rule->arfs[pf], actions, count, error);
	return ret == 0 ? 0 : octo_flow_blame(&octo->pf[pf], ret, error);
}

/* The sum over the PFs. */
int
octo_rule_hits_query_locked(struct octo_dev *octo, struct rte_flow *rule, bool reset,
			    struct rte_flow_query_count *sum, struct rte_flow_error *error)
{
	*sum = (struct rte_flow_query_count){.reset = reset};
	if (octo->agent_queues)
		return octo->mpfs_ops->query(octo, rule, sum, error);
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		struct rte_flow_query_count one = {.reset = reset};
		int ret = query_pf(octo, rule, pf, &one, error);

		if (ret != 0)
			return ret;
		sum->hits_set |= one.hits_set;
		sum->bytes_set |= one.bytes_set;
		sum->hits += one.hits;
		sum->bytes += one.bytes;
	}
	return 0;
}

/* By one PF, or by all for OCTO_NO_PF. Returns false if that is not known. */
bool
octo_rule_hits_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, uint64_t *hits)
{
	struct rte_flow_query_count count = {0};
	int ret;

	if (!octo->count_rules && !rule->count)
		return false;
	ret = pf == OCTO_NO_PF ? octo_rule_hits_query_locked(octo, rule, false, &count, NULL) :
				 query_pf(octo, rule, pf, &count, NULL);
	*hits = count.hits;
	return ret == 0 && count.hits_set;
}
