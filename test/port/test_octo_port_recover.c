/* SPDX-License-Identifier: BSD-3-Clause */

/* A PF that recovers by itself: its ethdev stays, with the objects of before. */

#include <ethdev_driver.h>

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

/* Counters of a PF that begins to recover are not read, nor are they lost. */
static void
test_counters_continue(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_stats stats;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	for (uint64_t packets = 10; packets <= 30; packets += 10) {
		octo_port_assert_arrives(port, 7, 1, 10);
		begin_recovery();
		end_recovery(port);
		octo_port_await(octo_port_leads_to(port, 7, 1, 1));
		assert_int_equal(rte_eth_stats_get(port, &stats), 0);
		assert_int_equal(stats.ipackets, packets);
	}
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

static const struct octo_port_conf indirect_dialect = {.replug = true,
						       .nic = "dialect=indirect",
						       .octo = "dialect=indirect"};

/* The actions of MPFS rules of that dialect. */
static void
test_an_action_of_a_queue_is_made_anew(void **state)
{
	uint16_t port = octo_port_create(&indirect_dialect);
	struct octo_port_faults *faults = octo_port_faults_on(1);
	int before;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	before = faults->handles;
	assert_true(before > 0);
	for (unsigned int i = 0; i < 2; i++) {
		begin_recovery();
		octo_port_await(octo_port_rule_pf(port, 7) == 0);
		end_recovery(port);
		octo_port_await(octo_port_leads_to(port, 7, 1, 1));
		octo_port_assert_arrives(port, 7, 1, 10);
	}
	assert_true(faults->handles <= before);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(faults->handles, 0);
}

static unsigned int removals;

/* Of a port whose device is probed again. */
static int
count_removal(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *out)
{
	RTE_SET_USED(port_id);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(out);
	removals++;
	return 0;
}

static void
count_removals(void)
{
	removals = 0;
	assert_int_equal(rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY,
						       count_removal, NULL),
			 0);
}

static unsigned int
counted_removals(void)
{
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, count_removal, NULL);
	return removals;
}

/* Only its driver may touch the PF when its actions end, so it is probed again. */
static void
test_actions_of_queues_end_meanwhile(void **state)
{
	uint16_t port = octo_port_create(&indirect_dialect);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	count_removals();
	begin_recovery();
	assert_int_equal(rte_eth_dev_stop(port), 0);
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_pass_us(100000);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(counted_removals(), 1);
}

/* Its table cannot be destroyed, but the device, which has another port, must stay. */
static void
test_a_device_with_another_port_is_not_probed_again(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_with_table(&t);
	struct rte_eth_dev *other = rte_eth_dev_allocate("other");

	(void)state;
	assert_non_null(other);
	other->device = rte_eth_devices[octo_port_pf(1)].device;
	rte_eth_dev_probing_finish(other);
	count_removals();
	begin_recovery();
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_table_destroy(&t);
	end_recovery(port);
	assert_int_equal(counted_removals(), 0);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	rte_eth_dev_release_port(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_indirect_action_is_made_anew),
		octo_port_test(test_counters_continue),
		octo_port_test(test_tables_and_templates_are_gone),
		octo_port_test(test_a_table_is_destroyed_meanwhile),
		octo_port_test(test_an_action_of_a_queue_is_made_anew),
		octo_port_test(test_actions_of_queues_end_meanwhile),
		octo_port_test(test_a_device_with_another_port_is_not_probed_again),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
