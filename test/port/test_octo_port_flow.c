/* SPDX-License-Identifier: BSD-3-Clause */

/* Steered flows: all of a rule's parts or none, wherever its queue's home goes. */

#include <errno.h>
#include <pthread.h>

#include <rte_errno.h>

#include "octo_clock.h"
#include "octo_port.h"
#include "octo_port_fault.h"

#define MANY 10000

static const struct octo_port_conf two_pfs;

/* The poller of a queue learns of a new home when it polls. */
static void
poll_a_while(uint16_t port, uint16_t queue)
{
	for (int i = 0; i < 300; i++)
		octo_port_poll(port, queue, 32, &(struct octo_port_tally){0});
}

static void
assert_refused(uint16_t port, uint16_t src_port, uint16_t queue, int code, const char *words)
{
	struct rte_flow_error error;

	assert_null(octo_port_steer(port, src_port, queue, &error));
	assert_int_equal(rte_errno, code);
	assert_non_null(error.message);
	assert_non_null(strstr(error.message, words));
}

static void
test_rules_need_a_configured_port(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;

	(void)state;
	assert_refused(port, 7, 0, EINVAL, "not configured");
	assert_int_equal(octo_port_validate(port, 7, 0), -EINVAL);
	assert_int_equal(rte_flow_flush(port, &error), 0);
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(octo_port_validate(port, 7, 0), 0);
	assert_refused(port, 7, 2, EINVAL, "queue");
}

static void
test_a_tuple_is_steered_once(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	rule = octo_port_steer(port, 7, 0, &error);
	assert_non_null(rule);
	assert_refused(port, 7, 0, EEXIST, "already");
	assert_refused(port, 7, 1, EEXIST, "already");
	assert_int_equal(octo_port_validate(port, 7, 1), -EEXIST);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	assert_non_null(octo_port_steer(port, 7, 1, &error));
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_refused(port, 8, 2, EINVAL, "queue");
}

/* Fills the table whose refusal says `words`, and tries it over and over. */
static void
check_full(uint16_t port, unsigned int room, const char *words)
{
	for (int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < room; i++)
			assert_non_null(octo_port_steer(port, 100 + i, i % 2, NULL));
		/* had one of these left anything, another table would be full soon */
		for (unsigned int i = 0; i < 20; i++)
			assert_refused(port, 200 + i, i % 2, ENOSPC, words);
		assert_int_equal(octo_port_xstat(port, "steered_flows"), room);
		for (unsigned int i = 0; i < room; i++)
			octo_port_assert_arrives(port, 100 + i, i % 2, 20);
		assert_int_equal(rte_flow_flush(port, NULL), 0);
	}
}

static void
test_a_full_mpfs_leaves_nothing(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=8", .all = "arfs_entries=9"};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	check_full(port, 8, "MPFS table");
}

static void
test_a_full_arfs_of_the_second_pf_leaves_nothing(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=5",
					    .pf = {"arfs_entries=5", "arfs_entries=4"}};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	check_full(port, 4, "PF net_mpsim1: the ARFS table");
}

