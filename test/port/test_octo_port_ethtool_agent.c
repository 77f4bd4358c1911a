/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are slices of a port of net_af_xdp, in a process that has to ask octo-agent. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "agent_netdev_rig.h"
#include "octo_ethtool_client.h"
#include "octo_ethtool_table.h"
#include "octo_private.h"

static struct octo_port_kernel *const kernel = &octo_port_kernel;

static const struct rte_eth_conf rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
};

static uint16_t
create(bool two_nodes)
{
	const struct octo_port_conf conf = {
		.sliced = true, .two_nodes = two_nodes, .octo = netdev_rig.arg};

	return octo_port_create(&conf);
}

static uint16_t
create_and_start(void)
{
	const uint16_t port = create(false);

	octo_port_up_as(port, 2, &rss);
	return port;
}

static const char *
tier(uint16_t port)
{
	return octo_tier_name(octo_of(&rte_eth_devices[port])->tier);
}

/* Queue Q is at home on PF Q % 2, whose slice has each second channel. */
static void
steer_two(uint16_t port)
{
	for (uint16_t q = 0; q < 2; q++)
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
}

static bool
leads_home(uint16_t port)
{
	return octo_port_leads_to(port, 100, 0, 0) && octo_port_leads_to(port, 101, 1, 1) &&
	       octo_port_kernel_channel_of(100) == 0 && octo_port_kernel_channel_of(101) == 3;
}

static bool
has_home_channels(void)
{
	return octo_port_kernel_channels() == (RTE_BIT64(0) | RTE_BIT64(3));
}

static void
check_traffic(uint16_t port)
{
	const uint64_t before = octo_port_strays(port);

	assert_true(leads_home(port));
	for (uint16_t q = 0; q < 2; q++)
		octo_port_assert_arrives(port, 100 + q, q, 10);
	assert_int_equal(octo_port_strays(port), before);
}

static void
assert_refused(uint16_t port, uint16_t src_port, int code, const char *words)
{
	struct rte_flow_error error = {.message = NULL};

	assert_null(octo_port_steer(port, src_port, 0, &error));
	assert_int_equal(rte_errno, code);
	assert_non_null(error.message);
	if (strstr(error.message, words) == NULL)
		fail_msg("%s", error.message);
}

static void
test_flows_come_by_the_home_leg(void **state)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	(void)state;
	port = create_and_start();
	assert_string_equal(tier(port), "exact");
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.reta_size, 128);
	assert_int_equal(info.hash_key_size, OCTO_PORT_KERNEL_KEY);
	steer_two(port);
	check_traffic(port);
	assert_true(has_home_channels());
	assert_int_equal(octo_port_kernel_count(), 2);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_kernel_count(), 0);
	octo_port_close_and_remove(port);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
}

/* Also the RETA, which is set behind the same fence. */
static void
test_a_rehome_replaces_the_rule(void **state)
{
	unsigned int before;
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	port = create(true);
	octo_port_run_on(0);
	octo_port_up_as(port, 1, &rss);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	for (int i = 1; i < 6; i++) {
		before = kernel->inserted;
		octo_port_run_on(i % 2);
		netdev_rig_await(octo_port_leads_to(port, 7, 0, i % 2) &&
				 octo_port_kernel_channels() == RTE_BIT64(i % 2));
		assert_int_equal(octo_port_kernel_channel_of(7), i % 2);
		assert_int_equal(kernel->inserted, before + 1);
		assert_int_equal(kernel->removed, 0);
	}
	octo_port_assert_arrives(port, 7, 0, 10);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_a_table_of_1024_rules(void **state)
{
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	struct rte_flow_error error;
	struct rte_flow *last = NULL;
	uint16_t port;

	(void)state;
	kernel->follows = false;
	octo_port_kernel_add(512, &theirs, 1);
	port = create_and_start();
	for (uint16_t i = 0; i < OCTO_PORT_KERNEL_RULES - 1; i++) {
		last = octo_port_steer(port, 10000 + i, i % 2, NULL);
		assert_non_null(last);
	}
	assert_refused(port, 7, ENOSPC, "full");
	assert_int_equal(rte_flow_destroy(port, last, &error), 0);
	netdev_rig_await(octo_port_kernel_count() == OCTO_PORT_KERNEL_RULES - 1);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
	octo_port_close_and_remove(port);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_count(), 1);
}

