/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flow queues. An operation is parsed and checked when it is enqueued, and performed in order
 * when the queue is pushed. It occupies the queue until its result is pulled.
 */

#include <errno.h>
#include <stdlib.h>

#include "mpsim_async.h"
#include "mpsim_flow_ops.h"

enum kind {
	FLOW_CREATE,
	FLOW_DESTROY,
	FLOW_UPDATE,
	HANDLE_CREATE, /* created when enqueued, so that following rules can use it */
	HANDLE_DESTROY,
	HANDLE_UPDATE,
	HANDLE_QUERY,
};

struct op {
	enum kind kind;
	enum rte_flow_op_status status; /* once performed */
	void *user_data;
	struct rte_flow *flow;
	struct rte_flow_action_handle *handle;
	union {
		struct mpsim_fate fate;              /* FLOW_UPDATE: already allocated */
		struct mpsim_indirect_update update; /* HANDLE_UPDATE: already allocated */
		void *data;                          /* HANDLE_QUERY */
	};
};

/* Counters that never wrap: pulled <= performed <= queued <= pulled + size. */
struct mpsim_async_queue {
	uint64_t queued;
	uint64_t performed;
	uint64_t pulled;
	uint32_t size;
	struct op ops[];
};

struct mpsim_async_queue *
mpsim_async_queue_create(uint32_t size)
{
	const uint32_t nb = size == 0 ? MPSIM_FLOW_OPS_DEFAULT : size;
	struct mpsim_async_queue *q = calloc(1, sizeof(*q) + nb * sizeof(q->ops[0]));

	if (q != NULL)
		q->size = nb;
	return q;
}

static struct op *
op_at(struct mpsim_async_queue *q, uint64_t i)
{
	return &q->ops[i % q->size];
}

static struct mpsim_async_queue *
find_queue(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				  "flow queues are used by the primary process");
	else if (pf->async == NULL)
		mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_STATE,
				  "port %s has no flow queues: configure them first",
				  dev->data->name);
	else if (queue_id >= pf->async->nb_queues)
		mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				  "flow queue %u: port %s has %u", queue_id, dev->data->name,
				  pf->async->nb_queues);
	else
		return pf->async->queues[queue_id];
	return NULL;
}

/* Get a queue that has room for an operation, or NULL with *error set. */
static struct mpsim_async_queue *
find_room(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_queue(dev, queue_id, error);

	if (q == NULL || q->queued - q->pulled < q->size)
		return q;
	mpsim_flow_refuse(error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
			  "flow queue %u is full (%u operations): push it, and pull results",
			  queue_id, q->size);
	return NULL;
}

static int
perform_op(struct rte_eth_dev *dev, const struct op *op)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	switch (op->kind) {
	case FLOW_CREATE:
		return mpsim_flow_put(pf, op->flow, NULL);
	case FLOW_DESTROY:
		mpsim_flow_drop(pf, op->flow);
		return 0;
	case FLOW_UPDATE:
		return mpsim_flow_swap_fate(pf, op->flow, &op->fate, NULL);
	case HANDLE_CREATE:
		return 0;
	case HANDLE_DESTROY:
		return mpsim_indirect_destroy(dev, op->handle, NULL);
	case HANDLE_UPDATE:
		return mpsim_indirect_apply(pf, op->handle, &op->update, NULL);
	case HANDLE_QUERY:
		return mpsim_indirect_query(dev, op->handle, op->data, NULL);
	}
	return -EINVAL;
}

static void
perform(struct rte_eth_dev *dev, struct mpsim_async_queue *q)
{
	for (; q->performed < q->queued; q->performed++) {
		struct op *op = op_at(q, q->performed);

		op->status = perform_op(dev, op) == 0 ? RTE_FLOW_OP_SUCCESS : RTE_FLOW_OP_ERROR;
	}
}

static void
enqueue(struct rte_eth_dev *dev, struct mpsim_async_queue *q, const struct rte_flow_op_attr *attr,
	const struct op *op)
{
	*op_at(q, q->queued++) = *op;
	if (attr == NULL || !attr->postpone)
		perform(dev, q);
}

/* Reserve room in the table; mpsim_async_leave() is the inverse. */
static int
enter(struct rte_flow_template_table *table, struct rte_flow_error *error)
{
	if (rte_atomic_fetch_add_explicit(&table->nb_flows, 1, rte_memory_order_relaxed) <
	    table->attr.nb_flows)
		return 0;
	mpsim_async_leave(table);
	return mpsim_flow_refuse(error, ENOSPC, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				 "the template table is full (%u rules)", table->attr.nb_flows);
}

void
mpsim_async_leave(struct rte_flow_template_table *table)
{
	rte_atomic_fetch_sub_explicit(&table->nb_flows, 1, rte_memory_order_relaxed);
}

/* Create a rule from templates and the given values; it is not in any table yet. */
static struct rte_flow *
make_flow(struct rte_eth_dev *dev, const struct rte_flow_template_table *table,
	  const struct rte_flow_item given[], uint8_t pattern_index,
	  const struct rte_flow_action given_actions[], uint8_t actions_index,
	  struct rte_flow_error *error)
{
	struct rte_flow_action actions[OCTO_TEMPLATE_MAX];
	struct rte_flow_item pattern[OCTO_TEMPLATE_MAX];

	if (pattern_index >= table->nb_patterns || actions_index >= table->nb_actions) {
		mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				  "template %u / %u: the table has %u pattern templates "
				  "and %u actions templates",
				  pattern_index, actions_index, table->nb_patterns,
				  table->nb_actions);
		return NULL;
	}
	if (octo_template_fill_pattern(&table->patterns[pattern_index]->common, given, pattern,
				       error) != 0 ||
	    octo_template_fill_actions(&table->actions[actions_index]->common, given_actions,
				       actions, error) != 0)
		return NULL;
	return mpsim_flow_make(dev, &table->attr.flow_attr, pattern, actions, error);
}

