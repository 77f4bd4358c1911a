/* SPDX-License-Identifier: BSD-3-Clause */

/* Configure, start, stop and close the port: on every PF, or on none. */

#include <errno.h>

#include "octo_peers.h"
#include "octo_private.h"
#include "octo_rx_intr.h"
#include "octo_view.h"

static int
check_configuration(const struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *conf = &dev->data->dev_conf;

	if (conf->rxmode.mq_mode & ~RTE_ETH_MQ_RX_RSS_FLAG) {
		OCTO_LOG(ERR, "port %u: Rx multi-queue mode %u is not supported: none or RSS",
			 dev->data->port_id, conf->rxmode.mq_mode);
		return -ENOTSUP;
	}
	return 0;
}

static int
configure_locked(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = octo_rule_list_fit_locked(octo, dev->data->nb_rx_queues);

	if (ret == 0)
		ret = octo_indirect_fit_locked(octo, dev->data->nb_rx_queues);
	if (ret == 0)
		ret = octo_rss_configure(octo);
	if (ret != 0)
		return ret;
	memset(octo->tx_pin, 0, sizeof(octo->tx_pin));
	octo->settings.vlan_offloads = dev->data->dev_conf.rxmode.offloads &
				       RTE_ETH_RX_OFFLOAD_VLAN;
	octo->configuration++;
	octo_mac_announce_configure_locked(octo);
	ret = octo_rss_check_slices(octo);
	if (ret == 0)
		ret = octo_pf_config_all_locked(octo);
	if (ret == 0) {
		octo_rule_list_drop_commands_locked(octo);
		octo_rule_list_cut_rss_locked(octo);
	}
	/* free clones of queues that the PFs have released */
	octo_pools_sweep_locked(octo);
	return ret;
}

int
octo_configure(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = check_configuration(dev);

	if (ret != 0)
		return ret;
	return OCTO_LOCKED(octo, configure_locked(dev));
}

static void
began(struct octo_dev *octo, struct octo_port *port)
{
	octo_port_did(port, OCTO_PORT_EV_STARTED);
	if (octo_port_is_owned(port))
		octo_port_role_hear_locked(octo, (uint8_t)(port - octo->port), OCTO_PF_EV_STARTED);
}

static int
pf_start(struct octo_port *port, const void *arg)
{
	struct octo_dev *octo = *(struct octo_dev *const *)arg;
	int ret = octo_slices_set_up_idle_locked(octo, port);

	if (ret == 0)
		ret = octo_mac_announce_set_up_locked(octo, (uint8_t)(port - octo->port));
	if (ret == 0)
		ret = rte_eth_dev_start(port->port_id);
	if (ret != 0)
		return ret;
	/* some PMDs reset the RETA at start: it would have queues that are no leg */
	ret = octo->sliced ? octo_rss_resync_locked(octo, 0) : 0;
	if (ret != 0)
		rte_eth_dev_stop(port->port_id);
	else
		began(octo, port);
	return ret;
}

static int
pf_stop(struct octo_port *port, const void *arg)
{
	struct octo_dev *octo = *(struct octo_dev *const *)arg;
	int ret;

	if (!octo_port_is(port, OCTO_PORT_RUNNING))
		return 0;
	ret = rte_eth_dev_stop(port->port_id);
	octo_port_did(port, OCTO_PORT_EV_STOPPED);
	octo_port_role_hear_locked(octo, (uint8_t)(port - octo->port), OCTO_PF_EV_STOPPED);
	port->link_up = false;
	return ret;
}

static uint8_t
queue_state(bool started)
{
	return started ? RTE_ETH_QUEUE_STATE_STARTED : RTE_ETH_QUEUE_STATE_STOPPED;
}

static void
set_queue_states(struct rte_eth_dev *dev, bool started)
{
	uint8_t *rx = dev->data->rx_queue_state, *tx = dev->data->tx_queue_state;
	const struct octo_rxq *rxq;
	const struct octo_txq *txq;

	OCTO_FOREACH_RXQ(octo_of(dev), rxq)
		rx[rxq->queue_id] = queue_state(started && !rxq->conf.rx_deferred_start);
	OCTO_FOREACH_TXQ(octo_of(dev), txq)
		tx[txq->queue_id] = queue_state(started && !txq->conf.tx_deferred_start);
}

static int
check_queues(uint16_t port_id, const char *kind, void *const *queues, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++) {
		if (queues[i] != NULL)
			continue;
		OCTO_LOG(ERR, "port %u: %s queue %u is not set up", port_id, kind, i);
		return -EINVAL;
	}
	return 0;
}

static int
stop_locked(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	struct rte_eth_link link = {.link_duplex = RTE_ETH_LINK_FULL_DUPLEX};
	int first_error = 0;
	int i;

	octo_async_settle_locked(octo);
	octo->started = false;
	octo_failover_watch_locked(octo, false);
	octo_poll_unpublish(octo, 0);
	octo_rx_intr_stop_locked(octo);
	octo_tx_stop_locked(octo);
	octo_fence_stop_locked(octo);
	octo_sync_stop_locked(octo);
	octo_rule_list_withdraw_locked(octo);
	octo_indirect_withdraw_locked(octo);
	octo_tier_partition_stop_locked(octo);
	octo_default_pf_stop_locked(octo);
	octo_timesync_stop_locked(octo);
	octo_mpfs_actions_end_locked(octo);
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING) {
		int ret = pf_stop(&octo->port[i], &octo);

		/*
		 * The control thread has stopped and does not read the counters until the next
		 * start.
		 */
		octo_pf_counts_refresh_locked(octo, (uint8_t)i);
		if (ret != 0 && first_error == 0)
			first_error = ret;
	}
	set_queue_states(dev, false);
	rte_eth_linkstatus_set(dev, &link);
	return first_error;
}

