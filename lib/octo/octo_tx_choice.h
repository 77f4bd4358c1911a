/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TX_CHOICE_H
#define OCTO_TX_CHOICE_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "octo_plan.h"

/**
 * @file
 * Choice of the PF for a packet whose segments are on several nodes: the PF that has to fetch
 * the fewest bytes from another node; or any, if that PF can have each segment fetched by
 * another PF, given by a hint in the segment.
 */

/** Bytes of a packet that would cross nodes, by the PF that sends it. Start with zeros. */
struct octo_tx_cost {
	uint32_t crossing[OCTO_PLAN_MAX_PFS];
};

/** Add a segment of the packet; node -1 if unknown, which crosses nothing. */
__rte_internal
void octo_tx_cost_add(struct octo_tx_cost *cost, const struct octo_plan_pfs *pfs, int node,
		      uint32_t len);

/**
 * The PF for which the fewest bytes cross nodes.
 *
 * @param usable
 *   Bit mask of PFs; not 0.
 * @param home
 *   Preferred if no other is better.
 */
__rte_internal
uint8_t octo_tx_cost_least(const struct octo_tx_cost *cost, const struct octo_plan_pfs *pfs,
			   uint32_t usable, uint8_t home);

/** Name of the dynamic field in each segment, and of the flag in the first. */
#define OCTO_TX_HINT_NAME "net_octo_sg_pf"

/** Part of the info that rte_eth_tx_burst_mode_get() returns for a PF that follows hints. */
#define OCTO_TX_HINT_MODE "SG hints"

/** Location of hints: the port id of the PF that is to fetch the segment. */
struct octo_tx_hint {
	int offset; /**< of a uint16_t in each segment */
	/** in ol_flags of the first segment: all have a hint; 0: no PF follows hints */
	uint64_t flag;
};

/** Register field and flag; all callers get the same. @return 0 or a negative errno. */
__rte_internal
int octo_tx_hint_register(struct octo_tx_hint *hint);

static inline uint16_t *
octo_tx_hint_of(const struct octo_tx_hint *hint, struct rte_mbuf *segment)
{
	return RTE_MBUF_DYNFIELD(segment, hint->offset, uint16_t *);
}

/** The pool that the data of a segment is in; NULL if it is in none. */
static inline struct rte_mempool *
octo_tx_data_pool(struct rte_mbuf *segment)
{
	if (RTE_MBUF_HAS_EXTBUF(segment))
		return NULL;
	return RTE_MBUF_CLONED(segment) ? rte_mbuf_from_indirect(segment)->pool : segment->pool;
}

#endif /* OCTO_TX_CHOICE_H */
