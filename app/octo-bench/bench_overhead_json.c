/* SPDX-License-Identifier: BSD-3-Clause */

/* The overhead as programs read it. */

#include <inttypes.h>

#include <rte_cycles.h>

#include "bench_overhead.h"

enum column {
	CYCLES,
	CYCLES_LOW,
	CYCLES_HIGH,
	PER_BURST,
	RATIO,
	RATIO_LOW,
	RATIO_HIGH,
	ADDED,
	ADDED_LOW,
	ADDED_HIGH,
	OVER_OCTO,
	OVER_OCTO_LOW,
	OVER_OCTO_HIGH,
	NB_COLUMNS,
};

static const char *const columns[NB_COLUMNS] = {
	[CYCLES] = "cycles",
	[CYCLES_LOW] = "cycles_low",
	[CYCLES_HIGH] = "cycles_high",
	[PER_BURST] = "cycles_per_burst",
	[RATIO] = "ratio",
	[RATIO_LOW] = "ratio_low",
	[RATIO_HIGH] = "ratio_high",
	[ADDED] = "added",
	[ADDED_LOW] = "added_low",
	[ADDED_HIGH] = "added_high",
	[OVER_OCTO] = "over_octo",
	[OVER_OCTO_LOW] = "over_octo_low",
	[OVER_OCTO_HIGH] = "over_octo_high",
};

static const char *const traffic[OVERHEAD_NB_SHAPE] = {
	[OVERHEAD_ONE] = "home",
	[OVERHEAD_HOME] = "home",
	[OVERHEAD_STRAYS] = "strays",
	[OVERHEAD_BY_MAC] = "mac",
};

static double
value_of(const struct overhead_result *r, enum column column)
{
	const struct overhead_figure *const figures[] = {&r->packet, &r->ratio, &r->added,
							 &r->over_octo};
	const double values[NB_COLUMNS] = {
		[CYCLES] = figures[0]->median,       [CYCLES_LOW] = figures[0]->low,
		[CYCLES_HIGH] = figures[0]->high,    [PER_BURST] = r->burst.median,
		[RATIO] = figures[1]->median,        [RATIO_LOW] = figures[1]->low,
		[RATIO_HIGH] = figures[1]->high,     [ADDED] = figures[2]->median,
		[ADDED_LOW] = figures[2]->low,       [ADDED_HIGH] = figures[2]->high,
		[OVER_OCTO] = figures[3]->median,    [OVER_OCTO_LOW] = figures[3]->low,
		[OVER_OCTO_HIGH] = figures[3]->high,
	};

	return values[column];
}

static void
write_column(FILE *f, const struct overhead_stage_result *stage, const struct overhead_case *c,
	     enum column column)
{
	const char *separator = "";

	fprintf(f, ",\n     \"%s\": {", columns[column]);
	for (unsigned int k = 0; k < stage->nb; k++) {
		if (!c->of[k].measured)
			continue;
		fprintf(f, "%s\"%s\": %.4f", separator, stage->of[k].name,
			value_of(&c->of[k], column));
		separator = ", ";
	}
	fprintf(f, "}");
}

/* Names of contenders that something is the matter with. */
static void
write_names(FILE *f, const char *key, const struct overhead_stage_result *stage,
	    const struct overhead_case *c)
{
	const char *separator = "";

	fprintf(f, ",\n     \"%s\": [", key);
	for (unsigned int k = 0; k < stage->nb; k++) {
		if (c != NULL ? !c->of[k].inexact : !stage->of[k].wrong_port)
			continue;
		fprintf(f, "%s\"%s\"", separator, stage->of[k].name);
		separator = ", ";
	}
	fprintf(f, "]");
}

static void
write_left_out(FILE *f, const struct overhead_stage_result *stage)
{
	const char *separator = "";

	fprintf(f, ",\n     \"left_out\": {");
	for (unsigned int k = 0; k < stage->nb; k++) {
		if (stage->of[k].left_out[0] == '\0')
			continue;
		fprintf(f, "%s\"%s\": \"%s\"", separator, stage->of[k].name, stage->of[k].left_out);
		separator = ", ";
	}
	fprintf(f, "}");
}

