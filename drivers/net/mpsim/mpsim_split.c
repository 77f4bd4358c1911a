/* SPDX-License-Identifier: BSD-3-Clause */

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_mbuf_ptype.h>

#include "mpsim.h"
#include "mpsim_split.h"

#define VLAN_TAG_LEN 4
#define UDP_HDR_LEN 8

void
mpsim_split_read(struct mpsim_split *split, const struct rte_eth_rxconf *conf,
		 struct rte_mempool *pool)
{
	struct mpsim_segment *seg = split->seg;
	struct rte_mempool *last = NULL;
	uint32_t layers = 0;

	*split = (struct mpsim_split){.nb = 1};
	seg[0] = (struct mpsim_segment){.pool = pool, .data_off = RTE_PKTMBUF_HEADROOM};
	seg[1] = seg[0];
	if (pool != NULL)
		return;
	split->nb = conf->rx_nseg;
	for (uint16_t i = 0; i < split->nb; i++) {
		const struct rte_eth_rxseg_split *s = &conf->rx_seg[i].split;

		layers |= s->proto_hdr;
		last = s->mp != NULL ? s->mp : last;
		seg[i] = (struct mpsim_segment){
			.pool = s->mp,
			.layers = s->proto_hdr == 0 ? 0 : layers,
			.length = s->length,
			.data_off = s->offset + (i == 0 ? RTE_PKTMBUF_HEADROOM : 0),
		};
	}
	seg[split->nb] = (struct mpsim_segment){.pool = seg[split->nb - 1].pool};
	seg[split->nb + 1] = (struct mpsim_segment){.pool = last};
}

struct rte_mempool *
mpsim_split_pool(const struct mpsim_split *split)
{
	uint16_t i = 0;

	/* ethdev has checked that there is one */
	while (i < split->nb && split->seg[i].pool == NULL)
		i++;
	return split->seg[i].pool;
}

static uint32_t
end_of_l4(uint32_t l4, const uint8_t *hdr, const struct mpsim_parsed *p)
{
	if (!mpsim_class_has_ports(p->cls))
		return 0;
	if (l4 == RTE_PTYPE_L4_UDP && p->proto == IPPROTO_UDP)
		return p->l4_off + UDP_HDR_LEN;
	if (l4 == RTE_PTYPE_L4_TCP && p->proto == IPPROTO_TCP)
		return p->l4_off + (hdr[p->l4_off + 12] >> 4) * 4u;
	return 0;
}

/* Where the headers of these layers end; 0: the frame has others. */
static uint32_t
end_of(uint32_t layers, const uint8_t *hdr, const struct mpsim_parsed *p)
{
	const uint32_t l3 = layers & RTE_PTYPE_L3_MASK, l4 = layers & RTE_PTYPE_L4_MASK;
	const bool wants_ipv4 = l3 == RTE_PTYPE_L3_IPV4_EXT_UNKNOWN;

	if (l3 == 0)
		return RTE_ETHER_HDR_LEN + p->tags * VLAN_TAG_LEN;
	if (p->cls == MPSIM_CLASS_NONE || wants_ipv4 != mpsim_class_is_ipv4(p->cls))
		return 0;
	return l4 == 0 ? p->l4_off : end_of_l4(l4, hdr, p);
}

struct mpsim_part
mpsim_split_next(const struct mpsim_split *split, uint16_t seg, uint32_t done, const uint8_t *hdr,
		 const struct mpsim_parsed *p)
{
	const uint16_t other = split->nb + 1;
	struct mpsim_part part = {seg > other ? other : RTE_MIN(seg, split->nb), UINT32_MAX};
	const struct mpsim_segment *s = &split->seg[part.seg];

	if (s->length != 0)
		part.end = done + s->length;
	if (s->layers == 0)
		return part;
	part.end = end_of(s->layers, hdr, p);
	return part.end > done ? part : (struct mpsim_part){other, UINT32_MAX};
}

const uint32_t *
mpsim_split_ptypes_get(struct rte_eth_dev *dev, size_t *n)
{
	static const uint32_t ptypes[] = {
		RTE_PTYPE_L2_ETHER,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_UDP,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_TCP,
		RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_UDP,
		/* ends the list for an older DPDK, which has no length */
		RTE_PTYPE_UNKNOWN,
	};

	RTE_SET_USED(dev);
	*n = RTE_DIM(ptypes) - 1;
	return ptypes;
}
