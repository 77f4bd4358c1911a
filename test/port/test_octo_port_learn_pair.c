/* SPDX-License-Identifier: BSD-3-Clause */

/* With a symmetric RSS key both directions of a connection are learned together. */

#include <rte_ip.h>
#include <rte_udp.h>

#include "octo_port.h"

/* All packets are of queue 0, which is at home on PF 0, and come in by PF 1: strays. */
static const struct octo_port_conf learning = {.learn = true, .nic = "default_pf=1"};

#define FLOW 7
#define BURST 32
/* Longer than until hits are read. */
#define READ_US (2 * 1000 * 1000)

static uint8_t symmetric[40];
static uint32_t sent, last;
static unsigned int overtaken;

static uint16_t
up_with(const struct octo_port_conf *conf, bool has_key, uint16_t nb_queues)
{
	const uint16_t port = octo_port_create(conf);
	struct rte_eth_conf eth = {.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS};

	for (unsigned int i = 0; i < sizeof(symmetric); i++)
		symmetric[i] = i % 2 == 0 ? 0x6d : 0x5a;
	eth.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP;
	if (has_key) {
		eth.rx_adv_conf.rss_conf.rss_key = symmetric;
		eth.rx_adv_conf.rss_conf.rss_key_len = sizeof(symmetric);
	}
	octo_port_up_as(port, nb_queues, &eth);
	octo_port_lead_all_to(port, 0);
	sent = last = 0;
	overtaken = 0;
	return port;
}

static uint16_t
up(const struct octo_port_conf *conf, bool has_key)
{
	return up_with(conf, has_key, 2);
}

static void
turn_around(struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *,
							  sizeof(struct rte_ether_hdr));
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	RTE_SWAP(ip->src_addr, ip->dst_addr);
	RTE_SWAP(udp->src_port, udp->dst_port);
}

/* The next packet of the connection, from one end or the other. */
static void
say(uint16_t port, uint16_t flow, bool back)
{
	struct rte_mbuf *m;

	octo_port_make_numbered(port, flow, ++sent, &m, 1);
	if (back)
		turn_around(m);
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
}

static void
hear(uint16_t port)
{
	struct rte_mbuf *pkts[BURST];

	for (unsigned int n = 0; n < 8; n++) {
		const uint16_t got = rte_eth_rx_burst(port, 0, pkts, BURST);

		for (uint16_t i = 0; i < got; i++) {
			const uint32_t number = octo_port_number(pkts[i]);

			overtaken += number < last;
			last = RTE_MAX(last, number);
		}
		rte_pktmbuf_free_bulk(pkts, got);
		octo_port_pass_us(20);
	}
}

/* Packets from both ends in turn, or from one, wait in the rings, and are read then. */
static void
talk(uint16_t port, bool both)
{
	for (unsigned int i = 0; i < 8; i++)
		say(port, FLOW, both && i % 2 == 1);
	octo_port_pump(1);
	hear(port);
	octo_port_pass_us(1000);
}

#define talk_until(port, both, condition)                                                          \
	do {                                                                                       \
		for (int talks_ = 0; talks_ < 5000 && !(condition); talks_++)                      \
			talk(port, both);                                                          \
		assert_true(condition);                                                            \
	} while (0)

static uint64_t
rules(uint16_t port)
{
	return octo_port_xstat(port, "steered_flows");
}

static void
test_neither_end_overtakes_the_other(void **state)
{
	static const struct octo_port_conf slow = {
		.learn = true, .nic = "default_pf=1", .octo = "learn_sample=64"};
	const uint16_t port = up(&slow, true);

	(void)state;
	for (int i = 0; i < 300; i++)
		talk(port, true);
	assert_int_equal(last, sent);
	assert_int_equal(overtaken, 0);
	assert_int_equal(rules(port), 2);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 1);
}

static void
test_a_key_of_another_kind_pairs_nothing(void **state)
{
	const uint16_t port = up(&learning, false);

	(void)state;
	talk_until(port, false, rules(port) > 0);
	assert_int_equal(rules(port), 1);
}

/* The reverse of a flow that nobody answers takes no room for long. */
static void
test_nobody_answers(void **state)
{
	const uint16_t port = up(&learning, true);

	(void)state;
	talk_until(port, false, rules(port) == 2);
	for (int i = 0; i < 10; i++)
		talk(port, false);
	octo_port_pass_us(READ_US);
	assert_int_equal(rules(port), 1);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 1);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
}

/* One end is silent for longer than a flow alone may be: both keep their rules, or lose them. */
static void
test_both_age_together(void **state)
{
	static const struct octo_port_conf ageing = {
		.learn = true, .nic = "default_pf=1", .octo = "idle_ms=4000"};
	const uint16_t port = up(&ageing, true);

	(void)state;
	talk_until(port, true, rules(port) == 2);
	for (int i = 0; i < 10; i++)
		talk(port, true);
	for (int i = 0; i < 5; i++) {
		octo_port_pass_us(READ_US);
		talk(port, false);
		assert_int_equal(rules(port), 2);
	}
	for (int i = 0; i < 5; i++)
		octo_port_pass_us(READ_US);
	assert_int_equal(rules(port), 0);
	assert_int_equal(octo_port_xstat(port, "learn_aged"), 1);
}