struct rte_flow *
mpsim_flow_async_create(struct rte_eth_dev *dev, uint32_t queue_id,
			const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
			const struct rte_flow_item pattern[], uint8_t pattern_index,
			const struct rte_flow_action actions[], uint8_t actions_index,
			void *user_data, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	struct op op = {.kind = FLOW_CREATE, .user_data = user_data};

	if (q == NULL || enter(table, error) != 0)
		return NULL;
	op.flow = make_flow(dev, table, pattern, pattern_index, actions, actions_index, error);
	if (op.flow == NULL) {
		mpsim_async_leave(table);
		return NULL;
	}
	op.flow->template_table = table;
	enqueue(dev, q, attr, &op);
	return op.flow;
}

int
mpsim_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
			 const struct rte_flow_op_attr *attr, struct rte_flow *flow,
			 void *user_data, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	const struct op op = {.kind = FLOW_DESTROY, .user_data = user_data, .flow = flow};

	if (q == NULL)
		return -rte_errno;
	if (flow->template_table == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE,
					 "the rule was not made through a flow queue");
	enqueue(dev, q, attr, &op);
	return 0;
}

int
mpsim_flow_push(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_queue(dev, queue_id, error);

	if (q == NULL)
		return -rte_errno;
	perform(dev, q);
	return 0;
}

int
mpsim_flow_pull(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_op_result results[],
		uint16_t nb_results, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_queue(dev, queue_id, error);
	uint16_t n = 0;

	if (q == NULL)
		return -rte_errno;
	for (; n < nb_results && q->pulled < q->performed; n++) {
		const struct op *op = op_at(q, q->pulled++);

		results[n].status = op->status;
		results[n].user_data = op->user_data;
	}
	return n;
}

int
mpsim_async_enqueue_update(struct rte_eth_dev *dev, uint32_t queue_id,
			   const struct rte_flow_op_attr *attr, struct rte_flow *flow,
			   const struct mpsim_fate *fate, void *user_data,
			   struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	const struct op op = {
		.kind = FLOW_UPDATE,
		.user_data = user_data,
		.flow = flow,
		.fate = *fate,
	};

	if (q == NULL)
		return -rte_errno;
	enqueue(dev, q, attr, &op);
	return 0;
}

struct rte_flow_action_handle *
mpsim_flow_async_action_handle_create(struct rte_eth_dev *dev, uint32_t queue_id,
				      const struct rte_flow_op_attr *attr,
				      const struct rte_flow_indir_action_conf *conf,
				      const struct rte_flow_action *action, void *user_data,
				      struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	struct op op = {.kind = HANDLE_CREATE, .user_data = user_data};

	if (q == NULL)
		return NULL;
	op.handle = mpsim_indirect_create(dev, conf, action, error);
	if (op.handle != NULL)
		enqueue(dev, q, attr, &op);
	return op.handle;
}

int
mpsim_flow_async_action_handle_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
				       const struct rte_flow_op_attr *attr,
				       struct rte_flow_action_handle *handle, void *user_data,
				       struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	const struct op op = {.kind = HANDLE_DESTROY, .user_data = user_data, .handle = handle};

	if (q == NULL)
		return -rte_errno;
	enqueue(dev, q, attr, &op);
	return 0;
}

int
mpsim_flow_async_action_handle_update(struct rte_eth_dev *dev, uint32_t queue_id,
				      const struct rte_flow_op_attr *attr,
				      struct rte_flow_action_handle *handle, const void *update,
				      void *user_data, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	struct op op = {.kind = HANDLE_UPDATE, .user_data = user_data, .handle = handle};
	int ret;

	if (q == NULL)
		return -rte_errno;
	ret = mpsim_indirect_read_update(dev->data->dev_private, handle, update, &op.update, error);
	if (ret == 0)
		enqueue(dev, q, attr, &op);
	return ret;
}

int
mpsim_flow_async_action_handle_query(struct rte_eth_dev *dev, uint32_t queue_id,
				     const struct rte_flow_op_attr *attr,
				     const struct rte_flow_action_handle *handle, void *data,
				     void *user_data, struct rte_flow_error *error)
{
	struct mpsim_async_queue *q = find_room(dev, queue_id, error);
	const struct op op = {
		.kind = HANDLE_QUERY,
		.user_data = user_data,
		.handle = (void *)(uintptr_t)handle,
		.data = data,
	};

	if (q == NULL)
		return -rte_errno;
	enqueue(dev, q, attr, &op);
	return 0;
}

/* Drop operations that were not pushed. The caller frees the rules. */
static void
forget(struct mpsim_pf *pf, struct mpsim_async_queue *q)
{
	for (; q->performed < q->queued; q->performed++) {
		struct op *op = op_at(q, q->performed);

		op->status = op->kind == FLOW_DESTROY ? RTE_FLOW_OP_SUCCESS : RTE_FLOW_OP_ERROR;
		if (op->kind == FLOW_UPDATE)
			mpsim_fate_release(pf, &op->fate);
		if (op->kind == HANDLE_UPDATE)
			mpsim_dest_release(pf, &op->update.dest);
	}
}

void
mpsim_async_forget(struct mpsim_pf *pf)
{
	for (uint16_t i = 0; pf->async != NULL && i < pf->async->nb_queues; i++)
		forget(pf, pf->async->queues[i]);
}

void
mpsim_async_queue_free(struct mpsim_pf *pf, struct mpsim_async_queue *q)
{
	forget(pf, q);
	free(q);
}
