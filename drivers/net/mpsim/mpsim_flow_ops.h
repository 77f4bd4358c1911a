/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FLOW_OPS_H
#define MPSIM_FLOW_OPS_H

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

/*
 * What ethdev calls of rte_flow. Each has the type of the member of its name; the tables are in
 * mpsim_flow_ops.c, whose place is taken by a file of compat/ where DPDK is older.
 *
 * checkpatch.pl takes a macro that names a struct for a declaration, which these are.
 */
#define typeof_struct_member(type, member) __typeof__(*((struct type){0}).member)
#define MPSIM_FLOW_OP(table, member)                                                               \
	typeof_struct_member(rte_flow_##table, member) mpsim_flow_##member

/* mpsim_flow.c */
MPSIM_FLOW_OP(ops, validate);
MPSIM_FLOW_OP(ops, create);
MPSIM_FLOW_OP(ops, destroy);
MPSIM_FLOW_OP(ops, flush);
MPSIM_FLOW_OP(ops, isolate);
MPSIM_FLOW_OP(ops, pick_transfer_proxy);

/* mpsim_template.c */
MPSIM_FLOW_OP(ops, info_get);
MPSIM_FLOW_OP(ops, configure);
MPSIM_FLOW_OP(ops, pattern_template_create);
MPSIM_FLOW_OP(ops, pattern_template_destroy);
MPSIM_FLOW_OP(ops, actions_template_create);
MPSIM_FLOW_OP(ops, actions_template_destroy);
MPSIM_FLOW_OP(ops, template_table_create);
MPSIM_FLOW_OP(ops, template_table_destroy);

/* mpsim_async.c */
MPSIM_FLOW_OP(fp_ops, async_create);
MPSIM_FLOW_OP(fp_ops, async_destroy);
MPSIM_FLOW_OP(fp_ops, push);
MPSIM_FLOW_OP(fp_ops, pull);
MPSIM_FLOW_OP(fp_ops, async_action_handle_create);
MPSIM_FLOW_OP(fp_ops, async_action_handle_destroy);
MPSIM_FLOW_OP(fp_ops, async_action_handle_update);
MPSIM_FLOW_OP(fp_ops, async_action_handle_query);

/* mpsim_flow_update.c, from DPDK 23.07 on */
int mpsim_flow_actions_update(struct rte_eth_dev *dev, struct rte_flow *flow,
			      const struct rte_flow_action actions[], struct rte_flow_error *error);
int mpsim_flow_async_actions_update(struct rte_eth_dev *dev, uint32_t queue_id,
				    const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				    const struct rte_flow_action given[], uint8_t actions_index,
				    void *user_data, struct rte_flow_error *error);

/* mpsim_flow_ops.c */
extern const struct rte_flow_ops mpsim_flow_ops;
void mpsim_flow_ops_install(struct rte_eth_dev *dev);
int mpsim_flow_ops_check_table(const struct rte_flow_template_table_attr *attr,
			       struct rte_flow_error *error);

#endif /* MPSIM_FLOW_OPS_H */