/* The application steers one direction: the other stays learned, and is no more than that. */
static void
test_one_gets_a_rule_of_the_application(void **state)
{
	const uint16_t port = up(&learning, true);
	struct rte_flow *rule;

	(void)state;
	talk_until(port, true, rules(port) == 2);
	rule = octo_port_steer(port, FLOW, 0, NULL);
	assert_non_null(rule);
	assert_int_equal(rules(port), 2);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 1);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	talk_until(port, true, rules(port) == 2 && octo_port_rule_pf(port, FLOW) == 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 0);
	assert_int_equal(rules(port), 0);
}

/* The same while nobody answers: the other direction is kept for an answer, but not for long. */
static void
test_nobody_answers_a_rule_of_the_application(void **state)
{
	const uint16_t port = up(&learning, true);
	struct rte_flow *rule;

	(void)state;
	talk_until(port, false, rules(port) == 2);
	rule = octo_port_steer(port, FLOW, 0, NULL);
	assert_non_null(rule);
	talk(port, false);
	octo_port_pass_us(READ_US);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 1);
	for (int i = 0; i < 10; i++)
		talk(port, false);
	octo_port_pass_us(READ_US);
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 0);
	assert_int_equal(octo_port_xstat(port, "learn_aged"), 1);
	assert_int_equal(rules(port), 1);
}

/* Room for three rules: a connection has both of its own, or none. */
static void
test_no_room_for_both(void **state)
{
	static const struct octo_port_conf small = {.learn = true,
						    .nic = "default_pf=1,mpfs_entries=3"};
	const uint16_t port = up(&small, true);

	(void)state;
	talk_until(port, true, rules(port) == 2);
	for (int i = 0; i < 50; i++) {
		for (unsigned int n = 0; n < 4; n++)
			say(port, FLOW + 1, n % 2 == 1);
		hear(port);
		octo_port_pass_us(10 * 1000);
		assert_int_equal(rules(port), 2);
	}
	assert_true(octo_port_xstat(port, "learn_refused") > 0);
}

/* Lead what goes to this UDP port to a queue, by a rule of many flows. */
static void
lead_by_port(uint16_t port, rte_be16_t dst_port, uint16_t queue)
{
	const struct rte_flow_item_udp udp = {.hdr.dst_port = dst_port};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4},
		{.type = RTE_FLOW_ITEM_TYPE_UDP,
		 .spec = &udp,
		 .mask = &(struct rte_flow_item_udp){.hdr.dst_port = UINT16_MAX}},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE,
		 .conf = &(struct rte_flow_action_queue){.index = queue}},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	const struct rte_flow_attr attr = {.ingress = 1};

	assert_non_null(rte_flow_create(port, &attr, pattern, actions, NULL));
}

/* Both ends send, and all queues but the last one, which stays empty, are polled. */
static void
talk_by_all(uint16_t port, uint16_t nb_queues)
{
	struct rte_mbuf *pkts[BURST];

	for (unsigned int i = 0; i < 8; i++)
		say(port, FLOW, i % 2 == 1);
	octo_port_pump(nb_queues);
	for (uint16_t i = 0; i < 8 * nb_queues; i++) {
		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, i % nb_queues, pkts, BURST));
		octo_port_pass_us(20);
	}
	octo_port_pass_us(1000);
}

/* A rule of the application leads answers to another queue: they are at home there. */
static void
test_the_answers_have_another_queue(void **state)
{
	const uint16_t port = up_with(&learning, true, 3);

	(void)state;
	lead_by_port(port, RTE_BE16(FLOW), 1);
	for (int i = 0; i < 500; i++)
		talk_by_all(port, 2);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
	assert_int_equal(rules(port), 1);
}

/* It leads one direction elsewhere later: it is not the RETA that leads that. */
static void
test_only_one_follows_the_reta(void **state)
{
	static const struct octo_port_conf three = {
		.nb_pfs = 3, .learn = true, .nic = "default_pf=1"};
	const uint16_t port = up_with(&three, true, 4);

	(void)state;
	talk_until(port, true, rules(port) == 2);
	lead_by_port(port, RTE_BE16(9), 1);
	for (int i = 0; i < 500 && octo_port_rule_pf(port, FLOW) != 1; i++)
		talk_by_all(port, 3);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
	octo_port_lead_all_to(port, 2);
	for (int i = 0; i < 500; i++) {
		talk_by_all(port, 3);
		assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_neither_end_overtakes_the_other),
		octo_port_test(test_a_key_of_another_kind_pairs_nothing),
		octo_port_test(test_nobody_answers),
		octo_port_test(test_both_age_together),
		octo_port_test(test_one_gets_a_rule_of_the_application),
		octo_port_test(test_nobody_answers_a_rule_of_the_application),
		octo_port_test(test_no_room_for_both),
		octo_port_test(test_the_answers_have_another_queue),
		octo_port_test(test_only_one_follows_the_reta),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
