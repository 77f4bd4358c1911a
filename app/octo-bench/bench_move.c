/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>

#include "bench.h"

static const char usage[] =
	"usage: octo bench move [--json FILE] [--plot FILE.png] [--count N] [--pfs 2|4]\n"
	"                       [--quick] [--case NAME]... [-v]\n"
	"\n"
	"Measures, on a simulated NIC and under load, what happens to packets while queues,\n"
	"flows and senders change sockets: how many are lost, duplicated and reordered in any\n"
	"flow, how long it takes until they come (or go) by the PF of the new socket, and how\n"
	"much less gets through meanwhile.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --plot FILE.png\n"
	"               what each PF receives, and strays, while a queue changes sockets: a\n"
	"               picture, and a .csv file of the same name; nothing else is measured\n"
	"               then unless --json or --case asks for it\n"
	"  --count N    changes of each case, number of PFs and way (default 100000)\n"
	"  --pfs N      with a NIC of 2 or of 4 PFs (default: one after the other)\n"
	"  --quick      few changes: shows that it works, and measures nothing\n"
	"  --case NAME  only rehome, move, tx_switch, rehome_10k, unpolled, partition\n"
	"               or reta; may be repeated\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out; 1 if not; 2 for wrong options.\n";

static const char *
what_changes(enum bench_move_case which)
{
	static const char *const what[BENCH_NB_MOVE_CASES] = {
		[BENCH_REHOME] = "changes of a queue with 64 flows",
		[BENCH_MOVE] = "moves of a flow from queue to queue",
		[BENCH_TX_SWITCH] = "changes of a sender",
		[BENCH_REHOME_10K] = "changes of a queue with 10,000 flows",
		[BENCH_UNPOLLED] = "times that all flows leave a queue nobody polls",
		[BENCH_REPARTITION] = "changes of a queue in tier partition",
		[BENCH_REHOME_RETA] = "changes of queues of slices, without rules",
	};

	return what[which];
}

/* Of what nobody polls the order cannot be kept, and only a timeout ends the wait. */
static void
report_shape(const struct bench_changes *c, enum bench_move_case which)
{
	const bool polled = which != BENCH_UNPOLLED;
	const bool by_flow = which == BENCH_MOVE || which == BENCH_UNPOLLED;
	char what[64];

	snprintf(what, sizeof(what), "lost packets, %u PFs%s%s", c->pfs,
		 c->how != NULL ? ", by " : "", c->how != NULL ? c->how : "");
	bench_line("", what, c->lost, 0, "", "0", c->lost == 0);
	bench_line("", "  duplicated ones", c->duplicated, 0, "", "0", c->duplicated == 0);
	bench_line("", "  reordered ones", c->reordered, 0, "", polled ? "0" : "",
		   c->reordered == 0);
	bench_line("", "  until the first packet by the new way, median", c->p50_us, 0, "us", "",
		   true);
	bench_line("", "  until then, 99 %", c->p99_us, 0, "us", "", true);
	bench_line("", by_flow ? "  until then, the worst" : "  until the last stray, the worst",
		   c->seconds * 1e3, 1, "ms", "", true);
	bench_line("", "  effective blocked time", c->blocked_ms, 4, "ms", "", true);
	bench_line("", "  kept waiting by a fence, mean", c->wait_us, 1, "us", "", true);
	bench_line("", "  load", c->rate / 1e6, 3, "M/s", "", true);
	bench_line("", "  packets", c->packets / 1e6, 2, "M", "", true);
	bench_line("", "  changes that nothing came of", c->late, 0, "", "0", c->late == 0);
	bench_line("", "  fence timeouts", c->fence_timeouts, 0, "", polled ? "0" : "> 0",
		   polled == (c->fence_timeouts == 0));
	if (c->rehomes > 0)
		bench_line("", "  rehomes of queues", c->rehomes, 0, "", "", true);
}

static void
report(const struct bench *bench, enum bench_move_case which)
{
	const struct bench_changes *of = bench->move.of[which];
	uint64_t count = 0;

	for (unsigned int i = 0; i < bench->move.nb[which]; i++)
		count += of[i].count;
	bench_line(bench_move.cases[which].name, what_changes(which), count, 0, "", "", true);
	for (unsigned int i = 0; i < bench->move.nb[which]; i++)
		report_shape(&of[i], which);
}

static void
write_changes(FILE *f, const struct bench_changes *c)
{
	fprintf(f,
		"\"count\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"duplicated\": %" PRIu64
		", \"reordered\": %" PRIu64 ",\n    \"p50_us\": %.1f, \"p99_us\": %.1f"
		", \"blocked_ms\": %.4f, \"wait_us\": %.1f, \"seconds\": %.6f,\n    \"packets\": %" PRIu64
		", \"strays\": %" PRIu64 ", \"rate\": %.0f, \"late\": %" PRIu64
		", \"foreign\": %" PRIu64 ", \"fence_timeouts\": %" PRIu64
		", \"rehomes\": %" PRIu64,
		c->count, c->lost, c->duplicated, c->reordered, c->p50_us, c->p99_us, c->blocked_ms,
		c->wait_us, c->seconds, c->packets, c->strays, c->rate, c->late, c->foreign,
		c->fence_timeouts, c->rehomes);
}

