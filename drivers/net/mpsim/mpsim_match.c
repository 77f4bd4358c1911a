/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "mpsim_items.h"
#include "mpsim_range.h"

/* Fields for which a rule may have a range. */
static const struct field {
	enum rte_flow_item_type type;
	uint8_t at;
	uint8_t len;
} fields[] = {
	{RTE_FLOW_ITEM_TYPE_ETH, 0, 6},     {RTE_FLOW_ITEM_TYPE_ETH, 6, 6},
	{RTE_FLOW_ITEM_TYPE_ETH, 12, 2},    {RTE_FLOW_ITEM_TYPE_VLAN, 0, 2},
	{RTE_FLOW_ITEM_TYPE_VLAN, 2, 2},    {RTE_FLOW_ITEM_TYPE_IPV4, 1, 1},
	{RTE_FLOW_ITEM_TYPE_IPV4, 2, 2},    {RTE_FLOW_ITEM_TYPE_IPV4, 4, 2},
	{RTE_FLOW_ITEM_TYPE_IPV4, 6, 2},    {RTE_FLOW_ITEM_TYPE_IPV4, 8, 1},
	{RTE_FLOW_ITEM_TYPE_IPV4, 9, 1},    {RTE_FLOW_ITEM_TYPE_IPV4, 12, 4},
	{RTE_FLOW_ITEM_TYPE_IPV4, 16, 4},   {RTE_FLOW_ITEM_TYPE_IPV6, 0, 4},
	{RTE_FLOW_ITEM_TYPE_IPV6, 4, 2},    {RTE_FLOW_ITEM_TYPE_IPV6, 6, 1},
	{RTE_FLOW_ITEM_TYPE_IPV6, 7, 1},    {RTE_FLOW_ITEM_TYPE_IPV6, 16, 8},
	{RTE_FLOW_ITEM_TYPE_IPV6, 32, 8},   {RTE_FLOW_ITEM_TYPE_TCP, 0, 2},
	{RTE_FLOW_ITEM_TYPE_TCP, 2, 2},     {RTE_FLOW_ITEM_TYPE_TCP, 13, 1},
	{RTE_FLOW_ITEM_TYPE_TCP, 14, 2},    {RTE_FLOW_ITEM_TYPE_UDP, 0, 2},
	{RTE_FLOW_ITEM_TYPE_UDP, 2, 2},     {RTE_FLOW_ITEM_TYPE_UDP, 4, 2},
	{RTE_FLOW_ITEM_TYPE_SCTP, 0, 2},    {RTE_FLOW_ITEM_TYPE_SCTP, 2, 2},
	{RTE_FLOW_ITEM_TYPE_ICMP, 0, 1},    {RTE_FLOW_ITEM_TYPE_ICMP, 1, 1},
	{RTE_FLOW_ITEM_TYPE_ICMP6, 0, 1},   {RTE_FLOW_ITEM_TYPE_ICMP6, 1, 1},
	{RTE_FLOW_ITEM_TYPE_VXLAN, 4, 3},   {RTE_FLOW_ITEM_TYPE_GENEVE, 4, 3},
	{RTE_FLOW_ITEM_TYPE_NVGRE, 4, 3},   {RTE_FLOW_ITEM_TYPE_GRE, 2, 2},
	{RTE_FLOW_ITEM_TYPE_GRE_KEY, 0, 4},
};

/* An item that is being parsed: its three structures, and the offset of its header in the key. */
struct header {
	const struct mpsim_item *kind;
	const uint8_t *spec;
	const uint8_t *last;
	const uint8_t *mask;
	size_t at;
};

static uint64_t
number_at(const uint8_t *p, const uint8_t *mask, unsigned int len)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < len; i++)
		v = v << 8 | (p[i] & mask[i]);
	return v;
}

static void
put_number(uint64_t v, unsigned int len, uint8_t *p)
{
	for (unsigned int i = len; i > 0; i--, v >>= 8)
		p[i - 1] = v & 0xff;
}

static uint8_t *
bytes_of(struct mpsim_key *key)
{
	return (uint8_t *)key;
}

