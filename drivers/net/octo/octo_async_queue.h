/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ASYNC_QUEUE_H
#define OCTO_ASYNC_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_plan.h"

struct octo_dev;

/* The content of a flow queue; for octo_async.c, octo_flow_async.c and octo_flow_template.c. */

enum kind {
	FLOW_CREATE,
	FLOW_DESTROY,
	HANDLE_CREATE,
	HANDLE_DESTROY,
	HANDLE_UPDATE,
	HANDLE_QUERY,
};

struct op {
	enum kind kind;
	enum rte_flow_op_status status; /* once done */
	uint32_t awaited; /* mask of PFs that have not completed it; some may be lost */
	bool failed;      /* a PF failed it, or it could not be enqueued on all */
	bool undone;      /* it failed and is being undone */
	bool untold;      /* the application does not know of it */
	void *user_data;
	struct rte_flow *rule;
	struct rte_flow_action_handle *handle;
	void *data; /* HANDLE_UPDATE: a copy of the update; HANDLE_QUERY: where the result goes */
};

/* Counters that never wrap: told <= done <= pushed <= queued <= told + size. */
struct octo_async_queue {
	uint64_t queued;
	uint64_t pushed;
	uint64_t done;
	uint64_t told;
	struct rte_flow_queue_attr attr; /* what was requested of the PFs */
	uint16_t id;
	struct op own;                           /* octo's own operation, for which it waits */
	uint32_t own_results[OCTO_PLAN_MAX_PFS]; /* due, also of earlier ones */
	struct op ops[];
};

/* Postponed, so that all PFs have an operation enqueued before any PF starts it. */
extern const struct rte_flow_op_attr octo_async_postponed;

/* octo_async.c; all under the control mutex */
struct op *octo_async_op(struct octo_async_queue *q, uint64_t i);
int
octo_async_push(struct octo_dev *octo, struct octo_async_queue *q, struct rte_flow_error *error);
void octo_async_destroy_on_pfs(struct octo_dev *octo, struct op *op, uint16_t queue_id);
void octo_async_advance(struct octo_dev *octo, struct octo_async_queue *q);

#endif /* OCTO_ASYNC_QUEUE_H */
