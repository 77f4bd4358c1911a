/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <eal_export.h>

#include "octo_flow_parse.h"

/* Position in the pattern: each item must advance it. */
enum stage {
	STAGE_PORT,
	STAGE_L2,
	STAGE_L3,
	STAGE_L4,
	STAGE_DONE,
};

struct reader {
	struct octo_flow_spec spec;
	enum stage stage;
	bool has_fate;
	struct rte_flow_error *error;
};

static int
refuse_item(struct reader *r, int code, const struct rte_flow_item *item, const char *why)
{
	return rte_flow_error_set(r->error, code, RTE_FLOW_ERROR_TYPE_ITEM, item, why);
}

static int
refuse_action(struct reader *r, int code, const struct rte_flow_action *action, const char *why)
{
	return rte_flow_error_set(r->error, code, RTE_FLOW_ERROR_TYPE_ACTION, action, why);
}

static bool
all_bytes_are(const void *mem, size_t len, uint8_t value)
{
	const uint8_t *p = mem;

	for (size_t i = 0; i < len; i++)
		if (p[i] != value)
			return false;
	return true;
}

/* A matched field of an item: the mask must cover it, and its value is copied to `to`. */
struct field {
	size_t offset; /* in the item's spec and mask */
	size_t len;
	void *to;
};

/*
 * Copy the fields of an item, whose mask must be all ones on them and all zeros elsewhere.
 * Without a mask the item's default mask is used, and has to pass the same check.
 */
static int
read_exact(struct reader *r, const struct rte_flow_item *item, const void *default_mask,
	   size_t size, const struct field *fields, size_t nb_fields)
{
	const uint8_t *mask = item->mask != NULL ? item->mask : default_mask;
	const uint8_t *spec = item->spec;
	uint8_t rest[sizeof(struct rte_flow_item_ipv6)];

	if (spec == NULL)
		return refuse_item(
			r, ENOTSUP, item,
			"addresses and ports must all be given: only exact 5-tuples are steered");
	if (item->last != NULL)
		return refuse_item(r, ENOTSUP, item,
				   "ranges (last) are not supported: give one value");
	memcpy(rest, mask, size);
	for (size_t i = 0; i < nb_fields; i++) {
		if (!all_bytes_are(mask + fields[i].offset, fields[i].len, 0xff))
			return refuse_item(
				r, ENOTSUP, item,
				"addresses and ports must be matched in full (mask all ones)");
		memset(rest + fields[i].offset, 0, fields[i].len);
		memcpy(fields[i].to, spec + fields[i].offset, fields[i].len);
	}
	if (!all_bytes_are(rest, size, 0))
		return refuse_item(r, ENOTSUP, item,
				   "only the addresses and the ports of this item can be matched");
	return 0;
}

static int
read_port(struct reader *r, const struct rte_flow_item *item)
{
	const struct rte_flow_item_ethdev *spec = item->spec;
	const struct rte_flow_item_ethdev *mask = item->mask;

	if (!r->spec.transfer)
		return refuse_item(r, EINVAL, item,
				   "REPRESENTED_PORT needs the transfer attribute");
	if (spec == NULL || item->last != NULL || (mask != NULL && mask->port_id != UINT16_MAX))
		return refuse_item(r, ENOTSUP, item,
				   "REPRESENTED_PORT must name exactly one ethdev port");
	r->spec.from_port = spec->port_id;
	r->stage = STAGE_L2;
	return 0;
}

static int
read_eth(struct reader *r, const struct rte_flow_item *item)
{
	const struct rte_flow_item_eth *mask = item->mask;

	if (item->spec != NULL && (mask == NULL || !all_bytes_are(mask, sizeof(*mask), 0)))
		return refuse_item(r, ENOTSUP, item, "Ethernet fields cannot be matched here");
	/* a range without spec and mask is invalid, and is not corrected here */
	if (item->last != NULL)
		return refuse_item(r, ENOTSUP, item, "a range of Ethernet fields is not matched");
	r->stage = STAGE_L3;
	return 0;
}

