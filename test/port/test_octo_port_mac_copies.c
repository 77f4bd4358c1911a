/* SPDX-License-Identifier: BSD-3-Clause */

/* Tier mac: copies for a promiscuous PF that wait in its rings when another mode or PF comes. */

#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "octo_port.h"

#define BURST 32
#define QUEUES 4

static const struct octo_port_conf three_pfs = {.nb_pfs = 3,
						.nic = "switch=mac",
						.octo = "tier=mac"};

static uint16_t port;
static struct rte_ether_addr macs[8];

static void
up_promiscuous(void)
{
	const struct rte_eth_conf eth = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
	};

	port = octo_port_create(&three_pfs);
	assert_true(rte_eth_macaddrs_get(port, macs, RTE_DIM(macs)) > 0);
	octo_port_up_as(port, QUEUES, &eth);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
}

/* Another PF takes the frames from the wire: they wait in the rings of those they are for. */
static void
send_unpolled(const struct rte_ether_addr *dst, unsigned int taker)
{
	struct rte_mbuf *pkts[BURST];

	for (unsigned int i = 0; i < BURST; i++) {
		octo_port_make(port, (uint16_t)(100 + i), &pkts[i], 1);
		memcpy(rte_pktmbuf_mtod(pkts[i], void *), dst, sizeof(*dst));
	}
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, BURST), BURST);
	assert_int_equal(rte_eth_rx_burst(octo_port_pf(taker), 0, pkts, BURST), 0);
}

static unsigned int
receive(void)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int came = 0;

	for (unsigned int i = 0; i < 50 * QUEUES; i++) {
		const uint16_t got = rte_eth_rx_burst(port, i % QUEUES, pkts, BURST);

		rte_pktmbuf_free_bulk(pkts, got);
		came += got;
	}
	return came;
}

static void
test_a_mode_that_ends(void **state)
{
	(void)state;
	up_promiscuous();
	send_unpolled(&macs[1], 2);
	assert_int_equal(rte_eth_promiscuous_disable(port), 0);
	assert_int_equal(receive(), BURST);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), BURST);
}

/* A PF that starts has none. */
static void
test_a_start_after_the_mode(void **state)
{
	(void)state;
	up_promiscuous();
	assert_int_equal(rte_eth_promiscuous_disable(port), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	/* not that octo did not ask for */
	assert_int_equal(rte_eth_promiscuous_enable(octo_port_pf(0)), 0);
	send_unpolled(&macs[1], 2);
	assert_int_equal(receive(), 2 * BURST);
}

static void
set_link(unsigned int pf, bool up)
{
	const uint16_t of_pf = octo_port_pf(pf);

	assert_int_equal(up ? rte_eth_dev_set_link_up(of_pf) : rte_eth_dev_set_link_down(of_pf), 0);
	octo_port_pass_us(200000);
}

/* It drops copies of what others deliver, but not what came for the address that it had. */
static void
test_a_pf_that_was_designated(void **state)
{
	(void)state;
	up_promiscuous();
	set_link(0, false);
	/* an announcement */
	assert_int_equal(receive(), 1);
	send_unpolled(&macs[2], 0);
	send_unpolled(&macs[0], 0);
	set_link(0, true);
	assert_int_equal(receive(), 2 * BURST + 1);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), BURST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_mode_that_ends),
		octo_port_test(test_a_start_after_the_mode),
		octo_port_test(test_a_pf_that_was_designated),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
