/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flow queues. An operation on a rule is enqueued on every PF and is done when all
 * of them are; if one fails, what the others have done is undone before the
 * application is told. The MPFS rule comes last and goes last: no packet finds a
 * PF without its rule. Results are told in order.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "octo_async_queue.h"
#include "octo_clock.h"
#include "octo_private.h"

#define PULL_BURST 32
#define SETTLE_MS 1000 /* what PFs may take for operations that octo must wait for */

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

const struct rte_flow_queue_attr *
octo_async_queue_attr(const struct octo_async_queue *q)
{
	return &q->attr;
}

static struct op *
op_at(struct octo_async_queue *q, uint64_t i)
{
	return &q->ops[i % q->attr.size];
}

void
octo_async_queue_free(struct octo_async_queue *q)
{
	for (; q->done < q->queued; q->done++)
		if (op_at(q, q->done)->kind == HANDLE_UPDATE)
			rte_free(op_at(q, q->done)->data);
	free(q);
}

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
	rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
	return NULL;
}

/* A new operation, if there is room for it. */
static struct op *
new_op(struct octo_dev *octo, uint32_t queue_id, enum kind kind, void *user_data,
       struct rte_flow_error *error)
{
	struct octo_async_queue *q = find_queue(octo, queue_id, error);
	struct op *op;

	if (q == NULL)
		return NULL;
	if (!octo->started) {
		rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "the port is stopped: start it first");
		return NULL;
	}
	if (q->queued - q->told >= q->attr.size) {
		rte_flow_error_set(error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "the flow queue is full: push it, and pull results");
		return NULL;
	}
	op = op_at(q, q->queued);
	*op = (struct op){.kind = kind, .user_data = user_data};
	return op;
}

static int
push(struct octo_dev *octo, struct octo_async_queue *q, struct rte_flow_error *error)
{
	int first_error = 0;
	int pf;

	q->pushed = q->queued;
	OCTO_FOREACH_ASYNC_PF(octo, pf)
	{
		const struct octo_pf *p = &octo->pf[pf];
		int ret = rte_flow_push(p->port_id, q->id, first_error == 0 ? error : NULL);

		if (ret != 0 && first_error == 0)
			first_error = octo_flow_blame(p, ret, error);
	}
	return first_error;
}

/* The operation is in the queue from now on. */
static void
enqueue(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr)
{
	struct octo_async_queue *q = octo->async->queues[queue_id];

	q->queued++;
	if (attr == NULL || !attr->postpone)
		push(octo, q, NULL);
}

/* All PFs get an operation before any begins with it. */
static const struct rte_flow_op_attr postponed = {.postpone = 1};

static int
create_on_pfs(struct octo_dev *octo, struct op *op, uint16_t queue_id,
	      const struct octo_async_rule *r, const struct rte_flow_action given[],
	      struct rte_flow_error *error)
{
	struct octo_indirect_own own;
	int pf;

	OCTO_FOREACH_ASYNC_PF(octo, pf)
	{
		const struct octo_pf *p = &octo->pf[pf];
		const struct rte_flow_action *actions = octo_indirect_on_pf(given, pf, &own);
		struct rte_flow *on;

		on = rte_flow_async_create(p->port_id, queue_id, &postponed, r->table->on[pf],
					   r->pattern, r->pattern_index, actions, r->actions_index,
					   op, error);
		if (on == NULL)
			return octo_flow_blame(p, -rte_errno, error);
		op->rule->arfs[pf] = on;
		op->awaited |= RTE_BIT32(pf);
	}
	return 0;
}

/*
 * Rejected rules must be destroyed, too. A PF whose queue is full has them until another try;
 * one that is about to go takes them along.
 */
static void
destroy_on_pfs(struct octo_dev *octo, struct op *op, uint16_t queue_id)
{
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		struct rte_flow *on = op->rule->arfs[pf];

		/* without flow queues it is gone with the rule, as it came */
		if (on == NULL || octo->pf[pf].no_flow_queues ||
		    !octo_pf_is(&octo->pf[pf], OCTO_PF_OWNED))
			continue;
		if (rte_flow_async_destroy(octo->pf[pf].port_id, queue_id, &postponed, on, op,
					   NULL) != 0) {
			op->failed = true;
			continue;
		}
		op->rule->arfs[pf] = NULL;
		op->awaited |= RTE_BIT32(pf);
	}
}

/* A rule of a table, with the template's actions; it is on no PF yet. */
static struct rte_flow *
enter_rule(struct octo_dev *octo, const struct octo_async_rule *r,
	   struct rte_flow_action actions[OCTO_TEMPLATE_MAX], struct rte_flow_error *error)
{
	struct rte_flow_item pattern[OCTO_TEMPLATE_MAX];

	if (r->pattern_index >= r->table->nb_patterns || r->actions_index >= r->table->nb_actions) {
		rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "the table has no template with this index");
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
	struct op *op = new_op(octo, queue_id, FLOW_CREATE, user_data, error);
	struct rte_flow_action actions[OCTO_TEMPLATE_MAX];
	int ret;

