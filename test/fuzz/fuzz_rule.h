/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_RULE_H
#define FUZZ_RULE_H

#include <rte_flow.h>

#include "fuzz.h"

/**
 * @file
 * Rules from bytes. No pointer is wild, as no driver could notice; all else may
 * be wrong: types, masks, lengths, what is missing. Zeros make a good rule.
 */

#define FUZZ_MAX_ITEMS 14
#define FUZZ_MAX_ACTIONS 8
#define FUZZ_MAX_PIECES 128
/** Every port of a fuzzed NIC has so many queues. */
#define FUZZ_QUEUES 4

struct fuzz_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item items[FUZZ_MAX_ITEMS];
	struct rte_flow_action actions[FUZZ_MAX_ACTIONS];
	unsigned int nb_items;
	unsigned int nb_actions;
	bool beyond; /**< it has what no two ports can mean alike */
	unsigned int nb_pieces;
	void *pieces[FUZZ_MAX_PIECES]; /**< specifications, masks, configurations */
};

/** What stands for a number in a rule: a PF of the NIC, an indirect action. */
struct fuzz_names {
	uint16_t pf[2];
	struct rte_flow_action_handle **handles;
	unsigned int nb_handles;
};

/** The same bytes and other names make the same rule for another port. */
void fuzz_rule_read(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule);
/** One action, and an end. */
void fuzz_rule_read_action(struct fuzz_input *in, const struct fuzz_names *names,
			   struct fuzz_rule *rule);
void fuzz_rule_free(struct fuzz_rule *rule);
/** To stderr, for who looks into a failure. */
void fuzz_rule_print(const struct fuzz_rule *rule);

/* fuzz_item.c, fuzz_action.c */
void *fuzz_piece(struct fuzz_rule *rule, size_t size);
size_t fuzz_item_size(int type);
void fuzz_item_read(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule,
		    int type);
void
fuzz_action_read(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule);

/** Addresses and ports are few, so that packets meet rules. */
size_t fuzz_header(enum rte_flow_item_type type, uint8_t choice, void *header);

#endif /* FUZZ_RULE_H */
