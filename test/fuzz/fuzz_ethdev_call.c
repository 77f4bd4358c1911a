/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of ethdev that set or ask one thing. */

#include <ethdev_driver.h>

#include "fuzz_ethdev.h"

#define RETA_SIZE 128
#define MAX_GROUPS 65
#define MAX_XSTATS 512
#define MAX_PTYPES 32

static void
set_flow_ctrl(uint8_t how)
{
	struct rte_eth_fc_conf fc = {
		.mode = how & 3, .send_xon = how >> 2 & 1, .low_water = how >> 4};

	fc.high_water = 8;
	FUZZ_BOTH_RETURN("flow_ctrl_set", rte_eth_dev_flow_ctrl_set(port, &fc));
}

static void
set_fec(uint8_t how)
{
	struct rte_eth_fec_capa capa[2];

	FUZZ_BOTH_RETURN("fec_get_capability",
			 rte_eth_fec_get_capability(port, how & 1 ? capa : NULL, how & 1 ? 2 : 0));
	FUZZ_BOTH_RETURN("fec_set", rte_eth_fec_set(port, how));
}

static void
set_priority(uint8_t how)
{
	struct rte_eth_pfc_conf pfc = {.priority = how & 15};
	struct rte_eth_pfc_queue_info info;

	FUZZ_BOTH_RETURN("priority_flow_ctrl_set", rte_eth_dev_priority_flow_ctrl_set(port, &pfc));
	FUZZ_BOTH_RETURN("priority_flow_ctrl_queue_info_get",
			 rte_eth_dev_priority_flow_ctrl_queue_info_get(port, &info));
}

static void
set_ptypes(uint8_t how)
{
	static const uint32_t masks[] = {RTE_PTYPE_ALL_MASK, 0, RTE_PTYPE_L2_MASK,
					 RTE_PTYPE_L3_MASK | RTE_PTYPE_L4_MASK};
	uint32_t known[FUZZ_BOTH][MAX_PTYPES] = {0};
	uint32_t set[FUZZ_BOTH][MAX_PTYPES] = {0};
	const unsigned int nb = how >> 2 & (MAX_PTYPES - 1);

	FUZZ_BOTH_RETURN("set_ptypes", rte_eth_dev_set_ptypes(port, masks[how & 3], set[who], nb));
	FUZZ_BOTH_RETURN("get_supported_ptypes",
			 rte_eth_dev_get_supported_ptypes(port, masks[how & 3], known[who], nb));
	FUZZ_CHECK(memcmp(known[0], known[1], sizeof(known[0])) == 0, "other packet types");
	FUZZ_CHECK(memcmp(set[0], set[1], sizeof(set[0])) == 0, "other packet types are set");
}

static void
set_tunnel(uint8_t how)
{
	struct rte_eth_udp_tunnel tunnel = {.udp_port = 4789, .prot_type = how & 15};

	FUZZ_BOTH_RETURN("udp_tunnel_port_add", rte_eth_dev_udp_tunnel_port_add(port, &tunnel));
	FUZZ_BOTH_RETURN("udp_tunnel_port_delete",
			 rte_eth_dev_udp_tunnel_port_delete(port, &tunnel));
}

void
fuzz_ethdev_setting(struct fuzz_input *in)
{
	static const uint16_t mtus[] = {1500, 68, 67, 2000, 9000, 9198, 9199, 65535};
	const uint8_t what = fuzz_u8(in), how = fuzz_u8(in);

	switch (what & 15) {
	case 0:
	case 1:
		FUZZ_BOTH_RETURN("set_mtu", rte_eth_dev_set_mtu(port, mtus[how & 7]));
		return;
	case 2:
		FUZZ_BOTH_RETURN("promiscuous", how & 1 ? rte_eth_promiscuous_enable(port) :
							  rte_eth_promiscuous_disable(port));
		return;
	case 3:
		FUZZ_BOTH_RETURN("allmulticast", how & 1 ? rte_eth_allmulticast_enable(port) :
							   rte_eth_allmulticast_disable(port));
		return;
	case 4:
	case 5:
		FUZZ_BOTH_RETURN("link", how & 1 ? rte_eth_dev_set_link_up(port) :
						   rte_eth_dev_set_link_down(port));
		return;
	case 6:
		return set_flow_ctrl(how);
	case 7:
		return set_fec(how);
	case 8:
		return set_ptypes(how);
	case 9:
		return set_tunnel(how);
	case 10:
		return set_priority(how);
	case 11:
		FUZZ_BOTH_RETURN("led", how & 1 ? rte_eth_led_on(port) : rte_eth_led_off(port));
		return;
	default:
		FUZZ_BOTH_RETURN("vlan_offload", rte_eth_dev_set_vlan_offload(port, how & 31));
	}
}

