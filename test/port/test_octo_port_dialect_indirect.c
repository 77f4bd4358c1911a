/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Dialect "indirect": a rule of the transfer proxy PF has an indirect action of another PF, and so
 * chooses PF and queue at once. Nothing depends on the ARFS rules of the other PF.
 */

#include <errno.h>
#include <string.h>

#include "octo_port.h"
#include "octo_port_async.h"
#include "octo_port_fault.h"

#include "mpsim.h"
#include "mpsim_control.h"
#include "octo_private.h"

#define FLOW 100
#define NB_QUEUES 4
#define NB_PACKETS 16

#define INDIRECT "dialect=indirect"

static struct octo_view_topology
topology(uint16_t port)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view;
}

static const struct mpsim_pf *
pf_of(unsigned int pf)
{
	return rte_eth_devices[octo_port_pf(pf)].data->dev_private;
}

static bool
has_actions(void)
{
	return !LIST_EMPTY(&pf_of(0)->handles) || !LIST_EMPTY(&pf_of(1)->handles);
}

/* Queue Q is at home on PF Q % 2. */
static uint16_t
begin(const char *nic, const char *all)
{
	const struct octo_port_conf conf = {.nic = nic, .all = all, .octo = INDIRECT};
	const uint16_t port = octo_port_create(&conf);

	octo_port_up(port, NB_QUEUES);
	return port;
}

static void
assert_flows_come_home(uint16_t port)
{
	struct octo_view_rule rules[NB_QUEUES];
	uint32_t total;

	assert_string_equal(topology(port).tier, "exact");
	assert_string_equal(topology(port).dialect, "indirect");
	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		const uint64_t before = pf_of(q % 2)->stats.arfs_hits;

		assert_non_null(octo_port_steer(port, FLOW + q, q, NULL));
		assert_int_equal(octo_port_rule_pf(port, FLOW + q), q % 2);
		octo_port_assert_arrives(port, FLOW + q, q, NB_PACKETS);
		assert_int_equal(pf_of(q % 2)->stats.arfs_hits - before, NB_PACKETS);
	}
	assert_int_equal(octo_port_strays(port), 0);
	assert_int_equal(rte_pmd_octo_view_rules(port, 0, rules, NB_QUEUES, &total), NB_QUEUES);
	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		assert_string_equal(rules[q].status, "works");
		assert_int_equal(rules[q].hits, NB_PACKETS);
	}
}

static void
test_one_rule_chooses_pf_and_queue(void **state)
{
	(void)state;
	assert_flows_come_home(begin(INDIRECT, NULL));
}

/* Packets of the flow do not come by the rules of PF 1. */
static void
test_rules_of_the_other_pf_are_not_needed(void **state)
{
	const uint16_t port = begin(INDIRECT, NULL);

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,rule_lost,1"), 0);
	assert_non_null(octo_port_steer(port, FLOW, 3, NULL));
	octo_port_assert_arrives(port, FLOW, 3, NB_PACKETS);
	assert_int_equal(octo_port_strays(port), 0);
}

/* RSS of one queue is used instead. */
static void
test_a_pf_without_indirect_queue_actions(void **state)
{
	(void)state;
	assert_flows_come_home(begin(INDIRECT, "caps=-indirect_queue"));
}

static void
test_it_is_not_tried_by_itself(void **state)
{
	const struct octo_port_conf conf = {.nic = INDIRECT};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, NB_QUEUES);
	assert_string_equal(topology(port).tier, "queue");
	assert_string_equal(topology(port).dialect, "none");
	assert_false(has_actions());
}

static void
test_nothing_is_learned(void **state)
{
	const struct octo_port_conf conf = {.learn = true, .nic = INDIRECT, .octo = INDIRECT};
	const uint16_t port = octo_port_create(&conf);
	struct rte_pmd_octo_learning learning;

	(void)state;
	octo_port_up(port, NB_QUEUES);
	assert_int_equal(rte_pmd_octo_learning_get(port, &learning), 0);
	assert_string_equal(learning.state, "asleep: rules of this dialect choose the queue");
}

static void
test_a_nic_without_it(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=wire-item", .octo = INDIRECT};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, NB_QUEUES);
	assert_string_equal(topology(port).tier, "queue");
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, NB_PACKETS);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_false(has_actions());
}

/* The actions are of the port's start only; the PFs may be used by others afterwards. */
static void
test_actions_end_with_the_rules(void **state)
{
	const uint16_t port = begin(INDIRECT, NULL);

	(void)state;
	assert_non_null(octo_port_steer(port, FLOW, 3, NULL));
	assert_non_null(octo_port_steer(port, FLOW + 1, 3, NULL));
	assert_true(has_actions());
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_false(has_actions());
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, FLOW + 1, 3, NB_PACKETS);
	assert_int_equal(octo_port_strays(port), 0);
}