/* The sentences are those of a process that asks the kernel itself. */
static void
test_refusals_of_the_kernel(void **state)
{
	static const struct {
		int code;
		const char *words;
	} refusals[] = {
		{EPERM, "CAP_NET_ADMIN"},
		{ENOSPC, "full"},
		{EOPNOTSUPP, "ethtool -k"},
		{EBUSY, "busy"},
		{ENODEV, "is gone"},
		{EINVAL, "ethtool -l"},
		{EIO, "the kernel refuses the"},
	};
	uint16_t port = create_and_start();

	(void)state;
	steer_two(port);
	for (size_t i = 0; i < RTE_DIM(refusals); i++) {
		kernel->insert = refusals[i].code;
		assert_refused(port, 7, refusals[i].code, refusals[i].words);
		check_traffic(port);
		kernel->insert = 0;
	}
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 10);
}

static void
test_a_netdev_without_rules(void **state)
{
	uint16_t port;

	(void)state;
	kernel->no_rules = EOPNOTSUPP;
	port = create_and_start();
	assert_string_equal(tier(port), "none");
	assert_true(has_home_channels());
	octo_port_kernel_send_flows(port, 2);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
lose_agent(uint16_t port)
{
	netdev_rig_await(!octo_port_leads_to(port, 100, 0, 0));
	assert_refused(port, 7, ENOTCONN, "away");
	octo_port_kernel_send_flows(port, 2);
	/* the audit does not blame the rules */
	octo_port_pass_us(5 * US_PER_S);
	octo_port_kernel_send_flows(port, 2);
	assert_string_equal(tier(port), "exact");
}

static void
find_agent(uint16_t port)
{
	netdev_rig_await(leads_home(port) && has_home_channels());
	check_traffic(port);
	assert_int_equal(octo_port_kernel_count(), 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 10);
}

static void
test_the_agent_ends_and_begins(void **state)
{
	uint16_t port = create_and_start();

	(void)state;
	steer_two(port);
	check_traffic(port);
	netdev_rig_end();
	assert_int_equal(octo_port_kernel_count(), 0);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	lose_agent(port);
	netdev_rig_begin();
	find_agent(port);
}

static void
destroy(uint16_t port, struct rte_flow *rule)
{
	struct rte_flow_error error;

	assert_non_null(rule);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
}

/* The agent updates the rule that lingers: there is only one in the kernel, which stays. */
static void
test_a_rule_replaces_its_equal(void **state)
{
	uint16_t port = create_and_start();
	struct rte_flow *rule = octo_port_steer(port, 7, 1, NULL);

	(void)state;
	octo_port_assert_arrives(port, 7, 1, 10);
	for (int i = 0; i < 3; i++) {
		destroy(port, rule);
		rule = octo_port_steer(port, 7, 1, NULL);
		assert_int_equal(octo_port_kernel_channel_of(7), 3);
		octo_port_assert_arrives(port, 7, 1, 10);
	}
	destroy(port, rule);
	netdev_rig_await(octo_port_kernel_count() == 0);
}

/* Its rules stay in the kernel until it runs again, and are not made twice. */
static void
test_the_agent_crashes(void **state)
{
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	uint16_t port;

	(void)state;
	octo_port_kernel_add(1023, &theirs, 1);
	port = create_and_start();
	steer_two(port);
	netdev_rig_crash();
	assert_int_equal(octo_port_kernel_count(), 3);
	lose_agent(port);
	assert_int_equal(octo_port_kernel_count(), 3);
	netdev_rig_begin();
	assert_int_equal(octo_port_kernel_count(), 1);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	netdev_rig_await(leads_home(port) && has_home_channels());
	check_traffic(port);
	assert_int_equal(octo_port_kernel_count(), 3);
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
}

/* A rule that is destroyed while the agent is away does not come back. */
static void
test_rules_may_go_without_the_agent(void **state)
{
	uint16_t port = create_and_start();
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	steer_two(port);
	rule = octo_port_steer(port, 8, 1, NULL);
	assert_non_null(rule);
	netdev_rig_end();
	lose_agent(port);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	netdev_rig_begin();
	find_agent(port);
}

static uint16_t
create_and_learn(void)
{
	const struct octo_port_conf conf = {.sliced = true, .learn = true, .octo = netdev_rig.arg};
	uint16_t port;

	kernel->no_reta = EOPNOTSUPP;
	port = octo_port_create(&conf);
	octo_port_up_as(port, 2, &rss);
	for (int i = 0; i < 4000 && octo_port_xstat(port, "learned_flows") < 20; i++)
		octo_port_kernel_send_flows(port, 2);
	return port;
}

/* Its queue is the same. */
static void
test_a_rule_replaces_a_learned_one(void **state)
{
	const uint16_t port = create_and_learn();
	unsigned int nb = 0;

	(void)state;
	for (uint16_t flow = 0; flow < OCTO_PORT_KERNEL_FLOWS; flow++) {
		const int channel = octo_port_kernel_channel_of(flow);

		if (channel < 0)
			continue;
		assert_non_null(octo_port_steer(port, flow, channel == 3, NULL));
		assert_int_equal(octo_port_kernel_channel_of(flow), channel);
		nb++;
	}
	assert_in_range(nb, 20, OCTO_PORT_KERNEL_FLOWS);
}

static void
test_learned_rules_come_back(void **state)
{
	const uint16_t port = create_and_learn();
	unsigned int before;

	(void)state;
	before = octo_port_kernel_count();
	assert_in_range(before, 20, OCTO_PORT_KERNEL_FLOWS);
	netdev_rig_end();
	assert_int_equal(octo_port_kernel_count(), 0);
	for (int i = 0; i < 100; i++)
		octo_port_kernel_send_flows(port, 2);
	netdev_rig_begin();
	netdev_rig_await(octo_port_kernel_count() >= before);
}

static void
test_the_port_is_started_without_the_agent(void **state)
{
	uint16_t port = create_and_start();

	(void)state;
	steer_two(port);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	netdev_rig_end();
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_kernel_send_flows(port, 2);
	netdev_rig_begin();
	find_agent(port);
}

/* It is there when the port has been made: the RETA is not offered then, but rules are. */
static void
test_the_agent_begins_later(void **state)
{
	uint16_t port = create_and_start();

	(void)state;
	assert_string_equal(tier(port), "none");
	assert_refused(port, 7, ENOTCONN, "away");
	octo_port_kernel_send_flows(port, 2);
	netdev_rig_begin();
	netdev_rig_await(strcmp(tier(port), "exact") == 0);
	steer_two(port);
	check_traffic(port);
}

/* No longer than its credit, and not again while it is silent. */
static void
test_an_agent_that_does_not_answer(void **state)
{
	uint16_t port = create_and_start();
	uint64_t since;

	(void)state;
	steer_two(port);
	netdev_rig.is_mute = true;
	since = octo_now_ms();
	assert_refused(port, 7, ENOTCONN, "away");
	assert_in_range(octo_now_ms() - since, 1000, 1100);
	since = octo_now_ms();
	for (uint16_t i = 0; i < 100; i++)
		assert_refused(port, 7, ENOTCONN, "away");
	assert_int_equal(octo_now_ms(), since);
	octo_port_kernel_send_flows(port, 2);
	netdev_rig.is_mute = false;
	find_agent(port);
}

static void
test_two_ports_want_the_netdev(void **state)
{
	uint16_t port = create_and_start();
	struct octo_ethtool *other;

	(void)state;
	steer_two(port);
	other = octo_ethtool_open_by_agent(netdev_rig.address, octo_port_kernel_ifindex());
	assert_non_null(other);
	assert_int_equal(other->rules_refused, ENOTCONN);
	assert_string_equal(other->client->why, "another process steers the flows of the netdev");
	octo_ethtool_close(other);
	check_traffic(port);
}

/* Somebody has removed it, and it cannot be made again: there is nothing to remove. */
static void
test_a_rule_that_is_nowhere(void **state)
{
	const struct octo_tuple t = octo_port_kernel_tuple(7);
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	et = octo_ethtool_open_by_agent(netdev_rig.address, octo_port_kernel_ifindex());
	assert_non_null(et);
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &rule), 0);
	kernel->used[rule->fs.location] = false;
	kernel->insert = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
	assert_int_equal(octo_port_kernel_count(), 0);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	octo_ethtool_close(et);
}

