/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_RULE_H
#define OCTOSIM_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_tuple.h"
#include "octosim_fate.h"

/** What the two kinds of tables know of a rule. The caller allocates it, in shared memory. */
struct octosim_rule {
	struct octo_tuple tuple;   /**< of an exact rule */
	struct octosim_rule *next; /**< of an exact rule: same tuple, next in precedence */
	uint64_t serial;           /**< of rules with equal priority, the lowest wins */
	uint32_t priority;         /**< 0 wins */
	bool inert;                /**< takes its room in the table and does nothing */
	uint64_t hits;             /**< packets since the last reset; under the NIC's lock */
	uint64_t bytes;            /**< their length */
	struct octosim_fate fate;
};

static inline bool
octosim_rule_precedes(const struct octosim_rule *a, const struct octosim_rule *b)
{
	return a->priority != b->priority ? a->priority < b->priority : a->serial < b->serial;
}

#endif /* OCTOSIM_RULE_H */
