/* SPDX-License-Identifier: BSD-3-Clause */

#include "bench.h"

static const char usage[] =
	"usage: octo bench steering [--json FILE] [--runs N] [--quick] [--case NAME]... [-v]\n"
	"\n"
	"Measures steering on a simulated NIC: what a rule costs, how fast strays teach the\n"
	"port, how near it comes to the best choice of rules when the NIC's table is small,\n"
	"whether the partition tier and the RETA of slices stray, and what learning costs when there is nothing to\n"
	"learn. Each figure is the median of several runs, counts of faults are the worst.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --runs N     runs of each case (default 5)\n"
	"  --quick      small counts and one run: shows that it works, and measures nothing\n"
	"  --case NAME  only insert, converge, zipf, partition, reta or learning; may be repeated\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out; 1 if not; 2 for wrong options.\n";

static const struct bench_case cases[] = {
	{"insert", bench_insert_run, bench_report_insert, bench_json_insert},
	{"converge", bench_converge_run, bench_report_converge, bench_json_converge},
	{"zipf", bench_zipf_run, bench_report_zipf, bench_json_zipf},
	{"partition", bench_partition_run, bench_report_partition, bench_json_partition},
	{"reta", bench_reta_run, bench_report_reta, bench_json_reta},
	{"learning", bench_learning_run, bench_report_learning, bench_json_learning},
};

const struct bench_subject bench_steering = {
	.name = "steering",
	.title = "steering",
	.usage = usage,
	.case_names = "insert, converge, zipf, partition, reta or learning",
	.letters = "cjnqvh",
	.runs = 5,
	.quick_runs = 1,
	.memory = 2048,
	.nb_cases = RTE_DIM(cases),
	.cases = cases,
};