static void
test_a_refused_move_reaches_the_port(void **state)
{
	const struct octo_tuple t = octo_port_kernel_tuple(7);
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	kernel->special = kernel->doubles = true;
	et = octo_ethtool_open_by_agent(netdev_rig.address, octo_port_kernel_ifindex());
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &rule), 0);
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
	kernel->remove = 0;
	assert_int_equal(octo_ethtool_update(et, rule, 2), 0);
	assert_int_equal(octo_port_kernel_channel(&t), 2);
	octo_ethtool_close(et);
}

/* Somebody changes the channels meanwhile: the kernel answers with the sizes that it has. */
static void
test_a_reta_is_asked_for_in_vain(void **state)
{
	struct ethtool_rxfh *rxfh = malloc(octo_ethtool_rss_len(64, OCTO_PORT_KERNEL_KEY));
	struct octo_ethtool *et;

	(void)state;
	assert_non_null(rxfh);
	et = octo_ethtool_open_by_agent(netdev_rig.address, octo_port_kernel_ifindex());
	assert_non_null(et);
	octo_ethtool_ask_rss(rxfh, 64, OCTO_PORT_KERNEL_KEY);
	assert_int_equal(octo_ethtool_client_io(et->client, rxfh), -EINVAL);
	assert_true(et->client->is_welcome);
	octo_ethtool_close(et);
	free(rxfh);
}

