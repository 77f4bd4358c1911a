/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef NUDMA_ACCOUNT_H
#define NUDMA_ACCOUNT_H

#include <stdint.h>

#include <rte_compat.h>

#include "nudma_machine.h"

/**
 * @file
 * What events have cost. Integers, so that sums do not depend on the order of the events;
 * times are in picoseconds of virtual time. All fields are uint64_t.
 */

struct nudma_account {
	uint64_t cpu_ps;   /**< that CPUs took longer than with every load in their LLC */
	uint64_t spill_ps; /**< that they would take longer yet without what DDIO brought */
	uint64_t path_ps;  /**< that DMA and doorbells took longer than with a local PF */
	uint64_t dma_writes;
	uint64_t dma_reads;
	uint64_t completions;
	uint64_t doorbells;
	uint64_t remote;                   /**< of these four, those that crossed the link */
	uint64_t misses;                   /**< lines that CPUs waited for, one by one */
	uint64_t dram_read[NUDMA_NODES];   /**< bytes */
	uint64_t dram_write[NUDMA_NODES];  /**< bytes */
	uint64_t spill_bytes[NUDMA_NODES]; /**< that DDIO brought, and CPUs read late */
	uint64_t millflits[NUDMA_NODES]; /**< on the link, from this node: thousandths of a flit */
	uint64_t pcie_up[NUDMA_NODES];   /**< bytes from the PF on this node, TLPs included */
	uint64_t pcie_down[NUDMA_NODES]; /**< bytes to it */
};

/** Add one to another. */
__rte_internal
void nudma_account_add(struct nudma_account *to, const struct nudma_account *from);

/** Take away what was there before. */
__rte_internal
void nudma_account_subtract(struct nudma_account *from, const struct nudma_account *before);

#endif /* NUDMA_ACCOUNT_H */
