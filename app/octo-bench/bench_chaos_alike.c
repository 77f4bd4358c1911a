/* SPDX-License-Identifier: BSD-3-Clause */

/* Whatever PFs were told, and not told while they were gone: in the end all are alike. */

#include <rte_ethdev.h>

#include "bench_chaos.h"

#define MAX_MACS 8

/** What can be asked of any port. */
struct settings {
	uint16_t mtu;
	int promiscuous;
	int all_multicast;
	int vlan_offload;
	uint64_t rss_hf;
	uint16_t link;
	struct rte_ether_addr mac;
	unsigned int nb_macs;
};

static unsigned int
count_macs(uint16_t port)
{
	struct rte_ether_addr macs[MAX_MACS];
	const int nb = rte_eth_macaddrs_get(port, macs, MAX_MACS);
	unsigned int n = 0;

	for (int i = 0; i < nb; i++)
		n += !rte_is_zero_ether_addr(&macs[i]);
	return n;
}

static struct settings
ask(uint16_t port)
{
	struct rte_eth_rss_conf rss = {.rss_key = NULL};
	struct rte_eth_link link = {0};
	struct settings s = {
		.promiscuous = rte_eth_promiscuous_get(port),
		.all_multicast = rte_eth_allmulticast_get(port),
		.vlan_offload = rte_eth_dev_get_vlan_offload(port),
		.nb_macs = count_macs(port),
	};

	rte_eth_dev_get_mtu(port, &s.mtu);
	rte_eth_macaddr_get(port, &s.mac);
	rte_eth_dev_rss_hash_conf_get(port, &rss);
	s.rss_hf = rss.rss_hf;
	if (rte_eth_link_get_nowait(port, &link) == 0)
		s.link = link.link_status;
	return s;
}

static const char *
difference(const struct settings *a, const struct settings *b)
{
	if (a->mtu != b->mtu)
		return "MTU";
	if (a->promiscuous != b->promiscuous)
		return "promiscuity";
	if (a->all_multicast != b->all_multicast)
		return "multicast mode";
	if (a->vlan_offload != b->vlan_offload)
		return "VLAN offloads";
	if (a->rss_hf != b->rss_hf)
		return "hash";
	if (a->link != b->link)
		return "link";
	if (!rte_is_same_ether_addr(&a->mac, &b->mac) || a->nb_macs != b->nb_macs)
		return "MAC addresses";
	return NULL;
}

/* How many PFs differ from the port; it is told how if wanted. */
static unsigned int
count_unlike(const struct chaos *c, bool tell)
{
	const struct settings wanted = ask(c->nic.octo);
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->nb_pfs; i++) {
		const char *name = bench_nic_name(i);
		const char *what = "port";
		uint16_t port;

		if (rte_eth_dev_get_port_by_name(name, &port) == 0) {
			const struct settings found = ask(port);

			what = difference(&wanted, &found);
		}
		if (what == NULL)
			continue;
		if (tell)
			fprintf(stderr, "%s: chaos: %s has another %s than the port\n", app_name,
				name, what);
		n++;
	}
	return n;
}

unsigned int
chaos_count_unlike(const struct chaos *c)
{
	const uint64_t end = chaos_deadline(CHAOS_JOIN_S);

	/* a PF that has just recovered may be usable to a port that has not looked at its events */
	while (count_unlike(c, false) > 0 && rte_rdtsc() < end)
		rte_delay_us_sleep(CHAOS_LOOK_US);
	return count_unlike(c, true);
}
