/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SLAB_H
#define OCTO_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * Allocator for many small objects of one size, without a header on each. No locking: the slab
 * is protected by its owner's lock.
 */

struct octo_slab_chunk;

struct octo_slab {
	const char *name;   /**< shown in dumps of the heap; not copied */
	uint32_t size;      /**< of an object */
	uint32_t per_chunk; /**< objects per chunk */
	uint32_t nb_chunks;
	uint32_t fresh; /**< objects of the newest chunk that were never allocated */
	uint64_t used;  /**< objects that are allocated */
	struct octo_slab_chunk *chunks; /**< the newest first */
	void *free;                     /**< freed objects; each holds a pointer to the next */
};

/**
 * Initialise an empty slab.
 *
 * @param size
 *   Of an object; rounded up to a multiple of eight bytes, which is its alignment.
 */
__rte_internal
void octo_slab_init(struct octo_slab *slab, const char *name, size_t size);

/** Free all memory, including objects that are allocated. */
__rte_internal
void octo_slab_fini(struct octo_slab *slab);

/** Allocate an object. @return zeroed memory, or NULL if there is none. */
__rte_internal
void *octo_slab_get(struct octo_slab *slab);

/** Free an object. When the last one is freed, the slab's memory is, too. */
__rte_internal
void octo_slab_put(struct octo_slab *slab, void *object);

/** Bytes that the slab takes from the heap. */
__rte_internal
size_t octo_slab_bytes(const struct octo_slab *slab);

#endif /* OCTO_SLAB_H */
