/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>

#include <rte_cycles.h>

#include "bench.h"

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double
bench_median(double values[], unsigned int nb)
{
	if (nb == 0)
		return 0;
	qsort(values, nb, sizeof(values[0]), compare);
	return nb % 2 != 0 ? values[nb / 2] : (values[nb / 2 - 1] + values[nb / 2]) / 2;
}

double
bench_percentile(double values[], uint64_t nb, unsigned int percent)
{
	if (nb == 0)
		return 0;
	qsort(values, nb, sizeof(values[0]), compare);
	return values[(nb - 1) * percent / 100];
}

void
bench_series_add(struct bench_series *series, double value)
{
	series->value[series->nb++] = value;
}

double
bench_series_median(struct bench_series *series)
{
	return bench_median(series->value, series->nb);
}

void
bench_snapshot_end(struct bench_snapshot *snapshot, struct bench_span *span, uint64_t tsc)
{
	if (snapshot->since != 0 && tsc > snapshot->since) {
		span->packets += snapshot->packets;
		span->cycles += tsc - snapshot->since;
	}
	*snapshot = (struct bench_snapshot){.since = tsc};
}

double
bench_span_rate(const struct bench_span *span)
{
	if (span->cycles == 0)
		return 0;
	return (double)span->packets * (double)rte_get_tsc_hz() / (double)span->cycles;
}

double
bench_blocked_ms(const struct bench_span *changing, const struct bench_span *settled,
		 uint64_t nb_changes)
{
	const double offered = bench_span_rate(settled);
	const double seconds = (double)changing->cycles / (double)rte_get_tsc_hz();
	const double withheld = offered * seconds - (double)changing->packets;

	if (nb_changes == 0 || offered <= 0 || withheld <= 0)
		return 0;
	return withheld / offered * 1e3 / (double)nb_changes;
}
