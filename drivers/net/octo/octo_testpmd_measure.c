/* SPDX-License-Identifier: BSD-3-Clause */

/* testpmd command octo measure: rates of a running port, printed or in files. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>

#include "octo_measure.h"
#include "octo_number.h"
#include "octo_testpmd.h"
#include "testpmd.h"

static void
print_and_free(uint16_t port_id, struct octo_measure_view *view, const char *why,
	       void (*print)(const struct octo_measure_view *view, FILE *to))
{
	if (view == NULL)
		octo_testpmd_complain(port_id, why);
	else
		print(view, stdout);
	free(view);
}

/* octo measure show|stop PORT */

struct measuring {
	cmdline_fixed_string_t octo;
	cmdline_fixed_string_t measure;
	cmdline_fixed_string_t what;
	uint16_t port_id;
	cmdline_multi_string_t more;
};

static void
octo_measure_parsed(void *parsed, struct cmdline *cl, void *data)
{
	const struct measuring *cmd = parsed;
	char why[OCTO_MEASURE_WHY_MAX];

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	if (strcmp(cmd->what, "show") == 0)
		print_and_free(cmd->port_id, octo_measure_view(cmd->port_id, why), why,
			       octo_measure_print_last);
	else
		print_and_free(cmd->port_id, octo_measure_stop(cmd->port_id, why), why,
			       octo_measure_print_sum);
}

/* octo measure start PORT [interval MS] [csv FILE] [json FILE] */

static int
complain_of_word(const char *word, const char *expected)
{
	fprintf(stderr, "octo: bad %s: %s\n", word, expected);
	return -EINVAL;
}

static int
read_file(const char *word, const char *value, const char **file)
{
	if (*file != NULL)
		return complain_of_word(word, "it is given twice");
	if (value == NULL)
		return complain_of_word(word, "the name of a file is expected");
	*file = value;
	return 0;
}

static int
read_word(const char *word, const char *value, struct octo_measure_args *args)
{
	if (strcmp(word, "csv") == 0)
		return read_file(word, value, &args->csv);
	if (strcmp(word, "json") == 0)
		return read_file(word, value, &args->json);
	if (strcmp(word, "interval") != 0)
		return complain_of_word(word, "interval, csv or json is expected");
	if (args->interval_ms != 0)
		return complain_of_word(word, "it is given twice");
	if (octo_number_read(value, &args->interval_ms) != 0 ||
	    args->interval_ms < OCTO_MEASURE_MIN_MS || args->interval_ms > OCTO_MEASURE_MAX_MS)
		return complain_of_word(word, "10 to 3600000 milliseconds are expected");
	return 0;
}

static int
read_words(char *text, struct octo_measure_args *args)
{
	char *save = NULL;

	for (char *word = strtok_r(text, " \t", &save); word != NULL;
	     word = strtok_r(NULL, " \t", &save)) {
		int ret = read_word(word, strtok_r(NULL, " \t", &save), args);

		if (ret != 0)
			return ret;
	}
	if (args->interval_ms == 0)
		args->interval_ms = OCTO_MEASURE_DEFAULT_MS;
	return 0;
}

static void
start(uint16_t port_id, char *words)
{
	struct octo_measure_args args = {.source = &octo_testpmd_source};
	char why[OCTO_MEASURE_WHY_MAX];

	if (read_words(words, &args) != 0)
		return;
	if (octo_measure_start(port_id, &args, why) != 0) {
		octo_testpmd_complain(port_id, why);
		return;
	}
	printf("Port %u: measured every %u ms", port_id, args.interval_ms);
	if (args.csv != NULL)
		printf(", csv %s", args.csv);
	if (args.json != NULL)
		printf(", json %s", args.json);
	printf("\n");
}

static void
octo_measure_start_parsed(void *parsed, struct cmdline *cl, void *data)
{
	const struct measuring *cmd = parsed;
	char none[] = "";

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	start(cmd->port_id, none);
}

static void
octo_measure_start_more_parsed(void *parsed, struct cmdline *cl, void *data)
{
	struct measuring *cmd = parsed;

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	start(cmd->port_id, cmd->more);
}

static cmdline_parse_token_string_t measure_octo = TOKEN_STRING_INITIALIZER(struct measuring, octo,
									    "octo");
static cmdline_parse_token_string_t measure_measure = TOKEN_STRING_INITIALIZER(struct measuring,
									       measure, "measure");
static cmdline_parse_token_string_t measure_what = TOKEN_STRING_INITIALIZER(struct measuring, what,
									    "show#stop");
static cmdline_parse_token_string_t measure_start = TOKEN_STRING_INITIALIZER(struct measuring, what,
									     "start");
static cmdline_parse_token_num_t measure_port = TOKEN_NUM_INITIALIZER(struct measuring, port_id,
								      RTE_UINT16);
static cmdline_parse_token_string_t measure_more = TOKEN_STRING_INITIALIZER(struct measuring, more,
									    TOKEN_STRING_MULTI);

/* clang-format would put the braces of arrays on lines of their own. */
/* clang-format off */
static cmdline_parse_inst_t octo_measure_cmd = {
	.f = octo_measure_parsed,
	.help_str = "octo measure show|stop <port_id>",
	.tokens = {
		(void *)&measure_octo,
		(void *)&measure_measure,
		(void *)&measure_what,
		(void *)&measure_port,
		NULL,
	},
};

static cmdline_parse_inst_t octo_measure_start_cmd = {
	.f = octo_measure_start_parsed,
	.help_str = "octo measure start <port_id>",
	.tokens = {
		(void *)&measure_octo,
		(void *)&measure_measure,
		(void *)&measure_start,
		(void *)&measure_port,
		NULL,
	},
};

static cmdline_parse_inst_t octo_measure_start_more_cmd = {
	.f = octo_measure_start_more_parsed,
	.help_str = "octo measure start <port_id> [interval <ms>] [csv <file>] [json <file>]",
	.tokens = {
		(void *)&measure_octo,
		(void *)&measure_measure,
		(void *)&measure_start,
		(void *)&measure_port,
		(void *)&measure_more,
		NULL,
	},
};

static struct testpmd_driver_commands octo_measure_cmds = {
	.commands = {
		{
			&octo_measure_cmd,
			"octo measure (show|stop) (port_id)\n"
			"	Show the last sample of a measurement, or end it and show the averages.\n",
		},
		{
			&octo_measure_start_cmd,
			"octo measure start (port_id)\n"
			"	Measure a port every second: packets, strays, rules, losses, cycles.\n",
		},
		{
			&octo_measure_start_more_cmd,
			"octo measure start (port_id) [interval (ms)] [csv (file)] [json (file)]\n"
			"	The same at another interval, and into files.\n",
		},
		{NULL, NULL},
	},
};
/* clang-format on */
TESTPMD_ADD_DRIVER_COMMANDS(octo_measure_cmds)
