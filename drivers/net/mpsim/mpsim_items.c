/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "mpsim_items.h"

int
mpsim_items_refuse(struct mpsim_reader *r, int code, const struct rte_flow_item *item,
		   const char *name, const char *why)
{
	/* rte_flow keeps only the pointer */
	static __thread char text[160];

	snprintf(text, sizeof(text), "%s: %s", name, why);
	return rte_flow_error_set(r->error, code, RTE_FLOW_ERROR_TYPE_ITEM, item, text);
}

/* Require some bits of l2 to be set, or not set. */
static void
want_l2(struct mpsim_reader *r, uint8_t bits, bool set)
{
	mpsim_items_mask(r)->l2 |= bits;
	mpsim_items_value(r)->l2 &= ~bits;
	mpsim_items_value(r)->l2 |= set ? bits : 0;
}

static int
more_eth(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	const struct rte_flow_item_eth *spec = item->spec;
	const struct rte_flow_item_eth *mask = item->mask;

	/* the outer frame always has an Ethernet header */
	if (r->level > 0)
		want_l2(r, MPSIM_L2_ETH, true);
	if (spec == NULL || mask == NULL)
		return 0;
	if (mask->reserved != 0)
		return refuse_at(r, EINVAL, item, "eth", "reserved bits must be masked out");
	if (mask->has_vlan)
		want_l2(r, MPSIM_L2_VLAN, spec->has_vlan);
	return 0;
}

static int
more_vlan(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	const struct rte_flow_item_vlan *spec = item->spec;
	const struct rte_flow_item_vlan *mask = item->mask;
	const uint8_t further = r->tags == 0 ? MPSIM_L2_MORE_VLAN : 0;

	want_l2(r, r->tags == 0 ? MPSIM_L2_VLAN : MPSIM_L2_VLAN | MPSIM_L2_MORE_VLAN, true);
	r->tags++;
	if (spec == NULL || mask == NULL)
		return 0;
	if (mask->reserved != 0)
		return refuse_at(r, EINVAL, item, "vlan", "reserved bits must be masked out");
	if (mask->has_more_vlan && further == 0)
		return refuse_at(r, ENOTSUP, item, "vlan", "two tags are looked at, no more");
	if (mask->has_more_vlan)
		want_l2(r, further, spec->has_more_vlan);
	return 0;
}

static void
want_l3(struct mpsim_reader *r, uint8_t version)
{
	mpsim_items_mask(r)->l3 = 0xff;
	mpsim_items_value(r)->l3 = version;
}

static int
more_ipv4(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	RTE_SET_USED(item);
	want_l3(r, 4);
	return 0;
}

static uint16_t
extension_bits(const struct rte_flow_item_ipv6 *ip)
{
	return ip->has_hop_ext << 0 | ip->has_route_ext << 1 | ip->has_frag_ext << 2 |
	       ip->has_auth_ext << 3 | ip->has_esp_ext << 4 | ip->has_dest_ext << 5 |
	       ip->has_mobil_ext << 6 | ip->has_hip_ext << 7 | ip->has_shim6_ext << 8;
}

static int
more_ipv6(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	const struct rte_flow_item_ipv6 *spec = item->spec;
	const struct rte_flow_item_ipv6 *mask = item->mask;

	want_l3(r, 6);
	if (spec == NULL || mask == NULL)
		return 0;
	if (mask->reserved != 0)
		return refuse_at(r, EINVAL, item, "ipv6", "reserved bits must be masked out");
	mpsim_items_mask(r)->ext |= extension_bits(mask);
	mpsim_items_value(r)->ext |= extension_bits(spec) & extension_bits(mask);
	return 0;
}

static int
more_frag(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	if (mpsim_items_value(r)->l3 != 6)
		return refuse_at(r, EINVAL, item, "ipv6_frag_ext", "goes behind ipv6");
	mpsim_items_mask(r)->ext |= MPSIM_EXT_FRAG;
	mpsim_items_value(r)->ext |= MPSIM_EXT_FRAG;
	return 0;
}

static int
more_icmp(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	if (mpsim_items_value(r)->l3 == 6)
		return refuse_at(r, EINVAL, item, "icmp",
				 "goes behind ipv4; behind ipv6 it is icmp6");
	return 0;
}

static int
more_icmp6(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	if (mpsim_items_value(r)->l3 == 4)
		return refuse_at(r, EINVAL, item, "icmp6",
				 "goes behind ipv6; behind ipv4 it is icmp");
	return 0;
}

/* The following items match the tunnelled headers. */
static int
enter_tunnel(struct mpsim_reader *r, const struct rte_flow_item *item, const char *name,
	     enum mpsim_tunnel tunnel)
{
	if (r->level > 0)
		return refuse_at(r, ENOTSUP, item, name, "one tunnel is looked into, no more");
	if (tunnel != MPSIM_TUNNEL_GRE && r->stage == AT_L4 &&
	    mpsim_items_value(r)->l4_proto != IPPROTO_UDP)
		return refuse_at(r, EINVAL, item, name, "goes behind udp");
	r->match->mask.tunnel = 0xff;
	r->match->value.tunnel = tunnel;
	r->level = 1;
	r->tags = 0;
	return 0;
}

static int
more_vxlan(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	return enter_tunnel(r, item, "vxlan", MPSIM_TUNNEL_VXLAN);
}

static int
more_geneve(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	return enter_tunnel(r, item, "geneve", MPSIM_TUNNEL_GENEVE);
}

static int
more_gre(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	return enter_tunnel(r, item, "gre", MPSIM_TUNNEL_GRE);
}

