/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_WORTH_H
#define OCTO_WORTH_H

#include <stdint.h>

#include <rte_common.h>
#include <rte_compat.h>

/**
 * @file
 * What a flow is worth: packets per time, where those of long ago count less.
 * A sum of packets fades by half in some eight seconds. Time is counted in
 * beats, so that fading does not depend on how often it is done.
 */

#define OCTO_WORTH_BEAT_MS 128
/** Packets of so many beats ago count half. */
#define OCTO_WORTH_HALF_LIFE 64
/** Beats after which nothing is left. */
#define OCTO_WORTH_FOREVER (32 * OCTO_WORTH_HALF_LIFE)
/** Who was watched for fewer beats is judged as if it were so many. */
#define OCTO_WORTH_YOUNG 8
/** Steps of worth, four to an octave. */
#define OCTO_WORTH_STEPS 128

struct octo_worth {
	uint32_t kept[OCTO_WORTH_HALF_LIFE]; /**< of 65536, after so many beats */
};

__rte_internal
void octo_worth_init(struct octo_worth *w);

static inline uint32_t
octo_worth_beat(uint64_t ms)
{
	return (uint32_t)(ms / OCTO_WORTH_BEAT_MS);
}

/** What is left of 65536 after so many beats. */
static inline uint32_t
octo_worth_kept(const struct octo_worth *w, uint32_t beats)
{
	return beats >= OCTO_WORTH_FOREVER ?
		       0 :
		       w->kept[beats % OCTO_WORTH_HALF_LIFE] >> (beats / OCTO_WORTH_HALF_LIFE);
}

/** What is left of a sum after so many beats. */
static inline uint32_t
octo_worth_fade(const struct octo_worth *w, uint32_t sum, uint32_t beats)
{
	return (uint32_t)((uint64_t)sum * octo_worth_kept(w, beats) >> 16);
}

/** Packets count in sixteenths, because fading rounds down. */
static inline uint32_t
octo_worth_add(uint32_t sum, uint64_t packets)
{
	const uint64_t sixteenths = RTE_MIN(packets, (uint64_t)UINT32_MAX) * 16;

	return (uint32_t)RTE_MIN(sum + sixteenths, (uint64_t)UINT32_MAX);
}

/** The sum that it would be had the flow been watched for ever, not for age beats. */
static inline uint32_t
octo_worth_of(const struct octo_worth *w, uint32_t sum, uint32_t age)
{
	const uint64_t seen = 65536 - octo_worth_kept(w, RTE_MAX(age, (uint32_t)OCTO_WORTH_YOUNG));

	return (uint32_t)RTE_MIN(((uint64_t)sum << 16) / seen, (uint64_t)UINT32_MAX);
}

/** 0 for nothing, to OCTO_WORTH_STEPS - 1. */
static inline uint8_t
octo_worth_step(uint32_t worth)
{
	uint32_t octave;

	if (worth < 4)
		return 0;
	octave = 31 - (uint32_t)__builtin_clz(worth);
	return (uint8_t)(octave * 4 + (worth >> (octave - 2) & 3));
}

#endif /* OCTO_WORTH_H */
