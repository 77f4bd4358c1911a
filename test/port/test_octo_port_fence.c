/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flows stay in order while their path changes. One PF's pipeline is longer than
 * the other's, so that without a fence they would not.
 */

#include <rte_dev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_tracking.h"
#include "mpsim_control.h"

#define FLOW 7
#define BURST 32
#define TIMES 6

/* PF 0 is slow, and the grace time says so. */
static const struct octo_port_conf slow_and_fast = {
	.two_nodes = true,
	.pf = {"latency_us=3000"},
	.octo = "grace_us=4000",
};

/* The PFs are slices of one port, and their rings are what differs. */
static const struct octo_port_conf slices = {
	.two_nodes = true,
	.sliced = true,
	.all = "latency_us=300",
	.octo = "grace_us=400",
};

/* One flow there and back. */
struct trip {
	uint16_t port;
	uint32_t sent;
	uint32_t received;
	uint32_t overtaken;
};

static void
send_some(struct trip *t)
{
	t->sent += octo_port_send_numbered(t->port, 0, FLOW, t->sent, 4);
}

static uint16_t
receive_some(struct trip *t)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t got = rte_eth_rx_burst(t->port, 0, pkts, BURST);

	for (uint16_t i = 0; i < got; i++)
		t->overtaken += octo_port_number(pkts[i]) != t->received++;
	rte_pktmbuf_free_bulk(pkts, got);
	return got;
}

/* Polled more often than packets come: an empty ring is not an empty pipeline. */
static void
travel(struct trip *t)
{
	send_some(t);
	for (int i = 0; i < 3; i++) {
		receive_some(t);
		octo_port_pass_us(80);
	}
}

/* Reading xstats takes so long that the pipeline is empty afterwards. */
static void
travel_far(struct trip *t)
{
	for (int i = 0; i < 100; i++)
		travel(t);
}

#define travel_until(t, condition)                                                                 \
	do {                                                                                       \
		for (int travels_ = 0; travels_ < 20000 && !(condition); travels_++)               \
			travel(t);                                                                 \
		assert_true(condition);                                                            \
	} while (0)

/* Nothing more is sent, and all of it arrives, in order. */
static void
end_trip(struct trip *t)
{
	for (int i = 0; i < 2000 && t->received < t->sent; i++) {
		receive_some(t);
		octo_port_pass_us(100);
	}
	assert_int_equal(t->received, t->sent);
	assert_int_equal(t->overtaken, 0);
}

static uint64_t
home_packets(uint16_t port)
{
	return octo_port_xstat(port, "rx_q0_home_packets");
}

/* Go to a node, and on until packets come by its PF. */
static void
go(struct trip *t, int node)
{
	uint64_t before;

	octo_port_run_on(node);
	travel_far(t);
	travel_until(t, octo_port_rule_pf(t->port, FLOW) == node);
	before = home_packets(t->port);
	travel_until(t, home_packets(t->port) > before + 4);
}

static struct trip
depart(const struct octo_port_conf *conf)
{
	struct trip t = {.port = octo_port_create(conf)};

	octo_port_up(t.port, 1);
	assert_non_null(octo_port_steer(t.port, FLOW, 0, NULL));
	go(&t, 0);
	return t;
}

static void
check_rehomes(const struct octo_port_conf *conf)
{
	struct trip t;

	if (!octo_port_has_two_nodes())
		skip();
	t = depart(conf);
	for (int i = 1; i <= TIMES; i++)
		go(&t, i % 2);
	end_trip(&t);
	assert_true(octo_port_xstat(t.port, "rehomes") >= TIMES);
	assert_true(octo_port_xstat(t.port, "fence_opened") >= TIMES);
	assert_true(octo_port_xstat(t.port, "fence_held_ns") > 0);
	assert_int_equal(octo_port_xstat(t.port, "fence_timeouts"), 0);
}

static void
test_rehomes_keep_the_order(void **state)
{
	(void)state;
	check_rehomes(&slow_and_fast);
}

static void
test_rehomes_between_slices_keep_the_order(void **state)
{
	(void)state;
	check_rehomes(&slices);
}

/*
 * There and back until packets were seen to wait: not those of a change in which this
 * thread had no CPU for as long as they would have. Then there is no fence any more.
 */
static struct trip
depart_and_wait(void)
{
	struct trip t = depart(&slow_and_fast);

	for (int i = 1; octo_port_xstat(t.port, "fence_waits") == 0; i++) {
		assert_true(i < 100);
		go(&t, i % 2);
	}
	end_trip(&t);
	octo_port_await((receive_some(&t), octo_port_xstat(t.port, "fences_open") == 0));
	return t;
}

/* No longer than the legs are held that they wait in. */
static void
test_what_waits_is_counted(void **state)
{
	uint64_t waited;
	struct trip t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	t = depart_and_wait();
	waited = octo_port_xstat(t.port, "fence_waited_ns");
	assert_in_range(waited, 1, octo_port_xstat(t.port, "fence_held_ns"));
}

