/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SPEC_ROW_H
#define OCTO_SPEC_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

/**
 * @file
 * Between octo_spec.c, which copies lists, and octo_spec_row.c, which knows items
 * and actions.
 */

/** A copy in the making. */
struct octo_spec_copier {
	uint8_t *to;                    /**< NULL: it is only measured */
	size_t used;                    /**< bytes so far */
	unsigned int depth;             /**< of lists */
	int ret;                        /**< of the first error */
	enum rte_flow_error_type type;  /**< of the culprit, if there is one */
	const void *culprit;            /**< item or action that is copied */
	const struct rte_flow_item *of; /**< item whose mask is copied, else NULL */
	struct rte_flow_error *error;
};

/** What has pointers, which are replaced. */
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
	uint16_t size; /**< of what its pointer leads to */
	/** Has the copy, or a scratch copy, point to copies; NULL: it has no pointers. */
	void (*own)(struct octo_spec_copier *c, union octo_spec_deep *copy);
	const char *refusal; /**< NULL: it can be copied */
};

/* octo_spec_row.c; NULL: of no DPDK that we know */
__rte_internal
const struct octo_spec_row *octo_spec_row_of_item(int type);
__rte_internal
const struct octo_spec_row *octo_spec_row_of_action(int type);

/* octo_spec.c */
__rte_internal
void octo_spec_refuse(struct octo_spec_copier *c, int code, const char *why);
/** Copy bytes, with zeros behind them up to `room`. Returns where they are; NULL: nowhere. */
__rte_internal
void *octo_spec_own(struct octo_spec_copier *c, const void *bytes, size_t len, size_t room);
__rte_internal
struct rte_flow_item *
octo_spec_own_pattern(struct octo_spec_copier *c, const struct rte_flow_item *from);
__rte_internal
struct rte_flow_action *
octo_spec_own_actions(struct octo_spec_copier *c, const struct rte_flow_action *from);

#endif /* OCTO_SPEC_ROW_H */
