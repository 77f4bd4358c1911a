/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_private.h"

/* Some timeouts are the control side's: others waited for the fence. */
struct octo_fence_counts
octo_fence_counts(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_fences *f = &octo->fences;
	struct octo_fence_counts sum = {
		.rehomes = f->rehomes - f->rehomes_base,
		.opened = f->opened - f->opened_base,
		.gates.timeouts = f->given_up - f->given_up_base,
	};

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		const struct octo_rxq *q = data->rx_queues[i];

		if (q == NULL)
			continue;
		sum.gates.timeouts += q->gate.counts.timeouts - q->gate_base.timeouts;
		sum.gates.held_cycles += q->gate.counts.held_cycles - q->gate_base.held_cycles;
		sum.gates.waits += q->gate.counts.waits - q->gate_base.waits;
		sum.gates.waited_cycles += q->gate.counts.waited_cycles -
					   q->gate_base.waited_cycles;
	}
	return sum;
}

void
octo_fence_reset_counts(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	octo->fences.rehomes_base = octo->fences.rehomes;
	octo->fences.opened_base = octo->fences.opened;
	octo->fences.given_up_base = octo->fences.given_up;
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q != NULL)
			q->gate_base = q->gate.counts;
	}
}
