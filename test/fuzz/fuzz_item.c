/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>

#include <rte_byteorder.h>

#include "fuzz_rule.h"

#define UNKNOWN_TYPE 9999 /* that no DPDK has */
#define PRIVATE_TYPE -7   /* of a driver; rte_flow takes its size for that of a pointer */

/* What of an item the usual masks cover: from .. to - 1, of which the first half is "source". */
static const struct kind {
	int type;
	uint8_t size;
	uint8_t from;
	uint8_t to;
} kinds[] = {
#define KIND(name, text, first, last)                                                              \
	{                                                                                          \
		RTE_FLOW_ITEM_TYPE_##name, sizeof(struct rte_flow_item_##text), first, last        \
	}
	KIND(ETH, eth, 0, 12),
	KIND(VLAN, vlan, 0, 2),
	KIND(IPV4, ipv4, 12, 20),
	KIND(IPV6, ipv6, 8, 40),
	KIND(UDP, udp, 0, 4),
	KIND(TCP, tcp, 0, 4),
	KIND(SCTP, sctp, 0, 4),
	KIND(ICMP, icmp, 0, 2),
	KIND(ICMP6, icmp6, 0, 2),
	KIND(VXLAN, vxlan, 4, 7),
	KIND(GRE, gre, 2, 4),
	KIND(NVGRE, nvgre, 4, 7),
	KIND(ARP_ETH_IPV4, arp_eth_ipv4, 8, 28),
	KIND(IPV6_EXT, ipv6_ext, 0, 1),
	KIND(IPV6_FRAG_EXT, ipv6_frag_ext, 0, 8),
	KIND(MPLS, mpls, 0, 3),
	KIND(GENEVE, geneve, 4, 7),
	KIND(GTPU, gtp, 4, 8),
	KIND(ESP, esp, 0, 4),
	KIND(AH, ah, 4, 8),
	KIND(PPPOES, pppoe, 2, 4),
	KIND(META, meta, 0, 4),
	KIND(MARK, mark, 0, 4),
	KIND(TAG, tag, 0, 5),
	KIND(ANY, any, 0, 4),
	KIND(FUZZY, fuzzy, 0, 4),
	KIND(INTEGRITY, integrity, 4, 12),
	KIND(CONNTRACK, conntrack, 0, 4),
	KIND(PFCP, pfcp, 8, 16),
	KIND(L2TPV3OIP, l2tpv3oip, 0, 4),
	KIND(IGMP, igmp, 0, 1),
	KIND(VXLAN_GPE, vxlan_gpe, 4, 7),
	KIND(PORT_ID, port_id, 0, 4),
#undef KIND
	{RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT, sizeof(struct rte_flow_item_ethdev), 0, 2},
	{RTE_FLOW_ITEM_TYPE_PORT_REPRESENTOR, sizeof(struct rte_flow_item_ethdev), 0, 2},
	{RTE_FLOW_ITEM_TYPE_GRE_KEY, 4, 0, 4},
	{RTE_FLOW_ITEM_TYPE_VOID, 1, 0, 1},
	{RTE_FLOW_ITEM_TYPE_INVERT, 1, 0, 1},
	{RTE_FLOW_ITEM_TYPE_RAW, 1, 0, 0},
	{UNKNOWN_TYPE, 16, 0, 16},
	{PRIVATE_TYPE, sizeof(void *), 0, 4},
	{RTE_FLOW_ITEM_TYPE_GENEVE_OPT, 1, 0, 0},
	{RTE_FLOW_ITEM_TYPE_FLEX, 1, 0, 0},
};

static const struct kind *
find_kind(int type)
{
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	abort();
}

size_t
fuzz_item_size(int type)
{
	return find_kind(type)->size;
}

size_t
fuzz_header(enum rte_flow_item_type type, uint8_t choice, void *header)
{
	const struct kind *kind = find_kind((int)type);
	const uint8_t low = choice & 3, high = choice >> 2 & 3;
	uint8_t *bytes = header;

	memset(header, 0, kind->size);
	if (type == RTE_FLOW_ITEM_TYPE_ETH)
		bytes[0] = bytes[6] = 0x02;
	if (type == RTE_FLOW_ITEM_TYPE_IPV4)
		bytes[12] = bytes[16] = 10;
	if (type == RTE_FLOW_ITEM_TYPE_IPV6)
		bytes[8] = bytes[24] = 0xfd;
	if (kind->to > kind->from + 1)
		bytes[(kind->from + kind->to) / 2 - 1] = low;
	if (kind->to > kind->from)
		bytes[kind->to - 1] = high;
	if (choice >= 64 && kind->to > kind->from)
		bytes[kind->from] ^= choice;
	return kind->size;
}

/* All of the usual part, a half, a prefix of it, nothing, everything. */
static void
make_mask(struct fuzz_input *in, const struct kind *kind, uint8_t how, uint8_t *mask)
{
	const uint8_t half = (kind->from + kind->to) / 2;
	unsigned int bits;

	switch (how) {
	case 0:
		memset(mask + kind->from, 0xff, kind->to - kind->from);
		break;
	case 1:
		memset(mask + kind->from, 0xff, half - kind->from);
		break;
	case 2:
		memset(mask + half, 0xff, kind->to - half);
		break;
	case 3:
		bits = RTE_MIN(fuzz_u8(in), (half - kind->from) * 8u);
		for (unsigned int i = 0; i < bits; i++)
			mask[kind->from + i / 8] |= 0x80 >> i % 8;
		break;
	case 4: /* none */
	case 6: /* the item's own */
		break;
	case 5:
		memset(mask, 0xff, kind->size);
		break;
	default:
		fuzz_bytes(in, mask, kind->size);
		break;
	}
}

