/* SPDX-License-Identifier: BSD-3-Clause */

/* Tier mac: PFs that are away when the port is made, starts, or closes, or all at once. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define BURST 32
#define QUEUES 4

static const struct octo_port_conf by_mac = {.nic = "switch=mac",
					     .octo = "tier=mac",
					     .replug = true};

static uint16_t port;
static struct rte_ether_addr macs[2];

static void
read_macs(void)
{
	assert_true(rte_eth_macaddrs_get(port, macs, RTE_DIM(macs)) > 0);
}

static void
up(const struct octo_port_conf *conf)
{
	port = octo_port_create(conf);
	read_macs();
	octo_port_up(port, QUEUES);
}

static void
restart(void)
{
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static unsigned int
receive(void)
{
	struct rte_mbuf *pkts[BURST];
	unsigned int came = 0;

	for (unsigned int i = 0; i < 50; i++) {
		for (uint16_t q = 0; q < QUEUES; q++) {
			const uint16_t got = rte_eth_rx_burst(port, q, pkts, BURST);

			rte_pktmbuf_free_bulk(pkts, got);
			came += got;
		}
	}
	return came;
}

static uint64_t
received_by(unsigned int pf)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(octo_port_pf(pf), &stats), 0);
	return stats.ipackets;
}

/* All flows to the address come once, by this PF. */
static void
assert_comes_by(const struct rte_ether_addr *dst, unsigned int pf)
{
	const uint64_t before = received_by(pf);
	struct rte_mbuf *pkts[BURST];

	for (unsigned int i = 0; i < BURST; i++) {
		octo_port_make(port, (uint16_t)(100 + i), &pkts[i], 1);
		memcpy(rte_pktmbuf_mtod(pkts[i], void *), dst, sizeof(*dst));
	}
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, BURST), BURST);
	assert_int_equal(receive(), BURST);
	assert_int_equal(received_by(pf) - before, BURST);
}

static void
lose_pf(unsigned int pf)
{
	octo_port_remove_pf(pf);
	octo_port_pass_us(20000);
	/* announcements */
	receive();
}

/* ethdev sets the address again at each start. */
static void
test_a_restart_leaves_the_address_with_its_holder(void **state)
{
	/* a start looks for PFs otherwise */
	static const struct octo_port_conf no_replug = {.nic = "switch=mac", .octo = "tier=mac"};

	(void)state;
	up(&no_replug);
	lose_pf(0);
	restart();
	assert_false(octo_port_pf_is_there(0));
	assert_comes_by(&macs[0], 1);
	assert_comes_by(&macs[1], 1);
}

static void
test_the_address_that_the_port_has_is_set_again(void **state)
{
	(void)state;
	up(&by_mac);
	lose_pf(0);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, &macs[0]), 0);
	assert_comes_by(&macs[0], 1);
}

/* PF 0 had no link when the port was stopped, and has it when it starts. */
static void
test_a_start_forgets_which_pfs_had_link(void **state)
{
	(void)state;
	up(&by_mac);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	octo_port_pass_us(200000);
	receive();
	assert_comes_by(&macs[0], 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(0)), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_comes_by(&macs[0], 0);
}

static const char *
tier(void)
{
	static struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.tier;
}

static void
get_back_pf(unsigned int pf)
{
	octo_port_add_pf(&by_mac, pf);
	for (int i = 0; i < 500 && !octo_port_pf_is_started(port, pf); i++) {
		octo_port_pass_us(10000);
		octo_port_await_interrupts();
	}
	assert_true(octo_port_pf_is_started(port, pf));
	octo_port_pass_us(100000);
	receive();
}

static void
create_without_pf_1(void)
{
	/* EAL may know it from another test, and octo would probe it */
	octo_port_add_pf(&by_mac, 1);
	octo_port_forget_pf(1);
	octo_port_add_pf(&by_mac, 0);
	port = octo_port_add(&by_mac);
	read_macs();
}

/* The port's MAC table has no address of it. */
static void
test_a_pf_that_comes_before_the_first_start(void **state)
{
	(void)state;
	create_without_pf_1();
	octo_port_add_pf(&by_mac, 1);
	octo_port_await_interrupts();
	octo_port_up(port, QUEUES);
	assert_true(octo_port_pf_is_started(port, 1));
	assert_string_equal(tier(), "queue");
}