/* The hits are those of the rule that leads, also of those before it. */
static void
test_hits_are_counted(void **state)
{
	const uint16_t port = begin(INDIRECT, NULL);
	struct rte_pmd_octo_tuple tuple;
	const char *culprit;
	struct rte_flow_query_count count = {0};
	struct octo_flow_rule r;
	struct octo_tuple t;
	struct rte_flow *flow;

	(void)state;
	assert_int_equal(octo_tuple_read(&t, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, NULL), 0);
	octo_flow_build_queue(&r, &t, 0, 1, true);
	flow = rte_flow_create(port, &r.attr, r.pattern, r.actions, NULL);
	assert_non_null(flow);
	octo_port_assert_arrives(port, FLOW, 1, NB_PACKETS);
	assert_int_equal(
		rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, &culprit),
		0);
	assert_int_equal(rte_pmd_octo_steer_move(port, &tuple, 2, NULL), 0);
	octo_port_assert_arrives(port, FLOW, 2, NB_PACKETS);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, FLOW, 2, NB_PACKETS);
	assert_int_equal(rte_flow_query(port, flow, octo_rule_hits_count, &count, NULL), 0);
	assert_true(count.hits_set);
	assert_int_equal(count.hits, 3 * NB_PACKETS);
}

static void
test_the_other_pf_is_lost(void **state)
{
	const uint16_t port = begin(INDIRECT, NULL);

	(void)state;
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, NB_PACKETS);
	octo_port_remove_pf(1);
	octo_port_pass_us(10000);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
	octo_port_assert_arrives(port, FLOW, 1, NB_PACKETS);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
}

/* Its queue is at home there, but has no action that leads to it. */
static void
test_a_flow_stays_where_the_other_pf_refuses_the_action(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true, .nic = INDIRECT, .octo = INDIRECT ",dwell_ms=0"};
	struct octo_port_faults *faults;
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	port = octo_port_create(&conf);
	octo_port_run_on(0);
	octo_port_up(port, 3);
	assert_non_null(octo_port_steer(port, FLOW, 2, NULL));
	octo_port_assert_arrives(port, FLOW, 2, NB_PACKETS);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
	faults = octo_port_faults_on(1);
	faults->handle_create = ENOTSUP;
	octo_port_run_on(1);
	for (unsigned int i = 0; i < 100; i++) {
		octo_port_assert_arrives(port, FLOW, 2, NB_PACKETS);
		octo_port_pass_us(1000);
		assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
	}
	faults->handle_create = 0;
	octo_port_await(octo_port_leads_to(port, FLOW, 2, 1));
	octo_port_assert_arrives(port, FLOW, 2, NB_PACKETS);
}

/* Its rules have priorities above those of the PFs. */
static void
test_pfs_need_as_many_priorities(void **state)
{
	const struct octo_port_conf conf = {.nic = INDIRECT, .octo = INDIRECT};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_faults_on(1)->priorities = OCTO_MPFS_PRIORITIES;
	octo_port_up(port, NB_QUEUES);
	assert_string_equal(topology(port).tier, "none");
}

static void
test_a_priority_that_has_no_room_below(void **state)
{
	const uint16_t port = begin(INDIRECT, NULL);
	struct rte_flow_error error;
	struct octo_flow_rule r;
	struct octo_tuple t;

	(void)state;
	assert_int_equal(octo_tuple_read(&t, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, NULL), 0);
	octo_flow_build_queue(&r, &t, UINT32_MAX - OCTO_MPFS_PRIORITIES + 1, 1, false);
	assert_null(rte_flow_create(port, &r.attr, r.pattern, r.actions, &error));
	assert_int_equal(rte_errno, EINVAL);
	assert_non_null(strstr(error.message, "4294967291"));
	octo_flow_build_queue(&r, &t, UINT32_MAX - OCTO_MPFS_PRIORITIES, 1, false);
	assert_non_null(rte_flow_create(port, &r.attr, r.pattern, r.actions, &error));
}

static void
test_there_are_no_flow_queues(void **state)
{
	const struct octo_port_conf conf = {.nic = INDIRECT, .octo = INDIRECT};
	const uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(octo_port_configure(port, NB_QUEUES), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 8, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "dialect=indirect"));
}

/* The NIC takes the rules and ignores them: the ARFS rules of PF 0 have the flow. */
static void
test_rules_without_effect(void **state)
{
	const uint16_t port = begin("dialect=wire-item/any", NULL);

	(void)state;
	assert_string_equal(topology(port).tier, "exact");
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	for (unsigned int i = 0; i < 600 && strcmp(topology(port).tier, "exact") == 0; i++) {
		octo_port_assert_arrives(port, FLOW, 1, NB_PACKETS);
		octo_port_pass_us(10000);
	}
	assert_string_equal(topology(port).tier, "queue");
	assert_string_equal(topology(port).ignored, "MPFS");
	octo_port_assert_arrives(port, FLOW, 1, NB_PACKETS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_one_rule_chooses_pf_and_queue),
		octo_port_test(test_rules_of_the_other_pf_are_not_needed),
		octo_port_test(test_a_pf_without_indirect_queue_actions),
		octo_port_test(test_it_is_not_tried_by_itself),
		octo_port_test(test_nothing_is_learned),
		octo_port_test(test_a_nic_without_it),
		octo_port_test(test_actions_end_with_the_rules),
		octo_port_test(test_hits_are_counted),
		octo_port_test(test_the_other_pf_is_lost),
		octo_port_test(test_a_flow_stays_where_the_other_pf_refuses_the_action),
		octo_port_test(test_pfs_need_as_many_priorities),
		octo_port_test(test_a_priority_that_has_no_room_below),
		octo_port_test(test_there_are_no_flow_queues),
		octo_port_test(test_rules_without_effect),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
