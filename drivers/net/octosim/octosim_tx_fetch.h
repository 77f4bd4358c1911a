/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_TX_FETCH_H
#define OCTOSIM_TX_FETCH_H

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

/* OCTOSIM_MAX_PFS, which comes later */
#define OCTOSIM_FETCH_PFS 8

struct octosim_txq;

/** Devarg tx_nodes=. */
enum octosim_tx_nodes {
	OCTOSIM_TX_NODES_OFF,
	OCTOSIM_TX_NODES_COUNT,
	OCTOSIM_TX_NODES_HINT,
};

struct octosim_fetch_stats {
	uint64_t bytes;
	uint64_t crossing; /**< of them, from another node */
};

/** Of a NIC, by the index of its PFs. */
struct octosim_fetch {
	struct octo_tx_hint hint; /**< none: no PF follows any */
	uint32_t pfs;             /**< mask of those that count */
	struct {
		uint16_t port;
		int16_t node;
		RTE_ATOMIC(uint64_t) bytes; /**< added to by any sender */
		RTE_ATOMIC(uint64_t) crossing;
	} pf[OCTOSIM_FETCH_PFS];
};

/** Reads off, count or hint. 0 or -EINVAL. */
int octosim_fetch_parse(const char *text, enum octosim_tx_nodes *nodes);

/** Prepare a queue for it if its PF is told to. 0 or a negative errno. */
int octosim_fetch_setup(struct octosim_txq *q);

/** Add to what was fetched, or take it back. */
void octosim_fetch_add(struct octosim_txq *q, struct rte_mbuf **pkts, uint16_t n);
void octosim_fetch_undo(struct octosim_txq *q, struct rte_mbuf **pkts, uint16_t n);

/** What this PF has fetched so far. */
struct octosim_fetch_stats octosim_fetch_count(const struct octosim_fetch *f, uint16_t pf);

#endif /* OCTOSIM_TX_FETCH_H */
