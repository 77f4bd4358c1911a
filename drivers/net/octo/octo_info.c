/* SPDX-License-Identifier: BSD-3-Clause */

/* The port's capabilities: those that all PFs have. */

#include <errno.h>

#include "octo_private.h"
#include "octo_selective_rx.h"

/*
 * Offloads that octo passes on if all PFs have them. Others, as those that a newer ethdev adds,
 * are hidden; see "Not offered" in doc/guides/nics/octo.rst.
 */
#define RX_OFFLOADS_SERVED                                                                         \
	(RTE_ETH_RX_OFFLOAD_VLAN | RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_SCTP_CKSUM |   \
	 RTE_ETH_RX_OFFLOAD_OUTER_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_OUTER_UDP_CKSUM |                \
	 RTE_ETH_RX_OFFLOAD_TCP_LRO | RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_KEEP_CRC |   \
	 RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT)
#define TX_OFFLOADS_SERVED                                                                         \
	(RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_QINQ_INSERT |                         \
	 RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_SCTP_CKSUM |                            \
	 RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_OUTER_UDP_CKSUM |                \
	 RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO |                                 \
	 RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO |                       \
	 RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO | RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO |                     \
	 RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO | RTE_ETH_TX_OFFLOAD_IP_TNL_TSO |                          \
	 RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE)
/* octo_rss_queue.c computes this hash. */
#define RSS_ALGORITHMS_SERVED                                                                      \
	(RTE_ETH_HASH_ALGO_CAPA_MASK(DEFAULT) | RTE_ETH_HASH_ALGO_CAPA_MASK(TOEPLITZ))
#define RUNTIME_SETUP                                                                              \
	(RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP | RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP)

static void
narrow_desc_lim(struct rte_eth_desc_lim *lim, const struct rte_eth_desc_lim *pf)
{
	lim->nb_max = RTE_MIN(lim->nb_max, pf->nb_max);
	lim->nb_min = RTE_MAX(lim->nb_min, pf->nb_min);
	lim->nb_align = RTE_MAX(lim->nb_align, pf->nb_align);
	lim->nb_seg_max = RTE_MIN(lim->nb_seg_max, pf->nb_seg_max);
	lim->nb_mtu_seg_max = RTE_MIN(lim->nb_mtu_seg_max, pf->nb_mtu_seg_max);
}

/* What both can do with segments; what a newer ethdev adds is hidden. */
static struct rte_eth_rxseg_capa
common_segments(const struct rte_eth_rxseg_capa *a, const struct rte_eth_rxseg_capa *b)
{
	const uint16_t max_nseg = RTE_MIN(a->max_nseg, b->max_nseg);
	struct rte_eth_rxseg_capa both = {
		.multi_pools = a->multi_pools & b->multi_pools,
		.offset_allowed = a->offset_allowed & b->offset_allowed,
		.offset_align_log2 = a->offset_align_log2 > b->offset_align_log2 ?
					     a->offset_align_log2 :
					     b->offset_align_log2,
		.max_nseg = RTE_MIN(max_nseg, OCTO_MAX_SEGS),
	};

	octo_selective_rx_set(&both, octo_selective_rx_get(a) && octo_selective_rx_get(b));
	return both;
}

static void
narrow_limits(struct rte_eth_dev_info *info, const struct rte_eth_dev_info *pf)
{
	info->min_mtu = RTE_MAX(info->min_mtu, pf->min_mtu);
	info->max_mtu = RTE_MIN(info->max_mtu, pf->max_mtu);
	info->min_rx_bufsize = RTE_MAX(info->min_rx_bufsize, pf->min_rx_bufsize);
	info->max_rx_bufsize = RTE_MIN(info->max_rx_bufsize, pf->max_rx_bufsize);
	info->max_rx_pktlen = RTE_MIN(info->max_rx_pktlen, pf->max_rx_pktlen);
	info->max_lro_pkt_size = RTE_MIN(info->max_lro_pkt_size, pf->max_lro_pkt_size);
	info->max_rx_queues = RTE_MIN(info->max_rx_queues, pf->max_rx_queues);
	info->max_tx_queues = RTE_MIN(info->max_tx_queues, pf->max_tx_queues);
	info->max_mac_addrs = RTE_MIN(info->max_mac_addrs, pf->max_mac_addrs);
	info->speed_capa &= pf->speed_capa;
	narrow_desc_lim(&info->rx_desc_lim, &pf->rx_desc_lim);
	narrow_desc_lim(&info->tx_desc_lim, &pf->tx_desc_lim);
	info->rx_seg_capa = common_segments(&info->rx_seg_capa, &pf->rx_seg_capa);
}