static int
read_ipv4(struct reader *r, const struct rte_flow_item *item)
{
	const struct field fields[] = {
		{offsetof(struct rte_flow_item_ipv4, hdr.src_addr), 4, r->spec.tuple.src},
		{offsetof(struct rte_flow_item_ipv4, hdr.dst_addr), 4, r->spec.tuple.dst},
	};

	r->spec.tuple.family = OCTO_IPV4;
	r->stage = STAGE_L4;
	return read_exact(r, item, &rte_flow_item_ipv4_mask, sizeof(struct rte_flow_item_ipv4),
			  fields, RTE_DIM(fields));
}

static int
read_ipv6(struct reader *r, const struct rte_flow_item *item)
{
	const struct field fields[] = {
		{offsetof(struct rte_flow_item_ipv6, hdr.src_addr), 16, r->spec.tuple.src},
		{offsetof(struct rte_flow_item_ipv6, hdr.dst_addr), 16, r->spec.tuple.dst},
	};

	r->spec.tuple.family = OCTO_IPV6;
	r->stage = STAGE_L4;
	return read_exact(r, item, &rte_flow_item_ipv6_mask, sizeof(struct rte_flow_item_ipv6),
			  fields, RTE_DIM(fields));
}

/* TCP, UDP and SCTP headers all begin with source and destination port. */
static int
read_l4(struct reader *r, const struct rte_flow_item *item, uint8_t proto, const void *default_mask,
	size_t size)
{
	const struct field fields[] = {
		{0, sizeof(rte_be16_t), &r->spec.tuple.src_port},
		{sizeof(rte_be16_t), sizeof(rte_be16_t), &r->spec.tuple.dst_port},
	};

	r->spec.tuple.proto = proto;
	r->stage = STAGE_DONE;
	return read_exact(r, item, default_mask, size, fields, RTE_DIM(fields));
}

static int
read_item(struct reader *r, const struct rte_flow_item *item)
{
	switch (item->type) {
	case RTE_FLOW_ITEM_TYPE_VOID:
		return 0;
	case RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT:
		if (r->stage == STAGE_PORT)
			return read_port(r, item);
		break;
	case RTE_FLOW_ITEM_TYPE_ETH:
		if (r->stage <= STAGE_L2)
			return read_eth(r, item);
		break;
	case RTE_FLOW_ITEM_TYPE_IPV4:
		if (r->stage <= STAGE_L3)
			return read_ipv4(r, item);
		break;
	case RTE_FLOW_ITEM_TYPE_IPV6:
		if (r->stage <= STAGE_L3)
			return read_ipv6(r, item);
		break;
	case RTE_FLOW_ITEM_TYPE_TCP:
		if (r->stage == STAGE_L4)
			return read_l4(r, item, IPPROTO_TCP, &rte_flow_item_tcp_mask,
				       sizeof(struct rte_flow_item_tcp));
		break;
	case RTE_FLOW_ITEM_TYPE_UDP:
		if (r->stage == STAGE_L4)
			return read_l4(r, item, IPPROTO_UDP, &rte_flow_item_udp_mask,
				       sizeof(struct rte_flow_item_udp));
		break;
	case RTE_FLOW_ITEM_TYPE_SCTP:
		if (r->stage == STAGE_L4)
			return read_l4(r, item, IPPROTO_SCTP, &rte_flow_item_sctp_mask,
				       sizeof(struct rte_flow_item_sctp));
		break;
	default:
		break;
	}
	return refuse_item(
		r, ENOTSUP, item,
		"unsupported item here: the pattern must be eth / ipv4 or ipv6 / tcp, udp or sctp");
}

static int
read_pattern(struct reader *r, const struct rte_flow_item *item)
{
	int ret;

	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		ret = read_item(r, item);
		if (ret != 0)
			return ret;
	}
	/* only packets from a port of the switch can be matched without a 5-tuple */
	r->spec.match_all = r->spec.from_port != OCTO_NO_PORT && r->stage < STAGE_L4;
	if (r->stage != STAGE_DONE && !r->spec.match_all)
		return refuse_item(
			r, ENOTSUP, item,
			"the pattern ends too early: eth / ipv4|ipv6 / tcp|udp|sctp is needed");
	return 0;
}

static bool
is_port(enum octo_fate fate)
{
	return fate == OCTO_FATE_PORT_REPRESENTOR || fate == OCTO_FATE_REPRESENTED_PORT;
}

