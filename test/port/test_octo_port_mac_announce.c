/* SPDX-License-Identifier: BSD-3-Clause */

/* Tier mac: a frame tells of each address that moves to another PF. */

#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "octo_port.h"

#include "mpsim_control.h"

#define BURST 32
#define QUEUES 2

static const struct octo_port_conf by_mac = {.nic = "switch=mac",
					     .octo = "tier=mac",
					     .replug = true};
static const struct octo_port_conf few_queues = {.nic = "switch=mac",
						 .all = "queues=2",
						 .octo = "tier=mac",
						 .replug = true};

static const struct rte_eth_conf with_rss = {
	.intr_conf.lsc = 1,
	.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP,
};

static uint16_t port;
static struct rte_ether_addr macs[2];

static void
up(const struct octo_port_conf *conf)
{
	port = octo_port_create(conf);
	assert_true(rte_eth_macaddrs_get(port, macs, RTE_DIM(macs)) > 0);
	octo_port_up_as(port, QUEUES, &with_rss);
}

static bool
tells_of(const struct rte_mbuf *m, const struct rte_ether_addr *mac)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	const struct rte_arp_hdr *arp = (const void *)(eth + 1);

	return eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_RARP) &&
	       rte_is_broadcast_ether_addr(&eth->dst_addr) &&
	       rte_is_same_ether_addr(&eth->src_addr, mac) &&
	       rte_is_same_ether_addr(&arp->arp_data.arp_sha, mac);
}

/* Announcements of this address that came back; nothing else comes. */
static unsigned int
heard_of(const struct rte_ether_addr *mac)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int heard = 0;

	for (int i = 0; i < 50; i++) {
		for (uint16_t q = 0; q < QUEUES; q++) {
			const uint16_t got = rte_eth_rx_burst(port, q, pkts, BURST);

			for (uint16_t k = 0; k < got; k++) {
				assert_true(tells_of(pkts[k], mac));
				heard++;
			}
			rte_pktmbuf_free_bulk(pkts, got);
		}
	}
	return heard;
}

static uint64_t
sent_by(unsigned int pf)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(octo_port_pf(pf), &stats), 0);
	return stats.opackets;
}

static void
get_back_pf(const struct octo_port_conf *conf, unsigned int pf)
{
	octo_port_add_pf(conf, pf);
	for (int i = 0; i < 500 && !octo_port_pf_is_started(port, pf); i++) {
		octo_port_pass_us(10000);
		octo_port_await_interrupts();
	}
	assert_true(octo_port_pf_is_started(port, pf));
	octo_port_pass_us(100000);
}

static void
test_each_move_is_announced_once(void **state)
{
	(void)state;
	up(&by_mac);
	octo_port_pass_us(20000);
	assert_int_equal(heard_of(&macs[0]), 0);
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	assert_int_equal(sent_by(0), 1);
	assert_int_equal(heard_of(&macs[1]), 1);
	assert_int_equal(octo_port_xstat(port, "mac_announcements"), 1);
	get_back_pf(&by_mac, 1);
	assert_int_equal(sent_by(0), 1);
	assert_int_equal(sent_by(1), 1);
	assert_int_equal(heard_of(&macs[1]), 1);
	assert_int_equal(octo_port_xstat(port, "mac_announcements"), 2);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	assert_int_equal(heard_of(&macs[0]), 1);
}

