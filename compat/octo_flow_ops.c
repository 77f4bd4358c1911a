/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Before 24.03 the ops of flow queues were among those of rte_flow. ethdev calls them without
 * a look whether they are there, but those of handles' queries with updates and of lists. From
 * 24.03 on it looks for none of them.
 */

#include <errno.h>

#include "octo_refuse.h"

#include "../drivers/net/octo/octo_flow_ops.h"

#define FLOW_QUEUE_OPS                                                                             \
	.async_create = octo_flow_async_create, .async_destroy = octo_flow_async_destroy,          \
	.push = octo_flow_push, .pull = octo_flow_pull,                                            \
	.async_action_handle_create = octo_flow_async_action_handle_create,                        \
	.async_action_handle_destroy = octo_flow_async_action_handle_destroy,                      \
	.async_action_handle_update = octo_flow_async_action_handle_update,                        \
	.async_action_handle_query = octo_flow_async_action_handle_query

const struct rte_flow_ops octo_flow_ops = {
	.validate = octo_flow_validate,
	.create = octo_flow_create,
	.destroy = octo_flow_destroy,
	.flush = octo_flow_flush,
	.query = octo_flow_query,
	.dev_dump = octo_flow_dev_dump,
	.get_aged_flows = octo_flow_get_aged_flows,
	.isolate = octo_flow_isolate,
	.info_get = octo_flow_info_get,
	.configure = octo_flow_configure,
	.pattern_template_create = octo_flow_pattern_template_create,
	.pattern_template_destroy = octo_flow_pattern_template_destroy,
	.actions_template_create = octo_flow_actions_template_create,
	.actions_template_destroy = octo_flow_actions_template_destroy,
	.template_table_create = octo_flow_template_table_create,
	.template_table_destroy = octo_flow_template_table_destroy,
	.action_handle_create = octo_flow_action_handle_create,
	.action_handle_destroy = octo_flow_action_handle_destroy,
	.action_handle_update = octo_flow_action_handle_update,
	.action_handle_query = octo_flow_action_handle_query,
#if !OCTO_DPDK_BEFORE(23, 7)
	.actions_update = octo_flow_actions_update,
#endif
#if OCTO_DPDK_BEFORE(24, 3)
	FLOW_QUEUE_OPS,
#if !OCTO_DPDK_BEFORE(23, 3)
	.async_create_by_index = octo_refuse_async_create_by_index,
#endif
#if !OCTO_DPDK_BEFORE(23, 7)
	.async_actions_update = octo_refuse_async_actions_update,
#endif
#endif
};

#if !OCTO_DPDK_BEFORE(24, 3)
static const struct rte_flow_fp_ops fp_ops = {
	FLOW_QUEUE_OPS,
	.async_actions_update = octo_refuse_async_actions_update,
	.async_create_by_index = octo_refuse_async_create_by_index,
	.async_action_handle_query_update = octo_refuse_async_action_handle_query_update,
	.async_action_list_handle_create = octo_refuse_async_action_list_handle_create,
	.async_action_list_handle_destroy = octo_refuse_async_action_list_handle_destroy,
	.async_action_list_handle_query_update = octo_refuse_async_action_list_handle_query_update,
};
#endif

void
octo_flow_ops_install(struct rte_eth_dev *dev)
{
#if OCTO_DPDK_BEFORE(24, 3)
	RTE_SET_USED(dev);
#else
	dev->flow_fp_ops = &fp_ops;
#endif
}
