/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include <rte_bitops.h>

#include "bench.h"

#define MAX_COUNT 100000000

static const char usage[] =
	"usage: octo bench steering|move|failover|calls|overhead|idle|nudma|l3fwd\n"
	"                  [OPTION]...\n"
	"\n"
	"  steering   what a rule costs, how fast strays teach the port, what tiers achieve\n"
	"  move       queues, flows and senders that change sockets under load: what is lost,\n"
	"             reordered, and how long it takes\n"
	"  failover   PFs that are unplugged and plugged again under load\n"
	"  calls      for how long statistics, link and info take while control operations do\n"
	"  overhead   what the layer costs per packet, over the bare PF and next to others\n"
	"  idle       the CPU time of l3fwd-power, idle, by Rx interrupts\n"
	"  nudma      what nonuniform DMA costs, modelled, next to what was published of it\n"
	"  l3fwd      what DPDK's l3fwd forwards by one PF, the other, and both\n"
	"\n"
	"octo bench steering --help, and so on, says more.\n";

static const struct bench_subject *const subjects[] = {
	&bench_steering, &bench_move, &bench_failover, &bench_calls, &bench_overhead, &bench_nudma,
};

static int
add_case(struct bench_options *options, const char *name)
{
	const struct bench_subject *subject = options->subject;

	for (unsigned int i = 0; i < subject->nb_cases; i++) {
		if (strcmp(name, subject->cases[i].name) == 0) {
			options->cases |= RTE_BIT32(i);
			return 0;
		}
	}
	fprintf(stderr, "%s: --case %s: %s is needed\n", app_name, name, subject->case_names);
	return -EINVAL;
}

static int
take_pfs(struct bench_options *options, const char *text)
{
	const int ret = app_read_number("--pfs", text, 2, 4, &options->pfs);

	if (ret == 0 && options->pfs == 3 && options->subject != &bench_failover) {
		fprintf(stderr, "%s: --pfs %s: 2 or 4 is needed\n", app_name, text);
		return -EINVAL;
	}
	return ret;
}

static int
take_plot(struct bench_options *options, const char *name)
{
	const char *end = strrchr(name, '.');

	if (end == NULL || end == name || strcmp(end, ".png") != 0) {
		fprintf(stderr, "%s: --plot %s: the name of a .png file is needed\n", app_name,
			name);
		return -EINVAL;
	}
	options->plot = name;
	return 0;
}

static int
take_machine(struct bench_options *options, const char *name)
{
	options->machine = name;
	return bench_nudma_check(name);
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
	case 'm':
		return take_machine(options, optarg);
	case 'n':
		return app_read_number("--runs", optarg, 1, BENCH_MAX_RUNS, &options->runs);
	case 'N':
		return app_read_number("--count", optarg, 1, MAX_COUNT, &options->count);
	case 'p':
		return take_pfs(options, optarg);
	case 'P':
		return take_plot(options, optarg);
	case 's':
		return app_read_number("--seed", optarg, 1, UINT32_MAX, &options->seed);
	case 'q':
		options->quick = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case 'h':
		fputs(options->subject->usage, stdout);
		return 1;
	default:
		fprintf(stderr, "%s: try --help\n", app_name);
		return -EINVAL;
	}
}

static const struct option all_options[] = {
	{"plot", required_argument, NULL, 'P'},    {"case", required_argument, NULL, 'c'},
	{"json", required_argument, NULL, 'j'},    {"runs", required_argument, NULL, 'n'},
	{"count", required_argument, NULL, 'N'},   {"pfs", required_argument, NULL, 'p'},
	{"seed", required_argument, NULL, 's'},    {"quick", no_argument, NULL, 'q'},
	{"machine", required_argument, NULL, 'm'}, {"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
};

/* Not every option is one of each subject. */
static void
choose_options(const struct bench_subject *subject, struct option known[RTE_DIM(all_options) + 1])
{
	const char *letters = subject->letters;
	unsigned int n = 0;

	for (unsigned int i = 0; i < RTE_DIM(all_options); i++)
		if (strchr(letters, all_options[i].val) != NULL)
			known[n++] = all_options[i];
	known[n] = (struct option){0};
}

/* The word that is no option says what is measured; there is one. */
static int
find_subject(struct bench_options *options, int argc, char *argv[])
{
	for (int i = 1; i < argc; i++)
		for (unsigned int k = 0; k < RTE_DIM(subjects); k++)
			if (options->subject == NULL && strcmp(argv[i], subjects[k]->name) == 0)
				options->subject = subjects[k];
	if (options->subject != NULL)
		return 0;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return 1;
		}
		if (argv[i][0] == '-')
			continue;
		fprintf(stderr,
			"%s: '%s' cannot be measured: steering, move, failover, calls, "
			"overhead and nudma can; try --help\n",
			app_name, argv[i]);
		return -EINVAL;
	}
	fprintf(stderr,
		"%s: what is to be measured? steering, move, failover, calls, overhead "
		"and nudma are known; try --help\n",
		app_name);
	return -EINVAL;
}

static int
check_rest(const struct bench_options *options, int argc, char *argv[])
{
	if (optind + 1 == argc)
		return 0;
	for (int i = optind; i < argc; i++) {
		if (strcmp(argv[i], options->subject->name) == 0)
			continue;
		fprintf(stderr, "%s: '%s' after %s: one thing is measured at a time\n", app_name,
			argv[i], options->subject->name);
		return -EINVAL;
	}
	fprintf(stderr, "%s: %s is given twice\n", app_name, options->subject->name);
	return -EINVAL;
}

int
bench_options_read(struct bench_options *options, int argc, char *argv[])
{
	struct option known[RTE_DIM(all_options) + 1];
	int option, ret;

	*options = (struct bench_options){0};
	ret = find_subject(options, argc, argv);
	if (ret != 0)
		return ret;
	choose_options(options->subject, known);
	while ((option = getopt_long(argc, argv, "vh", known, NULL)) != -1) {
		ret = take_option(options, option);
		if (ret != 0)
			return ret;
	}
	/* changes are counted, and each case does them once */
	if (options->runs == 0)
		options->runs = options->quick ? options->subject->quick_runs :
						 options->subject->runs;
	/* a picture may be all that is wanted */
	if (options->cases == 0 && options->subject->run == NULL &&
	    (options->plot == NULL || options->json != NULL))
		options->cases = RTE_BIT32(options->subject->nb_cases) - 1;
	return check_rest(options, argc, argv);
}
