/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>

#include "bench.h"

static const char usage[] =
	"usage: octo bench failover [--json FILE] [--count N] [--pfs 2|4] [--quick]\n"
	"                           [--case NAME]... [--seed N] [-v]\n"
	"\n"
	"Unplugs PFs of a simulated NIC under load and plugs them again: what is lost, to what\n"
	"was in the dead PF's rings; how long the port works until the last rule is flipped;\n"
	"what is lost or reordered when it comes back. Then at random, with control calls in\n"
	"between: no crash, and every packet accounted for.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --count N    times that a PF is lost, with 64 flows (default 100); cycles of\n"
	"               chaos (default 1000)\n"
	"  --pfs N      with a NIC of 2 or of 4 PFs (default: one after the other)\n"
	"  --quick      small counts: shows that it runs, and measures nothing\n"
	"  --case NAME  only pf_loss, failback or chaos; may be repeated\n"
	"  --seed N     cycles of chaos of this seed, all in this process (default: 50 in a\n"
	"               process of its own each, so that one that crashes is counted)\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out.\n";

static void
report_loss(const struct bench_failovers *r)
{
	char what[64];

	snprintf(what, sizeof(what), "lost packets, %u PFs, %u flows, %" PRIu64 " times", r->pfs,
		 r->flows, r->count);
	bench_line("pf_loss", what, (double)r->lost, 0, "", "",
		   r->lost <= (int64_t)r->lost_in_dead_rings);
	bench_line("", "  of them in the dead PFs' rings", r->lost_in_dead_rings, 0, "", "all",
		   r->lost <= (int64_t)r->lost_in_dead_rings);
	bench_line("", "  CPU time until the last rule is flipped, median", r->control_p50_ms, 3,
		   "ms", "", true);
	bench_line("", "  99 %", r->control_p99_ms, 3, "ms", r->flows == 64 ? "<= 1" : "",
		   r->control_p99_ms <= 1);
	bench_line("", "  wall time, median", r->wall_p50_ms, 3, "ms", "", true);
	bench_line("", "  99 %", r->wall_p99_ms, 3, "ms", "", true);
	bench_line("", "  times that it was not noticed", r->late, 0, "", "0", r->late == 0);
}

static void
report_pf_loss(const struct bench *bench)
{
	for (unsigned int i = 0; i < bench->failover.nb; i++)
		report_loss(&bench->failover.of[i]);
}

static void
report_failback(const struct bench *bench)
{
	char what[64];

	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		const struct bench_failovers *r = &bench->failover.of[i];

		snprintf(what, sizeof(what), "lost packets, %u PFs, %u flows", r->pfs, r->flows);
		bench_line("failback", what, (double)r->failback_lost, 0, "", "0",
			   r->failback_lost == 0);
		bench_line("", "  reordered ones", r->failback_reordered, 0, "", "0",
			   r->failback_reordered == 0);
		bench_line("", "  until nothing strays any more, median", r->failback_p50_ms, 1,
			   "ms", "", true);
		bench_line("", "  99 %", r->failback_p99_ms, 1, "ms", "", true);
	}
}

static void
report_chaos(const struct bench *bench)
{
	const struct bench_chaos *r = &bench->failover.chaos;

	bench_line("chaos", "PFs that were lost and came back", r->cycles, 0, "", "", true);
	bench_line("", "processes that crashed", r->crashes, 0, "", "0", r->crashes == 0);
	bench_line("", "packets", r->packets / 1e6, 2, "M", "", true);
	bench_line("", "lost in dead rings, or dropped and counted", r->lost + r->dropped, 0, "",
		   "", true);
	bench_line("", "unaccounted for", r->unaccounted, 0, "", "0", r->unaccounted == 0);
	bench_line("", "control calls meanwhile", r->calls, 0, "", "", true);
	bench_line("", "PFs that did not come back in time", r->late, 0, "", "0", r->late == 0);
}

