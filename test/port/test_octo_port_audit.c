/* SPDX-License-Identifier: BSD-3-Clause */

/* The status of a rule: it works when its packets come as expected. */

#include <errno.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

static const struct octo_port_conf two_pfs;
static const struct octo_port_conf ignores_mpfs = {.nic = "ignore=mpfs"};

#define FLOW 7

/* Packets of the flow there and back for a while; both queues are polled. */
static void
talk(uint16_t port, unsigned int bursts)
{
	struct octo_port_tally tally = {0};

	for (unsigned int i = 0; i < bursts; i++) {
		octo_port_send(port, 0, FLOW, 32);
		for (uint16_t n = 0; n < 4; n++) {
			octo_port_poll(port, 0, 32, &tally);
			octo_port_poll(port, 1, 32, &tally);
		}
	}
	assert_true(tally.packets > bursts);
}

static uint64_t
ineffective(uint16_t port)
{
	return octo_port_xstat(port, "steered_flows_ineffective");
}

static struct octo_view_rule
first_rule(uint16_t port)
{
	struct octo_view_rule rule;
	uint32_t total;

	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &rule, 1, &total), 1);
	return rule;
}

static struct octo_view_topology
topology(uint16_t port)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view;
}

static void
assert_tier(uint16_t port, const char *tier, const char *ignored)
{
	assert_string_equal(topology(port).tier, tier);
	assert_string_equal(topology(port).ignored, ignored);
}

/* Until the rule is found out; the port is polled by this thread alone. */
static void
talk_until_blamed(uint16_t port)
{
	for (int i = 0; i < 2000 && ineffective(port) == 0; i++) {
		talk(port, 20);
		octo_port_pass_us(1000);
	}
	assert_int_equal(ineffective(port), 1);
}

