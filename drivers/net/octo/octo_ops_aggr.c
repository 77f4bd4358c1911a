/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The aggregated ports API (DPDK 23.03): an application can count the PFs and pin a Tx queue to
 * one. A separate file, because the oldest supported DPDK does not have these ops.
 */

#include <errno.h>

#include "octo_private.h"

int
octo_count_aggr_ports(struct rte_eth_dev *dev)
{
	return octo_of(dev)->nb_pfs;
}

/* affinity: 1 for the first PF, 0 for none. ethdev refuses it on a started port. */
int
octo_map_aggr_tx_affinity(struct rte_eth_dev *dev, uint16_t tx_queue_id, uint8_t affinity)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_txq *q = dev->data->tx_queues[tx_queue_id];

	if (affinity > octo->nb_pfs)
		return -EINVAL;
	octo->tx_pin[tx_queue_id] = affinity;
	if (q != NULL) {
		/* the next burst plans anew; with tx_pf=mbuf, the first one after the start */
		q->tracking.node = -1;
		rte_atomic_store_explicit(&q->sender, 0, rte_memory_order_relaxed);
	}
	return 0;
}
