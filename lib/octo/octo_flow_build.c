/* SPDX-License-Identifier: BSD-3-Clause */

#include <netinet/in.h>
#include <string.h>

#include <eal_export.h>

#include "octo_flow_build.h"

/* A tuple is written as spec, and its mask as mask: only their addresses are used. */
static struct rte_flow_item
build_l3(struct octo_flow_rule *rule, const struct octo_tuple *t, const struct octo_tuple *mask)
{
	struct rte_flow_item item = {.spec = &rule->l3, .mask = &rule->l3_mask};

	if (t->family == OCTO_IPV4) {
		item.type = RTE_FLOW_ITEM_TYPE_IPV4;
		memcpy(&rule->l3.v4.hdr.src_addr, t->src, 4);
		memcpy(&rule->l3.v4.hdr.dst_addr, t->dst, 4);
		memcpy(&rule->l3_mask.v4.hdr.src_addr, mask->src, 4);
		memcpy(&rule->l3_mask.v4.hdr.dst_addr, mask->dst, 4);
	} else {
		item.type = RTE_FLOW_ITEM_TYPE_IPV6;
		memcpy(&rule->l3.v6.hdr.src_addr, t->src, 16);
		memcpy(&rule->l3.v6.hdr.dst_addr, t->dst, 16);
		memcpy(&rule->l3_mask.v6.hdr.src_addr, mask->src, 16);
		memcpy(&rule->l3_mask.v6.hdr.dst_addr, mask->dst, 16);
	}
	return item;
}

static enum rte_flow_item_type
l4_type(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return RTE_FLOW_ITEM_TYPE_TCP;
	case IPPROTO_UDP:
		return RTE_FLOW_ITEM_TYPE_UDP;
	default:
		return RTE_FLOW_ITEM_TYPE_SCTP;
	}
}

/* TCP, UDP and SCTP headers all begin with source and destination port. */
static struct rte_flow_item
build_l4(struct octo_flow_rule *rule, const struct octo_tuple *t)
{
	rte_be16_t ports[2] = {t->src_port, t->dst_port};

	memcpy(&rule->l4, ports, sizeof(ports));
	memset(&rule->l4_mask, 0xff, sizeof(ports));
	return (struct rte_flow_item){
		.type = l4_type(t->proto), .spec = &rule->l4, .mask = &rule->l4_mask};
}

/* Returns the next free item of the pattern. */
static struct rte_flow_item *
build_tuple(struct octo_flow_rule *rule, struct rte_flow_item *item, const struct octo_tuple *t)
{
	struct octo_tuple exact;

	memset(&exact, 0xff, sizeof(exact));
	*item++ = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_ETH};
	*item++ = build_l3(rule, t, &exact);
	*item++ = build_l4(rule, t);
	return item;
}

static void
build_actions(struct octo_flow_rule *rule, struct rte_flow_action fate, bool count)
{
	struct rte_flow_action *action = rule->actions;

	if (count)
		*action++ = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_COUNT,
						     .conf = &rule->count};
	*action++ = fate;
	*action = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_END};
}

static void
build_ingress(struct octo_flow_rule *rule, const struct octo_tuple *tuple, uint32_t priority)
{
	struct rte_flow_item *item = rule->pattern;

	memset(rule, 0, sizeof(*rule));
	rule->attr.ingress = 1;
	rule->attr.priority = priority;
	item = build_tuple(rule, item, tuple);
	*item = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_END};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_build_queue)
void
octo_flow_build_queue(struct octo_flow_rule *rule, const struct octo_tuple *tuple,
		      uint32_t priority, uint16_t queue, bool count)
{
	build_ingress(rule, tuple, priority);
	rule->queue.index = queue;
	build_actions(
		rule,
		(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &rule->queue},
		count);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_build_indirect)
