/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MEASUREMENT_H
#define OCTO_MEASUREMENT_H

#include <pthread.h>
#include <stdbool.h>

#include "octo_measure.h"
#include "octo_measure_file.h"
#include "octo_uncore.h"

/**
 * @file
 * One measurement, independent of the caller that takes the samples: octo_measure_start()'s
 * thread, a telemetry request, a program. One thread at a time, except octo_measurement_view().
 */

struct octo_measurement {
	struct octo_measured port;
	const struct octo_measure_source *source;
	uint64_t began;               /**< octo_measurement_clock() */
	struct octo_counts counts[2]; /**< of the last two samples, alternating */
	unsigned int at;              /**< index of the last one */
	struct octo_counts span;      /**< between them */
	struct octo_uncore uncore;
	struct octo_measure_file csv, json;
	char *csv_path, *json_path;
	char fault[OCTO_MEASURE_WHY_MAX]; /**< why no more samples can be taken, or empty */

	pthread_mutex_t lock;
	struct octo_measure_view view; /**< changed under the lock */
};

/** CLOCK_MONOTONIC, in ns. */
uint64_t octo_measurement_clock(void);

/**
 * Open files, and read the counters for the first time.
 *
 * @return
 *   0, or a negative errno with why filled in: see octo_measure_start().
 */
int octo_measurement_begin(struct octo_measurement **measurement, const struct octo_measured *port,
			   const struct octo_measure_args *args, char *why);

/** Leave the files as if it had not begun. */
void octo_measurement_undo(struct octo_measurement *m);

/** Time at which the next sample is due, as octo_measurement_clock(). */
uint64_t octo_measurement_next(const struct octo_measurement *m);

/**
 * Take a sample: the difference to the last one. A span shorter than half of
 * OCTO_MEASURE_MIN_MS is no sample: it belongs to the next one, or at the end only to the sum.
 * The last one waits for up to a second for counters that cannot be read now.
 *
 * @return
 *   0, also if the counters cannot be read now; or a negative errno with m->fault filled in.
 */
int octo_measurement_sample(struct octo_measurement *m, bool is_last);

/** Complete and close the files, for this reason or the fault. Returns 0 or a negative errno. */
int octo_measurement_end(struct octo_measurement *m, const char *reason);
void octo_measurement_free(struct octo_measurement *m);

/** Copy the results so far, to be freed by free(); NULL: no memory. */
struct octo_measure_view *octo_measurement_view(struct octo_measurement *m);

/* octo_measure_ethdev.c: is this an octo port of this process? */
bool octo_measure_is_octo(uint16_t port_id);

/* octo_measure_telemetry.c: end the measurement for telemetry */
void octo_measure_forget_asked(uint16_t port_id);

#endif /* OCTO_MEASUREMENT_H */
