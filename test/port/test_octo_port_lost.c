/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A PF that takes no two rules of a pattern refuses the new actions of a rule, and then those of
 * before.
 */

#include <errno.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"
#include "octo_private.h"
#include "rte_pmd_octo.h"

#define FLOW 7

static const struct octo_port_conf conf = {.all = "caps=-update"};

static bool
is_on(const struct octo_dev *octo, const struct rte_flow *flow, uint8_t pf)
{
	return octo_rule_on(octo, flow, pf) != NULL;
}

static void
test_the_rule_of_a_flow_comes_back(void **state)
{
	uint16_t port = octo_port_create(&conf);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct rte_pmd_octo_tuple tuple;
	struct rte_flow *flow;
	const char *culprit;

	(void)state;
	assert_int_equal(
		rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, &culprit),
		0);
	octo_port_lack_update();
	octo_port_up(port, 2);
	flow = octo_port_steer(port, FLOW, 0, NULL);
	assert_non_null(flow);
	octo_port_pass_us(1000);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_fail,4,5,3"), 0);
	assert_int_equal(rte_pmd_octo_steer_move(port, &tuple, 1, NULL), -EIO);
	assert_false(is_on(octo, flow, 0));
	octo_port_pass_us(1000000);
	assert_true(is_on(octo, flow, 0));
	assert_true(is_on(octo, flow, 1));
	octo_port_assert_arrives(port, FLOW, 0, 20);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
}

static void
up_without_rx_queues(uint16_t port)
{
	const struct rte_eth_conf eth = {0};

	assert_int_equal(rte_eth_dev_configure(port, 0, 1, &eth), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL),
			 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

/* As rte_flow_actions_update() does, which not all releases have. */
static int
update(struct octo_dev *octo, struct rte_flow *flow, const struct rte_flow_action *actions)
{
	struct rte_flow_conv_rule rule = *flow->ext->app_spec.rule;
	struct octo_rule_spec spec;
	int ret;

	rule.actions_ro = actions;
	octo_lock(octo);
	spec = octo_fanout_spec_of(octo, flow);
	spec.app_spec = &rule;
	ret = octo_move_to_spec_locked(octo, flow, &spec, NULL);
	octo_unlock(octo);
	return ret;
}

static void
check_many_flows(bool has_queues)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
						{.type = RTE_FLOW_ITEM_TYPE_IPV4},
						{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						  {.type = RTE_FLOW_ACTION_TYPE_DROP},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	uint16_t port = octo_port_create(&conf);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct rte_flow *flow;

	octo_port_lack_update();
	if (has_queues)
		octo_port_up(port, 2);
	else
		up_without_rx_queues(port);
	flow = rte_flow_create(port, &attr, pattern, actions, NULL);
	assert_non_null(flow);
	octo_port_pass_us(1000);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_fail,3,5,3"), 0);
	assert_int_equal(update(octo, flow, &actions[1]), -EIO);
	assert_false(is_on(octo, flow, 0));
	assert_true(is_on(octo, flow, 1));
	octo_port_pass_us(1000000);
	assert_true(is_on(octo, flow, 0));
	assert_true(is_on(octo, flow, 1));
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	octo_port_destroy();
}

static void
test_the_rule_of_many_flows_comes_back(void **state)
{
	(void)state;
	check_many_flows(true);
	check_many_flows(false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_rule_of_a_flow_comes_back),
		octo_port_test(test_the_rule_of_many_flows_comes_back),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
