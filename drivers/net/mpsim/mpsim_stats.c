/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "mpsim.h"

/*
 * Each counter is written by one thread only, which is not the control thread. So a reset does
 * not clear counters, but records their values.
 */

struct totals {
	struct mpsim_rxq_stats rx;
	struct mpsim_txq_stats tx;
	struct mpsim_pf_stats pf;
	struct mpsim_nic_stats nic;
	struct mpsim_fetch_stats fetch;
	struct nudma_account model;
};

#define COUNTER(label, part, name)                                                                 \
	{                                                                                          \
		label, offsetof(struct totals, part.name)                                          \
	}

static const struct {
	const char *name;
	size_t offset;
} xstats[] = {
	COUNTER("rx_ring_full_drops", rx, missed),
	COUNTER("rx_too_long_drops", rx, errors),
	COUNTER("rx_oversize_drops", pf, oversize),
	COUNTER("rx_stopped_drops", pf, stopped),
	COUNTER("rx_link_down_drops", pf, link_down),
	COUNTER("rx_vlan_filter_drops", pf, vlan_filtered),
	COUNTER("rx_isolated_drops", pf, isolated),
	COUNTER("rx_rule_drops", pf, rule_drops),
	COUNTER("rx_arfs_packets", pf, arfs_hits),
	COUNTER("rx_mpfs_packets", pf, mpfs_hits),
	COUNTER("rx_pipeline_full_drops", pf, pipe_full),
	COUNTER("rx_dead_drops", pf, dead),
	COUNTER("tx_malformed_drops", tx, errors),
	COUNTER("tx_no_wire_drops", tx, no_wire),
	COUNTER("tx_wire_full_drops", tx, wire_full),
	COUNTER("tx_link_down_drops", tx, link_down),
	COUNTER("tx_copied_packets", tx, copied),
	COUNTER("tx_ring_drops", tx, lost),
	COUNTER("tx_fetched_bytes", fetch, bytes),
	COUNTER("tx_cross_node_bytes", fetch, crossing),
	COUNTER("model_cpu_ps", model, cpu_ps),
	COUNTER("model_path_ps", model, path_ps),
	COUNTER("model_dma_writes", model, dma_writes),
	COUNTER("model_dma_reads", model, dma_reads),
	COUNTER("model_doorbells", model, doorbells),
	COUNTER("model_remote", model, remote),
	COUNTER("model_misses", model, misses),
	COUNTER("model_node0_dram_read_bytes", model, dram_read[0]),
	COUNTER("model_node0_dram_write_bytes", model, dram_write[0]),
	COUNTER("model_node1_dram_read_bytes", model, dram_read[1]),
	COUNTER("model_node1_dram_write_bytes", model, dram_write[1]),
	COUNTER("nic_wire_packets", nic, wire_packets),
	COUNTER("nic_wire_bytes", nic, wire_bytes),
	COUNTER("nic_mac_filter_drops", nic, mac_filtered),
	COUNTER("nic_runt_drops", nic, runts),
	COUNTER("nic_no_pf_drops", nic, no_pf),
	COUNTER("nic_dead_tx_ring_drops", nic, dead_tx),
	COUNTER("rx_lost_in_dead_rings", nic, lost),
};

/* Structs of counters consist of uint64_t only: process them as arrays. */
static void
accumulate(void *to, const void *now, const void *base, size_t size)
{
	const uint64_t *n = now, *b = base;
	uint64_t *t = to;

	for (size_t i = 0; i < size / sizeof(*t); i++)
		t[i] += n[i] - b[i];
}

