/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SLICE_H
#define OCTO_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * Slices of a port's queues. Some NICs have one ethdev for queues of several NUMA nodes: each node
 * has a slice of them, every n-th queue or a range. Pure functions.
 */

/** Longest text of a slice, with its end. */
#define OCTO_SLICE_TEXT_MAX 16

/** Queues first, first + stride, ... up to last. */
struct octo_slice {
	uint16_t first;
	uint16_t stride; /**< at least 1 */
	uint16_t last;   /**< UINT16_MAX: as many as the port has */
	/** of a range that is one of so many equal parts of a port's queues; 0: given by number */
	uint16_t parts;
	uint16_t part; /**< from 0 on */
};

/** All queues of a port: queue i is queue i. */
#define OCTO_SLICE_ALL ((struct octo_slice){.stride = 1, .last = UINT16_MAX})

/** The port's queue that is queue i of the slice. The caller checks octo_slice_room(). */
static inline uint16_t
octo_slice_queue(const struct octo_slice *slice, uint16_t i)
{
	return (uint16_t)(slice->first + i * slice->stride);
}

/**
 * Read "FIRST::STRIDE", every STRIDE-th queue from FIRST on, "FIRST-LAST", or "PART/PARTS", one of
 * PARTS ranges that divide the queues of a port: of one with RTE_MAX_QUEUES_PER_PORT queues until
 * octo_slice_fit() is called.
 *
 * @param why
 *   On failure filled with the error and what would be right.
 * @return
 *   0, or -EINVAL with *slice unchanged.
 */
__rte_internal
int octo_slice_read(struct octo_slice *slice, const char *text, char *why, size_t why_len);

/** The inverse of octo_slice_read(). */
__rte_internal
void octo_slice_format(const struct octo_slice *slice, char text[OCTO_SLICE_TEXT_MAX]);

/**
 * Compute the range of a "PART/PARTS" slice for a port with `nb` queues: those queues q for which
 * q * PARTS / nb is PART, as drivers of NICs with several PCIe endpoints divide them. No range may
 * remain if the port has fewer queues than parts; other slices stay as they are.
 */
__rte_internal
void octo_slice_fit(struct octo_slice *slice, uint16_t nb);

/** Number of queues that the slice has of a port with `nb` queues. */
__rte_internal
uint16_t octo_slice_room(const struct octo_slice *slice, uint16_t nb);

/** Index in the slice of the port's queue; -1 if it is not in the slice. */
__rte_internal
int octo_slice_find(const struct octo_slice *slice, uint16_t queue);

/** Has any port a queue that is in both slices? */
__rte_internal
bool octo_slice_overlaps(const struct octo_slice *a, const struct octo_slice *b);

#endif /* OCTO_SLICE_H */
