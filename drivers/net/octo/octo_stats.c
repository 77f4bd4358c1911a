/* SPDX-License-Identifier: BSD-3-Clause */

/* Statistics: what the PFs counted, summed; per queue, what octo counted. */

#include "octo_private.h"

#ifndef octo_read_stats
/* rte_eth_stats_get() keeps what queues count to itself: drivers tell both at once. */
static int
octo_read_stats(uint16_t port_id, struct rte_eth_stats *stats, struct eth_queue_stats *queues)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port_id];

	/* a secondary process may not have attached it */
	if (!rte_eth_dev_is_valid_port(port_id))
		return -ENODEV;
	if (dev->dev_ops->stats_get == NULL)
		return -ENOTSUP;
	memset(stats, 0, sizeof(*stats));
	stats->rx_nombuf = dev->data->rx_mbuf_alloc_failed;
	return dev->dev_ops->stats_get(dev, stats, queues);
}
#endif

static void
add_pf(struct octo_pf_counts *total, const struct octo_pf_counts *counts)
{
	const struct rte_eth_stats *pf = &counts->all;
	struct rte_eth_stats *sum = &total->all;

	for (uint16_t i = 0; i < RTE_ETHDEV_QUEUE_STAT_CNTRS; i++)
		total->q_obytes[i] += counts->q_obytes[i];
	sum->ipackets += pf->ipackets;
	sum->opackets += pf->opackets;
	sum->ibytes += pf->ibytes;
	sum->obytes += pf->obytes;
	sum->imissed += pf->imissed;
	sum->ierrors += pf->ierrors;
	sum->oerrors += pf->oerrors;
	sum->rx_nombuf += pf->rx_nombuf;
}

/* What a queue counted since the last reset. */
void
octo_rx_counts(const struct octo_rxq *q, struct octo_rx_count *home, struct octo_rx_count *stray)
{
	home->packets = q->home_count.packets - q->home_base.packets;
	home->bytes = q->home_count.bytes - q->home_base.bytes;
	stray->packets = q->stray_count.packets - q->stray_base.packets;
	stray->bytes = q->stray_count.bytes - q->stray_base.bytes;
}

static void
fill_queues(const struct rte_eth_dev_data *data, struct eth_queue_stats *qstats)
{
	const uint16_t nb_rx = RTE_MIN(data->nb_rx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);
	const uint16_t nb_tx = RTE_MIN(data->nb_tx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);

	for (uint16_t i = 0; i < nb_rx; i++) {
		const struct octo_rxq *q = data->rx_queues[i];
		struct octo_rx_count home, stray;

		if (q == NULL)
			continue;
		octo_rx_counts(q, &home, &stray);
		qstats->q_ipackets[i] = home.packets + stray.packets;
		qstats->q_ibytes[i] = home.bytes + stray.bytes;
	}
	for (uint16_t i = 0; i < nb_tx; i++) {
		const struct octo_txq *q = data->tx_queues[i];

		for (uint8_t pf = 0; q != NULL && pf < OCTO_MAX_PFS; pf++)
			qstats->q_opackets[i] += q->sent[pf] - q->sent_base[pf];
	}
}

/* What the PF has counted for the port. What began anew when the PF came may have begun at 0. */
static void
count_since(struct octo_pf_counts *now, const struct octo_pf_counts *base)
{
#define SINCE(field) now->field -= now->field >= base->field ? base->field : 0
	SINCE(all.ipackets);
	SINCE(all.opackets);
	SINCE(all.ibytes);
	SINCE(all.obytes);
	SINCE(all.imissed);
	SINCE(all.ierrors);
	SINCE(all.oerrors);
	SINCE(all.rx_nombuf);
	for (uint16_t i = 0; i < RTE_ETHDEV_QUEUE_STAT_CNTRS; i++)
		SINCE(q_obytes[i]);
#undef SINCE
}

