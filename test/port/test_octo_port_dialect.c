/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Dialects of MPFS rules: the first one that the NIC takes is used, and left for the next if its
 * rules match nothing. No packet is lost or overtaken meanwhile.
 */

#include <errno.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "mpsim_control.h"
#include "octo_private.h"

#define FLOW 100
#define MAX_FLOWS 200
#define BURST 8

/* PF 0 delivers later than PF 1, within the grace time, so that packets could be overtaken. */
#define SLOW "latency_us=40"

/* Time in which a dialect without effect is left, and an upper limit for the last to be dropped. */
#define LEAVE_MS 1000
#define DROP_MS 3000

/* Each flow's packets are numbered; a packet that comes in is the next of its flow. */
static struct {
	uint32_t sent[MAX_FLOWS];
	uint32_t received[MAX_FLOWS];
	uint16_t nb_flows;
	uint16_t next; /* flow */
} stream;

static struct octo_view_topology
topology(uint16_t port)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view;
}

static void
assert_tier(uint16_t port, const char *tier, const char *dialect, const char *ignored)
{
	const struct octo_view_topology view = topology(port);

	assert_string_equal(view.tier, tier);
	assert_string_equal(view.dialect, dialect);
	assert_string_equal(view.ignored, ignored);
}

static bool
is_dialect(uint16_t port, const char *dialect)
{
	return strcmp(topology(port).dialect, dialect) == 0;
}

static uint16_t
flow_of(const struct rte_mbuf *m)
{
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(
		m, const struct rte_udp_hdr *,
		sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr));

	return rte_be_to_cpu_16(udp->src_port) - FLOW;
}

static void
poll_queue(uint16_t port, uint16_t queue)
{
	struct rte_mbuf *pkts[32];
	const uint16_t n = rte_eth_rx_burst(port, queue, pkts, RTE_DIM(pkts));

	for (uint16_t i = 0; i < n; i++) {
		const uint16_t flow = flow_of(pkts[i]);

		assert_true(flow < stream.nb_flows);
		assert_int_equal(octo_port_number(pkts[i]), stream.received[flow]);
		stream.received[flow]++;
	}
	rte_pktmbuf_free_bulk(pkts, n);
}

static void
poll_all(uint16_t port, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		for (uint16_t queue = 0; queue < 2; queue++)
			poll_queue(port, queue);
}

/* A burst of the next flow, and a millisecond. */
static void
talk(uint16_t port)
{
	const uint16_t flow = stream.next++ % stream.nb_flows;

	stream.sent[flow] += octo_port_send_numbered(port, 0, FLOW + flow, stream.sent[flow],
						     BURST);
	poll_all(port, 4);
	octo_port_pass_us(1000);
}

static void
talk_ms(uint16_t port, unsigned int ms)
{
	for (unsigned int i = 0; i < ms; i++)
		talk(port);
}

static void
assert_nothing_is_lost(uint16_t port)
{
	for (unsigned int i = 0; i < 100; i++) {
		poll_all(port, 16);
		octo_port_pass_us(1000);
	}
	for (uint16_t i = 0; i < stream.nb_flows; i++)
		assert_int_equal(stream.received[i], stream.sent[i]);
}

/* The flows go to queue 1, whose home is PF 1; packets without a rule come by PF 0. */
static uint16_t
begin(const struct octo_port_conf *conf, uint16_t nb_flows)
{
	const uint16_t port = octo_port_create(conf);

	memset(&stream, 0, sizeof(stream));
	stream.nb_flows = nb_flows;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < nb_flows && !conf->learn; i++)
		assert_non_null(octo_port_steer(port, FLOW + i, 1, NULL));
	return port;
}

/* Until the port uses this dialect; @return how long it took, in ms. */
static unsigned int
talk_until_dialect(uint16_t port, const char *dialect, unsigned int limit_ms)
{
	const uint64_t since = octo_now();

	for (unsigned int i = 0; i < limit_ms && !is_dialect(port, dialect); i++)
		talk(port);
	assert_string_equal(topology(port).dialect, dialect);
	return (octo_now() - since) / (rte_get_timer_hz() / MS_PER_S);
}

static void
assert_all_come_home(uint16_t port)
{
	uint64_t before;

	talk_ms(port, 50);
	before = octo_port_strays(port);
	talk_ms(port, 50);
	assert_int_equal(octo_port_strays(port), before);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
	assert_nothing_is_lost(port);
}