/* Of slices: the home legs stand for the queues in what names queues, not flows. */
static void
choose_legs(struct octo_dev *octo)
{
	for (uint16_t q = 0; octo->sliced && q < octo_data(octo)->nb_rx_queues; q++) {
		octo->leg_pf[q] = octo_topo_home_of(octo, q);
		octo_rule_store_led_locked(octo, q, octo->leg_pf[q]);
	}
}

static int
start_locked(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	const struct rte_eth_dev_data *data = dev->data;
	const char *why;
	int ret = check_queues(data->port_id, "Rx", data->rx_queues, data->nb_rx_queues);

	if (ret == 0)
		ret = check_queues(data->port_id, "Tx", data->tx_queues, data->nb_tx_queues);
	if (ret == 0)
		ret = octo_pools_check_all_locked(octo);
	if (ret != 0)
		return ret;
	if (octo_port_first(octo, OCTO_PORT_READY) < 0) {
		OCTO_LOG(ERR, "port %u: no PF is left to start", octo->port_id);
		return -ENODEV;
	}
	ret = octo_rings_start_locked(octo);
	if (ret != 0)
		return ret;
	choose_legs(octo);
	ret = octo_rss_level(octo);
	if (ret != 0)
		return ret;
	if (octo_tier_can_be_mac(octo, &why))
		octo_mac_spread_locked(octo);
	else
		octo_mac_join_locked(octo);
	octo_flow_isolate_again_locked(octo);
	ret = octo_port_apply(octo, OCTO_PORT_READY, "start", pf_start, pf_stop, &octo, &octo);
	if (ret != 0)
		return ret;
	octo_rx_intr_start_locked(octo);
	octo_link_start_locked(octo);
	octo_link_refresh(octo);
	octo_locality_start_locked(octo);
	octo->started = true;
	octo_tx_start_locked(octo);
	octo_fence_start_locked(octo);
	octo_topo_publish_live(octo, octo_pf_mask(octo, OCTO_PORT_RUNNING));
	octo_failover_watch_locked(octo, true);
	octo_tier_start_locked(octo);
	octo_tier_partition_follow_locked(octo);
	octo_audit_start_locked(octo);
	octo_foreign_start_locked(octo);
	set_queue_states(dev, true);
	ret = octo_indirect_install_locked(octo);
	if (ret == 0)
		ret = octo_rule_list_install_locked(octo);
	if (ret != 0)
		stop_locked(dev);
	return ret;
}

int
octo_start(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	if (!octo_is_primary(octo, "start the port"))
		return -ENOTSUP;
	octo_replug_look_at_once(octo);
	octo_agent_sync_await(octo);
	ret = OCTO_LOCKED(octo, start_locked(dev));
	if (ret == 0) {
		ret = octo_ctrl_start(octo);
		if (ret != 0)
			(void)OCTO_LOCKED(octo, stop_locked(dev));
	}
	if (ret != 0)
		octo_drain_stop(octo);
	else
		octo_rx_intr_give(octo);
	return ret;
}

int
octo_stop(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	if (!octo_is_primary(octo, "stop the port"))
		return -ENOTSUP;
	/* before the mutex is taken, because the control thread takes it too */
	octo_ctrl_stop(octo);
	ret = OCTO_LOCKED(octo, stop_locked(dev));
	octo_drain_stop(octo);
	return ret;
}

static void
close_locked(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);

	octo_filter_restore(octo);
	octo_rss_give_back_locked(octo);
	for (uint16_t i = 0; i < dev->data->nb_rx_queues; i++)
		octo_rx_queue_release(dev, i);
	for (uint16_t i = 0; i < dev->data->nb_tx_queues; i++)
		octo_tx_queue_release(dev, i);
	octo_rule_list_flush_locked(octo, NULL);
	octo_rule_store_fini(octo);
	octo_template_free_locked(octo);
	octo_indirect_free_locked(octo);
	octo_learn_fini(octo);
	octo_mpfs_agent_fini(octo);
	octo_rings_publish_locked(octo);
	octo_pools_fini_locked(octo);
	octo_mac_announce_fini_locked(octo);
}

/* The inverse of build_port() in octo_ethdev.c; the port may be in any state. */
int
octo_take_down(struct rte_eth_dev *dev, bool remove_probed)
{
	struct octo_dev *octo = octo_of(dev);
	bool alone;
	int ret = 0;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		octo_legs_return(octo->port_id, octo->owner_id);
		octo_rx_intr_return(dev);
		return 0;
	}
	octo_view_notify_closing(octo->port_id);
	octo_registry_remove(octo->port_id, octo->owner_id);
	/* again, for a thread that began to use the port in between */
	octo_view_notify_closing(octo->port_id);
	if (octo->started)
		ret = octo_stop(dev);
	octo_raise_cancel(octo);
	octo_lending_set_open(octo, false);
	alone = octo_peers_let_go(octo);
	octo_lock(octo);
	/* waits for bursts of processes that have just detached */
	octo_poll_unpublish(octo, 0);
	close_locked(dev);
	octo_unlock(octo);
	octo_rx_intr_fini(dev);
	/* without the mutex: other processes remove these devices too, and may take it first */
	octo_attach_undo_all(octo, remove_probed);
	octo_lock_fini(octo);
	octo_wake_fini(octo);
	/* a process that did not answer still has the memory: ethdev must not free it */
	if (!alone)
		dev->data->dev_private = NULL;
	return ret;
}

int
octo_close(struct rte_eth_dev *dev)
{
	/* EAL's cleanup may follow, and walks the buses without a lock */
	octo_hotplug_await(octo_of(dev));
	return octo_take_down(dev, true);
}
