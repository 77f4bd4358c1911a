/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_RANGE_H
#define MPSIM_RANGE_H

#include <stdint.h>

/**
 * @file
 * Splits a range of numbers into aligned blocks, each a value and a mask, for tables that match
 * by masks. Pure.
 */

struct mpsim_block {
	uint64_t value;
	uint64_t mask; /**< all bits above the block */
};

/** Number of blocks from lo to hi; at least 1. lo must not exceed hi. */
uint32_t mpsim_range_count(uint64_t lo, uint64_t hi);

/** The block with this index, which must be below the count. */
struct mpsim_block mpsim_range_block(uint64_t lo, uint64_t hi, uint32_t index);

#endif /* MPSIM_RANGE_H */
