/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TABLE_H
#define OCTO_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_tuple.h"

/**
 * @file
 * The steering table: maps 5-tuples to pointers of the caller, and grows. No locking: for the
 * holder of the port's control mutex.
 */

struct octo_table;

/**
 * Create a table.
 *
 * @param name
 *   Shown in dumps of the heap, at most 16 characters.
 * @return
 *   The table, or NULL with rte_errno set.
 */
__rte_internal
struct octo_table *octo_table_create(const char *name);

/** Free the table, not what its values point to. NULL is ignored. */
__rte_internal
void octo_table_free(struct octo_table *t);

/**
 * Add a key.
 *
 * @param key
 *   Not copied: it must stay unchanged, and where it is, until it is removed. Usually it is
 *   part of the value.
 * @param value
 *   Not NULL.
 * @return
 *   0, -EEXIST, or -ENOMEM; on failure the table is unchanged.
 */
__rte_internal
int octo_table_add(struct octo_table *t, const struct octo_tuple *key, void *value);

/** Remove a key. @return its value, or NULL if the key does not exist. */
__rte_internal
void *octo_table_remove(struct octo_table *t, const struct octo_tuple *key);

/** Look up a key. @return its value, or NULL if the key does not exist. */
__rte_internal
void *octo_table_find(const struct octo_table *t, const struct octo_tuple *key);

/** Number of keys. */
__rte_internal
uint32_t octo_table_count(const struct octo_table *t);

/** Bytes that the entries take from the heap. */
__rte_internal
size_t octo_table_bytes(const struct octo_table *t);

/**
 * Iterate over the values in no particular order; keys may be removed, but not added,
 * meanwhile.
 *
 * @param next
 *   Position; 0 at first.
 * @return
 *   The next value, or NULL at the end.
 */
void *octo_table_next(const struct octo_table *t, uint32_t *next);

#endif /* OCTO_TABLE_H */
