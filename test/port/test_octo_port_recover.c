/* SPDX-License-Identifier: BSD-3-Clause */

/* A PF that recovers by itself: its ethdev stays, with the objects of before. */

#include "octo_port_async.h"
#include "octo_port_fault.h"

static const struct octo_port_conf two_pfs = {.replug = true};

static void
begin_recovery(void)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_ERR_RECOVERING, NULL);
}

static void
end_recovery(uint16_t port)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

static void
test_an_indirect_action_is_made_anew(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *faults = octo_port_faults_on(1);
	struct rte_flow_action_handle *handle;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	handle = octo_port_indirect_queue(port, 1);
	rule = octo_port_steer_by(port, 7, handle, NULL);
	assert_non_null(rule);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(faults->handles, 1);
		begin_recovery();
		end_recovery(port);
	}
	assert_int_equal(faults->handles, 1);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, handle, NULL), 0);
	assert_int_equal(faults->handles, 0);
}

static uint16_t
start_with_table(struct octo_port_table *t)
{
	uint16_t port = octo_port_create(&two_pfs);

	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	octo_port_table_create(t, port, 4);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_non_null(octo_port_enqueue(t, 7, 1, false, NULL));
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	return port;
}

/* A PF refuses other flow queues while it has a template. */
static void
test_tables_and_templates_are_gone(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_with_table(&t);

	(void)state;
	begin_recovery();
	end_recovery(port);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_table_destroy(&t);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
}

/* Only its driver may touch it then, so it is probed again. */
static void
test_a_table_is_destroyed_meanwhile(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_with_table(&t);

	(void)state;
	begin_recovery();
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_table_destroy(&t);
	end_recovery(port);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_indirect_action_is_made_anew),
		octo_port_test(test_tables_and_templates_are_gone),
		octo_port_test(test_a_table_is_destroyed_meanwhile),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
