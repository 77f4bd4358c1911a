/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_STRAY_H
#define OCTO_STRAY_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * When a queue's stray legs are polled: each burst while they yield, ever more
 * rarely while they are empty. Time is counted in bursts of the queue.
 * Owned by the thread that polls the queue; no device, no clock.
 */

#define OCTO_STRAY_MAX_LEGS 8

/** An empty leg is due at least once in this many bursts. */
#define OCTO_STRAY_MAX_INTERVAL 64

/** Zeroed memory is a valid start: every leg is due at once. */
struct octo_stray {
	uint32_t now;                          /**< bursts so far */
	uint32_t due;                          /**< earliest of leg_due[] */
	uint32_t leg_due[OCTO_STRAY_MAX_LEGS]; /**< burst at which the leg is polled next */
	uint32_t pause;                        /**< bursts that the home leg has to itself next */
	uint32_t taken;                        /**< packets from strays in the current burst */
	uint8_t interval[OCTO_STRAY_MAX_LEGS]; /**< bursts between two polls of the leg */
	uint8_t active;                        /**< bit mask of legs that last yielded */
	uint8_t first;                         /**< leg to be served first: due for longest */
	uint8_t idle;                          /**< leg that was last polled for want of work */
};

/** Is burst count a not before b? Survives the wrap of the counter. */
static inline bool
octo_stray_reached(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) >= 0;
}

/** Count the bursts since the last call. Returns true if a stray leg is due in this one. */
static inline bool
octo_stray_tick(struct octo_stray *s, uint32_t bursts)
{
	s->now += bursts;
	return octo_stray_reached(s->now, s->due);
}

/** Bursts that are still to come before one in which a stray leg is due. */
static inline uint32_t
octo_stray_rest(const struct octo_stray *s)
{
	return octo_stray_reached(s->now + 1, s->due) ? 0 : s->due - s->now - 1;
}

/** Is this leg due in the current burst? */
static inline bool
octo_stray_leg_due(const struct octo_stray *s, uint8_t leg)
{
	return octo_stray_reached(s->now, s->leg_due[leg]);
}

/**
 * How many packets of a burst of nb the stray legs may take together: a
 * quarter, but never so few that a vector PMD, which hands out multiples of
 * four only, returns nothing for ever.
 */
__rte_internal
uint16_t octo_stray_quota(uint16_t nb);

/**
 * Note that a leg was asked for packets in the current burst.
 *
 * @param nb
 *   Size of the application's whole burst.
 * @param got
 *   What the leg delivered. While it delivers it is due in every burst in which
 *   strays are polled; each empty poll doubles the interval.
 */
__rte_internal
void octo_stray_polled(struct octo_stray *s, uint8_t leg, uint16_t nb, uint16_t got);

/**
 * Close the stray part of a burst: find out when the next one is due. The more
 * strays came, the later, so that they take a quarter of all packets together.
 * Any other leg becomes due at once, for when it is a stray.
 *
 * @param legs
 *   Bit mask of the legs that are strays of this queue.
 */
__rte_internal
void octo_stray_plan(struct octo_stray *s, uint32_t legs);

/** The leg to be polled for want of anything else, each in its turn; legs is not 0. */
static inline uint8_t
octo_stray_next_idle(struct octo_stray *s, uint32_t legs)
{
	do
		s->idle = (s->idle + 1) % OCTO_STRAY_MAX_LEGS;
	while (!(legs >> s->idle & 1));
	return s->idle;
}

#endif /* OCTO_STRAY_H */
