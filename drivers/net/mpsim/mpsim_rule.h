/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_RULE_H
#define MPSIM_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_tuple.h"
#include "mpsim_fate.h"

/** Part of a rule that both kinds of tables use. Allocated by the caller, in shared memory. */
struct mpsim_rule {
	struct octo_tuple tuple; /**< of an exact rule */
	struct mpsim_rule *next; /**< of an exact rule: next in precedence with the same tuple */
	uint64_t serial;         /**< among rules of equal priority, the lowest wins */
	uint32_t priority;       /**< the lowest wins */
	bool inert;              /**< in the table, but without effect */
	uint64_t hits;           /**< packets since the last reset; under the NIC's lock */
	uint64_t bytes;          /**< length of these packets */
	struct mpsim_fate fate;
};

static inline bool
mpsim_rule_precedes(const struct mpsim_rule *a, const struct mpsim_rule *b)
{
	return a->priority != b->priority ? a->priority < b->priority : a->serial < b->serial;
}

#endif /* MPSIM_RULE_H */
