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
 * What a DMA, a doorbell, a CPU's load cost on a machine under a load. Each function charges an
 * account and changes nothing else, so any number of threads may use one model, each with an
 * account of its own. The model itself is changed while nobody uses it.
 */

/** Where the newest copy of data is, as seen from the node whose memory it is in. */
enum nudma_place {
	NUDMA_IN_LLC,     /**< in the LLC of that node: DDIO, or a CPU wrote it */
	NUDMA_IN_DRAM,    /**< only in its DRAM */
	NUDMA_IN_FOREIGN, /**< in DRAM, where a PF of the other node wrote it: to be snooped for */
	NUDMA_NB_PLACES,
};

/** How a CPU looks at data. */
enum nudma_touch {
	NUDMA_AT_ONCE, /**< it waits for each line, as for a completion that says what is next */
	NUDMA_STREAM,  /**< many lines at a time, while they are fresh */
	NUDMA_LATE,    /**< the same, but perhaps after they were evicted */
};

struct nudma_model {
	struct nudma_machine machine;
	struct nudma_load load;
	bool no_ddio; /**< DMA writes go to DRAM even at home */
	/* derived of these, ps */
	uint64_t wait_ps[2][NUDMA_NB_PLACES]; /**< [far CPU] of a load, over a hit in its LLC */
	uint64_t line_ps[2][NUDMA_NB_PLACES]; /**< of a line in a stream, over one in its LLC */
	uint64_t write_ps[NUDMA_NODES];       /**< of a DMA write from this node to the other */
	uint64_t read_ps[NUDMA_NODES];
	uint64_t post_ps[NUDMA_NODES]; /**< of a CPU's write to the other node's PF */
	uint64_t data_millflits;
	uint64_t control_millflits;
};

/** Set it up, or set it to another load. */
__rte_internal
void nudma_model_set(struct nudma_model *model, const struct nudma_machine *machine,
		     const struct nudma_load *load, bool no_ddio);

/**
 * A PF on one node writes to the memory of one.
 *
 * @return
 *   Where that is then.
 */
__rte_internal
enum nudma_place nudma_dma_write(const struct nudma_model *model, struct nudma_account *account,
				 unsigned int pf, unsigned int memory, uint32_t bytes);

/** The same of reading what a CPU has just written. */
__rte_internal
void nudma_dma_read(const struct nudma_model *model, struct nudma_account *account, unsigned int pf,
		    unsigned int memory, uint32_t bytes);

/** A CPU on one node tells a PF on one: a posted write to its registers. */
__rte_internal
void nudma_doorbell(const struct nudma_model *model, struct nudma_account *account,
		    unsigned int cpu, unsigned int pf);

/**
 * A CPU reads what is in the memory of a node.
 *
 * Bytes of a stream are not rounded up to lines: many packets are read in a row.
 */
__rte_internal
void
nudma_cpu_read(const struct nudma_model *model, struct nudma_account *account, unsigned int cpu,
	       unsigned int memory, enum nudma_place place, enum nudma_touch touch, uint32_t bytes);

/** How long DMA takes longer than with a local PF until it can be seen, in ps; charges nothing. */
__rte_internal
uint64_t nudma_write_path_ps(const struct nudma_model *model, unsigned int pf, unsigned int memory);

/**
 * The part of what DDIO brought that was evicted before a CPU read it.
 *
 * Lines live in the part of the LLC that DDIO may use, so of more than fit there the rest is
 * out; and any line is overwritten at random by what cores bring to the LLC meanwhile.
 *
 * @param backlog
 *   Bytes that wait for a reader on this socket.
 * @param drain_gb
 *   GB/s at which they are read; 0: they are not.
 * @param fill_gb
 *   GB/s that cores of this socket bring to its LLC for other purposes.
 * @return
 *   From 0 to 1.
 */
__rte_internal
double
nudma_evicted(const struct nudma_machine *machine, double backlog, double drain_gb, double fill_gb);

/** GB/s of the lanes of one PF and direction, TLPs included. */
__rte_internal
double nudma_pcie_gb(const struct nudma_machine *machine);

#endif /* NUDMA_MODEL_H */