static void
write_shapes(FILE *f, const struct bench *bench,
	     void (*write)(FILE *f, const struct bench_failovers *r))
{
	fprintf(f, ",\n    \"shapes\": [");
	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		const struct bench_failovers *r = &bench->failover.of[i];

		fprintf(f, "%s\n    {\"pfs\": %u, \"flows\": %u, \"count\": %" PRIu64 ", ",
			i == 0 ? "" : ",", r->pfs, r->flows, r->count);
		write(f, r);
		fprintf(f, "}");
	}
	fprintf(f, "]}");
}

static void
write_loss(FILE *f, const struct bench_failovers *r)
{
	fprintf(f,
		"\"lost\": %" PRId64 ", \"lost_in_dead_rings\": %" PRIu64 ", \"dropped\": %" PRIu64
		",\n     \"late\": %" PRIu64 ", \"control_p50_ms\": %.4f, \"control_p99_ms\": %.4f"
		",\n     \"wall_p50_ms\": %.4f, \"wall_p99_ms\": %.4f",
		r->lost, r->lost_in_dead_rings, r->dropped, r->late, r->control_p50_ms,
		r->control_p99_ms, r->wall_p50_ms, r->wall_p99_ms);
}

/* The time wanted is that with few flows. */
static void
write_pf_loss(FILE *f, const struct bench *bench)
{
	struct bench_failovers sum = {0};

	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		const struct bench_failovers *r = &bench->failover.of[i];

		sum.lost += r->lost;
		sum.lost_in_dead_rings += r->lost_in_dead_rings;
		if (r->flows == bench->failover.of[0].flows)
			sum.control_p99_ms = RTE_MAX(sum.control_p99_ms, r->control_p99_ms);
	}
	fprintf(f,
		"{\"lost\": %" PRId64 ", \"lost_in_dead_rings\": %" PRIu64
		", \"control_p99_ms\": %.4f",
		sum.lost, sum.lost_in_dead_rings, sum.control_p99_ms);
	write_shapes(f, bench, write_loss);
}

static void
write_back(FILE *f, const struct bench_failovers *r)
{
	fprintf(f,
		"\"lost\": %" PRId64 ", \"duplicated\": %" PRIu64 ", \"reordered\": %" PRIu64
		",\n     \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"fence_timeouts\": %" PRIu64,
		r->failback_lost, r->failback_duplicated, r->failback_reordered, r->failback_p50_ms,
		r->failback_p99_ms, r->fence_timeouts);
}

static void
write_failback(FILE *f, const struct bench *bench)
{
	struct bench_failovers sum = {0};

	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		sum.failback_lost += bench->failover.of[i].failback_lost;
		sum.failback_reordered += bench->failover.of[i].failback_reordered;
	}
	fprintf(f, "{\"lost\": %" PRId64 ", \"reordered\": %" PRIu64, sum.failback_lost,
		sum.failback_reordered);
	write_shapes(f, bench, write_back);
}

static void
write_chaos(FILE *f, const struct bench *bench)
{
	const struct bench_chaos *r = &bench->failover.chaos;

	fprintf(f,
		"{\"cycles\": %" PRIu64 ", \"crashes\": %" PRIu64 ", \"unaccounted\": %" PRIu64
		",\n    \"packets\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"dropped\": %" PRIu64
		", \"calls\": %" PRIu64 ", \"late\": %" PRIu64 "}",
		r->cycles, r->crashes, r->unaccounted, r->packets, r->lost, r->dropped, r->calls,
		r->late);
}

static const struct bench_case cases[BENCH_NB_FAILOVER_CASES] = {
	[BENCH_PF_LOSS] = {"pf_loss", bench_pf_loss_run, report_pf_loss, write_pf_loss},
	[BENCH_FAILBACK] = {"failback", bench_failback_run, report_failback, write_failback},
	[BENCH_CHAOS] = {"chaos", bench_chaos_run, report_chaos, write_chaos},
};

const struct bench_subject bench_failover = {
	.name = "failover",
	.title = "PFs that die and come back under load",
	.usage = usage,
	.case_names = "pf_loss, failback or chaos",
	.nb_cases = BENCH_NB_FAILOVER_CASES,
	.cases = cases,
};
