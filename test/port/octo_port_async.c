/* SPDX-License-Identifier: BSD-3-Clause */

#include <ethdev_driver.h>

#include "octo_port_async.h"

uint16_t (*octo_port_results_given)(uint16_t pf);
uint16_t octo_port_fail_destroy = RTE_MAX_ETHPORTS;

/* The result of a destruction that was not begun. */
static struct {
	struct rte_flow_op_result result;
	const struct rte_eth_dev *dev;
} failed;

int
__real_mpsim_flow_pull(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_op_result results[],
		       uint16_t nb, struct rte_flow_error *error);
int
__wrap_mpsim_flow_pull(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_op_result results[],
		       uint16_t nb, struct rte_flow_error *error);

int
__wrap_mpsim_flow_pull(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_op_result results[],
		       uint16_t nb, struct rte_flow_error *error)
{
	if (octo_port_results_given != NULL)
		nb = RTE_MIN(nb, octo_port_results_given(dev->data->port_id));
	if (nb > 0 && failed.dev == dev) {
		results[0] = failed.result;
		failed.dev = NULL;
		return 1;
	}
	return __real_mpsim_flow_pull(dev, queue, results, nb, error);
}

int __real_mpsim_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue,
				    const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				    void *user_data, struct rte_flow_error *error);
int __wrap_mpsim_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue,
				    const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				    void *user_data, struct rte_flow_error *error);

int
__wrap_mpsim_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue,
				const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				void *user_data, struct rte_flow_error *error)
{
	if (octo_port_fail_destroy != dev->data->port_id)
		return __real_mpsim_flow_async_destroy(dev, queue, attr, flow, user_data, error);
	octo_port_fail_destroy = RTE_MAX_ETHPORTS;
	failed.result.status = RTE_FLOW_OP_ERROR;
	failed.result.user_data = user_data;
	failed.dev = dev;
	return 0;
}

void
octo_port_queue_action(struct rte_flow_action *action, struct rte_flow_action_queue *queue,
		       uint16_t index)
{
	queue->index = index;
	*action = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = queue};
}

struct rte_flow_action_handle *
octo_port_indirect_queue(uint16_t port, uint16_t queue)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_action_handle *handle;
	struct rte_flow_action_queue index;
	struct rte_flow_action action;

	octo_port_queue_action(&action, &index, queue);
	handle = rte_flow_action_handle_create(port, &conf, &action, NULL);
	assert_non_null(handle);
	return handle;
}

struct rte_flow *
octo_port_steer_by(uint16_t port, uint16_t src_port, struct rte_flow_action_handle *queue,
		   struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, 0);
	return rte_flow_create(port, &r.attr, r.pattern, actions, error);
}

struct rte_flow *
octo_port_steer_and_count_by(uint16_t port, uint16_t src_port, uint16_t queue,
			     struct rte_flow_action_handle *count, struct rte_flow_error *error)
{
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, queue);
	r.actions[1] = (struct rte_flow_action){
		.type = RTE_FLOW_ACTION_TYPE_INDIRECT,
		.conf = count,
	};
	r.actions[2] = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_END};
	return rte_flow_create(port, &r.attr, r.pattern, r.actions, error);
}

int
octo_port_flow_queues(uint16_t port, uint16_t nb, uint32_t size, struct rte_flow_error *error)
{
	const struct rte_flow_queue_attr queue = {.size = size};
	const struct rte_flow_queue_attr *queues[64];
	const struct rte_flow_port_attr attr = {0};

	assert_true(nb <= RTE_DIM(queues));
	for (uint16_t i = 0; i < nb; i++)
		queues[i] = &queue;
	return rte_flow_configure(port, &attr, nb, queues, error);
}

void
octo_port_table_create_as(struct octo_port_table *t, uint16_t port, uint32_t nb_flows,
			  const struct rte_flow_action *actions,
			  const struct rte_flow_action *masks)
{
	const struct rte_flow_template_table_attr attr = {.flow_attr.ingress = 1,
							  .nb_flows = nb_flows};
	const struct rte_flow_pattern_template_attr pattern_attr = {.ingress = 1};
	const struct rte_flow_actions_template_attr actions_attr = {.ingress = 1};
	struct octo_flow_rule r;

	octo_port_build(&r, 0, 0);
	t->port = port;
	t->pattern = rte_flow_pattern_template_create(port, &pattern_attr, r.pattern, NULL);
	assert_non_null(t->pattern);
	t->actions = rte_flow_actions_template_create(port, &actions_attr, actions, masks, NULL);
	assert_non_null(t->actions);
	t->table = rte_flow_template_table_create(port, &attr, &t->pattern, 1, &t->actions, 1,
						  NULL);
	assert_non_null(t->table);
}

void
octo_port_table_create(struct octo_port_table *t, uint16_t port, uint32_t nb_flows)
{
	const struct rte_flow_action_queue open = {0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &open},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	octo_port_table_create_as(t, port, nb_flows, actions, actions);
}

void
octo_port_table_create_by_handle(struct octo_port_table *t, uint16_t port, uint32_t nb_flows)
{
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	/* for what is behind it */
	const struct rte_flow_action masks[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	octo_port_table_create_as(t, port, nb_flows, actions, masks);
}

void
octo_port_table_destroy(struct octo_port_table *t)
{
	assert_int_equal(rte_flow_template_table_destroy(t->port, t->table, NULL), 0);
	assert_int_equal(rte_flow_actions_template_destroy(t->port, t->actions, NULL), 0);
	assert_int_equal(rte_flow_pattern_template_destroy(t->port, t->pattern, NULL), 0);
}

struct rte_flow *
octo_port_enqueue(const struct octo_port_table *t, uint16_t src_port, uint16_t queue, bool postpone,
		  struct rte_flow_error *error)
{
	const struct rte_flow_op_attr attr = {.postpone = postpone};
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, queue);
	return rte_flow_async_create(t->port, 0, &attr, t->table, r.pattern, 0, r.actions, 0,
				     (void *)(uintptr_t)src_port, error);
}

struct rte_flow *
octo_port_enqueue_by(const struct octo_port_table *t, uint16_t src_port,
		     struct rte_flow_action_handle *queue, bool postpone)
{
	const struct rte_flow_op_attr attr = {.postpone = postpone};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, 0);
	return rte_flow_async_create(t->port, 0, &attr, t->table, r.pattern, 0, actions, 0,
				     (void *)(uintptr_t)src_port, NULL);
}

int
octo_port_enqueue_destroy(uint16_t port, struct rte_flow *flow, uint16_t src_port, bool postpone)
{
	const struct rte_flow_op_attr attr = {.postpone = postpone};

	return rte_flow_async_destroy(port, 0, &attr, flow, (void *)(uintptr_t)src_port, NULL);
}

void
octo_port_pull(uint16_t port, uint16_t src_port, enum rte_flow_op_status status)
{
	struct rte_flow_op_result result;

	assert_int_equal(rte_flow_pull(port, 0, &result, 1, NULL), 1);
	assert_int_equal((uintptr_t)result.user_data, src_port);
	assert_int_equal(result.status, status);
}

void
octo_port_pull_nothing(uint16_t port)
{
	struct rte_flow_op_result result;

	assert_int_equal(rte_flow_pull(port, 0, &result, 1, NULL), 0);
}

uint16_t
octo_port_start_with_table(const struct octo_port_conf *conf, struct octo_port_table *t)
{
	uint16_t port = octo_port_create(conf);

	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 2, 16, NULL), 0);
	octo_port_table_create(t, port, 64);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}
