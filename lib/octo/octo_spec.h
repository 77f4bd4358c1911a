/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SPEC_H
#define OCTO_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

/**
 * @file
 * Copies of rules that own every byte: nothing in them points into the memory of
 * the application, but for the handles of indirect actions and the contexts of AGE
 * actions. An item or action that cannot be copied so is refused. Looks at no
 * device; any thread may call it.
 */

/** The largest copy, in bytes. */
#define OCTO_SPEC_MAX (1u << 20)
/** Lists within lists. */
#define OCTO_SPEC_DEPTH 4

/**
 * Copy a rule or a part of it, or only measure it.
 *
 * @param op
 *   What `from` is: RTE_FLOW_CONV_OP_PATTERN, _ACTION, _ACTIONS or _RULE, and
 *   accordingly what begins the copy. Of a rule NULL parts are left out.
 * @param to
 *   Memory aligned for any type, or NULL to measure.
 * @param size
 *   Bytes of `to`: what measuring returned.
 * @return
 *   The size of the copy in bytes, or a negative errno with *error filled:
 *   -ENOTSUP where something cannot be owned, -EINVAL where a list is missing,
 *   -E2BIG beyond OCTO_SPEC_MAX or OCTO_SPEC_DEPTH.
 */
__rte_internal
int octo_spec_copy(enum rte_flow_conv_op op, void *to, size_t size, const void *from,
		   struct rte_flow_error *error);

/** Bytes of an action's configuration without what it points to; 0 if it has none. */
__rte_internal
size_t octo_spec_conf_size(enum rte_flow_action_type type);

/** Bytes behind the pointer of an item's specification, by its own length. */
__rte_internal
size_t octo_spec_item_extra(const struct rte_flow_item *item);

/** The actions within an action, which are its alternatives; NULL if it has none. */
__rte_internal
const struct rte_flow_action *octo_spec_nested(const struct rte_flow_action *action);

#endif /* OCTO_SPEC_H */
