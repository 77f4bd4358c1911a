/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counters of the port's queues. Each setup allocates a new queue object; its counters
 * continue where those of the previous object with this queue id ended.
 */

#include "octo_private.h"

static struct octo_rx_count
rx_minus(struct octo_rx_count a, struct octo_rx_count b)
{
	return (struct octo_rx_count){a.packets - b.packets, a.bytes - b.bytes};
}

static struct octo_gate_counts
gates_minus(struct octo_gate_counts a, struct octo_gate_counts b)
{
	return (struct octo_gate_counts){
		.timeouts = a.timeouts - b.timeouts,
		.held_cycles = a.held_cycles - b.held_cycles,
		.waits = a.waits - b.waits,
		.waited_cycles = a.waited_cycles - b.waited_cycles,
	};
}

static struct octo_tx_counts
tx_minus(struct octo_tx_counts a, struct octo_tx_counts b)
{
	return (struct octo_tx_counts){
		.switches = a.switches - b.switches,
		.timeouts = a.timeouts - b.timeouts,
		.stashed = a.stashed - b.stashed,
		.refused = a.refused - b.refused,
		.drops = a.drops - b.drops,
		.hinted = a.hinted - b.hinted,
		.crossing = a.crossing - b.crossing,
	};
}

static struct octo_rxq_counts
of_rxq(const struct octo_rxq *q)
{
	return (struct octo_rxq_counts){
		.home = rx_minus(q->home_count, q->home_base),
		.stray = rx_minus(q->stray_count, q->stray_base),
		.sampled = q->sampled - q->sampled_base,
		.gates = gates_minus(q->gate.counts, q->gate_base),
	};
}

static struct octo_txq_counts
of_txq(const struct octo_txq *q)
{
	struct octo_txq_counts counts = {.tx = tx_minus(q->counts, q->counts_base)};

	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
		counts.sent[pf] = q->sent[pf] - q->sent_base[pf];
	return counts;
}

/* Make a new queue continue from what its queue id has counted so far. */
void
octo_queue_counts_begin_rx_locked(struct octo_dev *octo, struct octo_rxq *q)
{
	struct octo_rxq_counts *gone = &octo->rxq_gone[q->queue_id];

	q->home_base = rx_minus(q->home_count, gone->home);
	q->stray_base = rx_minus(q->stray_count, gone->stray);
	q->sampled_base = q->sampled - gone->sampled;
	q->gate_base = gates_minus(q->gate.counts, gone->gates);
	*gone = (struct octo_rxq_counts){0};
}

void
octo_queue_counts_begin_tx_locked(struct octo_dev *octo, struct octo_txq *q)
{
	struct octo_txq_counts *gone = &octo->txq_gone[q->queue_id];

	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
		q->sent_base[pf] = q->sent[pf] - gone->sent[pf];
	q->counts_base = tx_minus(q->counts, gone->tx);
	*gone = (struct octo_txq_counts){0};
}

/* Keep the counters of a queue that is about to be freed; it must not be polled any more. */
void
octo_queue_counts_end_rx_locked(struct octo_dev *octo, const struct octo_rxq *q)
{
	octo->rxq_gone[q->queue_id] = of_rxq(q);
}

void
octo_queue_counts_end_tx_locked(struct octo_dev *octo, const struct octo_txq *q)
{
	octo->txq_gone[q->queue_id] = of_txq(q);
}

/* The sum over all queues, including queue ids that are not set up now. */
struct octo_rxq_counts
octo_queue_counts_rx(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	struct octo_rxq_counts sum = {0};

	for (uint16_t i = 0; i < RTE_MAX_QUEUES_PER_PORT; i++) {
		const struct octo_rxq *q = i < data->nb_rx_queues ? data->rx_queues[i] : NULL;
		const struct octo_rxq_counts c = q != NULL ? of_rxq(q) : octo->rxq_gone[i];

		sum.home.packets += c.home.packets;
		sum.home.bytes += c.home.bytes;
		sum.stray.packets += c.stray.packets;
		sum.stray.bytes += c.stray.bytes;
		sum.sampled += c.sampled;
		sum.gates.timeouts += c.gates.timeouts;
		sum.gates.held_cycles += c.gates.held_cycles;
		sum.gates.waits += c.gates.waits;
		sum.gates.waited_cycles += c.gates.waited_cycles;
	}
	return sum;
}

static void
add_tx(struct octo_txq_counts *sum, const struct octo_txq_counts *c)
{
	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
		sum->sent[pf] += c->sent[pf];
	sum->tx.switches += c->tx.switches;
	sum->tx.timeouts += c->tx.timeouts;
	sum->tx.stashed += c->tx.stashed;
	sum->tx.refused += c->tx.refused;
	sum->tx.drops += c->tx.drops;
	sum->tx.hinted += c->tx.hinted;
	sum->tx.crossing += c->tx.crossing;
}

struct octo_txq_counts
octo_queue_counts_tx(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	struct octo_txq_counts sum = {.sent = {0}};

	for (uint16_t i = 0; i < RTE_MAX_QUEUES_PER_PORT; i++) {
		const struct octo_txq *q = i < data->nb_tx_queues ? data->tx_queues[i] : NULL;
		const struct octo_txq_counts c = q != NULL ? of_txq(q) : octo->txq_gone[i];

		add_tx(&sum, &c);
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

/* Packets and bytes of a queue since the last reset, by its home leg and by stray legs. */
void
octo_queue_counts_of_rx(const struct octo_rxq *q, struct octo_rx_count *home,
			struct octo_rx_count *stray)
{
	home->packets = q->home_count.packets - q->home_base.packets;
	home->bytes = q->home_count.bytes - q->home_base.bytes;
	stray->packets = q->stray_count.packets - q->stray_base.packets;
	stray->bytes = q->stray_count.bytes - q->stray_base.bytes;
}