static int
add_range(struct mpsim_reader *r, const struct rte_flow_item *item, const struct header *h,
	  const struct field *f)
{
	const uint64_t mask = number_at(h->mask + f->at, h->mask + f->at, f->len);
	const uint64_t lo = number_at(h->spec + f->at, h->mask + f->at, f->len);
	const uint64_t hi = number_at(h->last + f->at, h->mask + f->at, f->len);
	const unsigned int shift = mask == 0 ? 0 : rte_bsf64(mask);
	const uint64_t ones = mask >> shift;
	struct mpsim_match *m = r->match;

	if (hi == 0 || hi == lo)
		return 0;
	if (hi < lo)
		return refuse_at(r, EINVAL, item, h->kind->name, "the range ends before it starts");
	if ((ones & (ones + 1)) != 0)
		return refuse_at(r, ENOTSUP, item, h->kind->name,
				 "a range needs a mask without gaps");
	if (m->nb_ranges == MPSIM_MATCH_RANGES)
		return refuse_at(r, ENOTSUP, item, h->kind->name,
				 "a rule can have four ranges, no more");
	m->range[m->nb_ranges++] = (struct mpsim_range){
		.at = h->at + f->at,
		.len = f->len,
		.shift = shift,
		.width = mask == 0 ? 0 : rte_fls_u64(ones),
		.lo = lo >> shift,
		.hi = hi >> shift,
		.count = mpsim_range_count(lo >> shift, hi >> shift),
	};
	for (unsigned int i = 0; i < f->len; i++) {
		bytes_of(&m->mask)[h->at + f->at + i] &= ~h->mask[f->at + i];
		bytes_of(&m->value)[h->at + f->at + i] &= ~h->mask[f->at + i];
	}
	return 0;
}

/* Except in the fields above, `last` must be equal to `spec`, or zero. */
static int
check_last(struct mpsim_reader *r, const struct rte_flow_item *item, const struct header *h)
{
	uint8_t rest[sizeof(struct mpsim_layer)];

	memcpy(rest, h->mask, h->kind->header);
	for (unsigned int i = 0; i < RTE_DIM(fields); i++)
		if (fields[i].type == item->type)
			memset(rest + fields[i].at, 0, fields[i].len);
	for (unsigned int i = 0; i < h->kind->header; i++)
		if ((h->last[i] & rest[i]) != 0 && ((h->last[i] ^ h->spec[i]) & rest[i]) != 0)
			return refuse_at(r, ENOTSUP, item, h->kind->name,
					 "no ranges (last) of this field: give a value or a mask");
	return 0;
}

static int
read_ranges(struct mpsim_reader *r, const struct rte_flow_item *item, const struct header *h)
{
	int ret = check_last(r, item, h);

	for (unsigned int i = 0; ret == 0 && i < RTE_DIM(fields); i++)
		if (fields[i].type == item->type)
			ret = add_range(r, item, h, &fields[i]);
	return ret;
}

static int
read_header(struct mpsim_reader *r, const struct rte_flow_item *item, const struct mpsim_item *kind)
{
	struct header h = {
		.kind = kind,
		.spec = item->spec,
		.last = item->last,
		.mask = item->mask != NULL ? item->mask : kind->mask,
		.at = kind->at,
	};

	if (!kind->in_key)
		h.at += offsetof(struct mpsim_key, layer[0]) +
			r->level * sizeof(struct mpsim_layer);
	if (item->type == RTE_FLOW_ITEM_TYPE_VLAN)
		h.at += r->tags * sizeof(r->match->value.layer[0].vlan[0]);
	for (unsigned int i = 0; i < kind->header; i++) {
		bytes_of(&r->match->mask)[h.at + i] |= h.mask[i];
		bytes_of(&r->match->value)[h.at + i] |= h.spec[i] & h.mask[i];
	}
	return h.last != NULL ? read_ranges(r, item, &h) : 0;
}

static int
check_place(struct mpsim_reader *r, const struct rte_flow_item *item, const struct mpsim_item *kind)
{
	if ((kind->after & r->stage) == 0)
		return refuse_at(r, EINVAL, item, kind->name,
				 "not in this place: [represented_port /] eth / vlan / ipv4|ipv6 "
				 "/ tcp|udp|sctp|icmp / tunnel / eth ... is the order");
	if (item->type == RTE_FLOW_ITEM_TYPE_VLAN && r->tags == 2)
		return refuse_at(r, ENOTSUP, item, "vlan", "two tags are looked at, no more");
	if (item->spec == NULL && item->last != NULL)
		return refuse_at(r, EINVAL, item, kind->name, "last without spec");
	return 0;
}

