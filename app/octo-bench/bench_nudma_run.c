/* SPDX-License-Identifier: BSD-3-Clause */

/* Experiments: real packets, whose DMA and whose reading is charged to the model. */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include "bench_flow.h"
#include "bench_nudma.h"
#include "mpsim_control.h"

/* Each packet of an experiment costs the same, in each flow: few will do. */
#define ROUNDS 4

/* Polls that bring nothing until packets are given up. */
#define PATIENCE 100000

/* Until octo's rules are in effect: it may have to wait for a CPU. */
#define SETTLE_S 20
#define SETTLE_US 200

const uint32_t nudma_sizes[NUDMA_NB_SIZES] = {64, 1448, 4096, 16384, 32768, 65536};

struct nudma_plan
nudma_plan_of(enum nudma_experiment x)
{
	struct nudma_plan plan = {.traffic = NUDMA_TX, .bytes = 60, .frames = 1, .tx_frames = 1};
	uint32_t size = 64;

	if (x >= NUDMA_X_PKTGEN) {
		plan.rings_on_pf = x == NUDMA_X_PKTGEN_RINGS;
		if (x == NUDMA_X_TSO) {
			plan.bytes = NUDMA_FRAME;
			plan.tx_frames = nudma_frames_of(NUDMA_SEGMENT);
		}
		return plan;
	}
	if (x < NUDMA_X_ECHO) {
		plan.traffic = NUDMA_RX;
		plan.bytes = NUDMA_FRAME;
		plan.load = x - NUDMA_X_RX;
		return plan;
	}
	plan.traffic = NUDMA_ANSWER;
	if (x < NUDMA_X_SIZE) {
		plan.load = x - NUDMA_X_ECHO;
	} else {
		plan.no_ddio = x >= NUDMA_X_SIZE_DRAM;
		size = nudma_sizes[x - (plan.no_ddio ? NUDMA_X_SIZE_DRAM : NUDMA_X_SIZE)];
	}
	plan.frames = plan.tx_frames = nudma_frames_of(size);
	plan.bytes = RTE_MIN(size, (uint32_t)NUDMA_MSS) + NUDMA_FRAME - NUDMA_MSS;
	return plan;
}

/* What a worker is given, and what comes of it. */
struct job {
	const struct nudma_port *port;
	const struct bench *bench;
	struct nudma_plan plan;
	struct bench_flows there; /* frames to the application */
	struct bench_flows back;  /* and from it */
	struct nudma_tally *tally;
};

/* A burst of so many frames of a flow; returns how many were taken. */
static uint16_t
send_some(uint16_t port, struct rte_mempool *pool, const struct bench_frame *frame, uint32_t bytes,
	  uint16_t n)
{
	struct rte_mbuf *pkts[APP_BURST];
	uint16_t sent;

	n = RTE_MIN(n, APP_BURST);
	if (rte_pktmbuf_alloc_bulk(pool, pkts, n) != 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		bench_frame_fill(pkts[i], frame);
		pkts[i]->data_len = pkts[i]->pkt_len = bytes;
	}
	sent = rte_eth_tx_burst(port, 0, pkts, n);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	return sent;
}

static void
send_all(uint16_t port, struct rte_mempool *pool, const struct bench_frame *frame, uint32_t bytes,
	 uint32_t n)
{
	uint32_t sent = 0;

	for (unsigned int tries = 0; sent < n && tries < PATIENCE; tries++)
		sent += send_some(port, pool, frame, bytes, RTE_MIN(n - sent, (uint32_t)APP_BURST));
}

static enum nudma_place
place_of(const struct nudma_port *p, struct rte_mbuf *pkt)
{
	return (enum nudma_place) * RTE_MBUF_DYNFIELD(pkt, p->place_offset, uint8_t *);
}

/* What a kernel and a program do with a frame that is received. */
static void
read_frame(const struct job *job, struct rte_mbuf *pkt)
{
	const struct nudma_port *p = job->port;
	struct nudma_account *a = &job->tally->app;

	nudma_cpu_read(p->model, a, NUDMA_APP, NUDMA_APP, place_of(p, pkt), NUDMA_LATE,
		       pkt->pkt_len);
}

/*
 * The first of a message finds everybody asleep: the interrupt handler reads an event, which
 * was written as the completion was, and the stack waits for the headers.
 */
static void
read_first(const struct job *job, struct rte_mbuf *pkt)
{
	const struct nudma_port *p = job->port;
	struct nudma_account *a = &job->tally->app;
	const enum nudma_place place = place_of(p, pkt);

	nudma_cpu_read(p->model, a, NUDMA_APP, NUDMA_APP, place, NUDMA_AT_ONCE, NUDMA_LINE);
	nudma_cpu_read(p->model, a, NUDMA_APP, NUDMA_APP, place, NUDMA_AT_ONCE, NUDMA_LINE);
	if (pkt->pkt_len > NUDMA_LINE)
		nudma_cpu_read(p->model, a, NUDMA_APP, NUDMA_APP, place, NUDMA_STREAM,
			       pkt->pkt_len - NUDMA_LINE);
}

static void
read_burst(const struct job *job, struct rte_mbuf *const *pkts, uint16_t n, bool first)
{
	for (uint16_t i = 0; i < n; i++) {
		if (job->plan.traffic == NUDMA_ANSWER && first && i == 0)
			read_first(job, pkts[i]);
		else
			read_frame(job, pkts[i]);
		job->tally->bytes += pkts[i]->pkt_len;
	}
	job->tally->packets += n;
}

