/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where the PFs are slices of one port: a queue gets another home, and the port refuses, or cannot
 * do, a part of what follows it.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "mpsim_control.h"
#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_port_flows.h"
#include "octo_private.h"

#define TIMES 4

/* Led by RSS alone. */
static void
set_out(struct octo_port_flows *t, const struct octo_port_conf *conf)
{
	octo_port_flows_begin(t, conf, 1, &octo_port_flows_rss);
	octo_port_flows_pass_often(t, 20);
	assert_true(octo_port_flows_lead_to(0));
}

static struct octo_port_flows *under_way;

static void
send_under_way(void)
{
	octo_port_flows_send(under_way);
}

static struct rte_flow *
lead_all_to(uint16_t port, enum rte_flow_item_type type, uint16_t queue, uint32_t priority)
{
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = type},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1, .priority = priority};
	struct rte_flow *rule = rte_flow_create(port, &attr, pattern, actions, NULL);

	assert_non_null(rule);
	return rule;
}

/* Its way back would need a fence of its own, at each of the tries. */
static void
test_the_reta_stays_home_though_a_rule_is_refused(void **state)
{
	struct octo_port_faults *faults;
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	set_out(&t, &octo_port_flows_two_nodes);
	octo_port_lack_update();
	faults = octo_port_faults_on(0);
	/* no test sends such packets */
	lead_all_to(t.port, RTE_FLOW_ITEM_TYPE_IPV6, 0, 0);
	under_way = &t;
	faults->create_ingress = ENOSPC;
	faults->on_create = send_under_way;
	octo_port_run_on(1);
	for (int n = 0; n < 2000 && faults->on_create != NULL; n++)
		octo_port_flows_pass(&t, true);
	assert_null(faults->on_create);
	for (int n = 0; n < 500; n++) {
		octo_port_flows_pass(&t, true);
		assert_true(octo_port_flows_lead_to(1));
	}
	assert_int_equal(octo_port_xstat(t.port, "rehomes"), 0);
	octo_port_flows_assert_all_arrive(&t);
	/* the rule is where it was when its queue is there again */
	octo_port_run_on(0);
	faults->create_ingress = 0;
	for (int n = 0; n < 20000 && octo_port_xstat(t.port, "rehomes") == 0; n++)
		octo_port_flows_pass(&t, true);
	assert_true(octo_port_flows_lead_to(0));
	octo_port_flows_assert_all_arrive(&t);
}

/* Polls alone, so that no round of the control thread is due meanwhile. */
static void
poll_from(struct octo_port_flows *t, int node)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[t->port]);

	octo_port_run_on(node);
	for (int n = 0; n < 100000 && octo_topo_home_of(octo, 0) != node; n++)
		octo_port_flows_receive(t, 0);
	assert_int_equal(octo_topo_home_of(octo, 0), node);
}

/* The control thread has not seen the home that the queue had when the port was started. */
static void
test_legs_follow_a_home_of_the_start_only(void **state)
{
	static const struct octo_port_conf conf = {
		.sliced = true, .two_nodes = true, .octo = "dwell_ms=0"};
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	set_out(&t, &conf);
	poll_from(&t, 1);
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	assert_int_equal(rte_eth_dev_start(t.port), 0);
	assert_true(octo_port_flows_lead_to(1));
	poll_from(&t, 0);
	for (int n = 0; n < 2000 && !octo_port_flows_lead_to(0); n++)
		octo_port_flows_pass(&t, false);
	assert_true(octo_port_flows_lead_to(0));
}

/* A rule with a count, of several flows: the NIC has no room for another like it. */
static struct rte_flow *
count_all(uint16_t port, uint32_t id)
{
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue index = {.index = 0};
	const struct rte_flow_action_count counter = {.id = id};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_COUNT, .conf = &counter},
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};
	struct rte_flow *rule = rte_flow_create(port, &attr, pattern, actions, NULL);

	assert_non_null(rule);
	return rule;
}

