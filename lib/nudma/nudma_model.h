/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef NUDMA_MODEL_H
#define NUDMA_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "nudma_account.h"
#include "nudma_load.h"

/**
 * @file
 * The cost of a DMA, a doorbell or a CPU's load on a machine under a load. Each function
 * charges an account and changes nothing else, so any number of threads may use one model, each
 * with its own account. The model itself may only be changed while no thread uses it.
 */

/** Where the latest copy of the data is, seen from the node that has the memory. */
enum nudma_place {
	NUDMA_IN_LLC,     /**< in that node's LLC: brought by DDIO, or written by a CPU */
	NUDMA_IN_DRAM,    /**< only in its DRAM */
	NUDMA_IN_FOREIGN, /**< in DRAM, written by a PF of the other node: must be snooped */
	NUDMA_NB_PLACES,
};

/** How a CPU reads the data. */
enum nudma_touch {
	NUDMA_AT_ONCE, /**< it waits for each line, as for a completion */
	NUDMA_STREAM,  /**< many lines at a time, soon after they arrived */
	NUDMA_LATE,    /**< many lines at a time, perhaps after their eviction */
};

struct nudma_model {
	struct nudma_machine machine;
	struct nudma_load load;
	bool no_ddio; /**< DMA writes go to DRAM even on the local node */
	/* derived from these; ps */
	uint64_t wait_ps[2][NUDMA_NB_PLACES]; /**< [far CPU] of a load, beyond a hit in its LLC */
	uint64_t line_ps[2][NUDMA_NB_PLACES]; /**< of a line in a stream, beyond one in its LLC */
	uint64_t write_ps[NUDMA_NODES];       /**< of a DMA write from this node to the other */
	uint64_t read_ps[NUDMA_NODES];
	uint64_t post_ps[NUDMA_NODES]; /**< of a CPU's write to the other node's PF */
	uint64_t data_millflits;
	uint64_t control_millflits;
};

/** Initialise the model, or set another load. */
__rte_internal
void nudma_model_set(struct nudma_model *model, const struct nudma_machine *machine,
		     const struct nudma_load *load, bool no_ddio);

/**
 * Charge a DMA write of a PF on node pf to the memory of a node.
 *
 * @return
 *   Where the data are then.
 */
__rte_internal
enum nudma_place nudma_dma_write(const struct nudma_model *model, struct nudma_account *account,
				 unsigned int pf, unsigned int memory, uint32_t bytes);

/** Charge a DMA read of data that a CPU has just written. */
__rte_internal
void nudma_dma_read(const struct nudma_model *model, struct nudma_account *account, unsigned int pf,
		    unsigned int memory, uint32_t bytes);

/** Charge a doorbell: a posted write of a CPU on one node to a PF's registers. */
__rte_internal
void nudma_doorbell(const struct nudma_model *model, struct nudma_account *account,
		    unsigned int cpu, unsigned int pf);

/**
 * Charge a CPU's read of data in the memory of a node.
 *
 * Bytes of a stream are not rounded up to lines: many packets are read in a row.
 */
__rte_internal
void
nudma_cpu_read(const struct nudma_model *model, struct nudma_account *account, unsigned int cpu,
	       unsigned int memory, enum nudma_place place, enum nudma_touch touch, uint32_t bytes);

/**
 * Added time, in ps, until a DMA write of a PF on node pf is visible, compared with a local PF.
 * Charges nothing.
 */
__rte_internal
uint64_t nudma_write_path_ps(const struct nudma_model *model, unsigned int pf, unsigned int memory);

/**
 * The part of the data brought by DDIO that is evicted before a CPU reads it.
 *
 * Lines live in the part of the LLC that DDIO may use: lines beyond its size are evicted, and
 * lines in it are overwritten at random by what cores bring into the LLC.
 *
 * @param backlog
 *   Bytes that wait for a reader on this socket.
 * @param drain_gb
 *   GB/s at which they are read; 0: not at all.
 * @param fill_gb
 *   GB/s that cores of this socket bring into its LLC for other purposes.
 * @return
 *   From 0 to 1.
 */
__rte_internal
double
nudma_evicted(const struct nudma_machine *machine, double backlog, double drain_gb, double fill_gb);

/** GB/s of one PF's PCIe link and direction, TLP overhead included. */
__rte_internal
double nudma_pcie_gb(const struct nudma_machine *machine);

#endif /* NUDMA_MODEL_H */