/* What the generator receives has no reader: it is charged nothing. */
static uint32_t
receive(uint16_t port, uint32_t n, const struct job *reader)
{
	struct rte_mbuf *pkts[APP_BURST];
	uint32_t got = 0, empty = 0;

	while (got < n && empty < PATIENCE) {
		const uint16_t now = rte_eth_rx_burst(port, 0, pkts, APP_BURST);

		if (reader != NULL)
			read_burst(reader, pkts, now, got == 0);
		rte_pktmbuf_free_bulk(pkts, now);
		got += now;
		empty = now > 0 ? 0 : empty + 1;
	}
	return got;
}

/* One message of a flow, or a burst. Returns whether all of it came. */
static bool
one_round(struct job *job, uint32_t flow)
{
	const struct nudma_port *p = job->port;
	const struct nudma_plan *plan = &job->plan;
	const uint32_t n = plan->traffic == NUDMA_ANSWER ? plan->frames :
			   plan->traffic == NUDMA_TX     ? plan->tx_frames :
							   APP_BURST;
	bool all = true;

	if (plan->traffic != NUDMA_TX) {
		send_all(p->peer, job->bench->peer_pool, &job->there.frame[flow], plan->bytes, n);
		all = receive(p->port, n, job) == n;
	}
	if (plan->traffic != NUDMA_RX) {
		send_all(p->port, job->bench->pool, &job->back.frame[flow], plan->bytes, n);
		all &= receive(p->peer, n, NULL) == n;
	}
	if (plan->traffic == NUDMA_TX) {
		job->tally->packets += n;
		job->tally->bytes += (uint64_t)n * plan->bytes;
	}
	job->tally->messages++;
	return all;
}

static int
run_rounds(void *arg)
{
	struct job *job = arg;

	for (uint32_t i = 0; i < ROUNDS * NUDMA_NB_FLOWS; i++)
		if (!one_round(job, i % NUDMA_NB_FLOWS))
			return -EIO;
	return 0;
}

/* On socket 1, and nowhere else: the order of events is always the same. */
static int
run_there(int (*fn)(void *arg), void *arg)
{
	const unsigned int lcore = app_lcore(NUDMA_APP);
	const int ret = rte_eal_remote_launch(fn, arg, lcore);

	return ret == 0 ? rte_eal_wait_lcore(lcore) : ret;
}

static int
make_flows(struct job *job)
{
	const struct nudma_port *p = job->port;
	int ret = bench_flows_make(&job->there, NUDMA_NB_FLOWS, p->peer, p->port,
				   bench_flow_write_plain);

	if (ret == 0)
		ret = bench_flows_make(&job->back, NUDMA_NB_FLOWS, p->port, p->peer,
				       bench_flow_write_plain);
	return ret;
}

static void
free_flows(struct job *job)
{
	bench_flows_free(&job->there);
	bench_flows_free(&job->back);
}

static int
set_state(const struct nudma_port *p, const struct nudma_plan *plan,
	  const struct nudma_results *results)
{
	const struct mpsim_model_state state = {
		.load = &results->load[plan->load],
		.no_ddio = plan->no_ddio,
		.rings_on_pf = plan->rings_on_pf,
		.tx_frames = plan->tx_frames,
	};

	return rte_pmd_mpsim_model_set(p->pf[0], &state);
}

int
nudma_experiment(const struct nudma_port *p, const struct bench *bench, enum nudma_experiment x,
		 struct nudma_results *results)
{
	struct nudma_tally *tally = &results->of[p->config][x];
	struct job job = {.port = p, .bench = bench, .plan = nudma_plan_of(x), .tally = tally};
	struct nudma_account before;
	uint64_t by_pf[NUDMA_NB_PFS];
	int ret = make_flows(&job);

	*tally = (struct nudma_tally){0};
	if (ret == 0)
		ret = set_state(p, &job.plan, results);
	if (ret == 0)
		ret = nudma_port_account(p, &before, by_pf);
	if (ret == 0)
		ret = run_there(run_rounds, &job);
	if (ret == 0)
		ret = nudma_port_account(p, &tally->device, by_pf);
	nudma_account_subtract(&tally->device, &before);
	free_flows(&job);
	if (ret != 0)
		fprintf(stderr, "%s: packets are lost by %s\n", app_name, nudma_configs[p->config]);
	return ret;
}

/* All flows twice; were they where they belong? */
static bool
are_settled(struct job *job)
{
	const struct nudma_port *p = job->port;
	uint64_t before[NUDMA_NB_PFS], after[NUDMA_NB_PFS];
	struct nudma_account sum;

	if (nudma_port_account(p, &sum, before) != 0)
		return false;
	if (run_there(run_rounds, job) != 0)
		return false;
	if (nudma_port_account(p, &sum, after) != 0)
		return false;
	return p->config != NUDMA_OCTO || after[NUDMA_FAR] == before[NUDMA_FAR];
}

int
nudma_settle(const struct nudma_port *p, const struct bench *bench)
{
	const uint64_t end = rte_get_timer_cycles() + SETTLE_S * rte_get_timer_hz();
	struct nudma_tally tally = {0};
	struct job job = {.port = p,
			  .bench = bench,
			  .plan = {.traffic = NUDMA_ANSWER, .bytes = 96, .frames = 1},
			  .tally = &tally};
	int ret = make_flows(&job);

	while (ret == 0 && !are_settled(&job)) {
		if (rte_get_timer_cycles() > end || bench_is_stopped())
			ret = -ETIMEDOUT;
		rte_delay_us_sleep(SETTLE_US);
	}
	free_flows(&job);
	if (ret == -ETIMEDOUT)
		fprintf(stderr, "%s: flows of %s do not come home\n", app_name,
			nudma_configs[p->config]);
	return ret;
}
