/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of ethdev that few drivers have, or few applications make. */

#include <errno.h>
#include <stdio.h>

#include <ethdev_driver.h>
#include <rte_flow.h>
#include <rte_mtr.h>
#include <rte_power_intrinsics.h>
#include <rte_tm.h>
#include <rte_version.h>

#include "fuzz_ethdev.h"

#define ROOM 64

static bool
is_started(void)
{
	return rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data->dev_started;
}

static void
conf_is_alike(void)
{
	struct rte_eth_conf conf[FUZZ_BOTH] = {0};

	FUZZ_BOTH_RETURN("conf_get", rte_eth_dev_conf_get(port, &conf[who]));
	FUZZ_CHECK(conf[0].rxmode.mtu == conf[1].rxmode.mtu &&
			   conf[0].rxmode.mq_mode == conf[1].rxmode.mq_mode &&
			   conf[0].rxmode.offloads == conf[1].rxmode.offloads &&
			   conf[0].txmode.offloads == conf[1].txmode.offloads &&
			   conf[0].intr_conf.rxq == conf[1].intr_conf.rxq &&
			   conf[0].intr_conf.lsc == conf[1].intr_conf.lsc,
		   "another configuration");
}

/* What an octo port, or a simulated PF, has not. */
static void
configure(uint8_t how)
{
	struct rte_eth_conf conf = {0};

	switch (how & 7) {
	case 0:
		conf.lpbk_mode = 1;
		break;
	case 1:
		conf.link_speeds = RTE_ETH_LINK_SPEED_FIXED | RTE_ETH_LINK_SPEED_100G;
		break;
	case 2:
		conf.intr_conf.rxq = 1;
		conf.intr_conf.lsc = 1;
		break;
	case 3:
		conf.rxmode.max_lro_pkt_size = 9000;
		conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO;
		break;
	case 4:
		conf.txmode.mq_mode = RTE_ETH_MQ_TX_NONE;
		conf.txmode.pvid = how;
		conf.txmode.hw_vlan_insert_pvid = 1;
		break;
	case 5:
		conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
		break;
	case 6:
		conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
		break;
	default:
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP;
		conf.rx_adv_conf.rss_conf.algorithm = how >> 3 & 7;
#endif
		break;
	}
	FUZZ_BOTH_RETURN("configure", rte_eth_dev_configure(port, 2, 2, &conf));
}

/* Headers into small buffers, if the offload is there. */
static void
split(uint16_t q, uint16_t length)
{
	struct rte_eth_rxconf conf[FUZZ_BOTH];
	union rte_eth_rxseg seg[FUZZ_BOTH][2];

	memset(seg, 0, sizeof(seg));
	for (unsigned int who = 0; who < FUZZ_BOTH; who++) {
		seg[who][0].split.mp = fuzz_pair.narrow[who];
		seg[who][0].split.length = length;
		seg[who][1].split.mp = fuzz_pair.pool[who];
		conf[who] = (struct rte_eth_rxconf){
			.rx_drop_en = 1,
			.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT,
			.rx_nseg = 2,
			.rx_seg = seg[who],
		};
	}
	FUZZ_BOTH_RETURN("rx_queue_setup",
			 rte_eth_rx_queue_setup(port, q, 64, 0, &conf[who], NULL));
}

static void
set_up_queue(uint8_t how)
{
	const struct rte_eth_rxconf rx = {.rx_drop_en = 1, .share_group = how >> 4 & 1};
	const struct rte_eth_txconf tx = {.tx_rs_thresh = how >> 3 & 1, .tx_free_thresh = how};
	const uint16_t q = how >> 5;

	switch (how & 3) {
	case 0:
		FUZZ_BOTH_RETURN("rx_queue_setup",
				 rte_eth_rx_queue_setup(port, q, 64, 0, &rx, fuzz_pair.pool[who]));
		return;
	case 1:
		FUZZ_BOTH_RETURN("tx_queue_setup", rte_eth_tx_queue_setup(port, q, 64, 0, &tx));
		return;
	case 2:
		FUZZ_BOTH_RETURN("rx_queue_setup",
				 rte_eth_rx_queue_setup(port, q, 64, 0, NULL, NULL));
		return;
	default:
		split(q, how & 4 ? 64 : 0);
	}
}

static void
module(uint8_t how)
{
	struct rte_eth_dev_module_info info;
	struct rte_dev_reg_info reg = {0};
	uint8_t room[ROOM] = {0};
	struct rte_dev_eeprom_info eeprom = {.data = room, .offset = how & 3, .length = how >> 2};

	FUZZ_BOTH_RETURN("get_module_info", rte_eth_dev_get_module_info(port, &info));
	FUZZ_BOTH_RETURN("get_module_eeprom", rte_eth_dev_get_module_eeprom(port, &eeprom));
	FUZZ_BOTH_RETURN("get_eeprom_length", rte_eth_dev_get_eeprom_length(port));
	FUZZ_BOTH_RETURN("get_eeprom", rte_eth_dev_get_eeprom(port, &eeprom));
	FUZZ_BOTH_RETURN("set_eeprom", rte_eth_dev_set_eeprom(port, &eeprom));
	FUZZ_BOTH_RETURN("get_reg_info", rte_eth_dev_get_reg_info(port, &reg));
}

