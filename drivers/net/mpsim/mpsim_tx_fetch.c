/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "mpsim.h"

static_assert(MPSIM_FETCH_PFS == MPSIM_MAX_PFS, "one for each");

int
mpsim_fetch_parse(const char *text, enum mpsim_tx_nodes *nodes)
{
	static const char *const words[] = {
		[MPSIM_TX_NODES_OFF] = "off",
		[MPSIM_TX_NODES_COUNT] = "count",
		[MPSIM_TX_NODES_HINT] = "hint",
	};

	for (unsigned int i = 0; i < RTE_DIM(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			*nodes = i;
			return 0;
		}
	}
	return -EINVAL;
}

int
mpsim_fetch_setup(struct mpsim_txq *q)
{
	struct mpsim_fetch *f = &q->nic->fetch;
	const struct mpsim_pf *pf = q->pf;

	if (pf->args.tx_nodes == MPSIM_TX_NODES_OFF || mpsim_is_representor(pf))
		return 0;
	f->pf[pf->index].port = pf->port_id;
	f->pf[pf->index].node = (int16_t)pf->args.socket;
	f->pfs |= 1u << pf->index;
	q->counts_nodes = true;
	return pf->args.tx_nodes == MPSIM_TX_NODES_HINT ? octo_tx_hint_register(&f->hint) : 0;
}

/* The PF that fetches a segment of a packet sent by this queue. */
static uint16_t
fetching_pf(const struct mpsim_txq *q, bool hinted, struct rte_mbuf *segment)
{
	const struct mpsim_fetch *f = &q->nic->fetch;
	uint16_t port;

	if (!hinted)
		return q->pf->index;
	port = *octo_tx_hint_of(&f->hint, segment);
	for (uint16_t i = 0; i < MPSIM_FETCH_PFS; i++)
		if ((f->pfs >> i & 1) && f->pf[i].port == port)
			return i;
	return q->pf->index;
}

static void
fetch(struct mpsim_txq *q, uint16_t by, struct rte_mbuf *segment, int sign)
{
	struct mpsim_fetch *f = &q->nic->fetch;
	const struct rte_mempool *pool = octo_tx_data_pool(segment);
	const uint64_t bytes = (uint64_t)((int64_t)segment->data_len * sign);

	/* no pair: statistics only */
	rte_atomic_fetch_add_explicit(&f->pf[by].bytes, bytes, rte_memory_order_relaxed);
	if (pool != NULL && pool->socket_id >= 0 && pool->socket_id != f->pf[by].node)
		rte_atomic_fetch_add_explicit(&f->pf[by].crossing, bytes, rte_memory_order_relaxed);
}

static void
fetch_all(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n, int sign)
{
	const uint64_t flag = q->pf->args.tx_nodes == MPSIM_TX_NODES_HINT ?
				      q->nic->fetch.hint.flag :
				      0;

	for (uint16_t i = 0; i < n; i++) {
		const bool hinted = (pkts[i]->ol_flags & flag) != 0;

		for (struct rte_mbuf *seg = pkts[i]; seg != NULL; seg = seg->next)
			fetch(q, fetching_pf(q, hinted, seg), seg, sign);
	}
}

void
mpsim_fetch_add(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n)
{
	fetch_all(q, pkts, n, 1);
}

void
mpsim_fetch_undo(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n)
{
	fetch_all(q, pkts, n, -1);
}

struct mpsim_fetch_stats
mpsim_fetch_count(const struct mpsim_fetch *f, uint16_t pf)
{
	if (pf >= MPSIM_FETCH_PFS)
		return (struct mpsim_fetch_stats){0};
	return (struct mpsim_fetch_stats){
		.bytes = rte_atomic_load_explicit(&f->pf[pf].bytes, rte_memory_order_relaxed),
		.crossing = rte_atomic_load_explicit(&f->pf[pf].crossing, rte_memory_order_relaxed),
	};
}
