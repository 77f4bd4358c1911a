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
 * Reads an rte_flow pattern into what a key must look like to match it: pure.
 */

#define MPSIM_MATCH_RANGES 4
/** Table entries that the ranges of one rule may need. */
#define MPSIM_MATCH_ENTRIES 128
#define MPSIM_NO_PORT UINT16_MAX

/** A field that may have any value from lo to hi. */
struct mpsim_range {
	uint16_t at;    /**< where the field is in the key; network order */
	uint8_t len;    /**< its bytes */
	uint8_t shift;  /**< bits below those that are matched */
	uint8_t width;  /**< bits that are matched */
	uint64_t lo;    /**< shifted */
	uint64_t hi;    /**< shifted */
	uint32_t count; /**< aligned blocks that it is made of */
};

struct mpsim_match {
	struct mpsim_key value; /**< zero where the mask is; ranges are left out */
	struct mpsim_key mask;
	struct mpsim_range range[MPSIM_MATCH_RANGES];
	uint8_t nb_ranges;
	bool exact;              /**< just the 5-tuple, in full */
	struct octo_tuple tuple; /**< with exact */
	uint16_t from_port;      /**< of REPRESENTED_PORT, or MPSIM_NO_PORT */
};

/**
 * @param error
 *   Filled on failure: the item, and a sentence that a user can act on.
 * @return
 *   0, or a negative errno with rte_errno set.
 */
int mpsim_match_read(const struct rte_flow_item pattern[], struct mpsim_match *match,
		     struct rte_flow_error *error);

/** Does it ask for nothing, so that every frame matches? */
bool mpsim_match_is_all(const struct mpsim_match *match);

/** Value and mask pairs that the match is made of: 1, or more if it has ranges. */
uint32_t mpsim_match_count(const struct mpsim_match *match);

/** The one with this index. */
void mpsim_match_entry(const struct mpsim_match *match, uint32_t index, struct mpsim_key *value,
		       struct mpsim_key *mask);

#endif /* MPSIM_MATCH_H */