static uint64_t
hits_of(uint16_t port, struct rte_flow *rule)
{
	const struct rte_flow_action action[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						 {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count count = {0};
	struct rte_flow_error error;

	assert_int_equal(rte_flow_query(port, rule, action, &count, &error), 0);
	return count.hits;
}

static uint64_t
sent_in_all(const struct octo_port_flows *t)
{
	uint64_t sent = 0;

	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		sent += t->sent[flow];
	return sent;
}

/* There and back: what is under way arrives first, and then nothing strays. */
static void
rehome_without_room(const char *conf, uint32_t priorities)
{
	struct octo_port_conf small = octo_port_flows_two_nodes;
	struct octo_port_flows t;
	struct rte_flow *rule;
	uint64_t before;

	small.all = conf;
	octo_port_flows_begin(&t, &small, 1, NULL);
	octo_port_faults_on(0)->priorities = priorities;
	rule = count_all(t.port, 0);
	octo_port_flows_pass_often(&t, 20);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && octo_port_xstat(t.port, "rehomes") < i; n++)
			octo_port_flows_pass(&t, true);
		assert_int_equal(octo_port_xstat(t.port, "rehomes"), i);
		octo_port_flows_pass_often(&t, 20);
		before = octo_port_strays(t.port);
		octo_port_flows_pass_often(&t, 20);
		assert_int_equal(octo_port_strays(t.port), before);
	}
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(hits_of(t.port, rule), sent_in_all(&t));
	octo_port_destroy();
}

static void
test_a_rule_follows_without_room_for_another(void **state)
{
	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	rehome_without_room("latency_us=300", 1);
	rehome_without_room("latency_us=300,generic_entries=1", 0);
}

/* Legs that are held meanwhile have room for all. */
static void
go_on(void)
{
	static unsigned int times;

	if (++times % 8 == 0)
		octo_port_flows_send(under_way);
	octo_port_flows_receive(under_way, 0);
}

/* Each rule of the PF takes a while, in which packets go on. */
static void
count_while_rules_are_written(uint32_t id, const char *slow)
{
	struct octo_port_conf anew = octo_port_flows_two_nodes;
	struct octo_port_flows t;
	struct rte_flow *rule;

	anew.all = "latency_us=300,caps=-update";
	octo_port_flows_begin(&t, &anew, 1, NULL);
	rule = count_all(t.port, id);
	octo_port_flows_pass_often(&t, 20);
	assert_int_equal(rte_pmd_mpsim_fault(slow), 0);
	under_way = &t;
	octo_port_meanwhile(go_on);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && octo_port_xstat(t.port, "rehomes") < i; n++)
			octo_port_flows_pass(&t, true);
		assert_int_equal(octo_port_xstat(t.port, "rehomes"), i);
	}
	octo_port_meanwhile(NULL);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(hits_of(t.port, rule), sent_in_all(&t));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,clear"), 0);
	octo_port_destroy();
}

/* The NIC shares one counter among the rules of one id, the old rule and the new one among them. */
static void
test_hits_are_counted_once(void **state)
{
	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	count_while_rules_are_written(0, "net_mpsim0,rule_slow,0");
	count_while_rules_are_written(0, "net_mpsim0,rule_slow,400");
	count_while_rules_are_written(5, "net_mpsim0,rule_slow,0");
	count_while_rules_are_written(5, "net_mpsim0,rule_slow,400");
}

static struct octo_port_faults *faults_of_replacement;
static int nb_created;

/* The new rule at its priority is refused, and so is the old one again: a bridge was there. */
static void
refuse_from_the_third_on(void)
{
	if (++nb_created < 2)
		faults_of_replacement->on_create = refuse_from_the_third_on;
	else
		faults_of_replacement->create_ingress = EIO;
}

