/* SPDX-License-Identifier: BSD-3-Clause */

/* A rule that lingers, and what RSS and learning do with its flow when it ends. */

#include "octo_port.h"
#include "rte_pmd_octo.h"

#define FLOW 7

/* For longer than any test takes. */
static const struct octo_port_conf lingering = {.octo = "linger_ms=10000"};

/* The only trace of it that there is. */
static uint32_t
nb_lingering(uint16_t port)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.nb_lingering;
}

#define RSS_QUEUES 4

static void
up_with_rss(uint16_t port, uint64_t types)
{
	const struct rte_eth_conf conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = types,
	};

	octo_port_up_as(port, RSS_QUEUES, &conf);
}

/* The queue that a packet of the flow comes to. All are polled for longer: fences close. */
static uint16_t
find_queue(uint16_t port)
{
	struct octo_port_tally tally = {0};
	uint32_t more = 50 * RSS_QUEUES;
	uint16_t queue = RSS_QUEUES;

	octo_port_send(port, 0, FLOW, 1);
	for (uint32_t i = 0; i < 200000 && more > 0; i++) {
		if (octo_port_poll(port, i % RSS_QUEUES, 32, &tally) > 0)
			queue = i % RSS_QUEUES;
		if (queue == RSS_QUEUES)
			continue;
		more--;
		octo_port_pass_us(5);
	}
	assert_int_equal(tally.packets, 1);
	return queue;
}

/* Were another queue taken for that of RSS, a rule to it would open no fence: there is one PF. */
static void
check_rss(uint64_t types)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .octo = "fence_timeout_ms=1000"};
	uint16_t port = octo_port_create(&conf);
	uint16_t home;

	up_with_rss(port, types);
	home = find_queue(port);
	for (uint16_t i = 1; i < RSS_QUEUES; i++) {
		const uint16_t queue = (home + i) % RSS_QUEUES;
		struct rte_flow *rule = octo_port_steer(port, FLOW, queue, NULL);
		uint64_t before;

		assert_non_null(rule);
		assert_int_equal(find_queue(port), queue);
		before = octo_port_xstat(port, "fence_opened");
		assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
		for (int k = 0; k < 5000 && find_queue(port) == queue; k++)
			octo_port_pass_us(100);
		assert_int_equal(find_queue(port), home);
		assert_int_equal(octo_port_xstat(port, "fence_opened"), before + 1);
	}
}

/* Makes a rule to another queue than that of RSS, which is returned, and destroys it. */
static uint16_t
leave_rss(uint16_t port, uint16_t *queue)
{
	struct rte_pmd_octo_tuple tuple;
	struct rte_flow_error error;
	struct rte_flow *rule;
	const char *culprit;
	uint16_t rss;

	rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, &culprit);
	up_with_rss(port, RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	rss = find_queue(port);
	*queue = (rss + 1) % RSS_QUEUES;
	rule = octo_port_steer(port, FLOW, (*queue + 1) % RSS_QUEUES, NULL);
	assert_non_null(rule);
	/* to the switch's other priority, so that it can be overruled */
	assert_int_equal(rte_pmd_octo_steer_move(port, &tuple, *queue, &error), 0);
	assert_int_equal(find_queue(port), *queue);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	assert_int_equal(nb_lingering(port), 1);
	return rss;
}

/* A learned rule does not choose the queue: RSS would, out of order. */
static void
test_a_flow_of_another_queue_is_not_learned(void **state)
{
	const struct octo_port_conf conf = {
		.learn = true,
		.octo = "linger_ms=10000,learn_sample=1",
	};
	uint16_t port = octo_port_create(&conf);
	uint16_t queue;

	(void)state;
	leave_rss(port, &queue);
	assert_non_null(octo_port_overrule(FLOW, (queue + 1) % 2));
	for (int i = 0; i < 20; i++) {
		assert_int_equal(find_queue(port), queue);
		octo_port_pass_us(1000);
	}
	assert_true(octo_port_strays(port) > 0);
	assert_int_equal(nb_lingering(port), 1);
}

static void
poll_queues(uint16_t port, struct octo_port_tally *tally)
{
	for (uint16_t q = 0; q < RSS_QUEUES; q++)
		octo_port_poll(port, q, 32, tally);
}

/* It is in the ring of the old queue when the rule ends, and the sample of it comes later. */
static void
test_what_came_before_the_end_is_not_learned(void **state)
{
	const struct octo_port_conf conf = {.learn = true, .octo = "learn_sample=1"};
	uint16_t port = octo_port_create(&conf);
	struct octo_port_tally tally = {0};
	uint16_t queue, rss;

	(void)state;
	rss = leave_rss(port, &queue);
	assert_non_null(octo_port_overrule(FLOW, (queue + 1) % 2));
	for (int i = 0; i < 8; i++) {
		poll_queues(port, &tally);
		octo_port_pass_us(1000);
	}
	assert_int_equal(nb_lingering(port), 1);
	octo_port_send(port, 0, FLOW, 20);
	octo_port_pump(rss);
	octo_port_pass_us(6000);
	assert_int_equal(nb_lingering(port), 0);
	for (int i = 0; i < 30; i++) {
		poll_queues(port, &tally);
		octo_port_pass_us(1000);
	}
	assert_int_equal(tally.packets, 20);
	assert_true(octo_port_strays(port) > 0);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 0);
	assert_int_equal(find_queue(port), rss);
}

/* One of several flows may be in its way, and that of the rule keeps its order. */
static void
test_a_rule_of_many_flows_ends_it_in_order(void **state)
{
	static const struct rte_flow_action drop[] = {{.type = RTE_FLOW_ACTION_TYPE_DROP},
						      {.type = RTE_FLOW_ACTION_TYPE_END}};
	uint16_t port = octo_port_create(&lingering);
	struct octo_port_tally old = {0}, new = {0};
	struct rte_flow_error error;
	struct octo_flow_rule r;
	uint16_t queue, rss;

	(void)state;
	rss = leave_rss(port, &queue);
	octo_port_send(port, 0, FLOW, 20);
	octo_port_pump((rss + 2) % RSS_QUEUES);
	octo_port_build(&r, FLOW + 1, 0);
	assert_non_null(rte_flow_create(port, &r.attr, r.pattern, drop, &error));
	assert_int_equal(nb_lingering(port), 0);
	octo_port_send(port, 0, FLOW, 10);
	for (int i = 0; i < 100; i++)
		octo_port_poll(port, rss, 32, &new);
	assert_int_equal(new.packets, 0);
	octo_port_receive(port, queue, 20, &old);
	assert_int_equal(old.packets, 20);
	octo_port_poll(port, queue, 32, &old);
	octo_port_receive(port, rss, 10, &new);
	assert_int_equal(old.packets, 20);
	assert_int_equal(new.packets, 10);
}

static void
test_rss_by_ports_is_known(void **state)
{
	(void)state;
	check_rss(RTE_ETH_RSS_NONFRAG_IPV4_UDP);
}

static void
test_rss_by_addresses_is_known(void **state)
{
	(void)state;
	check_rss(RTE_ETH_RSS_IPV4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_flow_of_another_queue_is_not_learned),
		octo_port_test(test_what_came_before_the_end_is_not_learned),
		octo_port_test(test_a_rule_of_many_flows_ends_it_in_order),
		octo_port_test(test_rss_by_ports_is_known),
		octo_port_test(test_rss_by_addresses_is_known),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
