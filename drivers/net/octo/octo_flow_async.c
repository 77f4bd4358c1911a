/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_flow: operations that are enqueued, and their results. */

#include <errno.h>

#include "octo_async_queue.h"
#include "octo_flow_ops.h"
#include "octo_private.h"

static struct octo_async_queue *
find_queue(const struct octo_dev *octo, uint32_t queue_id, struct rte_flow_error *error)
{
	const char *why;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		why = "flow queues are used by the primary process";
	else if (octo->async == NULL)
		why = "there are no flow queues: configure them first";
	else if (queue_id >= octo->async->nb_queues)
		why = "the port has no flow queue with this number";
	else
		return octo->async->queues[queue_id];
	octo_flow_fail(error, EINVAL, why);
	return NULL;
}

/* Returns a new operation, or NULL if the queue is full. */
static struct op *
make_op(struct octo_dev *octo, uint32_t queue_id, enum kind kind, void *user_data,
	struct rte_flow_error *error)
{
	struct octo_async_queue *q = find_queue(octo, queue_id, error);
	struct op *op;

	if (q == NULL)
		return NULL;
	if (!octo->started) {
		octo_flow_fail(error, EINVAL, "the port is stopped: start it first");
		return NULL;
	}
	if (q->queued - q->told >= q->attr.size) {
		octo_flow_fail(error, EAGAIN, "the flow queue is full: push it, and pull results");
		return NULL;
	}
	op = octo_async_op(q, q->queued);
	*op = (struct op){.kind = kind, .user_data = user_data};
	return op;
}

/* Enqueue the operation that make_op() has returned. */
static void
enqueue(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr)
{
	struct octo_async_queue *q = octo->async->queues[queue_id];

	q->queued++;
	if (attr == NULL || !attr->postpone)
		octo_async_push(octo, q, NULL);
}

/* PFs without the table, as those that came back, get the rule after the others. */
static int
create_on_pfs(struct octo_dev *octo, struct op *op, uint16_t queue_id,
	      const struct octo_async_rule *r, const struct rte_flow_action given[],
	      struct rte_flow_error *error)
{
	struct octo_indirect_own own;
	uint32_t pfs = UINT32_MAX;
	int ret = 0;
	int pf;

	if (op->rule->generic)
		ret = octo_app_spec_pfs(octo, op->rule->ext->app_spec.rule, &pfs, error);
	if (ret != 0)
		return ret;

	OCTO_FOREACH_ASYNC_PORT(octo, pf) {
		const struct octo_port *p = &octo->port[pf];
		const struct rte_flow_action *actions = octo_indirect_on_pf(octo, given, pf, &own);
		struct rte_flow_template_table *table = octo_port_object(p, &r->table->on[pf]);
		const uint32_t life = p->fsm.life;
		struct rte_flow *on;

		if ((pfs & RTE_BIT32(pf)) == 0 || table == NULL)
			continue;
		on = rte_flow_async_create(p->port_id, queue_id, &octo_async_postponed, table,
					   r->pattern, r->pattern_index, actions, r->actions_index,
					   op, error);
		if (on == NULL)
			return octo_flow_blame(p, -rte_errno, error);
		op->rule->arfs[pf] = octo_handle_make(on, life);
		op->awaited |= RTE_BIT32(pf);
	}
	return 0;
}

/* A rule of a table, with its template's actions; on no PF so far. */
static struct rte_flow *
enter_rule(struct octo_dev *octo, const struct octo_async_rule *r,
	   struct rte_flow_action actions[OCTO_TEMPLATE_MAX], struct rte_flow_error *error)
{
	struct rte_flow_item pattern[OCTO_TEMPLATE_MAX];

	if (r->pattern_index >= r->table->nb_patterns || r->actions_index >= r->table->nb_actions) {
		octo_flow_fail(error, EINVAL, "the table has no template with this index");
		return NULL;
	}
	if (octo_template_fill_pattern(&r->table->patterns[r->pattern_index]->common, r->pattern,
				       pattern, error) != 0 ||
	    octo_template_fill_actions(&r->table->actions[r->actions_index]->common, r->actions,
				       actions, error) != 0)
		return NULL;
	return octo_flow_enter_locked(octo, &r->table->attr, pattern, actions, error);
}

static struct rte_flow *
create_locked(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	      const struct octo_async_rule *r, void *user_data, struct rte_flow_error *error)
{
	struct op *op = make_op(octo, queue_id, FLOW_CREATE, user_data, error);
	struct rte_flow_action actions[OCTO_TEMPLATE_MAX];
	int ret;

	if (op == NULL)
		return NULL;
	op->rule = enter_rule(octo, r, actions, error);
	if (op->rule == NULL)
		return NULL;
	op->rule->ext->table = r->table;
	op->rule->ext->flow_queue = (uint16_t)queue_id;
	r->table->nb_flows++;
	/* the copy of AGE has the context by which the PFs report the rule */
	ret = create_on_pfs(octo, op, (uint16_t)queue_id, r,
			    op->rule->generic ? op->rule->ext->app_spec.rule->actions_ro : actions,
			    error);
	op->failed = ret != 0;
	op->untold = ret != 0;
	enqueue(octo, queue_id, ret == 0 ? attr : NULL);
	rte_errno = -ret;
	return ret == 0 ? op->rule : NULL;
}

