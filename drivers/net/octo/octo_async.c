/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flow queues. An operation on a rule is enqueued on every PF and is done when all of them have
 * completed it; if one fails, it is undone on the others before the application gets the
 * result. The MPFS rule is installed last and removed first: no packet finds a PF without its
 * rule. Results are returned in order.
 */

#include <stdlib.h>

#include <rte_malloc.h>

#include "octo_async_queue.h"
#include "octo_clock.h"
#include "octo_private.h"

const struct rte_flow_op_attr octo_async_postponed = {.postpone = 1};

#define PULL_BURST 32
#define SETTLE_MS 1000 /* time limit for PFs to complete operations that octo waits for */

struct octo_async_queue *
octo_async_queue_create(uint16_t id, uint32_t size)
{
	const uint32_t nb = size == 0 ? OCTO_FLOW_OPS_DEFAULT : size;
	struct octo_async_queue *q = calloc(1, sizeof(*q) + nb * sizeof(q->ops[0]));

	if (q == NULL)
		return NULL;
	q->id = id;
	q->attr.size = nb;
	return q;
}

struct op *
octo_async_op(struct octo_async_queue *q, uint64_t i)
{
	return &q->ops[i % q->attr.size];
}

/* The operation, which was on an indirect action, is done or given up. */
static void
release_handle(const struct op *op)
{
	if (op->kind == HANDLE_DESTROY || op->kind == HANDLE_UPDATE || op->kind == HANDLE_QUERY)
		op->handle->pending--;
}

void
octo_async_queue_free(struct octo_async_queue *q)
{
	for (; q->done < q->queued; q->done++) {
		struct op *op = octo_async_op(q, q->done);

		release_handle(op);
		if (op->kind == HANDLE_UPDATE)
			rte_free(op->data);
	}
	free(q);
}

int
octo_async_push(struct octo_dev *octo, struct octo_async_queue *q, struct rte_flow_error *error)
{
	int first_error = 0;
	int pf;

	q->pushed = q->queued;
	OCTO_FOREACH_ASYNC_PORT(octo, pf) {
		const struct octo_port *p = &octo->port[pf];
		int ret = rte_flow_push(p->port_id, q->id, first_error == 0 ? error : NULL);

		if (ret != 0 && first_error == 0)
			first_error = octo_flow_blame(p, ret, error);
	}
	return first_error;
}

/*
 * Also destroys rejected rules. A PF whose queue is full keeps its rule until the next attempt;
 * a PF that is about to be removed takes its rule along. A PF's handle is of no use after the call,
 * whatever the result (rte_flow_async_destroy()).
 */
void
octo_async_destroy_on_pfs(struct octo_dev *octo, struct op *op, uint16_t queue_id)
{
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++) {
		struct rte_flow *on = octo_rule_on(octo, op->rule, pf);

		/* without the table the rule was created, and is destroyed, synchronously */
		if (on == NULL || !octo_fanout_goes_by_flow_queue(octo, op->rule, pf) ||
		    !octo_port_is(&octo->port[pf], OCTO_PORT_IDLE))
			continue;
		if (rte_flow_async_destroy(octo->port[pf].port_id, queue_id, &octo_async_postponed,
					   on, op, NULL) != 0) {
			op->failed = true;
			continue;
		}
		op->rule->arfs[pf] = (struct octo_handle){0};
		op->awaited |= RTE_BIT32(pf);
	}
}

/* Mask of PFs whose answers are awaited: a PF that is lost does not answer. */
static uint32_t
awaited(const struct octo_dev *octo, const struct op *op)
{
	uint32_t mask = 0;
	int pf;

	if (op->awaited == 0)
		return 0;
	OCTO_FOREACH_ASYNC_PORT(octo, pf)
		mask |= RTE_BIT32(pf);
	return op->awaited & mask;
}

/* Called when no PF has the rule any more. */
static void
free_rule(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_async_leave_table(rule);
	octo_rule_remove_locked(octo, rule, NULL);
}

/*
 * All PFs have the rule, or one refused it. Returns whether the operation is complete: a
 * rejected rule stays with the application until it destroys it.
 */
static bool
finish_create(struct octo_dev *octo, struct octo_async_queue *q, struct op *op)
{
	op->rule->pending = false;
	if (!op->failed && octo_rule_install_locked(octo, op->rule, NULL) == 0)
		return true;
	op->failed = true;
	if (!op->undone) {
		op->undone = true;
		octo_async_destroy_on_pfs(octo, op, q->id);
		octo_async_push(octo, q, NULL);
		if (awaited(octo, op) != 0)
			return false;
	}
	if (op->untold)
		free_rule(octo, op->rule);
	else
		octo_rule_leave_locked(octo, op->rule);
	return true;
}

/*
 * A rule that the switch, or a PF without a flow queue, failed to destroy stays valid: the
 * application may destroy it again. What is not in a flow queue is removed here.
 */
