/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules outlive a stop (RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP): the port puts them back. */

#include <errno.h>
#include <netinet/in.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"

#include "rte_pmd_octo.h"

static const struct octo_port_conf two_pfs;

static void
restart(uint16_t port)
{
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
test_the_port_says_that_it_keeps_rules(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true(info.dev_capa & RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP);
}

static void
test_rules_are_put_back(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule[4];

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < 4; i++) {
		rule[i] = octo_port_steer(port, 100 + i, i % 2, NULL);
		assert_non_null(rule[i]);
	}
	for (int round = 0; round < 3; round++) {
		restart(port);
		assert_int_equal(octo_port_xstat(port, "steered_flows"), 4);
		for (uint16_t i = 0; i < 4; i++) {
			assert_int_equal(octo_port_rule_pf(port, 100 + i), i % 2);
			octo_port_assert_arrives(port, 100 + i, i % 2, 20);
		}
	}
	for (uint16_t i = 0; i < 4; i++)
		assert_int_equal(rte_flow_destroy(port, rule[i], NULL), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

static struct rte_flow *
steer_and_count(uint16_t port, uint16_t src_port, uint16_t queue, enum rte_flow_action_type more,
		uint32_t id)
{
	const struct rte_flow_action_count count = {.id = id};
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_COUNT, .conf = &count},
		{.type = more},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, queue);
	return rte_flow_create(port, &r.attr, r.pattern, actions, NULL);
}

static void
assert_counted(uint16_t port, struct rte_flow *rule, bool reset, uint64_t hits)
{
	const struct rte_flow_action count[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count got = {.reset = reset};

	assert_int_equal(rte_flow_query(port, rule, count, &got, NULL), 0);
	assert_true(hits == 0 || (got.hits_set && got.bytes_set));
	assert_int_equal(got.hits, hits);
	assert_int_equal(got.bytes, hits * OCTO_PORT_FRAME_LEN);
}

/* Nobody had asked for what the PFs' rules had counted. */
static void
test_counters_go_on(void **state)
{
	static const enum rte_flow_action_type more[] = {RTE_FLOW_ACTION_TYPE_END,
							 RTE_FLOW_ACTION_TYPE_FLAG};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RTE_DIM(more); i++) {
		struct rte_flow *rule = steer_and_count(port, 100 + i, i, more[i], 0);

		octo_port_assert_arrives(port, 100 + i, i, 20);
		restart(port);
		octo_port_assert_arrives(port, 100 + i, i, 5);
		restart(port);
		assert_counted(port, rule, false, 25);
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_counted(port, rule, true, 25);
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_counted(port, rule, false, 0);
		octo_port_assert_arrives(port, 100 + i, i, 3);
		assert_counted(port, rule, false, 3);
	}
}

/* PFs that change no rule in place have another one, with another counter. */
static void
test_counters_go_on_when_a_flow_moves(void **state)
{
	const struct octo_port_conf conf = {.all = "caps=-update"};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;
	struct rte_flow *rule;
	struct rte_pmd_octo_tuple t;
	const char *culprit;

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_pmd_octo_tuple_read(&t, "udp", "10.0.0.1", 7, "10.0.0.2", 9, &culprit),
			 0);
	rule = steer_and_count(port, 7, 0, RTE_FLOW_ACTION_TYPE_END, 0);
	for (uint16_t i = 1; i <= 4; i++) {
		octo_port_assert_arrives(port, 7, (i - 1) % 2, 20);
		assert_int_equal(rte_pmd_octo_steer_move(port, &t, i % 2, &error), 0);
	}
	assert_counted(port, rule, true, 80);
	assert_counted(port, rule, false, 0);
}

/* The PFs have one counter for both rules. A reset by one is not what the other has kept. */
static void
test_a_counter_that_another_rule_resets(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule[2];

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < 2; i++)
		rule[i] = steer_and_count(port, 100 + i, i, RTE_FLOW_ACTION_TYPE_END, 5);
	octo_port_assert_arrives(port, 100, 0, 20);
	assert_counted(port, rule[0], false, 20);
	assert_counted(port, rule[1], true, 20);
	assert_counted(port, rule[0], false, 0);
	octo_port_assert_arrives(port, 101, 1, 4);
	assert_counted(port, rule[1], true, 4);
	restart(port);
	assert_counted(port, rule[0], false, 0);
	octo_port_assert_arrives(port, 101, 1, 3);
	restart(port);
	assert_counted(port, rule[0], false, 3);
	assert_counted(port, rule[1], false, 3);
}

/* A NIC whose tables are full of them: nothing of before is in the way. */
static void
test_full_tables_are_full_of_the_same_rules(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=8", .all = "arfs_entries=8"};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < 8; i++)
		assert_non_null(octo_port_steer(port, 100 + i, i % 2, NULL));
	for (int round = 0; round < 3; round++)
		restart(port);
	assert_null(octo_port_steer(port, 200, 0, NULL));
	assert_int_equal(rte_errno, ENOSPC);
	for (uint16_t i = 0; i < 8; i++)
		octo_port_assert_arrives(port, 100 + i, i % 2, 20);
}

