/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "bench_flow.h"

#define FIRST_PORT 1024
#define NB_PORTS (UINT16_MAX + 1 - FIRST_PORT)
#define TTL 64
#define IPV6_VERSION RTE_BE32(6u << 28)

/** The first fragment of a datagram that has more, or one from its middle. */
#define FIRST_FRAGMENT RTE_IPV4_HDR_MF_FLAG
#define LATER_FRAGMENT 185

struct ipv6_fragment {
	uint8_t next;
	uint8_t reserved;
	rte_be16_t offset;
	rte_be32_t id;
};

/* What a frame is made of. */
struct headers {
	struct octo_tuple tuple;
	uint16_t fragment; /* flags and offset as IPv4 has them, 0: whole */
};

/* Of 2^24 flows no two are the same: multiplied by an odd number, all differ. */
void
bench_flow_tuple(uint32_t flow, struct octo_tuple *tuple)
{
	const uint64_t r = bench_random_of(flow);
	const rte_be32_t src = rte_cpu_to_be_32(RTE_IPV4(10u, 0, 0, 0) |
						(flow * 2654435761u & 0xffffff));
	const rte_be32_t dst = rte_cpu_to_be_32(RTE_IPV4(198u, 18u, 0, 0) | (r & 0x1ffff));

	memset(tuple, 0, sizeof(*tuple));
	tuple->family = OCTO_IPV4;
	tuple->proto = flow % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
	tuple->src_port = rte_cpu_to_be_16(FIRST_PORT + (r >> 20) % NB_PORTS);
	tuple->dst_port = rte_cpu_to_be_16(FIRST_PORT + (r >> 40) % NB_PORTS);
	memcpy(tuple->src, &src, sizeof(src));
	memcpy(tuple->dst, &dst, sizeof(dst));
}

static void
mixed_headers(uint32_t flow, struct headers *h)
{
	static const uint16_t fragments[] = {0, 0, FIRST_FRAGMENT, LATER_FRAGMENT};
	const uint64_t r = bench_random_of(flow);
	struct octo_tuple *t = &h->tuple;
	const uint64_t address[] = {
		bench_random_of(r),
		bench_random_of(r + 1),
		bench_random_of(r + 2),
		bench_random_of(r + 3),
	};

	memset(h, 0, sizeof(*h));
	t->family = r & 1 ? OCTO_IPV6 : OCTO_IPV4;
	t->proto = r & 2 ? IPPROTO_TCP : IPPROTO_UDP;
	h->fragment = fragments[(r >> 2) % RTE_DIM(fragments)];
	t->src_port = (uint16_t)(r >> 16);
	t->dst_port = (uint16_t)(r >> 32);
	memcpy(t->src, &address[0], octo_tuple_addr_len(t));
	memcpy(t->dst, &address[2], octo_tuple_addr_len(t));
	if (t->family == OCTO_IPV6) {
		memcpy(t->src + 8, &address[1], 8);
		memcpy(t->dst + 8, &address[3], 8);
		/* no group: global unicast */
		t->src[0] = t->dst[0] = 0x20;
	}
}

static uint8_t *
write_ipv4(const struct headers *h, uint8_t *at)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(BENCH_FRAME_LEN - RTE_ETHER_HDR_LEN),
		.fragment_offset = rte_cpu_to_be_16(h->fragment),
		.time_to_live = TTL,
		.next_proto_id = h->tuple.proto,
	};

	memcpy(&ip.src_addr, h->tuple.src, sizeof(ip.src_addr));
	memcpy(&ip.dst_addr, h->tuple.dst, sizeof(ip.dst_addr));
	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	memcpy(at, &ip, sizeof(ip));
	return at + sizeof(ip);
}

