/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <eal_export.h>

#include "octo_spec.h"
#include "octo_template.h"

static int
check_pattern(const struct rte_flow_item pattern[], struct rte_flow_error *error)
{
	for (unsigned int i = 0; i < OCTO_TEMPLATE_MAX; i++)
		if (pattern[i].type == RTE_FLOW_ITEM_TYPE_END)
			return 0;
	return rte_flow_error_set(error, E2BIG, RTE_FLOW_ERROR_TYPE_ITEM_NUM, NULL,
				  "a pattern template holds 32 items at most, end included");
}

static int
check_actions(const struct rte_flow_action actions[], const struct rte_flow_action masks[],
	      struct rte_flow_error *error)
{
	for (unsigned int i = 0; i < OCTO_TEMPLATE_MAX; i++) {
		/* the mask of an indirect action has the type of the action behind it */
		const bool may_differ = actions[i].type == RTE_FLOW_ACTION_TYPE_INDIRECT &&
					masks[i].type != RTE_FLOW_ACTION_TYPE_END;

		if (masks[i].type != actions[i].type && !may_differ)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
						  &masks[i],
						  "the masks must list the types of the actions, "
						  "in the same order");
		if (actions[i].type == RTE_FLOW_ACTION_TYPE_END)
			return 0;
	}
	return rte_flow_error_set(error, E2BIG, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
				  "an actions template holds 32 actions at most, end included");
}

static void *
copy(enum rte_flow_conv_op op, const void *src, struct rte_flow_error *error)
{
	const int size = octo_spec_copy(op, NULL, 0, src, error);
	void *dst;

	if (size < 0)
		return NULL;
	dst = malloc(size);
	if (dst == NULL)
		rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "no memory for the template");
	else
		octo_spec_copy(op, dst, size, src, NULL);
	return dst;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_template_set_pattern)
int
octo_template_set_pattern(struct octo_template *t, const struct rte_flow_item pattern[],
			  struct rte_flow_error *error)
{
	struct octo_template new = {0};
	int ret = check_pattern(pattern, error);

	if (ret != 0)
		return ret;
	new.pattern = copy(RTE_FLOW_CONV_OP_PATTERN, pattern, error);
	if (new.pattern == NULL)
		return -rte_errno;
	*t = new;
	return 0;
}

/*
 * Is any byte of the mask's conf set? A mask has the format of a conf; its pointers only tell
 * whether the action is constant.
 */
static bool
is_constant(const struct rte_flow_action *action, const struct rte_flow_action *mask)
{
	const uint8_t *bytes = mask->conf;
	const size_t size = octo_spec_conf_size(mask->type);

	if (bytes == NULL || action->conf == NULL)
		return false;
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return true;
	return false;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_template_set_actions)
int
octo_template_set_actions(struct octo_template *t, const struct rte_flow_action actions[],
			  const struct rte_flow_action masks[], struct rte_flow_error *error)
{
	struct octo_template new = {0};
	int ret = check_actions(actions, masks, error);

	if (ret != 0)
		return ret;
	new.actions = copy(RTE_FLOW_CONV_OP_ACTIONS, actions, error);
	if (new.actions == NULL)
		return -rte_errno;
	for (unsigned int i = 0; actions[i].type != RTE_FLOW_ACTION_TYPE_END; i++)
		if (is_constant(&actions[i], &masks[i]))
			new.constant |= RTE_BIT32(i);
	*t = new;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_template_clear)
void
octo_template_clear(struct octo_template *t)
{
	free(t->pattern);
	free(t->actions);
	*t = (struct octo_template){0};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_template_fill_pattern)
int
octo_template_fill_pattern(const struct octo_template *t, const struct rte_flow_item given[],
			   struct rte_flow_item pattern[OCTO_TEMPLATE_MAX],
			   struct rte_flow_error *error)
{
	for (unsigned int i = 0;; i++) {
		const struct rte_flow_item *common = &t->pattern[i];

		if (given[i].type != common->type)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
						  &given[i],
						  "the items of the rule must be those of its "
						  "pattern template, in the same order");
		if (given[i].spec == NULL && common->mask != NULL)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC,
						  &given[i],
						  "the pattern template has a mask for this item: "
						  "give a value");
		/* the mask is as long as the template's spec */
		if (given[i].spec != NULL && common->spec != NULL && common->mask != NULL &&
		    octo_spec_item_extra(&given[i]) != octo_spec_item_extra(common))
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC,
						  &given[i],
						  "the value has another length than that of the "
						  "pattern template");
		pattern[i] = (struct rte_flow_item){
			.type = common->type,
			.spec = given[i].spec,
			.last = given[i].spec == NULL ? NULL : common->last,
			.mask = common->mask,
		};
		if (common->type == RTE_FLOW_ITEM_TYPE_END)
			return 0;
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_template_fill_actions)
int
octo_template_fill_actions(const struct octo_template *t, const struct rte_flow_action given[],
			   struct rte_flow_action actions[OCTO_TEMPLATE_MAX],
			   struct rte_flow_error *error)
{
	for (unsigned int i = 0;; i++) {
		const struct rte_flow_action *common = &t->actions[i];

		if (given[i].type != common->type)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
						  &given[i],
						  "the actions of the rule must be those of its "
						  "actions template, in the same order");
		actions[i] = (t->constant & RTE_BIT32(i)) != 0 ? *common : given[i];
		if (common->type == RTE_FLOW_ACTION_TYPE_END)
			return 0;
	}
}
