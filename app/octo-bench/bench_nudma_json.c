/* SPDX-License-Identifier: BSD-3-Clause */

/* The same as programs read it, and what the picture is drawn from. */

#include <inttypes.h>

#include "bench_nudma.h"

static void
write_configs(FILE *f, const struct nudma_row *row)
{
	for (unsigned int c = 0; c < NUDMA_NB_CONFIGS && row->has_configs; c++)
		fprintf(f, ", \"%s\": %.6g", nudma_configs[c], row->of[c]);
}

static void
write_row(FILE *f, const struct nudma_row *row, const struct bench *bench)
{
	const enum nudma_role role = nudma_row_role(row, bench);

	fprintf(f, "    {\"id\": \"%s\", \"source\": \"%s\", \"quantity\": \"%s\", ", row->id,
		row->source, row->what);
	fprintf(f, "\"unit\": \"%s\", \"machine\": \"%s\",\n     ", row->unit,
		nudma_results_for(bench, row)->machine.name);
	fprintf(f, "\"published_low\": %.6g, \"published_high\": %.6g, ", row->low, row->high);
	fprintf(f, "\"modelled\": %.6g, \"modelled_low\": %.6g, \"modelled_high\": %.6g,\n     ",
		row->modelled, row->least, row->most);
	fprintf(f, "\"role\": \"%s\", \"within_10pct\": %s", nudma_roles[role],
		!nudma_role_is_judged(role) ? "null" :
		nudma_row_fits(row)         ? "true" :
					      "false");
	if (row->why != NULL)
		fprintf(f, ", \"not_published\": \"%s\"", row->why);
	write_configs(f, row);
	fprintf(f, "}");
}

static void
write_migration(FILE *f)
{
	const struct nudma_migration *m = &nudma_results_first()->migration;

	fprintf(f, "  \"migration\": {\"lost\": %" PRIu64 ", \"reordered\": %" PRIu64 ", ", m->lost,
		m->reordered);
	fprintf(f, "\"packets_before\": [%" PRIu64 ", %" PRIu64 "], ", m->by_pf[0][0],
		m->by_pf[0][1]);
	fprintf(f, "\"packets_after\": [%" PRIu64 ", %" PRIu64 "]},\n", m->by_pf[1][0],
		m->by_pf[1][1]);
}

void
nudma_write(FILE *f, const struct bench *bench)
{
	fprintf(f, "{\n  \"modelled\": true,\n");
	if (bench_is_stopped()) {
		fprintf(f, "  \"interrupted\": true\n}\n");
		return;
	}
	write_migration(f);
	fprintf(f, "  \"rows\": [\n");
	for (unsigned int i = 0; i < nudma_nb_rows(); i++) {
		write_row(f, &nudma_rows[i], bench);
		fprintf(f, "%s\n", i + 1 < nudma_nb_rows() ? "," : "");
	}
	fprintf(f, "  ]\n}\n");
}

/* Lines of the picture's figures: panel, what, configuration, x, y. */
static void
point(FILE *f, const char *panel, const char *what, unsigned int config, double x, double y)
{
	fprintf(f, "%s,%s,%s,%.6g,%.6g\n", panel, what, nudma_configs[config], x, y);
}

static void
draw_loads(FILE *f, const struct nudma_results *r, unsigned int c)
{
	for (unsigned int k = 0; k < NUDMA_NB_LOADS; k++) {
		point(f, "fig11", "gbps", c, r->pairs[k], nudma_rx_gbps(r, c, k));
		point(f, "fig12", "us", c, r->pairs[k], nudma_rtt_us(r, c, NUDMA_X_ECHO + k, 1));
	}
}

static void
draw_sizes(FILE *f, const struct nudma_results *r, unsigned int c)
{
	for (unsigned int k = 0; k < NUDMA_NB_SIZES; k++) {
		const double local = nudma_rtt_us(r, NUDMA_LOCAL, NUDMA_X_SIZE + k, 2);

		point(f, "fig9", "rr", c, nudma_sizes[k],
		      nudma_rtt_us(r, c, NUDMA_X_SIZE + k, 2) / local);
		if (c == NUDMA_LOCAL)
			point(f, "fig9", "nd", c, nudma_sizes[k],
			      nudma_rtt_us(r, c, NUDMA_X_SIZE_DRAM + k, 2) / local);
	}
}

static void
draw_config(FILE *f, const struct nudma_results *r, unsigned int c)
{
	point(f, "fig6", "gbps", c, 0, nudma_rx_gbps(r, c, 0));
	point(f, "fig6", "dram", c, 0, nudma_dram_per_byte(r, c, NUDMA_X_RX));
	point(f, "fig7", "gbps", c, 0, nudma_tso_gbps(r, c));
	point(f, "fig7", "dram", c, 0, nudma_dram_per_byte(r, c, NUDMA_X_TSO));
	point(f, "fig8", "mpps", c, 0, nudma_pktgen_mpps(r, c, NUDMA_X_PKTGEN));
	for (unsigned int k = 0; k <= 4; k++)
		point(f, "fig10", "rate", c, k * 25, nudma_store_rate(r, c, k / 4.0));
	point(f, "fig13", "netperf", c, 0, nudma_pagerank_time(r, c, NUDMA_NETPERF));
	point(f, "fig13", "memcached", c, 0, nudma_pagerank_time(r, c, NUDMA_MEMCACHED));
	draw_sizes(f, r, c);
	draw_loads(f, r, c);
}

/* By which PF a receiver's throughput comes, which goes from socket 1 to socket 0. */
static void
draw_migration(FILE *f, const struct nudma_results *r)
{
	const struct nudma_migration *m = &r->migration;

	for (unsigned int after = 0; after < 2; after++) {
		const double all = (double)(m->by_pf[after][0] + m->by_pf[after][1]);

		for (unsigned int pf = 0; pf < NUDMA_NB_PFS; pf++)
			point(f, "fig14", pf == 0 ? "pf0" : "pf1", NUDMA_OCTO, after,
			      nudma_rx_gbps(r, NUDMA_OCTO, 0) * (double)m->by_pf[after][pf] / all);
		/* one PF only: that of socket 1 */
		point(f, "fig14", "pf1", NUDMA_REMOTE, after,
		      nudma_rx_gbps(r, after == 0 ? NUDMA_LOCAL : NUDMA_REMOTE, 0));
	}
}

int
nudma_plot(struct bench *bench)
{
	const struct nudma_results *r = nudma_results_first();
	char name[PATH_MAX];
	FILE *f;
	int ret = bench_plot_open(bench->options.plot, name, &f);

	if (ret != 0)
		return ret;
	fprintf(f, "panel,what,config,x,y\n");
	fprintf(f, "machine,%s,%s,0,0\n", r->machine.name, nudma_configs[0]);
	for (unsigned int i = 0; i < nudma_nb_rows(); i++) {
		const enum nudma_role role = nudma_row_role(&nudma_rows[i], bench);

		if (role != NUDMA_ANOTHER_MACHINE)
			fprintf(f, "published,%s,%s,%.6g,%.6g\n", nudma_rows[i].id,
				nudma_roles[role], nudma_rows[i].low, nudma_rows[i].high);
	}
	for (unsigned int c = 0; c < NUDMA_NB_CONFIGS; c++)
		draw_config(f, r, c);
	draw_migration(f, r);
	return app_file_close(name, f);
}
