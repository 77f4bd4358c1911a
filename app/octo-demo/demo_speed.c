/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include "demo_traffic.h"

/* A round fills the cable with a batch, and is timed while it is emptied. */
#define BATCH 512
#define ROUNDS 2000
#define MAX_POLLS (64 * BATCH)

struct speed {
	uint16_t port;
	struct rte_mempool *pool;
	struct demo_frame frame[DEMO_NB_FLOWS];
	struct rte_mbuf *pkts[BATCH];
	uint64_t cycles[ROUNDS];
	double mpps;
};

static int
fill_cable(struct speed *s)
{
	uint16_t sent = 0;

	if (rte_pktmbuf_alloc_bulk(s->pool, s->pkts, BATCH) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < BATCH; i++) {
		*rte_pktmbuf_mtod(s->pkts[i], struct demo_frame *) = s->frame[i % DEMO_NB_FLOWS];
		s->pkts[i]->data_len = DEMO_FRAME_LEN;
		s->pkts[i]->pkt_len = DEMO_FRAME_LEN;
	}
	while (sent < BATCH) {
		uint16_t n = rte_eth_tx_burst(s->port, 0, s->pkts + sent, BATCH - sent);

		if (n == 0) {
			rte_pktmbuf_free_bulk(s->pkts + sent, BATCH - sent);
			return -EIO;
		}
		sent += n;
	}
	return 0;
}

/* Polls all queues in turn: each poll also moves packets from the cable to any queue. */
static uint16_t
empty_cable(struct speed *s)
{
	uint16_t got = 0;

	for (unsigned int i = 0; i < MAX_POLLS && got < BATCH; i++)
		got += rte_eth_rx_burst(s->port, i % DEMO_NB_LCORES, s->pkts + got,
					RTE_MIN(DEMO_BURST, BATCH - got));
	return got;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int
measure(void *arg)
{
	struct speed *s = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t start;
		uint16_t got;
		int ret = fill_cable(s);

		if (ret != 0)
			return ret;
		start = rte_rdtsc_precise();
		got = empty_cable(s);
		s->cycles[i] = rte_rdtsc_precise() - start;
		rte_pktmbuf_free_bulk(s->pkts, got);
		if (got != BATCH)
			return -EIO;
	}
	/* the median: other programs that take the CPU meanwhile do not count */
	qsort(s->cycles, ROUNDS, sizeof(s->cycles[0]), compare);
	s->mpps = (double)BATCH * rte_get_tsc_hz() / s->cycles[ROUNDS / 2] / 1e6;
	return 0;
}

static int
measure_on_worker(struct speed *s)
{
	struct rte_ether_addr mac;
	int ret = rte_eth_macaddr_get(s->port, &mac);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < DEMO_NB_FLOWS; i++)
		demo_frame_init(&s->frame[i], i, &mac, &mac);
	ret = rte_eal_remote_launch(measure, s, app_lcore(0));
	return ret != 0 ? ret : rte_eal_wait_lcore(app_lcore(0));
}

int
demo_speed_measure(double *mpps)
{
	struct speed *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	if (s == NULL)
		return ret;
	s->pool = app_pool_create("demo_speed", DEMO_POOL_SIZE);
	if (s->pool == NULL)
		goto free_speed;
	ret = app_port_start(DEMO_SPEED_PORT, DEMO_NB_LCORES, DEMO_RING, s->pool, &s->port);
	if (ret != 0)
		goto free_pool;
	ret = measure_on_worker(s);
	*mpps = s->mpps;
	if (ret != 0)
		fprintf(stderr, "octo demo: the simulated NIC loses packets of its own\n");
	app_port_stop(s->port);
free_pool:
	rte_mempool_free(s->pool);
free_speed:
	free(s);
	return ret;
}
