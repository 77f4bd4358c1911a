/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <eal_export.h>

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

static bool
lacks_queues(const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *rss = action->conf;

	return action->type == RTE_FLOW_ACTION_TYPE_RSS && rss != NULL && rss->queue_num > 0 &&
	       rss->queue == NULL;
}

static int
check_actions(const struct rte_flow_action actions[], const struct rte_flow_action masks[],
	      struct rte_flow_error *error)
{
	for (unsigned int i = 0; i < OCTO_TEMPLATE_MAX; i++) {
		/* of an indirect action the mask tells the type of what is behind it */
		if (masks[i].type != actions[i].type &&
		    actions[i].type != RTE_FLOW_ACTION_TYPE_INDIRECT)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
						  &masks[i],
						  "the masks must list the types of the actions, "
						  "in the same order");
		/* copying would follow the missing list */
		if (lacks_queues(&actions[i]) || lacks_queues(&masks[i]))
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
						  &actions[i],
						  "the rss action has a number of queues, "
						  "but no queues");
		if (actions[i].type == RTE_FLOW_ACTION_TYPE_END)
			return 0;
	}
	return rte_flow_error_set(error, E2BIG, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
				  "an actions template holds 32 actions at most, end included");
}

static void *
copy(enum rte_flow_conv_op op, const void *src, struct rte_flow_error *error)
{
	const int size = rte_flow_conv(op, NULL, 0, src, error);
	void *dst;

	if (size < 0)
		return NULL;
	dst = calloc(1, size);
	if (dst == NULL)
		rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "no memory for the template");
	else
		rte_flow_conv(op, dst, size, src, error);
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
	new.masks = copy(RTE_FLOW_CONV_OP_ACTIONS, masks, error);
	if (new.masks == NULL) {
		ret = -rte_errno;
		free(new.actions);
		return ret;
	}
	*t = new;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_template_clear)
void
octo_template_clear(struct octo_template *t)
{
	free(t->pattern);
	free(t->actions);
	free(t->masks);
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

/* Of what the configuration itself has; what it points to is not looked at. */
static size_t
conf_size(const struct rte_flow_action *action)
{
	int size;

	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		return 0;
	case RTE_FLOW_ACTION_TYPE_RSS:
		return sizeof(struct rte_flow_action_rss);
	case RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP:
		return sizeof(struct rte_flow_action_vxlan_encap);
	case RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP:
		return sizeof(struct rte_flow_action_nvgre_encap);
	default:
		size = rte_flow_conv(RTE_FLOW_CONV_OP_ACTION, NULL, 0, action, NULL);
		return size < (int)sizeof(*action) ? 0 : size - sizeof(*action);
	}
}

static bool
is_constant(const struct rte_flow_action *action, const struct rte_flow_action *mask)
{
	const uint8_t *bytes = mask->conf;
	size_t size;

	if (bytes == NULL || action->conf == NULL)
		return false;
	size = conf_size(mask);
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return true;
	return false;
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
		actions[i] = is_constant(common, &t->masks[i]) ? *common : given[i];
		if (common->type == RTE_FLOW_ACTION_TYPE_END)
			return 0;
	}
}
