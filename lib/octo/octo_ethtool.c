/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_ethdev.h>

#include "octo_ethtool.h"

/* The field input_xfrm of newer headers; in older ones it is reserved, and 0. */
#define XFRM_OFFSET (offsetof(struct ethtool_rxfh, hfunc) + 1)

void
octo_ethtool_ask_room(struct ethtool_rxnfc *nfc)
{
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXCLSRLCNT};
}

struct octo_ethtool_room
octo_ethtool_read_room(const struct ethtool_rxnfc *nfc)
{
	return (struct octo_ethtool_room){
		.size = (uint32_t)nfc->data & ~RX_CLS_LOC_SPECIAL,
		.chooses_places = (nfc->data & RX_CLS_LOC_SPECIAL) != 0,
	};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_ask_rings)
void
octo_ethtool_ask_rings(struct ethtool_rxnfc *nfc)
{
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXRINGS};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_ask_rule)
void
octo_ethtool_ask_rule(struct ethtool_rxnfc *nfc, uint32_t location)
{
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXCLSRULE, .fs.location = location};
}

static void
fill_ipv4(struct ethtool_rx_flow_spec *fs, const struct octo_tuple *t)
{
	struct ethtool_tcpip4_spec *spec = &fs->h_u.tcp_ip4_spec;
	struct ethtool_tcpip4_spec *mask = &fs->m_u.tcp_ip4_spec;

	fs->flow_type = t->proto == IPPROTO_TCP ? TCP_V4_FLOW : UDP_V4_FLOW;
	memcpy(&spec->ip4src, t->src, sizeof(spec->ip4src));
	memcpy(&spec->ip4dst, t->dst, sizeof(spec->ip4dst));
	spec->psrc = t->src_port;
	spec->pdst = t->dst_port;
	mask->ip4src = UINT32_MAX;
	mask->ip4dst = UINT32_MAX;
	mask->psrc = UINT16_MAX;
	mask->pdst = UINT16_MAX;
}

static void
fill_ipv6(struct ethtool_rx_flow_spec *fs, const struct octo_tuple *t)
{
	struct ethtool_tcpip6_spec *spec = &fs->h_u.tcp_ip6_spec;
	struct ethtool_tcpip6_spec *mask = &fs->m_u.tcp_ip6_spec;

	fs->flow_type = t->proto == IPPROTO_TCP ? TCP_V6_FLOW : UDP_V6_FLOW;
	memcpy(spec->ip6src, t->src, sizeof(spec->ip6src));
	memcpy(spec->ip6dst, t->dst, sizeof(spec->ip6dst));
	spec->psrc = t->src_port;
	spec->pdst = t->dst_port;
	memset(mask->ip6src, 0xff, sizeof(mask->ip6src));
	memset(mask->ip6dst, 0xff, sizeof(mask->ip6dst));
	mask->psrc = UINT16_MAX;
	mask->pdst = UINT16_MAX;
}

int
octo_ethtool_fill_insert(struct ethtool_rxnfc *nfc, const struct octo_tuple *tuple, uint32_t queue,
			 uint32_t location)
{
	if (tuple->proto != IPPROTO_TCP && tuple->proto != IPPROTO_UDP)
		return -ENOTSUP;
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_SRXCLSRLINS};
	if (tuple->family == OCTO_IPV4)
		fill_ipv4(&nfc->fs, tuple);
	else
		fill_ipv6(&nfc->fs, tuple);
	nfc->fs.ring_cookie = queue;
	nfc->fs.location = location;
	return 0;
}

void
octo_ethtool_fill_delete(struct ethtool_rxnfc *nfc, uint32_t location)
{
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_SRXCLSRLDEL, .fs.location = location};
}

static bool
same_ipv4(const struct ethtool_tcpip4_spec *a, const struct ethtool_tcpip4_spec *b)
{
	return a->ip4src == b->ip4src && a->ip4dst == b->ip4dst && a->psrc == b->psrc &&
	       a->pdst == b->pdst && a->tos == b->tos;
}

static bool
same_ipv6(const struct ethtool_tcpip6_spec *a, const struct ethtool_tcpip6_spec *b)
{
	return memcmp(a->ip6src, b->ip6src, sizeof(a->ip6src)) == 0 &&
	       memcmp(a->ip6dst, b->ip6dst, sizeof(a->ip6dst)) == 0 && a->psrc == b->psrc &&
	       a->pdst == b->pdst && a->tclass == b->tclass;
}

