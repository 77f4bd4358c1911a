/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Control calls of chaos. What comes of one does not matter here: it may fail, but
 * may not crash, hang, or leave anything behind that a later look finds.
 */

#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "bench_chaos.h"

/* Between two calls at most; within those that do a thing and undo it. */
#define PAUSE_US 200
#define UNDO_US 1000

/* The port does not start with rules that do not fit any more: then they go. */
#define MAX_STARTS 5

/* Ethernet wants 64 bytes; frames are longer than this lets in. */
#define SMALL_MTU 68

static void
ask_stats(struct chaos *c, uint64_t r)
{
	struct rte_eth_xstat xstats[256];
	struct rte_eth_stats stats;

	if (r & 1)
		rte_eth_stats_get(c->nic.octo, &stats);
	else
		rte_eth_xstats_get(c->nic.octo, xstats, RTE_DIM(xstats));
}

static void
ask_info(struct chaos *c, uint64_t r)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link;
	int ret;

	if (r & 1)
		ret = rte_eth_link_get_nowait(c->nic.octo, &link);
	else
		ret = rte_eth_dev_info_get(c->nic.octo, &info);
	/* asked to see it survive; it may fail */
	RTE_SET_USED(ret);
}

static void
set_mtu(struct chaos *c, uint64_t r)
{
	rte_eth_dev_set_mtu(c->nic.octo, r & 7 ? RTE_ETHER_MTU - r % 100 : SMALL_MTU);
	if ((r & 7) == 0)
		rte_eth_dev_set_mtu(c->nic.octo, RTE_ETHER_MTU);
}

static void
set_promiscuity(struct chaos *c, uint64_t r)
{
	if (r & 2 && r & 1)
		rte_eth_promiscuous_enable(c->nic.octo);
	else if (r & 2)
		rte_eth_promiscuous_disable(c->nic.octo);
	else if (r & 1)
		rte_eth_allmulticast_enable(c->nic.octo);
	else
		rte_eth_allmulticast_disable(c->nic.octo);
}

static void
set_macs(struct chaos *c, uint64_t r)
{
	struct rte_ether_addr mac = {.addr_bytes = {2, 0, 0, 0, 0, r % 4}};
	struct rte_ether_addr group = {.addr_bytes = {0x33, 0x33, 0, 0, 0, r % 4}};
	struct rte_ether_addr own;

	if (r & 8)
		rte_eth_dev_mac_addr_add(c->nic.octo, &mac, 0);
	else
		rte_eth_dev_mac_addr_remove(c->nic.octo, &mac);
	if (r & 16)
		rte_eth_dev_set_mc_addr_list(c->nic.octo, &group, r >> 8 & 1);
	if ((r >> 16 & 15) != 0 || rte_eth_macaddr_get(c->nic.octo, &own) != 0)
		return;
	mac.addr_bytes[4] = 1;
	rte_eth_dev_default_mac_addr_set(c->nic.octo, &mac);
	rte_delay_us_sleep(UNDO_US);
	rte_eth_dev_default_mac_addr_set(c->nic.octo, &own);
}

static void
set_vlans(struct chaos *c, uint64_t r)
{
	if (r & 1)
		rte_eth_dev_set_vlan_offload(c->nic.octo, r & 2 ? RTE_ETH_VLAN_FILTER_OFFLOAD : 0);
	else
		rte_eth_dev_vlan_filter(c->nic.octo, 1 + r % 8, r >> 8 & 1);
}

static void
set_reta(struct chaos *c, uint64_t r)
{
	struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(c->nic.octo, &info) != 0 ||
	    info.reta_size > RTE_ETH_RSS_RETA_SIZE_512)
		return;
	for (unsigned int i = 0; i < info.reta_size / RTE_ETH_RETA_GROUP_SIZE; i++) {
		reta[i].mask = bench_random_of(r + i);
		for (unsigned int k = 0; k < RTE_ETH_RETA_GROUP_SIZE; k++)
			reta[i].reta[k] = (r >> (k % 16)) % CHAOS_QUEUES;
	}
	rte_eth_dev_rss_reta_update(c->nic.octo, reta, info.reta_size);
}

