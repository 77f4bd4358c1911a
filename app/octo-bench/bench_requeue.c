/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flows that move between two queues, each polled by a thread on another socket;
 * and what happens if one of the two is not polled any more.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench_rule.h"
#include "bench_stream.h"

#define FLOWS 64
#define NB_QUEUES 2
#define COUNT 100000
#define QUICK_COUNT 50
#define UNPOLLED_COUNT 100
#define QUICK_UNPOLLED_COUNT 2

/* A move is late after so long; looked at now and then. */
#define LATE_S 5
#define LOOK_US 20

/* One move of so many is not waited for. */
#define HASTY 8

/* Until as many packets as may be under way are in a queue that nobody polls. */
#define UNPOLLED_MS 5

struct requeue {
	struct bench *bench;
	enum bench_move_case which;
	int (*change)(struct requeue *c); /**< all of them */
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_stream stream;
	const char *octo_args;
	bool by_handle; /**< the rule has an indirect action, else it is replaced */
	struct rte_flow_action_handle *handle[FLOWS];
	struct rte_flow *rule[FLOWS];
	uint16_t queue[FLOWS];
	/* TSC of a move that nothing came of yet, but the last bit is the queue; or 0 */
	RTE_ATOMIC(uint64_t) moved[FLOWS];
	RTE_ATOMIC(bool) parked; /**< nobody is to poll queue 0 */
	RTE_ATOMIC(bool) timed;  /**< the times of moves count */
	uint64_t count, wanted, late, random;
	/* by who looks at bursts */
	uint64_t nb_samples, nb_changing;
	double *us;
	struct bench_snapshot snapshot;
	struct bench_span changing, settled;
	unsigned int under_way; /**< moves */
};

static int
create(struct requeue *c, uint32_t flow)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_error error = {0};
	struct octo_flow_rule rule;
	struct octo_tuple tuple;

	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, c->queue[flow], false);
	if (c->by_handle) {
		c->handle[flow] = rte_flow_action_handle_create(c->nic.octo, &conf,
								&rule.actions[0], &error);
		if (c->handle[flow] == NULL)
			return bench_rule_refused(c->nic.octo, &error);
		rule.actions[0].type = RTE_FLOW_ACTION_TYPE_INDIRECT;
		rule.actions[0].conf = c->handle[flow];
	}
	c->rule[flow] = rte_flow_create(c->nic.octo, &rule.attr, rule.pattern, rule.actions,
					&error);
	return c->rule[flow] == NULL ? bench_rule_refused(c->nic.octo, &error) : 0;
}

static int
move_by_handle(struct requeue *c, uint32_t flow)
{
	const struct rte_flow_action_queue conf = {.index = c->queue[flow]};
	const struct rte_flow_action queue = {
		.type = RTE_FLOW_ACTION_TYPE_QUEUE,
		.conf = &conf,
	};
	struct rte_flow_error error = {0};

	if (rte_flow_action_handle_update(c->nic.octo, c->handle[flow], &queue, &error) != 0)
		return bench_rule_refused(c->nic.octo, &error);
	return 0;
}

static int
replace(struct requeue *c, uint32_t flow)
{
	struct rte_flow_error error = {0};

	if (rte_flow_destroy(c->nic.octo, c->rule[flow], &error) != 0)
		return bench_rule_refused(c->nic.octo, &error);
	return create(c, flow);
}

static int
move(struct requeue *c, uint32_t flow)
{
	c->queue[flow] = !c->queue[flow];
	/* pairs with the acquire in see() */
	rte_atomic_store_explicit(&c->moved[flow], (rte_rdtsc() & ~UINT64_C(1)) | c->queue[flow],
				  rte_memory_order_release);
	return c->by_handle ? move_by_handle(c, flow) : replace(c, flow);
}

static bool
is_under_way(struct requeue *c, uint32_t flow)
{
	return rte_atomic_load_explicit(&c->moved[flow], rte_memory_order_acquire) != 0;
}

/* The first packet of a flow that moved, in the queue where it is to be. */
static void
see(struct requeue *c, const struct bench_burst *b, uint32_t flow)
{
	const uint64_t moved = rte_atomic_load_explicit(&c->moved[flow], rte_memory_order_acquire);

	if (moved == 0 || (moved & 1) != b->lane || b->tsc <= moved)
		return;
	if (rte_atomic_load_explicit(&c->timed, rte_memory_order_relaxed))
		c->us[c->nb_samples++] = (double)(b->tsc - moved) * 1e6 / (double)rte_get_tsc_hz();
	rte_atomic_store_explicit(&c->moved[flow], 0, rte_memory_order_release);
}