static void
test_a_pf_that_comes_before_a_restart(void **state)
{
	(void)state;
	create_without_pf_1();
	octo_port_up(port, QUEUES);
	get_back_pf(1);
	restart();
	assert_true(octo_port_pf_is_started(port, 1));
	assert_string_equal(tier(), "queue");
}

static bool
has_mac(unsigned int pf, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr list[16];
	const int nb = rte_eth_macaddrs_get(octo_port_pf(pf), list, RTE_DIM(list));

	for (int i = 0; i < nb; i++)
		if (rte_is_same_ether_addr(&list[i], mac))
			return true;
	return false;
}

/* It is designated before and after. */
static void
test_pf_0_returns_when_all_are_lost(void **state)
{
	struct rte_ether_addr extra = {{0x02, 0, 0, 0, 0, 0x33}};
	struct rte_ether_addr group = {{0x01, 0, 0x5e, 0, 0, 0x01}};

	(void)state;
	up(&by_mac);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_allmulticast_enable(port), 0);
	assert_int_equal(rte_eth_dev_set_mc_addr_list(port, &group, 1), 0);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &extra, 0), 0);
	lose_pf(1);
	lose_pf(0);
	get_back_pf(0);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(0)), 1);
	assert_int_equal(rte_eth_allmulticast_get(octo_port_pf(0)), 1);
	assert_true(has_mac(0, &extra));
	/* the group alone lets its frames in */
	assert_int_equal(rte_eth_promiscuous_disable(port), 0);
	assert_int_equal(rte_eth_allmulticast_disable(port), 0);
	assert_comes_by(&group, 0);
}

/* PMDs that cannot remove addresses say so whether or not they have the address. */
static void
test_pfs_that_cannot_remove_addresses(void **state)
{
	static const struct octo_port_conf two_pfs = {.nic = "switch=mac"};
	char *text = NULL;
	size_t size = 0;
	FILE *log = open_memstream(&text, &size);

	(void)state;
	assert_non_null(log);
	port = octo_port_create(&two_pfs);
	octo_port_lack_mac_remove(0);
	octo_port_lack_mac_remove(1);
	rte_openlog_stream(log);
	octo_port_up(port, QUEUES);
	rte_openlog_stream(NULL);
	fclose(log);
	octo_port_faults_off();
	assert_null(strstr(text, "keeps MAC address"));
	free(text);
}

/* It cannot give back an address that it had for another PF, and that is said. */
static void
test_a_pf_that_keeps_an_address(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *log = open_memstream(&text, &size);

	(void)state;
	assert_non_null(log);
	up(&by_mac);
	lose_pf(0);
	assert_true(has_mac(1, &macs[0]));
	octo_port_lack_mac_remove(1);
	rte_openlog_stream(log);
	get_back_pf(0);
	rte_openlog_stream(NULL);
	fclose(log);
	assert_true(has_mac(1, &macs[0]));
	octo_port_faults_off();
	assert_non_null(strstr(text, "PF net_mpsim1 keeps MAC address 0"));
	free(text);
}

static void
test_a_close_takes_the_first_address_back(void **state)
{
	(void)state;
	up(&by_mac);
	lose_pf(0);
	assert_true(has_mac(1, &macs[0]));
	octo_port_close_and_remove(port);
	assert_false(has_mac(1, &macs[0]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_restart_leaves_the_address_with_its_holder),
		octo_port_test(test_the_address_that_the_port_has_is_set_again),
		octo_port_test(test_a_start_forgets_which_pfs_had_link),
		octo_port_test(test_a_pf_that_comes_before_the_first_start),
		octo_port_test(test_a_pf_that_comes_before_a_restart),
		octo_port_test(test_pf_0_returns_when_all_are_lost),
		octo_port_test(test_pfs_that_cannot_remove_addresses),
		octo_port_test(test_a_close_takes_the_first_address_back),
		octo_port_test(test_a_pf_that_keeps_an_address),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
