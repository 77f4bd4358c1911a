/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PFs are unplugged and plugged again under load, one after the other, the one that
 * manages the switch included.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "bench_pf_loss.h"
#include "octo_pf_state.h"

#define COUNT 100
#define QUICK_COUNT 4
#define COUNT_OF_MANY 20
#define QUICK_COUNT_OF_MANY 2

/* For a port to notice that a PF is gone, or back: it looks for it each second. */
#define NOTICE_S 20
#define LOOK_MS 1

/* Traffic goes on for so long before it is counted what is lost. */
#define GO_ON_MS 5

static int
open_stream(struct bench_pf_loss *c)
{
	const struct bench_stream_conf conf = {
		.bench = c->bench,
		.nic = &c->nic,
		.flows = &c->flows,
	};
	int ret = bench_flows_make(&c->flows, c->nb_flows, c->nic.peer, c->nic.octo,
				   bench_flow_write_plain);

	if (ret == 0)
		ret = bench_stream_open(&c->stream, &conf);
	for (uint16_t q = 0; q < BENCH_PF_LOSS_QUEUES && ret == 0; q++)
		bench_stream_add_lane(&c->stream, c->nic.octo, q, q % APP_NB_WORKERS);
	bench_stream_set_out(&c->stream, c->nic.peer, 0, BENCH_ANYBODY);
	return ret;
}

int
bench_pf_loss_open(struct bench_pf_loss *c, struct bench *bench, enum bench_loss loss,
		   unsigned int nb_pfs, uint32_t nb_flows, uint32_t nb_rules)
{
	const struct bench_nic_conf nic = {
		.nb_pfs = nb_pfs,
		.nb_queues = BENCH_PF_LOSS_QUEUES,
		.mpfs_entries = 2 * nb_flows,
		.arfs_entries = 2 * nb_flows,
		.octo_args = ",learn=off",
		.pf_args = bench_nic_latencies,
		.nic_args = loss == BENCH_LOSS_DROP ? ",lost_pf=drop" : ",lost_pf=default",
	};
	int ret;

	memset(c, 0, sizeof(*c));
	c->bench = bench;
	c->nb_flows = nb_flows;
	ret = bench_nic_open(&c->nic, bench, &nic);
	if (ret == 0)
		ret = open_stream(c);
	for (uint32_t flow = 0; flow < nb_rules && ret == 0; flow++)
		ret = bench_nic_steer(&c->nic, flow, flow % BENCH_PF_LOSS_QUEUES);
	return ret;
}

void
bench_pf_loss_close(struct bench_pf_loss *c)
{
	bench_stream_close(&c->stream);
	bench_flows_free(&c->flows);
	bench_nic_close(&c->nic);
}

bool
bench_pf_loss_await(const struct bench_pf_loss *c, const char *xstat, uint64_t before)
{
	const uint64_t end = rte_rdtsc() + NOTICE_S * rte_get_tsc_hz();

	while (bench_nic_xstat(&c->nic, xstat) == before && rte_rdtsc() < end)
		rte_delay_us_sleep(LOOK_MS * 1000);
	return bench_nic_xstat(&c->nic, xstat) != before;
}

bool
bench_pf_loss_await_home(const struct bench_pf_loss *c)
{
	const uint64_t end = rte_rdtsc() + NOTICE_S * rte_get_tsc_hz();
	struct bench_received before, now;

	if (bench_nic_received(&c->nic, &before) != 0)
		return false;
	do {
		rte_delay_us_sleep(2 * LOOK_MS * 1000);
		if (bench_nic_received(&c->nic, &now) != 0)
			return false;
		if (now.stray != before.stray)
			before = now;
		else if (now.home > before.home + c->nb_flows / 10)
			return true;
	} while (rte_rdtsc() < end);
	return false;
}

/* A PF that managed the switch took rules along, which the port puts there again. */
static bool
await_rules(uint64_t nb)
{
	const uint64_t end = rte_rdtsc() + NOTICE_S * rte_get_tsc_hz();
	struct mpsim_account now = {0};

	while (rte_pmd_mpsim_account_get("A", &now) == 0 && now.rules < nb && rte_rdtsc() < end)
		rte_delay_us_sleep(LOOK_MS * 1000);
	return now.rules >= nb;
}

