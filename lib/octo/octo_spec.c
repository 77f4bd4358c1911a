/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies rules into one block of memory. Measuring runs the same code, with the application's
 * memory in place of the copy, to which nothing is written.
 */

#include <errno.h>
#include <string.h>

#include <eal_export.h>
#include <rte_common.h>
#include <rte_debug.h>

#include "octo_spec.h"
#include "octo_spec_row.h"

/* Enough to copy a list, or to detect that it is too long. */
#define LIST_MAX (OCTO_SPEC_MAX / sizeof(struct rte_flow_action) + 1)

void
octo_spec_refuse(struct octo_spec_copier *c, int code, const char *why)
{
	if (c->ret == 0)
		c->ret = rte_flow_error_set(c->error, code, c->type, c->culprit, why);
}

void *
octo_spec_own(struct octo_spec_copier *c, const void *bytes, size_t len, size_t room)
{
	uint8_t *to;

	if (bytes == NULL || c->ret != 0)
		return NULL;
	if (room > OCTO_SPEC_MAX - c->used) {
		octo_spec_refuse(c, E2BIG, "the rule takes more than 1 MiB");
		return NULL;
	}
	to = c->to == NULL ? NULL : c->to + c->used;
	c->used += RTE_ALIGN_CEIL(room, sizeof(uint64_t));
	if (to == NULL)
		return (void *)(uintptr_t)bytes;
	memcpy(to, bytes, len);
	memset(to + len, 0, room - len);
	return to;
}

static bool
knows(struct octo_spec_copier *c, const struct octo_spec_row *row)
{
	if (row == NULL)
		octo_spec_refuse(c, ENOTSUP, "octo does not know this type and cannot keep a copy");
	else if (row->refusal != NULL)
		octo_spec_refuse(c, ENOTSUP, row->refusal);
	return c->ret == 0;
}

/* Copies the struct to which a pointer of an item or an action leads. */
static void *
own_struct(struct octo_spec_copier *c, const struct octo_spec_row *row, const void *from)
{
	union octo_spec_deep scratch;
	void *to;

	if (from == NULL || row->size == 0)
		return NULL;
	to = octo_spec_own(c, from, row->size, row->size);
	if (to == NULL || row->own == NULL)
		return to;
	if (c->to == NULL)
		row->own(c, memcpy(&scratch, from, row->size));
	else
		row->own(c, to);
	return to;
}

static bool
enter_list(struct octo_spec_copier *c)
{
	if (c->depth == OCTO_SPEC_DEPTH)
		octo_spec_refuse(c, E2BIG, "the rule has too many lists within lists");
	c->depth++;
	return c->ret == 0;
}

static void
own_item(struct octo_spec_copier *c, const struct rte_flow_item *from, struct rte_flow_item *to)
{
	const struct octo_spec_row *row = octo_spec_row_of_item((int)from->type);
	struct rte_flow_item item = {.type = from->type};

	c->type = RTE_FLOW_ERROR_TYPE_ITEM;
	c->culprit = from;
	if (!knows(c, row))
		return;
	item.spec = own_struct(c, row, from->spec);
	item.last = own_struct(c, row, from->last);
	c->of = from;
	item.mask = own_struct(c, row, from->mask);
	c->of = NULL;
	if (c->to != NULL)
		*to = item;
}

struct rte_flow_item *
octo_spec_own_pattern(struct octo_spec_copier *c, const struct rte_flow_item *from)
{
	struct rte_flow_item *to;
	size_t nb = 1;

	if (from == NULL || !enter_list(c))
		return NULL;
	while (from[nb - 1].type != RTE_FLOW_ITEM_TYPE_END && nb < LIST_MAX)
		nb++;
	to = octo_spec_own(c, from, nb * sizeof(*to), nb * sizeof(*to));
	for (size_t i = 0; i < nb && c->ret == 0; i++)
		own_item(c, &from[i], &to[i]);
	c->depth--;
	return to;
}

static void
own_action(struct octo_spec_copier *c, const struct rte_flow_action *from,
	   struct rte_flow_action *to)
{
	const struct octo_spec_row *row = octo_spec_row_of_action((int)from->type);
	struct rte_flow_action action = {.type = from->type};

	c->type = RTE_FLOW_ERROR_TYPE_ACTION;
	c->culprit = from;
	if (!knows(c, row))
		return;
	/* a handle is not a pointer to the application's memory */
	action.conf = from->type == RTE_FLOW_ACTION_TYPE_INDIRECT ? from->conf :
								    own_struct(c, row, from->conf);
	if (c->to != NULL)
		*to = action;
}

struct rte_flow_action *
octo_spec_own_actions(struct octo_spec_copier *c, const struct rte_flow_action *from)
{
	struct rte_flow_action *to;
	size_t nb = 1;

	if (from == NULL || !enter_list(c))
		return NULL;
	while (from[nb - 1].type != RTE_FLOW_ACTION_TYPE_END && nb < LIST_MAX)
		nb++;
	to = octo_spec_own(c, from, nb * sizeof(*to), nb * sizeof(*to));
	for (size_t i = 0; i < nb && c->ret == 0; i++)
		own_action(c, &from[i], &to[i]);
	c->depth--;
	return to;
}

static void
own_rule(struct octo_spec_copier *c, const struct rte_flow_conv_rule *from)
{
	struct rte_flow_conv_rule *to = octo_spec_own(c, from, sizeof(*from), sizeof(*from));
	struct rte_flow_conv_rule rule;

	rule.attr = octo_spec_own(c, from->attr_ro, sizeof(*rule.attr), sizeof(*rule.attr));
	rule.pattern = octo_spec_own_pattern(c, from->pattern_ro);
	rule.actions = octo_spec_own_actions(c, from->actions_ro);
	if (c->to != NULL)
		*to = rule;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_spec_copy)
int
octo_spec_copy(enum rte_flow_conv_op op, void *to, size_t size, const void *from,
	       struct rte_flow_error *error)
{
	struct octo_spec_copier c = {.to = to, .error = error};
	const size_t one = sizeof(struct rte_flow_action);

	c.type = RTE_FLOW_ERROR_TYPE_UNSPECIFIED;
	if (op == RTE_FLOW_CONV_OP_RULE)
		own_rule(&c, from);
	else if (op == RTE_FLOW_CONV_OP_PATTERN)
		octo_spec_own_pattern(&c, from);
	else if (op == RTE_FLOW_CONV_OP_ACTIONS)
		octo_spec_own_actions(&c, from);
	else
		own_action(&c, from, octo_spec_own(&c, from, one, one));
	RTE_VERIFY(to == NULL || c.used == size);
	return c.ret == 0 ? (int)c.used : c.ret;
}
