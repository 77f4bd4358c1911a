/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that come back, or come late: they get all that the others have. */

#include <stdlib.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf four_pfs = {.nb_pfs = 4, .replug = true};

static void
test_a_pf_is_probed_again(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_owner owner;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_remove_pf(1);
	assert_false(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_owner_get(octo_port_pf(1), &owner), 0);
	assert_string_equal(owner.name, OCTO_PORT_NAME);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(octo_port_xstat(port, "replugs"), 1);
}

/* Nobody has to wait for a PF that somebody brings back. */
static void
test_a_pf_that_is_attached_is_taken(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_stats before, after;

	(void)state;
	octo_port_up(port, 2);
	/* the proxy, this time */
	for (uint16_t q = 0; q < 2; q++)
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
	octo_port_assert_arrives(port, 100, 0, 10);
	assert_int_equal(rte_eth_stats_get(port, &before), 0);
	octo_port_remove_pf(0);
	octo_port_await(octo_port_rule_pf(port, 100) == 1);
	octo_port_add_pf(&two_pfs, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_await(octo_port_leads_to(port, 100, 0, 0));
	octo_port_await(octo_port_leads_to(port, 101, 1, 1));
	for (uint16_t q = 0; q < 2; q++)
		octo_port_assert_arrives(port, 100 + q, q, 10);
	assert_int_equal(rte_eth_stats_get(port, &after), 0);
	assert_int_equal(after.ipackets, before.ipackets + 20);
	assert_int_equal(after.opackets, before.opackets + 20);
	assert_int_equal(octo_port_xstat(port, "tx_q0_bytes") +
				 octo_port_xstat(port, "tx_q1_bytes"),
			 after.obytes);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

#define SLOW_RULES 12

/* It is back before all its flows have left: their rules still name the port that it had. */
static void
test_a_pf_is_back_before_its_flows_have_left(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *proxy;

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < SLOW_RULES; i++)
		assert_non_null(octo_port_steer(port, 100 + i, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 100, 1, 1));
	proxy = octo_port_faults_on(0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_slow,40000"), 0);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_true(proxy->transfers < SLOW_RULES);
	octo_port_await(octo_port_leads_to(port, 100, 1, 1) && proxy->transfers >= SLOW_RULES);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,clear"), 0);
	for (uint16_t i = 0; i < SLOW_RULES; i++) {
		octo_port_await(octo_port_leads_to(port, 100 + i, 1, 1));
		octo_port_assert_arrives(port, 100 + i, 1, 10);
	}
}

static void
set_all(uint16_t port)
{
	struct rte_ether_addr group = {{0x01, 0, 0x5e, 0, 0, 9}};
	struct rte_ether_addr extra = {{0x02, 0, 0, 0, 0, 9}};
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = 1}};
	struct rte_eth_rss_conf rss = {.rss_hf = RTE_ETH_RSS_IPV4};

	assert_int_equal(rte_eth_dev_set_mtu(port, 1400), 0);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &extra, 0), 0);
	assert_int_equal(rte_eth_dev_set_mc_addr_list(port, &group, 1), 0);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_allmulticast_enable(port), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, 77, 1), 0);
	reta[0].reta[0] = 1;
	assert_int_equal(rte_eth_dev_rss_reta_update(port, reta, 128), 0);
	assert_int_equal(rte_eth_dev_rss_hash_update(port, &rss), 0);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
}

static void
assert_alike(uint16_t pf)
{
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = 1}};
	struct rte_eth_rss_conf rss = {0};
	struct rte_ether_addr macs[8];
	struct rte_eth_rxq_info info;
	uint16_t mtu;
	int nb;

	assert_int_equal(rte_eth_dev_get_mtu(pf, &mtu), 0);
	assert_int_equal(mtu, 1400);
	nb = rte_eth_macaddrs_get(pf, macs, 8);
	assert_true(nb >= 2);
	assert_int_equal(macs[1].addr_bytes[5], 9);
	assert_int_equal(rte_eth_promiscuous_get(pf), 1);
	assert_int_equal(rte_eth_allmulticast_get(pf), 1);
	assert_int_equal(rte_eth_dev_rss_reta_query(pf, reta, 128), 0);
	assert_int_equal(reta[0].reta[0], 1);
	assert_int_equal(rte_eth_dev_rss_hash_conf_get(pf, &rss), 0);
	assert_int_equal(rss.rss_hf, RTE_ETH_RSS_IPV4);
	assert_int_equal(rte_eth_rx_queue_info_get(pf, 1, &info), 0);
	assert_int_equal(info.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
	assert_int_equal(rte_eth_devices[pf].data->vlan_filter_conf.ids[77 / 64] >> (77 % 64) & 1,
			 1);
}

