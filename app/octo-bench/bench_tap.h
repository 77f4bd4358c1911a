/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_TAP_H
#define BENCH_TAP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * @file
 * A tap on the rte_flow calls that a PF gets: how long the PF takes for them, so
 * that what octo takes can be told from it.
 */

/** Time and number of the calls that create rules, on all PFs that are tapped. */
struct bench_tap_time {
	uint64_t cycles; /**< inside of the PFs */
	uint32_t calls;
};

/** Learn what a tap costs. Once, before any other. */
void bench_tap_calibrate(void);

void bench_tap_on(uint16_t port);
void bench_tap_off(uint16_t port);

/** Start afresh. */
void bench_tap_reset(void);

/**
 * @param cycles
 *   What a call took that led to the calls at the taps, from rte_rdtsc() right
 *   before it to rte_rdtsc() right after.
 * @return
 *   How much of it was spent neither in the PFs nor by taking the time.
 */
int64_t bench_tap_rest(uint64_t cycles);

/** Have the tapped PFs been asked to count the packets of rules, by `transfer` ones or others? */
bool bench_tap_counts(bool transfer);

#endif /* BENCH_TAP_H */
