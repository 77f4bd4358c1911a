/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_STATS_H
#define OCTO_STATS_H

#include <stdint.h>

#include <ethdev_driver.h>

#include "octo_gate.h"
#include "octo_replug.h"
#include "octo_rx.h"
#include "octo_tx.h"

/* Adds counters, in a struct of 64-bit counters and nothing else. */
static inline void
octo_counts_add(void *sum, const void *counts, size_t size)
{
	const uint64_t *from = counts;
	uint64_t *to = sum;

	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] += from[i];
}

/* The same, modulo 2^64: a difference may be below 0 until more is added. */
static inline void
octo_counts_subtract(void *from, const void *counts, size_t size)
{
	const uint64_t *what = counts;
	uint64_t *to = from;

	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] -= what[i];
}

/* octo_stats.c */
int octo_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats,
		   struct eth_queue_stats *qstats);
int octo_stats_reset(struct rte_eth_dev *dev);

/* octo_pf_counts.c */
int octo_pf_counts_sum(struct octo_dev *octo, struct octo_pf_counts *sum);
int octo_pf_counts_reset(struct octo_dev *octo);
void octo_pf_counts_read_last_locked(struct octo_dev *octo, uint8_t port);
void octo_pf_counts_refresh_locked(struct octo_dev *octo, uint8_t port);
void octo_pf_counts_keep(struct octo_dev *octo, uint8_t port);
void octo_pf_counts_join_locked(struct octo_dev *octo, uint8_t port);

/* octo_queue_counts.c: counters that outlive their queues */
void octo_queue_counts_end_rx_locked(struct octo_dev *octo, const struct octo_rxq *q);
void octo_queue_counts_end_tx_locked(struct octo_dev *octo, const struct octo_txq *q);
struct octo_rxq_counts octo_queue_counts_rx(const struct octo_dev *octo);
struct octo_txq_counts octo_queue_counts_tx(const struct octo_dev *octo);
void octo_queue_counts_reset(struct octo_dev *octo);
struct octo_rxq_counts octo_queue_counts_of_rx(const struct octo_dev *octo, uint16_t queue);
struct octo_txq_counts octo_queue_counts_of_tx(const struct octo_dev *octo, uint16_t queue);

/* octo_xstats.c */
int
octo_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n);
int octo_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *stats, unsigned int n);
int octo_xstats_reset(struct rte_eth_dev *dev);
int octo_xstats_read(uint16_t port_id, struct rte_eth_xstat_name **names,
		     struct rte_eth_xstat **values);

#endif /* OCTO_STATS_H */
