/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What has no rule comes by the NIC's default PF. When that has no link, or recovers, it
 * comes by another one, and home again in order: one PF's pipeline is longer than the
 * other's, so that without a fence it would not.
 */

#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"
#include "mpsim_control.h"

#define FLOW 7
#define BURST 32
#define NB_QUEUES 2
#define MANY_POLLS 1000

/* Which PF is the default one, the NIC alone knows; PF 0 is the proxy. */
static const struct octo_port_conf by_proxy = {
	.pf = {"latency_us=20000"},
	.octo = "grace_us=25000",
};
static const struct octo_port_conf by_other = {
	.nic = "default_pf=1",
	.pf = {"latency_us=20000"},
	.octo = "grace_us=25000",
};
static const struct octo_port_conf replugged = {
	.replug = true,
	.nic = "default_pf=1",
	.pf = {"latency_us=20000"},
	.octo = "grace_us=25000",
};
static const struct octo_port_conf put_back = {
	.replug = true,
	.pf = {"latency_us=20000"},
	.octo = "grace_us=25000",
};
static const struct octo_port_conf three_pfs = {.nb_pfs = 3};

/* A flow without a rule, whichever queue it comes to. */
static struct {
	uint16_t port;
	uint32_t sent;
	uint32_t received;
	uint32_t next;      /* after the latest */
	uint32_t overtaken; /* that came after a later one */
} flow;

static void
set_out(const struct octo_port_conf *conf)
{
	memset(&flow, 0, sizeof(flow));
	flow.port = octo_port_create(conf);
	octo_port_up(flow.port, NB_QUEUES);
}

static void
take(const struct rte_mbuf *m)
{
	const uint32_t number = octo_port_number(m);

	flow.received++;
	if (number < flow.next)
		flow.overtaken++;
	else
		flow.next = number + 1;
}

static void
poll_all(void)
{
	struct rte_mbuf *pkts[BURST];

	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		const uint16_t got = rte_eth_rx_burst(flow.port, q, pkts, BURST);

		for (uint16_t i = 0; i < got; i++)
			take(pkts[i]);
		rte_pktmbuf_free_bulk(pkts, got);
	}
}

/* Polled more often than packets come: an empty ring is not an empty pipeline. */
static void
travel(void)
{
	flow.sent += octo_port_send_numbered(flow.port, 0, FLOW, flow.sent, 4);
	for (int i = 0; i < 3; i++) {
		poll_all();
		octo_port_pass_us(80);
	}
}

/* Without looking at anything, which may take as long as the pipeline is. */
static void
travel_on(void)
{
	for (int i = 0; i < 100; i++)
		travel();
}

#define travel_until(condition)                                                                    \
	do {                                                                                       \
		const uint64_t end_ = octo_now() + 20 * rte_get_timer_hz();                        \
                                                                                                   \
		while (!(condition) && octo_now() < end_)                                          \
			travel();                                                                  \
		assert_true(condition);                                                            \
	} while (0)

static uint64_t
came_by(unsigned int pf)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(octo_port_pf(pf), &stats), 0);
	return stats.ipackets;
}

/* For a while, and by this PF. */
static void
travel_by(unsigned int pf)
{
	const uint64_t before = came_by(pf);

	travel_until(came_by(pf) > before + 64);
}

/* For a while, and for many polls after it: who had no CPU meanwhile has not looked. */
static void
poll_until_nothing_comes(void)
{
	const uint64_t patience = rte_get_timer_hz() / 20;
	uint64_t since = octo_now();
	uint32_t received = flow.received;
	unsigned int polls = 0;

	while (polls < MANY_POLLS) {
		polls += octo_now() - since >= patience;
		poll_all();
		octo_port_pass_us(80);
		if (received == flow.received)
			continue;
		received = flow.received;
		since = octo_now();
		polls = 0;
	}
}

/* Behind it, packets wait for the control thread, which may have no CPU either. */
static bool
is_fenced(void)
{
	return octo_port_xstat(flow.port, "fences_open") > 0;
}

/* How many of those that were sent have not come, when nothing is on its way. */
static uint32_t
rest(void)
{
	bool fenced;

	do {
		fenced = is_fenced();
		poll_until_nothing_comes();
	} while (fenced || is_fenced());
	return flow.sent - flow.received;
}

static void
fault(unsigned int pf, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,%s", octo_port_pf_name(pf), what);
	assert_int_equal(rte_pmd_mpsim_fault(text), 0);
}

static uint64_t
rules(void)
{
	struct mpsim_account nic;

	assert_int_equal(rte_pmd_mpsim_account_get("T", &nic), 0);
	return nic.rules;
}

