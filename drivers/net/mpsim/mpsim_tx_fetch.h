/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_TX_FETCH_H
#define MPSIM_TX_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_stdatomic.h>

#include "octo_tx_choice.h"

/**
 * @file
 * By which PF a segment that is sent crosses PCIe, and which bytes cross nodes on
 * the way: those of pools that were made for another node than that of the PF. A
 * PF with tx_nodes=hint has each segment fetched by the PF that its hint names.
 */

/* MPSIM_MAX_PFS, which comes later */
#define MPSIM_FETCH_PFS 8

struct mpsim_txq;

/** Devarg tx_nodes=. */
enum mpsim_tx_nodes {
	MPSIM_TX_NODES_OFF,
	MPSIM_TX_NODES_COUNT,
	MPSIM_TX_NODES_HINT,
};

struct mpsim_fetch_stats {
	uint64_t bytes;
	uint64_t crossing; /**< of them, from another node */
};

/** Of a NIC, by the index of its PFs. */
struct mpsim_fetch {
	struct octo_tx_hint hint; /**< none: no PF follows any */
	uint32_t pfs;             /**< mask of those that count */
	struct {
		uint16_t port;
		int16_t node;
		RTE_ATOMIC(uint64_t) bytes; /**< added to by any sender */
		RTE_ATOMIC(uint64_t) crossing;
	} pf[MPSIM_FETCH_PFS];
};

/** Reads off, count or hint. 0 or -EINVAL. */
int mpsim_fetch_parse(const char *text, enum mpsim_tx_nodes *nodes);

/** Prepare a queue for it if its PF is told to. 0 or a negative errno. */
int mpsim_fetch_setup(struct mpsim_txq *q);

/** Add to what was fetched, or take it back. */
void mpsim_fetch_add(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n);
void mpsim_fetch_undo(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n);

/** What this PF has fetched so far. */
struct mpsim_fetch_stats mpsim_fetch_count(const struct mpsim_fetch *f, uint16_t pf);

#endif /* MPSIM_TX_FETCH_H */