static struct rte_ether_addr
address(uint8_t how)
{
	struct rte_ether_addr mac = {{how & 8 ? 1 : 2, 0, 0, 0, 1, how & 7}};

	if (how >> 4 == 15)
		memset(&mac, 0, sizeof(mac));
	else if (how >> 4 == 14)
		mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, 1}};
	return mac;
}

static void
set_groups(uint8_t how)
{
	struct rte_ether_addr groups[MAX_GROUPS];
	const uint32_t nb = how == 255 ? MAX_GROUPS : how & 3;

	for (unsigned int i = 0; i < MAX_GROUPS; i++)
		groups[i] = (struct rte_ether_addr){{1, 0, 0, 0, 1, (how >> 2) + i}};
	FUZZ_BOTH_RETURN("mc_addr_list", rte_eth_dev_set_mc_addr_list(port, groups, nb));
}

void
fuzz_ethdev_filter(struct fuzz_input *in)
{
	const uint8_t what = fuzz_u8(in), how = fuzz_u8(in);
	struct rte_ether_addr mac = address(how);

	switch (what & 7) {
	case 0:
	case 1:
		FUZZ_BOTH_RETURN("mac_addr_add", rte_eth_dev_mac_addr_add(port, &mac, what >> 3));
		return;
	case 2:
		FUZZ_BOTH_RETURN("mac_addr_remove", rte_eth_dev_mac_addr_remove(port, &mac));
		return;
	case 3:
		FUZZ_BOTH_RETURN("default_mac_addr_set",
				 rte_eth_dev_default_mac_addr_set(port, &mac));
		return;
	case 4:
		return set_groups(how);
	case 5:
	case 6:
		FUZZ_BOTH_RETURN("vlan_filter",
				 rte_eth_dev_vlan_filter(port,
							 how & 128 ? 4090 + (how & 7) : how & 7,
							 what >> 3 & 1));
		return;
	default:
		FUZZ_BOTH_RETURN("vlan_strip_on_queue",
				 rte_eth_dev_set_vlan_strip_on_queue(port, how & 7, how >> 3 & 1));
	}
}

static void
update_reta(uint8_t what, uint8_t how)
{
	struct rte_eth_rss_reta_entry64 reta[3] = {0};
	const uint16_t sizes[] = {RETA_SIZE, RETA_SIZE, RETA_SIZE, 64};

	reta[what >> 2 & 1].mask = UINT64_C(0x0101010101010101) * how;
	for (unsigned int i = 0; i < RTE_ETH_RETA_GROUP_SIZE; i++)
		reta[what >> 2 & 1].reta[i] = (what >> 3 & 7) + (i & what >> 6);
	FUZZ_BOTH_RETURN("reta_update", rte_eth_dev_rss_reta_update(port, reta, sizes[what & 3]));
	FUZZ_BOTH_RETURN("reta_query", rte_eth_dev_rss_reta_query(port, reta, sizes[what & 3]));
}

void
fuzz_ethdev_rss(struct fuzz_input *in)
{
	static const uint64_t types[] = {RTE_ETH_RSS_IP, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP, 0,
					 RTE_ETH_RSS_ESP};
	const uint8_t what = fuzz_u8(in), how = fuzz_u8(in);
	uint8_t key[FUZZ_ETHDEV_KEY];
	struct rte_eth_rss_conf conf = {.rss_hf = types[how & 3]};

	if (what & 1) {
		update_reta(what >> 1, how);
		return;
	}
	memset(key, what, sizeof(key));
	conf.rss_key = what & 2 ? key : NULL;
	conf.rss_key_len = how & 4 ? 40 : how >> 3;
	FUZZ_BOTH_RETURN("rss_hash_update", rte_eth_dev_rss_hash_update(port, &conf));
}

/* Its driver is asked without a check by ethdev. */
static bool
is_set_up(uint16_t queue, bool tx)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[fuzz_pair.port[FUZZ_BARE]].data;

	if (!data->dev_started)
		return false;
	return tx ? queue < data->nb_tx_queues && data->tx_queues[queue] != NULL :
		    queue < data->nb_rx_queues && data->rx_queues[queue] != NULL;
}

/* The home leg may be empty while another one has packets: by design. */
static void
ask_rx_ring(uint16_t q, uint16_t offset)
{
	int status[FUZZ_BOTH];

	if (!is_set_up(q, false))
		return;
	if (!fuzz_pair.was_faulty)
		FUZZ_BOTH_RETURN("rx_queue_count", rte_eth_rx_queue_count(port, q));
	for (unsigned int who = 0; who < FUZZ_BOTH; who++)
		status[who] = rte_eth_rx_descriptor_status(fuzz_pair.port[who], q, offset);
	FUZZ_CHECK((status[FUZZ_OCTO] < 0) == (status[FUZZ_BARE] < 0),
		   "rx_descriptor_status of %u: the octo port: %d, a PF: %d", offset,
		   status[FUZZ_OCTO], status[FUZZ_BARE]);
}

