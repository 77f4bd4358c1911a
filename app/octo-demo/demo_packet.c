/* SPDX-License-Identifier: BSD-3-Clause */

#include <assert.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include "demo_traffic.h"

#define MAGIC RTE_BE16(0x0c70)
#define ECHO_PORT 7
#define FIRST_PORT 40000

static_assert(sizeof(struct demo_frame) == DEMO_FRAME_LEN, "the frame has 64 bytes");
static_assert(offsetof(struct demo_frame, magic) == 14 + 20 + 8, "the headers have no gaps");

/* Addresses of RFC 2544, which are for measurements. */
struct demo_flow_id
demo_flow_id(unsigned int flow)
{
	return (struct demo_flow_id){
		.src = rte_cpu_to_be_32(RTE_IPV4(198U, 18U, 0U, 1U + flow / 8)),
		.dst = rte_cpu_to_be_32(RTE_IPV4(198U, 19U, 0U, 1U)),
		.src_port = rte_cpu_to_be_16(FIRST_PORT + flow),
		.dst_port = rte_cpu_to_be_16(ECHO_PORT),
	};
}

struct demo_flow_id
demo_flow_reverse(const struct demo_flow_id *id)
{
	return (struct demo_flow_id){
		.src = id->dst,
		.dst = id->src,
		.src_port = id->dst_port,
		.dst_port = id->src_port,
	};
}

void
demo_frame_init(struct demo_frame *frame, unsigned int flow, const struct rte_ether_addr *src,
		const struct rte_ether_addr *dst)
{
	const struct demo_flow_id id = demo_flow_id(flow);
	/* on its own: the one in the frame is not aligned */
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(DEMO_FRAME_LEN - sizeof(frame->eth)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = id.src,
		.dst_addr = id.dst,
	};

	memset(frame, 0, sizeof(*frame));
	frame->eth.src_addr = *src;
	frame->eth.dst_addr = *dst;
	frame->eth.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	frame->ip = ip;
	frame->udp.src_port = id.src_port;
	frame->udp.dst_port = id.dst_port;
	frame->udp.dgram_len = rte_cpu_to_be_16(DEMO_FRAME_LEN - sizeof(frame->eth) -
						sizeof(frame->ip));
	frame->magic = MAGIC;
	frame->flow = flow;
}

/* What an echo server does: all addresses and ports change places. */
void
demo_frame_turn_round(struct rte_mbuf *m)
{
	struct demo_frame *frame = rte_pktmbuf_mtod(m, struct demo_frame *);
	const struct rte_ether_addr mac = frame->eth.src_addr;
	const rte_be32_t ip = frame->ip.src_addr;
	const rte_be16_t port = frame->udp.src_port;

	frame->eth.src_addr = frame->eth.dst_addr;
	frame->eth.dst_addr = mac;
	frame->ip.src_addr = frame->ip.dst_addr;
	frame->ip.dst_addr = ip;
	frame->udp.src_port = frame->udp.dst_port;
	frame->udp.dst_port = port;
}

bool
demo_frame_is_ours(const struct rte_mbuf *m)
{
	const struct demo_frame *frame = rte_pktmbuf_mtod(m, const struct demo_frame *);

	return m->pkt_len == DEMO_FRAME_LEN && m->data_len == DEMO_FRAME_LEN &&
	       frame->magic == MAGIC && frame->flow < DEMO_NB_FLOWS;
}