static void
up_with_rss(uint16_t port)
{
	uint8_t key[40];
	struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS,
			   .offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER},
		.rx_adv_conf = {.rss_conf = {.rss_key = key,
					     .rss_key_len = sizeof(key),
					     .rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6}},
	};

	memset(key, 0x5a, sizeof(key));
	assert_int_equal(rte_eth_dev_configure(port, 2, 2, &conf), 0);
	assert_int_equal(octo_port_setup_queues(port, 2), 0);
	/* the key was on the stack, and is gone */
	memset(key, 0xa5, sizeof(key));
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
assert_key(uint16_t pf)
{
	uint8_t key[40];
	struct rte_eth_rss_conf rss = {.rss_key = key, .rss_key_len = sizeof(key)};

	assert_int_equal(rte_eth_dev_rss_hash_conf_get(pf, &rss), 0);
	for (unsigned int i = 0; i < sizeof(key); i++)
		assert_int_equal(key[i], 0x5a);
}

static void
test_a_pf_gets_what_the_others_have(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up_with_rss(port);
	set_all(port);
	assert_alike(octo_port_pf(0));
	for (unsigned int pf = 0; pf < 2; pf++) {
		octo_port_remove_pf(pf);
		octo_port_add_pf(&two_pfs, pf);
		octo_port_await(octo_port_pf_is_started(port, pf));
		assert_alike(octo_port_pf(pf));
		assert_key(octo_port_pf(pf));
	}
}

/* Also while the port is stopped: then it joins with the start. */
static void
test_a_pf_joins_a_stopped_port_at_its_start(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_add_pf(&two_pfs, 1);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_true(octo_port_pf_is_started(port, 1));
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 1, 10);
}

