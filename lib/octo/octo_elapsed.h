/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ELAPSED_H
#define OCTO_ELAPSED_H

#include <stdint.h>

#include <rte_cycles.h>

/**
 * @file
 * Spans of time between time stamps taken by several threads. A stamp may be a little older
 * than one that was taken before it: rdtsc does not wait for the instructions around it (Intel
 * SDM, RDTSC), and the clocks of two sockets need not agree to the cycle. An unsigned
 * subtraction would then give a huge span.
 */

/** Time from `since` to `now`, 0 if `since` is in the future; the clock may wrap. */
static inline uint64_t
octo_elapsed(uint64_t since, uint64_t now)
{
	const int64_t span = (int64_t)(now - since);

	return span > 0 ? (uint64_t)span : 0;
}

/** octo_elapsed() of a clock's lower 32 bits. */
static inline uint32_t
octo_elapsed_32(uint32_t since, uint32_t now)
{
	const int32_t span = (int32_t)(now - since);

	return span > 0 ? (uint32_t)span : 0;
}

/** Cycles of a clock with hz > 0 in nanoseconds. The product of cycles and NS_PER_S may not fit. */
static inline uint64_t
octo_cycles_to_ns(uint64_t cycles, uint64_t hz)
{
	return cycles / hz * NS_PER_S + cycles % hz * NS_PER_S / hz;
}

#endif /* OCTO_ELAPSED_H */