/* The process that had the port is killed: nothing says good-bye. */
static void
test_the_port_dies(void **state)
{
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	const uint32_t reta[2] = {1, 3};
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;
	struct octo_tuple t;

	(void)state;
	octo_port_kernel_add(1023, &theirs, 1);
	et = octo_ethtool_open_by_agent(netdev_rig.address, octo_port_kernel_ifindex());
	assert_non_null(et);
	assert_true(kernel->is_default);
	for (uint16_t i = 0; i < 30; i++) {
		t = octo_port_kernel_tuple(100 + i);
		assert_int_equal(octo_ethtool_insert(et, &t, i % 16, &rule), 0);
	}
	assert_int_equal(octo_ethtool_set_reta(et, reta, 2), 0);
	assert_int_equal(octo_port_kernel_count(), 31);
	octo_ethtool_client_fini(et->client);
	netdev_rig_step();
	assert_int_equal(octo_port_kernel_count(), 1);
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	octo_ethtool_close(et);
	steer_two(create_and_start());
}

/* What the log says at the end of a session with a rule; to be freed. */
static char *
log_of_session(int refusal)
{
	const struct octo_tuple t = octo_port_kernel_tuple(7);
	struct octo_ethtool *et = octo_ethtool_open_by_agent(netdev_rig.address,
							     octo_port_kernel_ifindex());
	struct octo_ethtool_note *rule;
	static char *text;
	static size_t len;
	FILE *log = open_memstream(&text, &len);

	assert_non_null(log);
	assert_int_equal(octo_ethtool_insert(et, &t, 2, &rule), 0);
	octo_ethtool_client_fini(et->client);
	kernel->change = refusal;
	rte_openlog_stream(log);
	rte_log_set_global_level(RTE_LOG_NOTICE);
	netdev_rig_step();
	rte_log_set_global_level(RTE_LOG_WARNING);
	rte_openlog_stream(NULL);
	fclose(log);
	kernel->change = 0;
	octo_ethtool_close(et);
	return text;
}

static void
test_what_stays_is_logged(void **state)
{
	char *text = log_of_session(EBUSY);

	(void)state;
	assert_int_equal(octo_port_kernel_channel_of(7), 2);
	assert_null(strstr(text, "and its rules with it"));
	assert_non_null(strstr(text, strerror(EBUSY)));
	free(text);
	text = log_of_session(0);
	assert_int_equal(octo_port_kernel_channel_of(7), -1);
	assert_non_null(strstr(text, "and its rules with it"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		netdev_rig_test(test_flows_come_by_the_home_leg),
		netdev_rig_test(test_a_rehome_replaces_the_rule),
		netdev_rig_test(test_a_table_of_1024_rules),
		netdev_rig_test(test_refusals_of_the_kernel),
		netdev_rig_test(test_a_netdev_without_rules),
		netdev_rig_test(test_the_agent_ends_and_begins),
		netdev_rig_test(test_a_rule_replaces_its_equal),
		netdev_rig_test(test_the_agent_crashes),
		netdev_rig_test(test_rules_may_go_without_the_agent),
		netdev_rig_test(test_a_rule_replaces_a_learned_one),
		netdev_rig_test(test_learned_rules_come_back),
		netdev_rig_test(test_the_port_is_started_without_the_agent),
		netdev_rig_test_without(test_the_agent_begins_later),
		netdev_rig_test(test_an_agent_that_does_not_answer),
		netdev_rig_test(test_two_ports_want_the_netdev),
		netdev_rig_test(test_a_rule_that_is_nowhere),
		netdev_rig_test(test_a_refused_move_reaches_the_port),
		netdev_rig_test(test_a_reta_is_asked_for_in_vain),
		netdev_rig_test(test_the_port_dies),
		netdev_rig_test(test_what_stays_is_logged),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