static void
test_a_pf_is_missing_at_the_start(void **state)
{
	struct octo_view_topology view;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	octo_port_forget_pf(1);
	port = octo_port_add(&two_pfs);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_int_equal(view.nb_pfs, 2);
	assert_string_equal(view.pf[1].state, "gone");
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 10);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* The port offers what it cannot do. */
static void
test_a_lesser_pf_stays_out(void **state)
{
	const struct octo_port_conf lesser = {.replug = true, .pf = {[1] = "queues=1"}};
	struct rte_eth_dev_info info;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	octo_port_forget_pf(1);
	port = octo_port_add(&two_pfs);
	octo_port_up(port, 2);
	octo_port_add_pf(&lesser, 1);
	octo_port_pass_us(50000);
	assert_false(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true(info.max_rx_queues >= 2);
	octo_port_forget_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

static struct rte_flow *
lead_to_pf(uint16_t port, uint16_t src_port, unsigned int pf)
{
	struct octo_tuple tuple = octo_tuple_example;
	struct rte_flow_error error;
	struct octo_flow_rule r;

	tuple.src_port = rte_cpu_to_be_16(src_port);
	octo_flow_build_transfer(&r, OCTO_DIALECT_WIRE_ITEM, &tuple, 0, octo_port_pf(0),
				 octo_port_pf(pf), false);
	return rte_flow_create(port, &r.attr, r.pattern, r.actions, &error);
}

/* As the first PF says, which has the rules of the switch and knows PFs by their index. */
static bool
is_led_to(uint16_t port, struct rte_flow *rule, unsigned int pf)
{
	struct rte_flow_error error;
	char *text = NULL;
	char wanted[64];
	size_t len;
	FILE *file = open_memstream(&text, &len);
	bool found;

	assert_non_null(file);
	assert_int_equal(rte_flow_dev_dump(port, rule, file, &error), 0);
	fclose(file);
	snprintf(wanted, sizeof(wanted), "port %u,", pf);
	found = strstr(text, wanted) != NULL;
	free(text);
	return found;
}

/* Two PFs have each other's numbers when they are back: rules lead to whom they led to. */
static void
test_transfer_rules_know_pfs_by_other_numbers(void **state)
{
	uint16_t port = octo_port_create(&four_pfs);
	uint16_t number[4];
	struct rte_flow *rule[4];

	(void)state;
	octo_port_up(port, 2);
	for (unsigned int pf = 2; pf < 4; pf++) {
		number[pf] = octo_port_pf(pf);
		rule[pf] = lead_to_pf(port, 500 + pf, pf);
		assert_non_null(rule[pf]);
	}
	octo_port_remove_pf(2);
	octo_port_remove_pf(3);
	octo_port_add_pf(&four_pfs, 3);
	octo_port_add_pf(&four_pfs, 2);
	for (unsigned int pf = 2; pf < 4; pf++) {
		octo_port_await(octo_port_pf_is_started(port, pf));
		assert_int_equal(octo_port_pf(pf), number[5 - pf]);
	}
	for (unsigned int pf = 2; pf < 4; pf++)
		octo_port_await(is_led_to(port, rule[pf], pf));
	/* all rules are put anew */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	for (unsigned int pf = 2; pf < 4; pf++)
		assert_true(is_led_to(port, rule[pf], pf));
}

static unsigned int link_events;

static int
count_event(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	__atomic_fetch_add(&link_events, 1, __ATOMIC_SEQ_CST);
	return 0;
}

/* All PFs, in any order: the port is there without, and is of use again with the first. */
static void
test_all_pfs_go_and_come(void **state)
{
	uint16_t port = octo_port_create(&four_pfs);
	struct rte_eth_link link;

	(void)state;
	octo_port_up(port, 4);
	link_events = 0;
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
	for (uint16_t q = 0; q < 4; q++)
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
	octo_port_remove_pf(2);
	octo_port_remove_pf(0);
	octo_port_remove_pf(3);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	assert_int_equal(link.link_status, RTE_ETH_LINK_DOWN);
	octo_port_await(__atomic_load_n(&link_events, __ATOMIC_SEQ_CST) == 1);
	octo_port_poll(port, 0, 32, &(struct octo_port_tally){0});
	octo_port_add_pf(&four_pfs, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_await(__atomic_load_n(&link_events, __ATOMIC_SEQ_CST) == 2);
	octo_port_await(octo_port_rule_pf(port, 103) >= 0);
	octo_port_assert_arrives(port, 103, 3, 10);
	/* the others by themselves */
	for (unsigned int pf = 3; pf > 0; pf--)
		octo_port_await(octo_port_pf_is_started(port, pf));
	for (uint16_t q = 0; q < 4; q++) {
		octo_port_await(octo_port_leads_to(port, 100 + q, q, q));
		octo_port_assert_arrives(port, 100 + q, q, 10);
	}
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
}

/* A PMD that helps itself: nobody may touch the PF meanwhile. */
static void
test_a_pf_recovers(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *dev;

	(void)state;
	octo_port_up(port, 2);
	dev = &rte_eth_devices[octo_port_pf(1)];
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	assert_false(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_rule_pf(port, 7) == 0);
	octo_port_assert_arrives(port, 7, 1, 10);
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	/* and then it cannot: it is removed, and probed again */
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_RECOVERY_FAILED, NULL);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
}

static void
unset_all(uint16_t port)
{
	struct rte_ether_addr extra = {{0x02, 0, 0, 0, 0, 9}};

	assert_int_equal(rte_eth_dev_set_mtu(port, 1500), 0);
	assert_int_equal(rte_eth_dev_mac_addr_remove(port, &extra), 0);
	assert_int_equal(rte_eth_dev_set_mc_addr_list(port, NULL, 0), 0);
	assert_int_equal(rte_eth_promiscuous_disable(port), 0);
	assert_int_equal(rte_eth_allmulticast_disable(port), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, 77, 0), 0);
	assert_int_equal(rte_eth_dev_set_link_up(port), 0);
}

/* What was taken back while nobody could ask it, it does not have any more. */
static void
test_a_pf_recovers_and_has_less(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *faults = octo_port_faults_on(1);
	struct rte_ether_addr macs[8];
	struct rte_eth_link link;
	uint16_t mtu, pf;

	(void)state;
	up_with_rss(port);
	pf = octo_port_pf(1);
	set_all(port);
	assert_int_equal(rte_flow_isolate(port, 1, NULL), 0);
	assert_int_equal(faults->isolated, 1);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	rte_eth_dev_callback_process(&rte_eth_devices[pf], RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	unset_all(port);
	assert_int_equal(rte_flow_isolate(port, 0, NULL), 0);
	rte_eth_dev_callback_process(&rte_eth_devices[pf], RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_get_mtu(pf, &mtu), 0);
	assert_int_equal(mtu, 1500);
	assert_int_equal(faults->isolated, 0);
	assert_true(rte_eth_macaddrs_get(pf, macs, 8) >= 2);
	assert_true(rte_is_zero_ether_addr(&macs[1]));
	assert_int_equal(rte_eth_promiscuous_get(pf), 0);
	assert_int_equal(rte_eth_allmulticast_get(pf), 0);
	assert_int_equal(rte_eth_devices[pf].data->vlan_filter_conf.ids[77 / 64], 0);
	assert_int_equal(rte_eth_link_get_nowait(pf, &link), 0);
	assert_int_equal(link.link_status, RTE_ETH_LINK_UP);
}

/*
 * ethdev notes what was done when it has been for a while, and offloads of VLANs before:
 * a PF may join in between.
 */
static void
test_a_pf_joins_before_ethdev_knows(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *dev = &rte_eth_devices[port];
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_allmulticast_enable(port), 0);
	rte_eth_dev_callback_process(pf, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	assert_int_equal(dev->dev_ops->promiscuous_disable(dev), 0);
	assert_int_equal(dev->dev_ops->allmulticast_disable(dev), 0);
	dev->data->dev_conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	rte_eth_dev_callback_process(pf, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_promiscuous_get(pf->data->port_id), 0);
	assert_int_equal(rte_eth_allmulticast_get(pf->data->port_id), 0);
	assert_int_equal(rte_eth_dev_get_vlan_offload(pf->data->port_id), 0);
}

/* It began before the PF was one of the port's, which heard nothing of it. */
static void
test_a_pf_gives_up_at_once(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_RECOVERY_FAILED, NULL);
	octo_port_await(octo_port_xstat(port, "replugs") == 1);
	assert_true(octo_port_pf_is_started(port, 1));
}

/* Four PFs die and return in no order, while a queue is polled and sends, and somebody asks. */
#define CHAOS_CYCLES 24

static struct {
	uint16_t port;
	RTE_ATOMIC(uint64_t) sent;
	RTE_ATOMIC(uint64_t) received;
} chaos;

static void *
poll_and_send_back(void *arg)
{
	struct rte_mbuf *pkts[32];

	RTE_SET_USED(arg);
	while (!octo_port_thread_must_stop()) {
		const uint16_t n = rte_eth_rx_burst(chaos.port, 1, pkts, 32);
		const uint16_t sent = n == 0 ? 0 : rte_eth_tx_burst(chaos.port, 1, pkts, n);

		rte_pktmbuf_free_bulk(pkts + sent, n - sent);
		rte_atomic_fetch_add_explicit(&chaos.received, n, rte_memory_order_relaxed);
		rte_atomic_fetch_add_explicit(&chaos.sent, sent, rte_memory_order_relaxed);
	}
	return NULL;
}

static void
ask_all_kinds_of_things(uint16_t port)
{
	struct rte_eth_dev_info info;
	struct rte_eth_stats stats;
	struct rte_eth_link link;
	struct rte_flow *rule;

	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	assert_true(rte_eth_xstats_get_names(port, NULL, 0) > 0);
	/* a PF that goes meanwhile may be the reason of a refusal */
	rule = octo_port_steer(port, 99, 1, NULL);
	if (rule != NULL)
		rte_flow_destroy(port, rule, NULL);
}

static void
test_pfs_die_and_return_at_random(void **state)
{
	struct rte_eth_stats stats;
	uint16_t port;

	(void)state;
	octo_port_time_is_real();
	port = octo_port_create(&four_pfs);
	chaos.port = port;
	octo_port_up(port, 4);
	for (uint16_t q = 0; q < 4; q++)
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
	octo_port_send(port, 0, 101, 32);
	octo_port_thread_start(poll_and_send_back, NULL);
	srand(1);
	for (int cycle = 0; cycle < CHAOS_CYCLES; cycle++) {
		const unsigned int pf = (unsigned int)rand() % 4;

		octo_port_remove_pf(pf);
		ask_all_kinds_of_things(port);
		octo_port_add_pf(&four_pfs, pf);
		ask_all_kinds_of_things(port);
		octo_port_await(octo_port_pf_is_started(port, pf));
	}
	octo_port_thread_stop();
	for (uint16_t q = 0; q < 4; q++) {
		octo_port_await(octo_port_leads_to(port, 100 + q, q, q));
		octo_port_assert_arrives(port, 100 + q, q, 10);
	}
	/* what was received was counted, whichever PF it came by, and however often that died */
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_true(stats.ipackets >=
		    rte_atomic_load_explicit(&chaos.received, rte_memory_order_relaxed));
	assert_true(stats.opackets >=
		    rte_atomic_load_explicit(&chaos.sent, rte_memory_order_relaxed));
	assert_int_equal(octo_port_xstat(port, "replugs"), CHAOS_CYCLES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_probed_again),
		octo_port_test(test_a_pf_that_is_attached_is_taken),
		octo_port_test(test_a_pf_is_back_before_its_flows_have_left),
		octo_port_test(test_a_pf_gets_what_the_others_have),
		octo_port_test(test_a_pf_joins_a_stopped_port_at_its_start),
		octo_port_test(test_a_pf_is_missing_at_the_start),
		octo_port_test(test_a_lesser_pf_stays_out),
		octo_port_test(test_transfer_rules_know_pfs_by_other_numbers),
		octo_port_test(test_all_pfs_go_and_come),
		octo_port_test(test_a_pf_recovers),
		octo_port_test(test_a_pf_recovers_and_has_less),
		octo_port_test(test_a_pf_joins_before_ethdev_knows),
		octo_port_test(test_a_pf_gives_up_at_once),
		octo_port_test(test_pfs_die_and_return_at_random),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
