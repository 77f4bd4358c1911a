/* SPDX-License-Identifier: BSD-3-Clause */

#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf_ptype.h>

#include "octo_packet.h"
#include "mpsim_key.h"

static_assert(sizeof(struct mpsim_key) % sizeof(uint64_t) == 0, "hashed in words");

/* UDP ports of the tunnels, and flags of the GRE header. */
#define VXLAN_PORT 4789
#define GENEVE_PORT 6081
#define GRE_CHECKSUM 0x8000
#define GRE_ROUTING 0x4000
#define GRE_KEY 0x2000
#define GRE_SEQUENCE 0x1000
#define GRE_VERSION 0x0007

/* Limits the loop, as in mpsim_parse.c. */
#define IPV6_MAX_EXTENSIONS 8

/* Extension headers in the order of the bits of struct rte_flow_item_ipv6. */
static const uint8_t extensions[] = {
	IPPROTO_HOPOPTS,
	IPPROTO_ROUTING,
	IPPROTO_FRAGMENT,
	IPPROTO_AH,
	IPPROTO_ESP,
	IPPROTO_DSTOPTS,
	IPPROTO_MH,
	139, /* HIP: RFC 7401 */
	140, /* Shim6: RFC 5533 */
};

static inline uint16_t
be16_at(const uint8_t *p)
{
	rte_be16_t v;

	memcpy(&v, p, sizeof(v));
	return rte_be_to_cpu_16(v);
}

static uint16_t
extension_bit(uint8_t proto)
{
	for (unsigned int i = 0; i < RTE_DIM(extensions); i++)
		if (extensions[i] == proto)
			return 1 << i;
	return 0;
}

/* Walk the extension headers from l3_off to l4_off again, as the parser did, and record them. */
static void
copy_extensions(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *p,
		struct mpsim_layer *layer)
{
	uint32_t off = p->l3_off + sizeof(layer->ip);
	uint8_t proto = layer->ip[6];

	for (int i = 0; i <= IPV6_MAX_EXTENSIONS; i++) {
		const uint8_t *ext = data + off;
		uint32_t len;

		layer->ext |= extension_bit(proto);
		/* in a fragment, l4_off is the offset of the fragment header */
		if (off + 8 > avail || off > p->l4_off)
			return;
		if (proto == IPPROTO_FRAGMENT) {
			memcpy(layer->frag, ext, sizeof(layer->frag));
			len = 8;
		} else {
			len = octo_packet_extension_len(proto, ext);
		}
		if (len == 0 || off >= p->l4_off)
			return;
		proto = ext[0];
		off += len;
	}
}

/* Bytes of the layer-4 header that rules can match; 0: unknown protocol. */
static uint32_t
l4_header_len(const struct mpsim_parsed *p)
{
	switch (p->ptype & RTE_PTYPE_L4_MASK) {
	case RTE_PTYPE_L4_TCP:
		return 20;
	case RTE_PTYPE_L4_SCTP:
		return 12;
	case RTE_PTYPE_L4_UDP:
	case RTE_PTYPE_L4_ICMP:
		return 8;
	default:
		return 0;
	}
}

static void
copy_l3_up(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *p,
	   struct mpsim_layer *layer)
{
	const bool ipv4 = mpsim_class_is_ipv4(p->cls);
	const uint32_t len = RTE_MIN(l4_header_len(p), (uint32_t)p->l4_len);

	if (p->cls == MPSIM_CLASS_NONE)
		return;
	layer->l3 = ipv4 ? 4 : 6;
	memcpy(layer->ip, data + p->l3_off, ipv4 ? 20 : sizeof(layer->ip));
	if (!ipv4)
		copy_extensions(data, avail, p, layer);
	if (len == 0 || p->l4_off + len > avail)
		return;
	layer->l4_proto = p->proto;
	memcpy(layer->l4, data + p->l4_off, len);
}

static void
copy_l2(const uint8_t *frame, const struct mpsim_parsed *p, struct mpsim_layer *layer)
{
	memcpy(layer->eth, frame, sizeof(layer->eth));
	memcpy(layer->vlan, frame + sizeof(layer->eth), p->tags * sizeof(layer->vlan[0]));
	layer->l2 = MPSIM_L2_ETH | (p->tags > 0 ? MPSIM_L2_VLAN : 0) |
		    (p->tags > 1 ? MPSIM_L2_MORE_VLAN : 0);
}