/* The NIC refuses rules of the others. */
static void
test_the_dialect_that_is_taken(void **state)
{
	static const char *const nics[] = {"dialect=wire-item", "dialect=no-item"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(nics); i++) {
		const struct octo_port_conf conf = {.nic = nics[i]};
		const uint16_t port = begin(&conf, 1);

		assert_tier(port, "exact", strchr(nics[i], '=') + 1, "none");
		assert_all_come_home(port);
		octo_port_destroy();
	}
}

/* Its rules might send packets back to the wire. */
static void
test_a_dialect_that_is_not_tried_by_itself(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=represented"};
	const struct octo_port_conf asked = {.nic = "dialect=represented",
					     .octo = "dialect=represented"};
	uint16_t port = begin(&conf, 1);

	(void)state;
	assert_tier(port, "queue", "none", "none");
	octo_port_destroy();
	port = begin(&asked, 1);
	assert_tier(port, "exact", "represented", "none");
	assert_all_come_home(port);
}

static void
test_a_dialect_without_effect_is_left(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any", .pf = {SLOW}};
	const uint16_t port = begin(&conf, 1);

	(void)state;
	assert_tier(port, "exact", "wire-item", "none");
	assert_true(talk_until_dialect(port, "no-item", LEAVE_MS) < LEAVE_MS);
	assert_tier(port, "exact", "no-item", "none");
	assert_all_come_home(port);
	/* it is believed from now on */
	talk_ms(port, 2000);
	assert_tier(port, "exact", "no-item", "none");
	assert_int_equal(octo_port_xstat(port, "steered_flows_ineffective"), 0);
	assert_nothing_is_lost(port);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

/* Rules that lead to PF 1, in the dialect of now. */
static unsigned int
nb_led_home(uint16_t port)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	const struct rte_flow *rule;
	unsigned int n = 0;

	TAILQ_FOREACH(rule, &octo->rules, next)
		n += octo_rule_leads_to(octo, rule, 1);
	return n;
}

/* The other rules are never seen to be ignored. */
static void
test_silent_flows_do_not_hold_it_up(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any", .pf = {SLOW}};
	const uint16_t port = begin(&conf, 4);

	(void)state;
	stream.nb_flows = 1;
	assert_true(talk_until_dialect(port, "no-item", LEAVE_MS) < LEAVE_MS);
	assert_all_come_home(port);
}

/* Of a flow that talks alone, the NIC loses the rule: the dialect is left, and comes back. */
static void
leave_wrongly(uint16_t flows)
{
	const struct octo_port_conf conf = {.nic = "dialect=wire-item/any", .pf = {SLOW}};
	const uint16_t port = begin(&conf, 0);

	/* the ARFS rule of PF 0 is the first */
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_lost,2"), 0);
	for (uint16_t i = 0; i < 16; i++)
		assert_non_null(octo_port_steer(port, FLOW + i, 1, NULL));
	stream.nb_flows = 1;
	assert_true(talk_until_dialect(port, "no-item", LEAVE_MS) < LEAVE_MS);
	/* it does no better, and there is no other: no tier is dropped for a single flow */
	talk_ms(port, 3000);
	assert_tier(port, "exact", "no-item", "none");
	assert_nothing_is_lost(port);
	stream.nb_flows = flows;
	talk_until_dialect(port, "wire-item", LEAVE_MS);
	assert_all_come_home(port);
	talk_ms(port, 2000);
	assert_tier(port, "exact", "wire-item", "none");
	assert_nothing_is_lost(port);
}

static void
test_a_dialect_that_was_left_wrongly(void **state)
{
	(void)state;
	leave_wrongly(16);
}

/* Too few to be certain that its successor is ignored, but more than it was left for. */
static void
test_a_dialect_that_was_left_for_less(void **state)
{
	(void)state;
	leave_wrongly(3);
}

static void
test_many_rules_are_written_again(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any", .pf = {SLOW}};
	const uint16_t port = begin(&conf, MAX_FLOWS);
	uint64_t before;

	(void)state;
	/* each flow has its turn, more than once */
	talk_until_dialect(port, "no-item", 5000);
	talk_ms(port, 20);
	before = octo_port_strays(port);
	talk_ms(port, 2 * MAX_FLOWS);
	assert_int_equal(octo_port_strays(port), before);
	assert_int_equal(nb_led_home(port), MAX_FLOWS);
	assert_nothing_is_lost(port);
}

