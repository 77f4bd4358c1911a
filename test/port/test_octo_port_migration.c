/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tiers partition and mac: flows without rules stay in order while they go from queues to others,
 * several at once. One PF's pipeline is longer than the other's, so that without a fence
 * they would not.
 */

#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "octo_port.h"

#define BURST 32
#define FLOWS 64
#define STEERED 8
#define NOT_HASHED (FLOWS - 1)
#define QUEUES 4
#define NODES 2
#define BASE_PORT 100
#define PORT_AT 34
#define PATIENCE_S 20

/* Flows and who polls their queues. */
static struct rig {
	uint16_t port;
	uint32_t sent[FLOWS];
	uint32_t received[FLOWS];
	uint64_t all_sent;
	uint64_t all_received;
	uint64_t overtaken;
	uint64_t lost;
	int node[QUEUES]; /* that polls it, -1: nobody does */
	bool steered;
	bool by_mac; /* tier mac: the flows' addresses choose the PFs */
	bool copies; /* many packets are copied to all PFs, and come by one: to queue 0 */
	uint32_t turns;
	unsigned int nb_pfs;
	struct rte_ether_addr mac[8];
} rig;

/* Flows of the same addresses would all come by the same PF. */
static struct rte_mbuf *
make_frame(uint16_t flow)
{
	struct rte_mbuf *m;
	uint8_t *p;

	octo_port_make_numbered(rig.port, BASE_PORT + flow, rig.sent[flow], &m, 1);
	p = rte_pktmbuf_mtod(m, uint8_t *);
	if (!rig.steered || flow >= STEERED) {
		p[28] = flow * 37;
		p[29] = flow;
		p[33] = flow * 11;
	}
	if (rig.by_mac)
		memcpy(p, &rig.mac[flow % rig.nb_pfs], RTE_ETHER_ADDR_LEN);
	/* each PF receives these, and the others drop them */
	if (rig.by_mac && flow % 8 == 5)
		memset(p, 0xff, RTE_ETHER_ADDR_LEN);
	if (rig.copies && flow / 8 % 4 == 1) {
		memset(p, 0xff, RTE_ETHER_ADDR_LEN);
		p[12] = 0x88;
		p[13] = 0xb5;
	}
	/* in tier mac it is a stray, unless queue 0 is at home on the PF of its address */
	if (flow == NOT_HASHED && !rig.by_mac) {
		p[12] = 0x88;
		p[13] = 0xb5;
	}
	return m;
}

static void
send_some(void)
{
	struct rte_mbuf *pkts[BURST];
	static uint16_t next;

	for (unsigned int i = 0; i < 8; i++) {
		const uint16_t flow = next++ % FLOWS;

		pkts[0] = make_frame(flow);
		if (rte_eth_tx_burst(rig.port, 0, pkts, 1) == 1) {
			rig.sent[flow]++;
			rig.all_sent++;
		} else {
			rte_pktmbuf_free(pkts[0]);
		}
	}
}

static void
check(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint16_t flow = (p[PORT_AT] << 8 | p[PORT_AT + 1]) - BASE_PORT;
	const uint32_t number = octo_port_number(m);

	assert_true(flow < FLOWS);
	rig.all_received++;
	if (number < rig.received[flow]) {
		rig.overtaken++;
		rig.lost--;
		return;
	}
	rig.lost += number - rig.received[flow];
	rig.received[flow] = number + 1;
}

/* In tier mac both queues of a flow are on one PF, and no pipeline delays one of them: polls do. */
static bool
is_late(uint16_t queue)
{
	return rig.by_mac && (rig.turns++ / 64 + queue) % 3 == 0;
}

static void
poll_queues(void)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t burst = rig.copies ? 6 : BURST;

	for (int node = 0; node < NODES; node++) {
		octo_port_run_on(node);
		for (uint16_t q = 0; q < QUEUES; q++) {
			uint16_t got = 0;

			if (rig.node[q] == node && !is_late(q))
				got = rte_eth_rx_burst(rig.port, q, pkts, burst);
			for (uint16_t i = 0; i < got; i++)
				check(pkts[i]);
			rte_pktmbuf_free_bulk(pkts, got);
		}
	}
}

