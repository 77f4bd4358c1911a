/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Homes that change: of a queue whose flows are steered, of one whose flows are spread
 * in tier partition, and of a sender. The workers hand the queue to each other.
 */

#include <errno.h>

#include "bench_handover.h"

#define FLOWS 64
#define COUNT 100000
#define QUICK_COUNT 20
#define MANY_FLOWS 10000
#define MANY_COUNT 20
#define QUICK_MANY_FLOWS 1000
#define QUICK_MANY_COUNT 2
/* Of flows without rules: one that changes sockets, and one that stays on each. */
#define PARTITION_QUEUES 3
/* Of flows without rules, where the two change sockets at once. */
#define EXCHANGED_QUEUES 2
/* Room for the rules of two spreads, one beside the other. */
#define PARTITION_ENTRIES 4096

struct rehome {
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_stream stream;
	struct bench_handover handover;
	uint32_t nb_flows;
	uint64_t count;
	bool sends;
	bool unsteered;
	bool sliced;
	bool exchanges;
	enum bench_move_case which;
};

static int
steer_all(const struct rehome *c)
{
	int ret = 0;

	for (uint32_t flow = 0; flow < c->nb_flows && ret == 0; flow++)
		ret = bench_nic_steer(&c->nic, flow, 0);
	return ret;
}

/* The peer sends, who holds the octo port's queue receives. */
static int
set_up_rx(struct rehome *c)
{
	int ret = bench_stream_mark_rx(&c->stream);

	bench_stream_add_lane(&c->stream, c->nic.octo, 0, 0);
	bench_stream_set_out(&c->stream, c->nic.peer, 0, BENCH_ANYBODY);
	for (uint16_t q = 1; q < c->nic.conf.nb_queues; q++)
		bench_stream_add_lane(&c->stream, c->nic.octo, q, q % APP_NB_WORKERS);
	return ret == 0 && !c->unsteered ? steer_all(c) : ret;
}

/* Who holds the octo port's queue sends, and the peer receives. */
static int
set_up_tx(struct rehome *c)
{
	bench_stream_set_out(&c->stream, c->nic.octo, 0, 0);
	for (uint16_t q = 0; q < APP_NB_WORKERS; q++)
		bench_stream_add_lane(&c->stream, c->nic.peer, q, 1);
	return bench_stream_mark_tx(&c->stream);
}

/* Flows that come to other queues have changed nothing, unless their order. */
static void
seen(void *arg, const struct bench_burst *b)
{
	if (b->lane == 0)
		bench_handover_seen(arg, b);
}

static int
open_all(struct rehome *c, struct bench *bench, unsigned int nb_pfs)
{
	const struct bench_nic_conf nic = {
		.nb_pfs = nb_pfs,
		.nb_queues = c->exchanges ? EXCHANGED_QUEUES :
			     c->unsteered ? PARTITION_QUEUES :
					    1,
		.mpfs_entries = c->unsteered ? PARTITION_ENTRIES : 2 * c->nb_flows,
		.arfs_entries = 2 * c->nb_flows,
		.octo_args = c->unsteered && !c->sliced ?
				     ",tier=partition,dwell_ms=0" BENCH_PATIENT :
				     ",learn=off,dwell_ms=0" BENCH_PATIENT,
		.sliced = c->sliced,
		.pf_args = bench_nic_latencies,
	};
	struct bench_stream_conf stream = {
		.bench = bench,
		.nic = &c->nic,
		.flows = &c->flows,
		.seen = c->sends ? bench_handover_seen : seen,
		.turn = bench_handover_turn,
		.arg = &c->handover,
	};
	int ret = bench_nic_open(&c->nic, bench, &nic);

	if (ret == 0)
		ret = bench_flows_make(&c->flows, c->nb_flows, c->sends ? c->nic.octo : c->nic.peer,
				       c->sends ? c->nic.peer : c->nic.octo,
				       bench_flow_write_plain);
	if (ret == 0)
		ret = bench_stream_open(&c->stream, &stream);
	if (ret == 0)
		ret = c->sends ? set_up_tx(c) : set_up_rx(c);
	if (ret == 0)
		ret = bench_handover_open(&c->handover, &c->stream, c->count);
	if (ret == 0 && c->exchanges)
		c->handover.back = &c->stream.lane[1];
	return ret;
}

static void
close_all(struct rehome *c)
{
	bench_handover_close(&c->handover);
	bench_stream_close(&c->stream);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
}

static int
measure(struct rehome *c, struct bench_changes *changes)
{
	int ret = bench_stream_start(&c->stream);

	if (ret == 0)
		ret = bench_handover_await(&c->handover);
	changes->lost = bench_stream_stop(&c->stream);
	bench_handover_result(&c->handover, changes);
	return ret;
}

static int
run(struct bench *bench, void *arg, unsigned int nb_pfs)
{
	struct rehome *c = arg;
	struct bench_changes *changes;
	int ret;

	bench_progress_shape(bench_move.cases[c->which].name, nb_pfs, c->count);
	ret = open_all(c, bench, nb_pfs);
	if (ret == 0) {
		changes = &bench->move.of[c->which][bench->move.nb[c->which]++];
		if (c->sliced)
			changes->how = c->exchanges ? "exchange" : "roam";
		ret = measure(c, changes);
	}
	close_all(c);
	return ret;
}

/* The numbers of queues at home on each socket differ, or stay equal. */
static int
run_few_flows_as(struct bench *bench, enum bench_move_case which, bool exchanges)
{
	static struct rehome c;

	c.nb_flows = FLOWS;
	c.count = bench_changes_wanted(bench, COUNT, QUICK_COUNT);
	c.which = which;
	c.exchanges = exchanges;
	c.sends = which == BENCH_TX_SWITCH;
	c.sliced = which == BENCH_REHOME_RETA;
	c.unsteered = which == BENCH_REPARTITION || c.sliced;
	return bench_run_shapes(bench, run, &c);
}

static int
run_few_flows(struct bench *bench, enum bench_move_case which)
{
	return run_few_flows_as(bench, which, false);
}

int
bench_rehome_run(struct bench *bench)
{
	return run_few_flows(bench, BENCH_REHOME);
}

int
bench_repartition_run(struct bench *bench)
{
	return run_few_flows(bench, BENCH_REPARTITION);
}

int
bench_rehome_reta_run(struct bench *bench)
{
	const int ret = run_few_flows(bench, BENCH_REHOME_RETA);

	return ret == 0 ? run_few_flows_as(bench, BENCH_REHOME_RETA, true) : ret;
}

int
bench_tx_switch_run(struct bench *bench)
{
	return run_few_flows(bench, BENCH_TX_SWITCH);
}

/* Of these, so many are not to be waited for: --count is of the others. */
int
bench_rehome_10k_run(struct bench *bench)
{
	static struct rehome c;

	c.nb_flows = bench_count(bench, MANY_FLOWS, QUICK_MANY_FLOWS);
	c.count = bench_count(bench, MANY_COUNT, QUICK_MANY_COUNT);
	c.which = BENCH_REHOME_10K;
	return bench_run_shapes(bench, run, &c);
}
