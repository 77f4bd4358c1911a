/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef NUDMA_ACCOUNT_H
#define NUDMA_ACCOUNT_H

#include <stdint.h>

#include <rte_compat.h>

#include "nudma_machine.h"

/**
 * @file
 * The cost of events. Integers, so that sums do not depend on the order of the events; times
 * are in picoseconds of virtual time. All fields are uint64_t.
 */

struct nudma_account {
	uint64_t cpu_ps;   /**< delay of CPUs, compared with every load hitting their LLC */
	uint64_t spill_ps; /**< further delay of CPUs without the data that DDIO brought */
	uint64_t path_ps;  /**< delay of DMA and doorbells, compared with a local PF */
	uint64_t dma_writes;
	uint64_t dma_reads;
	uint64_t completions;
	uint64_t doorbells;
	uint64_t remote;                   /**< those of the four that crossed the link */
	uint64_t misses;                   /**< lines that CPUs waited for, one by one */
	uint64_t dram_read[NUDMA_NODES];   /**< bytes */
	uint64_t dram_write[NUDMA_NODES];  /**< bytes */
	uint64_t spill_bytes[NUDMA_NODES]; /**< brought by DDIO and read late by CPUs */
	uint64_t millflits[NUDMA_NODES]; /**< on the link, from this node; thousandths of a flit */
	uint64_t pcie_up[NUDMA_NODES];   /**< bytes from this node's PF, with TLP overhead */
	uint64_t pcie_down[NUDMA_NODES]; /**< bytes to this node's PF, with TLP overhead */
};

/** Add an account to another. */
__rte_internal
void nudma_account_add(struct nudma_account *to, const struct nudma_account *from);

/** Subtract an earlier account. */
__rte_internal
void nudma_account_subtract(struct nudma_account *from, const struct nudma_account *before);

#endif /* NUDMA_ACCOUNT_H */
