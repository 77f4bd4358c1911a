/* SPDX-License-Identifier: BSD-3-Clause */

/* Start and stop of single queues, on every leg or on none. */

#include "octo_private.h"

static int
rx_leg_start(struct octo_pf *pf, const void *arg)
{
	const struct octo_leg leg = octo_pf_leg(pf, *(const uint16_t *)arg);

	return rte_eth_dev_rx_queue_start(leg.port, leg.queue);
}

static int
rx_leg_stop(struct octo_pf *pf, const void *arg)
{
	const struct octo_leg leg = octo_pf_leg(pf, *(const uint16_t *)arg);

	return rte_eth_dev_rx_queue_stop(leg.port, leg.queue);
}

static int
tx_leg_start(struct octo_pf *pf, const void *arg)
{
	const struct octo_leg leg = octo_pf_leg(pf, *(const uint16_t *)arg);

	return rte_eth_dev_tx_queue_start(leg.port, leg.queue);
}

static int
tx_leg_stop(struct octo_pf *pf, const void *arg)
{
	const struct octo_leg leg = octo_pf_leg(pf, *(const uint16_t *)arg);

	return rte_eth_dev_tx_queue_stop(leg.port, leg.queue);
}

int
octo_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue_id)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = OCTO_LOCKED(octo, octo_pf_apply(octo, OCTO_PORT_RUNNING, "start the Rx queue",
						  rx_leg_start, rx_leg_stop, &queue_id, &queue_id));

	if (ret == 0)
		dev->data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return ret;
}

static int
rx_queue_stop_locked(struct octo_dev *octo, uint16_t queue_id)
{
	int ret;

	/* end lingering rules: the stopped queue receives nothing more by them */
	octo_rule_linger_end_locked(octo);
	ret = octo_pf_apply(octo, OCTO_PORT_RUNNING, "stop the Rx queue", rx_leg_stop, rx_leg_start,
			    &queue_id, &queue_id);
	if (ret == 0)
		octo_fence_forget_queue_locked(octo, queue_id);
	return ret;
}

int
octo_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue_id)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = OCTO_LOCKED(octo, rx_queue_stop_locked(octo, queue_id));

	if (ret == 0)
		dev->data->rx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	return ret;
}

int
octo_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue_id)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = OCTO_LOCKED(octo, octo_pf_apply(octo, OCTO_PORT_RUNNING, "start the Tx queue",
						  tx_leg_start, tx_leg_stop, &queue_id, &queue_id));

	if (ret == 0)
		dev->data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STARTED;
	return ret;
}

static int
tx_queue_stop_locked(struct octo_dev *octo, uint16_t queue_id)
{
	int ret = octo_pf_apply(octo, OCTO_PORT_RUNNING, "stop the Tx queue", tx_leg_stop,
				tx_leg_start, &queue_id, &queue_id);

	/* under the same lock: the control thread would otherwise send the stash */
	if (ret == 0)
		octo_tx_drop_stash(octo_data(octo)->tx_queues[queue_id]);
	return ret;
}

int
octo_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue_id)
{
	struct octo_dev *octo = octo_of(dev);
	int ret = OCTO_LOCKED(octo, tx_queue_stop_locked(octo, queue_id));

	if (ret == 0)
		dev->data->tx_queue_state[queue_id] = RTE_ETH_QUEUE_STATE_STOPPED;
	return ret;
}