static void
assert_nothing_is_counted(uint16_t port)
{
	assert_int_equal(octo_port_xstat(port, "fence_timeouts"), 0);
	assert_int_equal(octo_port_xstat(port, "fence_held_ns"), 0);
	assert_int_equal(octo_port_xstat(port, "fence_waits"), 0);
	assert_int_equal(octo_port_xstat(port, "fence_waited_ns"), 0);
}

/* What is subtracted since a reset is of queues that are gone. */
static void
test_new_queues_count_from_zero(void **state)
{
	struct trip t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	t = depart_and_wait();
	assert_int_equal(rte_eth_xstats_reset(t.port), 0);
	assert_nothing_is_counted(t.port);
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	octo_port_up(t.port, 1);
	assert_nothing_is_counted(t.port);
}

/* A rule is destroyed, its queue goes elsewhere, and the same rule is made again. */
static void
check_rule_made_again(const struct octo_port_conf *conf)
{
	struct rte_flow *rule;
	struct trip t;

	if (!octo_port_has_two_nodes())
		skip();
	t = (struct trip){.port = octo_port_create(conf)};
	octo_port_up(t.port, 1);
	rule = octo_port_steer(t.port, FLOW, 0, NULL);
	go(&t, 0);
	for (int i = 1; i <= TIMES; i++) {
		const uint64_t strays = octo_port_xstat(t.port, "rx_stray_packets");

		assert_int_equal(rte_flow_destroy(t.port, rule, NULL), 0);
		octo_port_run_on(i % 2);
		travel_until(&t, octo_port_xstat(t.port, "rx_stray_packets") > strays + 4);
		travel_far(&t);
		rule = octo_port_steer(t.port, FLOW, 0, NULL);
		assert_non_null(rule);
		go(&t, i % 2);
	}
	end_trip(&t);
	assert_int_equal(octo_port_xstat(t.port, "fence_timeouts"), 0);
}

static void
test_a_rule_made_again_keeps_the_order(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true,
		.pf = {"latency_us=3000"},
		.octo = "grace_us=4000,linger_ms=10000",
	};

	(void)state;
	check_rule_made_again(&conf);
}

static void
test_a_rule_of_slices_made_again_keeps_the_order(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true,
		.sliced = true,
		.all = "latency_us=300",
		.octo = "grace_us=400,linger_ms=10000",
	};

	(void)state;
	check_rule_made_again(&conf);
}

/* Strays of a slow PF come home to a fast one. */
static void
test_what_is_learned_keeps_the_order(void **state)
{
	static const struct octo_port_conf learning = {
		.learn = true,
		.nic = "default_pf=1",
		.pf = {NULL, "latency_us=3000"},
		.octo = "grace_us=4000",
	};
	struct trip t = {.port = octo_port_create(&learning)};

	(void)state;
	octo_port_up(t.port, 1);
	do
		travel_far(&t);
	while (octo_port_xstat(t.port, "learned_flows") == 0);
	travel_until(&t, home_packets(t.port) > 0);
	end_trip(&t);
	assert_true(octo_port_xstat(t.port, "fence_opened") > 0);
}

#define MANY 24

static struct trip slow_trip;

static void
travel_meanwhile(void)
{
	send_some(&slow_trip);
	receive_some(&slow_trip);
}

/*
 * Rules that take long hold nothing up: while the others are flipped, the first of
 * the flows comes by the leg that is held.
 */
static void
test_slow_rules_hold_nothing_up(void **state)
{
	static const struct octo_port_conf plain = {.two_nodes = true};
	struct trip *t = &slow_trip;
	uint32_t flipped;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	*t = depart(&plain);
	for (uint16_t i = 1; i <= MANY; i++)
		assert_non_null(octo_port_steer(t->port, FLOW + i, 0, NULL));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_slow,30000"), 0);
	octo_port_meanwhile(travel_meanwhile);
	octo_port_run_on(1);
	travel_until(t, octo_port_rule_pf(t->port, FLOW) == 1);
	flipped = t->sent;
	travel_until(t, t->received > flipped + 100);
	assert_int_equal(octo_port_rule_pf(t->port, FLOW + MANY), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_slow,0"), 0);
	go(t, 1);
	end_trip(t);
}

/* A leg is held for so long that it still is when something else happens. */
static const struct octo_port_conf held_for_long = {
	.two_nodes = true,
	.octo = "grace_us=1000000",
};

static struct trip
depart_and_hold(void)
{
	struct trip t = depart(&held_for_long);
	const uint64_t opened = octo_port_xstat(t.port, "fence_opened");

	octo_port_run_on(1);
	travel_until(&t, octo_port_xstat(t.port, "fence_opened") > opened);
	travel_until(&t, octo_port_rule_pf(t.port, FLOW) == 1);
	return t;
}

static void
test_a_stop_ends_it(void **state)
{
	struct trip t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	t = depart_and_hold();
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	assert_int_equal(rte_eth_dev_start(t.port), 0);
	t.sent = t.received = 0;
	travel_until(&t, t.received > 4);
	end_trip(&t);
}

/* PF 1, whose leg is held: what it had goes with it, and what comes later does not wait. */
static void
test_the_new_pf_goes(void **state)
{
	struct trip t;
	uint32_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	t = depart_and_hold();
	octo_port_remove_pf(1);
	before = t.received;
	travel_until(&t, t.received > before + 40);
}

/* PF 0, which is drained: nothing more can come by it. */
static void
test_the_old_pf_goes(void **state)
{
	struct trip t;
	uint32_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	t = depart_and_hold();
	octo_port_remove_pf(0);
	before = t.received;
	travel_until(&t, t.received > before + 40);
}

static const struct octo_port_conf two_nodes = {.two_nodes = true};

/* Polls queue 0 from node 1. */
static void
poll_there(uint16_t port)
{
	struct rte_mbuf *pkts[BURST];

	octo_port_run_on(1);
	while (!octo_port_thread_must_stop())
		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, 0, pkts, BURST));
}