static void
lose_link_and_find_it(const struct octo_port_conf *conf, unsigned int pf)
{
	uint32_t lost;

	set_out(conf);
	travel_by(pf);
	assert_int_equal(rest(), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		travel_on();
		fault(pf, "link,down");
		travel_on();
		travel_until(octo_port_xstat(flow.port, "default_pf_rules") == i);
		lost = rest();
		travel_by(!pf);
		travel_on();
		fault(pf, "link,up");
		travel_on();
		travel_by(pf);
		octo_port_await(rules() == 0);
		assert_int_equal(rest(), lost);
	}
	assert_int_equal(flow.overtaken, 0);
	assert_int_equal(octo_port_xstat(flow.port, "fence_timeouts"), 0);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules_refused"), 0);
}

static void
test_the_proxy_has_no_link(void **state)
{
	(void)state;
	lose_link_and_find_it(&by_proxy, 0);
}

static void
test_another_has_no_link(void **state)
{
	(void)state;
	lose_link_and_find_it(&by_other, 1);
}

/* Nothing comes by one that recovers either, and it joins again with what it had. */
static void
test_one_that_recovers_is_passed_by(void **state)
{
	uint32_t lost;

	(void)state;
	set_out(&replugged);
	travel_by(1);
	fault(1, "recovery,start");
	travel_until(octo_port_xstat(flow.port, "default_pf_rules") == 1);
	lost = rest();
	travel_by(0);
	fault(1, "recovery,success");
	travel_by(1);
	octo_port_await(rules() == 0);
	assert_int_equal(rest(), lost);
	assert_int_equal(flow.overtaken, 0);
}

/* The NIC sends to it before it is started. */
static void
test_one_that_is_put_back_costs_nothing(void **state)
{
	uint32_t lost;

	(void)state;
	set_out(&put_back);
	for (unsigned int i = 0; i < 3; i++) {
		travel_by(0);
		fault(0, "remove");
		travel_until(octo_port_xstat(flow.port, "usable_pfs") == 1);
		travel_by(1);
		lost = rest();
		while (rte_pmd_mpsim_fault("net_mpsim0,plug") != 0)
			travel();
		travel_until(octo_port_xstat(flow.port, "usable_pfs") == 2);
		travel_by(0);
		octo_port_await(rules() == 0);
		assert_int_equal(rest(), lost);
	}
	assert_int_equal(flow.overtaken, 0);
}

/* The one that was taken instead is lost as well. */
static void
test_one_after_the_other(void **state)
{
	(void)state;
	set_out(&three_pfs);
	travel_by(0);
	fault(0, "link,down");
	travel_by(1);
	fault(1, "link,down");
	travel_by(2);
	fault(1, "link,up");
	octo_port_await(octo_port_xstat(flow.port, "usable_pfs") == 2);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules"), 2);
	fault(2, "link,down");
	travel_by(1);
	fault(0, "link,up");
	octo_port_await(octo_port_xstat(flow.port, "usable_pfs") == 2);
	fault(2, "link,up");
	travel_by(0);
	octo_port_await(rules() == 0);
	assert_int_equal(flow.overtaken, 0);
}

/* A PF that goes is shut before its loss is heard: then none is usable, and none is wanted. */
static void
test_none_is_left_until_a_loss_is_heard(void **state)
{
	struct octo_dev *octo;

	(void)state;
	set_out(&put_back);
	octo = octo_of(&rte_eth_devices[flow.port]);
	travel_by(0);
	octo_port_remove_pf(1);
	octo_port_await(octo_port_xstat(flow.port, "default_pf_rules") == 1);
	assert_int_equal(rest(), 0);
	octo_lock(octo);
	octo_users_shut(&octo->port[0]);
	octo_topo_update(octo);
	assert_int_equal(octo->plan.usable, 0);
	octo_failover_sync_locked(octo);
	assert_false(octo_default_pf_is_due_locked(octo));
	octo_users_open(&octo->port[0]);
	octo_topo_update(octo);
	octo_unlock(octo);
	travel_by(0);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules"), 1);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules_refused"), 0);
}

/* No PF is of more use than another. */
static void
test_all_links_are_lost(void **state)
{
	(void)state;
	set_out(&by_proxy);
	for (unsigned int pf = 0; pf < 2; pf++)
		fault(pf, "link,down");
	octo_port_await(rules() == 0);
	for (unsigned int pf = 0; pf < 2; pf++)
		fault(pf, "link,up");
	travel_by(0);
	octo_port_await(rules() == 0);
}