/* NVGRE is GRE with a key that carries frames (RFC 7637). */
static int
more_nvgre(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	static const uint8_t header[] = {0x20, 0x00, 0x65, 0x58};

	memset(r->match->mask.tunnel_hdr, 0xff, sizeof(header));
	memcpy(r->match->value.tunnel_hdr, header, sizeof(header));
	return enter_tunnel(r, item, "nvgre", MPSIM_TUNNEL_GRE);
}

static int
more_gre_key(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	if (r->match->value.tunnel != MPSIM_TUNNEL_GRE)
		return refuse_at(r, EINVAL, item, "gre_key", "goes behind gre");
	r->match->mask.has_gre_key = 0xff;
	r->match->value.has_gre_key = 1;
	return 0;
}

static int
more_port(struct mpsim_reader *r, const struct rte_flow_item *item)
{
	const struct rte_flow_item_ethdev *spec = item->spec;
	const struct rte_flow_item_ethdev *mask = item->mask;

	if (spec == NULL || item->last != NULL || (mask != NULL && mask->port_id != UINT16_MAX))
		return refuse_at(r, ENOTSUP, item, "represented_port",
				 "must name exactly one ethdev port");
	r->match->from_port = spec->port_id;
	return 0;
}

/* The GRE key is an item of its own, whose spec is just a number. */
static const rte_be32_t gre_key_mask = RTE_BE32(0xffffffff);
static const struct rte_flow_item_ipv6_frag_ext frag_mask;

#define IN_LAYER(field) .at = offsetof(struct mpsim_layer, field)
#define IN_KEY(field) .at = offsetof(struct mpsim_key, field), .in_key = true
#define ITEM(upper, lower)                                                                         \
	.type = RTE_FLOW_ITEM_TYPE_##upper, .name = #lower, .mask = &rte_flow_item_##lower##_mask

static const struct mpsim_item kinds[] = {
	{ITEM(ETH, eth), .header = 14, IN_LAYER(eth), .after = AT_BOTTOM, .then = AT_L2,
	 .more = more_eth},
	{ITEM(VLAN, vlan), .header = 4, IN_LAYER(vlan), .after = AT_BOTTOM | AT_L2, .then = AT_L2,
	 .more = more_vlan},
	{ITEM(IPV4, ipv4), .header = 20, IN_LAYER(ip), .after = AT_BOTTOM | AT_L2, .then = AT_L3,
	 .more = more_ipv4},
	{ITEM(IPV6, ipv6), .header = 40, IN_LAYER(ip), .after = AT_BOTTOM | AT_L2, .then = AT_L3,
	 .more = more_ipv6},
	{.type = RTE_FLOW_ITEM_TYPE_IPV6_FRAG_EXT,
	 .name = "ipv6_frag_ext",
	 .mask = &frag_mask,
	 .header = 8,
	 IN_LAYER(frag),
	 .after = AT_L3,
	 .then = AT_FRAG,
	 .more = more_frag},
	{ITEM(TCP, tcp), .header = 20, IN_LAYER(l4), .l4_proto = IPPROTO_TCP,
	 .after = AT_BOTTOM | AT_L3 | AT_FRAG, .then = AT_L4},
	{ITEM(UDP, udp), .header = 8, IN_LAYER(l4), .l4_proto = IPPROTO_UDP,
	 .after = AT_BOTTOM | AT_L3 | AT_FRAG, .then = AT_L4},
	{ITEM(SCTP, sctp), .header = 12, IN_LAYER(l4), .l4_proto = IPPROTO_SCTP,
	 .after = AT_BOTTOM | AT_L3 | AT_FRAG, .then = AT_L4},
	{ITEM(ICMP, icmp), .header = 8, IN_LAYER(l4), .l4_proto = IPPROTO_ICMP,
	 .after = AT_BOTTOM | AT_L3, .then = AT_L4, .more = more_icmp},
	{ITEM(ICMP6, icmp6), .header = 4, IN_LAYER(l4), .l4_proto = IPPROTO_ICMPV6,
	 .after = AT_BOTTOM | AT_L3 | AT_FRAG, .then = AT_L4, .more = more_icmp6},
	{ITEM(VXLAN, vxlan), .header = 8, IN_KEY(tunnel_hdr), .after = AT_START | AT_PORT | AT_L4,
	 .then = AT_TUNNEL, .more = more_vxlan},
	{ITEM(GENEVE, geneve), .header = 8, IN_KEY(tunnel_hdr), .after = AT_START | AT_PORT | AT_L4,
	 .then = AT_TUNNEL, .more = more_geneve},
	{ITEM(GRE, gre), .header = 4, IN_KEY(tunnel_hdr), .after = AT_START | AT_PORT | AT_L3,
	 .then = AT_TUNNEL, .more = more_gre},
	{ITEM(NVGRE, nvgre), .header = 8, IN_KEY(tunnel_hdr), .after = AT_START | AT_PORT | AT_L3,
	 .then = AT_TUNNEL, .more = more_nvgre},
	{.type = RTE_FLOW_ITEM_TYPE_GRE_KEY,
	 .name = "gre_key",
	 .mask = &gre_key_mask,
	 .header = 4,
	 IN_KEY(gre_key),
	 .after = AT_TUNNEL,
	 .then = AT_TUNNEL,
	 .more = more_gre_key},
	{.type = RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT,
	 .name = "represented_port",
	 .after = AT_START,
	 .then = AT_PORT,
	 .more = more_port},
};

const struct mpsim_item *
mpsim_items_find(enum rte_flow_item_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}