/* R21: taking the other parts back must not change what is said. */
static void
test_errno_is_that_of_the_refusal(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	octo_port_faults_on(0)->errno_after = EPERM;
	octo_port_faults_on(1)->create_ingress = ENOSPC;
	assert_refused(port, 7, 0, ENOSPC, "PF net_mpsim1: made up");
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* R26: the text of a refusal that nobody cleared is what the next one is made of. */
static void
test_text_of_a_silent_refusal(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *first = octo_port_faults_on(0);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	octo_port_faults_on(1)->create_ingress = ENOSPC;
	assert_null(octo_port_steer(port, 7, 0, &error));
	assert_string_equal(error.message, "PF net_mpsim1: made up for the test");
	first->create_ingress = ENOSPC;
	first->silent = true;
	assert_null(octo_port_steer_again(port, 7, 0, &error));
	assert_string_equal(error.message, "PF net_mpsim0: PF net_mpsim1: made up for the test");
	assert_null(octo_port_steer(port, 7, 0, &error));
	assert_string_equal(error.message, "PF net_mpsim0: No space left on device");
}

/* A rule that a PF does not give up is the application's yet, and works. */
static void
test_a_destroy_that_fails_keeps_the_rule(void **state)
{
	const struct octo_port_conf conf = {.octo = "linger_ms=0"};
	uint16_t port = octo_port_create(&conf);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	rule = octo_port_steer(port, 7, 0, &error);
	assert_non_null(rule);
	second->destroy = EBUSY;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rte_flow_destroy(port, rule, &error), -EBUSY);
		assert_string_equal(error.message, "PF net_mpsim1: made up for the test");
		assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
		assert_int_equal(octo_port_rule_pf(port, 7), 0);
		octo_port_assert_arrives(port, 7, 0, 20);
		assert_refused(port, 7, 1, EEXIST, "already");
	}
	second->destroy = 0;
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	assert_non_null(octo_port_steer(port, 7, 1, &error));
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* A PF that is gone, though octo has yet to notice, took its rules along. */
static void
test_a_lost_pf_keeps_no_rule(void **state)
{
	const struct octo_port_conf conf = {.octo = "linger_ms=0"};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	rule = octo_port_steer(port, 7, 0, &error);
	assert_non_null(rule);
	octo_port_faults_on(0)->destroy = ENODEV;
	octo_port_faults_on(1)->destroy = ENODEV;
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* By rte_flow.h all handles are void after a flush, also after one that fails. */
static void
test_a_flush_that_fails_flushes(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 0, &error));
	assert_non_null(octo_port_steer(port, 8, 1, &error));
	octo_port_faults_on(0)->destroy = EIO;
	assert_int_equal(rte_flow_flush(port, &error), -EIO);
	assert_string_equal(error.message, "PF net_mpsim0: made up for the test");
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* R26: a refusal that nobody asks about leaves the text of another alone. */
static void
test_text_survives_an_unasked_refusal(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 8, 0, NULL));
	octo_port_faults_on(0)->destroy = EIO;
	second->destroy = EIO;
	second->create_ingress = ENOSPC;
	assert_null(octo_port_steer(port, 7, 0, &error));
	assert_int_equal(rte_errno, ENOSPC);
	assert_string_equal(error.message, "PF net_mpsim1: made up for the test");
	/* the rules are flushed without a word; some go by the proxy, some by each PF */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_string_equal(error.message, "PF net_mpsim1: made up for the test");
}

/* R8: nobody has polled the queue since its PF went. */
static void
test_steered_to_a_queue_whose_home_is_gone(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	poll_a_while(port, 1);
	octo_port_remove_pf(1);
	assert_non_null(octo_port_steer(port, 7, 1, &error));
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* R8: so do the rules that were there. */
static void
test_rules_leave_a_dead_pf(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 1, 20);
	octo_port_remove_pf(1);
	octo_port_await(octo_port_rule_pf(port, 7) == 0);
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_int_equal(octo_port_xstat(port, "pf0_nic_no_pf_drops"), 0);
}

static void
test_rules_survive_the_proxy(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	octo_port_remove_pf(0);
	octo_port_await(octo_port_rule_pf(port, 7) == 1);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_refused(port, 7, 0, EEXIST, "already");
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 20);
}

static pthread_t remover;

static void *
remove_proxy(void *arg)
{
	RTE_SET_USED(arg);
	rte_eal_hotplug_remove("vdev", octo_port_pf_name(0));
	return NULL;
}

/* The NIC has another proxy when this returns, and the port is yet to be told. */
static void
begin_removal(void)
{
	uint16_t proxy = octo_port_pf(0);

	assert_int_equal(pthread_create(&remover, NULL, remove_proxy, NULL), 0);
	while (rte_flow_pick_transfer_proxy(octo_port_pf(1), &proxy, NULL) != 0 ||
	       proxy != octo_port_pf(1))
		octo_wait_us(10);
}