static void
set_hash(struct chaos *c, uint64_t r)
{
	uint8_t key[64];
	struct rte_eth_rss_conf conf = {.rss_hf = RTE_ETH_RSS_IP};
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(c->nic.octo, &info) != 0)
		return;
	if (r & 1)
		conf.rss_hf |= RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;
	conf.rss_hf &= info.flow_type_rss_offloads;
	if (r & 2 && info.hash_key_size <= sizeof(key)) {
		memset(key, (int)(r >> 8), sizeof(key));
		conf.rss_key = key;
		conf.rss_key_len = info.hash_key_size;
	}
	rte_eth_dev_rss_hash_update(c->nic.octo, &conf);
}

static void
stop_queue(struct chaos *c, uint64_t r)
{
	const uint16_t q = r % CHAOS_QUEUES;
	const bool rx = r & 16;

	chaos_park(c, q);
	if (rx)
		rte_eth_dev_rx_queue_stop(c->nic.octo, q);
	else
		rte_eth_dev_tx_queue_stop(c->nic.octo, q);
	rte_delay_us_sleep(r >> 8 & 1023);
	if (rx)
		rte_eth_dev_rx_queue_start(c->nic.octo, q);
	else
		rte_eth_dev_tx_queue_start(c->nic.octo, q);
	chaos_unpark(c, q, r >> 4 & 1);
}

static void
stop_port(struct chaos *c, uint64_t r)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	unsigned int tries = 0;

	chaos_hold_workers(c);
	rte_eth_dev_stop(c->nic.octo);
	rte_delay_us_sleep(r & 4095);
	/* a PF may go just now, and come later, but a table that has shrunk remains so */
	while (rte_eth_dev_start(c->nic.octo) != 0 && rte_rdtsc() < end) {
		rte_delay_us_sleep(CHAOS_LOOK_US);
		if (++tries == MAX_STARTS)
			chaos_flush_rules(c);
	}
	chaos_release_workers(c);
}

static void
set_link(struct chaos *c, uint64_t r)
{
	rte_eth_dev_set_link_down(c->nic.octo);
	rte_delay_us_sleep(r & 1023);
	rte_eth_dev_set_link_up(c->nic.octo);
}

static void
reset_stats(struct chaos *c, uint64_t r)
{
	chaos_set(&c->was_reset, true);
	if (r & 1)
		rte_eth_stats_reset(c->nic.octo);
	else
		rte_eth_xstats_reset(c->nic.octo);
}

static void
flush_rules(struct chaos *c, uint64_t r)
{
	RTE_SET_USED(r);
	chaos_flush_rules(c);
}

/* Of so many calls one is this. */
static const struct {
	unsigned int of;
	void (*call)(struct chaos *c, uint64_t r);
} calls[] = {
	{400, stop_port}, {400, reset_stats},     {300, flush_rules},    {200, set_link},
	{50, stop_queue}, {40, set_reta},         {40, set_hash},        {40, set_vlans},
	{20, set_macs},   {20, set_mtu},          {20, set_promiscuity}, {10, ask_stats},
	{10, ask_info},   {1, chaos_change_rule},
};

static void
call(struct chaos *c)
{
	unsigned int i = 0;

	while (chaos_pick(&c->call_random, calls[i].of) != 0)
		i++;
	calls[i].call(c, bench_random_of(c->call_random++));
	c->calls++;
}

void *
chaos_call_on_and_on(void *arg)
{
	struct chaos *c = arg;

	while (!chaos_is(&c->stop)) {
		const bool pause = chaos_is(&c->pause);

		chaos_set(&c->paused, pause);
		if (!pause)
			call(c);
		rte_delay_us_sleep(chaos_pick(&c->call_random, PAUSE_US));
	}
	return NULL;
}

void
chaos_pause_calls(struct chaos *c)
{
	chaos_set(&c->pause, true);
	while (!chaos_is(&c->paused))
		rte_delay_us_sleep(CHAOS_LOOK_US);
}

void
chaos_resume_calls(struct chaos *c)
{
	chaos_set(&c->pause, false);
	/* or the next pause would be taken for this one */
	while (chaos_is(&c->paused))
		rte_delay_us_sleep(CHAOS_LOOK_US);
}
