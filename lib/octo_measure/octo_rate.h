/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RATE_H
#define OCTO_RATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * @file
 * From counters to rates. Counters begin anew (`clear port stats`, a device that was
 * reset), or are read a little too early by a device that keeps them in two registers:
 * no rate is negative for that, and none is of more than was counted. No clock.
 */

/** Nobody knows. Whatever is made of it is unknown too. */
#define OCTO_RATE_UNKNOWN UINT64_MAX

/**
 * What a counter has counted since it was `before`.
 *
 * One that is less than half of what it was began anew, at 0, and all that it counts is
 * new: what came before it began is lost. One that is a little less has been misread,
 * and nothing is new.
 *
 * @param restarted
 *   Set if the counter went back; else left alone.
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
 * What has been added to a sum from which parts are taken away (the hits of the rules
 * that there are): 0 if more was taken away.
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

/** NaN if the amount is unknown, or there was no time. */
static inline double
octo_rate_per_second(uint64_t amount, uint64_t ns)
{
	if (amount == OCTO_RATE_UNKNOWN || ns == 0)
		return NAN;
	return (double)amount * 1e9 / (double)ns;
}

/** NaN if either is unknown, or there was nothing to share it out to. */
static inline double
octo_rate_each(uint64_t amount, uint64_t among)
{
	if (amount == OCTO_RATE_UNKNOWN || among == OCTO_RATE_UNKNOWN || among == 0)
		return NAN;
	return (double)amount / (double)among;
}

/** How much of both is `part`; 0 if both are 0. */
static inline double
octo_rate_share(uint64_t part, uint64_t rest)
{
	return part == 0 ? 0. : (double)part / ((double)part + (double)rest);
}

#endif /* OCTO_RATE_H */
