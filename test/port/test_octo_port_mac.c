/* SPDX-License-Identifier: BSD-3-Clause */

/* Tier mac: each PF has an address, by which its packets come; how addresses move, and when not. */

#include <errno.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define BURST 32
#define QUEUES 4

static const struct octo_port_conf by_mac = {.nic = "switch=mac", .octo = "tier=mac"};
static const struct octo_port_conf replugged = {.nic = "switch=mac",
						.octo = "tier=mac",
						.replug = true};
static const struct octo_port_conf one_address = {.octo = "tier=mac"};
static const struct octo_port_conf three_pfs = {.nb_pfs = 3,
						.nic = "switch=mac",
						.octo = "tier=mac"};

static const struct rte_ether_addr extra = {{0x02, 0, 0, 0, 0, 0x33}};
static const struct rte_ether_addr other = {{0x02, 0, 0, 0, 0, 0x44}};

static uint16_t port;
static struct rte_ether_addr macs[8];

static const char *
tier(void)
{
	static struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.tier;
}

static struct rte_ether_addr *
unconst(const struct rte_ether_addr *mac)
{
	return (struct rte_ether_addr *)(uintptr_t)mac;
}

static void
read_macs(void)
{
	assert_true(rte_eth_macaddrs_get(port, macs, RTE_DIM(macs)) > 0);
}

/* A port that hashes, with this key or its own. */
static void
up(const struct octo_port_conf *conf, uint8_t *key)
{
	const struct rte_eth_conf eth = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf = {.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
					 .rss_key = key,
					 .rss_key_len = key == NULL ? 0 : 40},
	};

	port = octo_port_create(conf);
	read_macs();
	octo_port_up_as(port, QUEUES, &eth);
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

/* Send so many flows to this address by queue 0; returns how many packets came. */
static unsigned int
talk(const struct rte_ether_addr *dst, unsigned int flows)
{
	struct rte_mbuf *pkts[BURST];

	assert_true(flows <= BURST);
	for (unsigned int i = 0; i < flows; i++) {
		octo_port_make(port, (uint16_t)(100 + i), &pkts[i], 1);
		memcpy(rte_pktmbuf_mtod(pkts[i], void *), dst, sizeof(*dst));
	}
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, (uint16_t)flows), flows);
	return receive();
}

static uint64_t
received_by(unsigned int pf)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(octo_port_pf(pf), &stats), 0);
	return stats.ipackets;
}

/* The view shows this PF as designated, and these as the receivers of the addresses. */
static void
assert_shown(unsigned int designated, unsigned int of_0, unsigned int of_1)
{
	const unsigned int holder[] = {of_0, of_1};
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	for (unsigned int pf = 0; pf < RTE_DIM(holder); pf++) {
		assert_true(rte_is_same_ether_addr(&view.pf[pf].mac, &macs[pf]));
		assert_int_equal(view.pf[pf].mac_holder, holder[pf]);
		assert_int_equal(view.pf[pf].designated, pf == designated);
	}
}

/* All flows to the address come once, by this PF. */
static void
assert_comes_by(const struct rte_ether_addr *dst, unsigned int pf)
{
	const uint64_t before = received_by(pf);

	assert_int_equal(talk(dst, BURST), BURST);
	assert_int_equal(received_by(pf) - before, BURST);
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

static void
test_each_address_leads_to_its_pf(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_string_equal(tier(), "mac");
	for (unsigned int pf = 0; pf < 2; pf++) {
		struct rte_ether_addr of_pf;

		assert_int_equal(rte_eth_macaddr_get(octo_port_pf(pf), &of_pf), 0);
		assert_true(rte_is_same_ether_addr(&of_pf, &macs[pf]));
		assert_comes_by(&macs[pf], pf);
	}
	assert_true(rte_is_zero_ether_addr(&macs[2]));
	assert_shown(0, 0, 1);
	/* queue Q is at home on PF Q % 2 */
	assert_int_equal(octo_port_reta_of(0), 0x5);
	assert_int_equal(octo_port_reta_of(1), 0xa);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_a_pf_without_queues_has_a_reta(void **state)
{
	const struct rte_eth_conf eth = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
	};

	(void)state;
	port = octo_port_create(&three_pfs);
	read_macs();
	octo_port_up_as(port, 2, &eth);
	assert_string_equal(tier(), "mac");
	assert_int_equal(octo_port_reta_of(0), 0x1);
	assert_int_equal(octo_port_reta_of(1), 0x2);
	assert_int_equal(octo_port_reta_of(2), 0x3);
}

/* Addresses that were shown lead to the port in any tier. */
static void
test_the_tier_below_has_all_addresses(void **state)
{
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};

	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_rss_reta_query(port, reta, 128), 0);
	assert_string_equal(tier(), "queue");
	assert_int_equal(octo_port_reta_of(0), 0xf);
	assert_int_equal(octo_port_reta_of(1), 0xf);
	for (unsigned int pf = 0; pf < 2; pf++)
		for (unsigned int i = 0; i < 2; i++)
			assert_true(has_mac(pf, &macs[i]));
	/* until it is configured again */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_string_equal(tier(), "queue");
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, QUEUES);
	assert_string_equal(tier(), "mac");
	assert_false(has_mac(0, &macs[1]));
	assert_false(has_mac(1, &macs[0]));
}

