/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "gen.h"

#define MAGIC RTE_BE16(0x6f63) /* "oc" */

/* Networks that RFC 2544 has for tests. */
#define SRC_NET RTE_IPV4(198u, 19, 0, 0)
#define DST_NET RTE_IPV4(198u, 18, 0, 0)
#define FIRST_SRC_PORT 49152
#define NB_SRC_PORTS 16384
#define DST_PORT 9 /* discard */
#define TTL 64

struct layout {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	rte_be16_t magic;
	rte_be16_t trial[3]; /* like the rest of it, even: nothing is filled up */
};

static_assert(sizeof(struct layout) == GEN_HEADERS, "what is written is what is sent");

static void
write_flow(struct layout *to, uint32_t flow, uint16_t len)
{
	const uint16_t ip_len = len - sizeof(struct rte_ether_hdr);

	to->eth.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	to->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(ip_len),
		.time_to_live = TTL,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(SRC_NET + flow),
		.dst_addr = rte_cpu_to_be_32(DST_NET + flow),
	};
	to->ip.hdr_checksum = rte_ipv4_cksum(&to->ip);
	to->udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16(FIRST_SRC_PORT + flow % NB_SRC_PORTS),
		.dst_port = RTE_BE16(DST_PORT),
		.dgram_len = rte_cpu_to_be_16(ip_len - sizeof(struct rte_ipv4_hdr)),
	};
	to->magic = MAGIC;
}

struct gen_packet *
gen_packets_make(const struct gen_options *options, const struct rte_ether_addr *src_mac)
{
	struct gen_packet *packets = calloc(options->flows, sizeof(*packets));
	struct layout layout;

	if (packets == NULL)
		return NULL;
	memset(&layout, 0, sizeof(layout));
	layout.eth.dst_addr = options->dst_mac;
	layout.eth.src_addr = *src_mac;
	for (uint32_t flow = 0; flow < options->flows; flow++) {
		write_flow(&layout, flow, (uint16_t)(options->size - RTE_ETHER_CRC_LEN));
		memcpy(&packets[flow], &layout, sizeof(layout));
	}
	return packets;
}

static void
write_trial(struct layout *to, uint32_t trial)
{
	to->trial[0] = rte_cpu_to_be_16((uint16_t)(trial >> 16));
	to->trial[1] = rte_cpu_to_be_16((uint16_t)trial);
}

static uint32_t
read_trial(const struct layout *from)
{
	return (uint32_t)rte_be_to_cpu_16(from->trial[0]) << 16 | rte_be_to_cpu_16(from->trial[1]);
}

void
gen_packet_write(struct rte_mbuf *pkt, const struct gen_packet *from, uint32_t trial, uint16_t len)
{
	struct layout *to = rte_pktmbuf_mtod(pkt, struct layout *);

	memcpy(to, from, sizeof(*to));
	write_trial(to, trial);
	pkt->data_len = len;
	pkt->pkt_len = len;
}

bool
gen_packet_is_ours(const struct rte_mbuf *pkt, uint32_t trial)
{
	const struct layout *got = rte_pktmbuf_mtod(pkt, const struct layout *);

	return pkt->data_len >= sizeof(*got) && got->magic == MAGIC && read_trial(got) == trial;
}
