/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_malloc.h>

#include "octosim.h"
#include "octosim_async.h"
#include "octosim_filter.h"
#include "octosim_flow.h"

static bool
is_secondary(const struct rte_eth_dev *dev, const char *what)
{
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		return false;
	OCTOSIM_LOG(ERR, dev->data->name, "%s is up to the primary process", what);
	return true;
}

static int
octosim_configure(struct rte_eth_dev *dev)
{
	struct octosim_pf *pf = dev->data->dev_private;

	if (is_secondary(dev, "configuring"))
		return -ENOTSUP;
	octosim_nic_lock(pf->nic);
	pf->nb_rxq = dev->data->nb_rx_queues;
	pf->vlan_filter = (dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) !=
			  0;
	octosim_nic_unlock(pf->nic);
	return octosim_rss_configure(pf, &dev->data->dev_conf);
}

/* ethdev starts a port that lacks queues as well */
static int
check_queues(const struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			continue;
		OCTOSIM_LOG(ERR, dev->data->name, "Rx queue %u is not set up", i);
		return -EINVAL;
	}
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] != NULL)
			continue;
		OCTOSIM_LOG(ERR, dev->data->name, "Tx queue %u is not set up", i);
		return -EINVAL;
	}
	return 0;
}

static void
start_queues(struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		const struct octosim_rxq *q = dev->data->rx_queues[i];

		if (!q->deferred_start)
			octosim_rx_queue_start(dev, i);
	}
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct octosim_txq *q = dev->data->tx_queues[i];

		if (!q->deferred_start)
			octosim_tx_queue_start(dev, i);
	}
}

static void
stop_queues(struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		if (dev->data->tx_queues[i] != NULL)
			octosim_tx_queue_stop(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] == NULL)
			continue;
		octosim_rx_queue_stop(dev, i);
		/* the application may free the pool next */
		octosim_rx_queue_drain(dev, i);
	}
}

/* Copies on Tx are only ever made for an offload. */
static bool
needs_copies(const struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct octosim_txq *q = dev->data->tx_queues[i];

		if (q->offloads &
		    ~(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE | RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
			return true;
	}
	return false;
}

static int
start_nic(struct rte_eth_dev *dev)
{
	struct octosim_pf *pf = dev->data->dev_private;
	struct octosim_nic *nic = pf->nic;
	const uint32_t bit = 1u << pf->index;
	int ret = 0;

	octosim_control_lock();
	if (needs_copies(dev))
		ret = octosim_nic_need_pool(nic);
	if (ret == 0 && rte_atomic_load_explicit(&nic->started, rte_memory_order_relaxed) == 0)
		ret = octosim_wire_start(nic);
	if (ret == 0)
		/* pairs with the acquire in octosim_wire_has_listener() */
		rte_atomic_fetch_or_explicit(&nic->started, bit, rte_memory_order_release);
	octosim_control_unlock();
	return ret;
}

static void
stop_nic(struct octosim_pf *pf)
{
	struct octosim_nic *nic = pf->nic;
	const uint32_t bit = 1u << pf->index;

	octosim_control_lock();
	if (rte_atomic_fetch_and_explicit(&nic->started, ~bit, rte_memory_order_acq_rel) == bit)
		octosim_wire_stop(nic);
	octosim_control_unlock();
}

static void
set_started(struct octosim_pf *pf, bool on)
{
	octosim_nic_lock(pf->nic);
	pf->started = on;
	if (!on)
		pf->nic->stats.lost += octosim_pipe_drop(&pf->pipe, NULL);
	pf->max_frame = pf->data->mtu + OCTOSIM_OVERHEAD;
	octosim_nic_unlock(pf->nic);
}

static int
octosim_start(struct rte_eth_dev *dev)
{
	struct octosim_pf *pf = dev->data->dev_private;
	int ret;

	if (is_secondary(dev, "starting"))
		return -ENOTSUP;
	ret = check_queues(dev);
	if (ret == 0)
		ret = start_nic(dev);
	if (ret != 0)
		return ret;
	start_queues(dev);
	set_started(pf, true);
	octosim_link_update(dev, 0);
	if (dev->data->dev_link.link_status == RTE_ETH_LINK_DOWN)
		octosim_link_recheck();
	return 0;
}

static int
octosim_stop(struct rte_eth_dev *dev)
{
	const struct rte_eth_link down = {.link_status = RTE_ETH_LINK_DOWN};
	struct octosim_pf *pf = dev->data->dev_private;

	if (is_secondary(dev, "stopping"))
		return -ENOTSUP;
	set_started(pf, false);
	stop_queues(dev);
	stop_nic(pf);
	rte_eth_linkstatus_set(dev, &down);
	return 0;
}

static int
octosim_mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct octosim_pf *pf = dev->data->dev_private;

	octosim_nic_lock(pf->nic);
	pf->max_frame = mtu + OCTOSIM_OVERHEAD;
	octosim_nic_unlock(pf->nic);
	return 0;
}

