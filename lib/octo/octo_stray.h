/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_STRAY_H
#define OCTO_STRAY_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * When a queue's stray legs are polled: in each burst as long as they return packets, less and
 * less often while they are empty. Time is counted in bursts of the queue. Owned by the thread
 * that polls the queue; no device, no clock.
 */

#define OCTO_STRAY_MAX_LEGS 8

/** An empty leg is due at least once in this many bursts. */
#define OCTO_STRAY_MAX_INTERVAL 64

/** Zeroed memory is a valid start: every leg is due at once. */
struct octo_stray {
	uint32_t now;                          /**< bursts so far */
	uint32_t due;                          /**< earliest of leg_due[] */
	uint32_t leg_due[OCTO_STRAY_MAX_LEGS]; /**< burst at which the leg is polled next */
	uint32_t pause;                        /**< bursts for the home leg alone, after this one */
	uint32_t taken;                        /**< packets from strays in the current burst */
	uint8_t interval[OCTO_STRAY_MAX_LEGS]; /**< bursts between two polls of the leg */
	uint8_t active;                        /**< legs whose last poll returned packets */
	uint8_t first;                         /**< leg to be polled first: due for longest */
	uint8_t idle;                          /**< leg polled last for lack of others */
};

/** Is burst count a not before b? Correct across the wrap of the counter. */
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

/** Bursts before the next one in which a stray leg is due. */
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
 * Packets of a burst of nb that the stray legs may take together: a quarter, but at least so
 * many that a vector PMD, which returns multiples of four only, does not return nothing
 * forever.
 */
__rte_internal
uint16_t octo_stray_quota(uint16_t nb);

/**
 * Called after a leg was polled in the current burst.
 *
 * @param nb
 *   Size of the application's whole burst.
 * @param got
 *   Packets that the leg returned. As long as there are some the leg is due in every burst in
 *   which strays are polled; each empty poll doubles the interval.
 */
__rte_internal
void octo_stray_polled(struct octo_stray *s, uint8_t leg, uint16_t nb, uint16_t got);

/**
 * End the stray part of a burst: compute when the next one is due. It is the later, the more
 * strays came, so that they take a quarter of all packets in total. Legs that are not in `legs`
 * become due at once, for when they are strays.
 *
 * @param legs
 *   Bit mask of the legs that are strays of this queue.
 */
__rte_internal
void octo_stray_plan(struct octo_stray *s, uint32_t legs);

/** The next leg to be polled in turn, as there is nothing else to do; legs is not 0. */
static inline uint8_t
octo_stray_next_idle(struct octo_stray *s, uint32_t legs)
{
	do
		s->idle = (s->idle + 1) % OCTO_STRAY_MAX_LEGS;
	while (!(legs >> s->idle & 1));
	return s->idle;
}

#endif /* OCTO_STRAY_H */