static void
test_rules_made_while_the_port_is_stopped(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(octo_port_rule_pf(port, 7), -1);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_non_null(octo_port_steer(port, 8, 1, NULL));
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, 7, 1, 20);
	octo_port_assert_arrives(port, 8, 1, 20);
}

static void
test_rules_destroyed_while_the_port_is_stopped(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	rule = octo_port_steer(port, 7, 1, NULL);
	assert_non_null(octo_port_steer(port, 8, 1, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_rule_pf(port, 7), -2);
	assert_int_equal(octo_port_rule_pf(port, 8), 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

static void
test_a_stopped_port_asks_the_pfs(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	octo_port_faults_on(1)->validate_ingress = EPERM;
	assert_null(octo_port_steer(port, 7, 1, &error));
	assert_int_equal(rte_errno, EPERM);
	assert_string_equal(error.message, "PF net_mpsim1: made up for the test");
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* All of them are put back, or the port does not start and none is left on any PF. */
static void
test_a_rule_that_cannot_be_put_back(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=2", .all = "arfs_entries=2"};
	uint16_t port = octo_port_create(&conf);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	rule = octo_port_steer(port, 8, 1, NULL);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	second->create_ingress = ENOSPC;
	assert_int_equal(rte_eth_dev_start(port), -ENOSPC);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 2);
	second->create_ingress = 0;
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
	octo_port_assert_arrives(port, 8, 1, 20);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
}

static void
test_fewer_queues_than_a_rule_needs(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	rule = octo_port_steer(port, 8, 1, NULL);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_configure(port, 1), -EBUSY);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	octo_port_up(port, 1);
	octo_port_assert_arrives(port, 7, 0, 20);
}

static struct rte_flow *
create_rss(uint16_t port, const struct rte_flow_action_rss *rss)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4},
		{.type = RTE_FLOW_ITEM_TYPE_UDP},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_mark mark = {.id = 9};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark},
		{.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = rss},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return rte_flow_create(port, &attr, pattern, actions, NULL);
}

static void
assert_spreads_over(uint16_t port, struct rte_flow *rule, const uint16_t *queues, uint32_t nb)
{
	const struct rte_flow_action query[] = {{.type = RTE_FLOW_ACTION_TYPE_RSS},
						{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_action_rss rss;

	assert_int_equal(rte_flow_query(port, rule, query, &rss, NULL), 0);
	assert_int_equal(rss.queue_num, nb);
	assert_memory_equal(rss.queue, queues, nb * sizeof(queues[0]));
}

/* Open vSwitch marks and spreads over all queues, and never destroys rules before it has fewer. */
static void
test_rss_goes_on_with_the_queues_that_stay(void **state)
{
	const uint16_t queues[] = {3, 1, 2, 0};
	const uint16_t two[] = {1, 0};
	const uint16_t one[] = {0};
	const struct rte_flow_action_rss rss = {.queue_num = 4, .queue = queues};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 4);
	rule = create_rss(port, &rss);
	assert_non_null(rule);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 2);
	assert_spreads_over(port, rule, two, 2);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 1);
	assert_spreads_over(port, rule, one, 1);
	octo_port_assert_arrives(port, 7, 0, 20);
	/* those that ended do not return */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 4);
	assert_spreads_over(port, rule, one, 1);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
}