static void
release_queues(struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++)
		octosim_rx_queue_release(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		octosim_tx_queue_release(dev, i);
	dev->data->nb_rx_queues = 0;
	dev->data->nb_tx_queues = 0;
}

int
octosim_close(struct rte_eth_dev *dev)
{
	struct octosim_pf *pf = dev->data->dev_private;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	octosim_tell_no_more(pf);
	if (pf->started)
		octosim_stop(dev);
	release_queues(dev);
	octosim_flow_free_all(pf);
	octosim_indirect_free_all(pf);
	octosim_template_free_all(pf);
	octosim_table_free(&pf->arfs);
	octosim_generic_free(&pf->generic);
	octosim_pipe_free(&pf->pipe);
	rte_free(pf->charges);
	pf->charges = NULL;
	octosim_control_lock();
	octosim_nic_remove_pf(pf->nic, pf);
	octosim_control_unlock();
	return 0;
}

/* One that is taken out by its driver still answers. */
static int
octosim_is_removed(struct rte_eth_dev *dev)
{
	const struct octosim_pf *pf = dev->data->dev_private;

	return pf->unplugged && pf->mute == OCTOSIM_MUTE_DEAD;
}

const struct eth_dev_ops octosim_ops = {
	.is_removed = octosim_is_removed,
	.dev_configure = octosim_configure,
	.dev_start = octosim_start,
	.dev_stop = octosim_stop,
	.dev_close = octosim_close,
	.dev_infos_get = octosim_infos_get,
	.dev_set_link_up = octosim_set_link_up,
	.dev_set_link_down = octosim_set_link_down,
	.link_update = octosim_link_update,
	.mtu_set = octosim_mtu_set,
	.promiscuous_enable = octosim_promiscuous_enable,
	.promiscuous_disable = octosim_promiscuous_disable,
	.allmulticast_enable = octosim_allmulticast_enable,
	.allmulticast_disable = octosim_allmulticast_disable,
	.mac_addr_set = octosim_mac_addr_set,
	.mac_addr_add = octosim_mac_addr_add,
	.mac_addr_remove = octosim_mac_addr_remove,
	.set_mc_addr_list = octosim_mc_addr_list_set,
	.vlan_filter_set = octosim_vlan_filter_set,
	.vlan_offload_set = octosim_vlan_offload_set,
	.vlan_strip_queue_set = octosim_vlan_strip_queue_set,
	.rss_hash_update = octosim_rss_hash_update,
	.rss_hash_conf_get = octosim_rss_hash_conf_get,
	.reta_update = octosim_reta_update,
	.reta_query = octosim_reta_query,
	.rx_queue_setup = octosim_rx_queue_setup,
	.rx_queue_release = octosim_rx_queue_release,
	.rx_queue_start = octosim_rx_queue_start,
	.rx_queue_stop = octosim_rx_queue_stop,
	.tx_queue_setup = octosim_tx_queue_setup,
	.tx_queue_release = octosim_tx_queue_release,
	.tx_queue_start = octosim_tx_queue_start,
	.tx_queue_stop = octosim_tx_queue_stop,
	.rxq_info_get = octosim_rxq_info_get,
	.txq_info_get = octosim_txq_info_get,
	.rx_burst_mode_get = octosim_burst_mode_get,
	.tx_burst_mode_get = octosim_tx_burst_mode_get,
	.tx_done_cleanup = octosim_tx_done_cleanup,
	.dev_supported_ptypes_get = octosim_ptypes_get,
	.stats_get = octosim_stats_get,
	.stats_reset = octosim_stats_reset,
	.xstats_get = octosim_xstats_get,
	.xstats_get_names = octosim_xstats_get_names,
	.xstats_reset = octosim_stats_reset,
	.flow_ops_get = octosim_flow_ops_get,
};

void
octosim_set_bursts(struct rte_eth_dev *dev)
{
	dev->dev_ops = &octosim_ops;
	dev->rx_pkt_burst = octosim_rx_burst;
	dev->tx_pkt_burst = octosim_tx_burst;
	dev->rx_queue_count = octosim_rx_queue_count;
	dev->rx_descriptor_status = octosim_rx_descriptor_status;
	dev->tx_descriptor_status = octosim_tx_descriptor_status;
}
