/* SPDX-License-Identifier: BSD-3-Clause */

/* Basic statistics: the sum of the PFs' counters; per queue, octo's own counters. */

#include "octo_private.h"

static void
fill_queues(const struct octo_dev *octo, struct eth_queue_stats *qstats)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint16_t nb_rx = RTE_MIN(data->nb_rx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);
	const uint16_t nb_tx = RTE_MIN(data->nb_tx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);

	for (uint16_t i = 0; i < nb_rx; i++) {
		const struct octo_rxq_counts c = octo_queue_counts_of_rx(octo, i);

		qstats->q_ipackets[i] = c.home.packets + c.stray.packets;
		qstats->q_ibytes[i] = c.home.bytes + c.stray.bytes;
	}
	for (uint16_t i = 0; i < nb_tx; i++) {
		const struct octo_txq_counts c = octo_queue_counts_of_tx(octo, i);

		for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
			qstats->q_opackets[i] += c.sent[pf];
	}
}

int
octo_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats, struct eth_queue_stats *qstats)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_pf_counts sum;
	int ret = octo_pf_counts_sum(octo, &sum);

	if (ret != 0)
		return ret;
	*stats = sum.all;
	octo_lock_counts(octo);
	stats->oerrors += octo_queue_counts_tx(octo).tx.drops;
	if (qstats != NULL)
		fill_queues(octo, qstats);
	octo_unlock_counts(octo);
	if (qstats == NULL)
		return 0;
	/* sent bytes are the PFs' figures: bursts are sent without looking at the packets */
	memcpy(qstats->q_obytes, sum.q_obytes, sizeof(sum.q_obytes));
	return 0;
}

int
octo_stats_reset(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	octo_lock_counts(octo);
	ret = octo_pf_counts_reset(octo);
	octo->audit.steered_base = octo->audit.steered_strays;
	octo_learn_reset_counts(octo);
	octo_fence_reset_counts(octo);
	octo_queue_counts_reset(octo);
	octo_unlock_counts(octo);
	return ret;
}
