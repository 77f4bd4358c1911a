/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that go while an operation of another takes so long that their removal cannot wait. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "octo_port_async.h"

#define NB_QUEUES 2

static const struct octo_port_conf two_pfs = {.replug = true};

/* The PF whose operations are long: the other one goes during the first that is armed. */
static struct {
	const struct eth_dev_ops *real;
	struct eth_dev_ops ops;
	const struct rte_flow_ops *real_flow;
	struct rte_flow_ops flow;
	bool armed;
	bool done;
} lengthy;

static void *
remove_other(void *arg)
{
	RTE_SET_USED(arg);
	rte_eal_hotplug_remove("vdev", octo_port_pf_name(1));
	return NULL;
}

static void
take_long(void)
{
	pthread_t thread;

	if (!lengthy.armed)
		return;
	lengthy.armed = false;
	assert_int_equal(pthread_create(&thread, NULL, remove_other, NULL), 0);
	pthread_join(thread, NULL);
	assert_false(octo_port_pf_is_there(1));
	lengthy.done = true;
}

static int
long_configure(struct rte_eth_dev *dev)
{
	take_long();
	return lengthy.real->dev_configure(dev);
}

static int
long_start(struct rte_eth_dev *dev)
{
	take_long();
	return lengthy.real->dev_start(dev);
}

static int
long_stop(struct rte_eth_dev *dev)
{
	take_long();
	return lengthy.real->dev_stop(dev);
}

static int
long_promiscuous(struct rte_eth_dev *dev)
{
	take_long();
	return lengthy.real->promiscuous_enable(dev);
}

static int
long_promiscuous_off(struct rte_eth_dev *dev)
{
	take_long();
	return lengthy.real->promiscuous_disable(dev);
}

static struct rte_flow *
long_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	    struct rte_flow_error *error)
{
	take_long();
	return lengthy.real_flow->create(dev, attr, pattern, actions, error);
}

static int
long_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	take_long();
	return lengthy.real_flow->destroy(dev, flow, error);
}

static int
long_handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
		    struct rte_flow_error *error)
{
	take_long();
	return lengthy.real_flow->action_handle_destroy(dev, handle, error);
}

static int
long_handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle, void *data,
		  struct rte_flow_error *error)
{
	take_long();
	return lengthy.real_flow->action_handle_query(dev, handle, data, error);
}

static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	int ret = lengthy.real->flow_ops_get(dev, &lengthy.real_flow);

	lengthy.flow = *lengthy.real_flow;
	lengthy.flow.create = long_create;
	lengthy.flow.destroy = long_destroy;
	lengthy.flow.action_handle_destroy = long_handle_destroy;
	lengthy.flow.action_handle_query = long_handle_query;
	*ops = &lengthy.flow;
	return ret;
}

static void
lengthy_on(void)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(0)];

	lengthy.real = dev->dev_ops;
	lengthy.ops = *dev->dev_ops;
	lengthy.ops.dev_configure = long_configure;
	lengthy.ops.dev_start = long_start;
	lengthy.ops.dev_stop = long_stop;
	lengthy.ops.promiscuous_enable = long_promiscuous;
	lengthy.ops.promiscuous_disable = long_promiscuous_off;
	lengthy.ops.flow_ops_get = flow_ops_get;
	dev->dev_ops = &lengthy.ops;
	lengthy.armed = false;
	lengthy.done = false;
}

static void
check_return(uint16_t port)
{
	assert_true(lengthy.done);
	rte_eth_devices[octo_port_pf(0)].dev_ops = lengthy.real;
	if (!rte_eth_devices[port].data->dev_started)
		octo_port_up(port, NB_QUEUES);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_non_null(octo_port_steer(port, 77, 1, NULL));
	octo_port_assert_arrives(port, 77, 1, 10);
}

static void
test_a_pf_goes_while_the_port_stops(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	lengthy_on();
	octo_port_up(port, NB_QUEUES);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	lengthy.armed = true;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	check_return(port);
}

static void
test_a_pf_goes_while_the_port_starts(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	lengthy_on();
	octo_port_up(port, NB_QUEUES);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	lengthy.armed = true;
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_return(port);
}