/* FLOW_EXT and FLOW_RSS are part of the type: a rule that has more to match is another one. */
RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_same_flow)
bool
octo_ethtool_same_flow(const struct ethtool_rx_flow_spec *a, const struct ethtool_rx_flow_spec *b)
{
	if (a->flow_type != b->flow_type)
		return false;
	switch (a->flow_type) {
	case TCP_V4_FLOW:
	case UDP_V4_FLOW:
		return same_ipv4(&a->h_u.tcp_ip4_spec, &b->h_u.tcp_ip4_spec) &&
		       same_ipv4(&a->m_u.tcp_ip4_spec, &b->m_u.tcp_ip4_spec);
	case TCP_V6_FLOW:
	case UDP_V6_FLOW:
		return same_ipv6(&a->h_u.tcp_ip6_spec, &b->h_u.tcp_ip6_spec) &&
		       same_ipv6(&a->m_u.tcp_ip6_spec, &b->m_u.tcp_ip6_spec);
	default:
		return false;
	}
}

static void
read_ipv4(const struct ethtool_tcpip4_spec *spec, struct octo_tuple *t)
{
	t->family = OCTO_IPV4;
	memcpy(t->src, &spec->ip4src, sizeof(spec->ip4src));
	memcpy(t->dst, &spec->ip4dst, sizeof(spec->ip4dst));
	t->src_port = spec->psrc;
	t->dst_port = spec->pdst;
}

static void
read_ipv6(const struct ethtool_tcpip6_spec *spec, struct octo_tuple *t)
{
	t->family = OCTO_IPV6;
	memcpy(t->src, spec->ip6src, sizeof(spec->ip6src));
	memcpy(t->dst, spec->ip6dst, sizeof(spec->ip6dst));
	t->src_port = spec->psrc;
	t->dst_port = spec->pdst;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_read_tuple)
bool
octo_ethtool_read_tuple(const struct ethtool_rx_flow_spec *fs, struct octo_tuple *tuple)
{
	struct ethtool_rxnfc nfc;

	octo_tuple_clear(tuple);
	tuple->proto = fs->flow_type == TCP_V4_FLOW || fs->flow_type == TCP_V6_FLOW ? IPPROTO_TCP :
										      IPPROTO_UDP;
	if (fs->flow_type == TCP_V4_FLOW || fs->flow_type == UDP_V4_FLOW)
		read_ipv4(&fs->h_u.tcp_ip4_spec, tuple);
	else
		read_ipv6(&fs->h_u.tcp_ip6_spec, tuple);
	return octo_ethtool_fill_insert(&nfc, tuple, 0, 0) == 0 &&
	       octo_ethtool_same_flow(&nfc.fs, fs);
}

uint32_t
octo_ethtool_free_location(const uint64_t *taken, uint32_t size)
{
	for (uint32_t i = size; i > 0; i--)
		if ((taken[(i - 1) / 64] & RTE_BIT64((i - 1) % 64)) == 0)
			return i - 1;
	return RX_CLS_LOC_ANY;
}

size_t
octo_ethtool_rss_len(uint32_t reta_size, uint32_t key_size)
{
	return sizeof(struct ethtool_rxfh) + (size_t)reta_size * sizeof(uint32_t) + key_size;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_ask_rss)
void
octo_ethtool_ask_rss(struct ethtool_rxfh *rxfh, uint32_t reta_size, uint32_t key_size)
{
	memset(rxfh, 0, octo_ethtool_rss_len(reta_size, key_size));
	rxfh->cmd = ETHTOOL_GRSSH;
	rxfh->indir_size = reta_size;
	rxfh->key_size = key_size;
}

uint8_t
octo_ethtool_xfrm(const struct ethtool_rxfh *rxfh)
{
	return ((const uint8_t *)rxfh)[XFRM_OFFSET];
}

void
octo_ethtool_fill_reta(struct ethtool_rxfh *rxfh, uint32_t reta_size, const uint32_t *reta,
		       uint32_t size, uint8_t xfrm)
{
	octo_ethtool_fill_default_reta(rxfh, xfrm);
	rxfh->indir_size = reta_size;
	for (uint32_t i = 0; i < reta_size; i++)
		rxfh->rss_config[i] = reta[i % size];
}

