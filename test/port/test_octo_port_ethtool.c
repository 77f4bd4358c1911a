/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are slices of a port of net_af_xdp: the kernel steers, by ntuple rules. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_errno.h>

#include "octo_ethtool_table.h"
#include "octo_port.h"
#include "octo_port_kernel.h"
#include "octo_private.h"

static struct octo_port_kernel *const kernel = &octo_port_kernel;

static const struct octo_port_conf interleaved = {.sliced = true, .replug = true};

static const struct octo_port_conf two_nodes = {.sliced = true, .two_nodes = true};

static const struct rte_eth_conf rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
};

static const char *
tier(uint16_t port)
{
	return octo_tier_name(octo_of(&rte_eth_devices[port])->tier);
}

static void
check_steering(uint16_t port, uint16_t nb_queues)
{
	const uint64_t before = octo_port_strays(port);

	for (uint16_t q = 0; q < nb_queues; q++) {
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
		octo_port_assert_arrives(port, 100 + q, q, 10);
		assert_int_equal(octo_port_rule_pf(port, 100 + q), q % 2);
	}
	assert_int_equal(octo_port_strays(port), before);
}

/* Queue Q is at home on PF Q % 2, whose slice has each second channel. */
static void
test_flows_come_by_the_home_leg(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 4);
	assert_string_equal(tier(port), "exact");
	check_steering(port, 4);
	for (uint16_t q = 0; q < 4; q++)
		assert_int_equal(octo_port_kernel_channel_of(100 + q), 2 * q + q % 2);
	assert_int_equal(octo_port_kernel_count(), 4);
	octo_port_close_and_remove(port);
	assert_int_equal(octo_port_kernel_count(), 0);
}

static void
test_a_stopped_port_has_no_rules(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 2);
	check_steering(port, 2);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_kernel_count(), 0);
	octo_port_up(port, 2);
	octo_port_assert_arrives(port, 101, 1, 10);
	assert_int_equal(octo_port_kernel_count(), 2);
}

/* Once its time to linger is over. */
static void
test_a_destroyed_rule_leaves_the_kernel(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	rule = octo_port_steer(port, 7, 1, NULL);
	assert_non_null(rule);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	octo_port_await(octo_port_kernel_count() == 0);
}

