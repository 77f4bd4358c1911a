/* SPDX-License-Identifier: BSD-3-Clause */

/* RSS without rules follows its queues to other PFs, where the PFs are slices of one port. */

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define FLOWS 8
#define BURST 32
#define TIMES 12

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

#define NAPI_US 100
#define NB_LEGS 2

/* A leg that gives its packets only some time after an empty poll, as a socket of AF_XDP. */
struct napi {
	struct rte_mbuf *pkts[4096];
	uint16_t nb;
	uint16_t ready;  /* of these, to be polled */
	uint64_t kicked; /* time of the empty poll, 0: none */
};

static struct napi napi[NB_LEGS];

static uint16_t
deliver_by_napi(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, uint16_t max,
		void *arg)
{
	struct napi *n = arg;
	uint16_t got;

	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	assert_true(n->nb + nb <= (int)RTE_DIM(n->pkts));
	memcpy(&n->pkts[n->nb], pkts, nb * sizeof(pkts[0]));
	n->nb += nb;
	if (n->ready == 0 && n->kicked == 0) {
		n->kicked = octo_now();
	} else if (n->ready == 0 &&
		   octo_now() >= n->kicked + rte_get_timer_hz() * NAPI_US / 1000000) {
		n->ready = n->nb;
		n->kicked = 0;
	}
	got = RTE_MIN(n->ready, max);
	memcpy(pkts, n->pkts, got * sizeof(pkts[0]));
	memmove(n->pkts, &n->pkts[got], (n->nb - got) * sizeof(pkts[0]));
	n->nb -= got;
	n->ready -= got;
	return got;
}

struct traffic {
	uint16_t port;
	uint16_t nb_queues;
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
receive(struct traffic *t, uint16_t queue)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t nb = rte_eth_rx_burst(t->port, queue, pkts, BURST);

	for (uint16_t i = 0; i < nb; i++)
		t->overtaken += octo_port_number(pkts[i]) != t->received[flow_of(pkts[i])]++;
	rte_pktmbuf_free_bulk(pkts, nb);
}

/* Several bursts come between two looks, so both legs may have more than a burst. */
static void
pass(struct traffic *t, bool send)
{
	for (int i = 0; i < 3; i++) {
		for (uint16_t flow = 0; send && flow < FLOWS; flow++)
			t->sent[flow] += octo_port_send_numbered(t->port, 0, flow, t->sent[flow],
								 2);
		octo_port_pass_us(80);
	}
	for (uint16_t q = 0; q < t->nb_queues; q++)
		for (int i = 0; i < 2; i++)
			receive(t, q);
}

static void
pass_often(struct traffic *t, int times)
{
	for (int i = 0; i < times; i++)
		pass(t, true);
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

static uint64_t
strays(const struct traffic *t)
{
	return octo_port_xstat(t->port, "rx_stray_packets");
}

/* Returns whether the RETA has only the leg of the first queue on this PF. */
static bool
leads_to(unsigned int pf)
{
	return octo_port_reta_of(0) == RTE_BIT32(pf);
}

static void
begin(struct traffic *t, const struct octo_port_conf *conf, uint16_t nb_queues)
{
	*t = (struct traffic){.port = octo_port_create(conf), .nb_queues = nb_queues};
	octo_port_run_on(0);
	octo_port_up_as(t->port, nb_queues, &rss);
}

/* Many times, under load: what is under way arrives first. */
static void
test_rss_follows_its_queue(void **state)
{
	struct traffic t;
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &two_nodes, 1);
	pass_often(&t, 20);
	assert_true(leads_to(0));
	assert_int_equal(strays(&t), 0);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && !leads_to(i % 2); n++)
			pass(&t, true);
		assert_true(leads_to(i % 2));
		pass_often(&t, 20);
		before = strays(&t);
		pass_often(&t, 20);
		assert_int_equal(strays(&t), before);
	}
	assert_all_arrive_in_order(&t);
}

/* Flows with and without rules, of the same queue. */
static void
test_rules_follow_beside_the_reta(void **state)
{
	struct traffic t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &two_nodes, 1);
	assert_non_null(octo_port_steer(t.port, 3, 0, NULL));
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0;
		     n < 2000 && !(leads_to(i % 2) && octo_port_rule_pf(t.port, 3) == (int)(i % 2));
		     n++)
			pass(&t, true);
		assert_true(leads_to(i % 2));
		assert_int_equal(octo_port_rule_pf(t.port, 3), i % 2);
	}
	assert_all_arrive_in_order(&t);
}

/* Packets stray meanwhile, and it is tried again. */
static void
test_a_reta_that_is_refused_follows_later(void **state)
{
	struct octo_port_faults *faults;
	struct traffic t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &two_nodes, 1);
	faults = octo_port_faults_on(0);
	pass_often(&t, 20);
	faults->reta_update = EIO;
	octo_port_run_on(1);
	for (int n = 0; n < 2000 && strays(&t) < 1000; n++)
		pass(&t, true);
	assert_true(strays(&t) >= 1000);
	assert_true(leads_to(0));
	faults->reta_update = 0;
	for (int n = 0; n < 20000 && !leads_to(1); n++)
		pass(&t, true);
	assert_true(leads_to(1));
	assert_all_arrive_in_order(&t);
}

/* An empty ring proves nothing there, which the fence must know. */
static void
test_order_is_kept_though_polls_make_packets_come(void **state)
{
	struct traffic t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &two_nodes, 1);
	memset(napi, 0, sizeof(napi));
	for (uint16_t leg = 0; leg < NB_LEGS; leg++)
		assert_non_null(
			rte_eth_add_rx_callback(octo_port_pf(0), leg, deliver_by_napi, &napi[leg]));
	octo_lock(octo_of(&rte_eth_devices[t.port]));
	((struct octo_rxq *)rte_eth_devices[t.port].data->rx_queues[0])
		->gate.settle = rte_get_timer_hz() * 2 * NAPI_US / 1000000;
	octo_unlock(octo_of(&rte_eth_devices[t.port]));
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && !leads_to(i % 2); n++)
			pass(&t, true);
		assert_true(leads_to(i % 2));
		pass_often(&t, 20);
	}
	assert_all_arrive_in_order(&t);
}

/* A queue that is in no entry has nothing to be changed, and gets its home with its first entry. */
static void
test_the_applications_reta_names_homes(void **state)
{
	struct traffic t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	begin(&t, &two_nodes, 2);
	octo_port_lead_all_to(t.port, 0);
	octo_port_run_on(1);
	for (int n = 0; n < 2000 && !leads_to(1); n++)
		pass(&t, true);
	assert_true(leads_to(1));
	/* no fence is between the queues of the old RETA and those of the new one */
	assert_all_arrive_in_order(&t);
	octo_port_lead_all_to(t.port, 1);
	assert_int_equal(octo_port_reta_of(0), RTE_BIT32(2 * 1 + 1));
	pass_often(&t, 20);
	assert_all_arrive_in_order(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rss_follows_its_queue),
		octo_port_test(test_rules_follow_beside_the_reta),
		octo_port_test(test_a_reta_that_is_refused_follows_later),
		octo_port_test(test_order_is_kept_though_polls_make_packets_come),
		octo_port_test(test_the_applications_reta_names_homes),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