static void
test_the_only_rule_is_ignored(void **state)
{
	uint16_t port = octo_port_create(&ignores_mpfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_int_equal(first_rule(port).pf, 1);
	talk_until_blamed(port);
	assert_string_equal(first_rule(port).status, "PF ignored");
	assert_true(first_rule(port).ineffective);
	assert_true(first_rule(port).strays >= 5);
	for (int i = 0; i < 2000 && topology(port).ignored[0] != 'M'; i++) {
		talk(port, 20);
		octo_port_pass_us(1000);
	}
	assert_tier(port, "queue", "MPFS");
	assert_int_equal(first_rule(port).pf, -1);
	/* the rules of the proxy can still be taken back */
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* The rule leads where all packets go: nobody can tell, and nobody is harmed. */
static void
test_a_rule_that_comes_true_by_chance(void **state)
{
	uint16_t port = octo_port_create(&ignores_mpfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	for (int i = 0; i < 20; i++) {
		talk(port, 20);
		octo_port_pass_us(20000);
	}
	assert_string_equal(first_rule(port).status, "works");
	assert_int_equal(ineffective(port), 0);
	assert_tier(port, "exact", "none");
}

/* Hits that nobody counts are unknown, not zero. */
static void
test_pfs_that_cannot_count(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_faults_on(0)->count = ENOTSUP;
	octo_port_faults_on(1)->count = ENOTSUP;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	talk(port, 100);
	assert_true(first_rule(port).hits == -1);
	assert_string_equal(first_rule(port).status, "unproven");
}

static void
test_ignored_by_pfs_that_cannot_count(void **state)
{
	uint16_t port = octo_port_create(&ignores_mpfs);

	(void)state;
	octo_port_faults_on(0)->count = ENOTSUP;
	octo_port_faults_on(1)->count = ENOTSUP;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	talk_until_blamed(port);
	assert_true(first_rule(port).hits == -1);
	assert_string_equal(first_rule(port).status, "PF ignored");
}

/* Packets of before wait in the ring of a poller that stands still while the rule is made. */
static void
test_packets_from_before_the_rule(void **state)
{
	uint16_t port = octo_port_create(&ignores_mpfs);
	struct octo_port_tally tally = {0};
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 3);
	rule = octo_port_steer(port, FLOW, 1, NULL);
	assert_non_null(rule);
	octo_port_send(port, 0, FLOW, 500);
	octo_port_pump(2);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	octo_port_pass_us(150000);
	for (int i = 0; i < 500 && tally.packets < 500; i++) {
		octo_port_poll(port, 1, 4, &tally);
		if (i % 20 == 0)
			octo_port_pass_us(6000);
	}
	assert_int_equal(tally.packets, 500);
	octo_port_await(first_rule(port).strays > 8);
	assert_string_equal(first_rule(port).status, "unproven");
}

/* What does not fit is dropped: links come and go. */
static void *
talk_on(void *arg)
{
	const uint16_t port = *(const uint16_t *)arg;
	struct octo_port_tally tally = {0};
	struct rte_mbuf *pkts[32];

	while (!octo_port_thread_must_stop()) {
		uint16_t sent;

		octo_port_make(port, FLOW, pkts, RTE_DIM(pkts));
		sent = rte_eth_tx_burst(port, 0, pkts, RTE_DIM(pkts));
		rte_pktmbuf_free_bulk(pkts + sent, RTE_DIM(pkts) - sent);
		for (uint16_t i = 0; i < 4; i++)
			octo_port_poll(port, i % 2, 32, &tally);
	}
	return NULL;
}

/* A home that goes back and forth while packets fly: strays each time, and the rule works. */
static void
test_rehoming_under_traffic(void **state)
{
	static uint16_t port;

	(void)state;
	port = octo_port_create(&two_pfs);
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_thread_start(talk_on, &port);
	for (int round = 0; round < 6; round++) {
		assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
		octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
		octo_port_pass_us(130000);
		assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
		octo_port_await(octo_port_rule_pf(port, FLOW) == 1);
		octo_port_pass_us(130000);
		assert_int_equal(ineffective(port), 0);
	}
	octo_port_thread_stop();
	assert_true(octo_port_xstat(port, "rx_stray_sampled") > 0);
	assert_tier(port, "exact", "none");
}

/* A link has changed: time for the control thread, bursts for the queue. */
static void
let_it_be_seen(uint16_t port)
{
	octo_port_pass_us(20000);
	for (int i = 0; i < 300; i++)
		octo_port_poll(port, 1, 32, &(struct octo_port_tally){0});
}

/* Its queue goes home to where the packets come from anyhow. */
static void
test_a_rule_that_moves_is_judged_anew(void **state)
{
	uint16_t port = octo_port_create(&ignores_mpfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	/* of this one no packet comes, so that the tier is not dropped */
	assert_non_null(octo_port_steer(port, FLOW + 1, 1, NULL));
	talk_until_blamed(port);
	assert_string_equal(first_rule(port).status, "PF ignored");
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	let_it_be_seen(port);
	octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
	assert_string_equal(first_rule(port).status, "unproven");
	talk(port, 20);
	assert_string_equal(first_rule(port).status, "works");
	assert_int_equal(ineffective(port), 0);
	assert_tier(port, "exact", "none");
}

/* A flow that could not follow its queue has no MPFS rule, so no PF is expected. */
static void
test_a_rule_that_cannot_follow_is_no_lie(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *proxy = octo_port_faults_on(0);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	talk(port, 20);
	proxy->create_transfer = ENOSPC;
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	let_it_be_seen(port);
	octo_port_await(octo_port_rule_pf(port, FLOW) == -1);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	let_it_be_seen(port);
	for (int i = 0; i < 20; i++) {
		talk(port, 20);
		octo_port_pass_us(20000);
	}
	assert_true(first_rule(port).strays > 8);
	assert_int_equal(ineffective(port), 0);
	assert_tier(port, "exact", "none");
}

/* The NIC knows at once that the PF is dead, and the port when its bus tells. */
static void
test_a_dead_pf_is_no_fault_of_rules(void **state)
{
	const struct octo_port_conf conf = {.nic = "lost_pf=default"};
	uint16_t port = octo_port_create(&conf);
	char fault[64];

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	talk(port, 20);
	snprintf(fault, sizeof(fault), "%s,surprise,1500000", octo_port_pf_name(1));
	assert_int_equal(rte_pmd_mpsim_fault(fault), 0);
	for (int i = 0; i < 30; i++) {
		talk(port, 20);
		octo_port_pass_us(20000);
	}
	assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
	assert_true(first_rule(port).strays > 8);
	assert_int_equal(ineffective(port), 0);
	assert_tier(port, "exact", "none");
	octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
	assert_tier(port, "exact", "none");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_only_rule_is_ignored),
		octo_port_test(test_a_rule_that_comes_true_by_chance),
		octo_port_test(test_pfs_that_cannot_count),
		octo_port_test(test_ignored_by_pfs_that_cannot_count),
		octo_port_test(test_packets_from_before_the_rule),
		octo_port_test(test_rehoming_under_traffic),
		octo_port_test(test_a_rule_that_moves_is_judged_anew),
		octo_port_test(test_a_rule_that_cannot_follow_is_no_lie),
		octo_port_test(test_a_dead_pf_is_no_fault_of_rules),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
