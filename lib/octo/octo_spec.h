/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SPEC_H
#define OCTO_SPEC_H

#include <stddef.h>

#include <rte_compat.h>
#include <rte_flow.h>

/**
 * @file
 * Deep copies of rules: nothing in them points into the memory of the application, except
 * handles of indirect actions and contexts of AGE actions. An item or action that cannot be
 * copied like this is refused. Accesses no device; any thread may call these functions.
 */

/** The largest copy, in bytes. */
#define OCTO_SPEC_MAX (1u << 20)
/** Maximum depth of nested lists. */
#define OCTO_SPEC_DEPTH 4

/**
 * Copy a rule or a part of it, or only measure it.
 *
 * @param op
 *   Type of `from`: RTE_FLOW_CONV_OP_PATTERN, _ACTION, _ACTIONS or _RULE; the copy begins with
 *   the same type. NULL parts of a rule are left out.
 * @param to
 *   Memory aligned for any type, or NULL to measure.
 * @param size
 *   Bytes of `to`: the result of measuring.
 * @return
 *   The size of the copy in bytes, or a negative errno with *error filled: -ENOTSUP if a type
 *   cannot be copied, -EINVAL if memory or a length that a part refers to is missing, -E2BIG
 *   beyond OCTO_SPEC_MAX or OCTO_SPEC_DEPTH.
 */
__rte_internal
int octo_spec_copy(enum rte_flow_conv_op op, void *to, size_t size, const void *from,
		   struct rte_flow_error *error);

/** Bytes of an action's configuration without what it points to; 0 if it has none. */
size_t octo_spec_conf_size(enum rte_flow_action_type type);

/** Bytes behind the pointer of an item's spec, according to the spec's own length. */
size_t octo_spec_item_extra(const struct rte_flow_item *item);

/** The action list nested in an action; NULL if it has none. */
__rte_internal
const struct rte_flow_action *octo_spec_nested(const struct rte_flow_action *action);

/** Position in an action list, and in the lists nested in it; it begins at next[0], depth 0. */
struct octo_spec_walk {
	const struct rte_flow_action *next[OCTO_SPEC_DEPTH]; /**< of the list, and of nested ones */
	unsigned int depth;
};

/**
 * Go on to the next action of the list or of one nested in it. No copy has lists nested deeper than
 * OCTO_SPEC_DEPTH; those are left out.
 *
 * @return
 *   The action, an action that has a list before those of the list; NULL at the end.
 */
__rte_internal
const struct rte_flow_action *octo_spec_walk_next(struct octo_spec_walk *w);

/** All actions of a list and of those nested in it; action is the name of a variable. */
#define OCTO_SPEC_FOREACH(action, list)                                                            \
	for (struct octo_spec_walk action##_walk = {.next = {list}};                               \
	     ((action) = octo_spec_walk_next(&action##_walk)) != NULL;)

#endif /* OCTO_SPEC_H */
