/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_MATCH_H
#define OCTOSIM_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_tuple.h"
#include "octosim_key.h"

/**
 * @file
 * Reads an rte_flow pattern into what a key must look like to match it: pure.
 */

#define OCTOSIM_MATCH_RANGES 4
/** Table entries that the ranges of one rule may need. */
#define OCTOSIM_MATCH_ENTRIES 128
#define OCTOSIM_NO_PORT UINT16_MAX

/** A field that may have any value from lo to hi. */
struct octosim_range {
	uint16_t at;    /**< where the field is in the key; network order */
	uint8_t len;    /**< its bytes */
	uint8_t shift;  /**< bits below those that are matched */
	uint8_t width;  /**< bits that are matched */
	uint64_t lo;    /**< shifted */
	uint64_t hi;    /**< shifted */
	uint32_t count; /**< aligned blocks that it is made of */
};

struct octosim_match {
	struct octosim_key value; /**< zero where the mask is; ranges are left out */
	struct octosim_key mask;
	struct octosim_range range[OCTOSIM_MATCH_RANGES];
	uint8_t nb_ranges;
	bool exact;              /**< just the 5-tuple, in full */
	struct octo_tuple tuple; /**< with exact */
	uint16_t from_port;      /**< of REPRESENTED_PORT, or OCTOSIM_NO_PORT */
};

/**
 * @param error
 *   Filled on failure: the item, and a sentence that a user can act on.
 * @return
 *   0, or a negative errno with rte_errno set.
 */
int octosim_match_read(const struct rte_flow_item pattern[], struct octosim_match *match,
		       struct rte_flow_error *error);

/** Does it ask for nothing, so that every frame matches? */
bool octosim_match_is_all(const struct octosim_match *match);

/** Value and mask pairs that the match is made of: 1, or more if it has ranges. */
uint32_t octosim_match_count(const struct octosim_match *match);

/** The one with this index. */
void octosim_match_entry(const struct octosim_match *match, uint32_t index,
			 struct octosim_key *value, struct octosim_key *mask);

#endif /* OCTOSIM_MATCH_H */