static uint8_t *
write_ipv6(const struct headers *h, uint8_t *at)
{
	struct rte_ipv6_hdr ip = {
		.vtc_flow = IPV6_VERSION,
		.payload_len = rte_cpu_to_be_16(BENCH_FRAME_LEN - RTE_ETHER_HDR_LEN - sizeof(ip)),
		.proto = h->fragment != 0 ? IPPROTO_FRAGMENT : h->tuple.proto,
		.hop_limits = TTL,
	};
	const struct ipv6_fragment ext = {
		.next = h->tuple.proto,
		/* units of eight bytes in both, but here they stand three bits further up */
		.offset = rte_cpu_to_be_16(h->fragment == FIRST_FRAGMENT ? 1 : h->fragment << 3),
	};

	memcpy(&ip.src_addr, h->tuple.src, sizeof(h->tuple.src));
	memcpy(&ip.dst_addr, h->tuple.dst, sizeof(h->tuple.dst));
	memcpy(at, &ip, sizeof(ip));
	at += sizeof(ip);
	if (h->fragment == 0)
		return at;
	memcpy(at, &ext, sizeof(ext));
	return at + sizeof(ext);
}

static void
write_l4(const struct octo_tuple *t, uint8_t *at, uint16_t len)
{
	const struct rte_tcp_hdr tcp = {
		.src_port = t->src_port,
		.dst_port = t->dst_port,
		.data_off = sizeof(tcp) / 4 << 4,
	};
	const struct rte_udp_hdr udp = {
		.src_port = t->src_port,
		.dst_port = t->dst_port,
		.dgram_len = rte_cpu_to_be_16(len),
	};

	if (t->proto == IPPROTO_TCP)
		memcpy(at, &tcp, sizeof(tcp));
	else
		memcpy(at, &udp, sizeof(udp));
}

static void
write_frame(const struct headers *h, uint32_t flow, const struct rte_ether_addr *src,
	    const struct rte_ether_addr *dst, struct bench_frame *frame)
{
	const bool ipv4 = h->tuple.family == OCTO_IPV4;
	const struct rte_ether_hdr eth = {
		.src_addr = *src,
		.dst_addr = *dst,
		.ether_type = ipv4 ? RTE_BE16(RTE_ETHER_TYPE_IPV4) : RTE_BE16(RTE_ETHER_TYPE_IPV6),
	};
	const struct bench_mark mark = {.magic = BENCH_MAGIC, .flow = flow};
	uint8_t *at = frame->data + sizeof(eth);

	memset(frame, 0, sizeof(*frame));
	memcpy(frame->data, &eth, sizeof(eth));
	at = ipv4 ? write_ipv4(h, at) : write_ipv6(h, at);
	if (h->fragment != LATER_FRAGMENT)
		write_l4(&h->tuple, at, frame->data + BENCH_FRAME_LEN - at);
	memcpy(frame->data + BENCH_FRAME_LEN - sizeof(mark), &mark, sizeof(mark));
}

void
bench_flow_write_plain(uint32_t flow, const struct rte_ether_addr *src,
		       const struct rte_ether_addr *dst, struct bench_frame *frame)
{
	struct headers h = {.fragment = 0};

	bench_flow_tuple(flow, &h.tuple);
	write_frame(&h, flow, src, dst, frame);
}

void
bench_flow_write_mixed(uint32_t flow, const struct rte_ether_addr *src,
		       const struct rte_ether_addr *dst, struct bench_frame *frame)
{
	struct headers h;

	mixed_headers(flow, &h);
	write_frame(&h, flow, src, dst, frame);
}

int
bench_flows_make(struct bench_flows *flows, uint32_t nb, uint16_t from_port, uint16_t to_port,
		 bench_flow_write_t write)
{
	struct rte_ether_addr src, dst;
	int ret = rte_eth_macaddr_get(from_port, &src);

	*flows = (struct bench_flows){.nb = nb};
	if (ret == 0)
		ret = rte_eth_macaddr_get(to_port, &dst);
	if (ret != 0)
		return ret;
	flows->frame = malloc(nb * sizeof(flows->frame[0]));
	if (flows->frame == NULL) {
		fprintf(stderr, "%s: no memory for %u flows\n", app_name, nb);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nb; i++)
		write(i, &src, &dst, &flows->frame[i]);
	return 0;
}

void
bench_flows_free(struct bench_flows *flows)
{
	free(flows->frame);
	flows->frame = NULL;
}
