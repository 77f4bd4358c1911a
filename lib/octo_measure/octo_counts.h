/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_COUNTS_H
#define OCTO_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_rate.h"

/**
 * @file
 * All that is counted of a port: at a moment, or in a span between two moments, or in a
 * sum of spans. It is made of the port's extended statistics, whoever reads them, and its
 * fields are told by name, for files and telemetry. No device, no clock.
 */

#define OCTO_COUNTS_MAX_PFS 8
#define OCTO_COUNTS_MAX_QUEUES 1024

/** Counters of a port or a PF. Nothing but counters: see octo_counts_span(). */
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

/** Counters of a queue; likewise. */
struct octo_queue_traffic {
	uint64_t home_packets; /**< that came by the home PF */
	uint64_t home_bytes;
	uint64_t stray_packets; /**< that came by another */
	uint64_t stray_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes; /**< or OCTO_RATE_UNKNOWN, where PFs do not count by queue */
};

/** Cycles that threads worked, not those that they polled in vain; of a port. */
struct octo_work {
	uint64_t cycles;  /**< or OCTO_RATE_UNKNOWN */
	uint64_t packets; /**< that they worked on */
};

/** What is known of rules now. */
struct octo_rule_state {
	uint64_t rules;
	uint64_t learned;
	uint64_t ineffective;
};

/** What is known of latency now, in ns; OCTO_RATE_UNKNOWN if nothing is. */
struct octo_latency {
	uint64_t min_ns;
	uint64_t avg_ns;
	uint64_t max_ns;
	uint64_t jitter_ns;
};

/** Bytes that a socket's uncore counts. */
enum octo_uncore_kind {
	OCTO_UNCORE_LINK_OUT, /**< to other sockets */
	OCTO_UNCORE_LINK_IN,
	OCTO_UNCORE_DRAM_READ,
	OCTO_UNCORE_DRAM_WRITE,
	OCTO_UNCORE_DRAM, /**< both, where they are not told apart */
	OCTO_UNCORE_KINDS,
};

#define OCTO_UNCORE_MAX_SOCKETS 8

struct octo_uncore_bytes {
	uint64_t of[OCTO_UNCORE_KINDS]; /**< or OCTO_RATE_UNKNOWN */
};

/** While statistics are read: who counts bytes by Tx queue. Many devices do not, and tell 0. */
struct octo_counts_evidence {
	uint8_t pfs;                             /**< that tell anything */
	uint8_t by_queue;                        /**< PFs of which a queue is not 0 */
	uint16_t nb_own;                         /**< queues that the port tells of */
	uint16_t nb_told[OCTO_COUNTS_MAX_PFS];   /**< queues that a PF tells of */
	uint8_t sent_by[OCTO_COUNTS_MAX_QUEUES]; /**< PFs by which a queue has sent */
};

struct octo_counts {
	uint64_t ns; /**< the moment, or the length of the span */
	uint16_t nb_pfs;
	uint16_t nb_rx_queues;
	uint16_t nb_tx_queues;
	uint16_t nb_queues;  /**< the greater of both */
	uint16_t nb_sockets; /**< with uncore counters */
	bool restarted;      /**< of a span: a counter began anew, so more may have come */
	struct octo_traffic port;
	struct octo_traffic pf[OCTO_COUNTS_MAX_PFS];
	uint64_t hits; /**< of the rules that there are; or OCTO_RATE_UNKNOWN */
	struct octo_rule_state rules;
	struct octo_work work;
	struct octo_latency latency;
	struct octo_uncore_bytes socket[OCTO_UNCORE_MAX_SOCKETS];
	struct octo_queue_traffic queue[OCTO_COUNTS_MAX_QUEUES];
	struct octo_counts_evidence evidence;
};

/**
 * Begin to read statistics.
 *
 * @param before
 *   What was read last, which a PF keeps that is gone; or NULL.
 */
void octo_counts_begin(struct octo_counts *now, const struct octo_counts *before);

/** Take one of the port's extended statistics, in any order; unknown ones are passed over. */
void octo_counts_take(struct octo_counts *now, const char *name, uint64_t value);

/** All have been taken. */
void octo_counts_end(struct octo_counts *now);

/** What was counted between two moments; what is no counter is as it is now. */
void octo_counts_span(const struct octo_counts *before, const struct octo_counts *now,
		      struct octo_counts *span);

/**
 * Add a span to a sum; zeroed memory is a valid start. What is no counter is as it was
 * in the last one.
 */
void octo_counts_add(struct octo_counts *sum, const struct octo_counts *span);

/** The packets of all queues that came by their home PF, and of those that did not. */
void octo_counts_strays(const struct octo_counts *counts, uint64_t *home, uint64_t *stray);

/** Takes a field; NaN: unknown. */
typedef void (*octo_field_fn)(void *to, const char *name, double value);

/** Rates of the port, its PFs and the sockets in a span; the unit is in the name. */
void octo_counts_tell_port(const struct octo_counts *span, octo_field_fn tell, void *to);

/** Rates of one queue in a span; the names begin with the prefix. */
void octo_counts_tell_queue(const struct octo_counts *span, uint16_t queue, const char *prefix,
			    octo_field_fn tell, void *to);

/** What the port has counted; names of counters have no unit but what is counted. */
void octo_counts_tell_totals(const struct octo_counts *sum, octo_field_fn tell, void *to);

/** What one queue has counted; likewise. */
void octo_counts_tell_queue_totals(const struct octo_counts *sum, uint16_t queue,
				   const char *prefix, octo_field_fn tell, void *to);

#endif /* OCTO_COUNTS_H */
