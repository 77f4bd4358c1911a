/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <limits.h>

#include "bench.h"

static const char usage[] =
	"usage: octo bench failover [--json FILE] [--count N] [--pfs 2|3|4] [--quick]\n"
	"                           [--case NAME]... [--seed N] [-v]\n"
	"\n"
	"Unplugs PFs of a simulated NIC under load and plugs them again: what is lost, to what\n"
	"was in the dead PF's rings, with a NIC that leads packets around a dead PF, with one\n"
	"that drops them, and where the removal was announced; how long the port works until\n"
	"the last rule is flipped; what is lost or reordered when it comes back. Then at random,\n"
	"with control calls in between: no crash, and every packet accounted for.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --count N    times that a PF is lost, with 64 flows (default 100); cycles of\n"
	"               chaos (default 1000)\n"
	"  --pfs N      with a NIC of so many PFs (default: 2, then 4; for chaos, 2 to 4)\n"
	"  --quick      small counts: shows that it runs, and measures nothing\n"
	"  --case NAME  only pf_loss, pf_loss_drop, pf_eject, failback or chaos;\n"
	"               may be repeated\n"
	"  --seed N     cycles of chaos of this seed, all in this process (default: 50 in a\n"
	"               process of its own each, so that one that crashes is counted)\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out; 1 if not; 2 for wrong options.\n";

static void
report_times(const struct bench_failovers *r)
{
	bench_line("", "  CPU time until the last rule is flipped, median", r->control_p50_ms, 3,
		   "ms", "", true);
	bench_line("", "  99 %", r->control_p99_ms, 3, "ms", r->flows == 64 ? "<= 1" : "",
		   r->control_p99_ms <= 1);
	bench_line("", "  wall time, median", r->wall_p50_ms, 3, "ms", "", true);
	bench_line("", "  99 %", r->wall_p99_ms, 3, "ms", "", true);
	bench_line("", "  times that it was not noticed", r->late, 0, "", "0", r->late == 0);
}

static void
report_loss(const char *name, const struct bench_failovers *r)
{
	const bool drops = r->loss == BENCH_LOSS_DROP;
	const uint64_t limit = r->lost_in_dead_rings + (drops ? r->dropped : 0);
	char what[80];

	snprintf(what, sizeof(what), "lost packets, %u PFs, %u flows, %" PRIu64 " times", r->pfs,
		 r->flows, r->count);
	bench_line(name, what, (double)r->lost, 0, "", "", r->lost <= (int64_t)limit);
	bench_line("", "  of them in the dead PFs' rings", r->lost_in_dead_rings, 0, "",
		   drops ? "" : "all", r->lost <= (int64_t)limit);
	if (drops)
		bench_line("", "  dropped by a switch that does not see a PF die", r->dropped, 0,
			   "", "the rest", r->lost <= (int64_t)limit);
	report_times(r);
}

static void
report_losses(const struct bench *bench, const char *name, enum bench_loss loss)
{
	for (unsigned int i = 0; i < bench->failover.nb; i++)
		if (bench->failover.of[i].loss == loss)
			report_loss(name, &bench->failover.of[i]);
}

static void
report_pf_loss(const struct bench *bench)
{
	report_losses(bench, "pf_loss", BENCH_LOSS_AROUND);
}

static void
report_pf_loss_drop(const struct bench *bench)
{
	report_losses(bench, "pf_loss_drop", BENCH_LOSS_DROP);
}

