/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_RANGE_H
#define MPSIM_RANGE_H

#include <stdint.h>

/**
 * @file
 * From one number to another, as aligned blocks that a value and a mask can
 * tell: what tables that match by masks make of a range. Pure.
 */

struct mpsim_block {
	uint64_t value;
	uint64_t mask; /**< all bits above the block's own */
};

/** Blocks that lo to hi is made of; at least 1, lo must not exceed hi. */
uint32_t mpsim_range_count(uint64_t lo, uint64_t hi);

/** The block with this index, which must be below the count. */
struct mpsim_block mpsim_range_block(uint64_t lo, uint64_t hi, uint32_t index);

#endif /* MPSIM_RANGE_H */
