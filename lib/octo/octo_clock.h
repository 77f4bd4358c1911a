/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CLOCK_H
#define OCTO_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_compat.h>
#include <rte_cycles.h>

/**
 * @file
 * The one clock of the drivers: TSC, or a test's. The data path reads it on the slow path only.
 *
 * There are two kinds of waits. A wait for *time*, octo_sleep_us(), is over at once with a
 * test's clock, as it advances that clock. A wait for other *threads*, octo_wait_us(), takes
 * real time with any clock; its limit is measured by octo_now().
 */

/** A test's clock. Called by any thread. */
struct octo_clock {
	uint64_t (*now)(void);
	void (*sleep_us)(uint64_t us);
	/** As rte_eal_alarm_set(), for 2 us and more. */
	int (*alarm)(uint64_t us, void (*fn)(void *arg), void *arg);
};

/** NULL: TSC. Set by a test while no thread uses the clock. */
extern const struct octo_clock *octo_clock;

/** Now, in TSC cycles, rte_get_timer_hz() per second. */
static inline uint64_t
octo_now(void)
{
	const struct octo_clock *c = octo_clock;

	return likely(c == NULL) ? rte_get_timer_cycles() : c->now();
}

/** octo_now() in @p us microseconds. */
static inline uint64_t
octo_deadline(uint64_t us)
{
	return octo_now() + rte_get_timer_hz() * us / US_PER_S;
}

/** A time of octo_now() in milliseconds. */
static inline uint64_t
octo_ms_of(uint64_t cycles)
{
	return cycles / (rte_get_timer_hz() / MS_PER_S);
}

/** octo_now() in milliseconds. */
static inline uint64_t
octo_now_ms(void)
{
	return octo_ms_of(octo_now());
}

/**
 * When to try again what has failed: 0.1 s later at first, 3.2 s later in the end.
 *
 * @param pause_ms
 *   The last pause; 0 before the first.
 */
static inline uint64_t
octo_next_try(uint32_t *pause_ms)
{
	*pause_ms = *pause_ms == 0 ? 100 : RTE_MIN(2 * *pause_ms, 3200u);
	return octo_deadline(*pause_ms * UINT64_C(1000));
}

/**
 * Must the caller wait longer for a condition? Called repeatedly.
 *
 * @param until
 *   When the wait ends though the condition does not hold; 0 while nobody waits.
 * @param us
 *   How long to wait, in microseconds.
 */
static inline bool
octo_must_wait(uint64_t *until, bool condition, uint64_t us)
{
	if (condition)
		*until = 0;
	else if (*until == 0)
		*until = octo_deadline(us);
	return !condition && octo_now() < *until;
}

/** Sleep, or advance a test's clock. Not for waits on other threads. */
__rte_internal
void octo_sleep_us(uint64_t us);

/** octo_sleep_us(), without a sleep: for less time than the kernel takes to switch threads. */
__rte_internal
void octo_spin_us(unsigned int us);

/** Let other threads run: between two checks of what one of them has to do. */
static inline void
octo_wait_us(unsigned int us)
{
	rte_delay_us_sleep(us);
}

/** End of a wait of @p us microseconds of real time, for pthread's timed functions. */
__rte_internal
struct timespec octo_wait_end(uint64_t us);

/**
 * rte_eal_alarm_set(): fn(arg) is called by EAL's interrupt thread after @p us microseconds.
 *
 * @param us
 *   1 means as soon as the thread is free.
 * @return
 *   0 or a negative errno.
 */
__rte_internal
int octo_alarm_set(uint64_t us, void (*fn)(void *arg), void *arg);

#endif /* OCTO_CLOCK_H */
