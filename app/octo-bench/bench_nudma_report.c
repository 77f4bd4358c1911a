/* SPDX-License-Identifier: BSD-3-Clause */

/* Published and modelled, as people read it. */

#include <math.h>
#include <string.h>

#include <rte_version.h>

#include "bench_nudma.h"

#define ID_WIDTH 24
#define TEXT_LEN 32

/* octo is to do as well as the local PF. */
#define AS_LOCAL 0.01

void
nudma_report_intro(const struct bench *bench)
{
	const char *machine = bench->options.machine;

	printf("net_octo: nonuniform DMA, MODELLED: the PMDs of %s over mpsim, whose DMA is\n"
	       "charged in virtual time to a model of the machine%s%s. Nothing was measured here.\n\n",
	       rte_version(), machine != NULL ? " " : "", machine != NULL ? machine : "");
	fflush(stdout);
}

/* Three digits or so, of whatever size. */
static void
put_number(char text[TEXT_LEN], double value)
{
	const double size = fabs(value);

	snprintf(text, TEXT_LEN, "%.*f",
		 size >= 100 || (size >= 1 && value == floor(value)) || size < 1e-9 ? 0 :
		 size >= 10                                                         ? 1 :
										      2,
		 value);
}

static void
put_range(char text[TEXT_LEN], double low, double high)
{
	char first[TEXT_LEN], last[TEXT_LEN];

	put_number(first, low);
	put_number(last, high);
	if (strcmp(first, last) == 0)
		snprintf(text, TEXT_LEN, "%.12s", first);
	else
		snprintf(text, TEXT_LEN, "%.12s-%.12s", first, last);
}

/* How far it is from what was published, from the nearer end. */
static void
put_error(char text[TEXT_LEN], const struct nudma_row *row)
{
	const double end = row->modelled > row->high ? row->high :
			   row->modelled < row->low  ? row->low :
						       row->modelled;

	if (end == row->modelled)
		snprintf(text, TEXT_LEN, "inside");
	else if (end == 0)
		snprintf(text, TEXT_LEN, "-");
	else
		snprintf(text, TEXT_LEN, "%+.1f %%", (row->modelled / end - 1) * 100);
}

static void
print_row(const struct nudma_row *row, const struct bench *bench)
{
	const enum nudma_role role = nudma_row_role(row, bench);
	char published[TEXT_LEN], modelled[TEXT_LEN], sweep[TEXT_LEN], error[TEXT_LEN];

	put_range(published, row->low, row->high);
	put_number(modelled, row->modelled);
	put_range(sweep, row->least, row->most);
	put_error(error, row);
	printf("%-*s %-34s %-7s %10s %9s %12s %9s  %s%s\n", ID_WIDTH, row->id, row->what, row->unit,
	       published, modelled, row->least == row->most ? "" : sweep,
	       nudma_role_is_judged(role) ? error : "", nudma_roles[role],
	       role == NUDMA_PREDICTED && !nudma_row_fits(row) ? ", OUTSIDE" : "");
}

static void
print_configs(const struct nudma_row *row)
{
	char text[TEXT_LEN];

	printf("%-*s", ID_WIDTH, row->id);
	for (unsigned int c = 0; c < NUDMA_NB_CONFIGS; c++) {
		put_number(text, row->of[c]);
		printf(" %9s", text);
	}
	if (row->of[NUDMA_LOCAL] > 0)
		printf(" %10.4f", row->of[NUDMA_OCTO] / row->of[NUDMA_LOCAL]);
	printf("\n");
}

/* How many predictions fit, and how far octo is from the local PF at most. */
static void
sum_up(const struct bench *bench)
{
	unsigned int of[NUDMA_NB_ROLES] = {0}, fit = 0;
	double farthest = 0;

	for (unsigned int i = 0; i < nudma_nb_rows(); i++) {
		const struct nudma_row *row = &nudma_rows[i];
		const enum nudma_role role = nudma_row_role(row, bench);

		if (row->has_configs && row->of[NUDMA_LOCAL] > 0)
			farthest = RTE_MAX(farthest,
					   fabs(row->of[NUDMA_OCTO] / row->of[NUDMA_LOCAL] - 1));
		of[role]++;
		fit += role == NUDMA_PREDICTED && nudma_row_fits(row);
	}
	printf("\nPredicted: %u of %u within 10 %% of the published range; octo is within %.2f %% "
	       "of local%s.\n",
	       fit, of[NUDMA_PREDICTED], farthest * 100,
	       farthest <= AS_LOCAL ? "" : ", WHICH IS TOO FAR");
	if (of[NUDMA_NOT_COMPARABLE] > 0)
		printf("%u more are not comparable: their conditions were not published. What they "
		       "come to is shown,\nand doc/guides/nudma.rst says what is missing.\n",
		       of[NUDMA_NOT_COMPARABLE]);
}

void
nudma_report(const struct bench *bench)
{
	if (nudma_results_first()->machine.name[0] == '\0' || bench_is_stopped())
		return;
	printf("%-*s %-34s %-7s %10s %9s %12s %9s\n", ID_WIDTH, "figure", "", "", "published",
	       "modelled", "in the sweep", "error");
	for (unsigned int i = 0; i < nudma_nb_rows(); i++)
		print_row(&nudma_rows[i], bench);
	printf("\n%-*s", ID_WIDTH, "modelled for");
	for (unsigned int c = 0; c < NUDMA_NB_CONFIGS; c++)
		printf(" %9s", nudma_configs[c]);
	printf(" %10s\n", "octo/local");
	for (unsigned int i = 0; i < nudma_nb_rows(); i++)
		if (nudma_rows[i].has_configs)
			print_configs(&nudma_rows[i]);
	sum_up(bench);
}
