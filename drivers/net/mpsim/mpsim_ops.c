/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_malloc.h>

#include "mpsim.h"
#include "mpsim_async.h"
#include "mpsim_filter.h"
#include "mpsim_flow.h"
#include "mpsim_intr.h"

static bool
is_secondary(const struct rte_eth_dev *dev, const char *what)
{
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		return false;
	MPSIM_LOG(ERR, dev->data->name, "%s is up to the primary process", what);
	return true;
}

static int
mpsim_configure(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	if (is_secondary(dev, "configuring"))
		return -ENOTSUP;
	mpsim_nic_lock(pf->nic);
	pf->nb_rxq = dev->data->nb_rx_queues;
	pf->vlan_filter = (dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) !=
			  0;
	mpsim_nic_unlock(pf->nic);
	return mpsim_rss_configure(pf, &dev->data->dev_conf);
}

/* ethdev starts a port even if queues are not set up */
static int
check_queues(const struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			continue;
		MPSIM_LOG(ERR, dev->data->name, "Rx queue %u is not set up", i);
		return -EINVAL;
	}
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] != NULL)
			continue;
		MPSIM_LOG(ERR, dev->data->name, "Tx queue %u is not set up", i);
		return -EINVAL;
	}
	return 0;
}

static int
start_queues(struct rte_eth_dev *dev)
{
	int ret = 0;

	for (uint16_t i = 0; i < dev->data->nb_rx_queues && ret == 0; i++) {
		const struct mpsim_rxq *q = dev->data->rx_queues[i];

		if (!q->deferred_start)
			ret = mpsim_rx_queue_start(dev, i);
	}
	if (ret != 0)
		return ret;
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct mpsim_txq *q = dev->data->tx_queues[i];

		if (!q->deferred_start)
			mpsim_tx_queue_start(dev, i);
	}
	return 0;
}

static void
stop_queues(struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		if (dev->data->tx_queues[i] != NULL)
			mpsim_tx_queue_stop(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] == NULL)
			continue;
		mpsim_rx_queue_stop(dev, i);
		/* the application may free the pool next */
		mpsim_rx_queue_drain(dev, i);
	}
}

static int
start_nic(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_nic *nic = pf->nic;
	const uint32_t bit = 1u << pf->index;
	int ret = 0;

	mpsim_control_lock();
	if (rte_atomic_load_explicit(&nic->started, rte_memory_order_relaxed) == 0)
		ret = mpsim_wire_start(nic);
	if (ret == 0)
		/* pairs with the acquire in mpsim_wire_has_listener() */
		rte_atomic_fetch_or_explicit(&nic->started, bit, rte_memory_order_release);
	mpsim_control_unlock();
	return ret;
}

static void
stop_nic(struct mpsim_pf *pf)
{
	struct mpsim_nic *nic = pf->nic;
	const uint32_t bit = 1u << pf->index;

	mpsim_control_lock();
	if (rte_atomic_fetch_and_explicit(&nic->started, ~bit, rte_memory_order_acq_rel) == bit)
		mpsim_wire_stop(nic);
	mpsim_control_unlock();
}

static void
set_started(struct mpsim_pf *pf, bool on)
{
	mpsim_nic_lock(pf->nic);
	pf->started = on;
	if (!on)
		pf->nic->stats.lost += mpsim_pipe_drop(&pf->pipe, NULL);
	pf->max_frame = pf->data->mtu + MPSIM_OVERHEAD;
	mpsim_nic_unlock(pf->nic);
}

static int
mpsim_start(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret;

	if (is_secondary(dev, "starting"))
		return -ENOTSUP;
	ret = check_queues(dev);
	if (ret == 0)
		ret = start_nic(dev);
	if (ret != 0)
		return ret;
	ret = mpsim_intr_start(dev);
	if (ret == 0)
		ret = start_queues(dev);
	if (ret != 0) {
		mpsim_intr_stop(dev);
		stop_queues(dev);
		stop_nic(pf);
		return ret;
	}
	set_started(pf, true);
	mpsim_link_update(dev, 0);
	if (dev->data->dev_link.link_status == RTE_ETH_LINK_DOWN)
		mpsim_link_recheck();
	return 0;
}

static int
mpsim_stop(struct rte_eth_dev *dev)
{
	const struct rte_eth_link down = {.link_status = RTE_ETH_LINK_DOWN};
	struct mpsim_pf *pf = dev->data->dev_private;

	if (is_secondary(dev, "stopping"))
		return -ENOTSUP;
	mpsim_intr_stop(dev);
	set_started(pf, false);
	stop_queues(dev);
	stop_nic(pf);
	rte_eth_linkstatus_set(dev, &down);
	return 0;
}

static int
mpsim_mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	mpsim_nic_lock(pf->nic);
	pf->max_frame = mtu + MPSIM_OVERHEAD;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

static void
release_queues(struct rte_eth_dev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++)
		mpsim_rx_queue_release(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		mpsim_tx_queue_release(dev, i);
	dev->data->nb_rx_queues = 0;
	dev->data->nb_tx_queues = 0;
}

