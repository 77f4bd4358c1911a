/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A million rules: through octo, and the same ones put straight on the PFs, in
 * turn. Every rule that octo made is verified by a packet.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench_rule.h"
#include "bench_tap.h"
#include "bench_traffic.h"

#define FLOWS 1000000
#define QUICK_FLOWS 20000
#define NB_PFS 2
#define NB_QUEUES 4

/*
 * Rules are made in blocks; every other one is taken apart by the tap, which takes time
 * itself. The first does not count: with it the NIC allocates its tables.
 */
#define NB_BLOCKS 100

struct insert {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_traffic traffic;
	uint32_t nb;
	uint32_t block; /* rules */
	uint8_t *queue; /* of each flow */
	double *own;    /* cycles of octo of each rule that the tap saw */
	uint32_t nb_own;
	struct bench_series bytes, own_bytes, ns, rate_octo, rate_direct;
};

/* What the case asks of the NIC. */
static const struct bench_nic_conf conf = {
	.nb_pfs = NB_PFS,
	.nb_queues = NB_QUEUES,
	.octo_args = ",learn=off",
};

static inline unsigned int
home_of(uint16_t queue)
{
	return queue % NB_PFS;
}

typedef int (*insert_t)(struct insert *c, uint32_t flow);

static int
insert_octo(struct insert *c, uint32_t flow)
{
	return bench_rule_steer(c->nic.octo, flow, c->queue[flow]);
}

/* The time that octo itself takes. */
static int
insert_tapped(struct insert *c, uint32_t flow)
{
	struct octo_flow_rule rule;
	struct octo_tuple tuple;
	uint64_t start, cycles;
	int ret;

	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, c->queue[flow], false);
	bench_tap_reset();
	start = rte_rdtsc();
	ret = bench_rule_create(c->nic.octo, &rule);
	cycles = rte_rdtsc() - start;
	c->own[c->nb_own++] = (double)bench_tap_rest(cycles);
	return ret;
}

/* What octo does to the PFs, in the same order. */
static int
insert_direct(struct insert *c, uint32_t flow)
{
	const unsigned int home = home_of(c->queue[flow]);
	struct octo_flow_rule rule;
	struct octo_tuple tuple;
	int ret = 0;

	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, c->queue[flow], bench_tap_counts(false));
	for (unsigned int i = 0; i < NB_PFS && ret == 0; i++)
		ret = bench_rule_create(c->nic.pf[i], &rule);
	if (ret != 0)
		return ret;
	octo_flow_build_transfer(&rule, OCTO_DIALECT_WIRE_ITEM, &tuple, 0, c->nic.pf[0],
				 c->nic.pf[home], bench_tap_counts(true));
	return bench_rule_create(c->nic.pf[0], &rule);
}

/* Adds to *cycles what the block takes. */
static int
insert_block(struct insert *c, uint32_t first, insert_t insert, uint64_t *cycles)
{
	const uint32_t end = RTE_MIN(first + c->block, c->nb);
	const uint64_t start = rte_rdtsc();
	int ret = 0;

	for (uint32_t flow = first; flow < end && ret == 0; flow++)
		ret = insert(c, flow);
	*cycles += rte_rdtsc() - start;
	bench_progress_part(end, c->nb);
	return ret;
}

static double
per_second(uint64_t nb, uint64_t cycles)
{
	return cycles == 0 ? 0 : (double)nb * rte_get_tsc_hz() / cycles;
}

static void
tap_pfs(struct insert *c, bool on)
{
	for (unsigned int i = 0; i < NB_PFS; i++) {
		if (on)
			bench_tap_on(c->nic.pf[i]);
		else
			bench_tap_off(c->nic.pf[i]);
	}
}

static int
insert_all_octo(struct insert *c)
{
	uint64_t first_block = 0, plain = 0, tapped = 0;
	uint32_t nb_plain = 0;
	int ret;

	c->nb_own = 0;
	ret = insert_block(c, 0, insert_octo, &first_block);
	for (uint32_t first = c->block; first < c->nb && ret == 0; first += c->block) {
		if (first / c->block % 2 == 0) {
			ret = insert_block(c, first, insert_octo, &plain);
			nb_plain += c->block;
			continue;
		}
		tap_pfs(c, true);
		ret = insert_block(c, first, insert_tapped, &tapped);
		tap_pfs(c, false);
	}
	bench_progress_end();
	bench_series_add(&c->rate_octo, per_second(nb_plain, plain));
	bench_series_add(&c->ns, bench_median(c->own, c->nb_own) * 1e9 / rte_get_tsc_hz());
	return ret;
}

