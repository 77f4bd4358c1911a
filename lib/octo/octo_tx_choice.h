/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TX_CHOICE_H
#define OCTO_TX_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "octo_plan.h"

/**
 * @file
 * By which PF a packet goes whose segments lie on several nodes: by the one that
 * has to fetch the least of it from another node; or by any, if that PF lets each
 * segment be fetched by another PF, as a hint in the segment says.
 */

/** Bytes of a packet that would cross nodes, by the PF that sends it. Zeroed: none. */
struct octo_tx_cost {
	uint32_t crossing[OCTO_PLAN_MAX_PFS];
};

/** A segment of the packet; node -1 if unknown, which crosses nothing. */
__rte_internal
void octo_tx_cost_add(struct octo_tx_cost *cost, const struct octo_plan_pfs *pfs, int node,
		      uint32_t len);

/**
 * The PF that crosses least.
 *
 * @param usable
 *   Bit mask of PFs; not 0.
 * @param home
 *   Is taken if no other is better.
 */
__rte_internal
uint8_t octo_tx_cost_least(const struct octo_tx_cost *cost, const struct octo_plan_pfs *pfs,
			   uint32_t usable, uint8_t home);

/** Name of the dynamic field in each segment, and of the flag in the first. */
#define OCTO_TX_HINT_NAME "net_octo_sg_pf"

/** In what rte_eth_tx_burst_mode_get() says of a PF that follows hints. */
#define OCTO_TX_HINT_MODE "SG hints"

/** Where hints are: the port id of the PF that is to fetch the segment. */
struct octo_tx_hint {
	int offset; /**< of a uint16_t in each segment */
	uint64_t
		flag; /**< in ol_flags of the first: all segments have one; 0: nobody follows any */
};

/** Register field and flag; the same for all who do. 0 or a negative errno. */
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
