/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LIFE_H
#define OCTO_LIFE_H

#include <stddef.h>
#include <stdint.h>

/**
 * @file
 * Handles of objects that live on a port: rules, indirect actions, templates, tables.
 *
 * A port's life is a number that grows each time the port is lost (octo_port_state.h). A
 * handle keeps the life that its object was made in, and is nothing in any other. So a port
 * that is lost needs no walk over the lists of its objects, and an object of the port that
 * had the same port id before cannot be used by mistake.
 *
 * Threads: a handle and the life that it is compared with are for the holder of the port's
 * lock. Processes: the pointer is of the process that made the object.
 */

/** No port has this life: zeroed memory is a handle of nothing. */
#define OCTO_LIFE_NONE 0

struct octo_handle {
	void *h;       /**< of the lower driver */
	uint32_t life; /**< of the port that h was made in */
};

/** The handle of an object that was just made; h may be NULL. */
static inline struct octo_handle
octo_handle_make(void *h, uint32_t life)
{
	return (struct octo_handle){.h = h, .life = life};
}

/** @return The object, or NULL if there is none or the port has another life now. */
static inline void *
octo_handle_get(const struct octo_handle *handle, uint32_t life)
{
	return handle->life == life ? handle->h : NULL;
}

/**
 * The object is about to be destroyed: the handle is of nothing afterwards.
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

/** The life after this one. */
static inline uint32_t
octo_life_next(uint32_t life)
{
	return life == UINT32_MAX ? OCTO_LIFE_NONE + 1 : life + 1;
}

#endif /* OCTO_LIFE_H */
