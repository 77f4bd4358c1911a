/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>

#include <rte_bitops.h>

#include "bench.h"

void
bench_json_insert(FILE *f, const struct bench *bench)
{
	const struct bench_insert *r = &bench->results.insert;

	fprintf(f,
		"{\"flows\": %u, \"misdirected\": %" PRIu64 ", \"lost\": %" PRIu64
		",\n    \"bytes_per_flow\": %.1f, \"octo_ns_per_insert\": %.1f,\n"
		"    \"rate_octo\": %.0f, \"rate_direct\": %.0f}",
		r->flows, r->misdirected, r->lost, r->bytes_per_flow, r->octo_ns_per_insert,
		r->rate_octo, r->rate_direct);
}

void
bench_json_converge(FILE *f, const struct bench *bench)
{
	const struct bench_converge *r = &bench->results.converge;

	fprintf(f, "{\"flows\": %u, \"seconds\": ", r->flows);
	if (r->seconds < 0)
		fprintf(f, "null");
	else
		fprintf(f, "%.3f", r->seconds);
	fprintf(f, ", \"stray_fraction\": %.6f, \"strays_per_flow\": %.2f}", r->stray_fraction,
		r->strays_per_flow);
}

void
bench_json_zipf(FILE *f, const struct bench *bench)
{
	const struct bench_zipf *r = &bench->results.zipf;

	fprintf(f,
		"{\"flows\": %u, \"entries\": %u, \"stray_fraction\": %.6f, "
		"\"ratio_to_best\": %.4f}",
		r->flows, r->entries, r->stray_fraction, r->ratio_to_best);
}

static void
write_shares(FILE *f, const struct bench_partition *of)
{
	fprintf(f, "[");
	for (unsigned int i = 0; i < BENCH_NB_PARTITIONS; i++) {
		const struct bench_partition *r = &of[i];

		fprintf(f,
			"%s\n    {\"pfs\": %u, \"queues\": %u, \"strays\": %" PRIu64
			", \"imbalance\": %.4f}",
			i == 0 ? "" : ",", r->pfs, r->queues, r->strays, r->imbalance);
	}
	fprintf(f, "]");
}

void
bench_json_partition(FILE *f, const struct bench *bench)
{
	write_shares(f, bench->results.partition);
}

void
bench_json_reta(FILE *f, const struct bench *bench)
{
	write_shares(f, bench->results.reta);
}

void
bench_json_learning(FILE *f, const struct bench *bench)
{
	fprintf(f, "{\"throughput_ratio\": %.4f}", bench->results.learning.throughput_ratio);
}

void
bench_json_write(FILE *f, const struct bench *bench)
{
	const struct bench_subject *subject = bench->options.subject;
	const char *separator = "{";

	if (subject->write != NULL) {
		subject->write(f, bench);
		return;
	}
	for (unsigned int i = 0; i < subject->nb_cases; i++) {
		if (!(bench->measured & RTE_BIT32(i)))
			continue;
		fprintf(f, "%s\n  \"%s\": ", separator, subject->cases[i].name);
		subject->cases[i].write(f, bench);
		separator = ",";
	}
	if (bench->options.quick) {
		fprintf(f, "%s\n  \"quick\": true", separator);
		separator = ",";
	}
	if (bench_is_stopped())
		fprintf(f, "%s\n  \"interrupted\": true", separator);
	fprintf(f, "\n}\n");
}