static void
get_totals(const struct mpsim_pf *pf, struct totals *t)
{
	const struct mpsim_fetch_stats fetch = mpsim_fetch_count(&pf->nic->fetch, pf->index);
	struct nudma_account model;

	memset(t, 0, sizeof(*t));
	for (uint16_t i = 0; i < MPSIM_MAX_QUEUES; i++) {
		accumulate(&t->rx, &pf->rxq_stats[i], &pf->rxq_base[i], sizeof(t->rx));
		accumulate(&t->tx, &pf->txq_stats[i], &pf->txq_base[i], sizeof(t->tx));
		accumulate(&t->tx, &pf->tx_ring_stats[i], &pf->tx_ring_base[i], sizeof(t->tx));
	}
	accumulate(&t->pf, &pf->stats, &pf->base, sizeof(t->pf));
	accumulate(&t->nic, &pf->nic->stats, &pf->nic_base, sizeof(t->nic));
	accumulate(&t->fetch, &fetch, &pf->fetch_base, sizeof(t->fetch));
	mpsim_model_sum(pf, &model);
	accumulate(&t->model, &model, &pf->model_base, sizeof(t->model));
}

static void
get_queue_stats(const struct mpsim_pf *pf, struct eth_queue_stats *q)
{
	for (uint16_t i = 0; i < RTE_MIN(MPSIM_MAX_QUEUES, RTE_ETHDEV_QUEUE_STAT_CNTRS); i++) {
		const struct mpsim_rxq_stats *rx = &pf->rxq_stats[i], *rx0 = &pf->rxq_base[i];
		struct mpsim_txq_stats tx = {0};

		accumulate(&tx, &pf->txq_stats[i], &pf->txq_base[i], sizeof(tx));
		accumulate(&tx, &pf->tx_ring_stats[i], &pf->tx_ring_base[i], sizeof(tx));
		q->q_ipackets[i] = rx->packets - rx0->packets;
		q->q_ibytes[i] = rx->bytes - rx0->bytes;
		q->q_opackets[i] = tx.packets;
		q->q_obytes[i] = tx.bytes;
		q->q_errors[i] = rx->missed - rx0->missed + rx->errors - rx0->errors;
	}
}

int
mpsim_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats,
		struct eth_queue_stats *qstats)
{
	const struct mpsim_pf *pf = dev->data->dev_private;
	struct totals t;

	get_totals(pf, &t);
	stats->ipackets = t.rx.packets;
	stats->ibytes = t.rx.bytes;
	stats->imissed = t.rx.missed + t.pf.pipe_full;
	stats->ierrors = t.rx.errors + t.pf.oversize;
	stats->opackets = t.tx.packets;
	stats->obytes = t.tx.bytes;
	stats->oerrors = t.tx.errors + t.tx.no_wire + t.tx.wire_full + t.tx.link_down + t.tx.lost;
	if (qstats != NULL)
		get_queue_stats(pf, qstats);
	return 0;
}

int
mpsim_stats_reset(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	mpsim_nic_lock(pf->nic);
	memcpy(pf->rxq_base, pf->rxq_stats, sizeof(pf->rxq_base));
	memcpy(pf->txq_base, pf->txq_stats, sizeof(pf->txq_base));
	memcpy(pf->tx_ring_base, pf->tx_ring_stats, sizeof(pf->tx_ring_base));
	pf->base = pf->stats;
	pf->nic_base = pf->nic->stats;
	pf->fetch_base = mpsim_fetch_count(&pf->nic->fetch, pf->index);
	mpsim_model_sum(pf, &pf->model_base);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *out, unsigned int n)
{
	const struct mpsim_pf *pf = dev->data->dev_private;
	struct totals t;

	if (out == NULL || n < RTE_DIM(xstats))
		return RTE_DIM(xstats);
	get_totals(pf, &t);
	for (unsigned int i = 0; i < RTE_DIM(xstats); i++) {
		out[i].id = i;
		memcpy(&out[i].value, RTE_PTR_ADD(&t, xstats[i].offset), sizeof(out[i].value));
	}
	return RTE_DIM(xstats);
}

int
mpsim_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	RTE_SET_USED(dev);
	for (unsigned int i = 0; names != NULL && n >= RTE_DIM(xstats) && i < RTE_DIM(xstats); i++)
		strlcpy(names[i].name, xstats[i].name, sizeof(names[i].name));
	return RTE_DIM(xstats);
}
