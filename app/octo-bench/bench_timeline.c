/* SPDX-License-Identifier: BSD-3-Clause */

/* A queue under load changes sockets, and later back: a picture for people. */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "bench_stream.h"

#define FLOWS 64
#define NB_PFS 2

#define STEP_MS 50
#define NB_STEPS 80
#define QUICK_NB_STEPS 16

struct timeline {
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_stream stream;
	RTE_ATOMIC(uint8_t) owner; /**< that the queue is to have */
	FILE *file;
};

/* Counts so far, and when. */
struct sample {
	uint64_t tsc;
	uint64_t packets[NB_PFS];
	uint64_t strays;
};

static void
turn(void *arg, uint8_t worker)
{
	struct timeline *c = arg;
	struct bench_lane *lane = &c->stream.lane[0];
	const uint8_t owner = rte_atomic_load_explicit(&c->owner, rte_memory_order_relaxed);

	if (owner != worker && bench_lane_owner(lane) == worker)
		bench_lane_give(lane, owner);
}

static int
open_all(struct timeline *c, struct bench *bench)
{
	const struct bench_nic_conf nic = {
		.nb_pfs = NB_PFS,
		.nb_queues = 1,
		.mpfs_entries = 2 * FLOWS,
		.arfs_entries = 2 * FLOWS,
		.octo_args = ",learn=off",
		.pf_args = bench_nic_latencies,
	};
	const struct bench_stream_conf stream = {
		.bench = bench,
		.nic = &c->nic,
		.flows = &c->flows,
		.turn = turn,
		.arg = c,
	};
	int ret = bench_nic_open(&c->nic, bench, &nic);

	if (ret == 0)
		ret = bench_flows_make(&c->flows, FLOWS, c->nic.peer, c->nic.octo,
				       bench_flow_write_plain);
	if (ret == 0)
		ret = bench_stream_open(&c->stream, &stream);
	bench_stream_add_lane(&c->stream, c->nic.octo, 0, 0);
	bench_stream_set_out(&c->stream, c->nic.peer, 0, BENCH_ANYBODY);
	for (uint32_t flow = 0; flow < FLOWS && ret == 0; flow++)
		ret = bench_nic_steer(&c->nic, flow, 0);
	return ret;
}

static int
take_sample(const struct timeline *c, struct sample *s)
{
	struct bench_received received;
	struct rte_eth_stats stats;
	int ret = 0;

	for (unsigned int i = 0; i < NB_PFS && ret == 0; i++) {
		ret = rte_eth_stats_get(c->nic.pf[i], &stats);
		s->packets[i] = stats.ipackets;
	}
	if (ret == 0)
		ret = bench_nic_received(&c->nic, &received);
	s->strays = received.stray;
	s->tsc = rte_rdtsc();
	return ret;
}

static void
write_step(struct timeline *c, uint64_t start, const struct sample *a, const struct sample *b)
{
	const double hz = (double)rte_get_tsc_hz();
	const double seconds = (double)(b->tsc - a->tsc) / hz;

	fprintf(c->file, "%.3f", (double)(b->tsc - start) / hz);
	for (unsigned int i = 0; i < NB_PFS; i++)
		fprintf(c->file, ",%.0f", (double)(b->packets[i] - a->packets[i]) / seconds);
	fprintf(c->file, ",%.0f,%u\n", (double)(b->strays - a->strays) / seconds,
		bench_lane_owner(&c->stream.lane[0]));
}

/* After a quarter of the time the queue goes, after five eighths it comes back. */
static int
migrate(struct timeline *c, unsigned int nb)
{
	struct sample last, now;
	int ret = bench_stream_warm_up(&c->stream);
	const uint64_t start = rte_rdtsc();

	if (ret == 0)
		ret = take_sample(c, &last);
	for (unsigned int i = 0; i < nb && ret == 0; i++) {
		rte_delay_us_sleep(STEP_MS * 1000);
		ret = take_sample(c, &now);
		write_step(c, start, &last, &now);
		last = now;
		rte_atomic_store_explicit(&c->owner, i + 1 >= nb / 4 && i + 1 < nb * 5 / 8,
					  rte_memory_order_relaxed);
	}
	return ret;
}

int
bench_timeline_run(struct bench *bench)
{
	static struct timeline c;
	const unsigned int nb = bench_count(bench, NB_STEPS, QUICK_NB_STEPS);
	char name[PATH_MAX];
	int ret = bench_plot_open(bench->options.plot, name, &c.file);

	if (ret != 0)
		return ret;
	fprintf(c.file, "seconds,pf0_packets_per_s,pf1_packets_per_s,strays_per_s,socket\n");
	fprintf(stderr, "==> plot: %u steps of %u ms\n", nb, STEP_MS);
	ret = open_all(&c, bench);
	if (ret == 0)
		ret = bench_stream_start(&c.stream);
	if (ret == 0)
		ret = migrate(&c, nb);
	bench_stream_stop(&c.stream);
	bench_stream_close(&c.stream);
	bench_flows_free(&c.flows);
	bench_nic_close(&c.nic);
	if (app_file_close(name, c.file) != 0)
		ret = -EIO;
	return ret;
}
