/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef NUDMA_TESTBED_H
#define NUDMA_TESTBED_H

#include "nudma_machine.h"

/** A machine of round numbers. */
static const struct nudma_machine testbed = {
	.name = "testbed",
	.cpu = {.cores = 8,
		.llc_mib = 32,
		.llc_hit_ns = 20,
		.llc_miss_ns = 80,
		.llc_gb = 32,
		.lines = 16},
	.ddio = {.ways = 2, .of_ways = 16},
	.dram_gb = 64,
	.link = {.hop_ns = 25, .gb = 32, .data_flits = 9, .control_flits = 1, .directory = 1},
	.pcie = {.gt = 8,
		 .lanes = 8,
		 .encoding = 1,
		 .max_payload = 256,
		 .tlp_bytes = 24,
		 .remote_read_ns = 100},
	.nic = {.gbps = 100,
		.completion_bytes = 64,
		.rx_descriptor_bytes = 16,
		.tx_descriptor_bytes = 64},
};

#endif /* NUDMA_TESTBED_H */