static void
report_pf_eject(const struct bench *bench)
{
	char what[64];

	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		const struct bench_failovers *r = &bench->failover.of[i];

		if (r->loss != BENCH_LOSS_EJECT)
			continue;
		snprintf(what, sizeof(what), "lost packets, %u PFs, %u flows, %" PRIu64 " times",
			 r->pfs, r->flows, r->count);
		bench_line("pf_eject", what, (double)r->lost, 0, "", "",
			   r->lost <= (int64_t)r->lost_in_dead_rings);
		bench_line("", "  of them in the dead PFs' rings", r->lost_in_dead_rings, 0, "",
			   "all", r->lost <= (int64_t)r->lost_in_dead_rings);
		bench_line("", "  of removals that ended within 75 ms", (double)r->lost_in_time, 0,
			   "", "0", r->lost_in_time == 0);
		bench_line("", "  reordered ones", r->reordered, 0, "", "0", r->reordered == 0);
		report_times(r);
	}
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
	bench_line("", "times that flows were not at home in the end", r->misplaced, 0, "", "0",
		   r->misplaced == 0);
	bench_line("", "fences that stayed open", r->open_fences, 0, "", "0", r->open_fences == 0);
	bench_line("", "rules left over in tables, or missing", r->stale_rules, 0, "", "0",
		   r->stale_rules == 0);
	bench_line("", "PFs that were not set to what the port was", r->unlike, 0, "", "0",
		   r->unlike == 0);
	bench_line("", "buffers that were leaked", r->leaked_buffers, 0, "", "0",
		   r->leaked_buffers == 0);
	bench_line("", "memory that was leaked", r->leaked_bytes, 0, "bytes", "0",
		   r->leaked_bytes == 0);
	bench_line("", "PFs that did not come back in time", r->late, 0, "", "0", r->late == 0);
}

static const char *
loss_name(enum bench_loss loss)
{
	static const char *const names[] = {
		[BENCH_LOSS_AROUND] = "surprise",
		[BENCH_LOSS_DROP] = "surprise, the NIC drops",
		[BENCH_LOSS_EJECT] = "announced",
	};

	return names[loss];
}

/* Bits of enum bench_loss in losses. */
static void
write_shapes(FILE *f, const struct bench *bench, unsigned int losses,
	     void (*write)(FILE *f, const struct bench_failovers *r))
{
	const char *comma = "";

	fprintf(f, ",\n    \"shapes\": [");
	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		const struct bench_failovers *r = &bench->failover.of[i];

		if ((losses >> r->loss & 1) == 0)
			continue;
		fprintf(f,
			"%s\n    {\"loss\": \"%s\", \"pfs\": %u, \"flows\": %u, \"count\": %" PRIu64
			", ",
			comma, loss_name(r->loss), r->pfs, r->flows, r->count);
		write(f, r);
		fprintf(f, "}");
		comma = ",";
	}
	fprintf(f, "]}");
}

static void
write_loss(FILE *f, const struct bench_failovers *r)
{
	fprintf(f,
		"\"lost\": %" PRId64 ", \"lost_in_dead_rings\": %" PRIu64 ", \"dropped\": %" PRIu64
		", \"reordered\": %" PRIu64 ",\n     \"late\": %" PRIu64
		", \"control_p50_ms\": %.4f, \"control_p99_ms\": %.4f"
		",\n     \"wall_p50_ms\": %.4f, \"wall_p99_ms\": %.4f",
		r->lost, r->lost_in_dead_rings, r->dropped, r->reordered, r->late,
		r->control_p50_ms, r->control_p99_ms, r->wall_p50_ms, r->wall_p99_ms);
}

/* The time wanted is that with few flows, of which there is a shape first. */
static struct bench_failovers
sum_of(const struct bench *bench, enum bench_loss loss)
{
	struct bench_failovers sum = {0};

	for (unsigned int i = 0; i < bench->failover.nb; i++) {
		const struct bench_failovers *r = &bench->failover.of[i];

		if (r->loss != loss)
			continue;
		sum.lost += r->lost;
		sum.lost_in_time += r->lost_in_time;
		sum.lost_in_dead_rings += r->lost_in_dead_rings;
		sum.dropped += r->dropped;
		sum.reordered += r->reordered;
		if (r->flows == bench->failover.of[0].flows)
			sum.control_p99_ms = RTE_MAX(sum.control_p99_ms, r->control_p99_ms);
	}
	return sum;
}

