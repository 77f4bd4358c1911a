/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What an application does with packets. All contenders run these same loops, and the
 * time of a whole loop counts: allocating, freeing and looking at packets included.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "bench_overhead.h"

/* Calls in a row that received nothing, or tried to send the same burst, until it is a fault. */
#define MAX_IDLE 100000

/* Before that, sleeps in which the kernel can serve the veth pairs, and calls after each. */
#define MAX_NAPS 20
#define NAP_US 5000
#define CALLS_OF_NAP 1000

#define PREFETCH 3
#define HOPS 256

struct loop {
	uint16_t port[2];  /* polled in turn, ... */
	uint16_t queue[2]; /* ... by these queues */
	uint16_t burst;
	struct rte_mempool *pool;
	uint64_t wanted;
	uint64_t received;
	uint64_t sent;
	uint64_t bursts;
	unsigned int idle;
	unsigned int naps;
	unsigned int turn;
};

/* Where l3fwd keeps next hops: nobody goes anywhere else here. */
static struct rte_ether_addr hops[HOPS];

/* A call achieved nothing. Before the last one sleep instead, while there are sleeps left. */
static inline void
count_idle(struct loop *l)
{
	if (likely(++l->idle < MAX_IDLE) || l->naps == MAX_NAPS)
		return;
	l->naps++;
	l->idle -= CALLS_OF_NAP;
	rte_delay_us_sleep(NAP_US);
}

static inline uint16_t
receive(struct loop *l, struct rte_mbuf **pkts)
{
	const unsigned int i = l->turn++ & 1;
	const uint16_t n = rte_eth_rx_burst(l->port[i], l->queue[i], pkts, l->burst);

	if (unlikely(n == 0)) {
		count_idle(l);
		return 0;
	}
	l->idle = 0;
	l->received += n;
	l->bursts++;
	return n;
}

/* What is refused for long is dropped, and missing. */
static __rte_noinline uint16_t
transmit_rest(struct loop *l, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = 0;

	for (l->idle = 0; sent < n && l->idle < MAX_IDLE; count_idle(l))
		sent += rte_eth_tx_burst(l->port[0], 0, pkts + sent, n - sent);
	if (sent == n)
		l->idle = 0;
	else
		rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	return sent;
}

static inline void
transmit(struct loop *l, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = rte_eth_tx_burst(l->port[0], 0, pkts, n);

	if (unlikely(sent < n))
		sent += transmit_rest(l, pkts + sent, n - sent);
	l->sent += sent;
}

static void
run_rx(struct loop *l)
{
	struct rte_mbuf *pkts[OVERHEAD_MAX_BURST];

	while (l->received < l->wanted && l->idle < MAX_IDLE)
		rte_pktmbuf_free_bulk(pkts, receive(l, pkts));
}

/* The port's first address as the source; to all, so that any PF takes it from its wire. */
static inline void
address(struct rte_mbuf *m)
{
	struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);

	ether->src_addr = hops[0];
	memset(&ether->dst_addr, 0xff, sizeof(ether->dst_addr));
}

static __rte_always_inline void
run_sending(struct loop *l, bool addressed)
{
	struct rte_mbuf *pkts[OVERHEAD_MAX_BURST];

	while (l->sent < l->wanted && l->idle < MAX_IDLE) {
		if (rte_pktmbuf_alloc_bulk(l->pool, pkts, l->burst) != 0)
			return;
		for (uint16_t i = 0; i < l->burst; i++) {
			pkts[i]->data_len = pkts[i]->pkt_len = OVERHEAD_FRAME_LEN;
			if (addressed)
				address(pkts[i]);
		}
		transmit(l, pkts, l->burst);
		l->bursts++;
	}
}

static void
run_tx(struct loop *l)
{
	run_sending(l, false);
}

static void
run_source(struct loop *l)
{
	run_sending(l, true);
}

static void
run_io(struct loop *l)
{
	struct rte_mbuf *pkts[OVERHEAD_MAX_BURST];

	while (l->received < l->wanted && l->idle < MAX_IDLE) {
		const uint16_t n = receive(l, pkts);

		if (n > 0)
			transmit(l, pkts, n);
	}
}

static inline void
swap_addresses(struct rte_mbuf *m)
{
	struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	const struct rte_ether_addr src = ether->src_addr;

	ether->src_addr = ether->dst_addr;
	ether->dst_addr = src;
}

/* The next hop's address, and one hop less to live. */
static inline void
route(struct rte_mbuf *m)
{
	struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);

	if (unlikely(ether->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return;
	ether->dst_addr = hops[rte_be_to_cpu_32(ip->dst_addr) % HOPS];
	ip->time_to_live--;
	ip->hdr_checksum++;
}

static inline void
for_each(struct rte_mbuf **pkts, uint16_t n, void (*act)(struct rte_mbuf *m))
{
	for (uint16_t i = 0; i < RTE_MIN(n, PREFETCH); i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH], void *));
		act(pkts[i]);
	}
}

static __rte_always_inline void
run_with(struct loop *l, void (*act)(struct rte_mbuf *m))
{
	struct rte_mbuf *pkts[OVERHEAD_MAX_BURST];

	while (l->received < l->wanted && l->idle < MAX_IDLE) {
		const uint16_t n = receive(l, pkts);

		for_each(pkts, n, act);
		if (n > 0)
			transmit(l, pkts, n);
	}
}