void
octo_ethtool_fill_default_reta(struct ethtool_rxfh *rxfh, uint8_t xfrm)
{
	memset(rxfh, 0, sizeof(*rxfh));
	rxfh->cmd = ETHTOOL_SRSSH;
	memcpy((uint8_t *)rxfh + XFRM_OFFSET, &xfrm, sizeof(xfrm));
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_ask_hash)
void
octo_ethtool_ask_hash(struct ethtool_rxnfc *nfc, unsigned int i)
{
	static const uint32_t flow_types[OCTO_ETHTOOL_NB_HASHED] = {TCP_V4_FLOW, UDP_V4_FLOW,
								    TCP_V6_FLOW, UDP_V6_FLOW};

	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXFH, .flow_type = flow_types[i]};
}

#define ADDRESSES (RXH_IP_SRC | RXH_IP_DST)
#define PORTS (RXH_L4_B_0_1 | RXH_L4_B_2_3)

/* RSS types name addresses for a whole family, and ports for each protocol. */
static uint64_t
types_of(uint64_t fields, uint64_t addresses, uint64_t ports)
{
	switch (fields) {
	case ADDRESSES:
		return addresses;
	case ADDRESSES | PORTS:
		return ports;
	default:
		return 0;
	}
}

static uint64_t
types_of_family(const uint64_t fields[2], uint64_t addresses, uint64_t tcp, uint64_t udp)
{
	const uint64_t of_tcp = types_of(fields[0], addresses, tcp);
	const uint64_t of_udp = types_of(fields[1], addresses, udp);

	/* the addresses of one protocol would be taken for those of the other */
	return of_tcp == 0 || of_udp == 0 ? 0 : of_tcp | of_udp;
}

uint64_t
octo_ethtool_hash_types(const uint64_t fields[OCTO_ETHTOOL_NB_HASHED])
{
	return types_of_family(fields, RTE_ETH_RSS_IPV4, RTE_ETH_RSS_NONFRAG_IPV4_TCP,
			       RTE_ETH_RSS_NONFRAG_IPV4_UDP) |
	       types_of_family(fields + 2, RTE_ETH_RSS_IPV6, RTE_ETH_RSS_NONFRAG_IPV6_TCP,
			       RTE_ETH_RSS_NONFRAG_IPV6_UDP);
}

/* What may be in the way of any request; NULL if it is another errno. */
static const char *
common_refusal(int code)
{
	switch (code) {
	case EBUSY:
		return "the netdev is busy: try again later";
	case ENODEV:
	case ENXIO:
		return "the netdev is gone";
	case EALREADY:
		return "another process steers the flows of the netdev";
	case ENOTCONN:
		return "octo-agent, which ethtool= names, is away";
	case ENOTRECOVERABLE:
		return "what a crash would leave cannot be written to the directory of EAL's "
		       "runtime data";
	default:
		return NULL;
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_rule_refusal)
const char *
octo_ethtool_rule_refusal(int code)
{
	const char *common = common_refusal(code);

	switch (code) {
	case EPERM:
	case EACCES:
		return "the kernel takes ntuple rules only from a process with CAP_NET_ADMIN";
	case ENOSPC:
		return "the kernel's table of ntuple rules is full";
	case EOPNOTSUPP:
		return "the kernel has no such ntuple rules for this netdev: see ntuple in "
		       "ethtool -k";
	case EEXIST:
		return "the kernel has an ntuple rule of this flow already";
	case EINVAL:
		return "the kernel refuses the ntuple rule: see in ethtool -l whether the netdev "
		       "has the channel";
	default:
		return common != NULL ? common : "the kernel refuses the ntuple rule";
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_reta_refusal)
const char *
octo_ethtool_reta_refusal(int code)
{
	const char *common = common_refusal(code);

	switch (code) {
	case EPERM:
	case EACCES:
		return "the kernel lets only a process with CAP_NET_ADMIN change the RETA";
	case EOPNOTSUPP:
		return "the netdev has no RETA that can be set";
	case ERANGE:
		return "the RETA has another size than when the port was made: somebody has "
		       "changed the channels, see ethtool -l";
	case EINVAL:
		return "the kernel refuses the RETA: see in ethtool -l whether the netdev has "
		       "the channels";
	default:
		return common != NULL ? common : "the kernel refuses the RETA";
	}
}
