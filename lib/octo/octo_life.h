/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LIFE_H
#define OCTO_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * @file
 * Handles of objects that live on a port: rules, indirect actions, templates, tables.
 *
 * A port's life is a number that grows each time the port is lost (octo_port_state.h). A handle
 * stores the life in which its object was created, and is invalid in any other. So no lists of
 * objects need to be walked when a port is lost, and an object of an earlier port with the same
 * port id cannot be used by mistake.
 *
 * Threads: a handle and the life that it is compared with are protected by the port's lock.
 * Processes: the pointer is valid in the process that created the object.
 */

/** No port has this life: zeroed memory is an invalid handle. */
#define OCTO_LIFE_NONE 0

struct octo_handle {
	void *h;       /**< object of the lower driver */
	uint32_t life; /**< of the port in which h was created */
};

/** The handle of an object that was just created; h may be NULL. */
static inline struct octo_handle
octo_handle_make(void *h, uint32_t life)
{
	return (struct octo_handle){.h = h, .life = life};
}

/** Return the object, or NULL if there is none or the port has another life now. */
static inline void *
octo_handle_get(const struct octo_handle *handle, uint32_t life)
{
	return handle->life == life ? handle->h : NULL;
}

/** Is it the same object? One that was created later may have the address of one that is gone. */
static inline bool
octo_handle_equal(const struct octo_handle *a, const struct octo_handle *b)
{
	return a->h == b->h && a->life == b->life;
}

/**
 * Invalidate the handle, as its object is about to be destroyed.
 *
 * @return
 *   The object to be destroyed, or NULL as octo_handle_get().
 */
static inline void *
octo_handle_take(struct octo_handle *handle, uint32_t life)
{
	void *h = octo_handle_get(handle, life);

	*handle = octo_handle_make(NULL, OCTO_LIFE_NONE);
	return h;
}

/** The life after this one; skips OCTO_LIFE_NONE. */
static inline uint32_t
octo_life_next(uint32_t life)
{
	return life == UINT32_MAX ? OCTO_LIFE_NONE + 1 : life + 1;
}

#endif /* OCTO_LIFE_H */