static void
vlans(uint8_t how)
{
	const enum rte_vlan_type type = how & 3;

	FUZZ_BOTH_RETURN("vlan_ether_type",
			 rte_eth_dev_set_vlan_ether_type(port, type, 0x8100 + (how >> 2)));
	FUZZ_BOTH_RETURN("vlan_pvid", rte_eth_dev_set_vlan_pvid(port, how, how & 1));
}

static void
queue_limits(uint8_t how)
{
	uint16_t queue[FUZZ_BOTH] = {how & 7, how & 7};
	uint8_t level[FUZZ_BOTH] = {0};

	FUZZ_BOTH_RETURN("rx_queue_stats_mapping",
			 rte_eth_dev_set_rx_queue_stats_mapping(port, how & 7, how >> 3));
	FUZZ_BOTH_RETURN("tx_queue_stats_mapping",
			 rte_eth_dev_set_tx_queue_stats_mapping(port, how & 7, how >> 3));
	FUZZ_BOTH_RETURN("queue_rate_limit", rte_eth_set_queue_rate_limit(port, how & 7, how << 6));
	FUZZ_BOTH_RETURN("rx_avail_thresh_set", rte_eth_rx_avail_thresh_set(port, how & 7, how));
	FUZZ_BOTH_RETURN("rx_avail_thresh_query",
			 rte_eth_rx_avail_thresh_query(port, &queue[who], &level[who]));
}

static void
hashes(uint8_t how)
{
	struct rte_ether_addr mac = {{how & 8 ? 1 : 2, 0, 0, 0, 1, how & 7}};

	if (how >> 4 == 15)
		memset(&mac, 0, sizeof(mac));
	FUZZ_BOTH_RETURN("uc_hash_table_set",
			 rte_eth_dev_uc_hash_table_set(port, &mac, how >> 4 & 1));
	FUZZ_BOTH_RETURN("uc_all_hash_table_set",
			 rte_eth_dev_uc_all_hash_table_set(port, how >> 4 & 1));
}

static void
hairpins(uint8_t how)
{
	struct rte_eth_hairpin_conf conf = {.peer_count = how >> 3 & 3};
	struct rte_eth_hairpin_cap cap;
	uint16_t peers[RTE_MAX_ETHPORTS];

	FUZZ_BOTH_RETURN("hairpin_capability_get", rte_eth_dev_hairpin_capability_get(port, &cap));
	FUZZ_BOTH_RETURN("rx_hairpin_queue_setup",
			 rte_eth_rx_hairpin_queue_setup(port, how & 7, 64, &conf));
	FUZZ_BOTH_RETURN("tx_hairpin_queue_setup",
			 rte_eth_tx_hairpin_queue_setup(port, how & 7, 64, &conf));
	FUZZ_BOTH_RETURN("hairpin_bind", rte_eth_hairpin_bind(port, port));
	FUZZ_BOTH_RETURN("hairpin_unbind", rte_eth_hairpin_unbind(port, port));
	FUZZ_BOTH_RETURN("hairpin_get_peer_ports",
			 rte_eth_hairpin_get_peer_ports(port, peers, RTE_DIM(peers), how & 1));
}

static void
congestion(uint8_t how)
{
	struct rte_eth_pfc_queue_conf pfc = {.mode = how & 3};
	struct rte_eth_cman_config conf = {.obj = how & 1};
	struct rte_eth_cman_info info;
	struct rte_eth_dcb_info dcb;

	FUZZ_BOTH_RETURN("cman_info_get", rte_eth_cman_info_get(port, &info));
	FUZZ_BOTH_RETURN("cman_config_init", rte_eth_cman_config_init(port, &conf));
	FUZZ_BOTH_RETURN("cman_config_set", rte_eth_cman_config_set(port, &conf));
	FUZZ_BOTH_RETURN("cman_config_get", rte_eth_cman_config_get(port, &conf));
	FUZZ_BOTH_RETURN("get_dcb_info", rte_eth_dev_get_dcb_info(port, &dcb));
	FUZZ_BOTH_RETURN("priority_flow_ctrl_queue_configure",
			 rte_eth_dev_priority_flow_ctrl_queue_configure(port, &pfc));
}

