/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_TABLE_H
#define MPSIM_TABLE_H

#include <stdint.h>

#include "octo_tuple.h"
#include "mpsim_rule.h"

/**
 * @file
 * A NIC's finite table of 5-tuple rules: the MPFS of a NIC, or the ARFS of a PF.
 * Lives in shared memory, so that any process can look up. No locking in here.
 */

struct rte_hash;

struct mpsim_table {
	struct rte_hash *hash; /**< tuple to the first rule of its chain; NULL until needed */
	uint32_t count;        /**< rules in the table */
	uint32_t max;          /**< rules that fit */
};

/** Rules looked up at once, at most. */
#define MPSIM_TABLE_BULK 64

/**
 * Allocate the memory of the table, if it has none yet; a NIC that is never
 * programmed shall not cost any.
 *
 * @return
 *   0, or a negative errno.
 */
int mpsim_table_prepare(struct mpsim_table *t, int socket);

/** Frees the table's memory, not the rules. */
void mpsim_table_free(struct mpsim_table *t);

/** @return 0; -EEXIST: same tuple and priority; -ENOSPC: full. */
int mpsim_table_add(struct mpsim_table *t, struct mpsim_rule *rule);

/** The rule must be in the table. */
void mpsim_table_remove(struct mpsim_table *t, struct mpsim_rule *rule);

static inline uint32_t
mpsim_table_sig(const struct octo_tuple *key)
{
	return octo_tuple_hash(key, 0);
}

/**
 * @param keys, sigs
 *   n tuples and their mpsim_table_sig(); n <= MPSIM_TABLE_BULK.
 * @param rules
 *   Set to the winning rule of each, or to NULL.
 */
void mpsim_table_lookup(const struct mpsim_table *t, const struct octo_tuple *const keys[],
			uint32_t sigs[], uint32_t n, struct mpsim_rule *rules[]);

#endif /* MPSIM_TABLE_H */