static void *
poll_as_a_stranger(void *arg)
{
	poll_there(*(uint16_t *)arg);
	return NULL;
}

static void *
poll_registered(void *arg)
{
	if (rte_thread_register() == 0) {
		poll_there(*(uint16_t *)arg);
		rte_thread_unregister();
	}
	return NULL;
}

static void
check_follows(void *(*thread)(void *))
{
	static uint16_t port;
	struct trip t;

	if (!octo_port_has_two_nodes())
		skip();
	t = depart(&two_nodes);
	port = t.port;
	octo_port_thread_start(thread, &port);
	octo_port_await(octo_port_rule_pf(port, FLOW) == 1);
	octo_port_thread_stop();
}

static void
test_a_thread_that_eal_does_not_know_is_followed(void **state)
{
	(void)state;
	check_follows(poll_as_a_stranger);
}

static void
test_a_registered_thread_is_followed(void **state)
{
	(void)state;
	check_follows(poll_registered);
}

/* The same thread would be looked at every 64 bursts. */
static void *
poll_a_little(void *arg)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t port = *(uint16_t *)arg;

	octo_port_run_on(1);
	for (int i = 0; i < OCTO_TRACKING_SURE; i++)
		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, 0, pkts, BURST));
	return NULL;
}

static void
test_another_thread_is_followed_at_once(void **state)
{
	(void)state;
	check_follows(poll_a_little);
}

/* Once in a second it may: every change in between is none. */
static void
test_who_goes_back_and_forth_is_not_followed(void **state)
{
	static const struct octo_port_conf slow = {.two_nodes = true, .octo = "dwell_ms=1000"};
	uint64_t before, seconds;
	struct trip t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	t = depart(&slow);
	go(&t, 1);
	before = octo_port_xstat(t.port, "rehomes");
	seconds = octo_now();
	for (int i = 0; i < 6; i++) {
		octo_port_run_on(i % 2);
		/* the same thread: it takes 64 bursts and some to notice */
		travel_far(&t);
		travel_far(&t);
	}
	seconds = (octo_now() - seconds) / rte_get_timer_hz();
	assert_true(octo_port_xstat(t.port, "rehomes") - before <= seconds + 1);
	end_trip(&t);
}

static void
test_wrong_devargs(void **state)
{
	static const char *const wrong[] = {
		"grace_us=",
		"grace_us=-1",
		"grace_us=1000001",
		"fence_timeout_ms=0",
		"fence_timeout_ms=10001",
		"fence_timeout_ms=soon",
		"dwell_ms=1001",
	};
	char args[128];

	(void)state;
	octo_port_add_pfs(&slow_and_fast);
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		snprintf(args, sizeof(args), "pf=%s,%s", octo_port_pf_name(0), wrong[i]);
		assert_true(rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, args) < 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rehomes_keep_the_order),
		octo_port_test(test_rehomes_between_slices_keep_the_order),
		octo_port_test(test_what_waits_is_counted),
		octo_port_test(test_new_queues_count_from_zero),
		octo_port_test(test_a_rule_made_again_keeps_the_order),
		octo_port_test(test_a_rule_of_slices_made_again_keeps_the_order),
		octo_port_test(test_what_is_learned_keeps_the_order),
		octo_port_test(test_slow_rules_hold_nothing_up),
		octo_port_test(test_a_stop_ends_it),
		octo_port_test(test_the_new_pf_goes),
		octo_port_test(test_the_old_pf_goes),
		octo_port_test(test_a_thread_that_eal_does_not_know_is_followed),
		octo_port_test(test_a_registered_thread_is_followed),
		octo_port_test(test_another_thread_is_followed_at_once),
		octo_port_test(test_who_goes_back_and_forth_is_not_followed),
		octo_port_test(test_wrong_devargs),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