/* As by rte_flow_actions_update(). */
static void
lose(uint16_t port, struct rte_flow *rule)
{
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct octo_rule_spec spec;

	nb_created = 0;
	octo_port_lack_update();
	faults_of_replacement = octo_port_faults_on(0);
	faults_of_replacement->on_create = refuse_from_the_third_on;
	octo_lock(octo);
	spec = octo_fanout_spec_of(octo, rule);
	assert_int_equal(octo_move_to_spec_locked(octo, rule, &spec, NULL), -EIO);
	assert_null(octo_rule_on(octo, rule, 0));
	octo_unlock(octo);
}

static void
test_a_rule_that_an_update_lost_comes_back(void **state)
{
	static const struct octo_port_conf one_node = {.sliced = true};
	const struct octo_dev *octo;
	struct octo_port_flows t;
	struct rte_flow *rule;
	uint32_t before;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 2, NULL);
	octo = octo_of(&rte_eth_devices[t.port]);
	rule = lead_all_to(t.port, RTE_FLOW_ITEM_TYPE_IPV4, 1, 0);
	octo_port_flows_pass_often(&t, 20);
	octo_port_flows_assert_all_arrive(&t);
	lose(t.port, rule);
	octo_port_pass_us(1000000);
	assert_null(octo_rule_on(octo, rule, 0));
	faults_of_replacement->create_ingress = 0;
	octo_port_await(octo_rule_on(octo, rule, 0) != NULL);
	before = t.by_queue[0];
	octo_port_flows_pass_often(&t, 20);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(t.by_queue[0], before);
	assert_int_equal(octo_port_strays(t.port), 0);
}

/* Rules of several flows each, which no test sends, to a queue. */
static void
lead_addresses_to(uint16_t port, uint16_t queue, uint32_t nb)
{
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_item_ipv4 mask = {.hdr.dst_addr = RTE_BE32(UINT32_MAX)};
	const struct rte_flow_attr attr = {.ingress = 1};

	for (uint32_t i = 0; i < nb; i++) {
		const struct rte_flow_item_ipv4 ip = {
			.hdr.dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 1 + queue, 0, i))};
		const struct rte_flow_item pattern[] = {
			{.type = RTE_FLOW_ITEM_TYPE_ETH},
			{.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &mask},
			{.type = RTE_FLOW_ITEM_TYPE_END},
		};

		assert_non_null(rte_flow_create(port, &attr, pattern, actions, NULL));
	}
}

/*
 * The fence of a flow that moves to a queue meanwhile stays open, as nothing polls the queue: the
 * other queue gets its home.
 */
static void
test_a_silent_poller_stops_no_other_queue(void **state)
{
	static const struct octo_port_conf conf = {
		.sliced = true, .two_nodes = true, .octo = "dwell_ms=0"};
	struct octo_port_flows t;
	struct rte_flow *rule;
	struct octo_dev *octo;
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &conf, 2, &octo_port_flows_rss);
	octo = octo_of(&rte_eth_devices[t.port]);
	/* more than octo writes at a time */
	lead_addresses_to(t.port, 0, 100);
	rule = octo_port_steer(t.port, 3, 1, NULL);
	assert_non_null(rule);
	octo_port_flows_pass_often(&t, 20);
	before = octo_port_xstat(t.port, "rehomes");
	poll_from(&t, 1);
	octo_lock(octo);
	assert_true(octo_sync_step_locked(octo));
	assert_true(octo->sync.queue[0].naming);
	assert_int_equal(octo_move_exact_locked(octo, rule, 0, NULL), 0);
	octo_unlock(octo);
	for (int n = 0; n < 2000 && octo_port_xstat(t.port, "rehomes") == before; n++) {
		octo_port_pass_us(500);
		octo_port_flows_receive(&t, 1);
	}
	assert_int_equal(octo_port_xstat(t.port, "rehomes"), before + 1);
	assert_int_equal(octo->leg_pf[1], 1);
	/* and so does this one when it is polled again */
	for (int n = 0; n < 2000 && octo_port_xstat(t.port, "rehomes") < before + 2; n++)
		octo_port_flows_pass(&t, false);
	assert_int_equal(octo_port_xstat(t.port, "rehomes"), before + 2);
	assert_int_equal(t.overtaken, 0);
}

