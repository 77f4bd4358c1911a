/* SPDX-License-Identifier: BSD-3-Clause */

/* What the rules of a PF have counted when its device is ejected. */

#include "octo_port_async.h"
#include "mpsim_control.h"

#define QUEUE 1
#define OTHER_QUEUE 0
#define FLOW 7
#define OTHERS 200

static const struct octo_port_conf two_pfs = {.replug = true};

static const struct rte_flow_action count[] = {
	{.type = RTE_FLOW_ACTION_TYPE_COUNT},
	{.type = RTE_FLOW_ACTION_TYPE_END},
};

/* It counts by itself, or by an indirect action. */
static struct rte_flow *
steer_and_count(uint16_t port, uint16_t flow, bool indirect)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_action_handle *handle;
	struct octo_flow_rule r;

	octo_port_build(&r, flow, QUEUE);
	r.actions[1] = count[0];
	r.actions[2] = count[1];
	if (!indirect)
		return rte_flow_create(port, &r.attr, r.pattern, r.actions, NULL);
	handle = rte_flow_action_handle_create(port, &conf, count, NULL);
	assert_non_null(handle);
	return octo_port_steer_and_count_by(port, flow, QUEUE, handle, NULL);
}

static void
assert_hits(uint16_t port, struct rte_flow *flow, uint64_t hits)
{
	struct rte_flow_query_count now = {0};

	assert_int_equal(rte_flow_query(port, flow, count, &now, NULL), 0);
	assert_int_equal(now.hits, hits);
}

static void
check_counts(bool indirect)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_tally tally = {0};
	struct rte_flow *flow;

	octo_port_up(port, 2);
	/* more than a slice of them is before it */
	for (uint16_t i = 0; i < OTHERS; i++)
		assert_non_null(steer_and_count(port, 1000 + i, false));
	flow = steer_and_count(port, FLOW, indirect);
	assert_non_null(flow);
	octo_port_await(octo_port_leads_to(port, 1000, QUEUE, 1));
	octo_port_send(port, OTHER_QUEUE, FLOW, 100);
	octo_port_await((octo_port_poll(port, OTHER_QUEUE, 32, &tally),
			 rte_eth_rx_queue_count(octo_port_pf(1), QUEUE) == 100));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await((octo_port_poll(port, QUEUE, 32, &tally), !octo_port_pf_is_there(1)));
	assert_int_equal(tally.packets, 100);
	assert_hits(port, flow, 100);
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
	assert_hits(port, flow, 110);
}

static void
test_what_rules_have_counted_stays(void **state)
{
	(void)state;
	check_counts(false);
}

static void
test_what_an_indirect_action_has_counted_stays(void **state)
{
	(void)state;
	check_counts(true);
}

/*
 * Its rules of the switch choose the queue, and so count flows of all PFs. The count that was read
 * is not added again while the rule stays.
 */
static void
test_what_the_transfer_proxy_has_counted_stays(void **state)
{
	const struct octo_port_conf conf = {
		.replug = true, .nic = "dialect=indirect", .octo = "dialect=indirect"};
	const uint16_t port = octo_port_create(&conf);
	struct octo_port_tally tally = {0};
	struct rte_flow *flow;

	(void)state;
	octo_port_up(port, 2);
	flow = steer_and_count(port, FLOW, false);
	assert_non_null(flow);
	octo_port_await(octo_port_leads_to(port, FLOW, QUEUE, 1));
	assert_true(octo_port_is_proxy(port, 0));
	octo_port_assert_arrives(port, FLOW, QUEUE, 100);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,eject,60000000"), 0);
	octo_port_await((octo_port_poll(port, OTHER_QUEUE, 32, &tally), !octo_port_pf_is_there(0)));
	assert_hits(port, flow, 100);
	octo_port_await(octo_port_is_proxy(port, 1));
	octo_port_await(octo_port_rule_pf(port, FLOW) == 1);
	octo_port_assert_arrives(port, FLOW, QUEUE, 200);
	assert_hits(port, flow, 300);
}

/* What was ejected can be probed by the next test. */
static int
teardown(void **state)
{
	const int ret = octo_port_teardown(state);

	rte_pmd_mpsim_fault("net_mpsim1,plug,wait");
	return ret;
}

#define eject_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		eject_test(test_what_rules_have_counted_stays),
		eject_test(test_what_an_indirect_action_has_counted_stays),
		eject_test(test_what_the_transfer_proxy_has_counted_stays),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
