/* SPDX-License-Identifier: BSD-3-Clause */

#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_mbuf_ptype.h>

#include "octo_packet.h"
#include "mpsim_parse.h"

#define IPV4_HDR_MIN 20
#define IPV6_HDR_LEN 40

/* Limits the loop; more than any sane chain of IPv6 extension headers. */
#define IPV6_MAX_EXTENSIONS 8

struct cursor {
	const uint8_t *data;
	uint32_t avail; /* contiguous bytes from data on */
	uint32_t off;   /* where the next header starts */
	uint32_t end;   /* end of the IP datagram, from its header */
};

static inline uint16_t
be16_at(const uint8_t *p)
{
	rte_be16_t v;

	memcpy(&v, p, sizeof(v));
	return rte_be_to_cpu_16(v);
}

/* Are len bytes of a header available, both in memory and within the datagram? */
static inline bool
has(const struct cursor *c, uint32_t len)
{
	return c->off + len <= c->avail && c->off + len <= c->end;
}

static void
parse_l4(const struct cursor *c, uint8_t proto, uint8_t cls_other, struct mpsim_parsed *p)
{
	p->l4_off = c->off;
	p->l4_len = c->end - c->off;
	p->proto = proto;
	p->cls = cls_other;
	if (proto == IPPROTO_TCP && has(c, 20)) {
		p->cls = cls_other + (MPSIM_CLASS_IPV4_TCP - MPSIM_CLASS_IPV4);
		p->ptype |= RTE_PTYPE_L4_TCP;
	} else if (proto == IPPROTO_UDP && has(c, 8)) {
		p->cls = cls_other + (MPSIM_CLASS_IPV4_UDP - MPSIM_CLASS_IPV4);
		p->ptype |= RTE_PTYPE_L4_UDP;
	} else if (proto == IPPROTO_SCTP && has(c, 12)) {
		p->cls = cls_other + (MPSIM_CLASS_IPV4_SCTP - MPSIM_CLASS_IPV4);
		p->ptype |= RTE_PTYPE_L4_SCTP;
	} else if ((proto == IPPROTO_ICMP && cls_other == MPSIM_CLASS_IPV4) ||
		   (proto == IPPROTO_ICMPV6 && cls_other == MPSIM_CLASS_IPV6)) {
		p->ptype |= RTE_PTYPE_L4_ICMP;
	} else {
		p->ptype |= RTE_PTYPE_L4_NONFRAG;
	}
}

static void
parse_fragment(const struct cursor *c, uint8_t proto, uint8_t cls, struct mpsim_parsed *p)
{
	p->l4_off = c->off;
	p->l4_len = c->end - c->off;
	p->proto = proto;
	p->cls = cls;
	p->ptype |= RTE_PTYPE_L4_FRAG;
}

static void
parse_ipv4(struct cursor *c, struct mpsim_parsed *p)
{
	const uint8_t *ip = c->data + c->off;
	uint32_t ihl, total;

	if (c->off + IPV4_HDR_MIN > c->avail || ip[0] >> 4 != 4)
		return;
	ihl = (ip[0] & 0xf) * 4;
	total = be16_at(ip + 2);
	if (ihl < IPV4_HDR_MIN || c->off + ihl > c->avail || total < ihl || c->off + total > c->end)
		return;
	p->l3_off = c->off;
	p->ptype |= ihl == IPV4_HDR_MIN ? RTE_PTYPE_L3_IPV4 : RTE_PTYPE_L3_IPV4_EXT;
	c->end = c->off + total;
	c->off += ihl;
	/* more fragments, or an offset */
	if ((be16_at(ip + 6) & 0x3fff) != 0)
		parse_fragment(c, ip[9], MPSIM_CLASS_IPV4_FRAG, p);
	else
		parse_l4(c, ip[9], MPSIM_CLASS_IPV4, p);
}

static void
parse_ipv6_payload(struct cursor *c, uint8_t proto, struct mpsim_parsed *p)
{
	const uint32_t start = c->off;

	for (int i = 0; i < IPV6_MAX_EXTENSIONS && has(c, 8); i++) {
		const uint8_t *ext = c->data + c->off;
		uint32_t len;

		if (proto == IPPROTO_FRAGMENT) {
			p->ptype |= RTE_PTYPE_L3_IPV6_EXT;
			/* RFC 6946: offset 0 without "more" is a whole packet */
			if ((be16_at(ext + 2) & 0xfff9) != 0) {
				parse_fragment(c, ext[0], MPSIM_CLASS_IPV6_FRAG, p);
				return;
			}
			len = 8;
		} else {
			len = octo_packet_extension_len(proto, ext);
		}
		if (len == 0 || !has(c, len))
			break;
		proto = ext[0];
		c->off += len;
	}
	p->ptype |= c->off == start ? RTE_PTYPE_L3_IPV6 : RTE_PTYPE_L3_IPV6_EXT;
	parse_l4(c, proto, MPSIM_CLASS_IPV6, p);
}