/* Each queue is polled from the node of its number. */
static void
poll_both(struct octo_port_flows *t)
{
	for (uint16_t q = 0; q < 2; q++) {
		octo_port_run_on(q);
		octo_port_flows_receive(t, q);
	}
	octo_port_pass_us(2000);
}

/* A rule that the port lacks and refuses is tried again, alone. */
static void
test_a_lost_rule_has_no_other_written_again(void **state)
{
	static const struct octo_port_conf conf = {
		.sliced = true, .two_nodes = true, .all = "caps=-update", .octo = "dwell_ms=0"};
	const struct octo_dev *octo;
	struct octo_port_flows t;
	struct rte_flow *rule;
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &conf, 2, &octo_port_flows_rss);
	octo = octo_of(&rte_eth_devices[t.port]);
	lead_addresses_to(t.port, 1, 20);
	rule = lead_all_to(t.port, RTE_FLOW_ITEM_TYPE_IPV6, 0, 2);
	octo_port_flows_pass_often(&t, 20);
	before = octo_port_xstat(t.port, "rehomes");
	lose(t.port, rule);
	faults_of_replacement->create_ingress = 0;
	faults_of_replacement->priorities = 2;
	faults_of_replacement->ingresses = 0;
	for (int ms = 0; ms < 10000; ms += 2)
		poll_both(&t);
	assert_int_equal(octo->leg_pf[1], 1);
	assert_int_equal(octo_port_xstat(t.port, "rehomes"), before + 1);
	/* the new rule, which the NIC refuses beside the old one, a bridge, the new rule again */
	assert_int_equal(faults_of_replacement->ingresses, 20 * 3);
	assert_null(octo_rule_on(octo, rule, 0));
	faults_of_replacement->priorities = 0;
	for (int n = 0; n < 2000 && octo_rule_on(octo, rule, 0) == NULL; n++)
		poll_both(&t);
	assert_non_null(octo_rule_on(octo, rule, 0));
	assert_int_equal(faults_of_replacement->ingresses, 20 * 3 + 1);
}

/* Other refusals than those for lack of room for two rules. */
static void
test_a_flow_keeps_its_rule_where_another_fails(void **state)
{
	struct octo_port_faults *faults;
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &octo_port_flows_rss);
	assert_non_null(octo_port_steer(t.port, 3, 0, NULL));
	octo_port_flows_pass_often(&t, 20);
	octo_port_lack_update();
	faults = octo_port_faults_on(0);
	faults->create_ingress = EIO;
	octo_port_run_on(1);
	for (int n = 0; n < 500; n++) {
		octo_port_flows_pass(&t, true);
		assert_int_equal(octo_port_rule_pf(t.port, 3), 0);
	}
	faults->create_ingress = 0;
	for (int n = 0; n < 20000 && octo_port_rule_pf(t.port, 3) == 0; n++)
		octo_port_flows_pass(&t, true);
	assert_int_equal(octo_port_rule_pf(t.port, 3), 1);
	octo_port_flows_assert_all_arrive(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_reta_stays_home_though_a_rule_is_refused),
		octo_port_test(test_legs_follow_a_home_of_the_start_only),
		octo_port_test(test_a_rule_follows_without_room_for_another),
		octo_port_test(test_a_rule_that_an_update_lost_comes_back),
		octo_port_test(test_a_silent_poller_stops_no_other_queue),
		octo_port_test(test_a_lost_rule_has_no_other_written_again),
		octo_port_test(test_a_flow_keeps_its_rule_where_another_fails),
		octo_port_test(test_hits_are_counted_once),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
