/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

#include "demo_traffic.h"

/* After so long without any packet back, what is missing counts as lost. */
#define PATIENCE_S 10

int
demo_traffic_init(struct demo_traffic *traffic, const struct demo_ports *ports)
{
	struct rte_ether_addr octo_mac, peer_mac;
	int ret;

	memset(traffic, 0, sizeof(*traffic));
	ret = rte_eth_macaddr_get(ports->octo, &octo_mac);
	if (ret == 0)
		ret = rte_eth_macaddr_get(ports->peer, &peer_mac);
	for (unsigned int i = 0; i < DEMO_NB_FLOWS && ret == 0; i++) {
		const struct demo_flow_id id = demo_flow_id(i);
		const struct demo_flow_id echo = demo_flow_reverse(&id);

		demo_frame_init(&traffic->flow[i].frame, i, &peer_mac, &octo_mac);
		/* who sends a flow also checks what comes back */
		ret = demo_flow_steer(ports->peer, &echo, demo_flow_queue(i));
	}
	for (unsigned int i = 0; i < DEMO_NB_LCORES; i++) {
		traffic->worker[i].queue = i;
		traffic->worker[i].ports = ports;
		traffic->worker[i].traffic = traffic;
	}
	return ret;
}

/* The flows of this lcore, one after the other. */
static struct demo_flow *
next_flow(struct demo_worker *w)
{
	do
		w->turn = (w->turn + 1) % DEMO_NB_FLOWS;
	while (demo_flow_queue(w->turn) != w->queue);
	return &w->traffic->flow[w->turn];
}

static void
fill_next(struct demo_worker *w, struct rte_mbuf *m)
{
	struct demo_flow *flow = next_flow(w);
	struct demo_frame *frame = rte_pktmbuf_mtod(m, struct demo_frame *);

	*frame = flow->frame;
	frame->seq = flow->next_seq++;
	m->data_len = DEMO_FRAME_LEN;
	m->pkt_len = DEMO_FRAME_LEN;
}

/* The peer: send as much as the window lets. */
static void
generate(struct demo_worker *w)
{
	const uint64_t under_way = w->sent - w->count.received;
	struct rte_mbuf *pkts[DEMO_BURST];
	uint16_t n, sent = 0;

	if (w->sent == w->to_send || under_way > DEMO_WINDOW - DEMO_BURST)
		return;
	n = RTE_MIN(w->to_send - w->sent, (uint64_t)DEMO_BURST);
	if (rte_pktmbuf_alloc_bulk(w->ports->peer_pool, pkts, n) != 0)
		return;
	for (uint16_t i = 0; i < n; i++)
		fill_next(w, pkts[i]);
	/* the window fits in the cable, so there is room as soon as others move on */
	while (sent < n) {
		sent += rte_eth_tx_burst(w->ports->peer, w->queue, pkts + sent, n - sent);
		if (sent < n)
			rte_pause();
	}
	w->sent += n;
}

static void
send_unsent(struct demo_worker *w)
{
	uint16_t sent = rte_eth_tx_burst(w->ports->octo, w->queue, w->unsent, w->nb_unsent);

	w->nb_unsent -= sent;
	memmove(w->unsent, w->unsent + sent, w->nb_unsent * sizeof(w->unsent[0]));
}

static void
receive(struct demo_worker *w)
{
	w->nb_unsent = rte_eth_rx_burst(w->ports->octo, w->queue, w->unsent, DEMO_BURST);
	w->echoed += w->nb_unsent;
	for (uint16_t i = 0; i < w->nb_unsent; i++) {
		const struct demo_frame *f = rte_pktmbuf_mtod(w->unsent[i],
							      const struct demo_frame *);

		if (demo_flow_queue(f->flow) != w->queue)
			w->elsewhere++;
		demo_frame_turn_round(w->unsent[i]);
	}
}

/* The application: give back what comes in, out of the queue of the same lcore. */
static void
echo(struct demo_worker *w)
{
	if (w->nb_unsent == 0)
		receive(w);
	if (w->nb_unsent > 0)
		send_unsent(w);
}

/* The peer: look at what came back. */
static void
check(struct demo_worker *w)
{
	struct rte_mbuf *pkts[DEMO_BURST];
	uint16_t n = rte_eth_rx_burst(w->ports->peer, w->queue, pkts, DEMO_BURST);

	for (uint16_t i = 0; i < n; i++) {
		const struct demo_frame *f = rte_pktmbuf_mtod(pkts[i], const struct demo_frame *);

		if (demo_frame_is_ours(pkts[i]) && demo_flow_queue(f->flow) == w->queue)
			demo_check_packet(&w->traffic->flow[f->flow].check, f->seq, &w->count);
		else
			w->count.foreign++;
	}
	if (n == 0)
		return;
	rte_pktmbuf_free_bulk(pkts, n);
	w->active = rte_rdtsc();
	rte_atomic_store_explicit(&w->progress, w->count.received, rte_memory_order_relaxed);
}

static bool
has_ended(const struct demo_worker *w)
{
	return w->count.received == w->to_send ||
	       rte_rdtsc() - w->active > PATIENCE_S * rte_get_tsc_hz();
}

int
demo_traffic_work(void *arg)
{
	struct demo_worker *w = arg;
	RTE_ATOMIC(uint32_t) *busy = &w->traffic->busy;
	bool ended = false;

	w->active = rte_rdtsc();
	/* the others' packets pass here, too: go on until all have ended */
	while (!ended || rte_atomic_load_explicit(busy, rte_memory_order_relaxed) > 0) {
		generate(w);
		echo(w);
		check(w);
		if (!ended && has_ended(w)) {
			ended = true;
			rte_atomic_fetch_sub_explicit(busy, 1, rte_memory_order_relaxed);
		}
	}
	return 0;
}
