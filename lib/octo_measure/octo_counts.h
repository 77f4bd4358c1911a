/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_COUNTS_H
#define OCTO_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_rate.h"

/**
 * @file
 * All counters of a port: at one time, or the difference between two times, or a sum of such
 * differences. They are taken from the port's extended statistics, by any reader; fields are
 * output by name, for files and telemetry. No device, no clock.
 */

#define OCTO_COUNTS_MAX_PFS 8
#define OCTO_COUNTS_MAX_QUEUES 1024

/** Counters of a port or a PF. All fields must be uint64_t counters: see octo_counts_span(). */
struct octo_traffic {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t rx_missed; /**< no descriptor was free */
	uint64_t rx_errors;
	uint64_t rx_nombuf; /**< no mbuf was free */
	uint64_t tx_errors;
};

/** Counters of a queue; all fields must be uint64_t counters. */
struct octo_queue_traffic {
	uint64_t home_packets; /**< by the home PF */
	uint64_t home_bytes;
	uint64_t stray_packets; /**< by another PF */
	uint64_t stray_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes; /**< OCTO_RATE_UNKNOWN if the PFs do not count by queue */
};

/** Cycles in which threads of a port worked, without empty polls. */
struct octo_work {
	uint64_t cycles;  /**< or OCTO_RATE_UNKNOWN */
	uint64_t packets; /**< processed in these cycles */
};

/** State of the rules. */
struct octo_rule_state {
	uint64_t rules;
	uint64_t learned;
	uint64_t ineffective;
};

/** Latency at present, in ns; OCTO_RATE_UNKNOWN if unknown. */
struct octo_latency {
	uint64_t min_ns;
	uint64_t avg_ns;
	uint64_t max_ns;
	uint64_t jitter_ns;
};

/** Kinds of bytes that a socket's uncore counts. */
enum octo_uncore_kind {
	OCTO_UNCORE_LINK_OUT, /**< to other sockets */
	OCTO_UNCORE_LINK_IN,
	OCTO_UNCORE_DRAM_READ,
	OCTO_UNCORE_DRAM_WRITE,
	OCTO_UNCORE_DRAM, /**< read and written bytes, if counted together */
	OCTO_UNCORE_KINDS,
};

#define OCTO_UNCORE_MAX_SOCKETS 8

struct octo_uncore_bytes {
	uint64_t of[OCTO_UNCORE_KINDS]; /**< or OCTO_RATE_UNKNOWN */
};

/**
 * State while statistics are read: which PFs count bytes by Tx queue. Many devices do not, and
 * report 0.
 */
struct octo_counts_by_queue {
	uint8_t pfs;                             /**< that have any xstat */
	uint8_t by_queue;                        /**< PFs with a queue whose count is not 0 */
	uint16_t nb_own;                         /**< queues of the port's own xstats */
	uint16_t nb_told[OCTO_COUNTS_MAX_PFS];   /**< queues of a PF's xstats */
	uint8_t sent_by[OCTO_COUNTS_MAX_QUEUES]; /**< PFs by which a queue has sent */
};

struct octo_counts {
	uint64_t ns; /**< the time, or the length of the span */
	uint16_t nb_pfs;
	uint16_t nb_rx_queues;
	uint16_t nb_tx_queues;
	uint16_t nb_queues;  /**< the larger of both */
	uint16_t nb_sockets; /**< with uncore counters */
	bool restarted;      /**< of a span: a counter was reset, so values may be too low */
	struct octo_traffic port;
	struct octo_traffic pf[OCTO_COUNTS_MAX_PFS];
	uint64_t hits; /**< of the present rules; or OCTO_RATE_UNKNOWN */
	struct octo_rule_state rules;
	struct octo_work work;
	struct octo_latency latency;
	struct octo_uncore_bytes socket[OCTO_UNCORE_MAX_SOCKETS];
	struct octo_queue_traffic queue[OCTO_COUNTS_MAX_QUEUES];
	struct octo_counts_by_queue pf_counts;
};

/**
 * Begin to read statistics.
 *
 * @param before
 *   The previous counters, kept for PFs that are gone; or NULL.
 */
void octo_counts_begin(struct octo_counts *now, const struct octo_counts *before);

/** Add one of the port's extended statistics, in any order; unknown names are ignored. */
void octo_counts_take(struct octo_counts *now, const char *name, uint64_t value);

/** Complete the counters, after the last octo_counts_take(). */
void octo_counts_end(struct octo_counts *now);

/** Compute the difference between two times; fields that are not counters are copied from `now`. */
void octo_counts_span(const struct octo_counts *before, const struct octo_counts *now,
		      struct octo_counts *span);

/**
 * Add a span to a sum; zeroed memory is a valid start. Fields that are not counters are copied
 * from the span.
 */
void octo_counts_add(struct octo_counts *sum, const struct octo_counts *span);

/** Packets of all queues that arrived by their home PF, and by others. */
void octo_counts_strays(const struct octo_counts *counts, uint64_t *home, uint64_t *stray);

/** Takes a field; a value of NaN means unknown. */
typedef void (*octo_field_fn)(void *to, const char *name, double value);

/** Output the rates of the port, its PFs and the sockets in a span; names include the unit. */
void octo_counts_tell_port(const struct octo_counts *span, octo_field_fn tell, void *to);

/** Output the rates of one queue in a span; names begin with the prefix. */
void octo_counts_tell_queue(const struct octo_counts *span, uint16_t queue, const char *prefix,
			    octo_field_fn tell, void *to);

/** Output the totals of the port; names of counters have no unit but the thing counted. */
void octo_counts_tell_totals(const struct octo_counts *sum, octo_field_fn tell, void *to);

/** Output the totals of one queue; names begin with the prefix. */
void octo_counts_tell_queue_totals(const struct octo_counts *sum, uint16_t queue,
				   const char *prefix, octo_field_fn tell, void *to);

#endif /* OCTO_COUNTS_H */