static void
test_all_dialects_are_without_effect(void **state)
{
	const struct octo_port_conf conf = {.nic = "ignore=mpfs,dialect=wire-item/any",
					    .pf = {SLOW}};
	const uint16_t port = begin(&conf, 1);

	(void)state;
	assert_true(talk_until_dialect(port, "no-item", LEAVE_MS) < LEAVE_MS);
	assert_tier(port, "exact", "no-item", "none");
	assert_true(talk_until_dialect(port, "none", DROP_MS) < DROP_MS);
	assert_tier(port, "queue", "none", "MPFS");
	assert_nothing_is_lost(port);
	assert_int_equal(octo_port_rule_pf(port, FLOW), -1);
}

/* The NIC takes one dialect, so that there is nothing else to try. */
static void
test_the_only_dialect_is_without_effect(void **state)
{
	const struct octo_port_conf conf = {.nic = "ignore=mpfs,dialect=no-item"};
	const uint16_t port = begin(&conf, 1);

	(void)state;
	assert_tier(port, "exact", "no-item", "none");
	assert_true(talk_until_dialect(port, "none", DROP_MS) >= LEAVE_MS);
	assert_tier(port, "queue", "none", "MPFS");
	assert_nothing_is_lost(port);
}

static void
test_a_forced_dialect_is_kept(void **state)
{
	const struct octo_port_conf wrong = {.nic = "dialect=no-item/any",
					     .octo = "dialect=wire-item"};
	const struct octo_port_conf right = {.nic = "dialect=no-item/any",
					     .octo = "dialect=no-item"};
	const struct octo_port_conf refused = {.octo = "dialect=no-item"};
	uint16_t port = begin(&wrong, 1);

	(void)state;
	assert_tier(port, "exact", "wire-item", "none");
	talk_until_dialect(port, "none", DROP_MS);
	assert_tier(port, "queue", "none", "MPFS");
	octo_port_destroy();
	port = begin(&right, 1);
	assert_tier(port, "exact", "no-item", "none");
	assert_all_come_home(port);
	octo_port_destroy();
	port = begin(&refused, 1);
	assert_tier(port, "queue", "none", "none");
}

static void
test_a_restart_gives_a_dialect_another_chance(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any"};
	const uint16_t port = begin(&conf, 1);

	(void)state;
	talk_until_dialect(port, "no-item", LEAVE_MS);
	assert_nothing_is_lost(port);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_string_equal(topology(port).dialect, "none");
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_tier(port, "exact", "wire-item", "none");
	talk_until_dialect(port, "no-item", LEAVE_MS);
	assert_all_come_home(port);
}

static void
test_learned_rules_show_it_as_well(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any,default_pf=1",
					    .learn = true};
	const uint16_t port = begin(&conf, 1);
	uint64_t before;

	/* without RSS all go to queue 0, whose home is PF 0 */
	(void)state;
	talk_until_dialect(port, "no-item", 5000);
	talk_ms(port, 50);
	before = octo_port_strays(port);
	talk_ms(port, 50);
	assert_int_equal(octo_port_strays(port), before);
	assert_nothing_is_lost(port);
}

static struct octo_port_faults *proxy;

static void
refuse_no_more(void)
{
	proxy->create_transfer = 0;
}

/* Called when the ARFS rule of the proxy is made: the next is the MPFS rule. */
static void
refuse_once(void)
{
	proxy->on_create = refuse_no_more;
}

/* A PMD that only parses what it validates. */
static void
test_a_dialect_that_is_refused_later(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any"};
	const uint16_t port = begin(&conf, 0);

	(void)state;
	proxy = octo_port_faults_on(0);
	proxy->create_transfer = EINVAL;
	proxy->on_create = refuse_once;
	assert_string_equal(topology(port).dialect, "wire-item");
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	stream.nb_flows = 1;
	assert_tier(port, "exact", "no-item", "none");
	assert_all_come_home(port);
}