static void
finish_destroy(struct octo_dev *octo, struct op *op)
{
	if (op->rule == NULL)
		return;
	if (octo_fanout_remove_locked(octo, op->rule, NULL) != 0)
		op->failed = true;
	if (op->failed)
		octo_rule_leave_locked(octo, op->rule);
	else
		free_rule(octo, op->rule);
}

/* Called when every PF has answered. Returns whether the operation is complete. */
static bool
finish(struct octo_dev *octo, struct octo_async_queue *q, struct op *op)
{
	int ret = 0;

	release_handle(op);
	switch (op->kind) {
	case FLOW_CREATE:
		return op->rule == NULL || finish_create(octo, q, op);
	case FLOW_DESTROY:
		finish_destroy(octo, op);
		return true;
	case HANDLE_DESTROY:
		ret = octo_indirect_destroy_locked(octo, op->handle, NULL);
		break;
	case HANDLE_UPDATE:
		ret = octo_indirect_update_locked(octo, op->handle, op->data, NULL);
		rte_free(op->data);
		break;
	case HANDLE_QUERY:
		ret = octo_indirect_query_locked(octo, op->handle, op->data, NULL);
		break;
	case HANDLE_CREATE:
		break;
	}
	op->failed = ret != 0;
	return true;
}

/* Pulls the results of all PFs. Returns whether there were any. */
static bool
collect(struct octo_dev *octo, struct octo_async_queue *q)
{
	struct rte_flow_op_result results[PULL_BURST];
	bool any = false;
	int pf;

	OCTO_FOREACH_ASYNC_PORT(octo, pf) {
		const int n = rte_flow_pull(octo->port[pf].port_id, q->id, results, PULL_BURST,
					    NULL);

		for (int i = 0; i < n; i++) {
			struct op *op = results[i].user_data;

			any = true;
			/* of an earlier own operation, for which octo waited in vain */
			if (op == &q->own &&
			    (--q->own_results[pf] != 0 || !(op->awaited & RTE_BIT32(pf))))
				continue;
			op->awaited &= ~RTE_BIT32(pf);
			if (results[i].status != RTE_FLOW_OP_SUCCESS)
				op->failed = true;
		}
	}
	return any;
}

/* Operations complete in order: each waits for those before it. */
void
octo_async_advance(struct octo_dev *octo, struct octo_async_queue *q)
{
	do {
		while (q->done < q->pushed) {
			struct op *op = octo_async_op(q, q->done);

			if (awaited(octo, op) != 0 || !finish(octo, q, op))
				break;
			op->status = op->failed ? RTE_FLOW_OP_ERROR : RTE_FLOW_OP_SUCCESS;
			q->done++;
		}
	} while (collect(octo, q));
}

/* Push, and wait until the PFs have answered everything. */
static void
settle(struct octo_dev *octo, struct octo_async_queue *q)
{
	octo_async_push(octo, q, NULL);
	for (unsigned int i = 0; i < SETTLE_MS; i++) {
		octo_async_advance(octo, q);
		if (q->done == q->queued && awaited(octo, &q->own) == 0)
			return;
		octo_sleep_us(1000);
	}
	OCTO_LOG(WARNING, "port %u: flow queue %u: the PFs do not answer", octo->port_id, q->id);
}

/* Called when the port stops: enqueued operations are completed first. */
void
octo_async_settle_locked(struct octo_dev *octo)
{
	for (uint16_t i = 0; octo->async != NULL && i < octo->async->nb_queues; i++)
		settle(octo, octo->async->queues[i]);
}

/* Operations that are still in a queue no longer refer to the rule, and do not free it. */
static void
disown(struct octo_dev *octo, struct rte_flow *rule)
{
	for (uint16_t i = 0; i < octo->async->nb_queues; i++) {
		struct octo_async_queue *q = octo->async->queues[i];

		for (uint64_t k = q->done; k < q->queued; k++)
			if (octo_async_op(q, k)->rule == rule)
				octo_async_op(q, k)->rule = NULL;
	}
	rule->pending = false;
}

/*
 * The rule is removed without a flow queue: remove it from the PFs, too. A PF that does not answer
 * has not failed.
 */
int
octo_async_withdraw_locked(struct octo_dev *octo, struct rte_flow *rule,
			   struct rte_flow_error *error)
{
	struct octo_async_queue *q;

	if (rule->ext->table == NULL)
		return 0;
	/* operations on the rule that are still in the queues are completed first */
	disown(octo, rule);
	octo_async_settle_locked(octo);
	q = octo->async->queues[rule->ext->flow_queue];
	q->own = (struct op){.kind = FLOW_DESTROY, .rule = rule};
	octo_async_destroy_on_pfs(octo, &q->own, q->id);
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		q->own_results[pf] += (q->own.awaited & RTE_BIT32(pf)) != 0;
	settle(octo, q);
	/* a result that comes later must not find it */
	q->own.rule = NULL;
	return !q->own.failed ? 0 :
				rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
						   "a PF failed to destroy the rule");
}

/* The rule is about to be freed. */
void
octo_async_leave_table(struct rte_flow *rule)
{
	if (rule->ext->table != NULL)
		rule->ext->table->nb_flows--;
	rule->ext->table = NULL;
}