/* Says what was not noticed in time. */
static bool
print_late(bool in_time, const char *what, unsigned int pf)
{
	if (!in_time)
		fprintf(stderr, "\nnot within %u s: %s (PF %u)\n", NOTICE_S, what, pf);
	return in_time;
}

struct times {
	unsigned int nb;
	double *control, *wall, *failback;
};

/* The PF is gone; adds to *r what it cost. */
static int
lose(struct bench_pf_loss *c, unsigned int pf, struct bench_failovers *r, struct times *t)
{
	/* how long the last one took: told when all rules are where they should */
	const uint64_t ns = bench_nic_xstat(&c->nic, "failover_ns");
	const uint64_t reordered = c->stream.order.reordered;
	const uint64_t end = rte_rdtsc() + OCTO_PF_EJECT_MS * rte_get_tsc_hz() / MS_PER_S;
	struct mpsim_account before, after;
	bool in_time;
	int64_t lost;
	int ret = rte_pmd_mpsim_account_get("A", &before);

	if (ret == 0)
		ret = bench_nic_remove(&c->nic, pf, r->loss == BENCH_LOSS_EJECT);
	if (ret != 0)
		return ret;
	in_time = r->loss == BENCH_LOSS_EJECT && rte_rdtsc() < end;
	/* of each flow one in the switch, and one in each other PF */
	r->late += !print_late(bench_pf_loss_await(c, "failover_ns", ns), "the failover's end",
			       pf) ||
		   !print_late(await_rules((uint64_t)r->flows * r->pfs), "all rules", pf);
	t->control[t->nb] = (double)bench_nic_xstat(&c->nic, "failover_cpu_ns") / 1e6;
	t->wall[t->nb] = (double)bench_nic_xstat(&c->nic, "failover_ns") / 1e6;
	rte_delay_us_sleep(GO_ON_MS * 1000);
	lost = bench_stream_pause(&c->stream);
	ret = rte_pmd_mpsim_account_get("A", &after);
	r->lost += lost - c->lost;
	r->lost_in_time += in_time ? lost - c->lost : 0;
	c->lost = lost;
	r->lost_in_dead_rings += after.lost - before.lost;
	r->dropped += after.dropped - before.dropped;
	r->reordered += c->stream.order.reordered - reordered;
	bench_stream_resume(&c->stream);
	return ret;
}

/* And it comes back. */
static int
come_back(struct bench_pf_loss *c, unsigned int pf, struct bench_failovers *r, struct times *t)
{
	const uint64_t failbacks = bench_nic_xstat(&c->nic, "failbacks");
	const uint64_t duplicated = c->stream.order.duplicated;
	const uint64_t reordered = c->stream.order.reordered;
	const uint64_t start = rte_rdtsc();
	int64_t lost;
	int ret = bench_nic_restore(&c->nic, pf);

	if (ret != 0)
		return ret;
	r->late += !print_late(bench_pf_loss_await(c, "failbacks", failbacks), "the failback",
			       pf) ||
		   !print_late(bench_pf_loss_await_home(c), "all packets at home", pf);
	t->failback[t->nb++] = (double)(rte_rdtsc() - start) * 1e3 / (double)rte_get_tsc_hz();
	lost = bench_stream_pause(&c->stream);
	r->failback_lost += lost - c->lost;
	c->lost = lost;
	r->failback_duplicated += c->stream.order.duplicated - duplicated;
	r->failback_reordered += c->stream.order.reordered - reordered;
	bench_stream_resume(&c->stream);
	return 0;
}

static int
cycle(struct bench_pf_loss *c, struct bench_failovers *r, struct times *t)
{
	int ret = bench_stream_start(&c->stream);

	if (ret == 0)
		ret = bench_stream_warm_up(&c->stream);
	for (uint64_t i = 0; i < r->count && ret == 0 && !bench_is_stopped(); i++) {
		ret = lose(c, i % r->pfs, r, t);
		if (ret == 0)
			ret = come_back(c, i % r->pfs, r, t);
		bench_progress_part(i, r->count);
	}
	bench_progress_end();
	bench_stream_stop(&c->stream);
	r->fence_timeouts = bench_nic_fence_timeouts(&c->nic);
	return ret;
}

