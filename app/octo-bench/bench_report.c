/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdarg.h>

#include <rte_bitops.h>
#include <rte_version.h>

#include "bench.h"

#define CASE_WIDTH 10
#define WHAT_WIDTH 48
#define VALUE_WIDTH 12

void
bench_report_intro(const struct bench *bench)
{
	const struct bench_options *options = &bench->options;

	if (options->subject->intro != NULL) {
		options->subject->intro(bench);
		return;
	}
	printf("net_octo: %s, measured on a simulated NIC (%s, CPU %u plays socket 0,\n"
	       "CPU %u socket 1)",
	       options->subject->title, rte_version(), bench->machine.cpu[0],
	       bench->machine.cpu[1]);
	if (options->quick)
		printf(". QUICK: counts are small, so that times and fractions mean nothing.\n");
	else if (options->runs > 1)
		printf("; medians of %" PRIu64 " runs, counts of faults are the worst.\n",
		       options->runs);
	else
		printf("; one run.\n");
	if (options->subject->has_processes)
		printf("All figures are on 4 KiB pages.\n");
	else if (!bench->machine.hugepages)
		printf("There are no free hugepages: all figures are on 4 KiB pages.\n");
	printf("\n");
	fflush(stdout);
}

void
bench_line(const char *name, const char *what, double value, int digits, const char *unit,
	   const char *wanted, bool met)
{
	printf("%-*s %-*s %*.*f %-5s", CASE_WIDTH, name, WHAT_WIDTH, what, VALUE_WIDTH, digits,
	       value, unit);
	if (wanted[0] != '\0')
		printf(" %-9s %s", wanted, met ? "yes" : "NO");
	printf("\n");
}

void
bench_report_insert(const struct bench *bench)
{
	const struct bench_insert *r = &bench->results.insert;

	bench_line("insert", "flows steered through octo, 2 PFs", r->flows, 0, "", "", true);
	bench_line("", "packets to another queue, or strays", r->misdirected, 0, "", "0",
		   r->misdirected == 0);
	bench_line("", "flows whose packet did not arrive", r->lost, 0, "", "0", r->lost == 0);
	bench_line("", "heap that octo adds, per flow", r->bytes_per_flow, 1, "B", "<= 256",
		   r->bytes_per_flow <= 256);
	bench_line("", "of that for rules, as octo says", r->own_bytes_per_flow, 1, "B", "", true);
	bench_line("", "octo's own time per insertion (median)", r->octo_ns_per_insert, 0, "ns",
		   "<= 1000", r->octo_ns_per_insert <= 1000);
	bench_line("", "insertions through octo", r->rate_octo / 1e3, 1, "k/s", "", true);
	bench_line("", "the same rules straight on the PFs", r->rate_direct / 1e3, 1, "k/s", "",
		   true);
}

void
bench_report_converge(const struct bench *bench)
{
	const struct bench_converge *r = &bench->results.converge;

	bench_line("converge", "equal flows, all strays at first", r->flows, 0, "", "", true);
	if (r->seconds < 0)
		printf("%-*s never fewer than 0.1 %% strays\n", CASE_WIDTH, "");
	else
		bench_line("", "until fewer than 0.1 % of the packets stray", r->seconds * 1e3, 0,
			   "ms", "<= 1000", r->seconds <= 1);
	bench_line("", "packets that stray after that", r->stray_fraction * 100, 4, "%", "< 0.1",
		   r->stray_fraction < 0.001);
	bench_line("", "strays per flow until then", r->strays_per_flow, 1, "", "", true);
}

void
bench_report_zipf(const struct bench *bench)
{
	const struct bench_zipf *r = &bench->results.zipf;

	bench_line("zipf", "Zipf(1.1) flows", r->flows, 0, "", "", true);
	bench_line("", "entries of the NIC's table", r->entries, 0, "", "", true);
	bench_line("", "packets that stray", r->stray_fraction * 100, 2, "%", "", true);
	bench_line("", "strays, to those of the best static choice", r->ratio_to_best, 3, "",
		   "<= 1.15", r->ratio_to_best <= 1.15);
}

static void
report_shares(const char *name, const struct bench_partition *of)
{
	char what[WHAT_WIDTH + 1];

	for (unsigned int i = 0; i < BENCH_NB_PARTITIONS; i++) {
		const struct bench_partition *r = &of[i];

		snprintf(what, sizeof(what), "strays, %u PFs, %u queues", r->pfs, r->queues);
		bench_line(i == 0 ? name : "", what, r->strays, 0, "", "0", r->strays == 0);
		bench_line("", "  queue that is farthest from an equal share", r->imbalance * 100,
			   2, "%", "<= 5", r->imbalance <= 0.05);
	}
}

void
bench_report_partition(const struct bench *bench)
{
	report_shares("partition", bench->results.partition);
}

void
bench_report_reta(const struct bench *bench)
{
	report_shares("reta", bench->results.reta);
}

void
bench_report_learning(const struct bench *bench)
{
	const double ratio = bench->results.learning.throughput_ratio;

	bench_line("learning", "throughput by home legs, learning on to off", ratio, 4, "",
		   ">= 0.99", ratio >= 0.99);
}

void
bench_report_table(const struct bench *bench)
{
	const struct bench_subject *subject = bench->options.subject;

	if (subject->report != NULL) {
		subject->report(bench);
		return;
	}
	printf("%-*s %-*s %*s %-5s %-9s %s\n", CASE_WIDTH, "case", WHAT_WIDTH, "what", VALUE_WIDTH,
	       "measured", "", "wanted", "met");
	for (unsigned int i = 0; i < subject->nb_cases; i++)
		if (bench->measured & RTE_BIT32(i))
			subject->cases[i].report(bench);
	if (bench->options.quick)
		printf("\nA quick run: only the counts mean anything.\n");
}
