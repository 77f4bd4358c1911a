/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef RULE_MAKER_H
#define RULE_MAKER_H

#include <stdbool.h>
#include <stddef.h>

#include <rte_flow.h>

/**
 * @file
 * Rules whose every part is memory of its own, as an application may have it, and
 * which is overwritten and freed with the rule.
 */

#define RULE_MAKER_ROOM 64

struct rule_maker {
	struct rte_flow_item *pattern;
	struct rte_flow_action *actions;
	unsigned int nb;
	struct {
		void *bytes;
		size_t len;
	} piece[RULE_MAKER_ROOM];
};

/** Some bytes, no two pieces alike. */
void *rule_maker_piece(struct rule_maker *m, size_t len);

/** Kinds of rules: each has another item or action that leads to more than itself. */
unsigned int rule_maker_kinds(void);
/** What the kind is called; NULL if this DPDK does not have it. */
const char *rule_maker_name(unsigned int kind);
void rule_maker_make(struct rule_maker *m, unsigned int kind);
/** ETH, and a SAMPLE action with the one that is given in it. */
void rule_maker_sample(struct rule_maker *m, const struct rte_flow_action *action);

void rule_maker_free(struct rule_maker *m);

#endif /* RULE_MAKER_H */