static void
narrow_features(struct rte_eth_dev_info *info, const struct rte_eth_dev_info *pf)
{
	info->rx_offload_capa &= pf->rx_offload_capa;
	info->tx_offload_capa &= pf->tx_offload_capa;
	info->rx_queue_offload_capa &= pf->rx_queue_offload_capa;
	info->tx_queue_offload_capa &= pf->tx_queue_offload_capa;
	info->flow_type_rss_offloads &= pf->flow_type_rss_offloads;
	info->rss_algo_capa &= pf->rss_algo_capa;
	info->dev_capa &= pf->dev_capa;
	/* tables or keys of different sizes cannot be set alike */
	if (info->reta_size != pf->reta_size)
		info->reta_size = 0;
	if (info->hash_key_size != pf->hash_key_size)
		info->hash_key_size = 0;
}

static void
hide_tx_offload(struct rte_eth_dev_info *info, uint64_t offload)
{
	info->tx_offload_capa &= ~offload;
	info->tx_queue_offload_capa &= ~offload;
	info->default_txconf.offloads &= ~offload;
}

/* Hide features of a single port that octo does not pass on. */
static void
hide_features(struct rte_eth_dev_info *info)
{
	info->rx_offload_capa &= RX_OFFLOADS_SERVED;
	info->rx_queue_offload_capa &= RX_OFFLOADS_SERVED;
	hide_tx_offload(info, ~TX_OFFLOADS_SERVED);
	info->default_rxconf.offloads &= info->rx_offload_capa;
	info->default_txconf.offloads &= info->tx_offload_capa;
	info->rss_algo_capa &= RSS_ALGORITHMS_SERVED;
	if (info->reta_size > OCTO_MAX_RETA)
		info->reta_size = 0;
	if (info->hash_key_size > OCTO_MAX_RSS_KEY)
		info->hash_key_size = 0;
	/*
	 * octo itself keeps and restores the rules and shared objects. A secondary process, which
	 * cannot set queues up, must not offer it: ethdev would release the queue before it asks.
	 */
	info->dev_capa &= octo_legs_borrowed ? 0 : RUNTIME_SETUP;
	info->dev_capa |= RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP |
			  RTE_ETH_DEV_CAPA_FLOW_SHARED_OBJECT_KEEP;
	if ((info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT) == 0)
		info->rx_seg_capa = (struct rte_eth_rxseg_capa){0};
	info->max_hash_mac_addrs = 0;
	info->max_vfs = 0;
	info->max_vmdq_pools = 0;
	info->vmdq_queue_base = 0;
	info->vmdq_queue_num = 0;
	info->vmdq_pool_base = 0;
	info->if_index = 0;
	info->err_handle_mode = RTE_ETH_ERROR_HANDLE_MODE_NONE;
	info->switch_info = (struct rte_eth_switch_info){
		.domain_id = RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID};
}

/* What ethdev takes where the application leaves it open: all PFs must take it. */
static void
narrow_preferred(struct rte_eth_dev_portconf *preferred, const struct rte_eth_desc_lim *lim,
		 uint16_t max_queues)
{
	const uint16_t size = RTE_MAX(RTE_MIN(preferred->ring_size, lim->nb_max), lim->nb_min);

	preferred->nb_queues = RTE_MIN(preferred->nb_queues, max_queues);
	if (preferred->ring_size != 0)
		preferred->ring_size = size - size % RTE_MAX(lim->nb_align, 1);
}

/* A PF that is gone counts with its last capabilities. -ENODEV: it was never there. */
static int
info_of(const struct octo_port *port, struct rte_eth_dev_info *info)
{
	struct octo_use use;
	int ret;

	if (octo_users_enter(port, &use)) {
		ret = rte_eth_dev_info_get(use.port_id, info);
		octo_users_leave(&use);
		octo_nic_offer(port, info);
		return ret;
	}
	*info = port->past.info;
	return port->past.device[0] == '\0' ? -ENODEV : 0;
}

