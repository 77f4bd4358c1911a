/* SPDX-License-Identifier: BSD-3-Clause */

/* Tier mac: which source address a packet leaves with, and by which PF. */

#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "octo_port.h"

#include "mpsim_control.h"

#define BURST 32
#define QUEUES 2

#define CONF(source)                                                                               \
	{                                                                                          \
		.two_nodes = true, .nic = "switch=mac", .octo = "tier=mac,dwell_ms=0" source       \
	}

static const struct octo_port_conf rewrite = CONF("");
static const struct octo_port_conf by_source = CONF(",mac_source=address");
static const struct octo_port_conf app = CONF(",mac_source=app");

static const struct rte_ether_addr other = {{0x02, 0, 0, 0, 0, 0x44}};

static uint16_t port;
static struct rte_ether_addr macs[2];

/* Packets that came back, by their source address. */
static struct {
	unsigned int all;
	unsigned int from[RTE_DIM(macs)];
	unsigned int from_other;
} came;

static void
up(const struct octo_port_conf *conf)
{
	if (!octo_port_has_two_nodes())
		skip();
	port = octo_port_create(conf);
	assert_true(rte_eth_macaddrs_get(port, macs, RTE_DIM(macs)) > 0);
	octo_port_run_on(0);
	octo_port_up(port, QUEUES);
	memset(&came, 0, sizeof(came));
}

static void
make(const struct rte_ether_addr *src, struct rte_mbuf **pkts, uint16_t n)
{
	octo_port_make(port, 100, pkts, n);
	for (uint16_t i = 0; i < n; i++)
		memcpy(rte_pktmbuf_mtod_offset(pkts[i], void *, RTE_ETHER_ADDR_LEN), src,
		       sizeof(*src));
}

static void
note(const struct rte_mbuf *m)
{
	const struct rte_ether_addr *src = rte_pktmbuf_mtod_offset(m, const struct rte_ether_addr *,
								   RTE_ETHER_ADDR_LEN);

	came.all++;
	for (unsigned int i = 0; i < RTE_DIM(macs); i++)
		came.from[i] += rte_is_same_ether_addr(src, &macs[i]);
	came.from_other += rte_is_same_ether_addr(src, &other);
}

static void
receive(void)
{
	struct rte_mbuf *pkts[BURST];

	for (int i = 0; i < 50; i++) {
		for (uint16_t q = 0; q < QUEUES; q++) {
			const uint16_t got = rte_eth_rx_burst(port, q, pkts, BURST);

			for (uint16_t k = 0; k < got; k++)
				note(pkts[k]);
			rte_pktmbuf_free_bulk(pkts, got);
		}
	}
}

static uint64_t
sent_by(unsigned int pf)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(octo_port_pf(pf), &stats), 0);
	return stats.opackets;
}

/* The queue's PF is that of the sender's node after a few bursts. */
static void
send_from_node(int node)
{
	octo_port_run_on(node);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(rte_eth_tx_burst(port, 0, NULL, 0), 0);
		octo_port_pass_us(100);
	}
}

/* So many leave by this PF. */
static void
assert_leaves_by(const struct rte_ether_addr *src, unsigned int pf)
{
	struct rte_mbuf *pkts[BURST];
	const uint64_t before = sent_by(pf);

	make(src, pkts, BURST);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, BURST), BURST);
	assert_int_equal(sent_by(pf) - before, BURST);
	memset(&came, 0, sizeof(came));
	receive();
}

static void
test_the_first_address_becomes_that_of_the_pf(void **state)
{
	(void)state;
	up(&rewrite);
	send_from_node(0);
	assert_leaves_by(&macs[0], 0);
	assert_int_equal(came.from[0], BURST);
	assert_int_equal(octo_port_xstat(port, "tx_mac_rewritten"), 0);
	send_from_node(1);
	assert_leaves_by(&macs[0], 1);
	assert_int_equal(came.from[1], BURST);
	assert_int_equal(octo_port_xstat(port, "tx_mac_rewritten"), BURST);
}

/* The application has other addresses, and packets of others, as a bridge does. */
static void
test_other_addresses_stay(void **state)
{
	(void)state;
	up(&rewrite);
	send_from_node(1);
	assert_leaves_by(&other, 1);
	assert_int_equal(came.from_other, BURST);
	assert_leaves_by(&macs[1], 1);
	assert_int_equal(came.from[1], BURST);
	assert_int_equal(octo_port_xstat(port, "tx_mac_rewritten"), 0);
}

/* A frame that is returned has the address it was sent to: a bridge must not learn it here. */
static void
test_another_pfs_address_becomes_that_of_the_pf(void **state)
{
	(void)state;
	up(&rewrite);
	send_from_node(0);
	assert_leaves_by(&macs[1], 0);
	assert_int_equal(came.from[0], BURST);
	assert_int_equal(octo_port_xstat(port, "tx_mac_rewritten"), BURST);
}

