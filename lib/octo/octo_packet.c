/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <eal_export.h>
#include <rte_common.h>
#include <rte_ether.h>

#include "octo_packet.h"

#define MAX_VLAN_TAGS 2
#define IPV4_HDR_MIN 20
#define IPV6_HDR_LEN 40
/* More than any sensible chain has; bounds the loop. */
#define IPV6_MAX_EXTENSIONS 8

struct cursor {
	const uint8_t *at; /* start of the next header */
	uint32_t left;     /* bytes that may be read from there */
	uint32_t unseen;   /* bytes of the frame beyond those */
};

static uint16_t
be16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool
skip(struct cursor *c, uint32_t len)
{
	if (len > c->left)
		return false;
	c->at += len;
	c->left -= len;
	return true;
}

/* Limits the cursor to the datagram, which ends before the padding of a short frame. */
static bool
trim(struct cursor *c, uint32_t len)
{
	if (len > c->left + c->unseen)
		return false;
	c->left = RTE_MIN(c->left, len);
	return true;
}

/* Fails if the L4 header is incomplete: then a NIC matches no rule either. */
static bool
read_ports(const struct cursor *c, uint8_t proto, struct octo_tuple *t)
{
	const uint32_t len = proto == IPPROTO_TCP  ? 20 :
			     proto == IPPROTO_UDP  ? 8 :
			     proto == IPPROTO_SCTP ? 12 :
						     UINT32_MAX;

	if (c->left < len)
		return false;
	t->proto = proto;
	memcpy(&t->src_port, c->at, 2);
	memcpy(&t->dst_port, c->at + 2, 2);
	return true;
}

static bool
read_ipv4(struct cursor *c, struct octo_tuple *t)
{
	const uint8_t *ip = c->at;
	uint32_t len;

	if (c->left < IPV4_HDR_MIN || ip[0] >> 4 != 4)
		return false;
	len = (ip[0] & 0xf) * 4;
	/* "more fragments" is set, or the offset is not 0 */
	if (len < IPV4_HDR_MIN || (be16_at(ip + 6) & 0x3fff) != 0)
		return false;
	if (!trim(c, be16_at(ip + 2)) || !skip(c, len))
		return false;
	t->family = OCTO_IPV4;
	memcpy(t->src, ip + 12, 4);
	memcpy(t->dst, ip + 16, 4);
	return read_ports(c, ip[9], t);
}

static bool
read_ipv6_payload(struct cursor *c, uint8_t proto, struct octo_tuple *t)
{
	for (int i = 0; i < IPV6_MAX_EXTENSIONS && c->left >= 8; i++) {
		const uint8_t *ext = c->at;
		const uint32_t len = octo_packet_extension_len(proto, ext);

		/* a Fragment header ends up here, too: NICs do not look behind it */
		if (len == 0)
			return read_ports(c, proto, t);
		if (!skip(c, len))
			return false;
		proto = ext[0];
	}
	return false;
}

static bool
read_ipv6(struct cursor *c, struct octo_tuple *t)
{
	const uint8_t *ip = c->at;

	if (c->left < IPV6_HDR_LEN || ip[0] >> 4 != 6)
		return false;
	skip(c, IPV6_HDR_LEN);
	if (!trim(c, be16_at(ip + 4)))
		return false;
	t->family = OCTO_IPV6;
	memcpy(t->src, ip + 8, 16);
	memcpy(t->dst, ip + 24, 16);
	return read_ipv6_payload(c, ip[6], t);
}

static bool
is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ;
}

__rte_hot bool
octo_packet_parse(const uint8_t *data, uint32_t avail, uint32_t frame_len, struct octo_tuple *t)
{
	struct cursor c = {.at = data, .left = avail, .unseen = frame_len - avail};
	struct octo_tuple found;
	uint16_t type;
	bool ok;

	if (!skip(&c, RTE_ETHER_HDR_LEN))
		return false;
	type = be16_at(c.at - 2);
	for (int tags = 0; tags < MAX_VLAN_TAGS && is_tag(type); tags++) {
		if (!skip(&c, RTE_VLAN_HLEN))
			return false;
		type = be16_at(c.at - 2);
	}
	octo_tuple_clear(&found);
	ok = (type == RTE_ETHER_TYPE_IPV4 && read_ipv4(&c, &found)) ||
	     (type == RTE_ETHER_TYPE_IPV6 && read_ipv6(&c, &found));
	if (ok)
		*t = found;
	return ok;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_packet_tuple)
bool
octo_packet_tuple(const struct rte_mbuf *m, struct octo_tuple *t)
{
	const uint32_t avail = RTE_MIN(m->pkt_len, (uint32_t)OCTO_PACKET_HDR_MAX);
	uint8_t gathered[OCTO_PACKET_HDR_MAX];
	const uint8_t *data = rte_pktmbuf_read(m, 0, avail, gathered);

	return data != NULL && octo_packet_parse(data, avail, m->pkt_len, t);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_packet_tuple_of_first)
bool
octo_packet_tuple_of_first(const struct rte_mbuf *m, struct octo_tuple *t)
{
	/* the frame was of any length */
	return octo_packet_parse(rte_pktmbuf_mtod(m, const uint8_t *),
				 RTE_MIN(m->data_len, (uint16_t)OCTO_PACKET_HDR_MAX), UINT32_MAX,
				 t);
}
