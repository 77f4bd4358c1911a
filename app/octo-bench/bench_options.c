/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include <rte_bitops.h>

#include "bench.h"

#define DEFAULT_RUNS 5

static const char usage[] =
	"usage: octo bench steering [--json FILE] [--runs N] [--quick] [--case NAME]... [-v]\n"
	"\n"
	"Measures steering on a simulated NIC: what a rule costs, how fast strays teach the\n"
	"port, how near it comes to the best choice of rules when the NIC's table is small,\n"
	"whether the partition tier strays, and what learning costs when there is nothing to\n"
	"learn. Each figure is the median of several runs, counts of faults are the worst.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --runs N     runs of each case (default 5)\n"
	"  --quick      small counts and one run: shows that it works, and measures nothing\n"
	"  --case NAME  only insert, converge, zipf, partition or learning; may be repeated\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out.\n";

const char *
bench_case_name(enum bench_case which)
{
	static const char *const names[BENCH_NB_CASES] = {
		[BENCH_INSERT] = "insert",     [BENCH_CONVERGE] = "converge",
		[BENCH_ZIPF] = "zipf",         [BENCH_PARTITION] = "partition",
		[BENCH_LEARNING] = "learning",
	};

	return names[which];
}

static int
add_case(struct bench_options *options, const char *name)
{
	for (int i = 0; i < BENCH_NB_CASES; i++) {
		if (strcmp(name, bench_case_name(i)) == 0) {
			options->cases |= RTE_BIT32(i);
			return 0;
		}
	}
	fprintf(stderr, "%s: --case %s: insert, converge, zipf, partition or learning is needed\n",
		app_name, name);
	return -EINVAL;
}

static int
take_option(struct bench_options *options, int option)
{
	switch (option) {
	case 'c':
		return add_case(options, optarg);
	case 'j':
		options->json = optarg;
		return 0;
	case 'n':
		return app_read_number("--runs", optarg, 1, BENCH_MAX_RUNS, &options->runs);
	case 'q':
		options->quick = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1;
	default:
		fprintf(stderr, "%s: try --help\n", app_name);
		return -EINVAL;
	}
}

/* The one word that is no option says what is measured. */
static int
check_subject(int argc, char *argv[])
{
	if (optind + 1 == argc && strcmp(argv[optind], "steering") == 0)
		return 0;
	if (optind == argc)
		fprintf(stderr, "%s: what is to be measured? steering is known; try --help\n",
			app_name);
	else
		fprintf(stderr, "%s: '%s' cannot be measured: steering can; try --help\n", app_name,
			argv[optind +
			     (optind + 1 < argc && strcmp(argv[optind], "steering") == 0)]);
	return -EINVAL;
}

int
bench_options_read(struct bench_options *options, int argc, char *argv[])
{
	static const struct option known[] = {
		{"case", required_argument, NULL, 'c'},
		{"json", required_argument, NULL, 'j'},
		{"runs", required_argument, NULL, 'n'},
		{"quick", no_argument, NULL, 'q'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct bench_options){0};
	while ((option = getopt_long(argc, argv, "vh", known, NULL)) != -1) {
		const int ret = take_option(options, option);

		if (ret != 0)
			return ret;
	}
	if (options->runs == 0)
		options->runs = options->quick ? 1 : DEFAULT_RUNS;
	if (options->cases == 0)
		options->cases = RTE_BIT32(BENCH_NB_CASES) - 1;
	return check_subject(argc, argv);
}
