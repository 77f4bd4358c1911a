/* SPDX-License-Identifier: BSD-3-Clause */

/* The overhead as people read it. */

#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "bench_overhead.h"

#define NAME_WIDTH 22

/* A PF that takes so many cycles a packet may notice octo by so much of its throughput. */
#define SLOW_PF 60
#define LEAST_THROUGHPUT 0.98

/* One that takes as long as a system call does, not by so much. */
#define LEAST_THROUGHPUT_XDP 0.99

/* Cycles per packet that slices may take more than two PFs, in all and by octo itself. */
#define MOST_OF_SLICES 0.2

const char *
overhead_shape_text(enum overhead_shape shape)
{
	static const char *const texts[OVERHEAD_NB_SHAPE] = {
		[OVERHEAD_ONE] = "1 PF",
		[OVERHEAD_HOME] = "2 PFs, nothing comes by the second",
		[OVERHEAD_STRAYS] = "2 PFs, half of the packets by each",
		[OVERHEAD_BY_MAC] = "2 PFs with addresses of their own, all packets by the home PF",
	};

	return texts[shape];
}

bool
overhead_measured(const struct overhead_stage_result *stage, const struct overhead_case *c,
		  const char *name)
{
	for (unsigned int k = 0; k < stage->nb; k++)
		if (strcmp(stage->of[k].name, name) == 0)
			return c->of[k].measured;
	return false;
}

static void
print_pages(const struct bench *bench)
{
	if (bench->machine.hugepages)
		printf("Buffers are on hugepages of 2 MiB.\n");
	else
		printf("NO HUGEPAGES: buffers are on 4 KiB pages (none are free, and none could be\n"
		       "reserved, which takes root). Each buffer that is touched may miss the TLB, "
		       "and whoever\ntouches one once more, as octo and net_failsafe do to set "
		       "mbuf->port, seems ten times\nas dear as it is.\n");
}

void
overhead_intro(const struct bench *bench)
{
	printf("net_octo: overhead over the bare PF, in one process on CPU %u (%s).\n",
	       bench->machine.cpu[0], rte_version());
	if (bench->options.quick)
		printf("QUICK: turns are few and short, so that times mean nothing.\n");
	else
		printf("Medians of %" PRIu64 " rounds; in each, all take turns in random order. "
		       "± half of the 95 %%\nconfidence interval.\n",
		       bench->options.runs);
	printf("Cycles are those of the TSC, %.2f GHz; they are not core cycles.\n",
	       (double)rte_get_tsc_hz() / 1e9);
	print_pages(bench);
	printf("\n");
	fflush(stdout);
}

static const struct overhead_case *
case_of(const struct overhead_stage_result *stage, enum overhead_work work, uint16_t burst)
{
	for (unsigned int i = 0; i < stage->nb_cases; i++)
		if (stage->cases[i].work == work && stage->cases[i].burst == burst)
			return &stage->cases[i];
	return NULL;
}

static double
half_of(const struct overhead_figure *f)
{
	return (f->high - f->low) / 2;
}

static void
print_cell(const struct overhead_case *c, unsigned int k, unsigned int bare)
{
	const struct overhead_result *r = c != NULL ? &c->of[k] : NULL;

	if (r == NULL || !r->measured)
		printf(" %22s", "-");
	else if (k == bare)
		printf(" %8.2f%14s", r->packet.median, "");
	else
		printf(" %8.2f %6.3f ±%.3f", r->packet.median, r->ratio.median, half_of(&r->ratio));
}