static void
reassembly(uint8_t how)
{
	struct rte_eth_ip_reassembly_params params = {.timeout_ms = how, .max_frags = 2};

	FUZZ_BOTH_RETURN("ip_reassembly_capability_get",
			 rte_eth_ip_reassembly_capability_get(port, &params));
	FUZZ_BOTH_RETURN("ip_reassembly_conf_set", rte_eth_ip_reassembly_conf_set(port, &params));
	FUZZ_BOTH_RETURN("ip_reassembly_conf_get", rte_eth_ip_reassembly_conf_get(port, &params));
}

static void
metadata(uint8_t how)
{
	uint64_t features[FUZZ_BOTH] = {how & 7, how & 7};
	int ret[FUZZ_BOTH];

	for (unsigned int who = 0; who < FUZZ_BOTH; who++)
		ret[who] = rte_eth_rx_metadata_negotiate(fuzz_pair.port[who], &features[who]);
	fuzz_ethdev_check("rx_metadata_negotiate", ret);
	FUZZ_CHECK(ret[FUZZ_OCTO] != 0 || features[0] == features[1],
		   "other metadata: %" PRIx64 ", a PF: %" PRIx64, features[0], features[1]);
}

static void
interrupts(uint8_t how)
{
	const int op = how & 8 ? RTE_INTR_EVENT_ADD : RTE_INTR_EVENT_DEL;
	const uint16_t q = how & 7;
	int ret[FUZZ_BOTH];

	if (how & 16)
		FUZZ_BOTH_RETURN("rx_intr_ctl_q", rte_eth_dev_rx_intr_ctl_q(
							  port, q, RTE_EPOLL_PER_THREAD, op, NULL));
	for (unsigned int who = 0; who < FUZZ_BOTH; who++)
		ret[who] = rte_eth_dev_rx_intr_ctl_q_get_fd(fuzz_pair.port[who], q) >= 0;
	fuzz_ethdev_check("rx_intr_ctl_q_get_fd", ret);
}

static void
rings(uint8_t how)
{
	uint16_t nb[2][FUZZ_BOTH] = {{how << 3, how << 3}, {how << 6, how << 6}};
	FILE *sink = fopen("/dev/null", "w");

	FUZZ_CHECK(sink != NULL, "no sink");
	FUZZ_BOTH_RETURN("rx_descriptor_dump",
			 rte_eth_rx_descriptor_dump(port, how & 7, how >> 3, how >> 5, sink));
	FUZZ_BOTH_RETURN("tx_descriptor_dump",
			 rte_eth_tx_descriptor_dump(port, how & 7, how >> 3, how >> 5, sink));
	for (unsigned int who = 0; who < FUZZ_BOTH; who++)
		rte_eth_dev_priv_dump(fuzz_pair.port[who], sink);
	fclose(sink);
	FUZZ_BOTH_RETURN("adjust_nb_rx_tx_desc",
			 rte_eth_dev_adjust_nb_rx_tx_desc(port, &nb[0][who], &nb[1][who]));
	FUZZ_CHECK(nb[0][0] == nb[0][1] && nb[1][0] == nb[1][1],
		   "other numbers of descriptors: %u %u, a PF: %u %u", nb[0][0], nb[1][0], nb[0][1],
		   nb[1][1]);
}

/* What a poller does that may not sleep: it polls, and asks again. */
static void
watch(uint8_t how)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[fuzz_pair.port[FUZZ_OCTO]].data;
	struct rte_power_monitor_cond cond;
	const uint16_t q = how & 7;
	const bool runs = q < data->nb_rx_queues && data->dev_started &&
			  data->rx_queue_state[q] == RTE_ETH_QUEUE_STATE_STARTED;

	for (unsigned int who = 0; who < FUZZ_BOTH; who++) {
		data = rte_eth_devices[fuzz_pair.port[who]].data;
		if (q < data->nb_rx_queues && data->rx_queues[q] == NULL)
			return;
	}
	if (runs)
		fuzz_pair_drain();
	FUZZ_BOTH_RETURN(runs ? "get_monitor_addr" : "get_monitor_addr, stopped",
			 rte_eth_get_monitor_addr(port, q, &cond));
}

static void
types(uint8_t how)
{
	uint32_t headers[FUZZ_BOTH][ROOM] = {0};

	FUZZ_BOTH_RETURN("buffer_split_get_supported_hdr_ptypes",
			 rte_eth_buffer_split_get_supported_hdr_ptypes(port, headers[who],
								       how & (ROOM - 1)));
	FUZZ_CHECK(memcmp(headers[0], headers[1], sizeof(headers[0])) == 0, "other headers");
	FUZZ_BOTH_RETURN("representor_info_get", rte_eth_representor_info_get(port, NULL));
}