static void
test_an_application_that_sets_the_key_gets_the_tier_below(void **state)
{
	uint8_t key[40] = {1, 2, 3};

	(void)state;
	up(&by_mac, key);
	assert_string_equal(tier(), "queue");
}

static void
test_pfs_with_one_address_get_the_tier_below(void **state)
{
	(void)state;
	up(&one_address, NULL);
	assert_string_equal(tier(), "queue");
	assert_true(rte_is_zero_ether_addr(&macs[1]));
	assert_comes_by(&macs[0], 0);
}

/* It needs no rules, and says so of those that it cannot have. */
static void
test_pfs_that_take_no_rules(void **state)
{
	static const struct octo_port_conf no_rules = {
		.nic = "switch=mac", .all = "caps=-arfs", .octo = "tier=mac"};
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};
	struct rte_flow_error error;

	(void)state;
	up(&no_rules, NULL);
	assert_string_equal(tier(), "mac");
	assert_null(octo_port_steer(port, 100, 1, &error));
	assert_non_null(error.message);
	assert_comes_by(&macs[1], 1);
	assert_int_equal(rte_eth_dev_rss_reta_query(port, reta, 128), 0);
	assert_string_equal(tier(), "none");
}

static void
test_rules_choose_the_queue_only(void **state)
{
	struct octo_port_tally tally = {0};
	struct rte_flow_error error;

	(void)state;
	up(&by_mac, NULL);
	assert_non_null(octo_port_steer(port, 100, 2, &error));
	assert_int_equal(octo_port_rule_pf(port, 100), -1);
	octo_port_send(port, 0, 100, 4);
	octo_port_receive(port, 2, 4, &tally);
	assert_int_equal(tally.packets, 4);
}

static void
test_the_first_address_can_be_changed(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, unconst(&other)), 0);
	assert_comes_by(&other, 0);
	assert_false(has_mac(1, &other));
	assert_int_equal(talk(&macs[0], 1), 0);
	/* that of another PF is not free */
	assert_int_not_equal(rte_eth_dev_default_mac_addr_set(port, &macs[1]), 0);
	assert_comes_by(&macs[1], 1);
	assert_comes_by(&other, 0);
}

static bool secondary;

/* The driver asks this one. */
enum rte_proc_type_t
rte_eal_process_type(void)
{
	return secondary ? RTE_PROC_SECONDARY : RTE_PROC_PRIMARY;
}

static void
test_a_secondary_changes_no_address(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	secondary = true;
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, unconst(&other)), -ENOTSUP);
	secondary = false;
	assert_comes_by(&macs[0], 0);
}

static void
test_an_added_address_is_on_one_pf(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, unconst(&extra), 0), 0);
	assert_comes_by(&extra, 0);
	assert_false(has_mac(1, &extra));
	assert_int_equal(rte_eth_dev_mac_addr_remove(port, unconst(&extra)), 0);
	assert_int_equal(talk(&extra, 1), 0);
}