static void
test_a_pf_goes_while_the_port_is_configured(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	lengthy_on();
	octo_port_up(port, NB_QUEUES);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	lengthy.armed = true;
	octo_port_configure(port, 4);
	check_return(port);
}

static void
test_a_pf_goes_while_a_filter_is_set(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	lengthy_on();
	octo_port_up(port, NB_QUEUES);
	lengthy.armed = true;
	rte_eth_promiscuous_enable(port);
	check_return(port);
}

static void
test_a_pf_goes_while_a_rule_is_made(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	lengthy_on();
	octo_port_up(port, NB_QUEUES);
	for (uint16_t i = 0; i < 4; i++)
		octo_port_steer(port, 7 + i, i % 2, NULL);
	lengthy.armed = true;
	octo_port_steer(port, 17, 1, NULL);
	check_return(port);
}

static void
test_a_pf_goes_while_rules_are_flushed(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	lengthy_on();
	octo_port_up(port, NB_QUEUES);
	for (uint16_t i = 0; i < 4; i++)
		octo_port_steer(port, 7 + i, i % 2, NULL);
	lengthy.armed = true;
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	check_return(port);
}

static void
test_a_pf_goes_while_rules_of_a_table_are_flushed(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_table t;

	(void)state;
	assert_int_equal(octo_port_configure(port, NB_QUEUES), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	octo_port_table_create(&t, port, 64);
	assert_int_equal(rte_eth_dev_start(port), 0);
	lengthy_on();
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_non_null(octo_port_enqueue(&t, 8, 1, false, NULL));
	octo_port_pull(port, 8, RTE_FLOW_OP_SUCCESS);
	lengthy.armed = true;
	rte_flow_flush(port, NULL);
	octo_port_table_destroy(&t);
	check_return(port);
}

static void
with_indirect_count(bool query)
{
	uint16_t port = octo_port_create(&two_pfs);
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_query_count count = {0};
	struct rte_flow_action_handle *handle;

	octo_port_up(port, NB_QUEUES);
	handle = rte_flow_action_handle_create(port, &conf, &action, NULL);
	assert_non_null(handle);
	lengthy_on();
	lengthy.armed = true;
	if (query)
		assert_int_equal(rte_flow_action_handle_query(port, handle, &count, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, handle, NULL), 0);
	check_return(port);
}

static void
test_a_pf_goes_while_a_counter_is_read(void **state)
{
	(void)state;
	with_indirect_count(true);
}

static void
test_a_pf_goes_while_a_counter_is_destroyed(void **state)
{
	(void)state;
	with_indirect_count(false);
}

static void
test_a_pf_goes_while_the_port_is_closed(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	char *said;
	size_t len;
	FILE *log;

	(void)state;
	octo_port_up(port, NB_QUEUES);
	lengthy_on();
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	log = open_memstream(&said, &len);
	assert_non_null(log);
	rte_openlog_stream(log);
	lengthy.armed = true;
	assert_int_equal(rte_eth_dev_close(port), 0);
	rte_openlog_stream(NULL);
	fclose(log);
	assert_null(strstr(said, "Invalid port_id"));
	free(said);
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
	assert_true(lengthy.done);
	rte_eth_devices[octo_port_pf(0)].dev_ops = lengthy.real;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_goes_while_the_port_stops),
		octo_port_test(test_a_pf_goes_while_the_port_starts),
		octo_port_test(test_a_pf_goes_while_the_port_is_configured),
		octo_port_test(test_a_pf_goes_while_a_filter_is_set),
		octo_port_test(test_a_pf_goes_while_a_rule_is_made),
		octo_port_test(test_a_pf_goes_while_rules_are_flushed),
		octo_port_test(test_a_pf_goes_while_rules_of_a_table_are_flushed),
		octo_port_test(test_a_pf_goes_while_a_counter_is_read),
		octo_port_test(test_a_pf_goes_while_a_counter_is_destroyed),
		octo_port_test(test_a_pf_goes_while_the_port_is_closed),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