static void
travel(unsigned int rounds)
{
	for (; rounds > 0; rounds--) {
		send_some();
		poll_queues();
		/* a slow PF has room for so much, and the control thread needs a CPU */
		octo_port_pass_us(100);
		poll_queues();
	}
}

/* Who polls may be given the CPU more often than who moves the queues. */
#define travel_until(condition)                                                                    \
	do {                                                                                       \
		const uint64_t begin_ = octo_now();                                                \
		const uint64_t patience_ = PATIENCE_S * rte_get_timer_hz();                        \
		while (!(condition) && octo_now() - begin_ < patience_)                            \
			travel(10);                                                                \
		assert_true(condition);                                                            \
	} while (0)

/* The queues of a node, by who polls them; all if there is none, as in a RETA. */
static uint32_t
queues_of(int node)
{
	uint32_t queues = 0;

	for (uint16_t q = 0; q < QUEUES; q++)
		queues |= rig.node[q] == node ? RTE_BIT32(q) : 0;
	return queues == 0 ? RTE_BIT32(QUEUES) - 1 : queues;
}

static bool
is_partitioned(void)
{
	if (rig.nb_pfs == 2)
		return octo_port_reta_of(0) == queues_of(0) && octo_port_reta_of(1) == queues_of(1);
	/* which of the PFs of a node a queue is at home on is for others to say */
	for (uint16_t q = 0; q < QUEUES; q++) {
		struct octo_view_queue view;

		assert_int_equal(octo_view_queue(rig.port, q, &view), 0);
		if (view.home.pf % NODES != rig.node[q] ||
		    !(octo_port_reta_of(view.home.pf) & RTE_BIT32(q)))
			return false;
	}
	return true;
}

static uint64_t
strays(void)
{
	return octo_port_xstat(rig.port, "rx_stray_packets");
}

/* The RETA of the last step may be in place before what it is for. */
static bool
nothing_strays(void)
{
	const uint64_t before = strays();

	travel(50);
	return strays() == before;
}

/* Go on until everything has come to be where it should. */
static void
settle(void)
{
	travel_until(is_partitioned());
	travel_until(nothing_strays());
}

static void
hand_over(uint16_t queue, int node)
{
	rig.node[queue] = node;
	settle();
}

static void
depart_with(const struct octo_port_conf *conf, bool steered, bool copies)
{
	const struct rte_eth_conf eth = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
	};

	if (!octo_port_has_two_nodes())
		skip();
	rig = (struct rig){
		.port = octo_port_create(conf),
		.steered = steered,
		.nb_pfs = conf->nb_pfs == 0 ? 2 : conf->nb_pfs,
		.by_mac = strstr(conf->octo, "tier=mac") != NULL,
		.copies = copies,
	};
	assert_true(rte_eth_macaddrs_get(rig.port, rig.mac, RTE_DIM(rig.mac)) > 0);
	assert_int_equal(rte_eth_dev_configure(rig.port, QUEUES, QUEUES, &eth), 0);
	for (uint16_t q = 0; q < QUEUES; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(rig.port, q, OCTO_PORT_NB_DESC,
							SOCKET_ID_ANY, NULL, octo_port_pool),
				 0);
		assert_int_equal(
			rte_eth_tx_queue_setup(rig.port, q, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL),
			0);
		rig.node[q] = q / 2;
	}
	assert_int_equal(rte_eth_dev_start(rig.port), 0);
	for (uint16_t flow = 0; steered && flow < STEERED; flow++)
		assert_non_null(octo_port_steer(rig.port, BASE_PORT + flow, flow % QUEUES, NULL));
	settle();
}

static void
depart(const struct octo_port_conf *conf, bool steered)
{
	depart_with(conf, steered, false);
}

/* Nothing more is sent, and all of it has arrived, in order. */
static void
arrive(void)
{
	for (int i = 0; i < 4000 && rig.all_received < rig.all_sent; i++) {
		poll_queues();
		octo_port_pass_us(100);
	}
	assert_int_equal(rig.overtaken, 0);
	assert_int_equal(rig.lost, 0);
	assert_int_equal(rig.all_received, rig.all_sent);
	assert_int_equal(octo_port_xstat(rig.port, "fence_timeouts"), 0);
}

