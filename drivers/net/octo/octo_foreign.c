/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Detects packets that a PF sends and the octo port did not give it. ethdev lets any code use a
 * port that another owns, so an application that computes port ids may send by a PF while octo
 * sends by the same queue. Detection compares counters, at no cost for bursts.
 */

#include "octo_private.h"

/*
 * Looks in a row at which the excess reached a new maximum before it is reported. A single one
 * may be due to late counters.
 */
#define LOOKS 3
/* Tolerance per Tx queue: the PF counts a burst before octo does. */
#define BURST 64

#define TSO                                                                                        \
	(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO |                                 \
	 RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO |                       \
	 RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO | RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO |                     \
	 RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO | RTE_ETH_TX_OFFLOAD_IP_TNL_TSO)

/* Not with TSO, where a PF may count each segment, nor with VFs, whose packets a PF may count. */
static bool
counts_as_octo_does(const struct octo_dev *octo, const struct octo_port *port)
{
	uint64_t offloads = octo_data(octo)->dev_conf.txmode.offloads;
	const struct octo_txq *q;

	OCTO_FOREACH_TXQ(octo, q)
		offloads |= q->conf.offloads;
	return (offloads & TSO) == 0 && port->past.info.max_vfs == 0;
}

/* Called after the PF was asked: packets that octo sends meanwhile make the result smaller. */
static int64_t
not_ours(const struct octo_dev *octo, uint8_t port)
{
	const struct octo_txq_counts counts = octo_queue_counts_tx(octo);
	uint64_t sent = 0;

	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
		if (octo_port_index(octo, pf) == port)
			sent += counts.sent[pf];
	return (int64_t)(octo->port[port].past.last.all.opackets - sent);
}

static void
begin(struct octo_dev *octo, uint8_t port)
{
	struct octo_foreign *f = &octo->port[port].foreign;

	f->most = not_ours(octo, port);
	f->looks = 0;
}

/* Some PFs reset their counters when they are started. */
void
octo_foreign_start_locked(struct octo_dev *octo)
{
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING) {
		octo_pf_counts_refresh_locked(octo, (uint8_t)i);
		begin(octo, (uint8_t)i);
	}
}

/* Called at intervals, right after the PF's counters were read. */
void
octo_foreign_look_locked(struct octo_dev *octo, uint8_t port)
{
	const struct octo_port *p = &octo->port[port];
	struct octo_foreign *f = &octo->port[port].foreign;
	const int64_t now = not_ours(octo, port);

	if (rte_atomic_exchange_explicit(&f->anew, false, rte_memory_order_relaxed))
		begin(octo, port);
	if (f->logged || !octo->started || !counts_as_octo_does(octo, p))
		return;
	if (now <= f->most + BURST * octo_data(octo)->nb_tx_queues) {
		f->looks = 0;
		return;
	}
	f->most = now;
	if (++f->looks < LOOKS)
		return;
	f->logged = true;
	OCTO_LOG(WARNING,
		 "port %u: packets are sent by PF %s that are not the port's: the application must "
		 "not use port %u",
		 octo->port_id, p->name, p->port_id);
}
