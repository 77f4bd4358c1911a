/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_flow on the port, under the control mutex. */

#include <errno.h>

#include "octo_flow_parse.h"
#include "octo_private.h"

/* Can flows be steered to this queue now? */
int
octo_flow_check_queue(const struct octo_dev *octo, uint16_t queue, struct rte_flow_error *error)
{
	if (!octo->started)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the port is stopped: start it first");
	if (octo->tier == OCTO_TIER_NONE && octo->tier_wanted == OCTO_TIER_NONE)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the port was made with tier=none: nothing is steered");
	if (octo->tier == OCTO_TIER_NONE && octo->ignored != NULL)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the NIC accepts rules and ignores them, "
					  "as strays have shown: nothing can be steered "
					  "until the port is started again");
	if (queue >= octo_data(octo)->nb_rx_queues)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, NULL,
					  "the queue index is not below the port's number "
					  "of Rx queues");
	return 0;
}

static int
read_rule(struct octo_dev *octo, const struct rte_flow_attr *attr,
	  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	  struct octo_flow_spec *spec, struct rte_flow_error *error)
{
	int ret = octo_flow_parse(attr, pattern, actions, spec, error);

	if (ret == 0)
		ret = octo_flow_check_queue(octo, spec->queue, error);
	if (ret == 0 && (spec->transfer || spec->fate != OCTO_FATE_QUEUE))
		ret = rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					 "only ingress rules with a queue action are supported");
	return ret;
}

static struct octo_rule_wish
wish_of(const struct octo_flow_spec *spec)
{
	return (struct octo_rule_wish){
		.tuple = &spec->tuple,
		.origin = OCTO_BY_APP,
		.priority = spec->priority,
		.queue = spec->queue,
		.count = spec->count,
	};
}

static int
flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	      const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	      struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_rule_wish wish;
	struct octo_flow_spec spec;
	int ret;

	octo_lock(octo);
	ret = read_rule(octo, attr, pattern, actions, &spec, error);
	if (ret == 0) {
		wish = wish_of(&spec);
		ret = octo_rule_check_locked(octo, &wish, error);
	}
	octo_unlock(octo);
	return ret;
}

static struct rte_flow *
flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	    struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct rte_flow *rule = NULL;
	struct octo_rule_wish wish;
	struct octo_flow_spec spec;

	octo_lock(octo);
	if (read_rule(octo, attr, pattern, actions, &spec, error) == 0) {
		wish = wish_of(&spec);
		rule = octo_rule_add_locked(octo, &wish, error);
	}
	octo_unlock(octo);
	return rule;
}

static int
flow_destroy(struct rte_eth_dev *dev, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_rule_remove_locked(octo, rule, error));
}

static int
flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_rule_list_flush_locked(octo, error));
}

static int
flow_query(struct rte_eth_dev *dev, struct rte_flow *rule, const struct rte_flow_action *actions,
	   void *data, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	const struct rte_flow_query_count *asked = data;

	if (actions->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "only count can be queried");
	if (!rule->count)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "the rule was created without a count action");
	return OCTO_LOCKED(octo,
			   octo_rule_hits_query_locked(octo, rule, asked->reset, data, error));
}

/* Strays have taught that this flow belongs to this queue, where RSS puts it. */
struct rte_flow *
octo_flow_learn_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
		       struct rte_flow_error *error)
{
	const struct octo_rule_wish wish = {
		.tuple = tuple,
		.origin = OCTO_BY_LEARNING,
		.queue = queue,
	};

	if (octo_flow_check_queue(octo, queue, error) != 0)
		return NULL;
	if (!octo_tier_has_mpfs(octo->tier)) {
		rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "there is no switch between the PFs that takes rules");
		return NULL;
	}
	return octo_rule_add_locked(octo, &wish, error);
}

static int
isolate_locked(struct octo_dev *octo, int set, struct rte_flow_error *error)
{
	int ret = 0;
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PF_OWNED) {
		ret = rte_flow_isolate(octo->pf[pf].port_id, set, error);
		if (ret != 0)
			break;
	}
	if (ret == 0) {
		octo->isolated = set != 0;
		return 0;
	}
	octo_flow_blame(&octo->pf[pf], ret, error);
	while (--pf >= 0)
		rte_flow_isolate(octo->pf[pf].port_id, octo->isolated, NULL);
	return ret;
}

static int
flow_isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, isolate_locked(octo, set, error));
}

static const struct rte_flow_ops flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.query = flow_query,
	.isolate = flow_isolate,
};

int
octo_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -ENOTSUP;
	*ops = &flow_ops;
	return 0;
}