/* PF 0 is slow, and the grace time says so. Who polls may be without a CPU for a while. */
static const struct octo_port_conf slow_and_fast = {
	.two_nodes = true,
	.pf = {"latency_us=3000"},
	.octo = "tier=partition,grace_us=4000,fence_timeout_ms=2000,dwell_ms=0",
};
static const struct octo_port_conf four_pfs = {
	.nb_pfs = 4,
	.two_nodes = true,
	.pf = {"latency_us=2000", NULL, NULL, "latency_us=3000"},
	.octo = "tier=partition,grace_us=4000,fence_timeout_ms=2000,dwell_ms=0",
};

static void
test_a_queue_changes_its_home(void **state)
{
	(void)state;
	depart(&slow_and_fast, false);
	for (int i = 0; i < 3; i++) {
		hand_over(3, 0);
		hand_over(3, 1);
		/* what is not hashed goes with it */
		hand_over(0, 1);
		hand_over(0, 0);
	}
	assert_true(octo_port_xstat(rig.port, "fence_opened") >= 24);
	arrive();
}

/* The last queue of a PF goes, and all that came by it. */
static void
test_all_queues_come_to_one_home(void **state)
{
	(void)state;
	depart(&slow_and_fast, false);
	for (int i = 0; i < 3; i++) {
		rig.node[0] = rig.node[1] = 1;
		settle();
		rig.node[0] = rig.node[1] = rig.node[2] = rig.node[3] = 0;
		settle();
		rig.node[2] = rig.node[3] = 1;
		settle();
	}
	arrive();
}

/* Whoever is on its way somewhere is wanted elsewhere. */
static void
test_homes_change_all_the_time(void **state)
{
	(void)state;
	depart(&slow_and_fast, true);
	for (int i = 0; i < 40; i++) {
		rig.node[i * 7 % QUEUES] = i % 3 % NODES;
		travel(20 + i % 5 * 30);
	}
	settle();
	arrive();
}

/* Rules of their own: other fences, on the same queues. */
static void
test_flows_with_rules_go_along(void **state)
{
	(void)state;
	depart(&slow_and_fast, true);
	for (int i = 0; i < 2; i++) {
		hand_over(3, 0);
		hand_over(1, 1);
		hand_over(3, 1);
		hand_over(1, 0);
	}
	for (uint16_t flow = 0; flow < STEERED; flow++)
		travel_until(octo_port_rule_pf(rig.port, BASE_PORT + flow) ==
			     rig.node[flow % QUEUES]);
	arrive();
}

/* Each node has two PFs, so that a queue has two to go to. */
static void
test_four_pfs(void **state)
{
	(void)state;
	depart(&four_pfs, false);
	for (int i = 0; i < 3; i++) {
		hand_over(3, 0);
		hand_over(0, 1);
		hand_over(1, 1);
		hand_over(3, 1);
		hand_over(0, 0);
		hand_over(1, 0);
	}
	assert_true(octo_port_xstat(rig.port, "fence_opened") >= 18);
	arrive();
}

/* What it had is lost, and what it gets again is not. */
static void
test_a_pf_without_link_comes_back(void **state)
{
	uint64_t lost;

	(void)state;
	depart(&slow_and_fast, false);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	travel_until(octo_port_reta_of(0) == 0xf);
	travel_until(nothing_strays());
	/* what was lost was lost before this */
	travel(200);
	lost = rig.lost;
	rig.overtaken = 0;
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	settle();
	for (int i = 0; i < 400; i++)
		poll_queues();
	assert_int_equal(rig.overtaken, 0);
	assert_int_equal(rig.lost, lost);
	assert_int_equal(octo_port_xstat(rig.port, "fence_timeouts"), 0);
}

