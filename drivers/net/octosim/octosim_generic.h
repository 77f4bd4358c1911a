/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_GENERIC_H
#define OCTOSIM_GENERIC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "octosim_key.h"
#include "octosim_rule.h"

/**
 * @file
 * A NIC's finite table of rules that match by value and mask: tuple-space
 * search. All entries with one mask are found by one hash of the masked key;
 * masks are tried in the order of the best priority among their entries. The
 * hash buckets are shared by all masks, so that memory depends on the size of
 * the table only. In shared memory, any process can look up. No locking in here.
 */

/** Whole words of the key that are not masked out, and their masks. */
struct octosim_mask {
	TAILQ_ENTRY(octosim_mask) list;
	uint32_t entries;
	uint32_t serial; /**< keeps equal words of different masks apart in the hash */
	uint32_t best;   /**< lowest priority number among the entries, or lower */
	bool inner;      /**< looks into tunnels */
	uint8_t nb_words;
	uint8_t word[OCTOSIM_KEY_WORDS]; /**< index in the key */
	uint64_t bits[OCTOSIM_KEY_WORDS];
};

TAILQ_HEAD(octosim_masks, octosim_mask);

/** One value and mask of a rule. */
struct octosim_entry {
	struct octosim_entry *next; /**< same bucket */
	struct octosim_mask *mask;
	struct octosim_rule *rule;
	uint32_t hash;
	uint64_t words[]; /**< masked */
};

struct octosim_generic {
	struct octosim_entry **bucket; /**< NULL until needed */
	struct octosim_masks masks;    /**< by best priority */
	uint32_t count;                /**< entries in the table */
	uint32_t max;                  /**< entries that fit */
	uint32_t bucket_mask;
	uint32_t next_mask;
	uint32_t inner; /**< masks that look into tunnels */
};

/** Allocate the memory of the table, if it has none yet. 0, or a negative errno. */
int octosim_generic_prepare(struct octosim_generic *t, int socket);

/** Free the table's memory. It must be empty. */
void octosim_generic_free(struct octosim_generic *t);

/**
 * Add an entry.
 *
 * @param entry
 *   Set to it.
 * @return
 *   0; -EEXIST: same value, mask and priority; -ENOSPC: full; -ENOMEM.
 */
int octosim_generic_add(struct octosim_generic *t, const struct octosim_key *value,
			const struct octosim_key *mask, struct octosim_rule *rule,
			struct octosim_entry **entry);

/** Remove and free an entry. */
void octosim_generic_remove(struct octosim_generic *t, struct octosim_entry *entry);

/**
 * The first rule in precedence that matches the key, and that comes behind
 * `after` unless that is NULL; NULL if there is none. Inert rules match nothing.
 */
struct octosim_rule *
octosim_generic_find(const struct octosim_generic *t, const struct octosim_key *key,
		     const struct octosim_rule *after);

#endif /* OCTOSIM_GENERIC_H */