static void
print_work(const struct overhead_stage_result *stage, enum overhead_work work)
{
	const struct overhead_case *c;

	printf("%-*s", NAME_WIDTH, overhead_works[work]);
	for (unsigned int b = 0; b < OVERHEAD_NB_BURST; b++)
		printf(" burst %-2u%14s", overhead_bursts[b], "ratio to bare");
	printf("  cycles/burst of 32\n");
	for (unsigned int k = 0; k < stage->nb; k++) {
		if (stage->of[k].left_out[0] != '\0')
			continue;
		printf("  %-*s", NAME_WIDTH - 2, stage->of[k].name);
		for (unsigned int b = 0; b < OVERHEAD_NB_BURST; b++)
			print_cell(case_of(stage, work, overhead_bursts[b]), k, OVERHEAD_BARE);
		c = case_of(stage, work, 32);
		if (c != NULL && c->of[k].measured)
			printf("  %18.0f", c->of[k].burst.median);
		printf("\n");
	}
}

/* Who is left out, and what is wrong with the others. */
static void
print_faults(const struct overhead_stage_result *stage)
{
	for (unsigned int k = 0; k < stage->nb; k++) {
		unsigned int inexact = 0;

		for (unsigned int i = 0; i < stage->nb_cases; i++)
			inexact += stage->cases[i].of[k].inexact;
		if (stage->of[k].left_out[0] != '\0')
			printf("  %s is left out: %s\n", stage->of[k].name, stage->of[k].left_out);
		else if (stage->of[k].wrong_port)
			printf("  %s: mbuf->port wrong: it is not the port that was polled\n",
			       stage->of[k].name);
		if (inexact > 0)
			printf("  %s: packets LOST or REPEATED in %u of %u cases\n",
			       stage->of[k].name, inexact, stage->nb_cases);
	}
}

static void
print_stage(const struct overhead_stage_result *stage)
{
	printf("%s, %s: TSC cycles per packet\n", overhead_pfs[stage->kind],
	       overhead_shape_text(stage->shape));
	for (unsigned int work = 0; work < OVERHEAD_NB_WORK; work++)
		if (case_of(stage, work, 32) != NULL)
			print_work(stage, work);
	print_faults(stage);
	printf("\n");
}

/* The cheapest of the others, by what they add to rx + tx. */
static double
least_of_others(const struct overhead_stage_result *stage, const struct overhead_case *c,
		const char **name)
{
	double least = 1e9;

	for (unsigned int k = 0; k < stage->nb; k++) {
		if (!c->of[k].measured || strncmp(stage->of[k].name, "bare", 4) == 0 ||
		    strncmp(stage->of[k].name, "octo", 4) == 0 || c->of[k].added.median >= least)
			continue;
		least = c->of[k].added.median;
		*name = stage->of[k].name;
	}
	return least;
}

static void
judge_fast(const struct overhead_stage_result *stage, const struct overhead_case *c, unsigned int k)
{
	const bool one = stage->shape == OVERHEAD_ONE;
	const struct overhead_figure *added = &c->of[k].added;
	const char *name = "nobody else";
	char what[64];
	double least;

	snprintf(what, sizeof(what), "octo adds to rx + tx, %s (±%.2f)", one ? "1 PF" : "2 PFs",
		 half_of(added));
	bench_line(overhead_pfs[stage->kind], what, added->median, 2, "", one ? "<= 1" : "<= 1.5",
		   added->median <= (one ? 1 : 1.5));
	least = least_of_others(stage, c, &name);
	if (!one && least < 1e9) {
		snprintf(what, sizeof(what), "  the least of the others: %s", name);
		bench_line("", what, least, 2, "", "more", least > added->median);
	}
	if (!overhead_measured(stage, c, "octo-one-pf"))
		return;
	snprintf(what, sizeof(what), "  of that, for a leg that stays empty (±%.2f)",
		 half_of(&c->empty_leg));
	bench_line("", what, c->empty_leg.median, 2, "", "<= 0.3", c->empty_leg.median <= 0.3);
}

