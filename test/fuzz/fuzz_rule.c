/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>

#include "fuzz_rule.h"

#define ANY_TYPE -1 /* the next byte names it */

/* Of what most patterns are, longest four. */
static const enum rte_flow_item_type stacks[][8] = {
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_TCP},
	{RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_TCP},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_VLAN, RTE_FLOW_ITEM_TYPE_IPV4,
	 RTE_FLOW_ITEM_TYPE_UDP},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_SCTP},
	{RTE_FLOW_ITEM_TYPE_ETH},
	{RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT, RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4,
	 RTE_FLOW_ITEM_TYPE_UDP},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP,
	 RTE_FLOW_ITEM_TYPE_VXLAN, RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4,
	 RTE_FLOW_ITEM_TYPE_TCP},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_ICMP},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_GRE,
	 RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP},
	{RTE_FLOW_ITEM_TYPE_END},
};

void *
fuzz_piece(struct fuzz_rule *rule, size_t size)
{
	void *piece = calloc(1, size);

	FUZZ_CHECK(piece != NULL && rule->nb_pieces < FUZZ_MAX_PIECES, "too much of a rule");
	rule->pieces[rule->nb_pieces++] = piece;
	return piece;
}

static void
read_pattern(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule)
{
	const uint8_t stack = fuzz_u8(in);

	if (stack < RTE_DIM(stacks))
		for (int i = 0; stacks[stack][i] != RTE_FLOW_ITEM_TYPE_END; i++)
			fuzz_item_read(in, names, rule, stacks[stack][i]);
	for (int more = fuzz_u8(in) & 3; more > 0; more--)
		fuzz_item_read(in, names, rule, ANY_TYPE);
	rule->items[rule->nb_items].type = RTE_FLOW_ITEM_TYPE_END;
}

static void
read_attr(struct fuzz_input *in, struct rte_flow_attr *attr)
{
	const uint8_t bits = fuzz_u8(in);

	attr->ingress = (bits & 1) == 0;
	attr->transfer = (bits & 2) != 0;
	attr->egress = (bits & 4) != 0;
	if (attr->transfer && (bits & 8) == 0)
		attr->ingress = 0;
	if ((bits & 16) != 0)
		attr->priority = fuzz_u8(in) & 7;
	if ((bits & 32) != 0)
		attr->group = fuzz_u8(in) & 3;
	if ((bits & 64) != 0)
		attr->priority = fuzz_u32(in);
	if ((bits & 128) != 0)
		attr->group = fuzz_u32(in);
}

static void
end_actions(struct fuzz_rule *rule)
{
	rule->actions[rule->nb_actions].type = RTE_FLOW_ACTION_TYPE_END;
}

void
fuzz_rule_read(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule)
{
	*rule = (struct fuzz_rule){.nb_items = 0};
	read_attr(in, &rule->attr);
	read_pattern(in, names, rule);
	for (int nb = 1 + (fuzz_u8(in) & 3); nb > 0; nb--)
		fuzz_action_read(in, names, rule);
	end_actions(rule);
}

void
fuzz_rule_read_action(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule)
{
	*rule = (struct fuzz_rule){.attr = {.ingress = 1}};
	read_attr(in, &rule->attr);
	fuzz_action_read(in, names, rule);
	end_actions(rule);
}

void
fuzz_rule_free(struct fuzz_rule *rule)
{
	for (unsigned int i = 0; i < rule->nb_pieces; i++)
		free(rule->pieces[i]);
	/* who kept a pointer to it is to notice */
	memset(rule, 0xa5, sizeof(*rule));
}

static void
print_bytes(const char *what, const void *bytes, size_t len)
{
	if (bytes == NULL)
		return;
	fprintf(stderr, " %s ", what);
	for (size_t i = 0; i < len; i++)
		fprintf(stderr, "%02x", ((const uint8_t *)bytes)[i]);
}

void
fuzz_rule_print(const struct fuzz_rule *rule)
{
	fprintf(stderr, "rule: group %u priority %u%s%s%s\n", rule->attr.group, rule->attr.priority,
		rule->attr.ingress ? " ingress" : "", rule->attr.egress ? " egress" : "",
		rule->attr.transfer ? " transfer" : "");
	for (unsigned int i = 0; i < rule->nb_items; i++) {
		const struct rte_flow_item *item = &rule->items[i];
		const size_t size = fuzz_item_size((int)item->type);

		fprintf(stderr, "  item %d", (int)item->type);
		print_bytes("spec", item->spec, size);
		print_bytes("last", item->last, size);
		print_bytes("mask", item->mask, size);
		fprintf(stderr, "\n");
	}
	for (unsigned int i = 0; i < rule->nb_actions; i++)
		fprintf(stderr, "  action %d%s\n", (int)rule->actions[i].type,
			rule->actions[i].conf == NULL ? " without configuration" : "");
}