	if (op == NULL)
		return NULL;
	op->rule = enter_rule(octo, r, actions, error);
	if (op->rule == NULL)
		return NULL;
	op->rule->notes->table = r->table;
	op->rule->notes->flow_queue = (uint16_t)queue_id;
	r->table->nb_flows++;
	ret = create_on_pfs(octo, op, (uint16_t)queue_id, r, actions, error);
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
	op = new_op(octo, queue_id, FLOW_DESTROY, user_data, error);
	if (op == NULL)
		return -rte_errno;
	op->rule = rule;
	destroy_on_pfs(octo, op, (uint16_t)queue_id);
	enqueue(octo, queue_id, attr);
	return 0;
}

/* No PF has it any more. */
static void
free_rule(struct octo_dev *octo, struct rte_flow *rule)
{
	rule->notes->table->nb_flows--;
	rule->notes->table = NULL;
	octo_rule_remove_locked(octo, rule, NULL);
}

/*
 * All PFs have the rule, or one refused it. Returns whether that is the end of it:
 * a rule that was rejected is the application's until it destroys it.
 */
static bool
finish_create(struct octo_dev *octo, struct octo_async_queue *q, struct op *op)
{
	op->rule->pending = false;
	if (!op->failed && octo_rule_place_locked(octo, op->rule, NULL) == 0)
		return true;
	op->failed = true;
	if (!op->undone) {
		op->undone = true;
		destroy_on_pfs(octo, op, q->id);
		push(octo, q, NULL);
		if (op->awaited != 0)
			return false;
	}
	if (op->untold)
		free_rule(octo, op->rule);
	else
		octo_rule_leave_locked(octo, op->rule);
	return true;
}

/* What a PF did not destroy the application may try to destroy again. */
static void
finish_destroy(struct octo_dev *octo, const struct op *op)
{
	if (op->rule != NULL && op->failed)
		octo_rule_leave_locked(octo, op->rule);
	else if (op->rule != NULL)
		free_rule(octo, op->rule);
}

/* Every PF has answered: what there is to do then. Returns whether it is done. */
static bool
finish(struct octo_dev *octo, struct octo_async_queue *q, struct op *op)
{
	int ret = 0;

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

/* What the PFs have to say. Returns whether they had anything. */
static bool
collect(struct octo_dev *octo, struct octo_async_queue *q)
{
	struct rte_flow_op_result results[PULL_BURST];
	bool any = false;
	int pf;

	OCTO_FOREACH_ASYNC_PF(octo, pf)
	{
		const int n = rte_flow_pull(octo->pf[pf].port_id, q->id, results, PULL_BURST, NULL);

		for (int i = 0; i < n; i++) {
			struct op *op = results[i].user_data;

			op->awaited &= ~RTE_BIT32(pf);
			if (results[i].status != RTE_FLOW_OP_SUCCESS)
				op->failed = true;
			any = true;
		}
	}
	return any;
}

/* In order: an operation waits for those before it. */
static void
advance(struct octo_dev *octo, struct octo_async_queue *q)
{
	do {
		while (q->done < q->pushed) {
			struct op *op = op_at(q, q->done);

			if (op->awaited != 0 || !finish(octo, q, op))
				break;
			op->status = op->failed ? RTE_FLOW_OP_ERROR : RTE_FLOW_OP_SUCCESS;
			q->done++;
		}
	} while (collect(octo, q));
}

static int
pull_locked(struct octo_dev *octo, uint32_t queue_id, struct rte_flow_op_result results[],
	    uint16_t nb_results, struct rte_flow_error *error)
{
	struct octo_async_queue *q = find_queue(octo, queue_id, error);
	uint16_t n = 0;

	if (q == NULL)
		return -rte_errno;
	advance(octo, q);
	while (n < nb_results && q->told < q->done) {
		const struct op *op = op_at(q, q->told++);

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

	return q == NULL ? -rte_errno : push(octo, q, error);
}

static struct rte_flow_action_handle *
handle_create_locked(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		     const struct rte_flow_indir_action_conf *conf,
		     const struct rte_flow_action *action, void *user_data,
		     struct rte_flow_error *error)
{
	struct op *op = new_op(octo, queue_id, HANDLE_CREATE, user_data, error);

	if (op == NULL)
		return NULL;
	/* at once, so that rules that are enqueued behind it can name those of the PFs */
	op->handle = octo_indirect_create_locked(octo, conf, action, error);
	if (op->handle == NULL)
		return NULL;
	enqueue(octo, queue_id, attr);
	return op->handle;
}

/* Performed when all before it is done. */
static int
handle_op_locked(struct octo_dev *octo, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		 const struct op *wanted, struct rte_flow_error *error)
{
	struct op *op = new_op(octo, queue_id, wanted->kind, wanted->user_data, error);

	if (op == NULL)
		return -rte_errno;
	op->handle = wanted->handle;
	op->data = wanted->data;
	if (op->kind == HANDLE_UPDATE) {
		op->data = octo_indirect_copy_update(op->handle, wanted->data, error);
		if (op->data == NULL)
			return -rte_errno;
	}
	enqueue(octo, queue_id, attr);
	return 0;
}

/* Nobody hears of this PF any more. */
void
octo_async_forget_pf(struct octo_dev *octo, uint8_t pf)
{
	for (uint16_t i = 0; octo->async != NULL && i < octo->async->nb_queues; i++) {
		struct octo_async_queue *q = octo->async->queues[i];

		for (uint64_t k = q->done; k < q->queued; k++)
			op_at(q, k)->awaited &= ~RTE_BIT32(pf);
	}
}

/* Push, and wait until the PFs have answered it all. */
static void
settle(struct octo_dev *octo, struct octo_async_queue *q)
{
	push(octo, q, NULL);
	for (unsigned int i = 0; i < SETTLE_MS; i++) {
		advance(octo, q);
		if (q->done == q->queued && q->own.awaited == 0)
			return;
		octo_sleep_us(1000);
	}
	OCTO_LOG(WARNING, "port %u: flow queue %u: the PFs do not answer", octo->port_id, q->id);
}

/* The port stops: what was enqueued is done before. */
void
octo_async_settle_locked(struct octo_dev *octo)
{
	for (uint16_t i = 0; octo->async != NULL && i < octo->async->nb_queues; i++)
		settle(octo, octo->async->queues[i]);
}

/* What waits in a queue does not free the rule any more. */
static void
disown(struct octo_dev *octo, struct rte_flow *rule)
{
	for (uint16_t i = 0; i < octo->async->nb_queues; i++) {
		struct octo_async_queue *q = octo->async->queues[i];

		for (uint64_t k = q->done; k < q->queued; k++)
			if (op_at(q, k)->rule == rule)
				op_at(q, k)->rule = NULL;
	}
	rule->pending = false;
}

/* The rule is removed by other means than a flow queue: off the PFs with it. */
void
octo_async_withdraw_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	struct octo_async_queue *q;

	if (rule->notes->table == NULL)
		return;
	/* what there is to do with it in the queues comes first */
	disown(octo, rule);
	octo_async_settle_locked(octo);
	q = octo->async->queues[rule->notes->flow_queue];
	q->own = (struct op){.kind = FLOW_DESTROY, .rule = rule};
	destroy_on_pfs(octo, &q->own, q->id);
	settle(octo, q);
	rule->notes->table->nb_flows--;
}

static struct rte_flow *
async_create(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	     struct rte_flow_template_table *table, const struct rte_flow_item pattern[],
	     uint8_t pattern_index, const struct rte_flow_action actions[], uint8_t actions_index,
	     void *user_data, struct rte_flow_error *error)
{
	const struct octo_async_rule r = {
		.table = table,
		.pattern = pattern,
		.actions = actions,
		.pattern_index = pattern_index,
		.actions_index = actions_index,
	};
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, create_locked(octo, queue_id, attr, &r, user_data, error));
}

