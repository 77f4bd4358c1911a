/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * No rules for any flow, and yet no strays, and queues that get equal shares however many of
 * them are on each socket: in tier partition, and by the RETA of PFs that are slices.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench_traffic.h"

#define FLOWS 100000
#define QUICK_FLOWS 5000
#define PACKETS 10000000
#define QUICK_PACKETS 100000

/* Homes become known by polling, and only then the rules: packets before that do not count. */
#define FIRST_PACKETS 10000
#define FIRST_MAX 200

/* As many queues on each PF, and not. */
static const struct {
	uint16_t pfs;
	uint16_t queues;
} shapes[BENCH_NB_PARTITIONS] = {{2, 4}, {2, 3}, {4, 8}, {4, 5}};

struct partition {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_traffic traffic;
	struct bench_series imbalance[BENCH_NB_PARTITIONS];
	bool sliced;
	const char *name;
	struct bench_partition *result;
};

/* Queues go to the sockets by twos: then they spread over the PFs of a socket. */
static unsigned int
worker_of(uint16_t queue)
{
	return queue / 2 % APP_NB_WORKERS;
}

static int
open_all(struct partition *c, unsigned int shape)
{
	const struct bench_nic_conf conf = {
		.nb_pfs = shapes[shape].pfs,
		.nb_queues = shapes[shape].queues,
		.mpfs_entries = 65536,
		.arfs_entries = 65536,
		.octo_args = c->sliced ? ",learn=off" : ",tier=partition",
		.sliced = c->sliced,
	};
	int ret = bench_nic_open(&c->nic, c->bench, &conf);

	if (ret == 0)
		ret = bench_flows_make(&c->flows, bench_count(c->bench, FLOWS, QUICK_FLOWS),
				       c->nic.peer, c->nic.octo, bench_flow_write_mixed);
	if (ret == 0)
		ret = bench_traffic_open(&c->traffic, c->bench, &c->nic, &c->flows, bench_pick_any,
					 NULL);
	for (uint16_t q = 0; q < shapes[shape].queues && ret == 0; q++)
		bench_traffic_poll(&c->traffic, worker_of(q), q);
	return ret == 0 ? bench_traffic_settle(&c->traffic) : ret;
}

static void
close_all(struct partition *c)
{
	bench_traffic_close(&c->traffic);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
}

static double
imbalance(const struct partition *c, unsigned int shape)
{
	struct bench_count count;
	double ideal, worst = 0;

	bench_traffic_count(&c->traffic, &count);
	ideal = (double)count.received / shapes[shape].queues;
	for (unsigned int q = 0; q < shapes[shape].queues; q++)
		worst = fmax(worst, fabs((double)count.of_queue[q] / ideal - 1));
	return worst;
}

static int
run_shape(struct partition *c, unsigned int shape)
{
	struct bench_partition *result = &c->result[shape];
	uint64_t strays = 1;
	int ret = open_all(c, shape);

	for (unsigned int i = 0; i < FIRST_MAX && ret == 0 && strays != 0; i++)
		ret = bench_traffic_send(&c->traffic, FIRST_PACKETS, &strays);
	if (ret == 0)
		ret = bench_traffic_send(&c->traffic, bench_count(c->bench, PACKETS, QUICK_PACKETS),
					 &strays);
	if (ret == 0) {
		bench_series_add(&c->imbalance[shape], imbalance(c, shape));
		result->strays = RTE_MAX(result->strays, strays);
	}
	close_all(c);
	return ret;
}

static int
run_once(void *arg)
{
	struct partition *c = arg;
	int ret = 0;

	for (unsigned int i = 0; i < BENCH_NB_PARTITIONS && ret == 0; i++)
		ret = run_shape(c, i);
	return ret;
}

static int
run(struct partition *c)
{
	int ret = bench_run_often(c->bench, c->name, run_once, c);

	for (unsigned int i = 0; i < BENCH_NB_PARTITIONS; i++) {
		c->result[i].pfs = shapes[i].pfs;
		c->result[i].queues = shapes[i].queues;
		c->result[i].imbalance = bench_series_median(&c->imbalance[i]);
	}
	return ret;
}

int
bench_partition_run(struct bench *bench)
{
	static struct partition c;

	c.bench = bench;
	c.name = "partition";
	c.result = bench->results.partition;
	return run(&c);
}

int
bench_reta_run(struct bench *bench)
{
	static struct partition c;

	c.bench = bench;
	c.sliced = true;
	c.name = "reta";
	c.result = bench->results.reta;
	return run(&c);
}
