/* SPDX-License-Identifier: BSD-3-Clause */

/* Statistics: what the PFs counted, summed; per queue, what octo counted. */

#include "octo_private.h"

static void
add_pf(struct rte_eth_stats *sum, const struct rte_eth_stats *pf)
{
	sum->ipackets += pf->ipackets;
	sum->opackets += pf->opackets;
	sum->ibytes += pf->ibytes;
	sum->obytes += pf->obytes;
	sum->imissed += pf->imissed;
	sum->ierrors += pf->ierrors;
	sum->oerrors += pf->oerrors;
	sum->rx_nombuf += pf->rx_nombuf;
}

static void
fill_queues(const struct rte_eth_dev_data *data, struct eth_queue_stats *qstats)
{
	const uint16_t nb_rx = RTE_MIN(data->nb_rx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);
	const uint16_t nb_tx = RTE_MIN(data->nb_tx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);

	for (uint16_t i = 0; i < nb_rx; i++) {
		const struct octo_rxq *q = data->rx_queues[i];

		if (q == NULL)
			continue;
		qstats->q_ipackets[i] = q->home_count.packets + q->stray_count.packets;
		qstats->q_ibytes[i] = q->home_count.bytes + q->stray_count.bytes;
	}
	for (uint16_t i = 0; i < nb_tx; i++) {
		const struct octo_txq *q = data->tx_queues[i];

		for (uint8_t pf = 0; q != NULL && pf < OCTO_MAX_PFS; pf++) {
			qstats->q_opackets[i] += q->packets[pf];
			qstats->q_obytes[i] += q->bytes[pf];
		}
	}
}

int
octo_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats, struct eth_queue_stats *qstats)
{
	const struct octo_dev *octo = octo_of(dev);
	struct rte_eth_stats pf;
	int ret;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED)
	{
		ret = rte_eth_stats_get(octo->pf[i].port_id, &pf);
		if (ret != 0)
			return ret;
		add_pf(stats, &pf);
	}
	if (qstats != NULL)
		fill_queues(dev->data, qstats);
	return 0;
}

static void
clear_queues(const struct rte_eth_dev_data *data)
{
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q == NULL)
			continue;
		q->home_count = (struct octo_rx_count){0};
		q->stray_count = (struct octo_rx_count){0};
	}
	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		struct octo_txq *q = data->tx_queues[i];

		if (q == NULL)
			continue;
		memset(q->packets, 0, sizeof(q->packets));
		memset(q->bytes, 0, sizeof(q->bytes));
	}
}

int
octo_stats_reset(struct rte_eth_dev *dev)
{
	const struct octo_dev *octo = octo_of(dev);
	int first_error = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED)
	{
		int ret = rte_eth_stats_reset(octo->pf[i].port_id);

		if (first_error == 0)
			first_error = ret;
	}
	clear_queues(dev->data);
	return first_error;
}