/* Length of the GRE header; 0: unknown version, or truncated. */
static uint32_t
gre_len(const uint8_t *gre, uint32_t room)
{
	const uint16_t flags = room >= 4 ? be16_at(gre) : GRE_VERSION;
	const uint32_t len = 4 + ((flags & GRE_CHECKSUM) != 0 ? 4 : 0) +
			     ((flags & GRE_KEY) != 0 ? 4 : 0) +
			     ((flags & GRE_SEQUENCE) != 0 ? 4 : 0);

	return (flags & (GRE_VERSION | GRE_ROUTING)) != 0 || len > room ? 0 : len;
}

/*
 * Identify a tunnel header of at most room bytes: its kind, its length, and the EtherType of
 * the payload.
 */
static enum mpsim_tunnel
tell_tunnel(const uint8_t *l4, const struct mpsim_parsed *p, uint32_t room, uint32_t *len,
	    uint16_t *type)
{
	const bool udp = (p->ptype & RTE_PTYPE_L4_MASK) == RTE_PTYPE_L4_UDP && room >= 16;
	const uint16_t port = udp ? be16_at(l4 + 2) : 0;

	*len = 8;
	*type = RTE_ETHER_TYPE_TEB;
	if (port == VXLAN_PORT)
		return MPSIM_TUNNEL_VXLAN;
	if (port == GENEVE_PORT) {
		*len += (l4[8] & 0x3f) * 4;
		*type = be16_at(l4 + 10);
		return MPSIM_TUNNEL_GENEVE;
	}
	if ((p->ptype & RTE_PTYPE_L4_MASK) != RTE_PTYPE_L4_NONFRAG || p->proto != IPPROTO_GRE)
		return MPSIM_TUNNEL_NONE;
	*len = gre_len(l4, room);
	*type = *len > 0 ? be16_at(l4 + 2) : 0;
	return *len > 0 ? MPSIM_TUNNEL_GRE : MPSIM_TUNNEL_NONE;
}

enum mpsim_tunnel
mpsim_key_tunnel(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *outer,
		 struct mpsim_inside *inside)
{
	const uint32_t end = outer->l4_off + outer->l4_len;
	enum mpsim_tunnel tunnel;
	uint16_t type;
	uint32_t len;

	if (outer->cls == MPSIM_CLASS_NONE || outer->l4_off >= RTE_MIN(avail, end))
		return MPSIM_TUNNEL_NONE;
	tunnel = tell_tunnel(data + outer->l4_off, outer, RTE_MIN(avail, end) - outer->l4_off, &len,
			     &type);
	if (tunnel == MPSIM_TUNNEL_NONE)
		return tunnel;
	inside->tunnel_off = outer->l4_off + (tunnel == MPSIM_TUNNEL_GRE ? 0 : 8);
	inside->frame_off = mpsim_parse_inner(data, avail, end, inside->tunnel_off + len, type,
					      &inside->parsed);
	return tunnel;
}

static void
copy_tunnel(const uint8_t *hdr, uint32_t room, enum mpsim_tunnel tunnel, struct mpsim_key *key)
{
	const uint16_t flags = be16_at(hdr);
	const uint32_t key_at = 4 + ((flags & GRE_CHECKSUM) != 0 ? 4 : 0);

	key->tunnel = tunnel;
	memcpy(key->tunnel_hdr, hdr, RTE_MIN(sizeof(key->tunnel_hdr), (size_t)room));
	if (tunnel != MPSIM_TUNNEL_GRE || (flags & GRE_KEY) == 0)
		return;
	key->has_gre_key = 1;
	memcpy(key->gre_key, hdr + key_at, sizeof(key->gre_key));
}

static void
copy_inside(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *outer,
	    struct mpsim_key *key)
{
	const uint32_t end = outer->l4_off + outer->l4_len;
	struct mpsim_inside in;
	enum mpsim_tunnel tunnel;

	tunnel = mpsim_key_tunnel(data, avail, outer, &in);
	if (tunnel == MPSIM_TUNNEL_NONE)
		return;
	copy_tunnel(data + in.tunnel_off, RTE_MIN(avail, end) - in.tunnel_off, tunnel, key);
	if (in.frame_off != 0)
		copy_l2(data + in.frame_off, &in.parsed, &key->layer[1]);
	copy_l3_up(data, avail, &in.parsed, &key->layer[1]);
}

void
mpsim_key_extract(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *p, bool inner,
		  struct mpsim_key *key)
{
	memset(key, 0, sizeof(*key));
	copy_l2(data, p, &key->layer[0]);
	copy_l3_up(data, avail, p, &key->layer[0]);
	if (inner)
		copy_inside(data, avail, p, key);
}