static void
ask_tx_ring(uint16_t q, uint16_t offset)
{
	if (!is_set_up(q, true))
		return;
	FUZZ_BOTH_RETURN("tx_descriptor_status", rte_eth_tx_descriptor_status(port, q, offset));
	FUZZ_BOTH_RETURN("tx_done_cleanup", rte_eth_tx_done_cleanup(port, q, offset));
}

void
fuzz_ethdev_queue(struct fuzz_input *in)
{
	static const uint16_t offsets[] = {0, 1, 31, 63, 64, 511, 8192, UINT16_MAX};
	const uint8_t how = fuzz_u8(in);
	const uint16_t q = how & 7, offset = offsets[how >> 3 & 3];
	struct rte_eth_burst_mode mode;

	switch (how >> 5) {
	case 0:
		FUZZ_BOTH_RETURN("rx_queue_start", rte_eth_dev_rx_queue_start(port, q));
		return;
	case 1:
		FUZZ_BOTH_RETURN("rx_queue_stop", rte_eth_dev_rx_queue_stop(port, q));
		return;
	case 2:
		FUZZ_BOTH_RETURN("tx_queue_start", rte_eth_dev_tx_queue_start(port, q));
		return;
	case 3:
		FUZZ_BOTH_RETURN("tx_queue_stop", rte_eth_dev_tx_queue_stop(port, q));
		return;
	case 4:
		FUZZ_BOTH_RETURN("rx_intr", how & 8 ? rte_eth_dev_rx_intr_enable(port, q) :
						      rte_eth_dev_rx_intr_disable(port, q));
		return;
	case 5:
		FUZZ_BOTH_RETURN("rx_burst_mode_get", rte_eth_rx_burst_mode_get(port, q, &mode));
		FUZZ_BOTH_RETURN("tx_burst_mode_get", rte_eth_tx_burst_mode_get(port, q, &mode));
		return;
	case 6:
		return ask_rx_ring(q, offset);
	default:
		return ask_tx_ring(q, offset);
	}
}

/* Of each port by itself: all, by id and by name are the same. */
static void
ask_xstats(uint16_t port, uint8_t which)
{
	static struct rte_eth_xstat_name names[MAX_XSTATS];
	static struct rte_eth_xstat all[MAX_XSTATS];
	const int nb = rte_eth_xstats_get(port, NULL, 0);
	uint64_t ids[2] = {0, 0}, values[2], found = 0;
	int ret;

	FUZZ_CHECK(nb > 0 && nb <= MAX_XSTATS, "port %u has %d xstats", port, nb);
	FUZZ_CHECK(rte_eth_xstats_get(port, all, which % nb) == nb, "xstats: too little room");
	FUZZ_CHECK(rte_eth_xstats_get(port, all, nb) == nb, "xstats: not all");
	FUZZ_CHECK(rte_eth_xstats_get_names(port, names, nb) == nb, "xstats: not all names");
	ids[1] = which % nb;
	ret = rte_eth_xstats_get_by_id(port, ids, values, 2);
	FUZZ_CHECK(ret == 2 && values[1] == all[ids[1]].value,
		   "xstat %s by id: %d, %" PRIu64 " and not %" PRIu64, names[ids[1]].name, ret,
		   values[1], all[ids[1]].value);
	ret = rte_eth_xstats_get_id_by_name(port, names[ids[1]].name, &found);
	FUZZ_CHECK(ret == 0 && found == ids[1], "xstat %s by name: %d, %" PRIu64,
		   names[ids[1]].name, ret, found);
	ids[0] = nb;
	ret = rte_eth_xstats_get_by_id(port, ids, values, 1);
	FUZZ_CHECK(ret < 0, "xstat %u of %d: %d", nb, nb, ret);
}

void
fuzz_ethdev_question(struct fuzz_input *in)
{
	const uint8_t how = fuzz_u8(in);
	char version[32];

	fuzz_pair.counted = true;
	switch (how & 7) {
	case 0:
		FUZZ_BOTH_RETURN("stats_reset", rte_eth_stats_reset(port));
		return;
	case 1:
		FUZZ_BOTH_RETURN("xstats_reset", rte_eth_xstats_reset(port));
		return;
	case 2:
		FUZZ_BOTH_RETURN("fw_version_get",
				 rte_eth_dev_fw_version_get(port, version, how >> 3));
		return;
	case 3:
		FUZZ_BOTH_RETURN("is_removed", rte_eth_dev_is_removed(port));
		return;
	default:
		for (unsigned int who = 0; who < FUZZ_BOTH; who++)
			ask_xstats(fuzz_pair.port[who], fuzz_u8(in));
	}
}
