/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RATE_H
#define OCTO_RATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * @file
 * Rates from counters. A counter may be reset (`clear port stats`, a device reset), or be read
 * slightly too low by a device that keeps it in two registers. No rate is negative or exceeds
 * the count because of that. No clock.
 */

/** An unknown value; values computed from it are unknown, too. */
#define OCTO_RATE_UNKNOWN UINT64_MAX

/**
 * The increase of a counter since it was `before`.
 *
 * A counter below half of its previous value was reset to 0, and all of its value is new;
 * counts before the reset are lost. A counter that is slightly lower was misread, and nothing
 * is new.
 *
 * @param restarted
 *   Set if the counter went back; else unchanged.
 */
static inline uint64_t
octo_rate_delta(uint64_t before, uint64_t now, bool *restarted)
{
	if (before == OCTO_RATE_UNKNOWN || now == OCTO_RATE_UNKNOWN)
		return OCTO_RATE_UNKNOWN;
	if (now >= before)
		return now - before;
	*restarted = true;
	return now < before / 2 ? now : 0;
}

/**
 * The increase of a sum from which parts are also removed (the hits of all present rules): 0 if
 * the sum decreased.
 */
static inline uint64_t
octo_rate_gain(uint64_t before, uint64_t now)
{
	if (before == OCTO_RATE_UNKNOWN || now == OCTO_RATE_UNKNOWN)
		return OCTO_RATE_UNKNOWN;
	return now > before ? now - before : 0;
}

/** Add to a sum; unknown if either is. */
static inline void
octo_rate_add(uint64_t *sum, uint64_t amount)
{
	if (*sum == OCTO_RATE_UNKNOWN || amount == OCTO_RATE_UNKNOWN)
		*sum = OCTO_RATE_UNKNOWN;
	else
		*sum += amount;
}

/** NaN if the amount is unknown, or ns is 0. */
static inline double
octo_rate_per_second(uint64_t amount, uint64_t ns)
{
	if (amount == OCTO_RATE_UNKNOWN || ns == 0)
		return NAN;
	return (double)amount * 1e9 / (double)ns;
}

/** NaN if either is unknown, or `among` is 0. */
static inline double
octo_rate_each(uint64_t amount, uint64_t among)
{
	if (amount == OCTO_RATE_UNKNOWN || among == OCTO_RATE_UNKNOWN || among == 0)
		return NAN;
	return (double)amount / (double)among;
}

/** The fraction of `part` in the sum of both; 0 if both are 0. */
static inline double
octo_rate_share(uint64_t part, uint64_t rest)
{
	return part == 0 ? 0. : (double)part / ((double)part + (double)rest);
}

#endif /* OCTO_RATE_H */
