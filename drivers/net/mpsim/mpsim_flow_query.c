/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_flow_query(). */

#include <errno.h>

#include "mpsim_flow.h"

static void
read_count(uint64_t *hits, uint64_t *bytes, struct rte_flow_query_count *q)
{
	q->hits_set = 1;
	q->bytes_set = 1;
	q->hits = *hits;
	q->bytes = *bytes;
	if (q->reset) {
		*hits = 0;
		*bytes = 0;
	}
}

/* Read a shared counter; under the NIC's lock. */
void
mpsim_counter_query_locked(struct mpsim_counter *c, struct rte_flow_query_count *q)
{
	read_count(&c->hits, &c->bytes, q);
}

static void
query_count_locked(struct rte_flow *flow, struct rte_flow_query_count *q)
{
	if (flow->rule.fate.counter != NULL)
		mpsim_counter_query_locked(flow->rule.fate.counter, q);
	else
		read_count(&flow->rule.hits, &flow->rule.bytes, q);
}

static int
query_rss_locked(const struct rte_flow *flow, struct rte_flow_action_rss *rss)
{
	const struct mpsim_dest *dest = mpsim_fate_dest(&flow->rule.fate);
	const struct mpsim_spread *s = dest->spread;

	if (dest->kind != MPSIM_TO_RSS)
		return -EINVAL;
	*rss = (struct rte_flow_action_rss){
		.func = s->func,
		.level = s->level,
		.types = s->types,
		.key_len = MPSIM_RSS_KEY_LEN,
		.key = s->key->key,
		.queue_num = s->nb_queues,
		.queue = s->queues,
	};
	return 0;
}

static int
query_locked(struct rte_flow *flow, const struct rte_flow_action *action, void *data)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_VOID:
		return 0;
	case RTE_FLOW_ACTION_TYPE_COUNT:
		if ((flow->rule.fate.flags & MPSIM_FATE_COUNT) == 0)
			return -EINVAL;
		query_count_locked(flow, data);
		return 0;
	case RTE_FLOW_ACTION_TYPE_AGE:
		if (flow->rule.fate.age == NULL)
			return -EINVAL;
		mpsim_age_query(flow->rule.fate.age, data);
		return 0;
	case RTE_FLOW_ACTION_TYPE_RSS:
		return query_rss_locked(flow, data);
	default:
		return -ENOTSUP;
	}
}

static const char *
name_action(enum rte_flow_action_type type)
{
	return type == RTE_FLOW_ACTION_TYPE_RSS ? " rss" :
	       type == RTE_FLOW_ACTION_TYPE_AGE ? "n age" :
						  " count";
}

int
mpsim_flow_query(struct rte_eth_dev *dev, struct rte_flow *flow,
		 const struct rte_flow_action *action, void *data, struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret = 0;

	for (; ret == 0 && action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		mpsim_nic_lock(pf->nic);
		ret = query_locked(flow, action, data);
		mpsim_nic_unlock(pf->nic);
		if (ret == -ENOTSUP)
			return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
						  action, "only count, age and rss can be queried");
		if (ret == -EINVAL)
			return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE,
						 "the rule was made without a%s action",
						 name_action(action->type));
	}
	return ret;
}
