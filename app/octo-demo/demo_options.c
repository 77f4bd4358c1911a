/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "demo.h"

#define DEFAULT_PACKETS 2000000
#define MIN_PACKETS 1000
#define MAX_PACKETS 10000000000

static const char usage[] =
	"usage: octo demo [--json FILE] [--packets N] [-v]\n"
	"\n"
	"Shows one port made of the two PFs of a simulated NIC: first without rules, when half\n"
	"of the packets arrive by the PF of the wrong socket, then with a rule for each flow.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --packets N  packets per phase (default 2000000)\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all that is claimed holds, 1 if not, 2 for wrong options.\n";

int
demo_options_read(struct demo_options *options, int argc, char *argv[])
{
	static const struct option known[] = {
		{"json", required_argument, NULL, 'j'},
		{"packets", required_argument, NULL, 'n'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct demo_options){.packets = DEFAULT_PACKETS};
	while ((option = getopt_long(argc, argv, "vh", known, NULL)) != -1) {
		switch (option) {
		case 'j':
			options->json = optarg;
			break;
		case 'n':
			if (app_read_number("--packets", optarg, MIN_PACKETS, MAX_PACKETS,
					    &options->packets) != 0)
				return -EINVAL;
			break;
		case 'v':
			options->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		default:
			fprintf(stderr, "octo demo: try --help\n");
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "octo demo: '%s' is not an option; try --help\n", argv[optind]);
		return -EINVAL;
	}
	return 0;
}
