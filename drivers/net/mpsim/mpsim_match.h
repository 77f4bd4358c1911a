/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_MATCH_H
#define MPSIM_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_tuple.h"
#include "mpsim_key.h"

/**
 * @file
 * Parses an rte_flow pattern into value, mask and ranges of a key: pure.
 */

#define MPSIM_MATCH_RANGES 4
/** Table entries of one rule with ranges, at most. */
#define MPSIM_MATCH_ENTRIES 128
#define MPSIM_NO_PORT UINT16_MAX

/** A field that matches from lo to hi. */
struct mpsim_range {
	uint16_t at;    /**< offset in the key; network order */
	uint8_t len;    /**< of the field, in bytes */
	uint8_t shift;  /**< bits below the matched ones */
	uint8_t width;  /**< number of matched bits */
	uint64_t lo;    /**< shifted */
	uint64_t hi;    /**< shifted */
	uint32_t count; /**< aligned blocks of the range */
};

struct mpsim_match {
	struct mpsim_key value; /**< zero where the mask is zero; without ranges */
	struct mpsim_key mask;
	struct mpsim_range range[MPSIM_MATCH_RANGES];
	uint8_t nb_ranges;
	bool exact;              /**< the full 5-tuple and nothing else */
	struct octo_tuple tuple; /**< if exact */
	uint16_t from_port;      /**< of REPRESENTED_PORT, or MPSIM_NO_PORT */
};

/**
 * Parse a pattern.
 *
 * @param error
 *   Filled on failure: the item, and a sentence that a user can act on.
 * @return
 *   0, or a negative errno with rte_errno set.
 */
int mpsim_match_read(const struct rte_flow_item pattern[], struct mpsim_match *match,
		     struct rte_flow_error *error);

/** Does the match have no conditions, so that it matches every frame? */
bool mpsim_match_is_all(const struct mpsim_match *match);

/** Number of value and mask pairs: 1, or more if there are ranges. */
uint32_t mpsim_match_count(const struct mpsim_match *match);

/** Get the value and mask with this index. */
void mpsim_match_entry(const struct mpsim_match *match, uint32_t index, struct mpsim_key *value,
		       struct mpsim_key *mask);

#endif /* MPSIM_MATCH_H */
