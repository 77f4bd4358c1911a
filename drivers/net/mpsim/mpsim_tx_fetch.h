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
 * The PF by which a sent segment crosses PCIe, and the bytes that cross nodes on the way: those
 * of pools on another node than the PF. With tx_nodes=hint each segment is fetched by the PF
 * that its hint names.
 */

/* equal to MPSIM_MAX_PFS, which is not defined yet */
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
	uint64_t crossing; /**< part of bytes that came from another node */
};

/** State of a NIC, by PF index. */
struct mpsim_fetch {
	struct octo_tx_hint hint; /**< unregistered: no PF uses hints */
	uint32_t pfs;             /**< mask of PFs that count */
	struct {
		uint16_t port;
		int16_t node;
		RTE_ATOMIC(uint64_t) bytes; /**< written by any sender */
		RTE_ATOMIC(uint64_t) crossing;
	} pf[MPSIM_FETCH_PFS];
};

/** Parse off, count or hint. Returns 0 or -EINVAL. */
int mpsim_fetch_parse(const char *text, enum mpsim_tx_nodes *nodes);

/** Set a queue up for counting, if its PF is to count. Returns 0 or a negative errno. */
int mpsim_fetch_setup(struct mpsim_txq *q);

/** Add the frames to the counts, or subtract them again. */
void mpsim_fetch_add(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n);
void mpsim_fetch_undo(struct mpsim_txq *q, struct rte_mbuf **pkts, uint16_t n);

/** Bytes fetched by this PF so far. */
struct mpsim_fetch_stats mpsim_fetch_count(const struct mpsim_fetch *f, uint16_t pf);

#endif /* MPSIM_TX_FETCH_H */
