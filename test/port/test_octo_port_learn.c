/* SPDX-License-Identifier: BSD-3-Clause */

/* Strays teach steering: what becomes of learned rules when other things happen. */

#include <errno.h>

#include <rte_ip.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "rte_pmd_octo.h"

/* All packets are of queue 0, which is at home on PF 0, and come in by PF 1: strays. */
static const struct octo_port_conf learning = {.learn = true, .nic = "default_pf=1"};

#define FLOW 7
#define NB_FLOWS 16

/* Packets of all flows there and back; both queues are polled. */
static void
talk(uint16_t port)
{
	struct octo_port_tally tally = {0};

	for (uint16_t f = 0; f < NB_FLOWS; f++) {
		octo_port_send(port, 0, FLOW + f, 8);
		for (uint16_t n = 0; n < 4; n++)
			for (uint16_t q = 0; q < 2; q++)
				octo_port_poll(port, q, 32, &tally);
	}
	assert_int_equal(tally.wrong_port + tally.wrong_flow, 0);
	octo_port_pass_us(1000);
}

#define talk_until(port, condition)                                                                \
	do {                                                                                       \
		for (int talks_ = 0; talks_ < 5000 && !(condition); talks_++)                      \
			talk(port);                                                                \
		assert_true(condition);                                                            \
	} while (0)

static uint64_t
learned(uint16_t port)
{
	return octo_port_xstat(port, "learned_flows");
}

/* Have strays come to an end? */
static bool
is_quiet(uint16_t port)
{
	const uint64_t before = octo_port_xstat(port, "rx_stray_packets");

	for (int i = 0; i < 20; i++)
		talk(port);
	return octo_port_xstat(port, "rx_stray_packets") == before;
}

static uint16_t
create_and_learn(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);

	octo_port_up(port, 2);
	talk_until(port, learned(port) > 0 && is_quiet(port));
	return port;
}

/* Where all learned rules lead; -1 if they do not agree. */
static int
learned_pf(uint16_t port)
{
	struct octo_view_rule rules[NB_FLOWS];
	uint32_t total;
	const int nb = rte_pmd_octo_view_rules(port, 0, rules, NB_FLOWS, &total);

	for (int i = 1; i < nb; i++)
		if (rules[i].pf != rules[0].pf)
			return -1;
	return nb > 0 ? rules[0].pf : -1;
}

static void
test_learned_rules_follow_their_queue(void **state)
{
	uint16_t port = create_and_learn(&learning);

	(void)state;
	assert_int_equal(learned_pf(port), 0);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	talk_until(port, learned_pf(port) == 1);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(0)), 0);
	talk_until(port, learned_pf(port) == 0 && is_quiet(port));
	assert_int_equal(octo_port_xstat(port, "steered_flows_ineffective"), 0);
}

/* What was learned is put again where the next proxy is. */
static void
test_the_proxy_goes(void **state)
{
	uint16_t port = create_and_learn(&learning);
	const uint64_t before = learned(port);

	(void)state;
	octo_port_remove_pf(0);
	octo_port_await(learned_pf(port) == 1);
	assert_int_equal(learned(port), before);
}

/* A table that is full of other rules, or a switch that is out of order. */
static void
check_refusals(int error)
{
	uint16_t port = octo_port_create(&learning);
	struct octo_port_faults *proxy = octo_port_faults_on(0);

	octo_port_up(port, 2);
	proxy->create_transfer = error;
	for (int i = 0; i < 20; i++)
		talk(port);
	assert_int_equal(learned(port), 0);
	assert_true(octo_port_xstat(port, "rx_stray_sampled") > 0);
	proxy->create_transfer = 0;
	talk_until(port, learned(port) > 0 && is_quiet(port));
}

static void
test_refused_for_want_of_room(void **state)
{
	(void)state;
	check_refusals(ENOSPC);
}

static void
test_refused_otherwise(void **state)
{
	(void)state;
	check_refusals(EIO);
}

/* Four flows may have rules, be they learned or not. */
static void
test_explicit_rules_go_first(void **state)
{
	static const struct octo_port_conf small = {.learn = true,
						    .nic = "default_pf=1,mpfs_entries=4"};
	uint16_t port = octo_port_create(&small);

	(void)state;
	octo_port_up(port, 2);
	talk_until(port, learned(port) == 4);
	for (uint16_t i = 0; i < 4; i++) {
		assert_non_null(octo_port_steer(port, 1000 + i, i % 2, NULL));
		assert_int_equal(learned(port), 3 - i);
	}
	assert_null(octo_port_steer(port, 2000, 1, NULL));
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	talk_until(port, learned(port) == 4);
}

