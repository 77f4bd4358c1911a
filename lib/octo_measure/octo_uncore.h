/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_UNCORE_H
#define OCTO_UNCORE_H

#include <stdint.h>

#include "octo_counts.h"

/**
 * @file
 * Counters of the link between sockets and of DRAM, if the machine has them and the kernel
 * permits reading (perf_event_open(2)). One thread at a time. To read a counter the kernel
 * briefly interrupts a CPU of its socket.
 */

#define OCTO_UNCORE_REASON_MAX 160

struct perf_event_attr;

/**
 * Opens an event on a CPU, as perf_event_open(2); returns a file descriptor or a negative
 * errno.
 */
typedef int (*octo_uncore_open_fn)(const struct perf_event_attr *attr, int cpu);

struct octo_uncore {
	struct octo_uncore_event *events;
	uint16_t nb_events;
	uint16_t nb_sockets;                  /**< 0: nothing is counted */
	char no_link[OCTO_UNCORE_REASON_MAX]; /**< why the link is not counted, or empty */
	char no_dram[OCTO_UNCORE_REASON_MAX]; /**< why DRAM is not counted, or empty */
};

/**
 * Begin to count everything that can be counted.
 *
 * @param root
 *   Prefix of all file names; not empty only in tests.
 * @param open_event
 *   NULL: perf_event_open(2).
 */
void octo_uncore_open(struct octo_uncore *uncore, const char *root, octo_uncore_open_fn open_event);
void octo_uncore_close(struct octo_uncore *uncore);

/** Bytes since octo_uncore_open(); OCTO_RATE_UNKNOWN for what is not counted. */
void octo_uncore_read(struct octo_uncore *uncore, struct octo_counts *now);

#endif /* OCTO_UNCORE_H */