static void
test_the_address_of_a_pf_cannot_be_removed(void **state)
{
	struct rte_ether_addr before;

	(void)state;
	up(&by_mac, NULL);
	before = macs[1];
	rte_eth_dev_mac_addr_remove(port, &macs[1]);
	octo_port_pass_us(20000);
	read_macs();
	assert_true(rte_is_same_ether_addr(&macs[1], &before));
	assert_comes_by(&before, 1);
}

static void
test_the_address_of_a_pf_can_be_added(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &macs[1], 0), 0);
	assert_comes_by(&macs[1], 1);
	/* its entry looks free until it is asked for */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	rte_eth_dev_mac_addr_remove(port, &macs[1]);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, unconst(&extra), 0), -EAGAIN);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, unconst(&extra), 0), 0);
}

static void
test_modes_are_of_one_pf(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_allmulticast_enable(port), 0);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(0)), 1);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(1)), 0);
	assert_int_equal(rte_eth_allmulticast_get(octo_port_pf(0)), 1);
	assert_int_equal(rte_eth_allmulticast_get(octo_port_pf(1)), 0);
}

/* Set before the start, they are of all PFs: then all but one lose them. */
static void
test_modes_from_before_the_start(void **state)
{
	(void)state;
	port = octo_port_create(&by_mac);
	read_macs();
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, unconst(&extra), 0), 0);
	octo_port_up(port, QUEUES);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(0)), 1);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(1)), 0);
	assert_true(has_mac(0, &extra));
	assert_false(has_mac(1, &extra));
}

static void
lose_pf(unsigned int pf)
{
	octo_port_remove_pf(pf);
	octo_port_pass_us(20000);
	/* announcements */
	receive();
}

static void
get_back_pf(unsigned int pf)
{
	octo_port_add_pf(&replugged, pf);
	for (int i = 0; i < 500 && !octo_port_pf_is_started(port, pf); i++) {
		octo_port_pass_us(10000);
		octo_port_await_interrupts();
	}
	assert_true(octo_port_pf_is_started(port, pf));
	octo_port_pass_us(100000);
	receive();
}

static void
test_the_address_of_a_lost_pf_moves(void **state)
{
	(void)state;
	up(&replugged, NULL);
	lose_pf(1);
	assert_shown(0, 0, 0);
	assert_comes_by(&macs[1], 0);
	assert_comes_by(&macs[0], 0);
	get_back_pf(1);
	assert_string_equal(tier(), "mac");
	assert_false(has_mac(0, &macs[1]));
	assert_comes_by(&macs[1], 1);
	assert_comes_by(&macs[0], 0);
}

/* The one that is promiscuous, and has groups and added addresses. */
static void
test_the_designated_pf_is_lost(void **state)
{
	(void)state;
	up(&replugged, NULL);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, unconst(&extra), 0), 0);
	lose_pf(0);
	assert_shown(1, 1, 1);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(1)), 1);
	assert_comes_by(&macs[0], 1);
	assert_comes_by(&macs[1], 1);
	assert_comes_by(&extra, 1);
	/* PF 0 will have the new one */
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, unconst(&other)), 0);
	assert_comes_by(&other, 1);
	assert_false(has_mac(1, &macs[0]));
	get_back_pf(0);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(0)), 1);
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(1)), 0);
	assert_false(has_mac(1, &other));
	assert_false(has_mac(1, &extra));
	assert_true(has_mac(0, &other));
	assert_true(has_mac(0, &extra));
}

static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
static const struct rte_ether_addr group = {{0x01, 0, 0x5e, 0, 0, 0x01}};

/* Each PF receives it, and one delivers it. */
static void
test_a_frame_to_all_comes_once(void **state)
{
	uint64_t before[2];

	(void)state;
	up(&by_mac, NULL);
	before[0] = received_by(0);
	before[1] = received_by(1);
	assert_int_equal(talk(&broadcast, BURST), BURST);
	assert_int_equal(received_by(0) - before[0], BURST);
	assert_int_equal(received_by(1) - before[1], BURST);
	assert_int_equal(octo_port_xstat(port, "rx_mac_group_copies"), BURST);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), 0);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_a_group_is_joined_by_one_pf(void **state)
{
	struct rte_ether_addr list = group;

	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(talk(&group, 1), 0);
	assert_int_equal(rte_eth_dev_set_mc_addr_list(port, &list, 1), 0);
	assert_comes_by(&group, 0);
	assert_int_equal(octo_port_xstat(port, "rx_mac_group_copies"), 0);
	/* a PF may have groups that octo did not ask for */
	assert_int_equal(rte_eth_allmulticast_enable(octo_port_pf(1)), 0);
	assert_comes_by(&group, 0);
	assert_int_equal(octo_port_xstat(port, "rx_mac_group_copies"), BURST);
}

