/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flows that nobody steers, all of them strays at first: how long until they have
 * taught the port where they belong?
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench_traffic.h"

#define FLOWS 10000
#define QUICK_FLOWS 500
#define NB_QUEUES 2

/* What counts as few. */
#define FEW 0.001

/* Looked at so often; a window has as many packets as are needed to tell one in a thousand. */
#define LOOK_US 1000
#define WINDOW 20000

/* Packets that show that it stays so, and time after which it is given up. */
#define STEADY_S 0.5
#define PATIENCE_S 10
#define MAX_WINDOWS 20000

struct window {
	double end; /* seconds since the start */
	struct bench_received received;
};

struct converge {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_traffic traffic;
	uint32_t nb;
	unsigned int nb_windows;
	struct window window[MAX_WINDOWS];
	struct bench_series seconds, fraction, strays;
};

/*
 * All queues are polled on socket 1, and by default all packets come in by the PF of
 * socket 0. The same lcore sends: two would wait for each other on a machine that has
 * something else to do, and the other CPU is free for the control thread.
 */
static const struct bench_nic_conf conf = {
	.nb_pfs = 2,
	.nb_queues = NB_QUEUES,
	.mpfs_entries = 65536,
	.arfs_entries = 65536,
	.octo_args = ",learn=on",
};

static int
open_all(struct converge *c)
{
	int ret = bench_nic_open(&c->nic, c->bench, &conf);

	if (ret == 0)
		ret = bench_flows_make(&c->flows, c->nb, c->nic.peer, c->nic.octo,
				       bench_flow_write_plain);
	if (ret == 0)
		ret = bench_traffic_open(&c->traffic, c->bench, &c->nic, &c->flows, bench_pick_any,
					 NULL);
	for (uint16_t q = 0; q < NB_QUEUES && ret == 0; q++)
		bench_traffic_poll(&c->traffic, 1, q);
	return ret == 0 ? bench_traffic_settle(&c->traffic) : ret;
}

static void
close_all(struct converge *c)
{
	bench_traffic_close(&c->traffic);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
}

static uint64_t
packets_between(const struct bench_received *a, const struct bench_received *b)
{
	return b->home + b->stray - a->home - a->stray;
}

static double
fraction_between(const struct bench_received *a, const struct bench_received *b)
{
	const uint64_t packets = packets_between(a, b);

	return packets == 0 ? 0 : (double)(b->stray - a->stray) / (double)packets;
}

/* Look on until few have strayed for a while, or for too long. */
static int
watch(struct converge *c)
{
	const uint64_t start = rte_rdtsc();
	struct window *last = &c->window[0];
	double bad = 0;
	int ret = bench_nic_received(&c->nic, &last->received);

	last->end = 0;
	c->nb_windows = 1;
	while (ret == 0 && last->end - bad < STEADY_S && last->end < PATIENCE_S &&
	       c->nb_windows < MAX_WINDOWS) {
		struct window *next = &c->window[c->nb_windows];

		rte_delay_us_sleep(LOOK_US);
		ret = bench_nic_received(&c->nic, &next->received);
		next->end = (double)(rte_rdtsc() - start) / rte_get_tsc_hz();
		if (packets_between(&last->received, &next->received) < WINDOW)
			continue;
		if (fraction_between(&last->received, &next->received) >= FEW)
			bad = next->end;
		last = next;
		c->nb_windows++;
	}
	return ret;
}

/* It has converged when the last window is over in which too many strayed. */
static void
judge(struct converge *c)
{
	const struct window *first = &c->window[0], *end = &c->window[c->nb_windows - 1];
	const struct window *bad = end, *since;

	while (bad > first && fraction_between(&bad[-1].received, &bad->received) < FEW)
		bad--;
	since = bad == end ? first : bad;
	bench_series_add(&c->seconds, bad == end ? PATIENCE_S : bad->end);
	bench_series_add(&c->fraction, fraction_between(&since->received, &end->received));
	bench_series_add(&c->strays, (double)(bad->received.stray - first->received.stray) / c->nb);
}

static int
run_once(void *arg)
{
	struct converge *c = arg;
	const uint64_t to_send[APP_NB_WORKERS] = {0, UINT64_MAX};
	int ret = open_all(c);

	if (ret == 0)
		ret = bench_traffic_start(&c->traffic, to_send);
	if (ret == 0) {
		ret = watch(c);
		bench_traffic_stop(&c->traffic);
	}
	if (ret == 0)
		judge(c);
	close_all(c);
	return ret;
}

int
bench_converge_run(struct bench *bench)
{
	static struct converge c;
	struct bench_converge *result = &bench->results.converge;
	int ret;

	c.bench = bench;
	c.nb = bench_count(bench, FLOWS, QUICK_FLOWS);
	ret = bench_run_often(bench, "converge", run_once, &c);
	result->flows = c.nb;
	result->seconds = bench_series_median(&c.seconds);
	if (result->seconds >= PATIENCE_S)
		result->seconds = -1;
	result->stray_fraction = bench_series_median(&c.fraction);
	result->strays_per_flow = bench_series_median(&c.strays);
	return ret;
}
