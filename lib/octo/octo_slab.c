/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdalign.h>
#include <string.h>

#include <eal_export.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "octo_slab.h"

/* Small compared to a hugepage, so a last chunk with one object wastes little. */
#define CHUNK_BYTES (64u << 10)
#define ALIGNMENT 8

/* Aligned, so that objects of whole cache lines touch no more lines than needed. */
struct octo_slab_chunk {
	struct octo_slab_chunk *next;
	alignas(RTE_CACHE_LINE_MIN_SIZE) char objects[];
};

RTE_EXPORT_INTERNAL_SYMBOL(octo_slab_init)
void
octo_slab_init(struct octo_slab *slab, const char *name, size_t size)
{
	const uint32_t aligned = (uint32_t)RTE_ALIGN_CEIL(size, ALIGNMENT);

	*slab = (struct octo_slab){
		.name = name,
		.size = aligned,
		.per_chunk = RTE_MAX(1u, CHUNK_BYTES / aligned),
	};
}

static size_t
chunk_bytes(const struct octo_slab *slab)
{
	return sizeof(struct octo_slab_chunk) + (size_t)slab->per_chunk * slab->size;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slab_fini)
void
octo_slab_fini(struct octo_slab *slab)
{
	while (slab->chunks != NULL) {
		struct octo_slab_chunk *next = slab->chunks->next;

		rte_free(slab->chunks);
		slab->chunks = next;
	}
	slab->nb_chunks = 0;
	slab->fresh = 0;
	slab->used = 0;
	slab->free = NULL;
}

static int
add_chunk(struct octo_slab *slab)
{
	struct octo_slab_chunk *chunk = rte_malloc(slab->name, chunk_bytes(slab), 0);

	if (chunk == NULL)
		return -1;
	chunk->next = slab->chunks;
	slab->chunks = chunk;
	slab->nb_chunks++;
	slab->fresh = slab->per_chunk;
	return 0;
}

static void *
take_free(struct octo_slab *slab)
{
	void *object = slab->free;

	memcpy(&slab->free, object, sizeof(slab->free));
	return object;
}

static void *
take_fresh(struct octo_slab *slab)
{
	slab->fresh--;
	return slab->chunks->objects + slab->fresh * (size_t)slab->size;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slab_get)
void *
octo_slab_get(struct octo_slab *slab)
{
	void *object;

	if (slab->free != NULL)
		object = take_free(slab);
	else if (slab->fresh > 0 || add_chunk(slab) == 0)
		object = take_fresh(slab);
	else
		return NULL;
	slab->used++;
	return memset(object, 0, slab->size);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slab_put)
void
octo_slab_put(struct octo_slab *slab, void *object)
{
	if (--slab->used == 0) {
		octo_slab_fini(slab);
		return;
	}
	memcpy(object, &slab->free, sizeof(slab->free));
	slab->free = object;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_slab_bytes)
size_t
octo_slab_bytes(const struct octo_slab *slab)
{
	/* each allocation of the heap is preceded by a header of one cache line */
	return slab->nb_chunks * (chunk_bytes(slab) + RTE_CACHE_LINE_SIZE);
}
