/* SPDX-License-Identifier: BSD-3-Clause */

#include <ethdev_driver.h>

#include "octo_port_random.h"

#define RETA_SIZE 128

static struct random_port *const r = &random_port;

static void
set_address(bool first, uint8_t last)
{
	struct rte_ether_addr mac = {{0x02, 0, 0, 0, 0x77, last}};

	if (first)
		rte_eth_dev_default_mac_addr_set(r->port, &mac);
	else if (random_one_in(2))
		rte_eth_dev_mac_addr_add(r->port, &mac, 0);
	else
		rte_eth_dev_mac_addr_remove(r->port, &mac);
}

/* Some are refused, in some states. */
void
random_op_setting(void)
{
	const unsigned int which = random_below(12);

	random_say("setting %u", which);
	switch (which) {
	case 0:
		rte_eth_promiscuous_enable(r->port);
		break;
	case 1:
		rte_eth_promiscuous_disable(r->port);
		break;
	case 2:
		rte_eth_allmulticast_enable(r->port);
		break;
	case 3:
		rte_eth_allmulticast_disable(r->port);
		break;
	case 4:
		if (random_one_in(3))
			set_address(true, random_below(8));
		break;
	case 5:
	case 6:
		set_address(false, 16 + random_below(4));
		break;
	case 7:
		rte_eth_dev_set_mtu(r->port, 1280 + random_below(200));
		break;
	case 8:
		rte_eth_dev_vlan_filter(r->port, 1 + random_below(8), random_one_in(2));
		break;
	case 9:
		rte_flow_isolate(r->port, 1, NULL);
		break;
	default:
		rte_flow_isolate(r->port, 0, NULL);
	}
}

void
random_op_reta(void)
{
	struct rte_eth_rss_reta_entry64 reta[RETA_SIZE / RTE_ETH_RETA_GROUP_SIZE];
	int ret;

	if (r->stopped || !random_one_in(6))
		return;
	for (unsigned int i = 0; i < RETA_SIZE; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = random_below(
			r->nb_queues);
	}
	/* in tier partition, which has one of its own, this ends the tier */
	ret = rte_eth_dev_rss_reta_update(r->port, reta, RETA_SIZE);
	random_say("reta: %d", ret);
}

void
random_op_reset_stats(void)
{
	if (!random_one_in(4))
		return;
	random_say("reset of counters");
	random_forget_xstats();
	if (random_one_in(2))
		rte_eth_stats_reset(r->port);
	else
		rte_eth_xstats_reset(r->port);
	random_reset_counters();
}

static bool
has_mac(const struct rte_eth_dev_data *data, const struct rte_ether_addr *mac, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		if (rte_is_same_ether_addr(&data->mac_addrs[i], mac))
			return true;
	return false;
}

/*
 * Only some addresses are given, so that others of a PF are its own. In tier mac each PF has an
 * address, and one PF those that are added.
 */
static void
check_addresses(const struct rte_eth_dev_data *ours, uint16_t port, unsigned int own_at,
		bool shares)
{
	const struct rte_eth_dev_data *theirs = rte_eth_devices[port].data;
	struct rte_eth_dev_info info, own;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(rte_eth_dev_info_get(r->port, &own), 0);
	assert_true(rte_is_same_ether_addr(&ours->mac_addrs[own_at], &theirs->mac_addrs[0]));
	for (uint8_t last = 0; last < 20; last++) {
		const struct rte_ether_addr mac = {{0x02, 0, 0, 0, 0x77, last}};

		assert_int_equal(has_mac(theirs, &mac, info.max_mac_addrs),
				 shares && has_mac(ours, &mac, own.max_mac_addrs));
	}
}

static void
check_pf(const struct rte_eth_dev_data *ours, unsigned int pf)
{
	const uint16_t port = octo_port_pf(pf);
	const struct rte_eth_dev_data *theirs = rte_eth_devices[port].data;
	const bool apart = random_mac_is_apart();
	const bool shares = !apart || pf == 0;

	assert_int_equal(theirs->mtu, ours->mtu);
	assert_memory_equal(&theirs->vlan_filter_conf, &ours->vlan_filter_conf,
			    sizeof(ours->vlan_filter_conf));
	assert_int_equal(theirs->promiscuous, ours->promiscuous && shares);
	assert_int_equal(theirs->all_multicast, ours->all_multicast && shares);
	check_addresses(ours, port, apart ? pf : 0, shares);
	random_check_rare_settings(pf, shares);
}

void
random_check_settings(void)
{
	for (unsigned int pf = 0; pf < r->nb_ports; pf++)
		check_pf(rte_eth_devices[r->port].data, pf);
}
