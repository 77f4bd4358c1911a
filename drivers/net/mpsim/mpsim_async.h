/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_ASYNC_H
#define MPSIM_ASYNC_H

#include <rte_flow_driver.h>

#include "octo_template.h"

#include "mpsim_flow.h"

/**
 * @file
 * The template API of rte_flow: rules from template tables, made and removed
 * through flow queues. All of it belongs to the primary process. A flow queue
 * has one thread at a time, as rte_flow wants it.
 */

#define MPSIM_MAX_FLOW_QUEUES 32
#define MPSIM_MAX_FLOW_OPS 4096    /* that a flow queue may hold */
#define MPSIM_FLOW_OPS_DEFAULT 128 /* that one holds of which no size was asked */

struct mpsim_async_queue;

/** What rte_flow calls a pattern template or an actions template. */
struct mpsim_template {
	struct octo_template common;
	uint32_t directions; /**< of rules that it is for */
	LIST_ENTRY(mpsim_template) list;
};

/** The rules themselves are in the tables of the NIC and the PF, like all others. */
struct rte_flow_template_table {
	struct rte_flow_template_table_attr attr;
	RTE_ATOMIC(uint32_t) nb_flows; /**< not destroyed yet; every flow queue counts here */
	uint8_t nb_patterns;
	uint8_t nb_actions;
	struct mpsim_template *patterns[UINT8_MAX];
	struct mpsim_template *actions[UINT8_MAX];
	LIST_ENTRY(rte_flow_template_table) list;
};

/** What rte_flow_configure() set up. */
struct mpsim_async {
	LIST_HEAD(, mpsim_template) templates;
	LIST_HEAD(, rte_flow_template_table) tables;
	uint16_t nb_queues;
	struct mpsim_async_queue *queues[MPSIM_MAX_FLOW_QUEUES];
};

/* mpsim_async.c: what goes through flow queues */
struct mpsim_async_queue *mpsim_async_queue_create(uint32_t size);
void mpsim_async_queue_free(struct mpsim_pf *pf, struct mpsim_async_queue *q);

/** All rules of the PF are about to go: what was not pushed yet fails. */
void mpsim_async_forget(struct mpsim_pf *pf);

/** A rule of the table is freed. */
void mpsim_async_leave(struct rte_flow_template_table *table);

/** On success the fate belongs to the queue. */
int mpsim_async_enqueue_update(struct rte_eth_dev *dev, uint32_t queue_id,
			       const struct rte_flow_op_attr *attr, struct rte_flow *flow,
			       const struct mpsim_fate *fate, void *user_data,
			       struct rte_flow_error *error);

/* mpsim_template.c: what is set up before; its rules are gone already */
void mpsim_template_free_all(struct mpsim_pf *pf);

#endif /* MPSIM_ASYNC_H */
