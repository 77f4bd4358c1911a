/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where the PFs are slices of one port: a queue gets another home, and the port refuses, or cannot
 * do, a part of what follows it.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define FLOWS 8
#define BURST 32

/* One queue, which is at home on the PF of the node from which it is polled. */
static const struct octo_port_conf two_nodes = {
	.sliced = true,
	.two_nodes = true,
	.all = "latency_us=300",
	.octo = "grace_us=400,fence_timeout_ms=1000",
};

static const struct rte_eth_conf rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
};

struct traffic {
	uint16_t port;
	uint32_t sent[FLOWS];
	uint32_t received[FLOWS];
	uint32_t overtaken;
};

static uint16_t
flow_of(const struct rte_mbuf *m)
{
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(
		m, const struct rte_udp_hdr *,
		sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr));

	return rte_be_to_cpu_16(udp->src_port);
}

static void
receive(struct traffic *t)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t nb = rte_eth_rx_burst(t->port, 0, pkts, BURST);

	for (uint16_t i = 0; i < nb; i++)
		t->overtaken += octo_port_number(pkts[i]) != t->received[flow_of(pkts[i])]++;
	rte_pktmbuf_free_bulk(pkts, nb);
}

static void
send_some(struct traffic *t)
{
	for (uint16_t flow = 0; flow < FLOWS; flow++)
		t->sent[flow] += octo_port_send_numbered(t->port, 0, flow, t->sent[flow], 2);
}

static void
pass(struct traffic *t, bool send)
{
	for (int i = 0; i < 3; i++) {
		if (send)
			send_some(t);
		octo_port_pass_us(80);
	}
	receive(t);
	receive(t);
}

static bool
have_all_arrived(const struct traffic *t)
{
	return memcmp(t->received, t->sent, sizeof(t->sent)) == 0;
}

static void
assert_all_arrive_in_order(struct traffic *t)
{
	for (int i = 0; i < 1000 && !have_all_arrived(t); i++)
		pass(t, false);
	assert_true(have_all_arrived(t));
	assert_int_equal(t->overtaken, 0);
	assert_int_equal(octo_port_xstat(t->port, "fence_timeouts"), 0);
}

/* Returns whether the RETA has only the leg of the first queue on this PF. */
static bool
leads_to(unsigned int pf)
{
	return octo_port_reta_of(0) == RTE_BIT32(pf);
}

static void
begin(struct traffic *t, const struct octo_port_conf *conf)
{
	*t = (struct traffic){.port = octo_port_create(conf)};
	octo_port_run_on(0);
	octo_port_up_as(t->port, 1, &rss);
	for (int i = 0; i < 20; i++)
		pass(t, true);
	assert_true(leads_to(0));
}

static struct traffic *under_way;

static void
send_under_way(void)
{
	send_some(under_way);
}

/* Of packets that no test sends. */
static void
lead_ipv6_to_queue_0(uint16_t port)
{
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV6},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue index = {.index = 0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};

	assert_non_null(rte_flow_create(port, &attr, pattern, actions, NULL));
}

/* Its way back would need a fence of its own, at each of the tries. */
static void
test_the_reta_stays_home_though_a_rule_is_refused(void **state)
{
	struct octo_port_faults *faults;
	struct traffic t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &two_nodes);
	faults = octo_port_faults_on(0);
	lead_ipv6_to_queue_0(t.port);
	under_way = &t;
	faults->create_ingress = ENOSPC;
	faults->on_create = send_under_way;
	octo_port_run_on(1);
	for (int n = 0; n < 2000 && faults->on_create != NULL; n++)
		pass(&t, true);
	assert_null(faults->on_create);
	for (int n = 0; n < 500; n++) {
		pass(&t, true);
		assert_true(leads_to(1));
	}
	assert_int_equal(octo_port_xstat(t.port, "rehomes"), 0);
	assert_all_arrive_in_order(&t);
	/* the rule is where it was when its queue is there again */
	octo_port_run_on(0);
	faults->create_ingress = 0;
	for (int n = 0; n < 20000 && octo_port_xstat(t.port, "rehomes") == 0; n++)
		pass(&t, true);
	assert_true(leads_to(0));
	assert_all_arrive_in_order(&t);
}

/* Polls alone, so that no round of the control thread is due meanwhile. */
static void
poll_from(struct traffic *t, int node)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[t->port]);

	octo_port_run_on(node);
	for (int n = 0; n < 100000 && octo_topo_home_of(octo, 0) != node; n++)
		receive(t);
	assert_int_equal(octo_topo_home_of(octo, 0), node);
}

/* The control thread has not seen the home that the queue had when the port was started. */
static void
test_legs_follow_a_home_of_the_start_only(void **state)
{
	static const struct octo_port_conf conf = {
		.sliced = true, .two_nodes = true, .octo = "dwell_ms=0"};
	struct traffic t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &conf);
	poll_from(&t, 1);
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	assert_int_equal(rte_eth_dev_start(t.port), 0);
	assert_true(leads_to(1));
	poll_from(&t, 0);
	for (int n = 0; n < 2000 && !leads_to(0); n++)
		pass(&t, false);
	assert_true(leads_to(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_reta_stays_home_though_a_rule_is_refused),
		octo_port_test(test_legs_follow_a_home_of_the_start_only),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
