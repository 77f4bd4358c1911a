/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FLOW_ASYNC_H
#define OCTO_FLOW_ASYNC_H

#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow.h>
#include <rte_flow_driver.h>

#include "octo_life.h"
#include "octo_plan.h"
#include "octo_template.h"

#define OCTO_FLOW_OPS_DEFAULT 128 /* of a flow queue without a size */

struct octo_async_queue;
struct octo_dev;

/* A template of either kind: those of the PFs, and a copy with which rules are parsed. */
struct octo_pf_template {
	struct octo_template common;
	struct octo_handle on[OCTO_PLAN_MAX_PFS]; /* by port */
	LIST_ENTRY(octo_pf_template) next;
};

struct rte_flow_template_table {
	struct rte_flow_attr attr;                /* of its rules */
	struct octo_handle on[OCTO_PLAN_MAX_PFS]; /* by port */
	uint32_t nb_flows;                        /* that are not destroyed */
	uint8_t nb_patterns;
	uint8_t nb_actions;
	struct octo_pf_template *patterns[UINT8_MAX];
	struct octo_pf_template *actions[UINT8_MAX];
	LIST_ENTRY(rte_flow_template_table) next;
};

/* Set up by rte_flow_configure(): flow queue Q corresponds to flow queue Q of every PF. */
struct octo_async {
	LIST_HEAD(, octo_pf_template) templates;
	LIST_HEAD(, rte_flow_template_table) tables;
	struct rte_flow_port_attr attr;
	uint16_t nb_queues;
	struct octo_async_queue *queues[]; /* by id */
};

/* A rule as passed to rte_flow_async_create(). */
struct octo_async_rule {
	struct rte_flow_template_table *table;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
	uint8_t pattern_index;
	uint8_t actions_index;
};

/* octo_flow_template.c; all under the control mutex */
void octo_template_free_locked(struct octo_dev *octo);

/* octo_async.c; all under the control mutex */
struct octo_async_queue *octo_async_queue_create(uint16_t id, uint32_t size);
void octo_async_queue_free(struct octo_async_queue *q);
void octo_async_settle_locked(struct octo_dev *octo);
int octo_async_withdraw_locked(struct octo_dev *octo, struct rte_flow *rule,
			       struct rte_flow_error *error);
void octo_async_leave_table(struct rte_flow *rule);

#endif /* OCTO_FLOW_ASYNC_H */
