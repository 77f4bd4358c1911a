/* SPDX-License-Identifier: BSD-3-Clause */

/* What comes in at all, and what the port says of itself: alike on every PF, or on none. */

#include <rte_ether.h>
#include <rte_flow.h>

#include "octo_port.h"
#include "octo_port_fault.h"

static const struct octo_port_conf two_pfs;
static struct rte_ether_addr extra = {{0x02, 0, 0, 0, 0, 0x09}};
static struct rte_ether_addr own = {{0x02, 0, 0, 0, 0, 0x77}};

static bool
has_mac(uint16_t port, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr macs[64];
	int nb = rte_eth_macaddrs_get(port, macs, RTE_DIM(macs));

	for (int i = 0; i < nb; i++)
		if (rte_is_same_ether_addr(&macs[i], mac))
			return true;
	return false;
}

static void
assert_default_mac(uint16_t port, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr now;

	assert_int_equal(rte_eth_macaddr_get(port, &now), 0);
	assert_memory_equal(&now, mac, sizeof(now));
}

/* R7 */
static void
test_pfs_are_given_back_as_they_were(void **state)
{
	struct octo_port_faults *pf[2];
	struct rte_ether_addr before;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(0), &before), 0);
	port = octo_port_add(&two_pfs);
	pf[0] = octo_port_faults_on(0);
	pf[1] = octo_port_faults_on(1);
	assert_int_equal(rte_flow_isolate(port, 1, NULL), 0);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &extra, 0), 0);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, &own), 0);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_allmulticast_enable(port), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(has_mac(octo_port_pf(i), &extra));
		assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(i)), 1);
		assert_int_equal(rte_eth_allmulticast_get(octo_port_pf(i)), 1);
		assert_int_equal(pf[i]->isolated, 1);
	}
	octo_port_close_and_remove(port);
	for (unsigned int i = 0; i < 2; i++) {
		assert_false(has_mac(octo_port_pf(i), &extra));
		assert_default_mac(octo_port_pf(i), &before);
		assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(i)), 0);
		assert_int_equal(rte_eth_allmulticast_get(octo_port_pf(i)), 0);
		assert_int_equal(pf[i]->isolated, 0);
	}
}

/* R7: what the port before it had does not haunt the next. */
static void
test_a_new_port_starts_afresh(void **state)
{
	struct rte_ether_addr before;
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_int_equal(rte_eth_macaddr_get(port, &before), 0);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &extra, 0), 0);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, &own), 0);
	octo_port_close_and_remove(port);
	port = octo_port_add(&two_pfs);
	assert_default_mac(port, &before);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, &extra), 0);
	assert_default_mac(octo_port_pf(0), &extra);
	assert_default_mac(octo_port_pf(1), &extra);
}

/* R17 */
static void
test_the_mac_table_does_not_grow(void **state)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	octo_port_faults_on(1)->max_macs = 4;
	port = octo_port_add(&two_pfs);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_mac_addrs, 4);
	octo_port_up(port, 1);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_mac_addrs, 4);
	for (uint8_t i = 1; i < 4; i++) {
		struct rte_ether_addr mac = {{0x02, 0, 0, 0, 1, i}};

		assert_int_equal(rte_eth_dev_mac_addr_add(port, &mac, 0), 0);
	}
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &extra, 0), -ENOSPC);
}

/* R21: what one PF refuses is undone on the others, to what it was. */
static void
test_isolate_is_rolled_back(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *first = octo_port_faults_on(0);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow_error error = {.message = NULL};

	(void)state;
	second->isolate = EBUSY;
	assert_int_equal(rte_flow_isolate(port, 1, &error), -EBUSY);
	assert_non_null(strstr(error.message, octo_port_pf_name(1)));
	assert_int_equal(first->isolated, 0);
	second->isolate = 0;
	assert_int_equal(rte_flow_isolate(port, 1, &error), 0);
	assert_int_equal(first->isolated, 1);
	second->isolate = EBUSY;
	assert_int_equal(rte_flow_isolate(port, 1, &error), -EBUSY);
	assert_int_equal(first->isolated, 1);
	assert_int_equal(rte_flow_isolate(port, 0, &error), -EBUSY);
	assert_int_equal(first->isolated, 1);
	assert_int_equal(second->isolated, 1);
}