/* The driver puts it in the place of the one that lingers. */
static void
test_a_rule_replaces_its_equal(void **state)
{
	struct rte_flow_error error;
	struct rte_flow *rule;
	uint16_t port;

	(void)state;
	kernel->special = true;
	port = octo_port_create(&interleaved);
	octo_port_up(port, 2);
	rule = octo_port_steer(port, 7, 1, NULL);
	assert_non_null(rule);
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	rule = octo_port_steer(port, 7, 1, NULL);
	assert_non_null(rule);
	assert_int_equal(octo_port_kernel_channel_of(7), 3);
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	octo_port_await(octo_port_kernel_count() == 0);
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
test_a_full_table_rehomes(void **state)
{
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	kernel->size = 2;
	port = octo_port_create(&two_nodes);
	octo_port_run_on(0);
	octo_port_up(port, 1);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	assert_non_null(octo_port_steer(port, 8, 0, NULL));
	assert_refused(port, 9, ENOSPC, "full");
	for (int i = 1; i < 4; i++) {
		octo_port_run_on(i % 2);
		octo_port_await(octo_port_leads_to(port, 7, 0, i % 2));
		octo_port_await(octo_port_leads_to(port, 8, 0, i % 2));
		assert_int_equal(octo_port_kernel_channel_of(7), i % 2);
	}
	octo_port_assert_arrives(port, 7, 0, 10);
	octo_port_assert_arrives(port, 8, 0, 10);
	assert_int_equal(octo_port_strays(port), 0);
}

/* The directory of the file is that of all processes. */
static void
leave_as_a_crash(uint16_t nb)
{
	struct octo_ethtool *et;
	struct octo_ethtool_note *rule;
	const uint32_t reta[2] = {1, 3};
	char dir[256];

	strcpy(dir, rte_eal_get_runtime_dir());
	*strrchr(dir, '/') = '\0';
	et = octo_ethtool_open(dir, octo_port_kernel_ifindex());
	assert_non_null(et);
	for (uint16_t i = 0; i < nb; i++) {
		const struct octo_tuple t = octo_port_kernel_tuple(100 + i);

		assert_int_equal(octo_ethtool_insert(et, &t, i % 16, &rule), 0);
	}
	assert_int_equal(octo_ethtool_set_reta(et, reta, 2), 0);
	octo_ethtool_journal_leave(&et->journal);
	close(et->fd);
	free(et);
}

static void
test_a_crash_is_swept(void **state)
{
	const struct octo_tuple theirs = octo_port_kernel_tuple(5000);
	uint16_t port;

	(void)state;
	octo_port_kernel_add(1023, &theirs, 1);
	leave_as_a_crash(30);
	assert_int_equal(octo_port_kernel_count(), 31);
	port = octo_port_create(&interleaved);
	assert_int_equal(octo_port_kernel_count(), 1);
	octo_port_up_as(port, 2, &rss);
	check_steering(port, 2);
	octo_port_close_and_remove(port);
	assert_int_equal(octo_port_kernel_count(), 1);
	assert_int_equal(octo_port_kernel_channel_of(5000), 1);
}

/* Whatever is refused while the port runs: a sentence, and all goes on as before. */
static void
test_refusals_of_rules(void **state)
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
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 2);
	check_steering(port, 2);
	for (size_t i = 0; i < RTE_DIM(refusals); i++) {
		kernel->insert = refusals[i].code;
		assert_refused(port, 7, refusals[i].code, refusals[i].words);
		octo_port_assert_arrives(port, 101, 1, 10);
		kernel->insert = 0;
	}
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(octo_port_kernel_count(), 3);
}

/* Without rules the kernel's RSS brings packets home as far as its RETA can. */
static void
check_port_without_rules(const char *words, int code)
{
	uint16_t port = octo_port_create(&interleaved);

	octo_port_up_as(port, 2, &rss);
	assert_string_equal(tier(port), "none");
	assert_refused(port, 7, code, words);
	octo_port_kernel_send_flows(port, 2);
	octo_port_close_and_remove(port);
	octo_port_destroy();
}

static void
test_a_port_without_rules_works(void **state)
{
	(void)state;
	kernel->no_rules = EOPNOTSUPP;
	check_port_without_rules("ethtool -k", EOPNOTSUPP);
	kernel->no_rules = EBUSY;
	check_port_without_rules("busy", EBUSY);
	kernel->no_rules = 0;
	kernel->size = 0;
	check_port_without_rules("ethtool -k", EOPNOTSUPP);
}

static void
test_a_port_without_the_right_works(void **state)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	(void)state;
	kernel->change = EPERM;
	port = octo_port_create(&interleaved);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.reta_size, 0);
	octo_port_up_as(port, 2, &rss);
	assert_string_equal(tier(port), "none");
	octo_port_kernel_send_flows(port, 2);
	assert_int_equal(kernel->inserted + kernel->removed + kernel->reta_set, 0);
}

static int
create(uint16_t port, struct octo_flow_rule *r, struct rte_flow_error *error)
{
	*error = (struct rte_flow_error){.message = NULL};
	return rte_flow_create(port, &r->attr, r->pattern, r->actions, error) != NULL ? 0 :
											-rte_errno;
}

