/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FLOW_RATE_H
#define OCTO_FLOW_RATE_H

#include <stdint.h>

#include <rte_common.h>

/**
 * @file
 * Flow rate: packets per time, exponentially weighted (EWMA). A sum of packets decays by half
 * in about eight seconds. Time is counted in ticks, so that the decay does not depend on how
 * often it is applied.
 */

#define OCTO_FLOW_RATE_TICK_MS 128
/** Ticks after which packets count half. */
#define OCTO_FLOW_RATE_HALF_LIFE 64
/** Ticks after which nothing is left. */
#define OCTO_FLOW_RATE_FOREVER (32 * OCTO_FLOW_RATE_HALF_LIFE)
/** A flow that was watched for fewer ticks is treated as if it were this many. */
#define OCTO_FLOW_RATE_YOUNG 8
/** 2^-(1/64) in units of 2^-32: the decay per tick. */
#define OCTO_FLOW_RATE_PER_TICK UINT64_C(4248701965)
/** Steps of the flow rate, four per octave. */
#define OCTO_FLOW_RATE_STEPS 128

struct octo_flow_rate {
	uint32_t kept[OCTO_FLOW_RATE_HALF_LIFE]; /**< of 65536, after this many ticks */
};

static inline void
octo_flow_rate_init(struct octo_flow_rate *w)
{
	uint64_t left = UINT64_C(1) << 32;

	for (unsigned int i = 0; i < OCTO_FLOW_RATE_HALF_LIFE; i++) {
		w->kept[i] = (uint32_t)(left >> 16);
		left = left * OCTO_FLOW_RATE_PER_TICK >> 32;
	}
}

static inline uint32_t
octo_flow_rate_tick(uint64_t ms)
{
	return (uint32_t)(ms / OCTO_FLOW_RATE_TICK_MS);
}

/** What is left of 65536 after so many ticks. */
static inline uint32_t
octo_flow_rate_kept(const struct octo_flow_rate *w, uint32_t ticks)
{
	if (ticks >= OCTO_FLOW_RATE_FOREVER)
		return 0;
	return w->kept[ticks % OCTO_FLOW_RATE_HALF_LIFE] >> (ticks / OCTO_FLOW_RATE_HALF_LIFE);
}

/** What is left of a sum after so many ticks. */
static inline uint32_t
octo_flow_rate_decay(const struct octo_flow_rate *w, uint32_t sum, uint32_t ticks)
{
	return (uint32_t)((uint64_t)sum * octo_flow_rate_kept(w, ticks) >> 16);
}

/** Packets are counted in sixteenths, because decay rounds down. */
static inline uint32_t
octo_flow_rate_add(uint32_t sum, uint64_t packets)
{
	const uint64_t sixteenths = RTE_MIN(packets, (uint64_t)UINT32_MAX) * 16;

	return (uint32_t)RTE_MIN(sum + sixteenths, (uint64_t)UINT32_MAX);
}

/** The sum as if the flow had been watched forever, not for age ticks. */
static inline uint32_t
octo_flow_rate_of(const struct octo_flow_rate *w, uint32_t sum, uint32_t age)
{
	const uint64_t seen = 65536 -
			      octo_flow_rate_kept(w, RTE_MAX(age, (uint32_t)OCTO_FLOW_RATE_YOUNG));

	return (uint32_t)RTE_MIN(((uint64_t)sum << 16) / seen, (uint64_t)UINT32_MAX);
}

/** Step of a flow rate: 0 for none, to OCTO_FLOW_RATE_STEPS - 1. */
static inline uint8_t
octo_flow_rate_step(uint32_t rate)
{
	uint32_t octave;

	if (rate < 4)
		return 0;
	octave = 31 - (uint32_t)__builtin_clz(rate);
	return (uint8_t)(octave * 4 + (rate >> (octave - 2) & 3));
}

#endif /* OCTO_FLOW_RATE_H */