static void
test_all_dialects_are_refused_later(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=wire-item/any"};
	const uint16_t port = begin(&conf, 0);
	struct rte_flow_error error;

	(void)state;
	proxy = octo_port_faults_on(0);
	proxy->create_transfer = ENOTSUP;
	assert_null(octo_port_steer(port, FLOW, 1, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_non_null(error.message);
	assert_tier(port, "exact", "wire-item", "none");
	proxy->create_transfer = 0;
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	stream.nb_flows = 1;
	assert_tier(port, "exact", "wire-item", "none");
	assert_all_come_home(port);
	/* it is not left for a single rule that it cannot express */
	proxy->create_transfer = ENOTSUP;
	assert_null(octo_port_steer(port, FLOW + 1, 1, NULL));
	assert_tier(port, "exact", "wire-item", "none");
}

/* Without a port item a catch-all would match what PFs send. */
static void
test_no_catch_all_without_a_port_item(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item", .octo = "tier=partition"};
	const uint16_t port = begin(&conf, 1);

	(void)state;
	proxy = octo_port_faults_on(0);
	assert_tier(port, "exact", "no-item", "none");
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_pass_us(20000);
	/* the flow is led away from the PF, and that is all */
	octo_port_await(octo_port_leads_to(port, FLOW, 1, 0));
	octo_port_pass_us(20000);
	assert_int_equal(proxy->transfers, 1);
}

/* The home of queue 1 goes back and forth while its rules are written again. */
static void
test_rehomes_while_dialects_change(void **state)
{
	const struct octo_port_conf conf = {
		.nic = "dialect=no-item/any", .two_nodes = true, .pf = {SLOW}};
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(1);
	port = begin(&conf, 16);
	talk_until_dialect(port, "no-item", LEAVE_MS);
	for (int round = 0; round < 8; round++) {
		octo_port_run_on(round % 2);
		talk_ms(port, 1 + 3 * round);
	}
	octo_port_run_on(1);
	talk_ms(port, 50);
	assert_all_come_home(port);
	assert_tier(port, "exact", "no-item", "none");
}

/* A rehome is under way, and the audit finds out: the home does not change, the way does. */
static void
test_a_dialect_changes_while_rehoming(void **state)
{
	const struct octo_port_conf conf = {
		.nic = "dialect=no-item/any", .two_nodes = true, .pf = {SLOW}};
	uint16_t port;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(1);
	port = begin(&conf, 4);
	for (int i = 0; i < 4000 && !is_dialect(port, "no-item"); i++) {
		octo_port_run_on(i % 400 >= 4);
		talk(port);
	}
	octo_port_run_on(1);
	talk_until_dialect(port, "no-item", LEAVE_MS);
	assert_all_come_home(port);
}

/* The switch's rules go with the proxy; the new ones are in the dialect that is known to work. */
static void
test_the_proxy_is_lost_while_dialects_change(void **state)
{
	const struct octo_port_conf conf = {.nic = "dialect=no-item/any", .replug = true};
	const uint16_t port = begin(&conf, 16);

	(void)state;
	talk_until_dialect(port, "no-item", LEAVE_MS);
	octo_port_remove_pf(0);
	octo_port_await(octo_port_is_proxy(port, 1));
	assert_tier(port, "exact", "no-item", "none");
	for (uint16_t i = 0; i < stream.nb_flows; i++)
		octo_port_await(octo_port_leads_to(port, FLOW + i, 1, 1));
	octo_port_add_pf(&conf, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_pass_us(100000);
	assert_tier(port, "exact", "no-item", "none");
	/* what was in the PF is lost */
	poll_all(port, 100);
	memcpy(stream.received, stream.sent, sizeof(stream.received));
	assert_all_come_home(port);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_dialect_that_is_taken),
		octo_port_test(test_a_dialect_that_is_not_tried_by_itself),
		octo_port_test(test_a_dialect_without_effect_is_left),
		octo_port_test(test_silent_flows_do_not_hold_it_up),
		octo_port_test(test_a_dialect_that_was_left_wrongly),
		octo_port_test(test_a_dialect_that_was_left_for_less),
		octo_port_test(test_many_rules_are_written_again),
		octo_port_test(test_all_dialects_are_without_effect),
		octo_port_test(test_the_only_dialect_is_without_effect),
		octo_port_test(test_a_forced_dialect_is_kept),
		octo_port_test(test_a_restart_gives_a_dialect_another_chance),
		octo_port_test(test_learned_rules_show_it_as_well),
		octo_port_test(test_a_dialect_that_is_refused_later),
		octo_port_test(test_all_dialects_are_refused_later),
		octo_port_test(test_no_catch_all_without_a_port_item),
		octo_port_test(test_rehomes_while_dialects_change),
		octo_port_test(test_a_dialect_changes_while_rehoming),
		octo_port_test(test_the_proxy_is_lost_while_dialects_change),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
