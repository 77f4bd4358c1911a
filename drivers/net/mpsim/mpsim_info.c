/* SPDX-License-Identifier: BSD-3-Clause */

#include "mpsim.h"
#include "mpsim_caps.h"
#include "octo_selective_rx.h"

#define RX_QUEUE_OFFLOADS                                                                          \
	(RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_SCATTER)

#define RX_OFFLOADS                                                                                \
	(RX_QUEUE_OFFLOADS | RTE_ETH_RX_OFFLOAD_VLAN_FILTER | RTE_ETH_RX_OFFLOAD_RSS_HASH)

#define TX_OFFLOADS                                                                                \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_VLAN_INSERT |                           \
	 RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE)

static void
set_queue_limits(struct rte_eth_dev_info *info)
{
	const struct rte_eth_desc_lim lim = {
		.nb_max = MPSIM_DESC_MAX,
		.nb_min = MPSIM_DESC_MIN,
		.nb_align = 1,
	};
	const struct rte_eth_dev_portconf preferred = {
		.burst_size = MPSIM_BURST,
		.ring_size = MPSIM_DESC_DEFAULT,
		.nb_queues = 1,
	};

	info->rx_desc_lim = lim;
	info->tx_desc_lim = lim;
	info->default_rxportconf = preferred;
	info->default_txportconf = preferred;
}

/* Posted buffers are of one pool. */
static void
offer_split(const struct mpsim_pf *pf, struct rte_eth_dev_info *info)
{
	if (!mpsim_caps_has(pf, MPSIM_CAP_SPLIT) || pf->args.fill_rings != 0)
		return;
	info->rx_queue_offload_capa |= RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	info->rx_seg_capa.multi_pools = 1;
	info->rx_seg_capa.offset_allowed = 1;
	info->rx_seg_capa.max_nseg = MPSIM_MAX_SEGS;
	octo_selective_rx_set(&info->rx_seg_capa, mpsim_caps_has(pf, MPSIM_CAP_SELECTIVE));
}

int
mpsim_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	info->max_rx_queues = pf->args.queues;
	info->max_tx_queues = pf->args.queues;
	info->max_mtu = pf->args.max_mtu;
	info->min_mtu = MPSIM_MTU_MIN;
	info->max_rx_pktlen = pf->args.max_mtu + MPSIM_OVERHEAD;
	info->min_rx_bufsize = MPSIM_BUF_MIN;
	info->max_mac_addrs = MPSIM_MAX_MACS;
	info->rx_queue_offload_capa = RX_QUEUE_OFFLOADS;
	info->rx_offload_capa = RX_OFFLOADS;
	info->tx_queue_offload_capa = TX_OFFLOADS;
	info->tx_offload_capa = TX_OFFLOADS;
	info->flow_type_rss_offloads = MPSIM_RSS_HF;
	info->reta_size = mpsim_caps_has(pf, MPSIM_CAP_RETA) ? MPSIM_RSS_RETA_SIZE : 0;
	info->hash_key_size = MPSIM_RSS_KEY_LEN;
	info->speed_capa = RTE_ETH_LINK_SPEED_100G;
	info->default_rxconf.rx_drop_en = 1;
	info->dev_capa = RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP | RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP;
	if (mpsim_caps_has(pf, MPSIM_CAP_RUNTIME))
		info->dev_capa |= RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP |
				  RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP;
	info->if_index = pf->args.ifindex;
	info->switch_info.name = pf->nic->name;
	info->switch_info.domain_id = pf->nic->switch_domain;
	info->switch_info.port_id = pf->index;
	set_queue_limits(info);
	offer_split(pf, info);
	return 0;
}

const uint32_t *
mpsim_ptypes_get(struct rte_eth_dev *dev, size_t *n)
{
	static const uint32_t ptypes[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L2_ETHER_ARP,
		RTE_PTYPE_L2_ETHER_VLAN,
		RTE_PTYPE_L2_ETHER_QINQ,
		RTE_PTYPE_L3_IPV4,
		RTE_PTYPE_L3_IPV4_EXT,
		RTE_PTYPE_L3_IPV6,
		RTE_PTYPE_L3_IPV6_EXT,
		RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L4_UDP,
		RTE_PTYPE_L4_SCTP,
		RTE_PTYPE_L4_ICMP,
		RTE_PTYPE_L4_FRAG,
		RTE_PTYPE_L4_NONFRAG,
		/* ends the list for an older DPDK, which has no length */
		RTE_PTYPE_UNKNOWN,
	};

	RTE_SET_USED(dev);
	*n = RTE_DIM(ptypes) - 1;
	return ptypes;
}

int
mpsim_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	strlcpy(mode->info, "Scalar, simulated", sizeof(mode->info));
	return 0;
}

int
mpsim_tx_burst_mode_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	mpsim_burst_mode_get(dev, queue, mode);
	if (pf->args.tx_nodes == MPSIM_TX_NODES_HINT)
		strlcat(mode->info, ", " OCTO_TX_HINT_MODE, sizeof(mode->info));
	return 0;
}
