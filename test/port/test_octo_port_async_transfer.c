/* SPDX-License-Identifier: BSD-3-Clause */

/* Template tables of transfer rules: on the transfer proxy PF of the switch, and on no other. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define OK RTE_FLOW_OP_SUCCESS

static const struct octo_port_conf two_pfs;
static const struct octo_port_conf two_that_return = {.replug = true};

static uint16_t
start_port(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);

	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

/* Each rule of the table gives the flow and the PF. */
static void
create_table(struct octo_port_table *t, uint16_t port, struct rte_flow_error *error)
{
	const struct rte_flow_template_table_attr attr = {.flow_attr.transfer = 1, .nb_flows = 4};
	const struct rte_flow_pattern_template_attr pattern_attr = {.transfer = 1};
	const struct rte_flow_actions_template_attr actions_attr = {.transfer = 1};
	const struct rte_flow_action masks[] = {
		{.type = RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	octo_port_build_mpfs(&r, 0, 0);
	t->port = port;
	t->pattern = rte_flow_pattern_template_create(port, &pattern_attr, r.pattern, NULL);
	assert_non_null(t->pattern);
	t->actions = rte_flow_actions_template_create(port, &actions_attr, r.actions, masks, NULL);
	assert_non_null(t->actions);
	t->table = rte_flow_template_table_create(port, &attr, &t->pattern, 1, &t->actions, 1,
						  error);
}

static struct rte_flow *
enqueue(const struct octo_port_table *t, uint16_t src_port, unsigned int pf)
{
	const struct rte_flow_op_attr now = {0};
	struct octo_flow_rule r;
	struct rte_flow *flow;

	octo_port_build_mpfs(&r, src_port, pf);
	flow = rte_flow_async_create(t->port, 0, &now, t->table, r.pattern, 0, r.actions, 0,
				     (void *)(uintptr_t)src_port, NULL);
	assert_non_null(flow);
	octo_port_pull(t->port, src_port, OK);
	return flow;
}

static bool
is_on(uint16_t port, const struct rte_flow *flow, uint8_t pf)
{
	return octo_rule_on(octo_of(&rte_eth_devices[port]), flow, pf) != NULL;
}

static void
destroy(const struct octo_port_table *t, struct rte_flow *flow)
{
	assert_int_equal(octo_port_enqueue_destroy(t->port, flow, 99, false), 0);
	octo_port_pull(t->port, 99, OK);
}

static void
test_a_table_is_on_the_proxy(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_port(&two_pfs);
	struct rte_flow *flows[2];

	(void)state;
	create_table(&t, port, NULL);
	assert_non_null(t.table);
	for (uint16_t pf = 0; pf < 2; pf++) {
		flows[pf] = enqueue(&t, 7 + pf, pf);
		assert_true(is_on(port, flows[pf], 0));
		assert_false(is_on(port, flows[pf], 1));
	}
	assert_int_equal(rte_eth_xstats_reset(octo_port_pf(1)), 0);
	octo_port_assert_arrives(port, 8, 0, 20);
	assert_int_equal(octo_port_xstat(octo_port_pf(1), "rx_mpfs_packets"), 20);
	for (uint16_t pf = 0; pf < 2; pf++)
		destroy(&t, flows[pf]);
	octo_port_table_destroy(&t);
}

/* The other PF becomes the proxy, which has no table, but flow queues. */
static void
test_the_proxy_goes(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_port(&two_that_return);
	struct rte_flow *flow, *later;

	(void)state;
	create_table(&t, port, NULL);
	assert_non_null(t.table);
	flow = enqueue(&t, 7, 1);
	octo_port_remove_pf(0);
	octo_port_await(is_on(port, flow, 1));
	later = enqueue(&t, 8, 1);
	assert_true(is_on(port, later, 1));
	destroy(&t, later);
	destroy(&t, flow);
	/* were it still there, another one would fail */
	destroy(&t, enqueue(&t, 7, 1));
	octo_port_table_destroy(&t);
}

/* A PF that came back has the flow queues no more. */
static void
test_the_proxy_returns(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_port(&two_that_return);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct rte_flow *flow;

	(void)state;
	octo_port_remove_pf(0);
	octo_port_add_pf(&two_that_return, 0);
	octo_port_await(octo->role[0].state == OCTO_PF_ACTIVE);
	create_table(&t, port, NULL);
	assert_non_null(t.table);
	flow = enqueue(&t, 7, 1);
	assert_true(is_on(port, flow, 0) || is_on(port, flow, 1));
	destroy(&t, flow);
	octo_port_table_destroy(&t);
}

static void
test_no_pf_is_the_proxy(void **state)
{
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = start_port(&two_pfs);
	struct octo_port_table t;

	(void)state;
	octo_port_faults_on(0)->pick_proxy = ENOTSUP;
	create_table(&t, port, &error);
	octo_port_faults_off();
	assert_null(t.table);
	assert_int_equal(rte_errno, ENOTSUP);
	assert_non_null(strstr(error.message, "make the table there"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_table_is_on_the_proxy),
		octo_port_test(test_the_proxy_goes),
		octo_port_test(test_the_proxy_returns),
		octo_port_test(test_no_pf_is_the_proxy),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