static void
test_other_rules_are_refused_with_words(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	struct octo_flow_rule r;
	struct rte_flow_error error;
	struct octo_tuple t;

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(octo_tuple_read(&t, "sctp", "10.0.0.1", 1, "10.0.0.2", 2, NULL), 0);
	octo_flow_build_queue(&r, &t, 0, 1, false);
	assert_int_equal(create(port, &r, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "SCTP"));
	t = octo_port_kernel_tuple(7);
	octo_flow_build_queue(&r, &t, 3, 1, false);
	assert_int_equal(create(port, &r, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "priorities"));
	octo_flow_build_queue(&r, &t, 0, 1, true);
	assert_int_equal(create(port, &r, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "count"));
	octo_flow_build_queue(&r, &t, 0, 1, false);
	r.actions[0].type = RTE_FLOW_ACTION_TYPE_DROP;
	assert_int_equal(create(port, &r, &error), -ENOTSUP);
	assert_non_null(error.message);
	assert_int_equal(octo_port_kernel_count(), 0);
	check_steering(port, 2);
}

static void
process(enum rte_eth_event_type event)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(0)], event, NULL);
}

static void
check_it_is_back(uint16_t port)
{
	octo_port_await(octo_port_pf_is_started(port, 0) && octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 101, 1, 1));
	octo_port_await(octo_port_leads_to(port, 100, 0, 0));
	for (uint16_t q = 0; q < 2; q++)
		octo_port_assert_arrives(port, 100 + q, q, 10);
	assert_int_equal(octo_port_kernel_count(), 2);
	octo_port_await(octo_port_leads_to(port, 101, 1, 1) &&
			octo_port_kernel_channels() == (RTE_BIT64(0) | RTE_BIT64(3)));
}

static void
test_the_port_recovers(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up_as(port, 2, &rss);
	check_steering(port, 2);
	process(RTE_ETH_EVENT_ERR_RECOVERING);
	octo_port_pass_us(20000);
	process(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	check_it_is_back(port);
}

static void
test_the_port_is_plugged_again(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up_as(port, 2, &rss);
	check_steering(port, 2);
	octo_port_remove_pf(0);
	memset(kernel->flow, 0, sizeof(kernel->flow));
	octo_port_pass_us(20000);
	octo_port_add_pf(&interleaved, 0);
	check_it_is_back(port);
}

/* Nobody clears its table: it goes, and another one comes. */
static void
test_the_netdev_goes(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up_as(port, 2, &rss);
	check_steering(port, 2);
	kernel->everything = ENODEV;
	assert_refused(port, 7, ENODEV, "is gone");
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_close(port), 0);
	octo_port_destroy();
	octo_port_kernel_on();
	kernel->follows = true;
	port = octo_port_create(&interleaved);
	octo_port_up_as(port, 2, &rss);
	check_steering(port, 2);
}

static void
test_another_process_has_the_netdev(void **state)
{
	struct octo_ethtool *et;
	char dir[256];
	uint16_t port;

	(void)state;
	strcpy(dir, rte_eal_get_runtime_dir());
	*strrchr(dir, '/') = '\0';
	et = octo_ethtool_open(dir, octo_port_kernel_ifindex());
	assert_non_null(et);
	port = octo_port_create(&interleaved);
	octo_port_up_as(port, 2, &rss);
	assert_string_equal(tier(port), "none");
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	octo_port_kernel_send_flows(port, 2);
	octo_port_close_and_remove(port);
	octo_ethtool_close(et);
}

#define ethtool_test(f)                                                                            \
	cmocka_unit_test_setup_teardown(f, octo_port_kernel_setup, octo_port_kernel_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ethtool_test(test_flows_come_by_the_home_leg),
		ethtool_test(test_a_stopped_port_has_no_rules),
		ethtool_test(test_a_destroyed_rule_leaves_the_kernel),
		ethtool_test(test_a_rule_replaces_its_equal),
		ethtool_test(test_a_full_table_rehomes),
		ethtool_test(test_a_crash_is_swept),
		ethtool_test(test_refusals_of_rules),
		ethtool_test(test_a_port_without_rules_works),
		ethtool_test(test_a_port_without_the_right_works),
		ethtool_test(test_other_rules_are_refused_with_words),
		ethtool_test(test_the_port_recovers),
		ethtool_test(test_the_port_is_plugged_again),
		ethtool_test(test_the_netdev_goes),
		ethtool_test(test_another_process_has_the_netdev),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
