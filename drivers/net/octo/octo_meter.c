/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "octo_meter.h"
#include "octo_private.h"
#include "octo_view.h"

/* Of one look at the rules; each may ask a PF's firmware. */
#define RULES_PER_LOOK 16

uint64_t
octo_meter_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct octo_counts *
new_counts(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint16_t nb = RTE_MAX(data->nb_rx_queues, data->nb_tx_queues);
	struct octo_counts *counts = calloc(1, octo_counts_size(nb));

	if (counts == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	counts->nb_pfs = octo->nb_pfs;
	counts->nb_rx_queues = data->nb_rx_queues;
	counts->nb_tx_queues = data->nb_tx_queues;
	counts->nb_queues = nb;
	counts->hits = OCTO_RATE_UNKNOWN;
	counts->work.cycles = OCTO_RATE_UNKNOWN;
	counts->latency = (struct octo_latency){OCTO_RATE_UNKNOWN, OCTO_RATE_UNKNOWN,
						OCTO_RATE_UNKNOWN, OCTO_RATE_UNKNOWN};
	return counts;
}

struct octo_counts *
octo_meter_new(uint16_t port_id)
{
	struct octo_dev *octo = octo_registry_get(port_id);
	struct octo_counts *counts;

	if (octo == NULL) {
		rte_errno = ENODEV;
		return NULL;
	}
	counts = OCTO_LOCKED(octo, new_counts(octo));
	octo_registry_put();
	return counts;
}

static void
add_stats(struct octo_traffic *sum, const struct rte_eth_stats *stats)
{
	sum->rx_packets += stats->ipackets;
	sum->rx_bytes += stats->ibytes;
	sum->tx_packets += stats->opackets;
	sum->tx_bytes += stats->obytes;
	sum->rx_missed += stats->imissed;
	sum->rx_errors += stats->ierrors;
	sum->rx_nombuf += stats->rx_nombuf;
	sum->tx_errors += stats->oerrors;
}

/* By these PFs. */
static bool
has_sent(const struct octo_txq *q, uint32_t pfs)
{
	for (uint8_t pf = 0; q != NULL && pf < OCTO_MAX_PFS; pf++)
		if ((pfs & RTE_BIT32(pf)) && q->sent[pf] != q->sent_base[pf])
			return true;
	return false;
}

/* Bytes that queues have sent are known to PFs only. */
static void
add_queues(const struct octo_dev *octo, struct octo_counts *now, const struct octo_pf_counts *sum,
	   uint32_t pfs)
{
	const uint16_t nb = RTE_MIN(now->nb_tx_queues, RTE_ETHDEV_QUEUE_STAT_CNTRS);

	for (uint16_t i = 0; i < now->nb_tx_queues; i++)
		octo_rate_add(&now->queue[i].tx_bytes,
			      octo_counts_bytes_of(sum->all.obytes, sum->q_obytes, nb, i,
						   has_sent(octo_data(octo)->tx_queues[i], pfs)));
}

/* A PF that is gone has what it had; the port has the sum that octo_stats_get() tells. */
static void
read_pfs_locked(struct octo_dev *octo, struct octo_counts *now)
{
	struct octo_pf_counts counts;
	int i;

	now->port = (struct octo_traffic){0};
	memset(now->queue, 0, now->nb_queues * sizeof(now->queue[0]));
	add_stats(&now->port, &octo->gone.all);
	add_queues(octo, now, &octo->gone, UINT32_MAX);
	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED) {
		octo_pf_counts_read(octo, (uint8_t)i, &counts);
		add_stats(&now->port, &counts.all);
		add_queues(octo, now, &counts, RTE_BIT32(i));
		now->pf[i] = (struct octo_traffic){0};
		add_stats(&now->pf[i], &counts.all);
	}
	now->port.tx_errors += octo_queue_counts_tx(octo).tx.drops;
}

static void
read_rx_queue(const struct octo_rxq *q, struct octo_queue_traffic *traffic)
{
	struct octo_rx_count home, stray;

	octo_queue_counts_of_rx(q, &home, &stray);
	traffic->home_packets = home.packets;
	traffic->home_bytes = home.bytes;
	traffic->stray_packets = stray.packets;
	traffic->stray_bytes = stray.bytes;
}

static void
read_tx_queue(const struct octo_txq *q, struct octo_queue_traffic *traffic)
{
	traffic->tx_packets = 0;
	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
		traffic->tx_packets += q->sent[pf] - q->sent_base[pf];
}

/* Queues that are not set up have counted nothing. */
static void
read_queues_locked(const struct rte_eth_dev_data *data, struct octo_counts *now)
{
	for (uint16_t i = 0; i < now->nb_rx_queues; i++)
		if (data->rx_queues[i] != NULL)
			read_rx_queue(data->rx_queues[i], &now->queue[i]);
	for (uint16_t i = 0; i < now->nb_tx_queues; i++)
		if (data->tx_queues[i] != NULL)
			read_tx_queue(data->tx_queues[i], &now->queue[i]);
}

static void
read_rules_locked(struct octo_dev *octo, struct octo_rule_state *rules)
{
	octo_learn_publish_counts_locked(octo);
	rules->rules = octo->rule_counts.steered;
	rules->learned = octo->rule_counts.learned.rules;
	rules->ineffective = octo->rule_counts.ineffective;
}

static int
read_port_locked(struct octo_dev *octo, struct octo_counts *now)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	if (data->nb_rx_queues != now->nb_rx_queues || data->nb_tx_queues != now->nb_tx_queues)
		return -ERANGE;
	now->ns = octo_meter_clock();
	read_pfs_locked(octo, now);
	read_queues_locked(data, now);
	read_rules_locked(octo, &now->rules);
	return 0;
}

/* One that no PF counts makes the sum unknown. */
static uint64_t
sum_hits(uint16_t port_id, uint64_t nb_rules)
{
	struct octo_view_rule rules[RULES_PER_LOOK];
	uint32_t total = 0;
	uint32_t start = 0;
	uint64_t sum = 0;
	int nb;

	/* who reads many, page by page, is not to be taken back to the first */
	if (nb_rules > OCTO_METER_MAX_RULES)
		return OCTO_RATE_UNKNOWN;
	do {
		nb = octo_view_rules(port_id, start, rules, RULES_PER_LOOK, &total);
		if (nb < 0 || total > OCTO_METER_MAX_RULES)
			return OCTO_RATE_UNKNOWN;
		for (int i = 0; i < nb; i++) {
			if (rules[i].hits < 0)
				return OCTO_RATE_UNKNOWN;
			sum += (uint64_t)rules[i].hits;
		}
		start += (uint32_t)nb;
	} while (nb == RULES_PER_LOOK);
	return sum;
}

int
octo_meter_read(uint16_t port_id, const struct octo_counts *before, struct octo_counts *now)
{
	struct octo_dev *octo = octo_registry_get(port_id);
	int ret;

	if (octo == NULL)
		return -ENODEV;
	if (before != NULL)
		memcpy(now->pf, before->pf, sizeof(now->pf));
	ret = OCTO_LOCKED(octo, read_port_locked(octo, now));
	octo_registry_put();
	if (ret == 0)
		now->hits = sum_hits(port_id, now->rules.rules);
	return ret;
}
