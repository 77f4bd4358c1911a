/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_REFUSE_H
#define OCTO_REFUSE_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

struct rte_eth_dev;

/**
 * @file
 * Operations of flow queues that neither driver has. ethdev calls an operation without checking
 * that it is not NULL, so these refuse, and say what to use instead.
 */

__rte_internal
struct rte_flow *
octo_refuse_async_create_by_index(struct rte_eth_dev *dev, uint32_t queue_id,
				  const struct rte_flow_op_attr *attr,
				  struct rte_flow_template_table *table, uint32_t index,
				  const struct rte_flow_action actions[], uint8_t actions_index,
				  void *user_data, struct rte_flow_error *error);
__rte_internal
struct rte_flow *octo_refuse_async_create_by_index_with_pattern(
	struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	struct rte_flow_template_table *table, uint32_t index, const struct rte_flow_item pattern[],
	uint8_t pattern_index, const struct rte_flow_action actions[], uint8_t actions_index,
	void *user_data, struct rte_flow_error *error);
__rte_internal
int octo_refuse_async_actions_update(struct rte_eth_dev *dev, uint32_t queue_id,
				     const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				     const struct rte_flow_action actions[], uint8_t actions_index,
				     void *user_data, struct rte_flow_error *error);
__rte_internal
int octo_refuse_async_action_handle_query_update(struct rte_eth_dev *dev, uint32_t queue_id,
						 const struct rte_flow_op_attr *attr,
						 struct rte_flow_action_handle *handle,
						 const void *update, void *query,
						 enum rte_flow_query_update_mode mode,
						 void *user_data, struct rte_flow_error *error);
__rte_internal
struct rte_flow_action_list_handle *
octo_refuse_async_action_list_handle_create(struct rte_eth_dev *dev, uint32_t queue_id,
					    const struct rte_flow_op_attr *attr,
					    const struct rte_flow_indir_action_conf *conf,
					    const struct rte_flow_action actions[], void *user_data,
					    struct rte_flow_error *error);
__rte_internal
int octo_refuse_async_action_list_handle_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
						 const struct rte_flow_op_attr *attr,
						 struct rte_flow_action_list_handle *handle,
						 void *user_data, struct rte_flow_error *error);
__rte_internal
int octo_refuse_async_action_list_handle_query_update(
	struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	const struct rte_flow_action_list_handle *handle, const void **update, void **query,
	enum rte_flow_query_update_mode mode, void *user_data, struct rte_flow_error *error);

#endif /* OCTO_REFUSE_H */