static void
seen(void *arg, const struct bench_burst *b)
{
	struct requeue *c = arg;
	unsigned int under_way = 0;

	c->snapshot.packets += b->nb;
	for (uint16_t i = 0; i < b->nb; i++)
		if (b->record[i].flow < FLOWS)
			see(c, b, b->record[i].flow);
	for (uint32_t flow = 0; flow < FLOWS; flow++)
		under_way += is_under_way(c, flow);
	if (under_way > 0 && c->under_way == 0) {
		bench_snapshot_end(&c->snapshot, &c->settled, b->tsc);
	} else if (under_way == 0 && c->under_way > 0) {
		bench_snapshot_end(&c->snapshot, &c->changing, b->tsc);
		c->nb_changing++;
	}
	c->under_way = under_way;
}

/* Worker 0 lets queue 0 alone, or takes it again. */
static void
turn(void *arg, uint8_t worker)
{
	struct requeue *c = arg;
	struct bench_lane *lane = &c->stream.lane[0];
	const uint8_t owner = rte_atomic_load_explicit(&c->parked, rte_memory_order_relaxed) ?
				      BENCH_NOBODY :
				      0;

	if (worker == 0 && bench_lane_owner(lane) != owner)
		bench_lane_give(lane, owner);
}

static int
open_all(struct requeue *c, unsigned int nb_pfs)
{
	const struct bench_nic_conf nic = {
		.nb_pfs = nb_pfs,
		.nb_queues = NB_QUEUES,
		.mpfs_entries = 2 * FLOWS,
		.arfs_entries = 2 * FLOWS,
		.octo_args = c->octo_args,
		.pf_args = bench_nic_latencies,
	};
	const struct bench_stream_conf stream = {
		.bench = c->bench,
		.nic = &c->nic,
		.flows = &c->flows,
		.seen = seen,
		.turn = turn,
		.arg = c,
	};
	int ret = bench_nic_open(&c->nic, c->bench, &nic);

	c->us = malloc(c->wanted * FLOWS * sizeof(c->us[0]));
	if (c->us == NULL)
		ret = -ENOMEM;
	if (ret == 0)
		ret = bench_flows_make(&c->flows, FLOWS, c->nic.peer, c->nic.octo,
				       bench_flow_write_plain);
	if (ret == 0)
		ret = bench_stream_open(&c->stream, &stream);
	for (uint16_t q = 0; q < NB_QUEUES && ret == 0; q++)
		bench_stream_add_lane(&c->stream, c->nic.octo, q, q);
	bench_stream_set_out(&c->stream, c->nic.peer, 0, BENCH_ANYBODY);
	for (uint32_t flow = 0; flow < FLOWS && ret == 0; flow++) {
		c->queue[flow] = flow % NB_QUEUES;
		ret = create(c, flow);
	}
	return ret;
}

static void
close_all(struct requeue *c)
{
	bench_stream_close(&c->stream);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
	free(c->us);
	c->us = NULL;
}

/*
 * Returns whether it came in time. While nobody polls queue 0, all that is under way may
 * be there, of flows that had yet to move: that is given up, else nothing is sent.
 */
static bool
await(struct requeue *c, uint32_t flow)
{
	const uint64_t end = rte_rdtsc() + LATE_S * rte_get_tsc_hz();
	const bool parked = rte_atomic_load_explicit(&c->parked, rte_memory_order_relaxed);

	while (is_under_way(c, flow) && rte_rdtsc() < end) {
		if (parked)
			bench_stream_watch(&c->stream);
		else
			rte_delay_us_sleep(LOOK_US);
	}
	return !is_under_way(c, flow);
}

static int
move_some(struct requeue *c)
{
	int ret = 0;

	rte_atomic_store_explicit(&c->timed, true, rte_memory_order_relaxed);
	for (c->count = 0; c->count < c->wanted && ret == 0 && !bench_is_stopped(); c->count++) {
		const uint32_t flow = bench_random_of(c->random++) % FLOWS;

		/* one that was not waited for */
		if (!await(c, flow))
			c->late++;
		ret = move(c, flow);
		if (bench_random_of(c->random++) % HASTY != 0 && !await(c, flow))
			c->late++;
		if (c->count % 64 == 0)
			bench_progress_part(c->count, c->wanted);
	}
	bench_progress_end();
	for (uint32_t flow = 0; flow < FLOWS; flow++)
		await(c, flow);
	return ret;
}