static void
fill_result(struct bench_failovers *r, struct times *t)
{
	r->count = t->nb;
	r->control_p50_ms = bench_percentile(t->control, t->nb, 50);
	r->control_p99_ms = bench_percentile(t->control, t->nb, 99);
	r->wall_p50_ms = bench_percentile(t->wall, t->nb, 50);
	r->wall_p99_ms = bench_percentile(t->wall, t->nb, 99);
	r->failback_p50_ms = bench_percentile(t->failback, t->nb, 50);
	r->failback_p99_ms = bench_percentile(t->failback, t->nb, 99);
}

static int
run_shape(struct bench *bench, struct bench_failovers *r)
{
	static struct bench_pf_loss c;
	double *times = calloc(3 * r->count, sizeof(times[0]));
	struct times t = {
		.control = times, .wall = times + r->count, .failback = times + 2 * r->count};
	int ret = times == NULL ? -ENOMEM : 0;

	fprintf(stderr, "==> failover%s: %u times, %u PFs, %u flows\n",
		r->loss == BENCH_LOSS_EJECT ? ", announced" :
		r->loss == BENCH_LOSS_DROP  ? ", the NIC drops" :
					      "",
		(unsigned int)r->count, r->pfs, r->flows);
	if (ret == 0)
		ret = bench_pf_loss_open(&c, bench, r->loss, r->pfs, r->flows, r->flows);
	if (ret == 0)
		ret = cycle(&c, r, &t);
	fill_result(r, &t);
	bench_pf_loss_close(&c);
	free(times);
	return ret;
}

/* With few flows, and unless it is to be short with many; of the kind that counts all. */
static int
run_shapes(struct bench *bench, enum bench_loss loss, unsigned int nb_pfs)
{
	const uint32_t flows[] = {64, bench_count(bench, 1000, 250),
				  bench_count(bench, 10000, 1000)};
	const uint64_t count = bench_changes_wanted(bench, COUNT, QUICK_COUNT);
	const uint64_t many = RTE_MIN(
		count, (uint64_t)bench_count(bench, COUNT_OF_MANY, QUICK_COUNT_OF_MANY));
	int ret = 0;

	for (unsigned int i = 0; i < RTE_DIM(flows) && ret == 0 && !bench_is_stopped(); i++) {
		struct bench_failovers *r = &bench->failover.of[bench->failover.nb];

		if (loss != BENCH_LOSS_AROUND && (i == 1 || (i > 0 && bench->options.quick)))
			continue;
		*r = (struct bench_failovers){.loss = loss,
					      .pfs = nb_pfs,
					      .flows = flows[i],
					      .count = i == 0 ? count : many};
		bench->failover.nb++;
		ret = run_shape(bench, r);
	}
	return ret;
}

static int
run_loss(struct bench *bench, enum bench_loss loss)
{
	int ret = 0;

	for (unsigned int nb_pfs = 2; nb_pfs <= BENCH_MAX_PFS && ret == 0; nb_pfs++)
		if ((bench->options.pfs == 0 ? nb_pfs != 3 : bench->options.pfs == nb_pfs) &&
		    !bench_is_stopped())
			ret = run_shapes(bench, loss, nb_pfs);
	return ret;
}

int
bench_pf_loss_run(struct bench *bench)
{
	return run_loss(bench, BENCH_LOSS_AROUND);
}

int
bench_pf_loss_drop_run(struct bench *bench)
{
	return run_loss(bench, BENCH_LOSS_DROP);
}

int
bench_pf_eject_run(struct bench *bench)
{
	return run_loss(bench, BENCH_LOSS_EJECT);
}

/* Its figures come of the same changes. */
int
bench_failback_run(struct bench *bench)
{
	return bench->failover.nb > 0 ? 0 : run_loss(bench, BENCH_LOSS_AROUND);
}