static int
async_destroy(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	      struct rte_flow *rule, void *user_data, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, destroy_locked(octo, queue_id, attr, rule, user_data, error));
}

static int
async_push(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, push_locked(octo, queue_id, error));
}

static int
async_pull(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_op_result results[],
	   uint16_t nb_results, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, pull_locked(octo, queue_id, results, nb_results, error));
}

static struct rte_flow_action_handle *
async_handle_create(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		    const struct rte_flow_indir_action_conf *conf,
		    const struct rte_flow_action *action, void *user_data,
		    struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct rte_flow_action_handle *handle;

	octo_lock(octo);
	handle = handle_create_locked(octo, queue_id, attr, conf, action, user_data, error);
	octo_unlock(octo);
	return handle;
}

static int
async_handle_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
		     const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
		     void *user_data, struct rte_flow_error *error)
{
	const struct op op = {.kind = HANDLE_DESTROY, .user_data = user_data, .handle = handle};
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, handle_op_locked(octo, queue_id, attr, &op, error));
}

static int
async_handle_update(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		    struct rte_flow_action_handle *handle, const void *update, void *user_data,
		    struct rte_flow_error *error)
{
	const struct op op = {
		.kind = HANDLE_UPDATE,
		.user_data = user_data,
		.handle = handle,
		.data = (void *)(uintptr_t)update,
	};
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, handle_op_locked(octo, queue_id, attr, &op, error));
}

static int
async_handle_query(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
		   const struct rte_flow_action_handle *handle, void *data, void *user_data,
		   struct rte_flow_error *error)
{
	const struct op op = {
		.kind = HANDLE_QUERY,
		.user_data = user_data,
		.handle = (void *)(uintptr_t)handle,
		.data = data,
	};
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, handle_op_locked(octo, queue_id, attr, &op, error));
}

void
octo_async_fill(struct rte_flow_fp_ops *ops)
{
	ops->async_create = async_create;
	ops->async_destroy = async_destroy;
	ops->push = async_push;
	ops->pull = async_pull;
	ops->async_action_handle_create = async_handle_create;
	ops->async_action_handle_destroy = async_handle_destroy;
	ops->async_action_handle_update = async_handle_update;
	ops->async_action_handle_query = async_handle_query;
}
