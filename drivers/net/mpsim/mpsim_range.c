/* SPDX-License-Identifier: BSD-3-Clause */

#include "mpsim_range.h"

/* Number of low bits of the largest aligned block that starts at x and does not exceed hi. */
static unsigned int
block_bits(uint64_t x, uint64_t hi)
{
	unsigned int bits = 0;

	while (bits < 63 && (x >> bits & 1) == 0 && hi - x >= (UINT64_C(2) << bits) - 1)
		bits++;
	return bits;
}

uint32_t
mpsim_range_count(uint64_t lo, uint64_t hi)
{
	uint32_t n = 0;

	for (;;) {
		const uint64_t last = lo + ((UINT64_C(1) << block_bits(lo, hi)) - 1);

		n++;
		if (last == hi)
			return n;
		lo = last + 1;
	}
}

struct mpsim_block
mpsim_range_block(uint64_t lo, uint64_t hi, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		lo += UINT64_C(1) << block_bits(lo, hi);
	return (struct mpsim_block){
		.value = lo,
		.mask = ~((UINT64_C(1) << block_bits(lo, hi)) - 1),
	};
}