void
octo_flow_build_indirect(struct octo_flow_rule *rule, const struct octo_tuple *tuple,
			 uint32_t priority, const struct rte_flow_action_handle *handle, bool count)
{
	build_ingress(rule, tuple, priority);
	build_actions(
		rule,
		(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = handle},
		count);
}

/* Begins a transfer rule; returns the next free item of the pattern. */
static struct rte_flow_item *
begin_transfer(struct octo_flow_rule *rule, enum octo_dialect_id dialect, uint32_t priority,
	       uint16_t from_port)
{
	const enum rte_flow_item_type from = octo_dialect_get(dialect)->from;
	struct rte_flow_item *item = rule->pattern;

	memset(rule, 0, sizeof(*rule));
	rule->attr.transfer = 1;
	rule->attr.priority = priority;
	if (from == RTE_FLOW_ITEM_TYPE_END)
		return item;
	rule->from.port_id = from_port;
	*item++ = (struct rte_flow_item){
		.type = from, .spec = &rule->from, .mask = &rte_flow_item_ethdev_mask};
	return item;
}

/* Ends a transfer rule. */
static void
end_transfer(struct octo_flow_rule *rule, enum octo_dialect_id dialect, struct rte_flow_item *item,
	     uint16_t to_port, bool count)
{
	const enum rte_flow_action_type to = octo_dialect_get(dialect)->to;

	*item = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_END};
	rule->to.port_id = to_port;
	build_actions(rule, (struct rte_flow_action){.type = to, .conf = &rule->to}, count);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_build_transfer)
void
octo_flow_build_transfer(struct octo_flow_rule *rule, enum octo_dialect_id dialect,
			 const struct octo_tuple *tuple, uint32_t priority, uint16_t from_port,
			 uint16_t to_port, bool count)
{
	struct rte_flow_item *item = begin_transfer(rule, dialect, priority, from_port);

	if (tuple != NULL)
		item = build_tuple(rule, item, tuple);
	end_transfer(rule, dialect, item, to_port, count);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_build_to_pf)
void
octo_flow_build_to_pf(struct octo_flow_rule *rule, enum octo_dialect_id dialect,
		      uint16_t ether_type, uint32_t priority, uint16_t from_port, uint16_t to_port)
{
	struct rte_flow_item *item = begin_transfer(rule, dialect, priority, from_port);

	if (ether_type != 0) {
		rule->l3.eth.hdr.ether_type = rte_cpu_to_be_16(ether_type);
		rule->l3_mask.eth.hdr.ether_type = UINT16_MAX;
		*item++ = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_ETH,
						 .spec = &rule->l3.eth,
						 .mask = &rule->l3_mask.eth};
	}
	end_transfer(rule, dialect, item, to_port, false);
}

/* A tuple of which only the last 32 bits of each address are set. */
static struct octo_tuple
low_bits(enum octo_tuple_family family, uint32_t src, uint32_t dst)
{
	const rte_be32_t be[] = {rte_cpu_to_be_32(src), rte_cpu_to_be_32(dst)};
	struct octo_tuple t = {.family = (uint8_t)family};
	const size_t at = octo_tuple_addr_len(&t) - sizeof(be[0]);

	memcpy(t.src + at, &be[0], sizeof(be[0]));
	memcpy(t.dst + at, &be[1], sizeof(be[1]));
	return t;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_build_masked)
void
octo_flow_build_masked(struct octo_flow_rule *rule, enum octo_dialect_id dialect,
		       enum octo_tuple_family family, const struct octo_partition_rule *masked,
		       uint32_t priority, uint16_t from_port, uint16_t to_port, bool count)
{
	const struct octo_tuple t = low_bits(family, masked->src, masked->dst);
	const struct octo_tuple mask = low_bits(family, masked->src_mask, masked->dst_mask);
	struct rte_flow_item *item = begin_transfer(rule, dialect, priority, from_port);

	*item++ = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_ETH};
	*item++ = build_l3(rule, &t, &mask);
	end_transfer(rule, dialect, item, to_port, count);
}
