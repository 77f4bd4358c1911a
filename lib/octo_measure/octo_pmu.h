/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PMU_H
#define OCTO_PMU_H

#include <stddef.h>
#include <stdint.h>

/**
 * @file
 * Parser of the kernel's description of performance monitoring units in
 * /sys/bus/event_source/devices/PMU (Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{events,format}). Text in, numbers out.
 */

/** config, config1 and config2 of struct perf_event_attr. */
#define OCTO_PMU_CONFIGS 3

/**
 * Read the text of `format/FIELD`.
 *
 * @return
 *   0, or a negative errno if there is no such field.
 */
typedef int (*octo_pmu_format_fn)(void *from, const char *field, char *text, size_t len);

/**
 * Put a value into the bits of a format ("config:0-7,21"), its lowest bits into the first
 * range.
 *
 * @return
 *   0, -EINVAL if the format cannot be parsed, -ERANGE if the value has more bits.
 */
int octo_pmu_place(const char *format, uint64_t value, uint64_t config[OCTO_PMU_CONFIGS]);

/**
 * Encode an event ("event=0x04,umask=0x03"; a word without a value is 1).
 *
 * @return
 *   0, or a negative errno: of the format function, or of octo_pmu_place().
 */
int octo_pmu_encode(const char *event, octo_pmu_format_fn format, void *from,
		    uint64_t config[OCTO_PMU_CONFIGS]);

/**
 * Parse a list of CPUs ("0,18", "0-1").
 *
 * @return
 *   The number of CPUs, at most `room`, or -EINVAL.
 */
int octo_pmu_cpus(const char *text, uint16_t *cpus, int room);

/** Bytes per count of an event, from its scale and unit; 0: unknown. */
double octo_pmu_bytes(const char *scale, const char *unit);

#endif /* OCTO_PMU_H */
