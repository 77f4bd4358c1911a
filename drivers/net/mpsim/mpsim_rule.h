/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_RULE_H
#define MPSIM_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_tuple.h"
#include "mpsim_fate.h"

/** What the two kinds of tables know of a rule. The caller allocates it, in shared memory. */
struct mpsim_rule {
	struct octo_tuple tuple; /**< of an exact rule */
	struct mpsim_rule *next; /**< of an exact rule: same tuple, next in precedence */
	uint64_t serial;         /**< of rules with equal priority, the lowest wins */
	uint32_t priority;       /**< 0 wins */
	bool inert;              /**< takes its room in the table and does nothing */
	uint64_t hits;           /**< packets since the last reset; under the NIC's lock */
	uint64_t bytes;          /**< their length */
	struct mpsim_fate fate;
};

static inline bool
mpsim_rule_precedes(const struct mpsim_rule *a, const struct mpsim_rule *b)
{
	return a->priority != b->priority ? a->priority < b->priority : a->serial < b->serial;
}

#endif /* MPSIM_RULE_H */