static void
test_a_promiscuous_port_gets_each_frame_once(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_comes_by(&other, 0);
	assert_comes_by(&macs[0], 0);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), 0);
	assert_comes_by(&macs[1], 1);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), BURST);
	assert_comes_by(&broadcast, 0);
	assert_int_equal(rte_eth_promiscuous_disable(port), 0);
	assert_comes_by(&macs[1], 1);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), BURST);
	/* a new first address counts, too */
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, unconst(&other)), 0);
	assert_comes_by(&other, 0);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), BURST);
}

static void
test_the_role_of_a_lost_pf_moves(void **state)
{
	(void)state;
	up(&replugged, NULL);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	lose_pf(0);
	assert_comes_by(&broadcast, 1);
	assert_comes_by(&macs[0], 1);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), 0);
	get_back_pf(0);
	assert_comes_by(&broadcast, 0);
	assert_comes_by(&macs[0], 0);
	assert_comes_by(&macs[1], 1);
	assert_int_equal(octo_port_xstat(port, "rx_mac_copies"), BURST);
}

/* It receives frames to its address as long as it exists, and they are copies. */
static void
test_a_pf_without_link_delivers_nothing(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_pass_us(200000);
	receive();
	assert_comes_by(&macs[1], 0);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	octo_port_pass_us(200000);
	receive();
	assert_comes_by(&macs[1], 1);
}

/* In the tier below all PFs may have a group, and each frame of it, as ever. */
static void
test_the_tier_below_drops_nothing(void **state)
{
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};

	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_rss_reta_query(port, reta, 128), 0);
	assert_int_equal(talk(&broadcast, BURST / 2), BURST);
	assert_int_equal(octo_port_xstat(port, "rx_mac_group_copies"), 0);
}

/* The PFs are as they were found when the port closes. */
static void
test_a_close_gives_addresses_back(void **state)
{
	(void)state;
	up(&by_mac, NULL);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, unconst(&other)), 0);
	octo_port_close_and_remove(port);
	for (unsigned int pf = 0; pf < 2; pf++) {
		struct rte_ether_addr of_pf;

		assert_int_equal(rte_eth_macaddr_get(octo_port_pf(pf), &of_pf), 0);
		assert_true(rte_is_same_ether_addr(&of_pf, &macs[pf]));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_each_address_leads_to_its_pf),
		octo_port_test(test_a_pf_without_queues_has_a_reta),
		octo_port_test(test_the_tier_below_has_all_addresses),
		octo_port_test(test_an_application_that_sets_the_key_gets_the_tier_below),
		octo_port_test(test_pfs_with_one_address_get_the_tier_below),
		octo_port_test(test_pfs_that_take_no_rules),
		octo_port_test(test_rules_choose_the_queue_only),
		octo_port_test(test_the_first_address_can_be_changed),
		octo_port_test(test_a_secondary_changes_no_address),
		octo_port_test(test_an_added_address_is_on_one_pf),
		octo_port_test(test_the_address_of_a_pf_cannot_be_removed),
		octo_port_test(test_the_address_of_a_pf_can_be_added),
		octo_port_test(test_modes_are_of_one_pf),
		octo_port_test(test_modes_from_before_the_start),
		octo_port_test(test_the_address_of_a_lost_pf_moves),
		octo_port_test(test_the_designated_pf_is_lost),
		octo_port_test(test_a_frame_to_all_comes_once),
		octo_port_test(test_a_group_is_joined_by_one_pf),
		octo_port_test(test_a_promiscuous_port_gets_each_frame_once),
		octo_port_test(test_the_role_of_a_lost_pf_moves),
		octo_port_test(test_a_pf_without_link_delivers_nothing),
		octo_port_test(test_the_tier_below_drops_nothing),
		octo_port_test(test_a_close_gives_addresses_back),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