static void
parse_ipv6(struct cursor *c, struct mpsim_parsed *p)
{
	const uint8_t *ip = c->data + c->off;
	uint32_t payload;

	if (c->off + IPV6_HDR_LEN > c->avail || ip[0] >> 4 != 6)
		return;
	payload = be16_at(ip + 4);
	if (c->off + IPV6_HDR_LEN + payload > c->end)
		return;
	p->l3_off = c->off;
	c->off += IPV6_HDR_LEN;
	c->end = c->off + payload;
	parse_ipv6_payload(c, ip[6], p);
}

/* Skip up to two tags. Returns the EtherType after them. */
static uint16_t
parse_vlan(struct cursor *c, uint16_t type, struct mpsim_parsed *p)
{
	uint8_t tags = 0;

	while ((type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ) && tags < 2 &&
	       c->off + 4 <= c->avail) {
		if (tags == 0) {
			p->vlan = type == RTE_ETHER_TYPE_VLAN;
			p->vlan_tci = be16_at(c->data + c->off);
		}
		type = be16_at(c->data + c->off + 2);
		c->off += 4;
		tags++;
	}
	p->tags = tags;
	if (tags > 0)
		p->ptype = tags == 1 ? RTE_PTYPE_L2_ETHER_VLAN : RTE_PTYPE_L2_ETHER_QINQ;
	return type;
}

static void
parse_from(struct cursor *c, uint16_t type, struct mpsim_parsed *p)
{
	if (unlikely(type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ))
		type = parse_vlan(c, type, p);
	if (type == RTE_ETHER_TYPE_IPV4)
		parse_ipv4(c, p);
	else if (type == RTE_ETHER_TYPE_IPV6)
		parse_ipv6(c, p);
	else if (type == RTE_ETHER_TYPE_ARP && p->ptype == RTE_PTYPE_L2_ETHER)
		p->ptype = RTE_PTYPE_L2_ETHER_ARP;
}

void
mpsim_parse(const uint8_t *data, uint32_t avail, uint32_t frame_len, struct mpsim_parsed *p)
{
	struct cursor c = {
		.data = data,
		.avail = avail,
		.off = RTE_ETHER_HDR_LEN,
		.end = frame_len,
	};

	*p = (struct mpsim_parsed){.ptype = RTE_PTYPE_L2_ETHER};
	parse_from(&c, be16_at(data + 12), p);
}

uint32_t
mpsim_parse_inner(const uint8_t *data, uint32_t avail, uint32_t end, uint32_t off, uint16_t type,
		  struct mpsim_parsed *p)
{
	struct cursor c = {.data = data, .avail = avail, .off = off, .end = end};

	uint32_t frame = 0;

	*p = (struct mpsim_parsed){.ptype = RTE_PTYPE_L2_ETHER};
	if (type == RTE_ETHER_TYPE_TEB) {
		if (!has(&c, RTE_ETHER_HDR_LEN))
			return 0;
		type = be16_at(data + off + 12);
		c.off += RTE_ETHER_HDR_LEN;
		frame = off;
	}
	parse_from(&c, type, p);
	return frame;
}

static uint8_t
class_proto(uint8_t cls)
{
	switch (cls) {
	case MPSIM_CLASS_IPV4_TCP:
	case MPSIM_CLASS_IPV6_TCP:
		return IPPROTO_TCP;
	case MPSIM_CLASS_IPV4_UDP:
	case MPSIM_CLASS_IPV6_UDP:
		return IPPROTO_UDP;
	default:
		return IPPROTO_SCTP;
	}
}

void
mpsim_parse_tuple(const uint8_t *data, const struct mpsim_parsed *p, struct octo_tuple *t)
{
	const uint8_t *l3 = data + p->l3_off;
	const uint8_t *l4 = data + p->l4_off;

	t->proto = class_proto(p->cls);
	t->reserved = 0;
	memcpy(&t->src_port, l4, 2);
	memcpy(&t->dst_port, l4 + 2, 2);
	if (mpsim_class_is_ipv4(p->cls)) {
		t->family = OCTO_IPV4;
		memset(t->src, 0, sizeof(t->src) + sizeof(t->dst));
		memcpy(t->src, l3 + 12, 4);
		memcpy(t->dst, l3 + 16, 4);
	} else {
		t->family = OCTO_IPV6;
		memcpy(t->src, l3 + 8, 16);
		memcpy(t->dst, l3 + 24, 16);
	}
}