/* Another value in up to three places. */
static void
poke(struct fuzz_input *in, const struct kind *kind, uint8_t *bytes)
{
	for (int n = fuzz_u8(in) & 3; n > 0; n--) {
		const uint8_t at = fuzz_u8(in);

		bytes[at % kind->size] = fuzz_u8(in);
	}
}

static void
name_port(struct fuzz_rule *rule, const struct fuzz_names *names, int type, uint8_t choice,
	  uint8_t *spec)
{
	const uint16_t pf = names->pf[choice & 1];
	const uint32_t wide = pf;

	if (type == RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT ||
	    type == RTE_FLOW_ITEM_TYPE_PORT_REPRESENTOR)
		memcpy(spec, &pf, sizeof(pf));
	if (type == RTE_FLOW_ITEM_TYPE_PORT_ID)
		memcpy(spec, &wide, sizeof(wide));
	if (type == RTE_FLOW_ITEM_TYPE_INTEGRITY || type == RTE_FLOW_ITEM_TYPE_CONNTRACK)
		rule->beyond = true;
}

/* Its length says how much there is behind its pointer. */
static void
read_raw(struct fuzz_input *in, struct fuzz_rule *rule, struct rte_flow_item *item)
{
	const uint8_t how = fuzz_u8(in), len = how & 31;
	uint8_t *pattern = fuzz_piece(rule, len);
	struct rte_flow_item_raw *spec = fuzz_piece(rule, sizeof(*spec));
	struct rte_flow_item_raw *mask = fuzz_piece(rule, sizeof(*mask));

	fuzz_bytes(in, pattern, len);
	*spec = (struct rte_flow_item_raw){.length = len, .pattern = how < 128 ? pattern : NULL};
	spec->offset = fuzz_u8(in);
	*mask = *spec;
	item->spec = spec;
	item->mask = mask;
}

/* The mask has what the specification says; one of 128 and more has no specification. */
static void
read_geneve_opt(struct fuzz_input *in, struct fuzz_rule *rule, struct rte_flow_item *item)
{
	const uint8_t how = fuzz_u8(in), len = how & 3;
	struct rte_flow_item_geneve_opt *spec = fuzz_piece(rule, sizeof(*spec));
	struct rte_flow_item_geneve_opt *mask = fuzz_piece(rule, sizeof(*mask));

	spec->option_len = len;
	spec->data = (how & 4) == 0 ? fuzz_piece(rule, len * sizeof(uint32_t)) : NULL;
	mask->option_len = fuzz_u8(in);
	mask->data = (how & 8) == 0 ? fuzz_piece(rule, len * sizeof(uint32_t)) : NULL;
	item->spec = how < 128 ? spec : NULL;
	item->mask = (how & 16) == 0 ? mask : NULL;
}

/*
 * How: what the mask is (0-7), no specification (8), a range (16), and other
 * values here and there (32: specification, 64: mask, 128: range).
 */
static void
read_parts(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule,
	   const struct kind *kind, struct rte_flow_item *item)
{
	const uint8_t how = fuzz_u8(in), choice = fuzz_u8(in);
	uint8_t *spec = fuzz_piece(rule, kind->size);
	uint8_t *mask = fuzz_piece(rule, kind->size);
	uint8_t *last = fuzz_piece(rule, kind->size);

	fuzz_header(kind->type, choice, spec);
	name_port(rule, names, kind->type, choice, spec);
	make_mask(in, kind, how & 7, mask);
	if ((how & 32) != 0)
		poke(in, kind, spec);
	if ((how & 64) != 0)
		poke(in, kind, mask);
	memcpy(last, spec, kind->size);
	if ((how & 16) != 0)
		last[kind->to - (kind->to > 0)] += fuzz_u8(in);
	if ((how & 128) != 0)
		poke(in, kind, last);
	item->spec = (how & 8) == 0 ? spec : NULL;
	item->mask = (how & 7) == 6 ? NULL : mask;
	item->last = (how & 16) != 0 ? last : NULL;
}

void
fuzz_item_read(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule,
	       int type)
{
	const struct kind *kind = type >= 0 ? find_kind(type) :
					      &kinds[fuzz_u8(in) % RTE_DIM(kinds)];
	struct rte_flow_item *item = &rule->items[rule->nb_items];

	if (rule->nb_items + 1 == FUZZ_MAX_ITEMS)
		return;
	rule->nb_items++;
	item->type = (enum rte_flow_item_type)kind->type;
	if (kind->type == RTE_FLOW_ITEM_TYPE_RAW)
		read_raw(in, rule, item);
	else if (kind->type == RTE_FLOW_ITEM_TYPE_GENEVE_OPT)
		read_geneve_opt(in, rule, item);
	else if (kind->type != RTE_FLOW_ITEM_TYPE_INVERT)
		read_parts(in, names, rule, kind, item);
}