static int
read_pf(const struct octo_pf *pf, struct octo_pf_counts *counts)
{
	struct eth_queue_stats queues = {0};
	int ret = octo_read_stats(pf->port_id, &counts->all, &queues);

	memcpy(counts->q_obytes, queues.q_obytes, sizeof(queues.q_obytes));
	return ret;
}

/* Of one PF, since it is the port's; what was read last, if it cannot be read now. */
int
octo_stats_pf_locked(struct octo_dev *octo, uint8_t pf, struct octo_pf_counts *counts)
{
	struct octo_pf_past *past = &octo->pf[pf].past;
	int ret = read_pf(&octo->pf[pf], counts);

	if (ret == 0)
		past->last = *counts;
	else
		*counts = past->last;
	count_since(counts, &past->base);
	return ret;
}

/* What was told once must not be less when the PF goes without a word. */
static int
sum_locked(struct octo_dev *octo, struct octo_pf_counts *sum)
{
	struct octo_pf_counts now;
	int ret;
	int i;

	add_pf(sum, &octo->gone);
	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED) {
		ret = octo_stats_pf_locked(octo, (uint8_t)i, &now);
		if (ret != 0)
			return ret;
		add_pf(sum, &now);
	}
	return 0;
}

int
octo_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats, struct eth_queue_stats *qstats)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_pf_counts sum = {0};
	int ret = OCTO_LOCKED(octo, sum_locked(octo, &sum));

	if (ret != 0)
		return ret;
	*stats = sum.all;
	stats->oerrors += octo_queue_counts_tx(octo).tx.drops;
	if (qstats == NULL)
		return 0;
	fill_queues(dev->data, qstats);
	/* a burst that is sent is not looked at: PFs do that, and many count by queue */
	memcpy(qstats->q_obytes, sum.q_obytes, sizeof(sum.q_obytes));
	return 0;
}

/* By the handler of its removal, which the PF has to wait for. */
void
octo_stats_read_last_locked(struct octo_dev *octo, uint8_t pf)
{
	struct octo_pf *p = &octo->pf[pf];
	struct octo_pf_counts now;

	/* what is read from a device that is not there is not what it had counted */
	if (rte_eth_dev_is_removed(p->port_id) == 0 && read_pf(p, &now) == 0)
		p->past.last = now;
}

/* Now and then, as a PF may go without a word. */
void
octo_stats_refresh_locked(struct octo_dev *octo, uint8_t pf)
{
	if (octo_pf_is(&octo->pf[pf], OCTO_PF_OWNED))
		octo_stats_read_last_locked(octo, pf);
}

/* A PF is gone: the port's counters must not go back. */
void
octo_stats_keep(struct octo_dev *octo, uint8_t pf)
{
	struct octo_pf_past *past = &octo->pf[pf].past;

	count_since(&past->last, &past->base);
	add_pf(&octo->gone, &past->last);
	past->last = (struct octo_pf_counts){0};
}

/* A PF is back: counters that it kept are in the sum already. */
void
octo_stats_join_locked(struct octo_dev *octo, uint8_t pf)
{
	struct octo_pf_past *past = &octo->pf[pf].past;

	if (read_pf(&octo->pf[pf], &past->base) != 0)
		past->base = (struct octo_pf_counts){0};
	past->last = past->base;
	octo_foreign_begin_locked(octo, pf);
}

int
octo_stats_reset(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int first_error = 0;
	int i;

	octo_lock(octo);
	octo->gone = (struct octo_pf_counts){0};
	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED) {
		int ret = rte_eth_stats_reset(octo->pf[i].port_id);

		octo->pf[i].past.base = (struct octo_pf_counts){0};
		octo->pf[i].past.last = (struct octo_pf_counts){0};

		if (first_error == 0)
			first_error = ret;
	}
	octo->truth.steered_base = octo->truth.steered_strays;
	octo_learn_reset_counts_locked(octo);
	octo_fence_reset_counts(octo);
	octo_queue_counts_reset(octo);
	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED)
		octo_foreign_begin_locked(octo, (uint8_t)i);
	octo_unlock(octo);
	return first_error;
}
