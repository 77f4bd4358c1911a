/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef NUDMA_LOAD_H
#define NUDMA_LOAD_H

#include <rte_compat.h>

#include "nudma_machine.h"

/**
 * @file
 * Waiting times for the inter-socket link and for DRAM under a load.
 *
 * A closed queueing network: each core that works on memory has a fixed number of outstanding
 * lines, which circulate between the core, the two directions of the link and the two memories.
 * Solved by approximate mean value analysis (Schweitzer, Bard). DMA is open traffic, which
 * takes its part of each resource first. A pure function.
 */

#define NUDMA_MAX_CLASSES 8

/** Cores of one socket that do the same work. */
struct nudma_class {
	unsigned int node; /**< of the cores */
	double lines;      /**< outstanding, sum of all these cores */
	double remote;     /**< part of the lines in the other node's memory */
	double writes;     /**< part of the lines that are written back */
	double think_ns;   /**< from the arrival of a line to the next request */
};

/** Traffic whose rate does not depend on the load. */
struct nudma_open {
	double flits[NUDMA_NODES]; /**< per ns, from this node to the other */
	double bytes[NUDMA_NODES]; /**< per ns, in and out of this node's DRAM */
};

struct nudma_demand {
	unsigned int nb;
	struct nudma_class of[NUDMA_MAX_CLASSES];
	struct nudma_open open;
};

struct nudma_load {
	double link_wait_ns[NUDMA_NODES]; /**< of a message from this node to the other */
	double dram_wait_ns[NUDMA_NODES];
	double link_use[NUDMA_NODES]; /**< utilisation, 0 to 1 */
	double dram_use[NUDMA_NODES];
	double rate[NUDMA_MAX_CLASSES]; /**< lines per ns of each class */
	double fill_gb[NUDMA_NODES];    /**< GB/s that all cores bring into this node's LLC */
};

/**
 * Time of a flit on the link, in ns. link.gb is the rate of lines that are read, without the
 * flits of their requests.
 */
__rte_internal
double nudma_flit_ns(const struct nudma_machine *machine);

/** Time between two lines of DRAM, in ns. */
__rte_internal
double nudma_dram_line_ns(const struct nudma_machine *machine);

/** Solve the network. Open traffic above the capacity of a resource is cut to 99 % of it. */
__rte_internal
void nudma_load_solve(const struct nudma_machine *machine, const struct nudma_demand *demand,
		      struct nudma_load *load);

/** Add cores of a node that run STREAM on the other node's memory, reading or writing. */
__rte_internal
void nudma_demand_stream(struct nudma_demand *demand, const struct nudma_machine *machine,
			 unsigned int node, unsigned int cores, int writing);

#endif /* NUDMA_LOAD_H */
