/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of a PF of mpsim that get other actions (DPDK 23.07). */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"

static uint16_t
start_pf(const char *args)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .all = args};
	uint16_t port;

	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

static int
update_queue(uint16_t port, struct rte_flow *flow, uint16_t queue, struct rte_flow_error *error)
{
	struct octo_flow_rule r;

	octo_port_build(&r, 0, queue);
	return rte_flow_actions_update(port, flow, r.actions, error);
}

static void
test_a_rule_gets_another_queue(void **state)
{
	uint16_t port = start_pf(NULL);
	struct rte_flow *flow = octo_port_steer(port, 7, 1, NULL);

	(void)state;
	assert_non_null(flow);
	octo_port_assert_arrives(port, 7, 1, 8);
	assert_int_equal(update_queue(port, flow, 3, NULL), 0);
	octo_port_assert_arrives(port, 7, 3, 8);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	octo_port_assert_arrives(port, 7, 0, 8);
}

static void
test_a_refused_update_changes_nothing(void **state)
{
	uint16_t port = start_pf(NULL);
	struct rte_flow *flow = octo_port_steer(port, 7, 1, NULL);
	const struct rte_flow_action nothing = {.type = RTE_FLOW_ACTION_TYPE_END};
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(update_queue(port, flow, 4, &error), -EINVAL);
	assert_non_null(strstr(error.message, "queue index 4"));
	assert_int_equal(rte_flow_actions_update(port, flow, &nothing, &error), -EINVAL);
	assert_non_null(strstr(error.message, "does not say where"));
	octo_port_assert_arrives(port, 7, 1, 8);
}

/* What the rule had is free, what it has is not. */
static void
test_indirect_actions_change_hands(void **state)
{
	uint16_t port = start_pf(NULL);
	struct rte_flow_action_handle *old = octo_port_indirect_queue(port, 1);
	struct rte_flow_action_handle *new = octo_port_indirect_queue(port, 2);
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = new},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow *flow = octo_port_steer_by(port, 7, old, NULL);

	(void)state;
	octo_port_assert_arrives(port, 7, 1, 8);
	assert_int_equal(rte_flow_actions_update(port, flow, actions, NULL), 0);
	octo_port_assert_arrives(port, 7, 2, 8);
	assert_int_equal(rte_flow_action_handle_destroy(port, old, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, new, NULL), -EBUSY);
	assert_int_equal(update_queue(port, flow, 3, NULL), 0);
	octo_port_assert_arrives(port, 7, 3, 8);
	assert_int_equal(rte_flow_action_handle_destroy(port, new, NULL), 0);
}

static void
test_a_pf_without_updates(void **state)
{
	uint16_t port = start_pf("caps=-update");
	struct rte_flow *flow = octo_port_steer(port, 7, 1, NULL);
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(update_queue(port, flow, 3, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "no updates"));
	octo_port_assert_arrives(port, 7, 1, 8);
}

static void
test_through_a_flow_queue(void **state)
{
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	const struct octo_port_conf conf = {.nb_pfs = 1};
	struct octo_port_table t;
	struct octo_flow_rule r;
	struct rte_flow *flow;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 8, NULL), 0);
	octo_port_table_create(&t, port, 4);
	assert_int_equal(rte_eth_dev_start(port), 0);
	flow = octo_port_enqueue(&t, 7, 1, false, NULL);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	octo_port_build(&r, 7, 2);
	assert_int_equal(rte_flow_async_actions_update(port, 0, &postponed, flow, r.actions, 0,
						       (void *)8, NULL),
			 0);
	octo_port_assert_arrives(port, 7, 1, 8);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 8, RTE_FLOW_OP_SUCCESS);
	octo_port_assert_arrives(port, 7, 2, 8);
	/* what is not pushed is not done, and leaves nothing */
	assert_int_equal(rte_flow_async_actions_update(port, 0, &postponed, flow, r.actions, 0,
						       (void *)9, NULL),
			 0);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_pull(port, 9, RTE_FLOW_OP_ERROR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_rule_gets_another_queue),
		octo_port_test(test_a_refused_update_changes_nothing),
		octo_port_test(test_indirect_actions_change_hands),
		octo_port_test(test_a_pf_without_updates),
		octo_port_test(test_through_a_flow_queue),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