/* It is not the switch that is full: learned rules need not go. */
static void
test_a_full_pf_costs_no_learned_rule(void **state)
{
	static const struct octo_port_conf small = {
		.learn = true, .nic = "default_pf=1", .all = "arfs_entries=1"};
	uint16_t port = create_and_learn(&small);
	const uint64_t before = learned(port);

	(void)state;
	assert_non_null(octo_port_steer(port, 1000, 1, NULL));
	assert_null(octo_port_steer(port, 1001, 1, NULL));
	assert_int_equal(learned(port), before);
}

/* Somebody else's rule leads a flow astray for a while. */
static uint16_t
learn_and_stray(const struct octo_port_conf *conf)
{
	uint16_t port = create_and_learn(conf);
	struct rte_flow *other = octo_port_overrule(FLOW, 1);

	assert_non_null(other);
	talk_until(port, octo_port_xstat(port, "steered_flows_ineffective") == 1);
	assert_int_equal(rte_flow_destroy(octo_port_pf(0), other, NULL), 0);
	return port;
}

/* By itself, without that anybody looks. */
static void
test_a_status_recovers(void **state)
{
	uint16_t port = learn_and_stray(&learning);
	struct octo_view_topology view;

	(void)state;
	talk_until(port, octo_port_xstat(port, "steered_flows_ineffective") == 0);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.tier, "exact");
}

static void
test_a_status_recovers_uncounted(void **state)
{
	static const struct octo_port_conf uncounted = {.learn = true,
							.nic = "default_pf=1,caps=-count"};
	uint16_t port = learn_and_stray(&uncounted);

	(void)state;
	talk_until(port, learned_pf(port) == 0 &&
				 octo_port_xstat(port, "steered_flows_ineffective") == 0);
}

/* It is not the application's: see rte_pmd_octo_steer_move(). */
static void
test_a_learned_flow_is_not_steered(void **state)
{
	uint16_t port = create_and_learn(&learning);
	const uint64_t before = learned(port);
	struct rte_pmd_octo_tuple t = {0};
	struct octo_view_rule rule;
	uint32_t total;

	(void)state;
	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &rule, 1, &total), 1);
	t.ip_version = rule.tuple.family;
	t.proto = rule.tuple.proto;
	t.src_port = rule.tuple.src_port;
	t.dst_port = rule.tuple.dst_port;
	memcpy(t.src, rule.tuple.src, sizeof(t.src));
	memcpy(t.dst, rule.tuple.dst, sizeof(t.dst));
	assert_int_equal(rte_pmd_octo_steer_move(port, &t, 0, NULL), -ENOENT);
	assert_int_equal(rte_pmd_octo_steer_remove(port, &t, NULL), -ENOENT);
	assert_int_equal(learned(port), before);
}

static void
test_stop_forgets(void **state)
{
	uint16_t port = create_and_learn(&learning);

	(void)state;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	assert_int_equal(learned(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	talk_until(port, learned(port) > 0 && is_quiet(port));
}

/* A frame of no flow that octo knows: the middle of a datagram. */
static void
send_fragments(uint16_t port, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m;
		struct rte_ipv4_hdr *ip;

		octo_port_make(port, FLOW, &m, 1);
		ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *,
					     sizeof(struct rte_ether_hdr));
		ip->fragment_offset = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | 1);
		ip->hdr_checksum = 0;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
		assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	}
}

/* The only rule is that of a flow with many packets, among whose strays are few of another one. */
static void
test_fragments_lend_their_rate_to_no_flow(void **state)
{
	static const struct octo_port_conf one = {
		.learn = true, .nic = "default_pf=1", .octo = "learn_max=1"};
	const uint16_t port = octo_port_create(&one);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_up(port, 1);
	for (int i = 0; i < 3000; i++) {
		octo_port_send(port, 0, FLOW, 16);
		if (octo_port_rule_pf(port, FLOW) == 0) {
			send_fragments(port, 63);
			octo_port_send(port, 0, FLOW + 1, 1);
		}
		for (int n = 0; n < 8; n++)
			octo_port_poll(port, 0, 32, &tally);
		octo_port_pass_us(1000);
	}
	assert_true(octo_port_xstat(port, "rx_stray_packets") > 10000);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 0);
	assert_int_equal(octo_port_xstat(port, "learn_evicted"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_learned_rules_follow_their_queue),
		octo_port_test(test_the_proxy_goes),
		octo_port_test(test_refused_for_want_of_room),
		octo_port_test(test_refused_otherwise),
		octo_port_test(test_explicit_rules_go_first),
		octo_port_test(test_a_full_pf_costs_no_learned_rule),
		octo_port_test(test_a_status_recovers),
		octo_port_test(test_a_status_recovers_uncounted),
		octo_port_test(test_a_learned_flow_is_not_steered),
		octo_port_test(test_stop_forgets),
		octo_port_test(test_fragments_lend_their_rate_to_no_flow),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
