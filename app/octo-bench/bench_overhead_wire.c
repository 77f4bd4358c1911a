/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What is at the other end of a PF. net_null makes packets by itself; what is sent on
 * net_ring and mpsim (its wire is a loop) comes back, so they are fed by their own ports;
 * a PF of net_af_packet or net_af_xdp has one end of a veth pair, and a socket feeds the
 * other one.
 */

#include <assert.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_flow.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "bench_overhead.h"
#include "octo_flow_build.h"

#define ADDR(i) RTE_IPV4(198u, 18, 0, i)
#define PORT(pf) (5000 + (pf))

/* Batches of so many, from the generator. */
#define INJECT 32

/* Headers are packed, so that nothing is between them. */
struct frame {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	uint8_t payload[OVERHEAD_FRAME_LEN - sizeof(struct rte_ether_hdr) -
			sizeof(struct rte_ipv4_hdr) - sizeof(struct rte_udp_hdr)];
};

static_assert(sizeof(struct frame) == OVERHEAD_FRAME_LEN, "a frame as it is on the wire");

/* One flow for each PF. */
static void
write_frame(struct frame *f, unsigned int pf)
{
	memset(f, 0, sizeof(*f));
	rte_ether_unformat_addr(OVERHEAD_MAC, &f->ether.src_addr);
	f->ether.dst_addr = f->ether.src_addr;
	f->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	f->ip.version_ihl = RTE_IPV4_VHL_DEF;
	f->ip.total_length = rte_cpu_to_be_16(OVERHEAD_FRAME_LEN - sizeof(f->ether));
	f->ip.time_to_live = 64;
	f->ip.next_proto_id = IPPROTO_UDP;
	f->ip.src_addr = rte_cpu_to_be_32(ADDR(1));
	f->ip.dst_addr = rte_cpu_to_be_32(ADDR(2));
	f->ip.hdr_checksum = rte_ipv4_cksum(&f->ip);
	f->udp.src_port = rte_cpu_to_be_16(PORT(0));
	f->udp.dst_port = rte_cpu_to_be_16(PORT(pf));
	f->udp.dgram_len = rte_cpu_to_be_16(OVERHEAD_FRAME_LEN - sizeof(f->ether) - sizeof(f->ip));
}

static void
fill(struct rte_mempool *pool, void *arg, void *obj, unsigned int index)
{
	struct rte_mbuf *m = obj;

	RTE_SET_USED(pool);
	RTE_SET_USED(arg);
	RTE_SET_USED(index);
	write_frame((struct frame *)((char *)m->buf_addr + RTE_PKTMBUF_HEADROOM), 0);
}

void
overhead_wire_fill(struct rte_mempool *pool)
{
	rte_mempool_obj_iter(pool, fill, NULL);
}

unsigned int
overhead_wire_room(enum overhead_pf kind)
{
	/* of a ring so many that the buffers' first lines stay in the innermost cache */
	static const unsigned int rooms[OVERHEAD_NB_PF] = {
		[OVERHEAD_NULL] = 8192,  [OVERHEAD_RING] = 128, [OVERHEAD_SIM] = 512,
		[OVERHEAD_PACKET] = 256, [OVERHEAD_XDP] = 256,
	};

	return rooms[kind];
}

int
overhead_wire_split(const struct overhead_stage *s, const struct overhead_contender *c)
{
	const struct octo_tuple tuple = {
		.family = OCTO_IPV4,
		.proto = IPPROTO_UDP,
		.src = {198, 18, 0, 1},
		.dst = {198, 18, 0, 2},
		.src_port = rte_cpu_to_be_16(PORT(0)),
		.dst_port = rte_cpu_to_be_16(PORT(1)),
	};
	struct octo_flow_rule rule;
	struct rte_flow_error error = {0};

	if (s->kind != OVERHEAD_SIM || s->shape != OVERHEAD_STRAYS)
		return 0;
	if (c->sliced)
		octo_flow_build_queue(&rule, &tuple, 0, 1, false);
	else
		octo_flow_build_transfer(&rule, OCTO_DIALECT_WIRE_ITEM, &tuple, 0, c->pf[0],
					 c->pf[1], false);
	if (rte_flow_create(c->pf[0], &rule.attr, rule.pattern, rule.actions, &error) != NULL)
		return 0;
	return -rte_errno;
}

