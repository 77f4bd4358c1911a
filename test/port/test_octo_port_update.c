/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of the port that get other actions (DPDK 23.07). */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"

static int
update(uint16_t port, struct rte_flow *flow, uint16_t queue, bool mark,
       struct rte_flow_error *error)
{
	const struct rte_flow_action_mark id = {.id = 5};
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = mark ? RTE_FLOW_ACTION_TYPE_MARK : RTE_FLOW_ACTION_TYPE_VOID, .conf = &id},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return rte_flow_actions_update(port, flow, actions, error);
}

/* Queue Q is at home on PF Q % 2; with and without a mark, in turn. */
static void
check_resteering(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);
	struct rte_flow *flow;

	octo_port_up(port, 4);
	flow = octo_port_steer(port, 7, 0, NULL);
	assert_non_null(flow);
	for (uint16_t i = 1; i <= 8; i++) {
		assert_int_equal(update(port, flow, i % 4, i > 4 && i % 2, NULL), 0);
		assert_int_equal(octo_port_rule_pf(port, 7), i % 2);
		assert_int_equal(rte_eth_xstats_reset(port), 0);
		octo_port_assert_arrives(port, 7, i % 4, 20);
		assert_int_equal(octo_port_xstat(port, "rx_q%u_home_packets", i % 4), 20);
	}
	/* once more with what was kept */
	assert_int_equal(update(port, flow, 3, true, NULL), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, 7, 3, 20);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
}

static void
test_in_place(void **state)
{
	const struct octo_port_conf conf = {0};

	(void)state;
	check_resteering(&conf);
}

static void
test_by_another_rule(void **state)
{
	const struct octo_port_conf conf = {.all = "caps=-update"};

	(void)state;
	check_resteering(&conf);
}

/* The second PF has no marks: the first one goes back. */
static void
check_all_or_none(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);
	struct rte_flow_error error;
	struct rte_flow *flow;

	octo_port_up(port, 4);
	flow = octo_port_steer(port, 7, 0, NULL);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(update(port, flow, 3, true, &error), -ENOTSUP);
		assert_non_null(strstr(error.message, "PF net_mpsim1"));
	}
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(update(port, flow, 4, false, &error), -EINVAL);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(update(port, flow, 3, false, &error), 0);
	octo_port_assert_arrives(port, 7, 3, 20);
}

static void
test_a_pf_that_refuses(void **state)
{
	const struct octo_port_conf conf = {.pf = {NULL, "caps=-mark"}};

	(void)state;
	check_all_or_none(&conf);
}

static void
test_a_pf_that_refuses_another_rule(void **state)
{
	const struct octo_port_conf conf = {.pf = {"caps=-update", "caps=-mark/-update"}};

	(void)state;
	check_all_or_none(&conf);
}

static void
test_a_rule_stays_of_its_kind(void **state)
{
	const struct rte_flow_action drop[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	const struct octo_port_conf conf = {0};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;
	struct rte_flow *flow;

	(void)state;
	octo_port_up(port, 4);
	flow = octo_port_steer(port, 7, 1, NULL);
	assert_int_equal(rte_flow_actions_update(port, flow, drop, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "make another"));
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* The flow has a rule of another priority, by which octo steers it. */
static void
test_a_second_rule_of_a_flow(void **state)
{
	const struct octo_port_conf conf = {0};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow *first, *second;
	struct rte_flow_error error;
	struct octo_flow_rule r;

	(void)state;
	octo_port_up(port, 4);
	first = octo_port_steer(port, 7, 1, NULL);
	assert_non_null(first);
	octo_port_build(&r, 7, 1);
	r.attr.priority = 1;
	second = rte_flow_create(port, &r.attr, r.pattern, r.actions, &error);
	assert_non_null(second);
	assert_int_equal(update(port, second, 2, false, &error), 0);
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_int_equal(rte_flow_destroy(port, first, &error), 0);
	octo_port_pass_us(100000);
	octo_port_assert_arrives(port, 7, 2, 20);
}

/* A flow's rule with other actions is one for the port there, and is rewritten with its queue. */
static void
test_a_marked_flow_of_slices(void **state)
{
	static const struct octo_port_conf conf = {.sliced = true};
	const struct rte_flow_action_mark id = {.id = 5};
	const struct rte_flow_action_queue index = {.index = 1};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &id},
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;
	struct octo_flow_rule r;
	struct rte_flow *flow;

	(void)state;
	octo_port_up(port, 4);
	octo_port_build(&r, 7, 1);
	flow = rte_flow_create(port, &r.attr, r.pattern, actions, &error);
	assert_non_null(flow);
	for (uint16_t queue = 0; queue < 4; queue++) {
		assert_int_equal(update(port, flow, queue, queue % 2, &error), 0);
		octo_port_assert_arrives(port, 7, queue, 20);
	}
	assert_int_equal(octo_port_strays(port), 0);
}

/* Rules of several flows name no queue, and there may be none. */
static void
check_without_rx_queues(bool in_place)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
						{.type = RTE_FLOW_ITEM_TYPE_IPV4},
						{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						  {.type = RTE_FLOW_ACTION_TYPE_DROP},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct octo_port_conf conf = {0};
	const struct rte_eth_conf eth = {0};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;
	struct rte_flow *flow;

	if (!in_place)
		octo_port_lack_update();
	assert_int_equal(rte_eth_dev_configure(port, 0, 1, &eth), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL),
			 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	flow = rte_flow_create(port, &attr, pattern, actions, &error);
	assert_non_null(flow);
	assert_int_equal(rte_flow_actions_update(port, flow, &actions[1], &error), 0);
	assert_int_equal(rte_flow_destroy(port, flow, &error), 0);
	octo_port_destroy();
}

static void
test_without_rx_queues(void **state)
{
	(void)state;
	check_without_rx_queues(true);
	check_without_rx_queues(false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_in_place),
		octo_port_test(test_by_another_rule),
		octo_port_test(test_a_pf_that_refuses),
		octo_port_test(test_a_pf_that_refuses_another_rule),
		octo_port_test(test_a_rule_stays_of_its_kind),
		octo_port_test(test_a_second_rule_of_a_flow),
		octo_port_test(test_a_marked_flow_of_slices),
		octo_port_test(test_without_rx_queues),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