static void
write_pf_loss(FILE *f, const struct bench *bench)
{
	const struct bench_failovers sum = sum_of(bench, BENCH_LOSS_AROUND);

	fprintf(f,
		"{\"lost\": %" PRId64 ", \"lost_in_dead_rings\": %" PRIu64
		", \"control_p99_ms\": %.4f",
		sum.lost, sum.lost_in_dead_rings, sum.control_p99_ms);
	write_shapes(f, bench, 1u << BENCH_LOSS_AROUND, write_loss);
}

static void
write_pf_loss_drop(FILE *f, const struct bench *bench)
{
	const struct bench_failovers sum = sum_of(bench, BENCH_LOSS_DROP);

	fprintf(f,
		"{\"lost\": %" PRId64 ", \"lost_in_dead_rings\": %" PRIu64
		", \"lost_in_switch\": %" PRIu64 ", \"control_p99_ms\": %.4f",
		sum.lost, sum.lost_in_dead_rings, sum.dropped, sum.control_p99_ms);
	write_shapes(f, bench, 1u << BENCH_LOSS_DROP, write_loss);
}

static void
write_pf_eject(FILE *f, const struct bench *bench)
{
	const struct bench_failovers sum = sum_of(bench, BENCH_LOSS_EJECT);

	fprintf(f,
		"{\"lost\": %" PRId64 ", \"lost_in_time\": %" PRId64
		", \"lost_in_dead_rings\": %" PRIu64 ", \"reordered\": %" PRIu64
		", \"control_p99_ms\": %.4f",
		sum.lost, sum.lost_in_time, sum.lost_in_dead_rings, sum.reordered,
		sum.control_p99_ms);
	write_shapes(f, bench, 1u << BENCH_LOSS_EJECT, write_loss);
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
	write_shapes(f, bench, UINT_MAX, write_back);
}

static void
write_chaos(FILE *f, const struct bench *bench)
{
	const struct bench_chaos *r = &bench->failover.chaos;

	fprintf(f,
		"{\"cycles\": %" PRIu64 ", \"crashes\": %" PRIu64 ", \"unaccounted\": %" PRIu64
		",\n    \"packets\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"dropped\": %" PRIu64
		", \"calls\": %" PRIu64 ", \"late\": %" PRIu64 ",\n    \"misplaced\": %" PRIu64
		", \"open_fences\": %" PRIu64 ", \"stale_rules\": %" PRIu64 ", \"unlike\": %" PRIu64
		",\n    \"leaked_buffers\": %" PRIu64 ", \"leaked_bytes\": %" PRIu64 "}",
		r->cycles, r->crashes, r->unaccounted, r->packets, r->lost, r->dropped, r->calls,
		r->late, r->misplaced, r->open_fences, r->stale_rules, r->unlike, r->leaked_buffers,
		r->leaked_bytes);
}

static const struct bench_case cases[BENCH_NB_FAILOVER_CASES] = {
	[BENCH_PF_LOSS] = {"pf_loss", bench_pf_loss_run, report_pf_loss, write_pf_loss},
	[BENCH_PF_LOSS_DROP] = {"pf_loss_drop", bench_pf_loss_drop_run, report_pf_loss_drop,
				write_pf_loss_drop},
	[BENCH_PF_EJECT] = {"pf_eject", bench_pf_eject_run, report_pf_eject, write_pf_eject},
	[BENCH_FAILBACK] = {"failback", bench_failback_run, report_failback, write_failback},
	[BENCH_CHAOS] = {"chaos", bench_chaos_run, report_chaos, write_chaos},
};

const struct bench_subject bench_failover = {
	.name = "failover",
	.title = "PFs that die and come back under load",
	.usage = usage,
	.case_names = "pf_loss, pf_loss_drop, pf_eject, failback or chaos",
	.letters = "cjNpsqvh",
	.runs = 1,
	.quick_runs = 1,
	.memory = 512,
	.nb_cases = BENCH_NB_FAILOVER_CASES,
	.cases = cases,
};
