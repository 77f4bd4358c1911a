/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Before 24.03 the ops of flow queues were among those of rte_flow. ethdev calls them without
 * a look whether they are there, but those of handles' queries with updates and of lists. From
 * 24.03 on it looks for none of them.
 */

#include <errno.h>

#include "octo_refuse.h"

#include "../drivers/net/mpsim/mpsim_age.h"
#include "../drivers/net/mpsim/mpsim_flow.h"
#include "../drivers/net/mpsim/mpsim_flow_ops.h"

#define FLOW_QUEUE_OPS                                                                             \
	.async_create = mpsim_flow_async_create, .async_destroy = mpsim_flow_async_destroy,        \
	.push = mpsim_flow_push, .pull = mpsim_flow_pull,                                          \
	.async_action_handle_create = mpsim_flow_async_action_handle_create,                       \
	.async_action_handle_destroy = mpsim_flow_async_action_handle_destroy,                     \
	.async_action_handle_update = mpsim_flow_async_action_handle_update,                       \
	.async_action_handle_query = mpsim_flow_async_action_handle_query

const struct rte_flow_ops mpsim_flow_ops = {
	.validate = mpsim_flow_validate,
	.create = mpsim_flow_create,
	.destroy = mpsim_flow_destroy,
	.flush = mpsim_flow_flush,
	.query = mpsim_flow_query,
	.dev_dump = mpsim_flow_dump,
	.get_aged_flows = mpsim_age_get_aged,
	.isolate = mpsim_flow_isolate,
	.pick_transfer_proxy = mpsim_flow_pick_transfer_proxy,
	.info_get = mpsim_flow_info_get,
	.configure = mpsim_flow_configure,
	.pattern_template_create = mpsim_flow_pattern_template_create,
	.pattern_template_destroy = mpsim_flow_pattern_template_destroy,
	.actions_template_create = mpsim_flow_actions_template_create,
	.actions_template_destroy = mpsim_flow_actions_template_destroy,
	.template_table_create = mpsim_flow_template_table_create,
	.template_table_destroy = mpsim_flow_template_table_destroy,
	.action_handle_create = mpsim_indirect_create,
	.action_handle_destroy = mpsim_indirect_destroy,
	.action_handle_update = mpsim_indirect_update,
	.action_handle_query = mpsim_indirect_query,
#if !OCTO_DPDK_BEFORE(23, 7)
	.actions_update = mpsim_flow_actions_update,
#endif
#if OCTO_DPDK_BEFORE(24, 3)
	FLOW_QUEUE_OPS,
#if !OCTO_DPDK_BEFORE(23, 3)
	.async_create_by_index = octo_refuse_async_create_by_index,
#endif
#if !OCTO_DPDK_BEFORE(23, 7)
	.async_actions_update = mpsim_flow_async_actions_update,
#endif
#endif
};

#if !OCTO_DPDK_BEFORE(24, 3)
static const struct rte_flow_fp_ops fp_ops = {
	FLOW_QUEUE_OPS,
	.async_actions_update = mpsim_flow_async_actions_update,
	.async_create_by_index = octo_refuse_async_create_by_index,
	.async_action_handle_query_update = octo_refuse_async_action_handle_query_update,
	.async_action_list_handle_create = octo_refuse_async_action_list_handle_create,
	.async_action_list_handle_destroy = octo_refuse_async_action_list_handle_destroy,
	.async_action_list_handle_query_update = octo_refuse_async_action_list_handle_query_update,
};
#endif

void
mpsim_flow_ops_install(struct rte_eth_dev *dev)
{
#if OCTO_DPDK_BEFORE(24, 3)
	RTE_SET_USED(dev);
#else
	dev->flow_fp_ops = &fp_ops;
#endif
}

int
mpsim_flow_ops_check_table(const struct rte_flow_template_table_attr *attr,
			   struct rte_flow_error *error)
{
#if !OCTO_DPDK_BEFORE(23, 3)
	if (attr->insertion_type != RTE_FLOW_TABLE_INSERTION_TYPE_PATTERN)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "rules are found by pattern, not by index");
#endif
	RTE_SET_USED(attr);
	RTE_SET_USED(error);
	return 0;
}
