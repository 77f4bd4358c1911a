/* SPDX-License-Identifier: BSD-3-Clause */

/* What times are counted in, and what becomes of many of them. */

#include <math.h>

#include <rte_cycles.h>

#include "bench_overhead.h"

#define CHAINS 64
#define CHAIN 20000

/* Two standard deviations of a coin that is thrown once, each way. */
#define Z95 1.96

/* Additions that wait for each other: CPUs do one of them in a cycle of their own clock. */
static uint64_t
chain(void)
{
	const uint64_t began = rte_rdtsc_precise();
	uint64_t x = began;

	for (unsigned int i = 0; i < CHAIN / 10; i++) {
#define LINK                                                                                       \
	x += 3;                                                                                    \
	asm volatile("" : "+r"(x))
		LINK;
		LINK;
		LINK;
		LINK;
		LINK;
		LINK;
		LINK;
		LINK;
		LINK;
		LINK;
#undef LINK
	}
	return rte_rdtsc_precise() - began;
}

/* The best of many: whoever is interrupted, or is not up to speed yet, takes longer. */
double
overhead_core_per_tsc(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 0; i < CHAINS; i++) {
		const uint64_t cycles = chain();

		best = RTE_MIN(best, cycles);
	}
	return best == 0 ? 0 : (double)CHAIN / (double)best;
}

struct overhead_figure
overhead_figure_of(double values[], unsigned int nb)
{
	struct overhead_figure f = {.median = bench_median(values, nb)};
	const double half = Z95 * sqrt(nb) / 2;
	unsigned int rank;

	if (nb == 0)
		return f;
	/* how many values are below the median is binomial, whatever they are distributed like */
	rank = nb / 2.0 > half ? (unsigned int)(nb / 2.0 - half) : 0;
	f.low = values[rank];
	f.high = values[nb - 1 - rank];
	return f;
}
