/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counters of the port's queues. Each setup allocates a new queue object; its counters
 * continue where those of the previous object with this queue id ended.
 */

#include "octo_private.h"

/* Since the setup of the queue. */
static struct octo_rxq_counts
own_rx(const struct octo_rxq *q)
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
own_tx(const struct octo_txq *q)
{
	struct octo_txq_counts counts = {.tx = q->counts};

	memcpy(counts.sent, q->sent, sizeof(counts.sent));
	return counts;
}

/* Keep the counters of a queue that is about to be freed; it must not be polled any more. */
void
octo_queue_counts_end_rx_locked(struct octo_dev *octo, const struct octo_rxq *q)
{
	const struct octo_rxq_counts own = own_rx(q);

	octo_counts_add(&octo->rxq_gone[q->queue_id], &own, sizeof(own));
}

void
octo_queue_counts_end_tx_locked(struct octo_dev *octo, const struct octo_txq *q)
{
	struct octo_txq_counts own = own_tx(q);

	/* of a sender that was killed inside its burst: see octo_tx_drop_stash() */
	own.tx.drops += q->stash.nb - q->stash.first;
	octo_counts_add(&octo->txq_gone[q->queue_id], &own, sizeof(own));
}

/* Since the last reset; of a queue that is not set up now, too. */
struct octo_rxq_counts
octo_queue_counts_of_rx(const struct octo_dev *octo, uint16_t queue)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_rxq *q = queue < data->nb_rx_queues ? data->rx_queues[queue] : NULL;
	struct octo_rxq_counts counts = q != NULL ? own_rx(q) : (struct octo_rxq_counts){0};

	octo_counts_add(&counts, &octo->rxq_gone[queue], sizeof(counts));
	return counts;
}

struct octo_txq_counts
octo_queue_counts_of_tx(const struct octo_dev *octo, uint16_t queue)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_txq *q = queue < data->nb_tx_queues ? data->tx_queues[queue] : NULL;
	struct octo_txq_counts counts = q != NULL ? own_tx(q) :
						    (struct octo_txq_counts){.sent = {0}};

	octo_counts_add(&counts, &octo->txq_gone[queue], sizeof(counts));
	return counts;
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

/* Only the thread that uses a queue writes its counters: they are subtracted from now on. */
void
octo_queue_counts_reset(struct octo_dev *octo)
{
	const struct octo_rxq *rxq;
	const struct octo_txq *txq;

	memset(octo->rxq_gone, 0, sizeof(octo->rxq_gone));
	memset(octo->txq_gone, 0, sizeof(octo->txq_gone));
	OCTO_FOREACH_RXQ(octo, rxq) {
		const struct octo_rxq_counts own = own_rx(rxq);

		octo_counts_subtract(&octo->rxq_gone[rxq->queue_id], &own, sizeof(own));
	}
	OCTO_FOREACH_TXQ(octo, txq) {
		const struct octo_txq_counts own = own_tx(txq);

		octo_counts_subtract(&octo->txq_gone[txq->queue_id], &own, sizeof(own));
	}
}

/* Timeouts include fences that the control side gave up, as others waited for them. */
struct octo_fence_counts
octo_fence_counts(const struct octo_dev *octo)
{
	const struct octo_fences *f = &octo->fences;
	struct octo_fence_counts sum = {
		.rehomes = f->rehomes - f->rehomes_base,
		.opened = f->opened - f->opened_base,
		.gates = octo_queue_counts_rx(octo).gates,
	};

	sum.gates.timeouts += f->given_up - f->given_up_base;
	return sum;
}

void
octo_fence_reset_counts(struct octo_dev *octo)
{
	octo->fences.rehomes_base = octo->fences.rehomes;
	octo->fences.opened_base = octo->fences.opened;
	octo->fences.given_up_base = octo->fences.given_up;
}