static void
run_macswap(struct loop *l)
{
	run_with(l, swap_addresses);
}

static void
run_touch(struct loop *l)
{
	run_with(l, route);
}

static void (*const runs[OVERHEAD_NB_WORK])(struct loop *l) = {
	[OVERHEAD_RX] = run_rx,       [OVERHEAD_TX] = run_tx,
	[OVERHEAD_IO] = run_io,       [OVERHEAD_MACSWAP] = run_macswap,
	[OVERHEAD_TOUCH] = run_touch, [OVERHEAD_SOURCE] = run_source,
};

/* What the PFs have counted, to be added (sign 1) or subtracted (-1). */
static void
count(const struct overhead_contender *c, int sign, bool rx, uint64_t counts[OVERHEAD_MAX_PFS])
{
	struct rte_eth_stats stats = {0};

	for (unsigned int i = 0; i < c->nb_pfs; i++)
		if (rte_eth_stats_get(c->pf[i], &stats) == 0)
			counts[i] += (uint64_t)sign * (rx ? stats.ipackets : stats.opackets);
}

static void
inject(const struct overhead_stage *s, const struct overhead_contender *c, unsigned int nb)
{
	const unsigned int nb_pfs = s->shape == OVERHEAD_STRAYS ? 2 : 1;

	for (unsigned int i = 0; i < nb_pfs; i++)
		overhead_wire_inject(s, c, c->home + i, nb / nb_pfs);
}

static bool
only_sends(enum overhead_work work)
{
	return work == OVERHEAD_TX || work == OVERHEAD_SOURCE;
}

/* What is sent comes back, by the same PF: there is no need to stop and inject more. */
static bool
goes_round(const struct overhead_stage *s, enum overhead_work work)
{
	if (work == OVERHEAD_RX || only_sends(work) || s->shape == OVERHEAD_BY_MAC)
		return false;
	return s->kind == OVERHEAD_SIM || (s->kind == OVERHEAD_RING && s->shape != OVERHEAD_STRAYS);
}

static int
run_chunk(const struct overhead_stage *s, const struct overhead_contender *c,
	  enum overhead_work work, struct loop *l, struct overhead_turn *t)
{
	const bool copies = c->copies && !only_sends(work);
	uint64_t began;

	l->received = l->sent = l->bursts = l->idle = l->naps = 0;
	count(c, -1, true, t->delivered);
	if (!only_sends(work))
		inject(s, c, RTE_MIN(l->wanted, overhead_wire_room(s->kind)));
	l->wanted /= copies ? 2 : 1;
	count(c, -1, false, t->sent_by);
	began = rte_rdtsc_precise();
	runs[work](l);
	t->cycles += rte_rdtsc_precise() - began;
	count(c, 1, false, t->sent_by);
	overhead_wire_drain(s, c, t->left);
	count(c, 1, true, t->delivered);
	t->received += l->received;
	t->dropped += copies ? l->received : 0;
	t->sent += l->sent;
	t->bursts += l->bursts;
	t->packets += only_sends(work) ? l->sent : (copies ? 2 : 1) * l->received;
	return l->idle < MAX_IDLE ? 0 : -ETIMEDOUT;
}

int
overhead_turn(const struct overhead_stage *s, const struct overhead_contender *c,
	      enum overhead_work work, uint16_t burst, unsigned int packets,
	      struct overhead_turn *turn)
{
	struct loop l = {
		.port = {c->port[0], c->port[1]},
		.queue = {c->queue[0], c->queue[1]},
		.burst = burst,
		.pool = s->bench->pool,
	};
	int ret = 0;

	*turn = (struct overhead_turn){0};
	for (unsigned int i = 0; i < HOPS && rte_is_zero_ether_addr(&hops[i]); i++)
		rte_ether_unformat_addr(OVERHEAD_MAC, &hops[i]);
	while (turn->packets < packets && ret == 0) {
		l.wanted = packets - turn->packets;
		if (!goes_round(s, work))
			l.wanted = RTE_MIN(l.wanted, overhead_wire_room(s->kind));
		ret = run_chunk(s, c, work, &l, turn);
	}
	return ret;
}

void
overhead_look_at_ports(const struct overhead_stage *s, struct overhead_contender *c)
{
	struct loop l = {
		.port = {c->port[0], c->port[1]},
		.queue = {c->queue[0], c->queue[1]},
		.burst = 32,
		.wanted = 128,
	};
	struct rte_mbuf *pkts[OVERHEAD_MAX_BURST];
	uint64_t left[OVERHEAD_MAX_PFS] = {0};

	inject(s, c, l.wanted);
	while (l.received < l.wanted && l.idle < MAX_IDLE) {
		const uint16_t polled = l.port[l.turn & 1];
		const uint16_t n = receive(&l, pkts);

		for (uint16_t i = 0; i < n; i++)
			c->wrong_port |= pkts[i]->port != polled;
		rte_pktmbuf_free_bulk(pkts, n);
	}
	overhead_wire_drain(s, c, left);
}