/* A refused configuration changes no rule, whether it comes before or after in the list. */
static void
test_rss_keeps_its_queues_if_another_rule_needs_them(void **state)
{
	const uint16_t queues[] = {0, 1};
	const struct rte_flow_action_rss rss = {.queue_num = 2, .queue = queues};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	rule = create_rss(port, &rss);
	assert_non_null(rule);
	assert_non_null(octo_port_steer(port, 8, 1, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_configure(port, 1), -EBUSY);
	octo_port_up(port, 2);
	assert_spreads_over(port, rule, queues, 2);
}

/* The port keeps its queues, and so the flow that a command has steered to one of them. */
static void
test_refused_configuration_keeps_commands(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;
	struct rte_pmd_octo_tuple t;

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_pmd_octo_tuple_read(&t, "udp", "10.0.0.1", 7, "10.0.0.2", 9, NULL), 0);
	assert_int_equal(rte_pmd_octo_steer_add(port, &t, 1, &error), 0);
	assert_non_null(octo_port_steer(port, 8, 1, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_configure(port, 1), -EBUSY);
	octo_port_up(port, 2);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 2);
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* The application does not know of those that somebody made by command. */
static void
test_commands_are_in_nobodys_way(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;
	struct rte_pmd_octo_tuple t;
	const char *culprit;

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(
		rte_pmd_octo_tuple_read(&t, "tcp", "192.0.2.1", 9, "192.0.2.2", 9, &culprit), 0);
	assert_int_equal(rte_pmd_octo_steer_add(port, &t, 1, &error), 0);
	t.src_port++;
	assert_int_equal(rte_pmd_octo_steer_add(port, &t, 0, &error), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 1);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
	assert_int_equal(rte_pmd_octo_steer_remove(port, &t, &error), 0);
}

static void
steer_by_command(uint16_t port, uint16_t src_port, uint16_t queue)
{
	const struct rte_pmd_octo_tuple t = {
		.ip_version = 4,
		.proto = IPPROTO_UDP,
		.src = {10, 0, 0, 1},
		.dst = {10, 0, 0, 2},
		.src_port = rte_cpu_to_be_16(src_port),
		.dst_port = rte_cpu_to_be_16(9),
	};
	struct rte_flow_error error;

	assert_int_equal(rte_pmd_octo_steer_add(port, &t, queue, &error), 0);
}

/* It is lost then, as nobody could destroy it before the port starts. */
static void
test_a_command_that_cannot_be_put_back(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *second = octo_port_faults_on(1);

	(void)state;
	octo_port_up(port, 2);
	steer_by_command(port, 7, 1);
	steer_by_command(port, 8, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	second->create_ingress = ENOSPC;
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	second->create_ingress = 0;
	steer_by_command(port, 7, 1);
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* The application's rules have the room, also if they are younger. */
static void
test_commands_leave_the_room_to_the_application(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=1", .all = "arfs_entries=1"};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	steer_by_command(port, 7, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_non_null(octo_port_steer(port, 8, 1, NULL));
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
	octo_port_assert_arrives(port, 8, 1, 20);
}

/* The rule of the application is the flow's from then on. */
static void
test_a_command_gives_way_to_the_application(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	for (uint32_t priority = 0; priority < 2; priority++) {
		struct octo_flow_rule r;

		steer_by_command(port, 7, 1);
		octo_port_assert_arrives(port, 7, 1, 20);
		octo_port_build(&r, 7, 0);
		r.attr.priority = priority;
		assert_int_equal(rte_flow_validate(port, &r.attr, r.pattern, r.actions, &error), 0);
		rule = rte_flow_create(port, &r.attr, r.pattern, r.actions, &error);
		assert_non_null(rule);
		assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
		assert_int_equal(octo_port_rule_pf(port, 7), 0);
		octo_port_assert_arrives(port, 7, 0, 20);
		assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
		octo_port_pass_us(1000000);
	}
}

static void
test_a_command_stays_where_a_pf_refuses(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	steer_by_command(port, 7, 1);
	octo_port_faults_on(1)->validate_ingress = EPERM;
	assert_null(octo_port_steer(port, 7, 0, NULL));
	assert_int_equal(rte_errno, EPERM);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* The PFs have one rule of the flow, so that of the command has to be gone first. */
static void
test_a_command_gives_way_to_a_flow_queue(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_table t;
	struct rte_flow *rule;

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 4, NULL), 0);
	octo_port_table_create(&t, port, 4);
	assert_int_equal(rte_eth_dev_start(port), 0);
	steer_by_command(port, 7, 1);
	octo_port_assert_arrives(port, 7, 1, 20);
	rule = octo_port_enqueue(&t, 7, 0, false, NULL);
	assert_non_null(rule);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(octo_port_enqueue_destroy(port, rule, 8, false), 0);
	octo_port_pull(port, 8, RTE_FLOW_OP_SUCCESS);
	octo_port_table_destroy(&t);
}

/* A PF may forget over a stop. */
static void
test_isolation_is_kept(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *pf[] = {octo_port_faults_on(0), octo_port_faults_on(1)};

	(void)state;
	assert_int_equal(rte_flow_isolate(port, 1, NULL), 0);
	octo_port_up(port, 2);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(rte_eth_dev_stop(port), 0);
		pf[0]->isolated = 0;
		pf[1]->isolated = 0;
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_int_equal(pf[0]->isolated, 1);
		assert_int_equal(pf[1]->isolated, 1);
	}
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_flow_isolate(port, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(pf[0]->isolated, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_port_says_that_it_keeps_rules),
		octo_port_test(test_rules_are_put_back),
		octo_port_test(test_counters_go_on),
		octo_port_test(test_counters_go_on_when_a_flow_moves),
		octo_port_test(test_a_counter_that_another_rule_resets),
		octo_port_test(test_full_tables_are_full_of_the_same_rules),
		octo_port_test(test_rules_made_while_the_port_is_stopped),
		octo_port_test(test_rules_destroyed_while_the_port_is_stopped),
		octo_port_test(test_a_stopped_port_asks_the_pfs),
		octo_port_test(test_a_rule_that_cannot_be_put_back),
		octo_port_test(test_fewer_queues_than_a_rule_needs),
		octo_port_test(test_rss_goes_on_with_the_queues_that_stay),
		octo_port_test(test_rss_keeps_its_queues_if_another_rule_needs_them),
		octo_port_test(test_refused_configuration_keeps_commands),
		octo_port_test(test_commands_are_in_nobodys_way),
		octo_port_test(test_a_command_that_cannot_be_put_back),
		octo_port_test(test_commands_leave_the_room_to_the_application),
		octo_port_test(test_a_command_gives_way_to_the_application),
		octo_port_test(test_a_command_stays_where_a_pf_refuses),
		octo_port_test(test_a_command_gives_way_to_a_flow_queue),
		octo_port_test(test_isolation_is_kept),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