static void
write_figure(FILE *f, const char *key, const struct overhead_figure *figure)
{
	fprintf(f, ",\n     \"%s\": %.4f, \"%s_low\": %.4f, \"%s_high\": %.4f", key, figure->median,
		key, figure->low, key, figure->high);
}

static void
write_case(FILE *f, const struct overhead_stage_result *stage, const struct overhead_case *c)
{
	fprintf(f,
		"    {\"pf\": \"%s\", \"work\": \"%s\", \"burst\": %u, \"pfs\": %u, "
		"\"traffic\": \"%s\", \"rounds\": %" PRIu64,
		overhead_pfs[c->kind], overhead_works[c->work], c->burst,
		c->shape == OVERHEAD_ONE ? 1 : 2, traffic[c->shape], c->rounds);
	for (unsigned int column = 0; column < NB_COLUMNS; column++)
		write_column(f, stage, c, column);
	if (overhead_measured(stage, c, "octo-one-pf") && c->of[OVERHEAD_OCTO].measured)
		write_figure(f, "empty_leg", &c->empty_leg);
	if (overhead_measured(stage, c, "octo-slices") && c->of[OVERHEAD_OCTO].measured) {
		write_figure(f, "slices", &c->slices);
		if (overhead_measured(stage, c, "bare-slices"))
			write_figure(f, "slices_own", &c->slices_own);
	}
	write_names(f, "wrong_port", stage, NULL);
	write_names(f, "inexact", stage, c);
	write_left_out(f, stage);
	fprintf(f, "}");
}

static void
write_skipped(FILE *f)
{
	const char *separator = "";

	fprintf(f, "\"skipped\": {");
	for (unsigned int i = 0; i < OVERHEAD_NB_PF; i++) {
		if (overhead_results.skipped[i][0] == '\0')
			continue;
		fprintf(f, "%s\"%s\": \"%s\"", separator, overhead_pfs[i],
			overhead_results.skipped[i]);
		separator = ", ";
	}
	fprintf(f, "}");
}

void
overhead_write(FILE *f, const struct bench *bench)
{
	const struct overhead_results *all = &overhead_results;
	const char *separator = "";

	fprintf(f, "{\n  \"time_base\": \"TSC\", \"tsc_hz\": %" PRIu64, rte_get_tsc_hz());
	fprintf(f, ", \"core_cycles_per_tsc_cycle\": %.3f, \"hugepages\": %s,\n  ",
		all->core_per_tsc, bench->machine.hugepages ? "true" : "false");
	write_skipped(f);
	if (bench->options.quick)
		fprintf(f, ", \"quick\": true");
	if (bench_is_stopped())
		fprintf(f, ", \"interrupted\": true");
	fprintf(f, ",\n  \"cases\": [");
	for (unsigned int i = 0; i < all->nb; i++) {
		for (unsigned int k = 0; k < all->stage[i].nb_cases; k++) {
			fprintf(f, "%s\n", separator);
			write_case(f, &all->stage[i], &all->stage[i].cases[k]);
			separator = ",";
		}
	}
	fprintf(f, "\n  ]\n}\n");
}

static void
write_rows(FILE *f, const struct overhead_stage_result *stage, const struct overhead_case *c)
{
	for (unsigned int k = 0; k < stage->nb; k++)
		if (c->of[k].measured)
			fprintf(f, "%s,%u,%s,%s,%u,%s,%.4f,%.4f,%.4f,%.4f\n", overhead_pfs[c->kind],
				c->shape == OVERHEAD_ONE ? 1 : 2, traffic[c->shape],
				overhead_works[c->work], c->burst, stage->of[k].name,
				c->of[k].packet.median, c->of[k].added.median, c->of[k].added.low,
				c->of[k].added.high);
}

int
overhead_plot(struct bench *bench)
{
	const struct overhead_results *all = &overhead_results;
	char name[PATH_MAX];
	FILE *f;
	int ret = bench_plot_open(bench->options.plot, name, &f);

	if (ret != 0)
		return ret;
	fprintf(f, "pf,pfs,traffic,work,burst,contender,cycles,added,added_low,added_high\n");
	for (unsigned int i = 0; i < all->nb; i++)
		for (unsigned int k = 0; k < all->stage[i].nb_cases; k++)
			write_rows(f, &all->stage[i], &all->stage[i].cases[k]);
	return app_file_close(name, f);
}
