/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>

#include <rte_bitops.h>

#include "bench_calls.h"

/* What a call of the octo port may take beyond the PFs' own. */
#define WANTED_US 1000

static const char usage[] =
	"usage: octo bench calls [--json FILE] [--count N] [--quick] [--case NAME]... [-v]\n"
	"\n"
	"Measures, on a simulated NIC, for how long rte_eth_stats_get(), rte_eth_xstats_get(),\n"
	"rte_eth_link_get_nowait() and rte_eth_dev_info_get() of an octo port take while its\n"
	"control operations take long, and by turns the same calls of its PFs.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --count N    rounds of the four calls (default 1000), for four seconds at most\n"
	"  --quick      few rounds: shows that it works, and measures nothing\n"
	"  --case NAME  only idle, flood, hang, away, slow_rules or secondary; may be repeated\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out; 1 if not; 2 for wrong options.\n";

static const char *const call_names[CALLS_NB] = {
	"stats_get",
	"xstats_get",
	"link_get_nowait",
	"dev_info_get",
};

static struct calls_result results[CALLS_NB_CASES];

static int
run(struct bench *bench, enum calls_case which)
{
	bench_progress_stage(bench_calls.cases[which].name, "rounds of four calls");
	return calls_run(bench, which, &results[which]);
}

static double
more_us(const struct calls_result *r, unsigned int call)
{
	return r->of[call].octo.p99_us - r->of[call].pfs.p99_us;
}

static void
print_times(const struct calls_times *t)
{
	printf(" %8.1f %8.1f %9.1f", t->p50_us, t->p99_us, t->max_us);
}

static void
report_case(const char *name, const struct calls_result *r)
{
	for (unsigned int call = 0; call < CALLS_NB; call++) {
		const double more = more_us(r, call);

		printf("%-10s %-15s", call == 0 ? name : "", call_names[call]);
		print_times(&r->of[call].octo);
		print_times(&r->of[call].pfs);
		printf(" %9.1f <= %d  %s\n", more, WANTED_US, more <= WANTED_US ? "yes" : "NO");
	}
	printf("%-10s %" PRIu64 " rounds in %.1f s", "", r->rounds, r->seconds);
	if (r->rule_max_ms > 0)
		printf("; rules made: %" PRIu64 ", the longest call for one: %.1f ms", r->rules,
		       r->rule_max_ms);
	if (r->said > 0)
		printf("; the agent said %.1f kB", (double)r->said / 1e3);
	if (r->failed > 0)
		printf("; %" PRIu64 " calls FAILED", r->failed);
	printf("\n");
}

static void
report(const struct bench *bench)
{
	printf("%26s %18s %27s\n", "", "octo port, us", "PFs, us");
	printf("%-10s %-15s", "case", "call");
	for (unsigned int i = 0; i < 2; i++)
		printf(" %8s %8s %9s", "median", "99 %", "longest");
	printf(" %9s %-8s %s\n", "99 % more", "wanted", "met");
	for (unsigned int i = 0; i < CALLS_NB_CASES; i++)
		if (bench->measured & RTE_BIT32(i))
			report_case(bench_calls.cases[i].name, &results[i]);
	if (bench->options.quick)
		printf("\nA quick run: the figures mean nothing.\n");
}

static void
write_times(FILE *f, const char *whose, const struct calls_times *t)
{
	fprintf(f, "\"%s\": {\"p50_us\": %.2f, \"p99_us\": %.2f, \"max_us\": %.2f}", whose,
		t->p50_us, t->p99_us, t->max_us);
}

static void
write_case(FILE *f, enum calls_case which)
{
	const struct calls_result *r = &results[which];

	fprintf(f,
		"{\"rounds\": %" PRIu64 ", \"seconds\": %.3f, \"failed\": %" PRIu64
		", \"rules\": %" PRIu64 ", \"rule_max_ms\": %.3f, \"agent_bytes\": %" PRIu64 ",\n"
		"    \"wanted_us\": %d, \"calls\": {",
		r->rounds, r->seconds, r->failed, r->rules, r->rule_max_ms, r->said, WANTED_US);
	for (unsigned int call = 0; call < CALLS_NB; call++) {
		fprintf(f, "%s\n    \"%s\": {", call == 0 ? "" : ",", call_names[call]);
		write_times(f, "octo", &r->of[call].octo);
		fprintf(f, ", ");
		write_times(f, "pfs", &r->of[call].pfs);
		fprintf(f, ", \"p99_more_us\": %.2f}", more_us(r, call));
	}
	fprintf(f, "}}");
}

#define CASE(name, which)                                                                          \
	static int run_##name(struct bench *bench)                                                 \
	{                                                                                          \
		return run(bench, which);                                                          \
	}                                                                                          \
	static void write_##name(FILE *f, const struct bench *bench)                               \
	{                                                                                          \
		RTE_SET_USED(bench);                                                               \
		write_case(f, which);                                                              \
	}

CASE(idle, CALLS_IDLE)
CASE(flood, CALLS_FLOOD)
CASE(hang, CALLS_HANG)
CASE(away, CALLS_AWAY)
CASE(slow_rules, CALLS_SLOW_RULES)
CASE(secondary, CALLS_SECONDARY)

static const struct bench_case cases[CALLS_NB_CASES] = {
	[CALLS_IDLE] = {"idle", run_idle, NULL, write_idle},
	[CALLS_FLOOD] = {"flood", run_flood, NULL, write_flood},
	[CALLS_HANG] = {"hang", run_hang, NULL, write_hang},
	[CALLS_AWAY] = {"away", run_away, NULL, write_away},
	[CALLS_SLOW_RULES] = {"slow_rules", run_slow_rules, NULL, write_slow_rules},
	[CALLS_SECONDARY] = {"secondary", run_secondary, NULL, write_secondary},
};

const struct bench_subject bench_calls = {
	.name = "calls",
	.title = "calls while control operations take long",
	.usage = usage,
	.case_names = "idle, flood, hang, away, slow_rules or secondary",
	.letters = "cjNqvh",
	.runs = 1,
	.quick_runs = 1,
	.memory = 512,
	.nb_cases = CALLS_NB_CASES,
	.cases = cases,
	.has_processes = true,
	.report = report,
};
