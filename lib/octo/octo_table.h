/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TABLE_H
#define OCTO_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_tuple.h"

/**
 * @file
 * The steering table: 5-tuple to whatever the caller keeps for it. An rte_hash
 * that grows. No locking: the port's control mutex covers it.
 */

struct octo_table;

/**
 * @param name
 *   Unique prefix, at most 16 characters.
 * @return
 *   The table, or NULL with rte_errno set.
 */
__rte_internal
struct octo_table *octo_table_create(const char *name, int socket);

/** Frees the table, not what its values point to. NULL is ignored. */
__rte_internal
void octo_table_free(struct octo_table *t);

/**
 * @param key
 *   Not copied: it must stay as it is, and where it is, until it is removed.
 *   Usually it is part of the value.
 * @param value
 *   Not NULL.
 * @return
 *   0, -EEXIST, or -ENOMEM; on failure the table is as before.
 */
__rte_internal
int octo_table_add(struct octo_table *t, const struct octo_tuple *key, void *value);

/** @return the value that was removed, or NULL if the key is not there. */
__rte_internal
void *octo_table_remove(struct octo_table *t, const struct octo_tuple *key);

/** @return the value, or NULL if the key is not there. */
__rte_internal
void *octo_table_find(const struct octo_table *t, const struct octo_tuple *key);

/** Number of keys. */
__rte_internal
uint32_t octo_table_count(const struct octo_table *t);

/** @return what the table takes from the heap, within a few kilobytes. */
__rte_internal
size_t octo_table_bytes(const struct octo_table *t);

/**
 * Walk the table in no particular order; keys may be removed, not added, on the way.
 *
 * @param next
 *   Zero at first.
 * @return
 *   The next value, or NULL at the end.
 */
__rte_internal
void *octo_table_next(const struct octo_table *t, uint32_t *next);

#endif /* OCTO_TABLE_H */