/* Counts of all, times of the worst, and what there was to send with the least. */
static void
add_changes(struct bench_changes *sum, const struct bench_changes *c)
{
	sum->count += c->count;
	sum->lost += c->lost;
	sum->duplicated += c->duplicated;
	sum->reordered += c->reordered;
	sum->foreign += c->foreign;
	sum->late += c->late;
	sum->fence_timeouts += c->fence_timeouts;
	sum->rehomes += c->rehomes;
	sum->strays += c->strays;
	sum->packets += c->packets;
	sum->p50_us = RTE_MAX(sum->p50_us, c->p50_us);
	sum->p99_us = RTE_MAX(sum->p99_us, c->p99_us);
	sum->blocked_ms = RTE_MAX(sum->blocked_ms, c->blocked_ms);
	sum->wait_us = RTE_MAX(sum->wait_us, c->wait_us);
	sum->seconds = RTE_MAX(sum->seconds, c->seconds);
	sum->rate = sum->rate == 0 ? c->rate : RTE_MIN(sum->rate, c->rate);
}

static void
write_case(FILE *f, const struct bench *bench, enum bench_move_case which)
{
	const struct bench_changes *of = bench->move.of[which];
	struct bench_changes sum = {0};

	for (unsigned int i = 0; i < bench->move.nb[which]; i++)
		add_changes(&sum, &of[i]);
	fprintf(f, "{");
	write_changes(f, &sum);
	fprintf(f, ",\n    \"shapes\": [");
	for (unsigned int i = 0; i < bench->move.nb[which]; i++) {
		fprintf(f, "%s\n    {\"pfs\": %u, ", i == 0 ? "" : ",", of[i].pfs);
		if (of[i].how != NULL)
			fprintf(f, "\"how\": \"%s\", ", of[i].how);
		write_changes(f, &of[i]);
		fprintf(f, "}");
	}
	fprintf(f, "]}");
}

static void
report_rehome(const struct bench *bench)
{
	report(bench, BENCH_REHOME);
}

static void
write_rehome(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_REHOME);
}

static void
report_move(const struct bench *bench)
{
	report(bench, BENCH_MOVE);
}

static void
write_move(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_MOVE);
}

static void
report_tx_switch(const struct bench *bench)
{
	report(bench, BENCH_TX_SWITCH);
}

static void
write_tx_switch(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_TX_SWITCH);
}

static void
report_rehome_10k(const struct bench *bench)
{
	report(bench, BENCH_REHOME_10K);
}

static void
write_rehome_10k(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_REHOME_10K);
}

static void
report_unpolled(const struct bench *bench)
{
	report(bench, BENCH_UNPOLLED);
}

static void
write_unpolled(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_UNPOLLED);
}

static void
report_repartition(const struct bench *bench)
{
	report(bench, BENCH_REPARTITION);
}

static void
write_repartition(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_REPARTITION);
}

static void
report_rehome_reta(const struct bench *bench)
{
	report(bench, BENCH_REHOME_RETA);
}

static void
write_rehome_reta(FILE *f, const struct bench *bench)
{
	write_case(f, bench, BENCH_REHOME_RETA);
}

static const struct bench_case cases[BENCH_NB_MOVE_CASES] = {
	[BENCH_REHOME] = {"rehome", bench_rehome_run, report_rehome, write_rehome},
	[BENCH_MOVE] = {"move", bench_requeue_run, report_move, write_move},
	[BENCH_TX_SWITCH] = {"tx_switch", bench_tx_switch_run, report_tx_switch, write_tx_switch},
	[BENCH_REHOME_10K] = {"rehome_10k", bench_rehome_10k_run, report_rehome_10k,
			      write_rehome_10k},
	[BENCH_UNPOLLED] = {"unpolled", bench_unpolled_run, report_unpolled, write_unpolled},
	[BENCH_REPARTITION] = {"partition", bench_repartition_run, report_repartition,
			       write_repartition},
	[BENCH_REHOME_RETA] = {"reta", bench_rehome_reta_run, report_rehome_reta,
			       write_rehome_reta},
};

const struct bench_subject bench_move = {
	.name = "move",
	.title = "changes under load",
	.usage = usage,
	.case_names = "rehome, move, tx_switch, rehome_10k, unpolled, partition or reta",
	.letters = "PcjNpqvh",
	.runs = 1,
	.quick_runs = 1,
	.memory = 512,
	.nb_cases = BENCH_NB_MOVE_CASES,
	.cases = cases,
	.plot = bench_timeline_run,
};