static void
links(void)
{
	struct rte_eth_link link[FUZZ_BOTH] = {0};

	FUZZ_BOTH_RETURN("link_get", rte_eth_link_get_nowait(port, &link[who]));
	FUZZ_CHECK(link[0].link_status == link[1].link_status &&
			   link[0].link_speed == link[1].link_speed &&
			   (link[0].link_status == RTE_ETH_LINK_DOWN ||
			    (link[0].link_duplex == link[1].link_duplex &&
			     link[0].link_autoneg == link[1].link_autoneg)),
		   "another link: %u %u %u %u, a PF: %u %u %u %u", link[0].link_status,
		   link[0].link_speed, link[0].link_duplex, link[0].link_autoneg,
		   link[1].link_status, link[1].link_speed, link[1].link_duplex,
		   link[1].link_autoneg);
}

/* Off, the clock is that of a PF; on, octo needs a started port, whose stop turns it off. */
static void
timesync(uint8_t how)
{
	struct timespec time = {.tv_sec = how};
	uint64_t clock;

	switch (how & 7) {
	case 0:
		FUZZ_BOTH_RETURN(is_started() ? "timesync_enable" : "timesync_enable, stopped",
				 rte_eth_timesync_enable(port));
		return;
	case 1:
		FUZZ_BOTH_RETURN("timesync_disable", rte_eth_timesync_disable(port));
		return;
	case 2:
		FUZZ_BOTH_RETURN("timesync_read_rx_timestamp",
				 rte_eth_timesync_read_rx_timestamp(port, &time, how >> 3));
		return;
	case 3:
		FUZZ_BOTH_RETURN("timesync_read_tx_timestamp",
				 rte_eth_timesync_read_tx_timestamp(port, &time));
		return;
	case 4:
		FUZZ_BOTH_RETURN("timesync_adjust_time",
				 rte_eth_timesync_adjust_time(port, how - 128));
		return;
	case 5:
		FUZZ_BOTH_RETURN("timesync_write_time", rte_eth_timesync_write_time(port, &time));
		return;
	case 6:
		FUZZ_BOTH_RETURN("timesync_read_time", rte_eth_timesync_read_time(port, &time));
		return;
	default:
		FUZZ_BOTH_RETURN("read_clock", rte_eth_read_clock(port, &clock));
	}
}

/* Aggregated ports are not compared: an octo port has one for each PF, a PF has none. */
static void
newest(uint8_t how)
{
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
	uint32_t lanes = 0;

	FUZZ_BOTH_RETURN("timesync_adjust_freq", rte_eth_timesync_adjust_freq(port, how));
	FUZZ_BOTH_RETURN("speed_lanes_get", rte_eth_speed_lanes_get(port, &lanes));
	FUZZ_BOTH_RETURN("speed_lanes_set", rte_eth_speed_lanes_set(port, how));
	FUZZ_BOTH_RETURN("speed_lanes_get_capability",
			 rte_eth_speed_lanes_get_capability(port, NULL, 0));
#endif
	RTE_SET_USED(how);
}

static void
meters(void)
{
	struct rte_mtr_capabilities mtr;
	struct rte_mtr_error mtr_error;
	struct rte_tm_capabilities tm;
	struct rte_tm_error tm_error;

	FUZZ_BOTH_RETURN("mtr_capabilities_get", rte_mtr_capabilities_get(port, &mtr, &mtr_error));
	FUZZ_BOTH_RETURN("tm_capabilities_get", rte_tm_capabilities_get(port, &tm, &tm_error));
}

/* Rules are those of the target flow. */
static void
flows(uint8_t how)
{
	struct rte_flow_error error;

	if (how & 1)
		FUZZ_BOTH_RETURN("flow_isolate", rte_flow_isolate(port, how >> 1 & 1, &error));
	else
		FUZZ_BOTH_RETURN("flow_flush", rte_flow_flush(port, &error));
}

static void
unlike(uint8_t how)
{
	switch (how & 3) {
	case 0:
		conf_is_alike();
		return;
	case 1:
		links();
		return;
	case 2:
		meters();
		return;
	default:
		newest(how >> 2);
	}
}

const char *
fuzz_ethdev_rare(struct fuzz_input *in)
{
	static const struct {
		const char *name;
		void (*run)(uint8_t how);
	} calls[] = {
		{"configure", configure},   {"set up a queue", set_up_queue},
		{"module", module},         {"VLANs", vlans},
		{"limits", queue_limits},   {"hashes", hashes},
		{"hairpins", hairpins},     {"congestion", congestion},
		{"reassembly", reassembly}, {"metadata", metadata},
		{"interrupts", interrupts}, {"rings", rings},
		{"monitor", watch},         {"types", types},
		{"timesync", timesync},     {"flows", flows},
		{"the rest", unlike},
	};
	const unsigned int which = fuzz_u8(in) % RTE_DIM(calls);

	calls[which].run(fuzz_u8(in));
	return calls[which].name;
}
