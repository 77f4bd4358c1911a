/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SLAB_H
#define OCTO_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * Many small objects of one size, without an allocator's header on each. No
 * locking: whoever owns the slab has a lock.
 */

struct octo_slab_chunk;

struct octo_slab {
	const char *name; /**< for who looks at the heap; not copied */
	int socket;
	uint32_t size;      /**< of an object */
	uint32_t per_chunk; /**< objects */
	uint32_t nb_chunks;
	uint32_t fresh; /**< objects of the newest chunk that were never given out */
	uint64_t used;  /**< objects that are given out */
	struct octo_slab_chunk *chunks; /**< the newest first */
	void *free;                     /**< given back; each holds a pointer to the next */
};

/**
 * @param size
 *   Of an object; rounded up to a multiple of eight bytes, which is its alignment.
 */
__rte_internal
void octo_slab_init(struct octo_slab *slab, const char *name, size_t size, int socket);

/** Free everything, whether it was given back or not. */
__rte_internal
void octo_slab_fini(struct octo_slab *slab);

/** @return zeroed memory, or NULL if there is none. */
__rte_internal
void *octo_slab_get(struct octo_slab *slab);

/** The last object that is given back takes all memory of the slab with it. */
__rte_internal
void octo_slab_put(struct octo_slab *slab, void *object);

/** @return what the slab takes from the heap. */
__rte_internal
size_t octo_slab_bytes(const struct octo_slab *slab);

#endif /* OCTO_SLAB_H */