/* A PF is plugged while the port cannot send. */
static void
test_a_move_while_the_port_is_stopped(void **state)
{
	(void)state;
	up(&by_mac);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	assert_int_equal(heard_of(&macs[0]), 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_add_pf(&by_mac, 0);
	octo_port_await_interrupts();
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_pass_us(100000);
	assert_int_equal(sent_by(0), 1);
	assert_int_equal(heard_of(&macs[0]), 1);
	/* nothing moves at the next start */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_pass_us(100000);
	assert_int_equal(octo_port_xstat(port, "mac_announcements"), 2);
}

/* No packet of the application's queues is in its way, or waits for it. */
static void
test_a_move_by_a_pf_that_cannot_send(void **state)
{
	(void)state;
	up(&by_mac);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,tx_stuck,on"), 0);
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	assert_int_equal(heard_of(&macs[1]), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,tx_stuck,off"), 0);
	octo_port_pass_us(100000);
	assert_int_equal(heard_of(&macs[1]), 1);
}

static unsigned int
receive(void)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int received = 0;

	for (int i = 0; i < 50; i++) {
		for (uint16_t q = 0; q < QUEUES; q++) {
			const uint16_t got = rte_eth_rx_burst(port, q, pkts, BURST);

			rte_pktmbuf_free_bulk(pkts, got);
			received += got;
		}
	}
	return received;
}

/* The ring is full: the announcement follows when it is not. */
static void
test_an_announcement_that_is_late(void **state)
{
	uint64_t before;

	(void)state;
	up(&by_mac);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,tx_stuck,on"), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
		octo_port_pass_us(20000);
		assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
		octo_port_pass_us(20000);
	}
	receive();
	before = octo_port_xstat(port, "mac_announcements");
	assert_true(before < 199);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,tx_stuck,off"), 0);
	for (int i = 0; i < 10; i++) {
		octo_port_pass_us(20000);
		receive();
	}
	assert_int_equal(octo_port_xstat(port, "mac_announcements"), before + 1);
}

static void
test_pfs_without_a_queue_for_it(void **state)
{
	struct octo_view_topology view;

	(void)state;
	up(&few_queues);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.tier, "mac");
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_int_equal(view.pf[1].mac_holder, 0);
	assert_int_equal(heard_of(&macs[1]), 0);
	assert_int_equal(octo_port_xstat(port, "mac_announcements"), 0);
	/* with a queue less there is one */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up_as(port, 1, &with_rss);
	octo_port_pass_us(20000);
	get_back_pf(&few_queues, 1);
	assert_int_equal(octo_port_xstat(port, "mac_announcements"), 1);
}

static uint16_t
tx_queues_of(unsigned int pf)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(pf), &info), 0);
	return info.nb_tx_queues;
}

/* A device that pairs the queues and has no RETA may send packets to the one that is added. */
static void
test_a_queue_that_could_receive(void **state)
{
	const struct rte_eth_conf without_rss = {.intr_conf.lsc = 1};

	(void)state;
	up(&by_mac);
	assert_int_equal(tx_queues_of(0), QUEUES + 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, QUEUES);
	assert_int_equal(tx_queues_of(0), QUEUES);
	assert_int_equal(tx_queues_of(1), QUEUES);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	/* as many as received by already */
	assert_int_equal(rte_eth_dev_configure(port, QUEUES, QUEUES - 1, &without_rss), 0);
	assert_int_equal(tx_queues_of(0), QUEUES);
	assert_int_equal(rte_eth_dev_configure(port, QUEUES, QUEUES, &with_rss), 0);
	assert_int_equal(tx_queues_of(0), QUEUES + 1);
}

static void
count_pool(struct rte_mempool *pool, void *count)
{
	*(unsigned int *)count += strncmp(pool->name, "octo_mac_", 9) == 0;
}

static unsigned int
count_pools(void)
{
	unsigned int count = 0;

	rte_mempool_walk(count_pool, &count);
	return count;
}

static void
test_a_close_frees_its_pool(void **state)
{
	(void)state;
	up(&by_mac);
	assert_int_equal(count_pools(), 1);
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	assert_int_equal(heard_of(&macs[1]), 1);
	octo_port_close_and_remove(port);
	assert_int_equal(count_pools(), 0);
}

/* A frame is in the ring of a PF that is stopped. */
static void
test_a_close_frees_frames_that_were_not_sent(void **state)
{
	(void)state;
	up(&by_mac);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,tx_stuck,on"), 0);
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	octo_port_close_and_remove(port);
	assert_int_equal(count_pools(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_each_move_is_announced_once),
		octo_port_test(test_a_move_while_the_port_is_stopped),
		octo_port_test(test_a_move_by_a_pf_that_cannot_send),
		octo_port_test(test_an_announcement_that_is_late),
		octo_port_test(test_pfs_without_a_queue_for_it),
		octo_port_test(test_a_queue_that_could_receive),
		octo_port_test(test_a_close_frees_its_pool),
		octo_port_test(test_a_close_frees_frames_that_were_not_sent),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
