/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What learning costs when there is nothing to learn: all packets come in by home
 * legs, and learning is switched on and off in turn.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include "bench_traffic.h"
#include "rte_pmd_octo.h"

#define FLOWS 1000
#define NB_QUEUES 1

/*
 * A round fills the cable with a batch, and is timed while that is received. After so
 * many rounds learning is switched; the first rounds after that do not count. It is
 * on, off, off and on, or the inverse, so that what changes slowly does not matter.
 */
#define BATCH 512
#define ROUNDS 15
#define FIRST_ROUNDS 3
#define FOURS 400
#define QUICK_FOURS 2
#define MAX_POLLS (64 * BATCH)

struct learning {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct rte_mbuf *pkts[BATCH];
	uint32_t next_flow;
	unsigned int nb_fours;
	double four[FOURS]; /* how much longer it took without learning than with */
	struct bench_series ratio;
};

static int
send_batch(struct learning *c)
{
	uint16_t sent = 0;

	if (rte_pktmbuf_alloc_bulk(c->bench->peer_pool, c->pkts, BATCH) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < BATCH; i++) {
		bench_frame_fill(c->pkts[i], &c->flows.frame[c->next_flow]);
		c->next_flow = (c->next_flow + 1) % c->flows.nb;
	}
	while (sent < BATCH) {
		const uint16_t n = rte_eth_tx_burst(c->nic.peer, 0, c->pkts + sent, BATCH - sent);

		if (n == 0) {
			rte_pktmbuf_free_bulk(c->pkts + sent, BATCH - sent);
			return -EIO;
		}
		sent += n;
	}
	return 0;
}

static int
receive_batch(struct learning *c, uint64_t *cycles)
{
	const uint64_t start = rte_rdtsc_precise();
	uint16_t got = 0;

	for (unsigned int i = 0; i < MAX_POLLS && got < BATCH; i++)
		got += rte_eth_rx_burst(c->nic.octo, 0, c->pkts + got,
					RTE_MIN(APP_BURST, BATCH - got));
	*cycles = rte_rdtsc_precise() - start;
	rte_pktmbuf_free_bulk(c->pkts, got);
	return got == BATCH ? 0 : -EIO;
}

static int
set_learning(const struct learning *c, bool on)
{
	const char *why = "it is no octo port";
	struct rte_pmd_octo_learning learning;
	int ret = rte_pmd_octo_learning_get(c->nic.octo, &learning);

	learning.settings.on = on;
	if (ret == 0)
		ret = rte_pmd_octo_learning_set(c->nic.octo, &learning.settings, &why);
	if (ret != 0)
		fprintf(stderr, "%s: learning cannot be switched: %s\n", app_name, why);
	return ret;
}

/* The medians: other programs that take the CPU meanwhile do not count. */
static int
run_turn(struct learning *c, bool on, double *median)
{
	double cycles[ROUNDS];
	uint64_t one = 0;
	int ret = set_learning(c, on);

	for (unsigned int i = 0; i < FIRST_ROUNDS + ROUNDS && ret == 0; i++) {
		ret = send_batch(c);
		if (ret == 0)
			ret = receive_batch(c, &one);
		if (i >= FIRST_ROUNDS)
			cycles[i - FIRST_ROUNDS] = (double)one;
	}
	if (ret == 0)
		*median = bench_median(cycles, ROUNDS);
	return ret;
}

/* On one lcore, so that nothing waits for another. */
static int
work(void *arg)
{
	struct learning *c = arg;
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_fours && ret == 0; i++) {
		/* at random, lest something that comes regularly is on one side */
		const bool inverse = bench_random_of(i) & 1;
		double sum[2] = {0, 0};

		for (unsigned int turn = 0; turn < 4 && ret == 0; turn++) {
			const bool outer = turn == 0 || turn == 3;
			const bool on = outer == inverse;
			double cycles = 0;

			ret = run_turn(c, on, &cycles);
			sum[on] += cycles;
		}
		if (ret == 0)
			c->four[i] = sum[false] / sum[true];
		bench_progress_part(i, c->nb_fours);
	}
	return ret;
}

/* By the PF of this lcore's socket, from where no packet has to go elsewhere. */
static int
check_home(const struct learning *c)
{
	struct bench_received received;
	int ret = bench_nic_received(&c->nic, &received);

	if (ret == 0 && received.stray != 0) {
		fprintf(stderr, "%s: packets strayed where all should come home\n", app_name);
		ret = -EPROTO;
	}
	return ret;
}

static int
run_once(void *arg)
{
	struct learning *c = arg;
	static const struct bench_nic_conf conf = {
		.nb_pfs = 2,
		.nb_queues = NB_QUEUES,
		.mpfs_entries = 65536,
		.arfs_entries = 65536,
		.octo_args = ",learn=on",
	};
	int ret = bench_nic_open(&c->nic, c->bench, &conf);

	if (ret == 0)
		ret = bench_flows_make(&c->flows, FLOWS, c->nic.peer, c->nic.octo,
				       bench_flow_write_plain);
	if (ret == 0)
		ret = rte_eal_remote_launch(work, c, app_lcore(0));
	if (ret == 0)
		ret = rte_eal_wait_lcore(app_lcore(0));
	if (ret == 0)
		ret = check_home(c);
	if (ret == 0)
		bench_series_add(&c->ratio, bench_median(c->four, c->nb_fours));
	bench_progress_end();
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
	return ret;
}

int
bench_learning_run(struct bench *bench)
{
	static struct learning c;
	int ret;

	c.bench = bench;
	c.nb_fours = bench_count(bench, FOURS, QUICK_FOURS);
	ret = bench_run_often(bench, "learning", run_once, &c);
	bench->results.learning.throughput_ratio = bench_series_median(&c.ratio);
	return ret;
}