/* Its flows wait for nobody for longer than is said, and neither do those of others. */
static void
test_a_queue_that_nobody_polls(void **state)
{
	static const struct octo_port_conf patient = {
		.two_nodes = true,
		.octo = "tier=partition,fence_timeout_ms=20,dwell_ms=0",
	};
	uint64_t opened;

	(void)state;
	depart(&patient, false);
	opened = octo_port_xstat(rig.port, "fence_opened");
	/* its home is what it was */
	rig.node[2] = -1;
	rig.node[3] = 0;
	travel_until(octo_port_reta_of(0) == 0xb && octo_port_reta_of(1) == 0x4);
	assert_true(octo_port_xstat(rig.port, "fence_opened") > opened);
	assert_true(octo_port_xstat(rig.port, "fence_timeouts") > 0);
	rig.node[2] = 0;
	travel_until(octo_port_reta_of(0) == 0xf);
	/* nothing is held for ever: what the rings had room for comes */
	travel_until(nothing_strays());
	for (int i = 0; i < 1000; i++)
		poll_queues();
	assert_int_equal(rig.all_received + rig.lost, rig.all_sent);
}

static const struct octo_port_conf two_macs = {
	.two_nodes = true,
	.nic = "switch=mac",
	.pf = {"latency_us=3000"},
	.octo = "tier=mac,grace_us=4000,fence_timeout_ms=2000,dwell_ms=0",
};
static const struct octo_port_conf four_macs = {
	.nb_pfs = 4,
	.two_nodes = true,
	.nic = "switch=mac",
	.pf = {"latency_us=2000", NULL, NULL, "latency_us=3000"},
	.octo = "tier=mac,grace_us=4000,fence_timeout_ms=2000,dwell_ms=0",
};

/* Flows stay on the PF of their address, and change queues. */
static void
test_a_queue_changes_its_home_by_mac(void **state)
{
	(void)state;
	depart(&two_macs, false);
	for (int i = 0; i < 3; i++) {
		hand_over(3, 0);
		hand_over(3, 1);
		hand_over(0, 1);
		hand_over(0, 0);
	}
	assert_true(octo_port_xstat(rig.port, "fence_opened") >= 12);
	arrive();
}

/* A PF where no queue is at home uses all queues: its packets are strays. */
static void
test_all_queues_come_to_one_home_by_mac(void **state)
{
	(void)state;
	depart(&two_macs, false);
	for (int i = 0; i < 3; i++) {
		rig.node[0] = rig.node[1] = 1;
		travel_until(octo_port_reta_of(0) == 0xf && octo_port_reta_of(1) == 0xf);
		travel(50);
		rig.node[0] = rig.node[1] = 0;
		settle();
	}
	arrive();
}

static void
test_homes_change_all_the_time_by_mac(void **state)
{
	(void)state;
	depart(&two_macs, false);
	for (int i = 0; i < 40; i++) {
		rig.node[i * 7 % QUEUES] = i % 3 % NODES;
		travel(20 + i % 5 * 30);
	}
	for (uint16_t q = 0; q < QUEUES; q++)
		rig.node[q] = q % NODES;
	settle();
	arrive();
}

/* A burst that had only copies does not mean that the leg is empty. */
static void
test_copies_hide_no_packets(void **state)
{
	(void)state;
	depart_with(&two_macs, false, true);
	for (int i = 0; i < 10; i++) {
		rig.node[0] = 1;
		travel_until(is_partitioned());
		travel(40);
		rig.node[0] = 0;
		travel_until(is_partitioned());
		travel(40);
	}
	arrive();
}

/* Each PF has one queue: a PF that loses it uses all queues meanwhile. */
static void
test_four_pfs_by_mac(void **state)
{
	(void)state;
	depart(&four_macs, false);
	for (int i = 0; i < 3; i++) {
		rig.node[3] = 0;
		travel_until(octo_port_reta_of(3) == 0xf);
		rig.node[0] = 1;
		travel_until(octo_port_reta_of(0) == 0xf);
		rig.node[3] = 1;
		rig.node[0] = 0;
		settle();
	}
	arrive();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_queue_changes_its_home),
		octo_port_test(test_all_queues_come_to_one_home),
		octo_port_test(test_homes_change_all_the_time),
		octo_port_test(test_flows_with_rules_go_along),
		octo_port_test(test_four_pfs),
		octo_port_test(test_a_pf_without_link_comes_back),
		octo_port_test(test_a_queue_that_nobody_polls),
		octo_port_test(test_a_queue_changes_its_home_by_mac),
		octo_port_test(test_all_queues_come_to_one_home_by_mac),
		octo_port_test(test_homes_change_all_the_time_by_mac),
		octo_port_test(test_copies_hide_no_packets),
		octo_port_test(test_four_pfs_by_mac),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