int
octo_info_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct octo_dev *octo = octo_of(dev);
	struct rte_eth_dev_info pf;
	bool first = true;
	int ret;
	int i;

	for (i = 0; i < octo->nb_ports; i++) {
		ret = info_of(&octo->port[i], &pf);
		if (ret == -ENODEV)
			continue;
		if (ret != 0)
			return ret;
		if (first)
			*info = pf;
		narrow_limits(info, &pf);
		narrow_features(info, &pf);
		first = false;
	}
	if (first)
		return -ENODEV;
	hide_features(info);
	if (octo->sliced)
		octo_slices_narrow(octo, info);
	narrow_preferred(&info->default_rxportconf, &info->rx_desc_lim, info->max_rx_queues);
	narrow_preferred(&info->default_txportconf, &info->tx_desc_lim, info->max_tx_queues);
	info->max_rx_mempools = octo->nb_pfs;
	/* the offload requires all packets of a Tx queue to be of one pool */
	if (octo->clone_pools)
		hide_tx_offload(info, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	if (octo->nb_macs != 0)
		info->max_mac_addrs = RTE_MIN(info->max_mac_addrs, octo->nb_macs);
	/* ethdev fills these from the PF's data above; they must be the octo port's */
	info->device = dev->device;
	info->driver_name = dev->device != NULL && dev->device->driver != NULL ?
				    dev->device->driver->name :
				    OCTO_DRIVER_NAME;
	info->dev_flags = &dev->data->dev_flags;
	info->nb_rx_queues = dev->data->nb_rx_queues;
	info->nb_tx_queues = dev->data->nb_tx_queues;
	return 0;
}

static int
check_limit(const struct octo_dev *octo, int i, const char *what, uint32_t first, uint32_t pf)
{
	if (first == pf)
		return 0;
	OCTO_LOG(ERR, "%s: PF %s has %s %u but PF %s has %u: the PFs of one NIC are alike",
		 octo_data(octo)->name, octo->port[i].name, what, pf,
		 octo->port[octo_port_first(octo, OCTO_PORT_IDLE)].name, first);
	return -EINVAL;
}

/* PFs of one NIC have the same limits; different limits mean that pf= names a wrong port. */
int
octo_info_check_alike(struct octo_dev *octo)
{
	const int known = octo_port_first(octo, OCTO_PORT_IDLE);
	struct rte_eth_dev_info first, pf;
	int ret = rte_eth_dev_info_get(octo->port[known].port_id, &first);
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		if (ret != 0)
			break;
		ret = rte_eth_dev_info_get(octo->port[i].port_id, &pf);
		if (ret != 0)
			break;
		ret = check_limit(octo, i, "max MTU", first.max_mtu, pf.max_mtu);
		if (ret == 0)
			ret = check_limit(octo, i, "min MTU", first.min_mtu, pf.min_mtu);
		if (ret == 0)
			ret = check_limit(octo, i, "max Rx queues", first.max_rx_queues,
					  pf.max_rx_queues);
		if (ret == 0)
			ret = check_limit(octo, i, "max Tx queues", first.max_tx_queues,
					  pf.max_tx_queues);
	}
	return ret;
}

#define MAX_PTYPES 128

static bool
contains(const uint32_t *list, int n, uint32_t ptype)
{
	for (int i = 0; i < n; i++)
		if (list[i] == ptype)
			return true;
	return false;
}

/*
 * The PF's packet types, or those at which it can split; at most MAX_PTYPES. -1 if it is about to
 * be removed.
 */
static int
ptypes_of(const struct octo_port *port, bool split, uint32_t *ptypes)
{
	struct octo_use use;
	int n;

	if (!octo_users_enter(port, &use))
		return -1;
	if (split)
		n = rte_eth_buffer_split_get_supported_hdr_ptypes(use.port_id, ptypes, MAX_PTYPES);
	else
		n = rte_eth_dev_get_supported_ptypes(use.port_id, RTE_PTYPE_ALL_MASK, ptypes,
						     MAX_PTYPES);
	octo_users_leave(&use);
	return RTE_MIN(RTE_MAX(n, 0), MAX_PTYPES);
}

