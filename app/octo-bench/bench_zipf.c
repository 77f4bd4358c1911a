/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many more flows than the NIC's table has room for, few of them heavy: how near
 * does learning come to the best choice that somebody could make who knows all?
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench_traffic.h"

#define FLOWS 100000
#define QUICK_FLOWS 5000
#define ENTRIES 2048
#define QUICK_ENTRIES 128
#define EXPONENT 1.1
#define NB_QUEUES 2

/* Packets go in rounds; when a round is not better than the one before, it is steady. */
#define ROUND 3000000
#define QUICK_ROUND 200000
#define MAX_ROUNDS 24
#define BETTER 0.99

/* A draw in constant time (Walker's alias method): a column, and in it one of two flows. */
struct column {
	uint32_t other;
	uint32_t own_share; /* of 2^32 */
};

struct zipf {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_traffic traffic;
	uint32_t nb;
	uint32_t entries;
	uint64_t round;
	struct column *columns;
	struct bench_series fraction, ratio;
};

static uint32_t
pick(struct bench_worker *w)
{
	const struct zipf *c = w->traffic->pick_arg;
	const uint64_t r = bench_worker_random(w);
	const uint32_t flow = (r >> 32) * c->nb >> 32;

	return (uint32_t)r < c->columns[flow].own_share ? flow : c->columns[flow].other;
}

/* Fill each column that is short of a whole with what one that has more can spare. */
static void
level(struct column *columns, double *share, uint32_t *todo, uint32_t nb)
{
	uint32_t small = 0, large = nb;

	for (uint32_t i = 0; i < nb; i++)
		todo[share[i] < 1 ? small++ : --large] = i;
	while (small > 0 && large < nb) {
		const uint32_t to = todo[--small], from = todo[large];

		columns[to].own_share = (uint32_t)(share[to] * UINT32_MAX);
		columns[to].other = from;
		share[from] -= 1 - share[to];
		if (share[from] < 1) {
			large++;
			todo[small++] = from;
		}
	}
	/* what is left is whole, but for rounding */
	while (small > 0)
		columns[todo[--small]].own_share = UINT32_MAX;
	while (large < nb)
		columns[todo[large++]].own_share = UINT32_MAX;
}

static int
make_columns(struct zipf *c)
{
	double *share = malloc(c->nb * sizeof(*share)), sum = 0;
	uint32_t *todo = malloc(c->nb * sizeof(*todo));

	c->columns = calloc(c->nb, sizeof(c->columns[0]));
	if (share == NULL || todo == NULL || c->columns == NULL) {
		free(share);
		free(todo);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->nb; i++)
		sum += share[i] = pow(i + 1, -EXPONENT);
	for (uint32_t i = 0; i < c->nb; i++)
		share[i] *= c->nb / sum;
	level(c->columns, share, todo, c->nb);
	free(share);
	free(todo);
	return 0;
}

static int
open_all(struct zipf *c)
{
	const struct bench_nic_conf conf = {
		.nb_pfs = 2,
		.nb_queues = NB_QUEUES,
		.mpfs_entries = c->entries,
		.arfs_entries = c->entries,
		.octo_args = ",learn=on",
	};
	int ret = bench_nic_open(&c->nic, c->bench, &conf);

	if (ret == 0)
		ret = bench_flows_make(&c->flows, c->nb, c->nic.peer, c->nic.octo,
				       bench_flow_write_plain);
	if (ret == 0)
		ret = bench_traffic_open(&c->traffic, c->bench, &c->nic, &c->flows, pick, c);
	/* by default all come in by PF 0: those of the other socket's queue stray */
	for (uint16_t q = 0; q < NB_QUEUES && ret == 0; q++)
		bench_traffic_poll(&c->traffic, q, q);
	return ret == 0 ? bench_traffic_settle(&c->traffic) : ret;
}

static void
close_all(struct zipf *c)
{
	bench_traffic_close(&c->traffic);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
}

static int
run_round(struct zipf *c, uint64_t *strays, double *fraction)
{
	const int ret = bench_traffic_send(&c->traffic, c->round, strays);

	if (ret == 0)
		*fraction = (double)*strays / (double)c->round;
	return ret;
}

/*
 * What would stray of this round's packets if the heaviest of the flows that stray
 * by default had rules. Heavier ones have lower numbers.
 */
static uint64_t
best_strays(const struct zipf *c)
{
	const uint32_t *arrived = c->traffic.worker[1].arrived;
	uint32_t chosen = 0;
	uint64_t strays = 0;

	for (uint32_t flow = 0; flow < c->nb; flow++) {
		if (arrived[flow] == 0)
			continue;
		if (chosen < c->entries)
			chosen++;
		else
			strays += arrived[flow];
	}
	return strays;
}

static int
run_once(void *arg)
{
	struct zipf *c = arg;
	double fraction = 1, before;
	uint64_t strays = 0, best;
	unsigned int rounds = 0;
	int ret = open_all(c);

	do {
		before = fraction;
		if (ret == 0)
			ret = run_round(c, &strays, &fraction);
	} while (ret == 0 && fraction < before * BETTER && ++rounds < MAX_ROUNDS);
	if (ret == 0)
		ret = run_round(c, &strays, &fraction);
	if (ret == 0) {
		best = best_strays(c);
		bench_series_add(&c->fraction, fraction);
		bench_series_add(&c->ratio, best == 0 ? 0 : (double)strays / (double)best);
	}
	close_all(c);
	return ret;
}

int
bench_zipf_run(struct bench *bench)
{
	static struct zipf c;
	struct bench_zipf *result = &bench->results.zipf;
	int ret;

	c.bench = bench;
	c.nb = bench_count(bench, FLOWS, QUICK_FLOWS);
	c.entries = bench_count(bench, ENTRIES, QUICK_ENTRIES);
	c.round = bench_count(bench, ROUND, QUICK_ROUND);
	ret = make_columns(&c);
	if (ret == 0)
		ret = bench_run_often(bench, "zipf", run_once, &c);
	free(c.columns);
	result->flows = c.nb;
	result->entries = c.entries;
	result->stray_fraction = bench_series_median(&c.fraction);
	result->ratio_to_best = bench_series_median(&c.ratio);
	return ret;
}
