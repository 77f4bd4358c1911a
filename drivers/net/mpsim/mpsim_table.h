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
	struct rte_hash *hash; /**< tuple to the first rule of its chain; NULL: not allocated */
	uint32_t count;        /**< rules in the table */
	uint32_t max;          /**< limit of count */
};

/** Limit of a bulk lookup. */
#define MPSIM_TABLE_BULK 64

/**
 * Allocate the table's memory, if not done yet: a NIC without rules needs none.
 *
 * @return
 *   0, or a negative errno.
 */
int mpsim_table_prepare(struct mpsim_table *t, int socket);

/** Free the table's memory, but not the rules. */
void mpsim_table_free(struct mpsim_table *t);

/** Add a rule. Returns 0; -EEXIST: same tuple and priority; -ENOSPC: full. */
int mpsim_table_add(struct mpsim_table *t, struct mpsim_rule *rule);

/** Remove a rule, which must be in the table. */
void mpsim_table_remove(struct mpsim_table *t, struct mpsim_rule *rule);

static inline uint32_t
mpsim_table_sig(const struct octo_tuple *key)
{
	return octo_tuple_hash(key, 0);
}

/**
 * Look up n tuples.
 *
 * @param keys, sigs
 *   The tuples and their mpsim_table_sig(); n <= MPSIM_TABLE_BULK.
 * @param rules
 *   Set to the rule that wins for each tuple, or to NULL.
 */
void mpsim_table_lookup(const struct mpsim_table *t, const struct octo_tuple *const keys[],
			uint32_t sigs[], uint32_t n, struct mpsim_rule *rules[]);

#endif /* MPSIM_TABLE_H */