static void
test_a_full_switch_is_tried_again(void **state)
{
	(void)state;
	set_out(&by_proxy);
	fault(0, "room,mpfs,0");
	fault(0, "link,down");
	octo_port_await(octo_port_xstat(flow.port, "default_pf_rules_refused") == 1);
	octo_port_await(octo_port_xstat(flow.port, "default_pf_rules_refused") == 2);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules"), 0);
	fault(0, "room,mpfs,9");
	travel_by(1);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules"), 1);
}

/* It knows exact rules only. */
static void
test_a_switch_without_such_rules(void **state)
{
	struct octo_port_faults *proxy;

	(void)state;
	set_out(&by_proxy);
	assert_non_null(octo_port_steer(flow.port, FLOW + 1, 1, NULL));
	proxy = octo_port_faults_on(0);
	proxy->create_transfer = ENOTSUP;
	fault(0, "link,down");
	octo_port_await(octo_port_xstat(flow.port, "default_pf_rules_refused") == 1);
	proxy->create_transfer = 0;
	octo_port_assert_arrives(flow.port, FLOW + 1, 1, 10);
	proxy->create_transfer = ENOTSUP;
	fault(0, "link,up");
	octo_port_await(octo_port_xstat(flow.port, "usable_pfs") == 2);
	travel_by(0);
	assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules"), 0);
}

/* Whatever manages the switch, and has the rule, goes after all. */
static void
test_the_pf_is_removed_then(void **state)
{
	const struct octo_port_conf *const confs[] = {&by_proxy, &by_other};

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		set_out(confs[pf]);
		fault(pf, "link,down");
		travel_by(!pf);
		octo_port_remove_pf(pf);
		octo_port_await(rules() == 0);
		travel_by(!pf);
		octo_port_destroy();
	}
}

static void
test_stop_and_start(void **state)
{
	(void)state;
	set_out(&by_proxy);
	fault(0, "link,down");
	octo_port_await(rules() == 1);
	assert_int_equal(rte_eth_dev_stop(flow.port), 0);
	assert_int_equal(rules(), 0);
	fault(0, "link,up");
	assert_int_equal(rte_eth_dev_start(flow.port), 0);
	travel_by(0);
	assert_int_equal(rules(), 0);
	assert_int_equal(rte_eth_dev_stop(flow.port), 0);
	fault(0, "link,down");
	assert_int_equal(rte_eth_dev_start(flow.port), 0);
	travel_by(1);
}

/* What no rule of a PF leads is dropped all the same. */
static void
test_isolation_holds(void **state)
{
	(void)state;
	set_out(&by_proxy);
	assert_int_equal(rte_eth_dev_stop(flow.port), 0);
	assert_int_equal(rte_flow_isolate(flow.port, 1, NULL), 0);
	assert_int_equal(rte_eth_dev_start(flow.port), 0);
	assert_non_null(octo_port_steer(flow.port, FLOW + 1, 1, NULL));
	fault(0, "link,down");
	octo_port_await(octo_port_xstat(flow.port, "default_pf_rules") == 1);
	octo_port_send(flow.port, 0, FLOW, 10);
	assert_int_equal(rest(), 0);
	assert_int_equal(octo_port_xstat(flow.port, "pf1_rx_isolated_drops"), 10);
	octo_port_assert_arrives(flow.port, FLOW + 1, 1, 10);
}

/* There, nothing is without a rule; in the others the switch has none. */
static void
test_other_tiers_have_none(void **state)
{
	static const struct octo_port_conf confs[] = {
		{.octo = "tier=partition"}, {.octo = "tier=queue"}, {.octo = "tier=none"}};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(confs); i++) {
		set_out(&confs[i]);
		fault(0, "link,down");
		octo_port_await(octo_port_xstat(flow.port, "usable_pfs") == 1);
		octo_port_await(octo_port_xstat(flow.port, "failovers") == 1);
		fault(0, "link,up");
		octo_port_await(octo_port_xstat(flow.port, "failbacks") == 1);
		travel_by(0);
		assert_int_equal(octo_port_xstat(flow.port, "default_pf_rules"), 0);
		octo_port_destroy();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_proxy_has_no_link),
		octo_port_test(test_another_has_no_link),
		octo_port_test(test_one_that_recovers_is_passed_by),
		octo_port_test(test_one_that_is_put_back_costs_nothing),
		octo_port_test(test_one_after_the_other),
		octo_port_test(test_none_is_left_until_a_loss_is_heard),
		octo_port_test(test_all_links_are_lost),
		octo_port_test(test_a_full_switch_is_tried_again),
		octo_port_test(test_a_switch_without_such_rules),
		octo_port_test(test_the_pf_is_removed_then),
		octo_port_test(test_stop_and_start),
		octo_port_test(test_isolation_holds),
		octo_port_test(test_other_tiers_have_none),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
