/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_REFUSE_H
#define OCTO_REFUSE_H

#include <errno.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_flow.h>

struct rte_eth_dev;

/**
 * @file
 * Operations of flow queues that neither driver has. ethdev calls an operation without checking
 * that it is not NULL, so these refuse, and say what to use instead.
 */

static inline int
octo_refuse(struct rte_flow_error *error, const char *why)
{
	return rte_flow_error_set(error, ENOSYS, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
}

static inline struct rte_flow *
octo_refuse_async_create_by_index(__rte_unused struct rte_eth_dev *dev,
				  __rte_unused uint32_t queue_id,
				  __rte_unused const struct rte_flow_op_attr *attr,
				  __rte_unused struct rte_flow_template_table *table,
				  __rte_unused uint32_t index,
				  __rte_unused const struct rte_flow_action actions[],
				  __rte_unused uint8_t actions_index, __rte_unused void *user_data,
				  struct rte_flow_error *error)
{
	octo_refuse(error, "rte_flow_async_create_by_index(): "
			   "rules are found by pattern: use rte_flow_async_create()");
	return NULL;
}

static inline struct rte_flow *
octo_refuse_async_create_by_index_with_pattern(
	__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t queue_id,
	__rte_unused const struct rte_flow_op_attr *attr,
	__rte_unused struct rte_flow_template_table *table, __rte_unused uint32_t index,
	__rte_unused const struct rte_flow_item pattern[], __rte_unused uint8_t pattern_index,
	__rte_unused const struct rte_flow_action actions[], __rte_unused uint8_t actions_index,
	__rte_unused void *user_data, struct rte_flow_error *error)
{
	octo_refuse(error, "rte_flow_async_create_by_index_with_pattern(): "
			   "rules are found by pattern: use rte_flow_async_create()");
	return NULL;
}

static inline int
octo_refuse_async_actions_update(__rte_unused struct rte_eth_dev *dev,
				 __rte_unused uint32_t queue_id,
				 __rte_unused const struct rte_flow_op_attr *attr,
				 __rte_unused struct rte_flow *flow,
				 __rte_unused const struct rte_flow_action actions[],
				 __rte_unused uint8_t actions_index, __rte_unused void *user_data,
				 struct rte_flow_error *error)
{
	return octo_refuse(error, "rte_flow_async_actions_update(): "
				  "destroy the rule, and make another by rte_flow_async_create()");
}

static inline int
octo_refuse_async_action_handle_query_update(
	__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t queue_id,
	__rte_unused const struct rte_flow_op_attr *attr,
	__rte_unused struct rte_flow_action_handle *handle, __rte_unused const void *update,
	__rte_unused void *query, __rte_unused enum rte_flow_query_update_mode mode,
	__rte_unused void *user_data, struct rte_flow_error *error)
{
	return octo_refuse(error, "rte_flow_async_action_handle_query_update(): "
				  "use rte_flow_async_action_handle_query() "
				  "and rte_flow_async_action_handle_update()");
}

static inline struct rte_flow_action_list_handle *
octo_refuse_async_action_list_handle_create(
	__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t queue_id,
	__rte_unused const struct rte_flow_op_attr *attr,
	__rte_unused const struct rte_flow_indir_action_conf *conf,
	__rte_unused const struct rte_flow_action actions[], __rte_unused void *user_data,
	struct rte_flow_error *error)
{
	octo_refuse(error, "rte_flow_async_action_list_handle_create(): "
			   "use rte_flow_async_action_handle_create() for each action");
	return NULL;
}

static inline int
octo_refuse_async_action_list_handle_destroy(
	__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t queue_id,
	__rte_unused const struct rte_flow_op_attr *attr,
	__rte_unused struct rte_flow_action_list_handle *handle, __rte_unused void *user_data,
	struct rte_flow_error *error)
{
	return octo_refuse(error, "rte_flow_async_action_list_handle_destroy(): "
				  "use rte_flow_async_action_handle_destroy() for each action");
}

static inline int
octo_refuse_async_action_list_handle_query_update(
	__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t queue_id,
	__rte_unused const struct rte_flow_op_attr *attr,
	__rte_unused const struct rte_flow_action_list_handle *handle,
	__rte_unused const void **update, __rte_unused void **query,
	__rte_unused enum rte_flow_query_update_mode mode, __rte_unused void *user_data,
	struct rte_flow_error *error)
{
	return octo_refuse(error, "rte_flow_async_action_list_handle_query_update(): "
				  "use rte_flow_async_action_handle_query() "
				  "and rte_flow_async_action_handle_update() for each action");
}

#endif /* OCTO_REFUSE_H */
