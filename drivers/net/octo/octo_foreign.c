/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packets that a PF sends and that the port did not give it. ethdev lets anybody use a port that
 * another owns, and an application that computes port numbers may send by a PF, while octo
 * sends by the same queue. That is seen by comparing counters, and costs bursts nothing.
 */

#include "octo_private.h"

/* Looks in a row at which there were more of them than ever. Once may be late counters. */
#define LOOKS 3
/* A burst is counted by the PF before octo counts it: not taken for others' for each queue. */
#define BURST 64

#define TSO                                                                                        \
	(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO |                                 \
	 RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO |                       \
	 RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO | RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO |                     \
	 RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO | RTE_ETH_TX_OFFLOAD_IP_TNL_TSO)

/* A PF may count each segment that it makes, and what its VFs send. */
static bool
counts_as_octo_does(const struct octo_dev *octo, const struct octo_pf *pf)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	uint64_t offloads = data->dev_conf.txmode.offloads;

	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		const struct octo_txq *q = data->tx_queues[i];

		if (q != NULL)
			offloads |= q->conf.offloads;
	}
	return (offloads & TSO) == 0 && pf->past.info.max_vfs == 0;
}

/* After the PF was asked: what octo sends meanwhile makes it less, not more. */
static int64_t
not_ours(const struct octo_dev *octo, uint8_t pf)
{
	return (int64_t)(octo->pf[pf].past.last.all.opackets - octo_queue_counts_tx(octo).sent[pf]);
}

static void
begin(struct octo_dev *octo, uint8_t pf)
{
	struct octo_foreign *f = &octo->pf[pf].foreign;

	f->most = not_ours(octo, pf);
	f->looks = 0;
}

/* Some PFs begin to count anew when they are started. */
void
octo_foreign_start_locked(struct octo_dev *octo)
{
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PF_STARTED) {
		octo_pf_counts_refresh_locked(octo, (uint8_t)i);
		begin(octo, (uint8_t)i);
	}
}

/* Now and then, while the port is started and when the PF was just asked for its counters. */
void
octo_foreign_look_locked(struct octo_dev *octo, uint8_t pf)
{
	const struct octo_pf *p = &octo->pf[pf];
	struct octo_foreign *f = &octo->pf[pf].foreign;
	const int64_t now = not_ours(octo, pf);

	if (rte_atomic_exchange_explicit(&f->anew, false, rte_memory_order_relaxed))
		begin(octo, pf);
	if (f->told || !octo->started || !counts_as_octo_does(octo, p))
		return;
	if (now <= f->most + BURST * octo_data(octo)->nb_tx_queues) {
		f->looks = 0;
		return;
	}
	f->most = now;
	if (++f->looks < LOOKS)
		return;
	f->told = true;
	OCTO_LOG(WARNING,
		 "port %u: packets are sent by PF %s that are not the port's: the application must "
		 "not use port %u",
		 octo->port_id, p->name, p->port_id);
}
