/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Replace the actions of a rule in place (DPDK 23.07): a packet gets the old or the new
 * actions, and the rule always exists.
 */

#include <errno.h>

#include "mpsim_async.h"
#include "mpsim_caps.h"
#include "mpsim_flow.h"
#include "mpsim_flow_ops.h"

static int
refuse(struct rte_flow_error *error, int code, const char *why)
{
	return mpsim_flow_refuse(error, code, RTE_FLOW_ERROR_TYPE_ACTION, "%s", why);
}

static int
make_fate(struct rte_eth_dev *dev, const struct rte_flow *flow,
	  const struct rte_flow_action actions[], struct mpsim_fate *fate,
	  struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = {.ingress = 1, .group = flow->group};
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_orders orders;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return refuse(error, ENOTSUP, "rules are changed by the primary process");
	if (flow->transfer)
		return refuse(error, ENOTSUP,
			      "the actions of a transfer rule are final: make another rule");
	if (actions == NULL)
		return refuse(error, EINVAL, "the actions are missing");
	ret = mpsim_caps_need(pf, MPSIM_CAP_UPDATE, error);
	if (ret == 0)
		ret = mpsim_actions_read(&attr, actions, &orders, error);
	if (ret == 0)
		ret = mpsim_actions_check(pf, &orders, error);
	if (ret == 0)
		ret = mpsim_caps_check_actions(pf, &orders, error);
	if (ret != 0)
		return ret;
	if (flow->exact != NULL && mpsim_fate_dest(&orders.fate)->kind == MPSIM_TO_NEXT)
		return refuse(error, ENOTSUP,
			      "a 5-tuple rule cannot be made one with passthru: make another");
	ret = mpsim_fate_make(pf, &orders, fate, error);
	if (ret == 0 && orders.age != NULL && orders.age->context == NULL)
		fate->age->context = (void *)(uintptr_t)flow;
	return ret;
}

int
mpsim_flow_actions_update(struct rte_eth_dev *dev, struct rte_flow *flow,
			  const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct mpsim_fate fate;
	int ret = make_fate(dev, flow, actions, &fate, error);

	return ret != 0 ? ret : mpsim_flow_swap_fate(dev->data->dev_private, flow, &fate, error);
}

int
mpsim_flow_async_actions_update(struct rte_eth_dev *dev, uint32_t queue_id,
				const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				const struct rte_flow_action given[], uint8_t actions_index,
				void *user_data, struct rte_flow_error *error)
{
	const struct rte_flow_template_table *table = flow->template_table;
	struct rte_flow_action actions[OCTO_TEMPLATE_MAX];
	struct mpsim_fate fate;
	int ret;

	if (table == NULL || actions_index >= table->nb_actions)
		return refuse(error, EINVAL,
			      "the rule has no table with an actions template of this index");
	ret = octo_template_fill_actions(&table->actions[actions_index]->common, given, actions,
					 error);
	if (ret == 0)
		ret = make_fate(dev, flow, actions, &fate, error);
	if (ret != 0)
		return ret;
	ret = mpsim_async_enqueue_update(dev, queue_id, attr, flow, &fate, user_data, error);
	if (ret != 0)
		mpsim_fate_release(dev->data->dev_private, &fate);
	return ret;
}
