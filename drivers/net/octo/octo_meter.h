/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_METER_H
#define OCTO_METER_H

#include <stdint.h>

#include "octo_counts.h"

/**
 * @file
 * Reads the counters of a port, as those do who ask for its statistics. Primary process;
 * any control thread. The port's mutex is held as long as they hold it, and then for a
 * few rules at a time.
 */

/** Rules whose hits are asked for; with more of them, hits are unknown. */
#define OCTO_METER_MAX_RULES 1024

/** Nanoseconds of the clock that counts are stamped by, CLOCK_MONOTONIC. */
uint64_t octo_meter_clock(void);

/**
 * Make room for the counts of a port.
 *
 * @return
 *   Zeroed counts, to be freed by free(); or NULL, and rte_errno is ENODEV if this is not
 *   an octo port, ENOMEM.
 */
struct octo_counts *octo_meter_new(uint16_t port_id);

/**
 * Read what the port has counted; what the port does not know is left as it is.
 *
 * @param before
 *   The last counts, which a PF keeps that is gone; or NULL.
 * @return
 *   0, -ENODEV if it is not an octo port (any more), -ERANGE if it has been configured
 *   with other queues.
 */
int octo_meter_read(uint16_t port_id, const struct octo_counts *before, struct octo_counts *now);

#endif /* OCTO_METER_H */
