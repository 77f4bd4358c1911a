/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counters of the port's queues. Each setup allocates a new queue object; its counters
 * continue where those of the previous object with this queue id ended.
 */

#include "octo_private.h"

static void
subtract(void *from, const void *counts, size_t size)
{
	const uint64_t *what = counts;
	uint64_t *to = from;

	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] -= what[i];
}

/* Since the setup of the queue. */
static struct octo_rxq_counts
all_rx(const struct octo_rxq *q)
{
	return (struct octo_rxq_counts){
		.home = q->home_count,
		.stray = q->stray_count,
		.copies = q->copies,
		.sampled = q->sampled,
		.gates = q->gate.counts,
	};
}

static struct octo_txq_counts
all_tx(const struct octo_txq *q)
{
	struct octo_txq_counts counts = {.tx = q->counts};

	memcpy(counts.sent, q->sent, sizeof(counts.sent));
	return counts;
}

/* Since the last reset. */
static struct octo_rxq_counts
since_reset_rx(const struct octo_rxq *q)
{
	struct octo_rxq_counts counts = all_rx(q);

	subtract(&counts, &q->base, sizeof(counts));
	return counts;
}

static struct octo_txq_counts
since_reset_tx(const struct octo_txq *q)
{
	struct octo_txq_counts counts = all_tx(q);

	subtract(&counts, &q->base, sizeof(counts));
	return counts;
}

/* Make a new queue continue from what its queue id has counted so far. */
void
octo_queue_counts_begin_rx_locked(struct octo_dev *octo, struct octo_rxq *q)
{
	struct octo_rxq_counts *gone = &octo->rxq_gone[q->queue_id];

	q->base = all_rx(q);
	subtract(&q->base, gone, sizeof(q->base));
	*gone = (struct octo_rxq_counts){0};
}

void
octo_queue_counts_begin_tx_locked(struct octo_dev *octo, struct octo_txq *q)
{
	struct octo_txq_counts *gone = &octo->txq_gone[q->queue_id];

	q->base = all_tx(q);
	subtract(&q->base, gone, sizeof(q->base));
	*gone = (struct octo_txq_counts){.sent = {0}};
}

/* Keep the counters of a queue that is about to be freed; it must not be polled any more. */
void
octo_queue_counts_end_rx_locked(struct octo_dev *octo, const struct octo_rxq *q)
{
	octo->rxq_gone[q->queue_id] = since_reset_rx(q);
}

void
octo_queue_counts_end_tx_locked(struct octo_dev *octo, const struct octo_txq *q)
{
	octo->txq_gone[q->queue_id] = since_reset_tx(q);
}

/* Of a queue that is not set up now, too. */
struct octo_rxq_counts
octo_queue_counts_of_rx(const struct octo_dev *octo, uint16_t queue)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_rxq *q = queue < data->nb_rx_queues ? data->rx_queues[queue] : NULL;

	return q != NULL ? since_reset_rx(q) : octo->rxq_gone[queue];
}

struct octo_txq_counts
octo_queue_counts_of_tx(const struct octo_dev *octo, uint16_t queue)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_txq *q = queue < data->nb_tx_queues ? data->tx_queues[queue] : NULL;

	return q != NULL ? since_reset_tx(q) : octo->txq_gone[queue];
}

/* The sum over all queues, including queue ids that are not set up now. */
struct octo_rxq_counts
octo_queue_counts_rx(const struct octo_dev *octo)
{
	struct octo_rxq_counts sum = {0};

	for (uint16_t i = 0; i < RTE_MAX_QUEUES_PER_PORT; i++) {
		const struct octo_rxq_counts c = octo_queue_counts_of_rx(octo, i);

		octo_counts_add(&sum, &c, sizeof(sum));
	}
	return sum;
}

struct octo_txq_counts
octo_queue_counts_tx(const struct octo_dev *octo)
{
	struct octo_txq_counts sum = {.sent = {0}};

	for (uint16_t i = 0; i < RTE_MAX_QUEUES_PER_PORT; i++) {
		const struct octo_txq_counts c = octo_queue_counts_of_tx(octo, i);

		octo_counts_add(&sum, &c, sizeof(sum));
	}
	return sum;
}

/* Reset by moving the bases: each counter is written only by the thread that uses the queue. */
void
octo_queue_counts_reset(struct octo_dev *octo)
{
	struct octo_rxq *rxq;
	struct octo_txq *txq;

	memset(octo->rxq_gone, 0, sizeof(octo->rxq_gone));
	memset(octo->txq_gone, 0, sizeof(octo->txq_gone));
	OCTO_FOREACH_RXQ(octo, rxq)
		octo_queue_counts_begin_rx_locked(octo, rxq);
	OCTO_FOREACH_TXQ(octo, txq)
		octo_queue_counts_begin_tx_locked(octo, txq);
}