int
mpsim_close(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	mpsim_tell_no_more(pf);
	if (pf->started)
		mpsim_stop(dev);
	release_queues(dev);
	mpsim_flow_free_all(pf);
	mpsim_indirect_free_all(pf);
	mpsim_template_free_all(pf);
	mpsim_table_free(&pf->arfs);
	mpsim_generic_free(&pf->generic);
	mpsim_pipe_free(&pf->pipe);
	rte_free(pf->charges);
	pf->charges = NULL;
	mpsim_control_lock();
	mpsim_nic_remove_pf(pf->nic, pf);
	mpsim_control_unlock();
	return 0;
}

/*
 * Queues, rules and the fault that asked for it are gone; ethdev stops the port before. What ethdev
 * keeps of the port, addresses and what it lets in, the PF keeps too.
 */
static int
mpsim_reset(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret;

	if (is_secondary(dev, "resetting"))
		return -EPERM;
	ret = mpsim_fault_reset(pf);
	if (ret != 0)
		return ret;
	mpsim_flow_free_all(pf);
	mpsim_indirect_free_all(pf);
	mpsim_template_free_all(pf);
	rte_eth_dev_internal_reset(dev);
	dev->data->dev_configured = 0;
	return 0;
}

/* A PF that only its driver has unplugged still answers. */
static int
mpsim_is_removed(struct rte_eth_dev *dev)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	return pf->unplugged && pf->mute == MPSIM_MUTE_DEAD;
}

const struct eth_dev_ops mpsim_ops = {
	.is_removed = mpsim_is_removed,
	.dev_configure = mpsim_configure,
	.dev_start = mpsim_start,
	.dev_stop = mpsim_stop,
	.dev_close = mpsim_close,
	.dev_reset = mpsim_reset,
	.dev_infos_get = mpsim_infos_get,
	.dev_set_link_up = mpsim_set_link_up,
	.dev_set_link_down = mpsim_set_link_down,
	.link_update = mpsim_link_update,
	.mtu_set = mpsim_mtu_set,
	.promiscuous_enable = mpsim_promiscuous_enable,
	.promiscuous_disable = mpsim_promiscuous_disable,
	.allmulticast_enable = mpsim_allmulticast_enable,
	.allmulticast_disable = mpsim_allmulticast_disable,
	.mac_addr_set = mpsim_mac_addr_set,
	.mac_addr_add = mpsim_mac_addr_add,
	.mac_addr_remove = mpsim_mac_addr_remove,
	.set_mc_addr_list = mpsim_mc_addr_list_set,
	.vlan_filter_set = mpsim_vlan_filter_set,
	.vlan_offload_set = mpsim_vlan_offload_set,
	.vlan_strip_queue_set = mpsim_vlan_strip_queue_set,
	.rss_hash_update = mpsim_rss_hash_update,
	.rss_hash_conf_get = mpsim_rss_hash_conf_get,
	.reta_update = mpsim_reta_update,
	.reta_query = mpsim_reta_query,
	.rx_queue_setup = mpsim_rx_queue_setup,
	.rx_queue_release = mpsim_rx_queue_release,
	.rx_queue_start = mpsim_rx_queue_start,
	.rx_queue_stop = mpsim_rx_queue_stop,
	.rx_queue_intr_enable = mpsim_rx_queue_intr_enable,
	.rx_queue_intr_disable = mpsim_rx_queue_intr_disable,
	.get_monitor_addr = mpsim_get_monitor_addr,
	.tx_queue_setup = mpsim_tx_queue_setup,
	.tx_queue_release = mpsim_tx_queue_release,
	.tx_queue_start = mpsim_tx_queue_start,
	.tx_queue_stop = mpsim_tx_queue_stop,
	.rxq_info_get = mpsim_rxq_info_get,
	.txq_info_get = mpsim_txq_info_get,
	.rx_burst_mode_get = mpsim_burst_mode_get,
	.tx_burst_mode_get = mpsim_tx_burst_mode_get,
	.tx_done_cleanup = mpsim_tx_done_cleanup,
	.dev_supported_ptypes_get = mpsim_ptypes_get,
	.buffer_split_supported_hdr_ptypes_get = mpsim_split_ptypes_get,
	.stats_get = mpsim_stats_get,
	.stats_reset = mpsim_stats_reset,
	.xstats_get = mpsim_xstats_get,
	.xstats_get_names = mpsim_xstats_get_names,
	.xstats_reset = mpsim_stats_reset,
	.flow_ops_get = mpsim_flow_ops_get,
	.timesync_enable = mpsim_timesync_enable,
	.timesync_disable = mpsim_timesync_disable,
	.timesync_read_rx_timestamp = mpsim_timesync_read_rx,
	.timesync_read_tx_timestamp = mpsim_timesync_read_tx,
	.timesync_adjust_time = mpsim_timesync_adjust_time,
	.timesync_read_time = mpsim_timesync_read_time,
	.timesync_write_time = mpsim_timesync_write_time,
	.read_clock = mpsim_read_clock,
	MPSIM_FREQ_OPS,
};

void
mpsim_set_bursts(struct rte_eth_dev *dev)
{
	dev->dev_ops = &mpsim_ops;
	dev->rx_pkt_burst = mpsim_rx_burst;
	dev->tx_pkt_burst = mpsim_tx_burst;
	dev->rx_queue_count = mpsim_rx_queue_count;
	dev->rx_descriptor_status = mpsim_rx_descriptor_status;
	dev->tx_descriptor_status = mpsim_tx_descriptor_status;
	OCTO_SET_TX_QUEUE_COUNT(dev, mpsim_tx_queue_count);
}
