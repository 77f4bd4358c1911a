/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MEASURE_H
#define OCTO_MEASURE_H

#include <stdint.h>
#include <stdio.h>

#include <rte_compat.h>

#include "octo_counts.h"

/**
 * @file
 * Measure octo ports: read a port's counters periodically, and provide the differences to
 * callers and in files. A port of this process is measured by a thread of its own, neither by
 * the data path nor by the port's control thread, so a slow file delays neither. In the primary
 * process; functions may be called by any control thread.
 */

#define OCTO_MEASURE_MIN_MS 10
#define OCTO_MEASURE_MAX_MS (3600u * 1000)
#define OCTO_MEASURE_DEFAULT_MS 1000

/** Room for a sentence about an error, or about a missing value. */
#define OCTO_MEASURE_WHY_MAX 512
#define OCTO_MEASURE_NAME_MAX 64

/** Hits are read for at most this many rules; with more rules they are unknown. */
#define OCTO_MEASURE_MAX_RULES 1024

struct octo_socket;

/** A port that is measured. */
struct octo_measured {
	uint16_t port_id;
	struct octo_socket *socket; /**< telemetry socket of its process; NULL: this process */
};

struct octo_measure_names {
	char port[OCTO_MEASURE_NAME_MAX];
	char pf[OCTO_COUNTS_MAX_PFS][OCTO_MEASURE_NAME_MAX]; /**< empty: unknown */
};

/**
 * Source of counters: a port of this process, or of another one. Called by one thread at a
 * time.
 */
struct octo_measure_source {
	/**
	 * Get names. Returns 0, or a negative errno with why filled in: -ENODEV if it is not an
	 * octo port.
	 */
	int (*names)(const struct octo_measured *port, struct octo_measure_names *names, char *why);
	/**
	 * Pass all of the port's extended statistics to octo_counts_take(). Returns 0, -EAGAIN
	 * if they cannot be read now, or another negative errno with why filled in.
	 */
	int (*xstats)(const struct octo_measured *port, struct octo_counts *now, char *why);
	/** Sum of the hits of all nb_rules rules, or OCTO_RATE_UNKNOWN. */
	uint64_t (*hits)(const struct octo_measured *port, uint64_t nb_rules);
	/**
	 * Values that only the application has; NULL if it does not provide them. Each function
	 * fills in the value and returns NULL, or leaves it unchanged and returns why it is
	 * unknown.
	 */
	const char *(*work)(const struct octo_measured *port, struct octo_work *work);
	const char *(*latency)(const struct octo_measured *port, struct octo_latency *latency);
};

struct octo_measure_args {
	uint32_t interval_ms; /**< OCTO_MEASURE_MIN_MS to OCTO_MEASURE_MAX_MS */
	const char *csv;      /**< a file, or NULL */
	const char *json;     /**< another, or NULL */
	const struct octo_measure_source *source;
	bool without_uncore; /**< do not count the machine's uncore */
};

/** Reasons why values are unknown; empty: known. */
struct octo_measure_lacks {
	char work[OCTO_MEASURE_WHY_MAX];
	char latency[OCTO_MEASURE_WHY_MAX];
	char link[OCTO_MEASURE_WHY_MAX];
	char dram[OCTO_MEASURE_WHY_MAX];
};

/** Results of a measurement so far. */
struct octo_measure_view {
	uint16_t port_id;
	uint32_t interval_ms;
	uint64_t samples;
	double seconds; /**< from the start to the last sample */
	struct octo_measure_names names;
	struct octo_measure_lacks lacks;
	struct octo_counts last; /**< the last span; all zeroes before the first */
	struct octo_counts sum;  /**< of all spans */
};

/**
 * Begin to measure a port of this process.
 *
 * @param why
 *   OCTO_MEASURE_WHY_MAX bytes, filled in on failure.
 * @return
 *   0; or, with nothing started and no file created or changed: -ENODEV if it is not an octo
 *   port, -EINVAL for an interval out of range, -EEXIST if it is being measured, -ENOMEM, or the
 *   error of a file.
 */
__rte_experimental
int octo_measure_start(uint16_t port_id, const struct octo_measure_args *args, char *why);

/**
 * End a measurement with a last, shorter sample. Its files are complete then.
 *
 * @return
 *   The results, to be freed by free(), or NULL with why filled in.
 */
__rte_experimental
struct octo_measure_view *octo_measure_stop(uint16_t port_id, char *why);

/** Get the results so far, to be freed by free(), or NULL with why filled in. */
__rte_experimental
struct octo_measure_view *octo_measure_view(uint16_t port_id, char *why);

/** The port is about to be closed: end its measurement. No thread uses the port afterwards. */
__rte_experimental
void octo_measure_forget(uint16_t port_id);

/** xstats() of an octo_measure_source for a port of this process, by ethdev. */
__rte_experimental
int
octo_measure_ethdev_xstats(const struct octo_measured *port, struct octo_counts *now, char *why);

/**
 * Provide rates by telemetry, /octo/measure: numbers only and no lists, as exporters need them.
 * If a port is not being measured, rates are over the time since the last request.
 */
__rte_experimental
void octo_measure_register_telemetry(const struct octo_measure_source *source);

/** Print the last sample of a measurement, or the average of all samples, as a table. */
__rte_experimental
void octo_measure_print_last(const struct octo_measure_view *view, FILE *to);
__rte_experimental
void octo_measure_print_sum(const struct octo_measure_view *view, FILE *to);

#endif /* OCTO_MEASURE_H */
