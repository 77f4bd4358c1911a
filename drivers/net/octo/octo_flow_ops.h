/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FLOW_OPS_H
#define OCTO_FLOW_OPS_H

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

/*
 * The functions that ethdev calls of rte_flow. Each has the type of the member of its name; the
 * tables are in octo_flow_ops.c, whose place is taken by a file of compat/ where DPDK is older.
 *
 * checkpatch.pl takes a macro that names a struct for a declaration, which these are.
 */
#define typeof_struct_member(type, member) __typeof__(*((struct type){0}).member)
#define OCTO_FLOW_OP(table, member)                                                                \
	typeof_struct_member(rte_flow_##table, member) octo_flow_##member

/* octo_flow.c */
OCTO_FLOW_OP(ops, validate);
OCTO_FLOW_OP(ops, create);
OCTO_FLOW_OP(ops, destroy);
OCTO_FLOW_OP(ops, flush);
OCTO_FLOW_OP(ops, query);
OCTO_FLOW_OP(ops, dev_dump);
OCTO_FLOW_OP(ops, get_aged_flows);
OCTO_FLOW_OP(ops, isolate);
OCTO_FLOW_OP(ops, action_handle_create);
OCTO_FLOW_OP(ops, action_handle_destroy);
OCTO_FLOW_OP(ops, action_handle_update);
OCTO_FLOW_OP(ops, action_handle_query);

/* octo_flow_template.c */
OCTO_FLOW_OP(ops, info_get);
OCTO_FLOW_OP(ops, configure);
OCTO_FLOW_OP(ops, pattern_template_create);
OCTO_FLOW_OP(ops, pattern_template_destroy);
OCTO_FLOW_OP(ops, actions_template_create);
OCTO_FLOW_OP(ops, actions_template_destroy);
OCTO_FLOW_OP(ops, template_table_create);
OCTO_FLOW_OP(ops, template_table_destroy);

/* octo_flow_async.c */
OCTO_FLOW_OP(fp_ops, async_create);
OCTO_FLOW_OP(fp_ops, async_destroy);
OCTO_FLOW_OP(fp_ops, push);
OCTO_FLOW_OP(fp_ops, pull);
OCTO_FLOW_OP(fp_ops, async_action_handle_create);
OCTO_FLOW_OP(fp_ops, async_action_handle_destroy);
OCTO_FLOW_OP(fp_ops, async_action_handle_update);
OCTO_FLOW_OP(fp_ops, async_action_handle_query);

/* octo_flow_update.c, from DPDK 23.07 on */
int octo_flow_actions_update(struct rte_eth_dev *dev, struct rte_flow *rule,
			     const struct rte_flow_action actions[], struct rte_flow_error *error);

/* octo_flow_ops.c */
extern const struct rte_flow_ops octo_flow_ops;
void octo_flow_ops_install(struct rte_eth_dev *dev);

#endif /* OCTO_FLOW_OPS_H */
