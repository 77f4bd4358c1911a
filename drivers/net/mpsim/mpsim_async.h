/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_ASYNC_H
#define MPSIM_ASYNC_H

#include <rte_flow_driver.h>

#include "octo_template.h"

#include "mpsim_flow.h"

/**
 * @file
 * The template API of rte_flow: rules of template tables, created and destroyed through flow
 * queues. In the primary process. A flow queue is used by one thread at a time, as rte_flow
 * requires.
 */

#define MPSIM_MAX_FLOW_QUEUES 32
#define MPSIM_MAX_FLOW_OPS 4096    /* per flow queue, at most */
#define MPSIM_FLOW_OPS_DEFAULT 128 /* per flow queue, if no size is given */

struct mpsim_async_queue;

/** A pattern template or an actions template. */
struct mpsim_template {
	struct octo_template common;
	uint32_t directions; /**< of the rules it can be used for */
	LIST_ENTRY(mpsim_template) list;
};

/** A template table. Its rules are in the tables of the NIC and the PF, like all others. */
struct rte_flow_template_table {
	struct rte_flow_template_table_attr attr;
	RTE_ATOMIC(uint32_t) nb_flows; /**< created and not destroyed; updated by all flow queues */
	uint8_t nb_patterns;
	uint8_t nb_actions;
	struct mpsim_template *patterns[UINT8_MAX];
	struct mpsim_template *actions[UINT8_MAX];
	LIST_ENTRY(rte_flow_template_table) list;
};

/** State set up by rte_flow_configure(). */
struct mpsim_async {
	LIST_HEAD(, mpsim_template) templates;
	LIST_HEAD(, rte_flow_template_table) tables;
	uint16_t nb_queues;
	struct mpsim_async_queue *queues[MPSIM_MAX_FLOW_QUEUES];
};

/* mpsim_async.c: operations of flow queues */
struct mpsim_async_queue *mpsim_async_queue_create(uint32_t size);
void mpsim_async_queue_free(struct mpsim_pf *pf, struct mpsim_async_queue *q);

/** All rules of the PF are about to be freed: operations that were not pushed fail. */
void mpsim_async_forget(struct mpsim_pf *pf);

/** Inform the table that one of its rules is freed. */
void mpsim_async_leave(struct rte_flow_template_table *table);

/** Enqueue an update. On success the queue owns the fate. */
int mpsim_async_enqueue_update(struct rte_eth_dev *dev, uint32_t queue_id,
			       const struct rte_flow_op_attr *attr, struct rte_flow *flow,
			       const struct mpsim_fate *fate, void *user_data,
			       struct rte_flow_error *error);

/* mpsim_template.c: what is set up before; its rules are gone already */
void mpsim_template_free_all(struct mpsim_pf *pf);

#endif /* MPSIM_ASYNC_H */