/* All flows of queue 0 leave it, which nobody polls any more. */
static int
leave(struct requeue *c)
{
	int ret = 0;

	rte_atomic_store_explicit(&c->parked, true, rte_memory_order_relaxed);
	while (bench_lane_owner(&c->stream.lane[0]) != BENCH_NOBODY)
		rte_delay_us_sleep(LOOK_US);
	/* what waits there is under way for long */
	rte_delay_us_sleep(UNPOLLED_MS * 1000);
	bench_stream_give_up(&c->stream);
	rte_atomic_store_explicit(&c->timed, true, rte_memory_order_relaxed);
	for (uint32_t flow = 0; flow < FLOWS && ret == 0; flow++)
		if (c->queue[flow] == 0)
			ret = move(c, flow);
	for (uint32_t flow = 0; flow < FLOWS; flow++)
		c->late += !await(c, flow);
	return ret;
}

/* It is polled again, and half of the flows go there. */
static int
come_back(struct requeue *c)
{
	int ret = 0;

	rte_atomic_store_explicit(&c->timed, false, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&c->parked, false, rte_memory_order_relaxed);
	bench_stream_forgive(&c->stream);
	for (uint32_t flow = 0; flow < FLOWS && ret == 0; flow += NB_QUEUES)
		ret = move(c, flow);
	for (uint32_t flow = 0; flow < FLOWS; flow++)
		c->late += !await(c, flow);
	return ret;
}

static int
leave_and_come_back(struct requeue *c)
{
	int ret = 0;

	for (c->count = 0; c->count < c->wanted && ret == 0 && !bench_is_stopped(); c->count++) {
		ret = leave(c);
		if (ret == 0)
			ret = come_back(c);
		bench_progress_part(c->count, c->wanted);
	}
	bench_progress_end();
	return ret;
}

static void
fill_result(struct requeue *c, struct bench_changes *r)
{
	bench_stream_result(&c->stream, r);
	r->how = c->by_handle ? "update" : "replace";
	r->count = c->count;
	r->late = c->late;
	r->p50_us = bench_percentile(c->us, c->nb_samples, 50);
	r->p99_us = bench_percentile(c->us, c->nb_samples, 99);
	r->seconds = bench_percentile(c->us, c->nb_samples, 100) / 1e6;
	r->blocked_ms = bench_blocked_ms(&c->changing, &c->settled, c->nb_changing);
	r->rate = bench_span_rate(&c->settled);
}

static int
measure(struct requeue *c, struct bench_changes *r)
{
	int ret = bench_stream_start(&c->stream);

	if (ret == 0)
		ret = bench_stream_warm_up(&c->stream);
	if (ret == 0)
		ret = c->change(c);
	r->lost = bench_stream_stop(&c->stream);
	fill_result(c, r);
	return ret;
}

static int
run(struct bench *bench, void *like, unsigned int nb_pfs)
{
	static struct requeue c;
	int ret;

	c = *(const struct requeue *)like;
	c.bench = bench;
	bench_progress_shape(bench_move.cases[c.which].name, nb_pfs, c.wanted);
	ret = open_all(&c, nb_pfs);
	if (ret == 0)
		ret = measure(&c, &bench->move.of[c.which][bench->move.nb[c.which]++]);
	close_all(&c);
	return ret;
}

int
bench_requeue_run(struct bench *bench)
{
	static struct requeue like;
	int ret;

	like.wanted = bench_changes_wanted(bench, COUNT, QUICK_COUNT);
	like.octo_args = ",learn=off,linger_ms=1000" BENCH_PATIENT;
	like.which = BENCH_MOVE;
	like.change = move_some;
	like.by_handle = true;
	ret = bench_run_shapes(bench, run, &like);
	like.by_handle = false;
	return ret == 0 ? bench_run_shapes(bench, run, &like) : ret;
}

/* Each takes as long as a fence does that nothing opens. */
int
bench_unpolled_run(struct bench *bench)
{
	static struct requeue like;

	like.wanted = bench_count(bench, UNPOLLED_COUNT, QUICK_UNPOLLED_COUNT);
	like.octo_args = ",learn=off";
	like.which = BENCH_UNPOLLED;
	like.change = leave_and_come_back;
	like.by_handle = true;
	return bench_run_shapes(bench, run, &like);
}
