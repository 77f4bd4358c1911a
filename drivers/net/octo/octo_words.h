/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_WORDS_H
#define OCTO_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/*
 * A rule in the application's own words, as octo passes it on to the PFs: whatever
 * is more than an exact 5-tuple to a queue.
 */
struct octo_words {
	struct rte_flow_conv_rule *rule; /* a copy of its own */
	void *age_context;               /* by which the application knows it when it is aged */
	uint32_t bytes;
	uint32_t aged_on; /* mask of PFs that have named it so */
	bool aged_told;   /* the application knows */
	bool ages;        /* has an AGE action */
};

struct octo_dev;

/** The number by which rules name a PF that is gone: no port has one as high. */
#define OCTO_LOST_PORT(pf) ((uint16_t)(0xff00 + (pf)))

int octo_words_take(struct octo_words *words, const struct rte_flow_conv_rule *rule, void *owner,
		    struct rte_flow_error *error);
void octo_words_drop(struct octo_words *words);
const void *
octo_words_find(const struct rte_flow_action *actions, enum rte_flow_action_type type, bool *found);
int octo_words_pfs(const struct octo_dev *octo, const struct rte_flow_conv_rule *rule,
		   uint32_t *pfs, struct rte_flow_error *error);
bool octo_words_renumber(struct octo_words *words, uint16_t from, uint16_t to);
int octo_words_max_queue(const struct rte_flow_conv_rule *rule);

#endif /* OCTO_WORDS_H */
