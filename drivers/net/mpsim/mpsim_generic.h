/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_GENERIC_H
#define MPSIM_GENERIC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mpsim_key.h"
#include "mpsim_rule.h"

/**
 * @file
 * A NIC's finite table of rules that match by value and mask: tuple-space search. All entries
 * with one mask are found by one hash of the masked key; masks are tried in the order of the
 * best priority among their entries. The hash buckets are shared by all masks, so that memory
 * depends only on the size of the table. In shared memory, any process can look up. No locking
 * in here.
 */

/** Words of the key that are not fully masked out, and their masks. */
struct mpsim_mask {
	TAILQ_ENTRY(mpsim_mask) list;
	uint32_t entries;
	uint32_t serial; /**< keeps equal words of different masks apart in the hash */
	uint32_t best;   /**< lowest priority number among the entries, or a lower number */
	bool inner;      /**< includes tunnelled headers */
	uint8_t nb_words;
	uint8_t word[MPSIM_KEY_WORDS]; /**< index in the key */
	uint64_t bits[MPSIM_KEY_WORDS];
};

TAILQ_HEAD(mpsim_masks, mpsim_mask);

/** One value and mask of a rule. */
struct mpsim_entry {
	struct mpsim_entry *next; /**< same bucket */
	struct mpsim_mask *mask;
	struct mpsim_rule *rule;
	uint32_t hash;
	uint64_t words[]; /**< masked */
};

struct mpsim_generic {
	struct mpsim_entry **bucket; /**< NULL until needed */
	struct mpsim_masks masks;    /**< sorted by best priority */
	uint32_t count;              /**< entries in the table */
	uint32_t max;                /**< limit of count */
	uint32_t bucket_mask;
	uint32_t next_mask;
	uint32_t inner; /**< masks that include tunnelled headers */
};

/** Allocate the table's memory, if not done yet. Returns 0, or a negative errno. */
int mpsim_generic_prepare(struct mpsim_generic *t, int socket);

/** Free the memory of an empty table. */
void mpsim_generic_free(struct mpsim_generic *t);

/**
 * Add an entry.
 *
 * @param entry
 *   Set to the entry on success.
 * @return
 *   0; -EEXIST: same value, mask and priority; -ENOSPC: full; -ENOMEM.
 */
int mpsim_generic_add(struct mpsim_generic *t, const struct mpsim_key *value,
		      const struct mpsim_key *mask, struct mpsim_rule *rule,
		      struct mpsim_entry **entry);

/** Remove and free an entry. */
void mpsim_generic_remove(struct mpsim_generic *t, struct mpsim_entry *entry);

/**
 * The first rule in precedence that matches the key and follows `after`, unless that is NULL.
 * Returns NULL if there is none. Inert rules never match.
 */
struct mpsim_rule *mpsim_generic_find(const struct mpsim_generic *t, const struct mpsim_key *key,
				      const struct mpsim_rule *after);

#endif /* MPSIM_GENERIC_H */
