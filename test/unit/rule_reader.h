/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef RULE_READER_H
#define RULE_READER_H

#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * Reads all that is behind each pointer of a rule, so that a sanitizer sees memory
 * that is not there any more. Two rules of the same contents have the same sum,
 * wherever they are; handles and the contexts of AGE actions do not count.
 */

/** Begin with *sum 0. */
void rule_reader_pattern(uint64_t *sum, const struct rte_flow_item *item);
void rule_reader_actions(uint64_t *sum, const struct rte_flow_action *action);

uint64_t
rule_reader_sum(const struct rte_flow_item *pattern, const struct rte_flow_action *actions);

#endif /* RULE_READER_H */