static void
inject_by_socket(int fd, unsigned int interface, unsigned int nb)
{
	const struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = (int)interface,
		.sll_halen = RTE_ETHER_ADDR_LEN,
	};
	struct frame f;

	write_frame(&f, 0);
	/* what does not get through is missed by who counts */
	while (nb-- > 0)
		sendto(fd, &f, sizeof(f), 0, (const struct sockaddr *)&to, sizeof(to));
}

/* To the address of PF 0 or 1; of a contender with copies every second one to all. */
static void
address_to(struct rte_ether_hdr *ether, const struct overhead_contender *c, unsigned int pf,
	   unsigned int i)
{
	ether->dst_addr.addr_bytes[RTE_ETHER_ADDR_LEN - 1] = pf + 1;
	if (c->copies && i % 2 == 0)
		memset(&ether->dst_addr, 0xff, sizeof(ether->dst_addr));
}

static void
inject_by_port(uint16_t port, uint16_t queue, struct rte_mempool *pool, unsigned int pf,
	       unsigned int nb, const struct overhead_contender *addressed)
{
	struct rte_mbuf *pkts[INJECT];

	while (nb > 0) {
		const unsigned int n = RTE_MIN(nb, (unsigned int)INJECT);
		uint16_t sent;

		if (rte_pktmbuf_alloc_bulk(pool, pkts, n) != 0)
			return;
		for (unsigned int i = 0; i < n; i++) {
			pkts[i]->data_len = pkts[i]->pkt_len = OVERHEAD_FRAME_LEN;
			write_frame(rte_pktmbuf_mtod(pkts[i], struct frame *), pf);
			if (addressed != NULL)
				address_to(rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *),
					   addressed, pf, i);
		}
		sent = rte_eth_tx_burst(port, queue, pkts, n);
		rte_pktmbuf_free_bulk(pkts + sent, n - sent);
		nb -= n;
	}
}

/* The port, by its index, and the queue of a PF. */
struct leg {
	unsigned int pf;
	uint16_t queue;
};

static struct leg
leg_of(const struct overhead_contender *c, unsigned int i)
{
	return c->sliced ? (struct leg){.queue = i} : (struct leg){.pf = i};
}

void
overhead_wire_inject(const struct overhead_stage *s, const struct overhead_contender *c,
		     unsigned int i, unsigned int nb)
{
	const struct leg to = leg_of(c, i);

	switch (s->kind) {
	case OVERHEAD_RING:
		inject_by_port(c->pf[to.pf], to.queue, s->bench->pool, i, nb, NULL);
		break;
	case OVERHEAD_SIM:
		/* the switch sends them to the PF of their flow, a rule to its slice */
		if (s->shape != OVERHEAD_BY_MAC)
			inject_by_port(c->pf[0], 0, s->bench->pool, i, nb, NULL);
		else
			inject_by_port(c->pf[i], 0, s->bench->pool, i, nb, c);
		break;
	case OVERHEAD_PACKET:
	case OVERHEAD_XDP:
		inject_by_socket(s->generator, c->index[i], nb);
		break;
	default:
		break;
	}
}

void
overhead_wire_drain(const struct overhead_stage *s, const struct overhead_contender *c,
		    uint64_t drained[OVERHEAD_MAX_PFS])
{
	struct rte_mbuf *pkts[INJECT];
	unsigned int empty = 0;

	if (s->kind == OVERHEAD_NULL)
		return;
	/* a poll of one PF may move what the other one gets */
	for (unsigned int i = 0; empty <= 2 * overhead_legs(c); i = (i + 1) % overhead_legs(c)) {
		const struct leg leg = leg_of(c, i);
		const uint16_t n = rte_eth_rx_burst(c->pf[leg.pf], leg.queue, pkts, INJECT);

		rte_pktmbuf_free_bulk(pkts, n);
		drained[leg.pf] += n;
		empty = n > 0 ? 0 : empty + 1;
	}
}
