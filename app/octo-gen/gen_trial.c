/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "gen.h"

/* So long after the last packet none of those under way is awaited any more. */
#define GIVE_UP_MS 1000
/* Polls in vain after which the CPU is left to others for a moment. */
#define EMPTY_POLLS 4096

/* A trial while it runs; times are TSC cycles. */
struct run {
	struct gen *gen;
	struct gen_result *result;
	double rate;
	uint64_t begin, end; /* of sending */
	uint64_t last_rx;    /* or when sending began */
	uint64_t given_up;   /* packets that are no longer thought to be under way */
	uint32_t next_flow;
	unsigned int empty_polls;
};

static uint64_t
under_way(const struct run *run)
{
	const uint64_t settled = run->result->received + run->given_up;

	/* what was given up may come late */
	return run->result->sent > settled ? run->result->sent - settled : 0;
}

static unsigned int
receive_burst(struct run *run, uint64_t now)
{
	struct rte_mbuf *pkts[APP_BURST];
	const uint16_t n = rte_eth_rx_burst(run->gen->port, 0, pkts, APP_BURST);

	for (uint16_t i = 0; i < n; i++) {
		if (gen_packet_is_ours(pkts[i], run->gen->trial)) {
			run->result->received++;
			run->last_rx = now;
		} else {
			run->result->foreign++;
		}
	}
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

/* How many packets may be sent by now. */
static unsigned int
allowed(struct run *run, uint64_t now)
{
	const uint64_t window = run->gen->options->window;
	uint64_t n = APP_BURST;

	if (run->rate > 0) {
		const double due = run->rate * (double)(now - run->begin) / rte_get_tsc_hz();

		if (due <= (double)run->result->sent)
			return 0;
		n = RTE_MIN(n, (uint64_t)(due - (double)run->result->sent) + 1);
	}
	if (window != 0) {
		const uint64_t out = under_way(run);

		n = RTE_MIN(n, window > out ? window - out : 0);
	}
	return (unsigned int)n;
}

static unsigned int
send_burst(struct run *run, unsigned int n)
{
	const struct gen *gen = run->gen;
	const uint16_t len = (uint16_t)(gen->options->size - RTE_ETHER_CRC_LEN);
	struct rte_mbuf *pkts[APP_BURST];
	uint16_t sent;

	if (n == 0 || rte_pktmbuf_alloc_bulk(gen->pool, pkts, n) != 0)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		gen_packet_write(pkts[i], &gen->packets[(run->next_flow + i) % gen->options->flows],
				 gen->trial, len);
	sent = rte_eth_tx_burst(gen->port, 0, pkts, (uint16_t)n);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	run->next_flow = (uint32_t)((run->next_flow + sent) % gen->options->flows);
	run->result->sent += sent;
	return sent;
}

static void
rest(struct run *run, bool worked)
{
	run->empty_polls = worked ? 0 : run->empty_polls + 1;
	if (run->empty_polls < EMPTY_POLLS)
		return;
	run->empty_polls = 0;
	app_step_aside();
}

/* A window must not stay closed for ever by what was lost. */
static void
give_up(struct run *run, uint64_t now)
{
	if (now - run->last_rx < rte_get_tsc_hz() / 1000 * GIVE_UP_MS)
		return;
	run->given_up += under_way(run);
	run->last_rx = now;
}

static void
send_all(struct run *run)
{
	uint64_t now = run->begin;

	for (; now < run->end && !gen_stopping; now = rte_rdtsc()) {
		const unsigned int sent = send_burst(run, allowed(run, now));
		const unsigned int received = receive_burst(run, now);

		rest(run, sent + received != 0);
		give_up(run, now);
	}
}

static void
await_rest(struct run *run)
{
	const uint64_t patience = rte_get_tsc_hz() / 1000 * GIVE_UP_MS;
	uint64_t last = rte_rdtsc();

	while (run->result->received < run->result->sent) {
		const uint64_t now = rte_rdtsc();
		const uint64_t before = run->result->received;

		rest(run, receive_burst(run, now) != 0);
		if (run->result->received != before)
			last = now;
		else if (now - last > patience)
			break;
	}
}

void
gen_trial_run(struct gen *gen, double rate, double seconds, struct gen_result *result)
{
	const double hz = (double)rte_get_tsc_hz();
	struct run run = {.gen = gen, .result = result, .rate = rate};

	*result = (struct gen_result){0};
	gen->trial++;
	run.begin = rte_rdtsc();
	run.end = run.begin + (uint64_t)(seconds * hz);
	run.last_rx = run.begin;
	send_all(&run);
	run.end = rte_rdtsc();
	await_rest(&run);
	result->seconds = (double)(RTE_MAX(run.end, run.last_rx) - run.begin) / hz;
}
