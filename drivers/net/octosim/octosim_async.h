/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_ASYNC_H
#define OCTOSIM_ASYNC_H

#include <rte_flow_driver.h>

#include "octo_template.h"

#include "octosim_flow.h"

/**
 * @file
 * The template API of rte_flow: rules from template tables, made and removed
 * through flow queues. All of it belongs to the primary process. A flow queue
 * has one thread at a time, as rte_flow wants it.
 */

#define OCTOSIM_MAX_FLOW_QUEUES 32
#define OCTOSIM_MAX_FLOW_OPS 4096    /* that a flow queue may hold */
#define OCTOSIM_FLOW_OPS_DEFAULT 128 /* that one holds of which no size was asked */

struct octosim_async_queue;

/** What rte_flow calls a pattern template or an actions template. */
struct octosim_template {
	struct octo_template common;
	uint32_t directions; /**< of rules that it is for */
	LIST_ENTRY(octosim_template) list;
};

/** The rules themselves are in the tables of the NIC and the PF, like all others. */
struct rte_flow_template_table {
	struct rte_flow_template_table_attr attr;
	RTE_ATOMIC(uint32_t) nb_flows; /**< not destroyed yet; every flow queue counts here */
	uint8_t nb_patterns;
	uint8_t nb_actions;
	struct octosim_template *patterns[UINT8_MAX];
	struct octosim_template *actions[UINT8_MAX];
	LIST_ENTRY(rte_flow_template_table) list;
};

/** What rte_flow_configure() set up. */
struct octosim_async {
	LIST_HEAD(, octosim_template) templates;
	LIST_HEAD(, rte_flow_template_table) tables;
	uint16_t nb_queues;
	struct octosim_async_queue *queues[OCTOSIM_MAX_FLOW_QUEUES];
};

/* octosim_async.c: what goes through flow queues */
struct octosim_async_queue *octosim_async_queue_create(uint32_t size);
void octosim_async_queue_free(struct octosim_pf *pf, struct octosim_async_queue *q);

/** All rules of the PF are about to go: what was not pushed yet fails. */
void octosim_async_forget(struct octosim_pf *pf);

/** A rule of the table is freed. */
void octosim_async_leave(struct rte_flow_template_table *table);

/** On success the fate belongs to the queue. */
int octosim_async_enqueue_update(struct rte_eth_dev *dev, uint32_t queue_id,
				 const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				 const struct octosim_fate *fate, void *user_data,
				 struct rte_flow_error *error);

/** Where these ops are depends on the DPDK: see octosim_async_install(). */
void octosim_async_fill(struct rte_flow_fp_ops *ops);

/* octosim_flow_update.c, from DPDK 23.07 on */
void octosim_update_fill(struct rte_flow_fp_ops *ops);

/* octosim_template.c: what is set up before; its rules are gone already */
void octosim_template_free_all(struct octosim_pf *pf);

/* octosim_async_ops.c; its place is taken by a file of compat/ where DPDK is older */
void octosim_async_install(struct rte_eth_dev *dev);
int octosim_async_check_table(const struct rte_flow_template_table_attr *attr,
			      struct rte_flow_error *error);

#endif /* OCTOSIM_ASYNC_H */