static void
judge_slices(const struct overhead_stage_result *stage, const struct overhead_case *c)
{
	char what[64];

	if (!overhead_measured(stage, c, "octo-slices") || !c->of[OVERHEAD_OCTO].measured)
		return;
	snprintf(what, sizeof(what), "slices add to two PFs, %s (±%.2f)",
		 stage->shape == OVERHEAD_HOME ? "no strays" : "half strays", half_of(&c->slices));
	bench_line(overhead_pfs[stage->kind], what, c->slices.median, 2, "", "<= 0.2",
		   c->slices.median <= MOST_OF_SLICES);
	if (!overhead_measured(stage, c, "bare-slices"))
		return;
	snprintf(what, sizeof(what), "  of that, by octo itself (±%.2f)", half_of(&c->slices_own));
	bench_line("", what, c->slices_own.median, 2, "", "<= 0.2",
		   c->slices_own.median <= MOST_OF_SLICES);
}

static void
judge_slow(const struct overhead_stage_result *stage, const struct overhead_case *c)
{
	const bool xdp = stage->kind == OVERHEAD_XDP;
	const struct overhead_figure *ratio = &c->of[OVERHEAD_OCTO].ratio;
	const double throughput = 1 / ratio->median;
	char what[64];

	snprintf(what, sizeof(what), "throughput by octo to bare, %s (±%.3f)",
		 stage->shape == OVERHEAD_ONE ? "1 PF" : "2 PFs", half_of(ratio));
	bench_line(overhead_pfs[stage->kind], what, throughput, 3, "", xdp ? ">= 0.99" : ">= 0.98",
		   throughput >= (xdp ? LEAST_THROUGHPUT_XDP : LEAST_THROUGHPUT));
}

/* What tier mac costs, next to tier queue; nothing is wanted of that. */
static void
tell_tiers(const struct overhead_stage_result *stage, enum overhead_work work)
{
	const struct overhead_case *c = case_of(stage, work, 32);
	char what[64];

	if (c == NULL || !c->of[OVERHEAD_OCTO].measured)
		return;
	for (unsigned int k = OVERHEAD_OCTO + 1; k < stage->nb; k++) {
		if (!c->of[k].measured)
			continue;
		snprintf(what, sizeof(what), "%s adds to octo (±%.2f)", stage->of[k].name,
			 half_of(&c->of[k].over_octo));
		bench_line(overhead_works[work], what, c->of[k].over_octo.median, 2, "", "", true);
	}
}

/* How octo does, in bursts of 32, where figures are wanted. */
static void
judge_stage(const struct overhead_stage_result *stage)
{
	const struct overhead_case *c = case_of(stage, OVERHEAD_IO, 32);
	const bool fast = stage->kind == OVERHEAD_NULL || stage->kind == OVERHEAD_RING;

	if (stage->shape == OVERHEAD_BY_MAC) {
		tell_tiers(stage, OVERHEAD_RX);
		tell_tiers(stage, OVERHEAD_SOURCE);
	}
	if (c == NULL || !c->of[OVERHEAD_OCTO].measured)
		return;
	judge_slices(stage, c);
	if (stage->shape == OVERHEAD_STRAYS)
		return;
	if (fast)
		judge_fast(stage, c, OVERHEAD_OCTO);
	if (c->of[OVERHEAD_BARE].packet.median >= SLOW_PF)
		judge_slow(stage, c);
}

void
overhead_report(const struct bench *bench)
{
	const struct overhead_results *all = &overhead_results;

	for (unsigned int i = 0; i < all->nb; i++)
		print_stage(&all->stage[i]);
	for (unsigned int i = 0; i < OVERHEAD_NB_PF; i++)
		if (all->skipped[i][0] != '\0')
			printf("%s is skipped: %s\n", overhead_pfs[i], all->skipped[i]);
	if (all->core_per_tsc > 0)
		printf("A core cycle is about %.2f TSC cycles now, by a chain of additions.\n\n",
		       1 / all->core_per_tsc);
	printf("In bursts of 32%s:\n", overhead_only_mac(bench) ? "" : ", rx + tx (io)");
	for (unsigned int i = 0; i < all->nb; i++)
		judge_stage(&all->stage[i]);
	if (bench->options.quick)
		printf("\nA quick run: only the counts mean anything.\n");
}
