/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tables of what ethdev can ask of rte_flow, and what a template table can ask for
 * since 23.03.
 */

#include <errno.h>

#include "octo_refuse.h"

#include "mpsim_age.h"
#include "mpsim_flow.h"
#include "mpsim_flow_ops.h"

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
	.actions_update = mpsim_flow_actions_update,
};

/* All of it: ethdev does not look whether an op is there. */
static const struct rte_flow_fp_ops fp_ops = {
	.async_create = mpsim_flow_async_create,
	.async_destroy = mpsim_flow_async_destroy,
	.push = mpsim_flow_push,
	.pull = mpsim_flow_pull,
	.async_action_handle_create = mpsim_flow_async_action_handle_create,
	.async_action_handle_destroy = mpsim_flow_async_action_handle_destroy,
	.async_action_handle_update = mpsim_flow_async_action_handle_update,
	.async_action_handle_query = mpsim_flow_async_action_handle_query,
	.async_actions_update = mpsim_flow_async_actions_update,
	.async_create_by_index = octo_refuse_async_create_by_index,
	.async_create_by_index_with_pattern = octo_refuse_async_create_by_index_with_pattern,
	.async_action_handle_query_update = octo_refuse_async_action_handle_query_update,
	.async_action_list_handle_create = octo_refuse_async_action_list_handle_create,
	.async_action_list_handle_destroy = octo_refuse_async_action_list_handle_destroy,
	.async_action_list_handle_query_update = octo_refuse_async_action_list_handle_query_update,
};

void
mpsim_flow_ops_install(struct rte_eth_dev *dev)
{
	dev->flow_fp_ops = &fp_ops;
}

int
mpsim_flow_ops_check_table(const struct rte_flow_template_table_attr *attr,
			   struct rte_flow_error *error)
{
	if (attr->insertion_type == RTE_FLOW_TABLE_INSERTION_TYPE_PATTERN)
		return 0;
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "rules are found by pattern, not by index");
}
