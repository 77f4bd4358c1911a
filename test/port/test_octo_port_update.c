/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of the port that get other actions (DPDK 23.07). */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"
#include "octo_private.h"

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

/* The rule gets an indirect QUEUE action that a PF lacks which is about to join. */
static int
update_by(uint16_t port, struct rte_flow *flow, struct rte_flow_action_handle *handle,
	  struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = handle},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return rte_flow_actions_update(port, flow, actions, error);
}

static bool
is_joining(uint16_t port, unsigned int pf)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return strcmp(view.pf[pf].state, "joining") == 0;
}

static bool
is_on(uint16_t port, const struct rte_flow *flow, uint8_t pf)
{
	return octo_rule_on(octo_of(&rte_eth_devices[port]), flow, pf) != NULL;
}

#define OTHERS 40
#define MAX_TRIES 20

/* PF 1 comes back and has the rule, but not all others, unless it has had them all at once. */
static bool
begins_to_join(const struct octo_port_conf *conf, uint16_t port, const struct rte_flow *flow)
{
	octo_port_remove_pf(1);
	octo_port_add_pf(conf, 1);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,rule_slow,50000"), 0);
	octo_port_await(is_on(port, flow, 1));
	return is_joining(port, 1);
}

static void
check_an_action_that_a_joining_pf_lacks(bool in_place)
{
	const struct octo_port_conf conf = {.replug = true};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_action_handle *handle;
	struct octo_port_faults *faults;
	struct rte_flow_error error;
	struct rte_flow *flow;
	int tries = 0;

	if (!in_place)
		octo_port_lack_update();
	octo_port_up(port, 4);
	flow = octo_port_steer(port, 7, 0, &error);
	assert_non_null(flow);
	for (uint16_t i = 0; i < OTHERS; i++)
		assert_non_null(octo_port_steer(port, 1000 + i, 0, &error));
	while (!begins_to_join(&conf, port, flow))
		assert_true(tries++ < MAX_TRIES);
	faults = octo_port_faults_on(1);
	faults->handle_create = ENOSPC;
	handle = octo_port_indirect_queue(port, 3);
	assert_int_equal(update_by(port, flow, handle, &error), 0);
	assert_true(is_on(port, flow, 0));
	assert_false(is_on(port, flow, 1));
	octo_port_assert_arrives(port, 7, 3, 20);
	/* it is given back, and tried again */
	octo_port_faults_off();
	octo_port_await(octo_port_pf_is_started(port, 1) && is_on(port, flow, 1));
	octo_port_await(octo_port_leads_to(port, 7, 3, 1));
	octo_port_assert_arrives(port, 7, 3, 20);
	octo_port_destroy();
}

static void
test_an_action_that_a_joining_pf_lacks(void **state)
{
	(void)state;
	check_an_action_that_a_joining_pf_lacks(true);
	check_an_action_that_a_joining_pf_lacks(false);
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
		octo_port_test(test_an_action_that_a_joining_pf_lacks),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