static int
insert_all_direct(struct insert *c)
{
	uint64_t first_block = 0, cycles = 0;
	int ret = insert_block(c, 0, insert_direct, &first_block);

	for (uint32_t first = c->block; first < c->nb && ret == 0; first += c->block)
		ret = insert_block(c, first, insert_direct, &cycles);
	bench_progress_end();
	bench_series_add(&c->rate_direct, per_second(c->nb - c->block, cycles));
	return ret;
}

/* One packet of each flow: it must come, to the queue of its rule, by that queue's home leg. */
static int
verify(struct insert *c)
{
	struct bench_insert *result = &c->bench->results.insert;
	struct bench_count count;
	uint64_t lost = 0, strays = 0;
	const int ret = bench_traffic_send(&c->traffic, c->nb, &strays);

	if (ret != 0)
		return ret;
	bench_traffic_count(&c->traffic, &count);
	for (uint32_t flow = 0; flow < c->nb; flow++)
		lost += bench_traffic_arrived(&c->traffic, flow) == 0;
	result->misdirected = RTE_MAX(result->misdirected, count.misdirected + strays);
	result->lost = RTE_MAX(result->lost, lost);
	return 0;
}

static int
open_traffic(struct insert *c)
{
	int ret = bench_flows_make(&c->flows, c->nb, c->nic.peer, c->nic.octo,
				   bench_flow_write_plain);

	if (ret == 0)
		ret = bench_traffic_open(&c->traffic, c->bench, &c->nic, &c->flows,
					 bench_pick_in_turn, NULL);
	if (ret != 0)
		return ret;
	c->traffic.expected = c->queue;
	for (uint16_t q = 0; q < NB_QUEUES; q++)
		bench_traffic_poll(&c->traffic, home_of(q), q);
	return bench_traffic_settle(&c->traffic);
}

static int
open_nic(struct insert *c, bool bare)
{
	struct bench_nic_conf want = conf;

	want.bare = bare;
	want.mpfs_entries = want.arfs_entries = c->nb;
	return bench_nic_open(&c->nic, c->bench, &want);
}

/* What octo says that it keeps for its rules. */
static int
ask_own_bytes(struct insert *c)
{
	uint64_t bytes = 0;
	const int ret = app_xstat(c->nic.octo, "steered_flows_bytes", &bytes);

	bench_series_add(&c->own_bytes, (double)bytes / c->nb);
	return ret;
}

static int
run_octo(struct insert *c, uint64_t *bytes)
{
	const uint64_t before = bench_heap_bytes();
	int ret = open_nic(c, false);

	if (ret == 0)
		ret = open_traffic(c);
	if (ret == 0)
		ret = insert_all_octo(c);
	*bytes = bench_heap_bytes() - before;
	if (ret == 0)
		ret = ask_own_bytes(c);
	if (ret == 0)
		ret = verify(c);
	bench_traffic_close(&c->traffic);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
	return ret;
}

static int
run_direct(struct insert *c, uint64_t *bytes)
{
	const uint64_t before = bench_heap_bytes();
	int ret = open_nic(c, true);

	if (ret == 0)
		ret = insert_all_direct(c);
	*bytes = bench_heap_bytes() - before;
	bench_nic_close(&c->nic);
	return ret;
}

static int
run_once(void *arg)
{
	struct insert *c = arg;
	uint64_t octo, direct;
	int ret = run_octo(c, &octo);

	if (ret == 0)
		ret = run_direct(c, &direct);
	if (ret == 0)
		bench_series_add(&c->bytes, ((double)octo - (double)direct) / c->nb);
	return ret;
}

static void
choose_queues(struct insert *c)
{
	for (uint32_t flow = 0; flow < c->nb; flow++)
		c->queue[flow] = bench_random_of(~(uint64_t)flow) % NB_QUEUES;
}

int
bench_insert_run(struct bench *bench)
{
	static struct insert c;
	struct bench_insert *result = &bench->results.insert;
	int ret = -ENOMEM;

	c.bench = bench;
	c.nb = bench_count(bench, FLOWS, QUICK_FLOWS);
	c.block = c.nb / NB_BLOCKS;
	c.queue = malloc(c.nb);
	c.own = malloc(c.nb * sizeof(c.own[0]));
	if (c.queue != NULL && c.own != NULL) {
		choose_queues(&c);
		bench_tap_calibrate();
		ret = bench_run_often(bench, "insert", run_once, &c);
	}
	free(c.own);
	free(c.queue);
	result->flows = c.nb;
	result->bytes_per_flow = bench_series_median(&c.bytes);
	result->own_bytes_per_flow = bench_series_median(&c.own_bytes);
	result->octo_ns_per_insert = bench_series_median(&c.ns);
	result->rate_octo = bench_series_median(&c.rate_octo);
	result->rate_direct = bench_series_median(&c.rate_direct);
	return ret;
}