/* R22: ethdev forgets the address in any case. */
static void
test_an_address_is_removed_where_it_can_be(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &extra, 0), 0);
	assert_true(has_mac(octo_port_pf(1), &extra));
	octo_port_lack_mac_remove(0);
	assert_int_equal(rte_eth_dev_mac_addr_remove(port, &extra), 0);
	assert_false(has_mac(octo_port_pf(1), &extra));
}

static void
assert_tier(uint16_t port, const char *tier, int proxy)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.tier, tier);
	for (int i = 0; i < view.nb_pfs; i++)
		assert_int_equal(view.pf[i].transfer_proxy, i == proxy);
}

static void
restart(uint16_t port)
{
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

/* R24 */
static void
test_without_mpfs_there_is_no_proxy(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *first = octo_port_faults_on(0);

	(void)state;
	octo_port_up(port, 2);
	assert_tier(port, "exact", 0);
	first->validate_transfer = ENOTSUP;
	restart(port);
	assert_tier(port, "queue", -1);
	first->validate_transfer = 0;
	restart(port);
	assert_tier(port, "exact", 0);
	first->validate_ingress = ENOTSUP;
	restart(port);
	assert_tier(port, "none", -1);
	first->validate_ingress = 0;
	restart(port);
	assert_tier(port, "exact", 0);
	octo_port_remove_pf(0);
	octo_port_await(octo_port_is_proxy(port, 1));
	assert_tier(port, "exact", 1);
	restart(port);
	assert_tier(port, "exact", 1);
}

/* Without the MPFS flows reach their queue all the same, as strays. */
static void
test_tier_queue_delivers(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_faults_on(0)->validate_transfer = ENOTSUP;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), -1);
	octo_port_send(port, 0, 7, 100);
	octo_port_receive(port, 1, 100, &tally);
	assert_int_equal(tally.packets, 100);
	assert_int_equal(octo_port_xstat(port, "rx_q1_stray_packets"), 100);
}

/* The same on all PFs, wherever it is changed. */
#define LARGE_RETA 2048

static void
test_a_large_reta(void **state)
{
	const struct octo_port_conf conf = {.octo = "tier=exact"};
	const struct rte_eth_conf rss = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP,
	};
	struct rte_eth_rss_reta_entry64 reta[LARGE_RETA / 64] = {0};
	uint16_t port = octo_port_create(&conf);
	struct octo_port_faults *pf[] = {octo_port_faults_on(0), octo_port_faults_on(1)};
	struct rte_eth_dev_info info;

	(void)state;
	pf[0]->reta_size = LARGE_RETA;
	pf[1]->reta_size = LARGE_RETA;
	octo_port_up_as(port, 3, &rss);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.reta_size, LARGE_RETA);
	for (unsigned int i = 0; i < LARGE_RETA; i++) {
		assert_int_equal(pf[0]->reta[i], i % 3);
		assert_int_equal(pf[1]->reta[i], i % 3);
	}
	reta[LARGE_RETA / 64 - 1].mask = RTE_BIT64(63);
	assert_int_equal(rte_eth_dev_rss_reta_update(port, reta, LARGE_RETA), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(pf[i]->reta[LARGE_RETA - 2], (LARGE_RETA - 2) % 3);
		assert_int_equal(pf[i]->reta[LARGE_RETA - 1], 0);
	}
}

/* Then the port offers none, and warns. */
static void
test_a_reta_that_is_too_large(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_info info;

	(void)state;
	octo_port_faults_on(0)->reta_size = 2 * LARGE_RETA;
	octo_port_faults_on(1)->reta_size = 2 * LARGE_RETA;
	octo_port_up(port, 3);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.reta_size, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_pfs_are_given_back_as_they_were),
		octo_port_test(test_a_new_port_starts_afresh),
		octo_port_test(test_the_mac_table_does_not_grow),
		octo_port_test(test_isolate_is_rolled_back),
		octo_port_test(test_an_address_is_removed_where_it_can_be),
		octo_port_test(test_without_mpfs_there_is_no_proxy),
		octo_port_test(test_tier_queue_delivers),
		octo_port_test(test_a_large_reta),
		octo_port_test(test_a_reta_that_is_too_large),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