/* A PF joins while the proxy goes: the port asks for the proxy before it is told. */
static void
test_rules_survive_a_proxy_that_was_replaced(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 3, .two_nodes = true, .replug = true};
	uint16_t port = octo_port_create(&conf);
	uint64_t strays;

	(void)state;
	octo_port_up(port, 2);
	octo_port_run_on(1);
	poll_a_while(port, 1);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_remove_pf(2);
	octo_port_add_pf(&conf, 2);
	octo_port_faults_on(2)->on_create = begin_removal;
	octo_port_await(octo_port_xstat(port, "failbacks") == 1);
	pthread_join(remover, NULL);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	strays = octo_port_xstat(port, "rx_stray_packets");
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), strays);
}

static void
move_home(uint16_t port, bool back)
{
	if (back)
		assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	else
		assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_pass_us(20000);
	poll_a_while(port, 1);
}

static void
await_rules(uint16_t port, unsigned int nb, int pf)
{
	for (unsigned int i = 0; i < nb; i++)
		octo_port_await(octo_port_rule_pf(port, 100 + i) == pf);
}

/* A full MPFS has no room for the new rule beside the old one. */
static void
test_flows_follow_with_a_full_mpfs(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=8"};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	for (unsigned int i = 0; i < 8; i++)
		assert_non_null(octo_port_steer(port, 100 + i, 1, NULL));
	for (int round = 0; round < 3; round++) {
		move_home(port, false);
		await_rules(port, 8, 0);
		octo_port_assert_arrives(port, 107, 1, 20);
		move_home(port, true);
		await_rules(port, 8, 1);
		octo_port_assert_arrives(port, 100, 1, 20);
	}
	assert_refused(port, 200, 1, ENOSPC, "MPFS table");
}

/* R9: what could not follow is tried again. */
static void
test_flows_follow_once_there_is_room(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *proxy = octo_port_faults_on(0);

	(void)state;
	octo_port_up(port, 2);
	poll_a_while(port, 1);
	for (unsigned int i = 0; i < 4; i++)
		assert_non_null(octo_port_steer(port, 100 + i, 1, NULL));
	proxy->create_transfer = ENOSPC;
	move_home(port, false);
	/* somebody else was faster: the old rule is gone, the new one refused */
	await_rules(port, 4, -1);
	/* not just in the very next moment */
	octo_port_pass_us(150000);
	await_rules(port, 4, -1);
	proxy->create_transfer = 0;
	await_rules(port, 4, 0);
	move_home(port, true);
	await_rules(port, 4, 1);
}

/* A queue that came a moment ago stays where it is for as long, so it is polled until it goes. */
static bool
follows_to(uint16_t port, int node)
{
	poll_a_while(port, 0);
	return octo_port_rule_pf(port, 7) == node;
}

/* Polled from another node, a queue takes its flows along. */
static void
test_flows_follow_the_poller(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true};
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(0);
	port = octo_port_create(&conf);
	octo_port_up(port, 1);
	poll_a_while(port, 0);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
	for (int node = 1; node >= 0; node--) {
		octo_port_run_on(node);
		octo_port_await(follows_to(port, node));
		assert_int_equal(rte_eth_xstats_reset(port), 0);
		octo_port_assert_arrives(port, 7, 0, 20);
		assert_int_equal(octo_port_xstat(port, "rx_q0_home_packets"), 20);
		assert_int_equal(octo_port_xstat(port, "rx_q0_stray_packets"), 0);
	}
}

/* Rules come and go; what they take is told, and is not left behind. */
static void
test_memory_of_rules_is_told(void **state)
{
	const uint64_t per_flow = 256;
	uint16_t port = octo_port_create(&two_pfs);
	uint64_t none, some;

	(void)state;
	octo_port_up(port, 2);
	none = octo_port_xstat(port, "steered_flows_bytes");
	for (int round = 0; round < 2; round++) {
		for (uint16_t i = 0; i < MANY; i++)
			assert_non_null(octo_port_steer(port, 1000 + i, i % 2, NULL));
		some = octo_port_xstat(port, "steered_flows_bytes");
		assert_in_range(some, none + MANY * sizeof(struct octo_tuple),
				none + MANY * per_flow);
		assert_int_equal(rte_flow_flush(port, NULL), 0);
		/* the table stays as large as it was */
		assert_in_range(octo_port_xstat(port, "steered_flows_bytes"), none,
				some - MANY * sizeof(struct octo_tuple));
	}
}

