/* SPDX-License-Identifier: BSD-3-Clause */

/* The tables of what ethdev can ask of rte_flow on the port. */

#include "octo_refuse.h"

#include "octo_flow_ops.h"

const struct rte_flow_ops octo_flow_ops = {
	/* on all PFs or on none, and again on one that comes back */
	.validate = octo_flow_validate,
	.create = octo_flow_create,
	.destroy = octo_flow_destroy,
	.flush = octo_flow_flush,
	.isolate = octo_flow_isolate,
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
	.actions_update = octo_flow_actions_update,
	/* asked of all PFs, and summed up or merged */
	.query = octo_flow_query,
	.dev_dump = octo_flow_dev_dump,
	.get_aged_flows = octo_flow_get_aged_flows,
	.info_get = octo_flow_info_get,
	.action_handle_query = octo_flow_action_handle_query,
};

/* All of it: ethdev does not look whether an op is there. */
static const struct rte_flow_fp_ops fp_ops = {
	/* of flow queues: on all PFs or on none, with one result */
	.async_create = octo_flow_async_create,
	.async_destroy = octo_flow_async_destroy,
	.push = octo_flow_push,
	.pull = octo_flow_pull,
	.async_action_handle_create = octo_flow_async_action_handle_create,
	.async_action_handle_destroy = octo_flow_async_action_handle_destroy,
	.async_action_handle_update = octo_flow_async_action_handle_update,
	.async_action_handle_query = octo_flow_async_action_handle_query,
	/* of flow queues, refused by octo itself: the error says what to call instead */
	.async_actions_update = octo_refuse_async_actions_update,
	.async_create_by_index = octo_refuse_async_create_by_index,
	.async_create_by_index_with_pattern = octo_refuse_async_create_by_index_with_pattern,
	.async_action_handle_query_update = octo_refuse_async_action_handle_query_update,
	.async_action_list_handle_create = octo_refuse_async_action_list_handle_create,
	.async_action_list_handle_destroy = octo_refuse_async_action_list_handle_destroy,
	.async_action_list_handle_query_update = octo_refuse_async_action_list_handle_query_update,
};

void
octo_flow_ops_install(struct rte_eth_dev *dev)
{
	dev->flow_fp_ops = &fp_ops;
}
