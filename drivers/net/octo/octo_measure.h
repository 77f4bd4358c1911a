/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MEASURE_H
#define OCTO_MEASURE_H

#include <stdint.h>

#include <rte_compat.h>

#include "octo_counts.h"

/**
 * @file
 * Measure a port: look at its counters again and again, and tell the differences to
 * whoever asks, and to files. A thread of its own does it for each port, neither the data
 * path nor the port's control thread; so a file that takes its time delays nobody.
 * Primary process; any control thread.
 */

#define OCTO_MEASURE_MIN_MS 10
#define OCTO_MEASURE_MAX_MS (3600u * 1000)
#define OCTO_MEASURE_DEFAULT_MS 1000

/** Room for a sentence that says what is wrong, or missing. */
#define OCTO_MEASURE_WHY_MAX 512

/**
 * What the application alone knows; asked by the measuring thread. Each fills in what it
 * knows and returns NULL, or leaves it and returns why it is not known.
 */
struct octo_measure_source {
	const char *(*work)(uint16_t port_id, struct octo_work *work);
	const char *(*latency)(struct octo_latency *latency);
};

struct octo_measure_args {
	uint32_t interval_ms;                     /**< OCTO_MEASURE_MIN_MS to OCTO_MEASURE_MAX_MS */
	const char *csv;                          /**< a file, or NULL */
	const char *json;                         /**< another, or NULL */
	const struct octo_measure_source *source; /**< or NULL */
};

/** Why something is not known, or empty. */
struct octo_measure_lacks {
	char work[OCTO_MEASURE_WHY_MAX];
	char latency[OCTO_MEASURE_WHY_MAX];
	char link[OCTO_MEASURE_WHY_MAX];
	char dram[OCTO_MEASURE_WHY_MAX];
};

/** What a measurement has found so far. */
struct octo_measure_view {
	uint32_t interval_ms;
	uint64_t samples;
	struct octo_measure_lacks lacks;
	const struct octo_counts *last; /**< the last span; all zeroes before the first */
	const struct octo_counts *sum;  /**< of all spans */
};

/**
 * Begin to measure a port.
 *
 * @param why
 *   OCTO_MEASURE_WHY_MAX characters, filled in on failure.
 * @return
 *   0; or, with nothing begun and no file made or changed: -ENODEV if it is not an octo
 *   port, -EINVAL for an interval out of range, -EEXIST if it is being measured, -ENOMEM,
 *   or what stands in the way of a file.
 */
__rte_experimental
int rte_pmd_octo_measure_start(uint16_t port_id, const struct octo_measure_args *args, char *why);

/**
 * End it, with a last sample of the time that is left. Files are complete then.
 *
 * @return
 *   What was measured, to be freed by free(), or NULL with why filled in.
 */
__rte_experimental
struct octo_measure_view *rte_pmd_octo_measure_stop(uint16_t port_id, char *why);

/** What was measured so far, likewise. */
__rte_experimental
struct octo_measure_view *rte_pmd_octo_measure_view(uint16_t port_id, char *why);

/** The port is about to go: nobody measures it when this returns. */
void octo_measure_forget(uint16_t port_id);

/* octo_measure_telemetry.c: that of whoever asks by telemetry, in particular */
void octo_measure_forget_asked(uint16_t port_id);

#endif /* OCTO_MEASURE_H */
