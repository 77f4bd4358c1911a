/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "mpsim_csum.h"

static uint16_t
fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/*
 * Sum of the TCP/UDP pseudo header. rte_ipv6_phdr_cksum() would use an extension header as the
 * L4.
 */
static uint32_t
pseudo_sum(const uint8_t *l3, bool ipv4, uint8_t proto, uint32_t l4_len)
{
	uint32_t sum = ipv4 ? rte_raw_cksum(l3 + 12, 8) : rte_raw_cksum(l3 + 8, 32);

	return sum + rte_cpu_to_be_16(proto) + rte_cpu_to_be_16(l4_len);
}

/*
 * Sum of len bytes from off on. rte_raw_cksum_mbuf() of DPDK 22.11 loses the carries of a
 * segment that starts at an odd offset.
 */
static uint32_t
chain_sum(const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	uint32_t done = 0;
	uint32_t sum = 0;

	for (; m != NULL && done < len; m = m->next) {
		uint32_t n;
		uint16_t part;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		n = RTE_MIN(m->data_len - off, len - done);
		part = rte_raw_cksum(rte_pktmbuf_mtod_offset(m, const void *, off), n);
		sum += done & 1 ? rte_bswap16(part) : part;
		done += n;
		off = 0;
	}
	return sum;
}

/* One's complement sum over pseudo header and L4; 0xffff when the checksum in it is right. */
static uint16_t
full_l4_sum(const struct rte_mbuf *m, const uint8_t *l3, bool ipv4, uint8_t proto, uint32_t l4_off,
	    uint32_t l4_len)
{
	return fold(chain_sum(m, l4_off, l4_len) + pseudo_sum(l3, ipv4, proto, l4_len));
}

static bool
udp_has_no_checksum(const uint8_t *l4)
{
	return l4[6] == 0 && l4[7] == 0;
}

static uint64_t
check_l4(const struct rte_mbuf *m, const uint8_t *data, const struct mpsim_parsed *p, bool udp,
	 bool tcp)
{
	const bool ipv4 = mpsim_class_is_ipv4(p->cls);
	uint8_t proto;

	switch (p->cls) {
	case MPSIM_CLASS_IPV4_TCP:
	case MPSIM_CLASS_IPV6_TCP:
		if (!tcp)
			return 0;
		proto = IPPROTO_TCP;
		break;
	case MPSIM_CLASS_IPV4_UDP:
	case MPSIM_CLASS_IPV6_UDP:
		if (!udp || (ipv4 && udp_has_no_checksum(data + p->l4_off)))
			return 0;
		proto = IPPROTO_UDP;
		break;
	default:
		return 0;
	}
	return full_l4_sum(m, data + p->l3_off, ipv4, proto, p->l4_off, p->l4_len) == 0xffff ?
		       RTE_MBUF_F_RX_L4_CKSUM_GOOD :
		       RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

uint64_t
mpsim_csum_check(const struct rte_mbuf *m, const uint8_t *hdr, const struct mpsim_parsed *p,
		 bool ip, bool udp, bool tcp)
{
	const uint8_t *l3 = hdr + p->l3_off;
	uint64_t flags = 0;

	if (ip && mpsim_class_is_ipv4(p->cls))
		flags |= rte_raw_cksum(l3, (l3[0] & 0xf) * 4) == 0xffff ?
				 RTE_MBUF_F_RX_IP_CKSUM_GOOD :
				 RTE_MBUF_F_RX_IP_CKSUM_BAD;
	if (udp || tcp)
		flags |= check_l4(m, hdr, p, udp, tcp);
	return flags;
}

/* The L4 protocol whose checksum is requested, or 0. */
static uint8_t
wanted_l4(const struct rte_mbuf *m)
{
	switch (m->ol_flags & RTE_MBUF_F_TX_L4_MASK) {
	case RTE_MBUF_F_TX_TCP_CKSUM:
		return IPPROTO_TCP;
	case RTE_MBUF_F_TX_UDP_CKSUM:
		return IPPROTO_UDP;
	default:
		return 0;
	}
}

uint32_t
mpsim_csum_headers(const struct rte_mbuf *m)
{
	const uint8_t proto = wanted_l4(m);
	const uint32_t l4 = proto == IPPROTO_TCP ? 20 : proto == IPPROTO_UDP ? 8 : 0;

	return m->l2_len + m->l3_len + l4;
}

static void
fill_l4(struct rte_mbuf *m, uint8_t *l3, uint8_t proto)
{
	const bool ipv4 = l3[0] >> 4 == 4;
	const uint32_t l4_off = m->l2_len + m->l3_len;
	uint32_t l4_len = m->pkt_len - l4_off;
	uint8_t *field = l3 + m->l3_len + (proto == IPPROTO_TCP ? 16 : 6);
	rte_be16_t ip_len;
	uint16_t sum;

	/* a frame may have padding after the datagram */
	memcpy(&ip_len, l3 + (ipv4 ? 2 : 4), sizeof(ip_len));
	l4_len = RTE_MIN(l4_len, rte_be_to_cpu_16(ip_len) - (ipv4 ? m->l3_len : m->l3_len - 40u));
	memset(field, 0, 2);
	sum = ~full_l4_sum(m, l3, ipv4, proto, l4_off, l4_len);
	if (sum == 0 && proto == IPPROTO_UDP)
		sum = 0xffff;
	memcpy(field, &sum, 2);
}

int
mpsim_csum_fill(struct rte_mbuf *m)
{
	const uint8_t proto = wanted_l4(m);
	uint8_t *l3 = rte_pktmbuf_mtod_offset(m, uint8_t *, m->l2_len);
	uint8_t min_l3;

	if ((m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) == 0 && proto == 0)
		return 0;
	if (mpsim_csum_headers(m) > m->data_len || m->l3_len == 0)
		return -EINVAL;
	min_l3 = l3[0] >> 4 == 4 ? 20 : 40;
	if (m->l3_len < min_l3)
		return -EINVAL;
	if ((m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) != 0 && min_l3 == 20) {
		uint16_t sum;

		memset(l3 + 10, 0, 2);
		sum = ~rte_raw_cksum(l3, m->l3_len);
		memcpy(l3 + 10, &sum, 2);
	}
	if (proto != 0)
		fill_l4(m, l3, proto);
	m->ol_flags &= ~(RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK);
	return 0;
}