static int
destroy_locked(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	       struct rte_flow *rule, void *user_data, struct rte_flow_error *error)
{
	struct op *op;

	if (!rule->by_table)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
					  "the rule was not made through a flow queue");
	op = make_op(octo, queue_id, FLOW_DESTROY, user_data, error);
	if (op == NULL)
		return -rte_errno;
	op->rule = rule;
	octo_async_destroy_on_pfs(octo, op, (uint16_t)queue_id);
	enqueue(octo, queue_id, attr);
	return 0;
}

static int
pull_locked(struct octo_dev *octo, uint32_t queue_id, struct rte_flow_op_result results[],
	    uint16_t nb_results, struct rte_flow_error *error)
{
	struct octo_async_queue *q = find_queue(octo, queue_id, error);
	uint16_t n = 0;

	if (q == NULL)
		return -rte_errno;
	octo_async_advance(octo, q);
	while (n < nb_results && q->told < q->done) {
		const struct op *op = octo_async_op(q, q->told++);

		if (op->untold)
			continue;
		results[n].status = op->status;
		results[n++].user_data = op->user_data;
	}
	return n;
}

static int
push_locked(struct octo_dev *octo, uint32_t queue_id, struct rte_flow_error *error)
{
	struct octo_async_queue *q = find_queue(octo, queue_id, error);

	return q == NULL ? -rte_errno : octo_async_push(octo, q, error);
}

static struct rte_flow_action_handle *
handle_create_locked(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		     const struct rte_flow_indir_action_conf *conf,
		     const struct rte_flow_action *action, void *user_data,
		     struct rte_flow_error *error)
{
	struct op *op = make_op(octo, queue_id, HANDLE_CREATE, user_data, error);

	if (op == NULL)
		return NULL;
	/* created at once, so that rules enqueued later can refer to the PFs' handles */
	op->handle = octo_indirect_create_locked(octo, conf, action, error);
	if (op->handle == NULL)
		return NULL;
	enqueue(octo, queue_id, attr);
	return op->handle;
}

/* Enqueue an operation on a handle; it is performed when all earlier ones are done. */
static int
handle_op_locked(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		 const struct op *wanted, struct rte_flow_error *error)
{
	struct op *op = make_op(octo, queue_id, wanted->kind, wanted->user_data, error);

	if (op == NULL)
		return -rte_errno;
	op->handle = wanted->handle;
	op->data = wanted->data;
	if (op->kind == HANDLE_UPDATE) {
		op->data = octo_indirect_copy_update(op->handle, wanted->data, error);
		if (op->data == NULL)
			return -rte_errno;
	}
	op->handle->pending++;
	enqueue(octo, queue_id, attr);
	return 0;
}

struct rte_flow *
octo_flow_async_create(struct rte_eth_dev *dev, uint32_t queue_id,
		       const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
		       const struct rte_flow_item pattern[], uint8_t pattern_index,
		       const struct rte_flow_action actions[], uint8_t actions_index,
		       void *user_data, struct rte_flow_error *error)
{
	const struct octo_async_rule r = {
		.table = table,
		.pattern = pattern,
		.actions = actions,
		.pattern_index = pattern_index,
		.actions_index = actions_index,
	};

	return OCTO_CALL_LOCKED(dev, create_locked, queue_id, attr, &r, user_data, error);
}

int
octo_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
			const struct rte_flow_op_attr *attr, struct rte_flow *rule, void *user_data,
			struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, destroy_locked, queue_id, attr, rule, user_data, error);
}

int
octo_flow_push(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, push_locked, queue_id, error);
}

int
octo_flow_pull(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_op_result results[],
	       uint16_t nb_results, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, pull_locked, queue_id, results, nb_results, error);
}

struct rte_flow_action_handle *
octo_flow_async_action_handle_create(struct rte_eth_dev *dev, uint32_t queue_id,
				     const struct rte_flow_op_attr *attr,
				     const struct rte_flow_indir_action_conf *conf,
				     const struct rte_flow_action *action, void *user_data,
				     struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, handle_create_locked, queue_id, attr, conf, action, user_data,
				error);
}

int
octo_flow_async_action_handle_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
				      const struct rte_flow_op_attr *attr,
				      struct rte_flow_action_handle *handle, void *user_data,
				      struct rte_flow_error *error)
{
	const struct op op = {.kind = HANDLE_DESTROY, .user_data = user_data, .handle = handle};

	return OCTO_CALL_LOCKED(dev, handle_op_locked, queue_id, attr, &op, error);
}

int
octo_flow_async_action_handle_update(struct rte_eth_dev *dev, uint32_t queue_id,
				     const struct rte_flow_op_attr *attr,
				     struct rte_flow_action_handle *handle, const void *update,
				     void *user_data, struct rte_flow_error *error)
{
	const struct op op = {
		.kind = HANDLE_UPDATE,
		.user_data = user_data,
		.handle = handle,
		.data = (void *)(uintptr_t)update,
	};

	return OCTO_CALL_LOCKED(dev, handle_op_locked, queue_id, attr, &op, error);
}

int
octo_flow_async_action_handle_query(struct rte_eth_dev *dev, uint32_t queue_id,
				    const struct rte_flow_op_attr *attr,
				    const struct rte_flow_action_handle *handle, void *data,
				    void *user_data, struct rte_flow_error *error)
{
	const struct op op = {
		.kind = HANDLE_QUERY,
		.user_data = user_data,
		.handle = (void *)(uintptr_t)handle,
		.data = data,
	};

	return OCTO_CALL_LOCKED(dev, handle_op_locked, queue_id, attr, &op, error);
}
