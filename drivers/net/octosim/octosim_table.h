/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_TABLE_H
#define OCTOSIM_TABLE_H

#include <stdint.h>

#include "octo_tuple.h"
#include "octosim_rule.h"

/**
 * @file
 * A NIC's finite table of 5-tuple rules: the MPFS of a NIC, or the ARFS of a PF.
 * Lives in shared memory, so that any process can look up. No locking in here.
 */

struct rte_hash;

struct octosim_table {
	struct rte_hash *hash; /**< tuple to the first rule of its chain; NULL until needed */
	uint32_t count;        /**< rules in the table */
	uint32_t max;          /**< rules that fit */
};

/** Rules looked up at once, at most. */
#define OCTOSIM_TABLE_BULK 64

/**
 * Allocate the memory of the table, if it has none yet; a NIC that is never
 * programmed shall not cost any.
 *
 * @return
 *   0, or a negative errno.
 */
int octosim_table_prepare(struct octosim_table *t, int socket);

/** Frees the table's memory, not the rules. */
void octosim_table_free(struct octosim_table *t);

/** @return 0; -EEXIST: same tuple and priority; -ENOSPC: full. */
int octosim_table_add(struct octosim_table *t, struct octosim_rule *rule);

/** The rule must be in the table. */
void octosim_table_remove(struct octosim_table *t, struct octosim_rule *rule);

static inline uint32_t
octosim_table_sig(const struct octo_tuple *key)
{
	return octo_tuple_hash(key, 0);
}

/**
 * @param keys, sigs
 *   n tuples and their octosim_table_sig(); n <= OCTOSIM_TABLE_BULK.
 * @param rules
 *   Set to the winning rule of each, or to NULL.
 */
void octosim_table_lookup(const struct octosim_table *t, const struct octo_tuple *const keys[],
			  uint32_t sigs[], uint32_t n, struct octosim_rule *rules[]);

#endif /* OCTOSIM_TABLE_H */
