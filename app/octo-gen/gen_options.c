/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static const char usage[] =
	"usage: octo-gen EAL... -- --dst-mac MAC [--size BYTES] [--flows N] [--window N]\n"
	"                [--port N] [--rate PPS] [--seconds S]\n"
	"\n"
	"Sends UDP from 198.19.0.0/16 to 198.18.0.0/16 by a port, on one lcore, and counts what of\n"
	"it comes back by that port. Prints {\"sent\", \"received\", \"foreign\", \"seconds\"}.\n"
	"\n"
	"  --dst-mac MAC  whom to send it to\n"
	"  --size BYTES   of a frame, its checksum included: 64 to 1518 (64)\n"
	"  --flows N      5-tuples, which take turns: 1 to 65536 (64)\n"
	"  --window N     packets under way at most, so that none finds a full ring; 0: any (0)\n"
	"  --port N       number of the ethdev (0)\n"
	"  --rate PPS     packets per second; 0: as many as port and window take (0)\n"
	"  --seconds S    a single trial; without, each line RATE SECONDS of stdin is one\n"
	"  -h, --help     this text\n"
	"\n"
	"Exit code: 0 if all was sent, 1 if not, 2 for wrong options.\n";

bool
gen_number_read(const char *text, double max, double *value)
{
	char *end;
	double number;

	errno = 0;
	number = strtod(text, &end);
	if (end == text || *end != '\0' || errno != 0 || !(number >= 0 && number <= max))
		return false;
	*value = number;
	return true;
}

static int
read_rate(double *rate)
{
	if (gen_number_read(optarg, GEN_MAX_RATE, rate))
		return 0;
	fprintf(stderr, "%s: --rate %s: a number from 0 to %.0f is needed\n", app_name, optarg,
		GEN_MAX_RATE);
	return -EINVAL;
}

static int
read_seconds(double *seconds)
{
	if (gen_number_read(optarg, GEN_MAX_SECONDS, seconds) && *seconds > 0)
		return 0;
	fprintf(stderr, "%s: --seconds %s: a number of more than 0, at most %.0f, is needed\n",
		app_name, optarg, GEN_MAX_SECONDS);
	return -EINVAL;
}

static int
read_mac(struct rte_ether_addr *mac)
{
	if (rte_ether_unformat_addr(optarg, mac) == 0)
		return 0;
	fprintf(stderr, "%s: --dst-mac %s: an address such as 02:00:00:00:00:01 is needed\n",
		app_name, optarg);
	return -EINVAL;
}

static int
read_option(struct gen_options *options, int option)
{
	switch (option) {
	case 'm':
		return read_mac(&options->dst_mac);
	case 's':
		return app_read_number("--size", optarg, RTE_ETHER_MIN_LEN, RTE_ETHER_MAX_LEN,
				       &options->size);
	case 'f':
		return app_read_number("--flows", optarg, 1, 65536, &options->flows);
	case 'w':
		return app_read_number("--window", optarg, 0, UINT32_MAX, &options->window);
	case 'p':
		return app_read_number("--port", optarg, 0, RTE_MAX_ETHPORTS - 1, &options->port);
	case 'r':
		return read_rate(&options->rate);
	case 't':
		return read_seconds(&options->seconds);
	case 'h':
		fputs(usage, stdout);
		return 1;
	default:
		fprintf(stderr, "%s: try -- --help\n", app_name);
		return -EINVAL;
	}
}

int
gen_options_read(struct gen_options *options, int argc, char *argv[])
{
	static const struct option known[] = {
		{"dst-mac", required_argument, NULL, 'm'},
		{"size", required_argument, NULL, 's'},
		{"flows", required_argument, NULL, 'f'},
		{"window", required_argument, NULL, 'w'},
		{"port", required_argument, NULL, 'p'},
		{"rate", required_argument, NULL, 'r'},
		{"seconds", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, ret = 0;

	*options = (struct gen_options){.size = RTE_ETHER_MIN_LEN, .flows = 64};
	while (ret == 0 && (option = getopt_long(argc, argv, "h", known, NULL)) != -1)
		ret = read_option(options, option);
	if (ret != 0)
		return ret;
	if (optind < argc) {
		fprintf(stderr, "%s: '%s' is not an option; try -- --help\n", app_name,
			argv[optind]);
		return -EINVAL;
	}
	if (rte_is_zero_ether_addr(&options->dst_mac)) {
		fprintf(stderr, "%s: --dst-mac MAC is needed: whom to send to\n", app_name);
		return -EINVAL;
	}
	return 0;
}