/* Keep only types that this PF knows, too; returns how many are left. */
static int
narrow_ptypes(const uint32_t *pf, int n, uint32_t *kept, int nb_kept)
{
	int left = 0;

	for (int i = 0; i < nb_kept; i++)
		if (contains(pf, n, kept[i]))
			kept[left++] = kept[i];
	return left;
}

/* The types of all PFs, MAX_PTYPES + 1 at most with the end; NULL: none. */
static const uint32_t *
common_ptypes(const struct octo_dev *octo, bool split, uint32_t *ptypes, size_t *n)
{
	uint32_t pf[MAX_PTYPES];
	int nb = -1;
	int i;

	*n = 0;
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		const int known = ptypes_of(&octo->port[i], split, nb < 0 ? ptypes : pf);

		if (nb < 0)
			nb = known;
		else if (known >= 0)
			nb = narrow_ptypes(pf, known, ptypes, nb);
	}
	if (nb <= 0)
		return NULL;
	ptypes[nb] = RTE_PTYPE_UNKNOWN;
	*n = (size_t)nb;
	return ptypes;
}

/* The lists are kept per thread: ethdev reads them before it returns to the caller. */
const uint32_t *
octo_ptypes_get(struct rte_eth_dev *dev, size_t *n)
{
	static __thread uint32_t ptypes[MAX_PTYPES + 1];

	return common_ptypes(octo_of(dev), false, ptypes, n);
}

const uint32_t *
octo_split_ptypes_get(struct rte_eth_dev *dev, size_t *n)
{
	static __thread uint32_t ptypes[MAX_PTYPES + 1];

	return common_ptypes(octo_of(dev), true, ptypes, n);
}

/*
 * Returns which capability the PF lacks, or NULL. A capability that was offered must not be
 * withdrawn, as an application may rely on it.
 */
static const char *
lacks(struct octo_dev *octo, const struct rte_eth_dev_info *pf)
{
	struct rte_eth_dev_info all, one = *pf;

	if (octo_info_get(&rte_eth_devices[octo->port_id], &all) != 0)
		return NULL;
	if (octo->sliced)
		octo_slices_narrow(octo, &one);
	if (one.max_rx_queues < all.max_rx_queues || one.max_tx_queues < all.max_tx_queues)
		return "queues";
	if (pf->max_mtu < all.max_mtu || pf->min_mtu > all.min_mtu)
		return "an MTU";
	if ((all.rx_offload_capa & ~pf->rx_offload_capa) != 0)
		return "Rx offloads";
	if (octo_selective_rx_get(&all.rx_seg_capa) && !octo_selective_rx_get(&pf->rx_seg_capa))
		return "selective Rx";
	if ((all.tx_offload_capa & ~pf->tx_offload_capa) != 0)
		return "Tx offloads";
	if ((all.dev_capa & ~pf->dev_capa & RUNTIME_SETUP) != 0)
		return "setup of queues of a running port";
	if ((all.flow_type_rss_offloads & ~pf->flow_type_rss_offloads) != 0)
		return "RSS types";
	if (all.reta_size != 0 && pf->reta_size != all.reta_size)
		return "a size of the RETA";
	if (all.hash_key_size != 0 && pf->hash_key_size != all.hash_key_size)
		return "a size of the RSS key";
	if (pf->max_mac_addrs < all.max_mac_addrs)
		return "MAC addresses";
	if (pf->rx_desc_lim.nb_max < all.rx_desc_lim.nb_max ||
	    pf->tx_desc_lim.nb_max < all.tx_desc_lim.nb_max)
		return "descriptors";
	return NULL;
}

/* Does the port offer what the octo port does, and do slices fit it? Logs why not. */
bool
octo_info_can_replace(struct octo_dev *octo, const struct octo_port *port,
		      const struct rte_eth_dev_info *info)
{
	const char *lack = lacks(octo, info);

	if (lack == NULL)
		return !octo->sliced || octo_slices_fit(octo, info) == 0;
	if (!port->fsm.logged)
		OCTO_LOG(ERR, "port %u: PF %s stays out: the port offers %s that it has not",
			 octo->port_id, port->name, lack);
	return false;
}