/* Whoever reads page by page, while rules go, reads no rule that is gone. */
static void
test_a_page_begins_where_a_rule_went(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *rule[4];
	struct octo_view_rule view;
	uint32_t total;

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RTE_DIM(rule); i++) {
		rule[i] = octo_port_steer(port, 1000 + i, 0, NULL);
		assert_non_null(rule[i]);
	}
	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &view, 1, &total), 1);
	assert_int_equal(total, 4);
	assert_int_equal(rte_flow_destroy(port, rule[1], NULL), 0);
	assert_int_equal(rte_pmd_octo_view_rules(port, 1, &view, 1, &total), 1);
	assert_int_equal(rte_be_to_cpu_16(view.tuple.src_port), 1002);
	assert_int_equal(rte_flow_destroy(port, rule[0], NULL), 0);
	assert_int_equal(rte_pmd_octo_view_rules(port, 1, &view, 1, &total), 1);
	assert_int_equal(rte_be_to_cpu_16(view.tuple.src_port), 1003);
	assert_int_equal(total, 2);
}

static void
assert_page(uint16_t port, uint32_t start, uint16_t first_src_port)
{
	struct octo_view_rule view[2];
	uint32_t total;

	assert_int_equal(rte_pmd_octo_view_rules(port, start, view, 2, &total), 2);
	assert_int_equal(rte_be_to_cpu_16(view[0].tuple.src_port), first_src_port);
}

/* Nor does he miss one: a page goes on where the last one ended, also after questions in vain. */
static void
test_pages_miss_no_rule(void **state)
{
	static const uint32_t in_vain[] = {7, 8, UINT32_MAX - 1, UINT32_MAX};
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_view_rule view[2];
	struct rte_flow *rule[8];
	uint32_t total;

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RTE_DIM(rule); i++) {
		rule[i] = octo_port_steer(port, 1000 + i, 0, NULL);
		assert_non_null(rule[i]);
	}
	assert_page(port, 0, 1000);
	assert_int_equal(rte_flow_destroy(port, rule[0], NULL), 0);
	assert_page(port, 2, 1002);
	for (size_t i = 0; i < RTE_DIM(in_vain); i++) {
		assert_int_equal(rte_pmd_octo_view_rules(port, in_vain[i], view, 2, &total), 0);
		assert_int_equal(total, 7);
	}
	assert_int_equal(rte_flow_destroy(port, rule[4], NULL), 0);
	assert_page(port, 4, 1005);
	assert_page(port, 0, 1001);
	assert_page(port, 3, 1005);
	assert_int_equal(rte_flow_destroy(port, rule[1], NULL), 0);
	assert_int_equal(rte_pmd_octo_view_rules(port, 5, view, 2, &total), 1);
	assert_int_equal(rte_be_to_cpu_16(view[0].tuple.src_port), 1007);
	assert_int_equal(total, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rules_need_a_configured_port),
		octo_port_test(test_a_tuple_is_steered_once),
		octo_port_test(test_a_full_mpfs_leaves_nothing),
		octo_port_test(test_a_full_arfs_of_the_second_pf_leaves_nothing),
		octo_port_test(test_errno_is_that_of_the_refusal),
		octo_port_test(test_text_of_a_silent_refusal),
		octo_port_test(test_a_destroy_that_fails_keeps_the_rule),
		octo_port_test(test_a_lost_pf_keeps_no_rule),
		octo_port_test(test_a_flush_that_fails_flushes),
		octo_port_test(test_text_survives_an_unasked_refusal),
		octo_port_test(test_steered_to_a_queue_whose_home_is_gone),
		octo_port_test(test_rules_leave_a_dead_pf),
		octo_port_test(test_rules_survive_the_proxy),
		octo_port_test(test_rules_survive_a_proxy_that_was_replaced),
		octo_port_test(test_flows_follow_with_a_full_mpfs),
		octo_port_test(test_flows_follow_once_there_is_room),
		octo_port_test(test_flows_follow_the_poller),
		octo_port_test(test_memory_of_rules_is_told),
		octo_port_test(test_a_page_begins_where_a_rule_went),
		octo_port_test(test_pages_miss_no_rule),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
