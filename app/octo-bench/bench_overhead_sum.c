/* SPDX-License-Identifier: BSD-3-Clause */

/* What the rounds of a case come to. */

#include <string.h>

#include "bench_overhead.h"

static struct overhead_figure
compare(const double *a, const double *b, unsigned int nb, bool divide)
{
	double values[BENCH_MAX_RUNS];

	for (unsigned int i = 0; i < nb; i++)
		values[i] = divide ? a[i] / b[i] : a[i] - b[i];
	return overhead_figure_of(values, nb);
}

/* Cycles per packet that octo adds to bare slices less those that it adds to bare PFs. */
static struct overhead_figure
own_part(const struct overhead_rounds *rounds, const double *octo, const double *bare)
{
	double values[BENCH_MAX_RUNS];

	for (unsigned int i = 0; i < rounds->nb; i++)
		values[i] = octo[i] - bare[i] -
			    (rounds->packet[OVERHEAD_OCTO][i] - rounds->packet[OVERHEAD_BARE][i]);
	return overhead_figure_of(values, rounds->nb);
}

/* Cycles per packet that octo over two PFs takes more than another one, or that one than octo. */
static void
compare_octos(const struct overhead_stage *s, const struct overhead_rounds *rounds,
	      struct overhead_case *r)
{
	const double *octo = rounds->packet[OVERHEAD_OCTO], *slices = NULL;

	for (unsigned int k = 0; k < s->nb; k++) {
		const double *packet = rounds->packet[k];

		if (!r->of[k].measured || !r->of[OVERHEAD_OCTO].measured)
			continue;
		if (strcmp(s->contender[k].name, "octo-one-pf") == 0) {
			r->empty_leg = compare(octo, packet, rounds->nb, false);
		} else if (strcmp(s->contender[k].name, "octo-slices") == 0) {
			r->slices = compare(packet, octo, rounds->nb, false);
			slices = packet;
		} else if (strcmp(s->contender[k].name, "bare-slices") == 0 && slices != NULL) {
			r->slices_own = own_part(rounds, slices, packet);
		}
	}
}

/* Sorts, so what is compared by round comes first. */
void
overhead_sum_up(const struct overhead_stage *s, struct overhead_rounds *rounds,
		struct overhead_case *r)
{
	const double *bare = rounds->packet[OVERHEAD_BARE], *octo = rounds->packet[OVERHEAD_OCTO];

	for (unsigned int k = 0; k < s->nb; k++)
		r->of[k].measured = s->contender[k].left_out[0] == '\0' && !rounds->broken[k] &&
				    !rounds->broken[OVERHEAD_BARE];
	compare_octos(s, rounds, r);
	for (unsigned int k = s->nb; k-- > 0;) {
		struct overhead_result *of = &r->of[k];

		if (!of->measured)
			continue;
		of->ratio = compare(rounds->packet[k], bare, rounds->nb, true);
		of->added = compare(rounds->packet[k], bare, rounds->nb, false);
		if (r->of[OVERHEAD_OCTO].measured)
			of->over_octo = compare(rounds->packet[k], octo, rounds->nb, false);
		of->packet = overhead_figure_of(rounds->packet[k], rounds->nb);
		of->burst = overhead_figure_of(rounds->burst[k], rounds->nb);
	}
	r->rounds = rounds->nb;
}