static int
read_item(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	const struct mpsim_item *kind = mpsim_items_find(item->type);
	int ret;

	if (kind == NULL)
		return rte_flow_error_set(r->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item that this NIC does not match: eth, vlan, ipv4, "
					  "ipv6, ipv6_frag_ext, tcp, udp, sctp, icmp, icmp6, "
					  "vxlan, geneve, gre, gre_key, nvgre and "
					  "represented_port are known");
	ret = check_place(r, item, kind);
	if (ret == 0 && item->spec != NULL && kind->header > 0)
		ret = read_header(r, item, kind);
	if (ret == 0 && kind->l4_proto != 0) {
		mpsim_items_mask(r)->l4_proto = 0xff;
		mpsim_items_value(r)->l4_proto = kind->l4_proto;
	}
	if (ret == 0 && kind->more != NULL)
		ret = kind->more(r, item);
	r->stage = kind->then;
	return ret;
}

/* Is the mask exactly that of a 5-tuple? */
static bool
is_exact(const struct mpsim_match *m)
{
	const struct mpsim_layer *v = &m->value.layer[0];
	struct mpsim_key tuple_mask = {.group = 0};
	struct mpsim_layer *t = &tuple_mask.layer[0];

	if (m->nb_ranges > 0 || (v->l4_proto != IPPROTO_TCP && v->l4_proto != IPPROTO_UDP &&
				 v->l4_proto != IPPROTO_SCTP))
		return false;
	t->l3 = 0xff;
	t->l4_proto = 0xff;
	memset(t->ip + (v->l3 == 4 ? 12 : 8), 0xff, v->l3 == 4 ? 8 : 32);
	memset(t->l4, 0xff, 4);
	return memcmp(&tuple_mask, &m->mask, sizeof(tuple_mask)) == 0;
}

static void
set_tuple(struct mpsim_match *m)
{
	const struct mpsim_layer *v = &m->value.layer[0];
	const bool ipv4 = v->l3 == 4;

	octo_tuple_clear(&m->tuple);
	m->tuple.family = ipv4 ? OCTO_IPV4 : OCTO_IPV6;
	m->tuple.proto = v->l4_proto;
	memcpy(m->tuple.src, v->ip + (ipv4 ? 12 : 8), ipv4 ? 4 : 16);
	memcpy(m->tuple.dst, v->ip + (ipv4 ? 16 : 24), ipv4 ? 4 : 16);
	memcpy(&m->tuple.src_port, v->l4, 2);
	memcpy(&m->tuple.dst_port, v->l4 + 2, 2);
}

uint32_t
mpsim_match_count(const struct mpsim_match *match)
{
	uint64_t n = 1;

	for (unsigned int i = 0; i < match->nb_ranges; i++)
		n *= match->range[i].count;
	return n;
}

int
mpsim_match_read(const struct rte_flow_item pattern[], struct mpsim_match *match,
		 struct rte_flow_error *error)
{
	struct mpsim_reader r = {.match = match, .error = error, .stage = AT_START};
	const struct rte_flow_item *item;
	int ret = 0;

	memset(match, 0, sizeof(*match));
	match->from_port = MPSIM_NO_PORT;
	for (item = pattern; ret == 0 && item->type != RTE_FLOW_ITEM_TYPE_END; item++)
		if (item->type != RTE_FLOW_ITEM_TYPE_VOID)
			ret = read_item(&r, item);
	if (ret != 0)
		return ret;
	if (mpsim_match_count(match) > MPSIM_MATCH_ENTRIES)
		return refuse_at(&r, ENOTSUP, item, "last",
				 "the ranges of a rule may need 128 table entries, no more: "
				 "give aligned or smaller ones");
	match->exact = is_exact(match);
	if (match->exact)
		set_tuple(match);
	return 0;
}

bool
mpsim_match_is_all(const struct mpsim_match *match)
{
	static const struct mpsim_key nothing;

	return match->nb_ranges == 0 && memcmp(&match->mask, &nothing, sizeof(nothing)) == 0;
}

void
mpsim_match_entry(const struct mpsim_match *match, uint32_t index, struct mpsim_key *value,
		  struct mpsim_key *mask)
{
	*value = match->value;
	*mask = match->mask;
	for (unsigned int i = 0; i < match->nb_ranges; i++) {
		const struct mpsim_range *r = &match->range[i];
		const uint64_t all = r->width == 64 ? UINT64_MAX : (UINT64_C(1) << r->width) - 1;
		struct mpsim_block b = mpsim_range_block(r->lo, r->hi, index % r->count);
		uint8_t v[8], m[8];

		index /= r->count;
		put_number((b.value & all) << r->shift, r->len, v);
		put_number((b.mask & all) << r->shift, r->len, m);
		for (unsigned int k = 0; k < r->len; k++) {
			bytes_of(value)[r->at + k] |= v[k];
			bytes_of(mask)[r->at + k] |= m[k];
		}
	}
}
