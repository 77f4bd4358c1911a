/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Resync: a PF that came back, or came late, gets the port's configuration, filters and
 * queues, and, if the port is started, is started. Its rules follow, see octo_sync.c.
 */

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_queue.h"
#include "octo_rx_intr.h"

#define PATIENCE_MS 100

/* Do this for the PFs of a port, until one fails. */
static int
for_pfs_of(struct octo_dev *octo, uint8_t port, int (*fn)(struct octo_dev *octo, uint8_t pf))
{
	int ret = 0;

	for (uint8_t pf = 0; ret == 0 && pf < octo->nb_pfs; pf++)
		if (octo_port_index(octo, pf) == port)
			ret = fn(octo, pf);
	return ret;
}

static int
set_up_queues(struct octo_dev *octo, uint8_t pf)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	int ret = 0;

	for (uint16_t i = 0; ret == 0 && i < data->nb_rx_queues; i++)
		if (data->rx_queues[i] != NULL)
			ret = octo_queue_setup_rx_leg_locked(octo, data->rx_queues[i], pf);
	for (uint16_t i = 0; ret == 0 && i < data->nb_tx_queues; i++)
		if (data->tx_queues[i] != NULL)
			ret = octo_queue_setup_tx_leg_locked(octo, data->tx_queues[i], pf);
		else if (octo->started)
			ret = octo_queue_stand_in_tx_leg_locked(octo, i, pf);
	return ret;
}

/* Apply everything that precedes the start of the PF. */
int
octo_resync_settings_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];
	int ret;

	octo_assert_locked(octo);
	/*
	 * Even while the port is stopped: this PF has no flow queues for rules of template
	 * tables.
	 */
	p->no_flow_queues = octo->async != NULL;
	ret = octo_rx_metadata_resync_locked(octo, p);
	if (ret == 0 && octo->isolated)
		ret = rte_flow_isolate(p->port_id, 1, NULL);
	if (ret == 0 && octo_data(octo)->dev_configured) {
		ret = octo_pf_config_again_locked(octo, p);
		if (ret == 0)
			ret = for_pfs_of(octo, port, set_up_queues);
		if (ret == 0)
			ret = octo_rss_resync_locked(octo, port);
	}
	if (ret == 0)
		ret = octo_filter_resync_locked(octo, p);
	if (ret == 0)
		ret = octo_wire_resync_locked(octo, p);
	if (ret == 0)
		ret = octo_encap_resync_locked(octo, p);
	if (ret == 0 && octo->settings.ptypes_set)
		rte_eth_dev_set_ptypes(p->port_id, octo->settings.ptypes, NULL, 0);
	return ret;
}

/* Start deferred queues that run on the octo port, and stop queues that are stopped on it. */
static int
set_queue_states(struct octo_dev *octo, uint8_t pf)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	int ret = 0;

	for (uint16_t i = 0; ret == 0 && i < data->nb_rx_queues; i++) {
		const struct octo_rxq *q = data->rx_queues[i];
		const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], i);
		const bool on = data->rx_queue_state[i] == RTE_ETH_QUEUE_STATE_STARTED;

		if (q == NULL || on == !q->conf.rx_deferred_start)
			continue;
		ret = on ? rte_eth_dev_rx_queue_start(leg.port, leg.queue) :
			   rte_eth_dev_rx_queue_stop(leg.port, leg.queue);
	}
	for (uint16_t i = 0; ret == 0 && i < data->nb_tx_queues; i++) {
		const struct octo_txq *q = data->tx_queues[i];
		const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], i);
		const bool on = data->tx_queue_state[i] == RTE_ETH_QUEUE_STATE_STARTED;

		if (q == NULL || on == !q->conf.tx_deferred_start)
			continue;
		ret = on ? rte_eth_dev_tx_queue_start(leg.port, leg.queue) :
			   rte_eth_dev_tx_queue_stop(leg.port, leg.queue);
	}
	return ret;
}

static bool
can_hold_legs(struct octo_dev *octo, uint8_t port)
{
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
		if (octo_port_index(octo, pf) == port && !octo_fence_can_hold_leg_locked(octo, pf))
			return false;
	return true;
}

/*
 * Wait for an open fence to close, but not longer than PATIENCE_MS: a fence stays open
 * while its queue is not polled, and then there is no order to lose.
 */
bool
octo_resync_must_wait_locked(struct octo_dev *octo, uint8_t port)
{
	return octo_must_wait(&octo->port[port].past.patient_until,
			      !octo->started || can_hold_legs(octo, port), PATIENCE_MS * 1000);
}

/* The link state may have been set while the PF was recovering and could not be called. */
static void
resync_link(const struct octo_dev *octo, uint16_t port)
{
	if (octo->settings.link_set && octo->settings.link_down)
		rte_eth_dev_set_link_down(port);
	else if (octo->settings.link_set)
		rte_eth_dev_set_link_up(port);
}

static int
start(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];
	int ret = octo_slices_set_up_idle_locked(octo, p);

	if (ret == 0)
		ret = octo_mac_announce_set_up_locked(octo, port);
	if (ret != 0)
		return ret;
	/* what it counts from its start on is the port's */
	octo_pf_counts_join_locked(octo, port);
	ret = rte_eth_dev_start(p->port_id);
	if (ret != 0)
		return ret;
	ret = for_pfs_of(octo, port, set_queue_states);
	/* some PMDs reset the RETA at start */
	if (ret == 0)
		ret = octo_rss_resync_locked(octo, port);
	if (ret == 0)
		ret = octo_rx_intr_add_port_locked(octo, port);
	if (ret != 0) {
		rte_eth_dev_stop(p->port_id);
		return ret;
	}
	resync_link(octo, p->port_id);
	/* some PMDs reset counters at start, or have none before */
	octo_pf_counts_read_last_locked(octo, port);
	octo_users_admit(p);
	octo_port_did(p, OCTO_PORT_EV_STARTED);
	return octo_port_is_owned(p) ? 0 : -ENODEV;
}

/*
 * Start the PF and publish its legs; its rules follow in slices. On failure the PF is as
 * before.
 *
 * The legs are polled from now on, so that packets which the NIC sends to this PF by itself
 * do not fill its rings. No switch rule leads to the PF, so a flow with a rule does not use
 * it.
 */
int
octo_resync_start_locked(struct octo_dev *octo, uint8_t port)
{
	int ret;

	octo_assert_locked(octo);
	/*
	 * The NIC may send unsteered packets to the PF as soon as it starts, and they must
	 * not overtake those in the other PFs' rings: hold its legs before the start.
	 */
	for (uint8_t i = 0; i < octo->nb_pfs; i++)
		if (octo_port_index(octo, i) == port)
			octo_fence_hold_leg_locked(octo, i);
	octo_sync_port_begin_locked(octo, port);
	octo_port_role_hear_locked(octo, port, OCTO_PF_EV_JOINS);
	ret = start(octo, port);
	if (ret == 0) {
		octo_topo_publish_live(octo, octo_pf_mask(octo, OCTO_PORT_RUNNING));
		octo_rx_intr_wake_all(octo);
	}
	octo_fence_flipped_all_locked(octo);
	if (ret != 0)
		octo_port_role_hear_locked(octo, port, OCTO_PF_EV_STOPPED);
	else
		octo->sync.joining.ret = octo_indirect_join_locked(octo);
	return ret;
}
