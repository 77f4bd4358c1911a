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
 * A NIC's finite table of rules that match by value and mask: tuple-space
 * search. All entries with one mask are found by one hash of the masked key;
 * masks are tried in the order of the best priority among their entries. The
 * hash buckets are shared by all masks, so that memory depends on the size of
 * the table only. In shared memory, any process can look up. No locking in here.
 */

/** Whole words of the key that are not masked out, and their masks. */
struct mpsim_mask {
	TAILQ_ENTRY(mpsim_mask) list;
	uint32_t entries;
	uint32_t serial; /**< keeps equal words of different masks apart in the hash */
	uint32_t best;   /**< lowest priority number among the entries, or lower */
	bool inner;      /**< looks into tunnels */
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
	struct mpsim_masks masks;    /**< by best priority */
	uint32_t count;              /**< entries in the table */
	uint32_t max;                /**< entries that fit */
	uint32_t bucket_mask;
	uint32_t next_mask;
	uint32_t inner; /**< masks that look into tunnels */
};

/** Allocate the memory of the table, if it has none yet. 0, or a negative errno. */
int mpsim_generic_prepare(struct mpsim_generic *t, int socket);

/** Free the table's memory. It must be empty. */
void mpsim_generic_free(struct mpsim_generic *t);

/**
 * Add an entry.
 *
 * @param entry
 *   Set to it.
 * @return
 *   0; -EEXIST: same value, mask and priority; -ENOSPC: full; -ENOMEM.
 */
int mpsim_generic_add(struct mpsim_generic *t, const struct mpsim_key *value,
		      const struct mpsim_key *mask, struct mpsim_rule *rule,
		      struct mpsim_entry **entry);

/** Remove and free an entry. */
void mpsim_generic_remove(struct mpsim_generic *t, struct mpsim_entry *entry);

/**
 * The first rule in precedence that matches the key, and that comes behind
 * `after` unless that is NULL; NULL if there is none. Inert rules match nothing.
 */
struct mpsim_rule *mpsim_generic_find(const struct mpsim_generic *t, const struct mpsim_key *key,
				      const struct mpsim_rule *after);

#endif /* MPSIM_GENERIC_H */
