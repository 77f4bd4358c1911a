/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SPEC_ROW_H
#define OCTO_SPEC_ROW_H

#include <stddef.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * Interface between octo_spec.c, which copies lists, and octo_spec_row.c, which has a row for
 * each item and action.
 */

/** State of octo_spec_copy(). */
struct octo_spec_copier {
	uint8_t *to;                    /**< NULL: only measure */
	size_t used;                    /**< bytes so far */
	unsigned int depth;             /**< of nested lists */
	int ret;                        /**< the first error */
	enum rte_flow_error_type type;  /**< of the culprit, if there is one */
	const void *culprit;            /**< item or action being copied */
	const struct rte_flow_item *of; /**< item whose mask is being copied, else NULL */
	struct rte_flow_error *error;
};

/** Structs with pointers that have to be replaced. */
union octo_spec_deep {
	struct rte_flow_item_raw raw;
	struct rte_flow_item_geneve_opt geneve_opt;
	struct rte_flow_item_compare compare;
	struct rte_flow_action_rss rss;
	struct rte_flow_action_vxlan_encap vxlan_encap;
	struct rte_flow_action_nvgre_encap nvgre_encap;
	struct rte_flow_action_raw_encap raw_encap;
	struct rte_flow_action_raw_decap raw_decap;
	struct rte_flow_action_sample sample;
	struct rte_flow_action_modify_field modify_field;
	struct rte_flow_action_meter_mark meter_mark;
	struct rte_flow_action_ipv6_ext_push ipv6_ext_push;
	struct rte_flow_action_prog prog;
};

/** An item or action of rte_flow. */
struct octo_spec_row {
	int type;
	uint16_t size; /**< of the struct behind its pointer */
	/**
	 * Replace the pointers in a copy, or scratch copy, by pointers to copies; NULL: there
	 * are none.
	 */
	void (*own)(struct octo_spec_copier *c, union octo_spec_deep *copy);
	const char *refusal; /**< NULL: it can be copied */
};

/* octo_spec_row.c; NULL: unknown type */
const struct octo_spec_row *octo_spec_row_of_item(int type);
const struct octo_spec_row *octo_spec_row_of_action(int type);

/* octo_spec.c */
void octo_spec_refuse(struct octo_spec_copier *c, int code, const char *why);
/**
 * Copy bytes, followed by zeros up to `room`. Returns the copy, or `bytes` if only measuring;
 * NULL if bytes is NULL or after an error.
 */
void *octo_spec_own(struct octo_spec_copier *c, const void *bytes, size_t len, size_t room);
struct rte_flow_item *
octo_spec_own_pattern(struct octo_spec_copier *c, const struct rte_flow_item *from);
struct rte_flow_action *
octo_spec_own_actions(struct octo_spec_copier *c, const struct rte_flow_action *from);

#endif /* OCTO_SPEC_ROW_H */
