/* SPDX-License-Identifier: BSD-3-Clause */

/* octo measure: rates of a running port, for people and in files. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>

#include "octo_learning.h"
#include "octo_measure.h"
#include "octo_testpmd.h"
#include "octo_view.h"
#include "testpmd.h"

/* Millions, or thousands of millions; "-" for what is not known. */
static const char *
scaled(double value, double by, char text[16])
{
	if (isnan(value))
		return "-";
	snprintf(text, 16, "%.3f", value / by);
	return text;
}

static void
print_packets(uint64_t packets, uint64_t bytes, uint64_t ns)
{
	char mpps[16], gbps[16];

	printf(" %10s %9s", scaled(octo_rate_per_second(packets, ns), 1e6, mpps),
	       scaled(8 * octo_rate_per_second(bytes, ns), 1e9, gbps));
}

static void
print_percent(uint64_t stray, uint64_t home)
{
	printf(" %9.3f", 100 * octo_rate_share(stray, home));
}

static void
print_losses(const struct octo_traffic *of, uint64_t ns)
{
	printf(" %10.0f %10.0f %10.0f %10.0f\n", octo_rate_per_second(of->rx_missed, ns),
	       octo_rate_per_second(of->rx_errors, ns), octo_rate_per_second(of->rx_nombuf, ns),
	       octo_rate_per_second(of->tx_errors, ns));
}

static void
print_ports(uint16_t port_id, const struct octo_counts *span)
{
	struct octo_view_topology view = {.nb_pfs = 0};
	uint64_t home = 0, stray = 0;

	rte_pmd_octo_view_topology(port_id, &view);
	for (uint16_t i = 0; i < span->nb_rx_queues; i++) {
		home += span->queue[i].home_packets;
		stray += span->queue[i].stray_packets;
	}
	printf("  %-28s %10s %9s %10s %9s %9s %10s %10s %10s %10s\n", "", "Rx Mpps", "Rx Gb/s",
	       "Tx Mpps", "Tx Gb/s", "Stray %", "Missed/s", "Errors/s", "No mbuf/s", "Tx errs/s");
	printf("  %-28s", "Port");
	print_packets(span->port.rx_packets, span->port.rx_bytes, span->ns);
	print_packets(span->port.tx_packets, span->port.tx_bytes, span->ns);
	print_percent(stray, home);
	print_losses(&span->port, span->ns);
	for (uint16_t i = 0; i < span->nb_pfs; i++) {
		printf("  PF %u %-23s", i, octo_testpmd_pf_name(&view, i));
		print_packets(span->pf[i].rx_packets, span->pf[i].rx_bytes, span->ns);
		print_packets(span->pf[i].tx_packets, span->pf[i].tx_bytes, span->ns);
		printf(" %9s", "-");
		print_losses(&span->pf[i], span->ns);
	}
}

static void
print_queue(const struct octo_counts *span, uint16_t i)
{
	const struct octo_queue_traffic *q = &span->queue[i];

	printf("  Queue %-22u", i);
	if (i < span->nb_rx_queues)
		print_packets(q->home_packets + q->stray_packets, q->home_bytes + q->stray_bytes,
			      span->ns);
	else
		printf(" %10s %9s", "-", "-");
	if (i < span->nb_tx_queues)
		print_packets(q->tx_packets, q->tx_bytes, span->ns);
	else
		printf(" %10s %9s", "-", "-");
	if (i < span->nb_rx_queues)
		print_percent(q->stray_packets, q->home_packets);
	printf("\n");
}

static void
print_rules(const struct octo_counts *span)
{
	const double hits = octo_rate_per_second(span->hits, span->ns);

	printf("  %-22s %" PRIu64 ", of them learned %" PRIu64 ", ineffective %" PRIu64, "Rules",
	       span->rules.rules, span->rules.learned, span->rules.ineffective);
	if (isnan(hits))
		printf(", hits not known\n");
	else
		printf(", %.3f M hits/s\n", hits / 1e6);
}

static void
print_lack(const char *what, const char *why)
{
	printf("  %-22s not available here, because %s\n", what, why);
}

