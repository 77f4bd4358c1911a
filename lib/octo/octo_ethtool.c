/* SPDX-License-Identifier: BSD-3-Clause */

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_ethdev.h>

#include "octo_ethtool.h"

/* The field input_xfrm of newer headers; in older ones it is reserved, and 0. */
#define XFRM_OFFSET (offsetof(struct ethtool_rxfh, hfunc) + 1)

/* Flow types of rules, and of the hash. */
static const struct flow_type {
	uint32_t type;
	uint8_t family;
	uint8_t proto;
} flow_types[OCTO_ETHTOOL_NB_HASHED] = {
	{TCP_V4_FLOW, OCTO_IPV4, IPPROTO_TCP},
	{UDP_V4_FLOW, OCTO_IPV4, IPPROTO_UDP},
	{TCP_V6_FLOW, OCTO_IPV6, IPPROTO_TCP},
	{UDP_V6_FLOW, OCTO_IPV6, IPPROTO_UDP},
};

/* Of both families: two addresses, two ports, and the traffic class, one after the other. */
static_assert(offsetof(struct ethtool_tcpip4_spec, tos) == 2 * 4 + 4, "no padding");
static_assert(offsetof(struct ethtool_tcpip6_spec, tclass) == 2 * 16 + 4, "no padding");

int
octo_ethtool_fill_insert(struct ethtool_rxnfc *nfc, const struct octo_tuple *tuple, uint32_t queue,
			 uint32_t location)
{
	const size_t len = octo_tuple_addr_len(tuple);
	uint8_t *spec = nfc->fs.h_u.hdata;
	unsigned int i = 0;

	while (flow_types[i].family != tuple->family || flow_types[i].proto != tuple->proto)
		if (++i == RTE_DIM(flow_types))
			return -ENOTSUP;
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_SRXCLSRLINS};
	nfc->fs.flow_type = flow_types[i].type;
	memcpy(spec, tuple->src, len);
	memcpy(spec + len, tuple->dst, len);
	memcpy(spec + 2 * len, &tuple->src_port, sizeof(tuple->src_port));
	memcpy(spec + 2 * len + 2, &tuple->dst_port, sizeof(tuple->dst_port));
	memset(nfc->fs.m_u.hdata, 0xff, 2 * len + 4);
	nfc->fs.ring_cookie = queue;
	nfc->fs.location = location;
	return 0;
}

/* FLOW_EXT and FLOW_RSS are part of the type: a rule that has more to match is another one. */
static const struct flow_type *
type_of(const struct ethtool_rx_flow_spec *fs)
{
	for (unsigned int i = 0; i < RTE_DIM(flow_types); i++)
		if (flow_types[i].type == fs->flow_type)
			return &flow_types[i];
	return NULL;
}

bool
octo_ethtool_same_flow(const struct ethtool_rx_flow_spec *a, const struct ethtool_rx_flow_spec *b)
{
	const struct flow_type *type = type_of(a);
	size_t len;

	if (type == NULL || type != type_of(b))
		return false;
	len = type->family == OCTO_IPV4 ? 2 * 4 + 5 : 2 * 16 + 5;
	return memcmp(a->h_u.hdata, b->h_u.hdata, len) == 0 &&
	       memcmp(a->m_u.hdata, b->m_u.hdata, len) == 0;
}

bool
octo_ethtool_read_tuple(const struct ethtool_rx_flow_spec *fs, struct octo_tuple *tuple)
{
	const struct flow_type *type = type_of(fs);
	const uint8_t *spec = fs->h_u.hdata;
	struct ethtool_rxnfc nfc;
	size_t len;

	octo_tuple_clear(tuple);
	if (type == NULL)
		return false;
	tuple->family = type->family;
	tuple->proto = type->proto;
	len = octo_tuple_addr_len(tuple);
	memcpy(tuple->src, spec, len);
	memcpy(tuple->dst, spec + len, len);
	memcpy(&tuple->src_port, spec + 2 * len, sizeof(tuple->src_port));
	memcpy(&tuple->dst_port, spec + 2 * len + 2, sizeof(tuple->dst_port));
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

void
octo_ethtool_ask_hash(struct ethtool_rxnfc *nfc, unsigned int i)
{
	*nfc = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXFH, .flow_type = flow_types[i].type};
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

#define BY_AGENT                                                                                   \
	": for an application without it, octo-agent --ethtool IFACE asks the kernel, with the "   \
	"devarg ethtool=unix:PATH"

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_rule_refusal)
const char *
octo_ethtool_rule_refusal(int code)
{
	const char *common = common_refusal(code);

	switch (code) {
	case EPERM:
	case EACCES:
		return "the kernel takes ntuple rules only from a process with "
		       "CAP_NET_ADMIN" BY_AGENT;
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
		return "the kernel lets only a process with CAP_NET_ADMIN change the RETA" BY_AGENT;
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