static int
set_fate(struct reader *r, const struct rte_flow_action *action, enum octo_fate fate)
{
	if (r->has_fate)
		return refuse_action(r, EINVAL, action,
				     "only one of queue, drop, port_representor and "
				     "represented_port can be given");
	if (r->spec.transfer != is_port(fate))
		return refuse_action(r, ENOTSUP, action,
				     "port_representor goes with transfer, and so does "
				     "represented_port; queue and drop with ingress");
	if (r->spec.match_all && fate != OCTO_FATE_REPRESENTED_PORT)
		return refuse_action(r, ENOTSUP, action,
				     "a rule without a 5-tuple must send to a represented_port");
	if (action->conf == NULL && fate != OCTO_FATE_DROP)
		return refuse_action(r, EINVAL, action, "the action has no configuration");
	r->spec.fate = fate;
	r->has_fate = true;
	return 0;
}

static int
read_queue(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_queue *conf = action->conf;
	int ret = set_fate(r, action, OCTO_FATE_QUEUE);

	if (ret == 0)
		r->spec.queue = conf->index;
	return ret;
}

static int
read_to_port(struct reader *r, const struct rte_flow_action *action, enum octo_fate fate)
{
	const struct rte_flow_action_ethdev *conf = action->conf;
	int ret = set_fate(r, action, fate);

	if (ret == 0)
		r->spec.to_port = conf->port_id;
	return ret;
}

static int
read_count(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_count *conf = action->conf;

	if (r->spec.count)
		return refuse_action(r, ENOTSUP, action, "only one count action can be given");
	r->spec.count = true;
	r->spec.count_id = conf != NULL ? conf->id : 0;
	return 0;
}

static int
read_action(struct reader *r, const struct rte_flow_action *action)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_VOID:
		return 0;
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return read_queue(r, action);
	case RTE_FLOW_ACTION_TYPE_DROP:
		return set_fate(r, action, OCTO_FATE_DROP);
	case RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR:
		return read_to_port(r, action, OCTO_FATE_PORT_REPRESENTOR);
	case RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT:
		return read_to_port(r, action, OCTO_FATE_REPRESENTED_PORT);
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return read_count(r, action);
	default:
		return refuse_action(r, ENOTSUP, action,
				     "unsupported action: queue, drop, port_representor, "
				     "represented_port and count are known");
	}
}

static int
read_actions(struct reader *r, const struct rte_flow_action *action)
{
	int ret;

	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		ret = read_action(r, action);
		if (ret != 0)
			return ret;
	}
	if (!r->has_fate)
		return refuse_action(
			r, EINVAL, action,
			"the rule says nothing to do with the packet: add a queue action");
	return 0;
}

static int
read_attr(struct reader *r, const struct rte_flow_attr *attr)
{
	if (attr->group != 0)
		return rte_flow_error_set(r->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, attr,
					  "only group 0 is supported");
	if (attr->egress)
		return rte_flow_error_set(r->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
					  "egress rules are not supported");
	if (attr->transfer == attr->ingress)
		return rte_flow_error_set(r->error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, attr,
					  "exactly one of ingress and transfer is needed");
	r->spec.transfer = attr->transfer;
	r->spec.priority = attr->priority;
	return 0;
}

/* ethdev passes on whatever the application gives. */
static int
check_given(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	    const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	if (attr == NULL)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR, NULL,
					  "the attributes are missing");
	if (pattern == NULL)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_NUM, NULL,
					  "the pattern is missing");
	if (actions == NULL)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
					  "the actions are missing");
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_parse)
int
octo_flow_parse(const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		const struct rte_flow_action actions[], struct octo_flow_spec *spec,
		struct rte_flow_error *error)
{
	struct reader r = {
		.spec = {.from_port = OCTO_NO_PORT, .to_port = OCTO_NO_PORT},
		.error = error,
	};
	int ret;

	ret = check_given(attr, pattern, actions, error);
	if (ret == 0)
		ret = read_attr(&r, attr);
	if (ret == 0)
		ret = read_pattern(&r, pattern);
	if (ret == 0)
		ret = read_actions(&r, actions);
	if (ret == 0)
		*spec = r.spec;
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_flow_parse_tuple)
int
octo_flow_parse_tuple(const struct rte_flow_item pattern[], struct octo_tuple *tuple)
{
	struct reader r = {.spec = {.from_port = OCTO_NO_PORT, .to_port = OCTO_NO_PORT}};
	int ret = read_pattern(&r, pattern);

	if (ret == 0)
		*tuple = r.spec.tuple;
	return ret;
}