static void
print_work(const struct octo_counts *span, const struct octo_measure_lacks *lacks)
{
	const double each = octo_rate_each(span->work.cycles, span->work.packets);

	if (!isnan(each))
		printf("  %-22s %.1f per packet (TSC)\n", "Busy cycles", each);
	else
		print_lack("Busy cycles",
			   lacks->work[0] != '\0' ? lacks->work : "there were no packets");
}

static void
print_latency(const struct octo_counts *span, const struct octo_measure_lacks *lacks)
{
	const struct octo_latency *l = &span->latency;

	if (lacks->latency[0] != '\0')
		print_lack("Latency", lacks->latency);
	else
		printf("  %-22s %" PRIu64 " ns on average, %" PRIu64 " to %" PRIu64
		       ", jitter %" PRIu64 " (of all ports, since their start)\n",
		       "Latency", l->avg_ns, l->min_ns, l->max_ns, l->jitter_ns);
}

static void
print_bytes(const struct octo_counts *span, uint16_t socket, enum octo_uncore_kind kind,
	    const char *word)
{
	const double rate = octo_rate_per_second(span->socket[socket].of[kind], span->ns);

	if (!isnan(rate))
		printf(" %s %.3f GB/s", word, rate / 1e9);
}

static void
print_link(const struct octo_counts *span, const char *lack)
{
	if (lack[0] != '\0') {
		print_lack("Link between sockets", lack);
		return;
	}
	for (uint16_t i = 0; i < span->nb_sockets; i++) {
		printf("  Link of socket %-7u", i);
		print_bytes(span, i, OCTO_UNCORE_LINK_OUT, "out");
		print_bytes(span, i, OCTO_UNCORE_LINK_IN, "in");
		printf("\n");
	}
}

static void
print_dram(const struct octo_counts *span, const char *lack)
{
	if (lack[0] != '\0') {
		print_lack("DRAM", lack);
		return;
	}
	for (uint16_t i = 0; i < span->nb_sockets; i++) {
		printf("  DRAM of socket %-7u", i);
		print_bytes(span, i, OCTO_UNCORE_DRAM_READ, "read");
		print_bytes(span, i, OCTO_UNCORE_DRAM_WRITE, "written");
		print_bytes(span, i, OCTO_UNCORE_DRAM, "both ways");
		printf("\n");
	}
}

static void
print_span(uint16_t port_id, const struct octo_counts *span, const struct octo_measure_lacks *lacks)
{
	print_ports(port_id, span);
	for (uint16_t i = 0; i < span->nb_queues; i++)
		print_queue(span, i);
	print_rules(span);
	print_work(span, lacks);
	print_latency(span, lacks);
	print_link(span, lacks->link);
	print_dram(span, lacks->dram);
	if (span->restarted)
		printf("  Counters began anew meanwhile: more may have come\n");
}

static void
complain(uint16_t port_id, const char *why)
{
	fprintf(stderr, "octo: port %u: %s\n", port_id, why);
}

static void
show(uint16_t port_id)
{
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view = rte_pmd_octo_measure_view(port_id, why);

	if (view == NULL) {
		complain(port_id, why);
		return;
	}
	if (view->samples == 0)
		printf("Port %u: measured every %u ms, no sample yet\n", port_id,
		       view->interval_ms);
	else
		printf("Port %u: measured every %u ms, sample %" PRIu64 "\n", port_id,
		       view->interval_ms, view->samples);
	if (view->samples > 0)
		print_span(port_id, view->last, &view->lacks);
	free(view);
}

static void
stop(uint16_t port_id)
{
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view = rte_pmd_octo_measure_stop(port_id, why);

	if (view == NULL) {
		complain(port_id, why);
		return;
	}
	printf("Port %u: measured for %.3f s, %" PRIu64 " samples; on average:\n", port_id,
	       (double)view->sum->ns / 1e9, view->samples);
	print_span(port_id, view->sum, &view->lacks);
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

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	if (strcmp(cmd->what, "show") == 0)
		show(cmd->port_id);
	else
		stop(cmd->port_id);
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
	if (octo_learning_read_number(value, &args->interval_ms) != 0 ||
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
	if (rte_pmd_octo_measure_start(port_id, &args, why) != 0) {
		complain(port_id, why);
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