/* Another may read the buffer: the packet keeps its address, and its place in the flow. */
static void
test_a_shared_packet_is_not_changed(void **state)
{
	struct rte_mbuf *pkts[4];

	(void)state;
	up(&rewrite);
	send_from_node(1);
	make(&macs[0], pkts, 4);
	rte_mbuf_refcnt_update(pkts[2], 1);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, 4), 4);
	receive();
	assert_int_equal(came.from[0], 1);
	assert_int_equal(came.from[1], 3);
	assert_int_equal(octo_port_xstat(port, "tx_mac_shared"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_mac_rewritten"), 3);
	rte_pktmbuf_free(pkts[2]);
}

/* More than a mask has bits; and what a full ring leaves is as the application made it. */
static void
test_packets_that_are_not_sent_stay_as_they_were(void **state)
{
	struct rte_mbuf *pkts[100];
	uint16_t sent = 0, n = 100;

	(void)state;
	up(&rewrite);
	send_from_node(1);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,tx_stuck,on"), 0);
	for (int i = 0; i < 100 && n == 100; i++) {
		make(&macs[0], pkts, 100);
		n = rte_eth_tx_burst(port, 0, pkts, 100);
		sent += n;
	}
	assert_true(n < 100);
	for (uint16_t i = 0; i < 100; i++) {
		const struct rte_ether_addr *src = rte_pktmbuf_mtod_offset(
			pkts[i], const struct rte_ether_addr *, RTE_ETHER_ADDR_LEN);

		if (i < n)
			continue;
		assert_true(rte_is_same_ether_addr(src, &macs[0]));
	}
	assert_int_equal(octo_port_xstat(port, "tx_mac_rewritten"), sent);
	rte_pktmbuf_free_bulk(pkts + n, 100 - n);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,tx_stuck,off"), 0);
}

/* The PF that is left has the first address. */
static void
test_a_lost_pf_leaves_its_address(void **state)
{
	(void)state;
	up(&rewrite);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	/* announcements */
	receive();
	send_from_node(0);
	assert_leaves_by(&macs[0], 1);
	assert_int_equal(came.from[0], BURST);
}

static void
test_the_source_address_chooses_the_pf(void **state)
{
	(void)state;
	up(&by_source);
	for (int node = 0; node < 2; node++) {
		send_from_node(node);
		assert_leaves_by(&macs[0], 0);
		assert_int_equal(came.from[0], BURST);
		assert_leaves_by(&macs[1], 1);
		assert_int_equal(came.from[1], BURST);
		assert_leaves_by(&other, 0);
		assert_int_equal(came.from_other, BURST);
	}
	assert_int_equal(octo_port_xstat(port, "tx_switches"), 0);
}

/* In turns: each packet goes its way, and all go. */
static void
test_a_burst_of_both_addresses(void **state)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t before;

	(void)state;
	up(&by_source);
	before = sent_by(1);
	for (uint16_t i = 0; i < BURST; i++)
		make(&macs[i / 3 % 2], &pkts[i], 1);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, BURST), BURST);
	receive();
	assert_int_equal(came.from[0], 17);
	assert_int_equal(came.from[1], 15);
	assert_int_equal(sent_by(1) - before, 15);
}

static void
test_the_address_of_a_lost_pf_is_that_of_another(void **state)
{
	(void)state;
	up(&by_source);
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	receive();
	assert_leaves_by(&macs[1], 0);
	assert_leaves_by(&macs[0], 0);
}

static void
test_the_application_takes_care(void **state)
{
	(void)state;
	up(&app);
	send_from_node(1);
	assert_leaves_by(&macs[0], 1);
	assert_int_equal(came.from[0], BURST);
}

/* All PFs have all addresses then, and this switch copies what is for several. */
static void
test_the_tier_below_changes_nothing(void **state)
{
	static const struct octo_port_conf *const confs[] = {&rewrite, &by_source};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(confs); i++) {
		struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX},
							   {.mask = UINT64_MAX}};

		up(confs[i]);
		assert_int_equal(rte_eth_dev_rss_reta_query(port, reta, 128), 0);
		send_from_node(1);
		assert_leaves_by(&macs[0], 1);
		assert_int_equal(came.from[0], came.all);
		octo_port_destroy();
	}
}

/* Its PFs have no RETA that could name queues. */
static void
test_a_port_that_only_sends(void **state)
{
	const struct octo_port_conf only_sends = {.nic = "switch=mac", .octo = "tier=mac"};
	const struct rte_eth_conf conf = {.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS};
	struct octo_view_topology view;

	(void)state;
	port = octo_port_create(&only_sends);
	assert_int_equal(rte_eth_dev_configure(port, 0, 1, &conf), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.tier, "mac");
	octo_port_send(port, 0, 100, BURST);
	octo_port_pass_us(10000);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), BURST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_first_address_becomes_that_of_the_pf),
		octo_port_test(test_other_addresses_stay),
		octo_port_test(test_another_pfs_address_becomes_that_of_the_pf),
		octo_port_test(test_a_shared_packet_is_not_changed),
		octo_port_test(test_packets_that_are_not_sent_stay_as_they_were),
		octo_port_test(test_a_lost_pf_leaves_its_address),
		octo_port_test(test_the_source_address_chooses_the_pf),
		octo_port_test(test_a_burst_of_both_addresses),
		octo_port_test(test_the_address_of_a_lost_pf_is_that_of_another),
		octo_port_test(test_the_application_takes_care),
		octo_port_test(test_the_tier_below_changes_nothing),
		octo_port_test(test_a_port_that_only_sends),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
