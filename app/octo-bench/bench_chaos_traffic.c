/* SPDX-License-Identifier: BSD-3-Clause */

/* The workers of chaos: they forward, and give lanes to each other. */

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "bench_chaos.h"

/* A worker keeps its lanes so long at most before it gives one away. */
#define KEEP_MS 100

/* One burst of so many is followed by questions about the queue. */
#define CURIOUS 64

void
chaos_forward(void *arg, unsigned int lane, struct rte_mbuf **pkts, uint16_t nb)
{
	struct chaos *c = arg;
	const struct bench_lane *l = &c->stream.lane[lane];
	RTE_ATOMIC(uint64_t) *handed = &c->lane[lane].handed;
	const uint16_t n = rte_eth_tx_burst(l->port, l->queue, pkts, nb);

	/* its owner is the only one who writes */
	rte_atomic_store_explicit(handed,
				  rte_atomic_load_explicit(handed, rte_memory_order_relaxed) + n,
				  rte_memory_order_relaxed);
	rte_pktmbuf_free_bulk(pkts + n, nb - n);
}

/* What was forwarded arrives at the peer, each worker with a queue there. */
static void
receive_back(struct chaos *c, uint8_t worker)
{
	struct rte_mbuf *pkts[APP_BURST];
	const uint16_t n = rte_eth_rx_burst(c->nic.peer, worker, pkts, APP_BURST);

	if (n > 0)
		bench_order_receive(&c->back, worker, worker, pkts, n);
	rte_pktmbuf_free_bulk(pkts, n);
	bench_order_look(&c->back);
}

static void
ask(const struct bench_lane *lane)
{
	rte_eth_rx_queue_count(lane->port, lane->queue);
	rte_eth_rx_descriptor_status(lane->port, lane->queue, 0);
	rte_eth_tx_descriptor_status(lane->port, lane->queue, 0);
	rte_eth_tx_done_cleanup(lane->port, lane->queue, 0);
}

/* A lane is looked at by its owner only: who is given one sees no older wish to park it. */
static void
park_lanes(struct chaos *c, uint8_t worker)
{
	for (unsigned int i = 0; i < CHAOS_QUEUES; i++)
		if (bench_lane_owner(&c->stream.lane[i]) == worker && chaos_is(&c->lane[i].park))
			bench_lane_give(&c->stream.lane[i], BENCH_NOBODY);
}

/* To the other worker, on the other socket. */
static void
give_lane_away(struct chaos *c, uint8_t worker)
{
	struct chaos_worker *w = &c->worker[worker];
	struct bench_lane *lane = &c->stream.lane[chaos_pick(&w->random, CHAOS_QUEUES)];
	const uint64_t keep = KEEP_MS * (rte_get_tsc_hz() / 1000);

	w->next = rte_rdtsc() + chaos_pick(&w->random, keep);
	if (bench_lane_owner(lane) == worker && !chaos_is(&c->stay))
		bench_lane_give(lane, !worker);
}

static void
stand_still(struct chaos *c, uint8_t worker)
{
	chaos_set(&c->worker[worker].held, true);
	while (chaos_is(&c->hold)) {
		receive_back(c, worker);
		app_step_aside();
	}
	chaos_set(&c->worker[worker].held, false);
}

void
chaos_turn(void *arg, uint8_t worker)
{
	struct chaos *c = arg;
	struct chaos_worker *w = &c->worker[worker];

	receive_back(c, worker);
	park_lanes(c, worker);
	for (unsigned int i = 0; i < CHAOS_QUEUES; i++)
		if (bench_lane_owner(&c->stream.lane[i]) == worker &&
		    chaos_pick(&w->random, CURIOUS) == 0)
			ask(&c->stream.lane[i]);
	if (rte_rdtsc() > w->next)
		give_lane_away(c, worker);
	if (chaos_is(&c->hold))
		stand_still(c, worker);
}

void
chaos_hold_workers(struct chaos *c)
{
	chaos_set(&c->hold, true);
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		while (!chaos_is(&c->worker[i].held))
			rte_delay_us_sleep(CHAOS_LOOK_US);
}

void
chaos_release_workers(struct chaos *c)
{
	chaos_set(&c->hold, false);
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		while (chaos_is(&c->worker[i].held))
			rte_delay_us_sleep(CHAOS_LOOK_US);
}

void
chaos_park(struct chaos *c, unsigned int lane)
{
	chaos_set(&c->lane[lane].park, true);
	while (bench_lane_owner(&c->stream.lane[lane]) != BENCH_NOBODY)
		rte_delay_us_sleep(CHAOS_LOOK_US);
}

void
chaos_unpark(struct chaos *c, unsigned int lane, uint8_t worker)
{
	chaos_set(&c->lane[lane].park, false);
	bench_lane_give(&c->stream.lane[lane], worker);
}
