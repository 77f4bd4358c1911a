/* SPDX-License-Identifier: BSD-3-Clause */

/* ./octo bench overhead: the command, and its rounds. */

#include <errno.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_log.h>
#include <rte_random.h>

#include "bench_overhead.h"

#define TRIAL_BURST 32
#define TRIAL_PACKETS 512

const uint16_t overhead_bursts[OVERHEAD_NB_BURST] = {4, 16, 32, 64};

const char *const overhead_pfs[OVERHEAD_NB_PF] = {
	[OVERHEAD_NULL] = "net_null",  [OVERHEAD_RING] = "net_ring",
	[OVERHEAD_SIM] = "mpsim",      [OVERHEAD_PACKET] = "net_af_packet",
	[OVERHEAD_XDP] = "net_af_xdp",
};

const char *const overhead_works[OVERHEAD_NB_WORK] = {
	[OVERHEAD_RX] = "rx",           [OVERHEAD_TX] = "tx",       [OVERHEAD_IO] = "io",
	[OVERHEAD_MACSWAP] = "macswap", [OVERHEAD_TOUCH] = "touch", [OVERHEAD_SOURCE] = "source",
};

struct overhead_results overhead_results;

/* Kinds of work that a user may choose. */
#define NB_CHOICES OVERHEAD_SOURCE

/* The command's cases: PFs, work, slices, tier mac. None of the PFs or of the work means all. */
static bool
is_wanted(const struct bench *bench, unsigned int first, unsigned int nb, unsigned int i)
{
	const uint32_t group = bench->options.cases >> first & (RTE_BIT32(nb) - 1);

	return group == 0 || (group & RTE_BIT32(i)) != 0;
}

static bool
wants_pf(const struct bench *bench, enum overhead_pf kind)
{
	return is_wanted(bench, 0, OVERHEAD_NB_PF, kind);
}

static bool
wants_work(const struct bench *bench, enum overhead_work work)
{
	if (overhead_only_mac(bench))
		return work == OVERHEAD_RX || work == OVERHEAD_SOURCE;
	return work < NB_CHOICES && is_wanted(bench, OVERHEAD_NB_PF, NB_CHOICES, work);
}

bool
overhead_only_slices(const struct bench *bench)
{
	return (bench->options.cases & RTE_BIT32(OVERHEAD_NB_PF + NB_CHOICES)) != 0;
}

bool
overhead_only_mac(const struct bench *bench)
{
	return (bench->options.cases & RTE_BIT32(OVERHEAD_NB_PF + NB_CHOICES + 1)) != 0;
}

static bool
wants_stage(const struct bench *bench, enum overhead_pf kind, enum overhead_shape shape)
{
	if (!wants_pf(bench, kind))
		return false;
	/* the only PFs here that have several addresses */
	if (overhead_only_mac(bench) || shape == OVERHEAD_BY_MAC)
		return overhead_only_mac(bench) && shape == OVERHEAD_BY_MAC && kind == OVERHEAD_SIM;
	/* a closed queue of net_af_xdp keeps its mbufs: there are enough for one stage */
	if (kind == OVERHEAD_XDP)
		return shape == OVERHEAD_ONE;
	return !overhead_only_slices(bench) || overhead_has_slices(kind, shape);
}

/* Enough for a hundred microseconds or so, so that few turns are interrupted. */
static unsigned int
packets_of_turn(const struct overhead_stage *s)
{
	static const unsigned int packets[OVERHEAD_NB_PF] = {
		[OVERHEAD_NULL] = 8192,  [OVERHEAD_RING] = 4096, [OVERHEAD_SIM] = 2048,
		[OVERHEAD_PACKET] = 256, [OVERHEAD_XDP] = 256,
	};

	return RTE_MIN(packets[s->kind], bench_count(s->bench, UINT32_MAX, 512));
}

/* What came of a trial, if that leaves a contender out. */
static void
judge(struct overhead_contender *c, int ret, const struct overhead_turn *t)
{
	const uint64_t given = overhead_turn_given(t, 0) + overhead_turn_given(t, 1);
	const uint64_t sent = t->sent_by[0] + t->sent_by[1];

	if (t->received + t->dropped != given)
		snprintf(c->left_out, sizeof(c->left_out),
			 "passes %.0f %% of what its PFs receive on",
			 100.0 * (double)t->received / (double)RTE_MAX(given, 1u));
	else if (t->sent != sent && t->sent > 0)
		snprintf(c->left_out, sizeof(c->left_out), "sends %.2f packets for each",
			 (double)sent / (double)t->sent);
	else if (ret != 0)
		snprintf(c->left_out, sizeof(c->left_out), "%s after %u packets",
			 t->sent < t->received ? "sends no more" : "receives no more",
			 (unsigned int)t->received);
}

/* Who has not dropped or rewritten what its tier would have, is not in that tier. */
static void
judge_tier(struct overhead_contender *c, const struct overhead_turn *t)
{
	uint64_t dropped = 0, rewritten = 0;

	if (c->copies)
		app_xstat(c->port[0], "rx_mac_group_copies", &dropped);
	if (c->rewrites)
		app_xstat(c->port[0], "tx_mac_rewritten", &rewritten);
	if (dropped < t->dropped)
		snprintf(c->left_out, sizeof(c->left_out), "drops %u copies, of %u",
			 (unsigned int)dropped, (unsigned int)t->dropped);
	else if (c->rewrites && rewritten != t->sent)
		snprintf(c->left_out, sizeof(c->left_out), "rewrites %u packets, of %u",
			 (unsigned int)rewritten, (unsigned int)t->sent);
}

/*
 * A port of net_af_xdp that misses packets of the trial: they are fewer than the buffers that its
 * fill ring should have, so that it would take all of them even if nobody polled it. No port above
 * it can mend that. net_bonding is not asked: below its mode 802.3ad the PF misses them each time.
 */
static bool
lacks_buffers(const struct overhead_stage *s, const struct overhead_contender *c)
{
	struct rte_eth_stats stats = {0};

	return s->kind == OVERHEAD_XDP && strncmp(c->name, "bonding", strlen("bonding")) != 0 &&
	       rte_eth_stats_get(c->pf[0], &stats) == 0 && stats.imissed > 0;
}

/* Who does not forward, or not by all PFs by which packets come, is not compared. */
static void
try_out(struct overhead_stage *s, struct overhead_contender *c)
{
	struct overhead_turn t;
	int ret;

	if (c->left_out[0] != '\0')
		return;
	overhead_look_at_ports(s, c);
	ret = overhead_turn(s, c, OVERHEAD_IO, TRIAL_BURST, TRIAL_PACKETS, &t);
	s->lacks_buffers |= lacks_buffers(s, c);
	judge(c, ret, &t);
	if (c->left_out[0] == '\0')
		judge_tier(c, &t);
	/* the port of slices counts for all of them */
	if (c->left_out[0] == '\0' && s->shape == OVERHEAD_STRAYS && !c->sliced &&
	    (overhead_turn_given(&t, 0) == 0 || overhead_turn_given(&t, 1) == 0))
		snprintf(c->left_out, sizeof(c->left_out), "receives by one PF only");
}

static void
shuffle(unsigned int order[], unsigned int nb)
{
	for (unsigned int i = nb; i > 1; i--) {
		const uint64_t k = rte_rand_max(i);

		RTE_SWAP(order[i - 1], order[k]);
	}
}

/* All contenders once, in random order. */
static void
run_round(const struct overhead_stage *s, struct overhead_case *r, struct overhead_rounds *rounds,
	  bool counts)
{
	unsigned int order[OVERHEAD_MAX_CONTENDERS];
	struct overhead_turn t;

	for (unsigned int i = 0; i < s->nb; i++)
		order[i] = i;
	shuffle(order, s->nb);
	for (unsigned int i = 0; i < s->nb; i++) {
		const unsigned int k = order[i];
		const struct overhead_contender *c = &s->contender[k];

		if (c->left_out[0] != '\0' || rounds->broken[k])
			continue;
		rounds->broken[k] = overhead_turn(s, c, r->work, r->burst, packets_of_turn(s),
						  &t) != 0;
		r->of[k].inexact |= rounds->broken[k] || !overhead_turn_is_exact(&t);
		if (!counts || t.packets == 0)
			continue;
		rounds->packet[k][rounds->nb] = (double)t.cycles / (double)t.packets;
		rounds->burst[k][rounds->nb] = (double)t.cycles / (double)RTE_MAX(t.bursts, 1u);
	}
	rounds->nb += counts;
}

static void
run_case(const struct overhead_stage *s, struct overhead_case *r)
{
	static struct overhead_rounds rounds;

	rounds = (struct overhead_rounds){0};
	/* the first one warms up */
	for (uint64_t i = 0; i <= s->bench->options.runs && !bench_is_stopped(); i++)
		run_round(s, r, &rounds, i > 0);
	if (rounds.nb > 0)
		overhead_sum_up(s, &rounds, r);
}

static void
run_cases(const struct overhead_stage *s, struct overhead_stage_result *result)
{
	for (unsigned int i = 0; i < OVERHEAD_CASES_OF_STAGE && !bench_is_stopped(); i++) {
		struct overhead_case *r = &result->cases[result->nb_cases];

		if (!wants_work(s->bench, i / OVERHEAD_NB_BURST))
			continue;
		*r = (struct overhead_case){
			.kind = s->kind,
			.shape = s->shape,
			.work = i / OVERHEAD_NB_BURST,
			.burst = overhead_bursts[i % OVERHEAD_NB_BURST],
		};
		run_case(s, r);
		result->nb_cases += r->rounds > 0;
		bench_progress_part(i + 1, OVERHEAD_CASES_OF_STAGE);
	}
}

static void
keep_contenders(const struct overhead_stage *s, struct overhead_stage_result *result)
{
	result->kind = s->kind;
	result->shape = s->shape;
	result->nb = s->nb;
	for (unsigned int k = 0; k < s->nb; k++) {
		result->of[k].name = s->contender[k].name;
		result->of[k].wrong_port = s->contender[k].wrong_port;
		memcpy(result->of[k].left_out, s->contender[k].left_out,
		       sizeof(result->of[k].left_out));
	}
}

static void
skip(struct overhead_results *all, enum overhead_pf kind, const char *why)
{
	snprintf(all->skipped[kind], sizeof(all->skipped[kind]), "%s", why);
}

static const char *
why_not_opened(enum overhead_pf kind, int ret)
{
	const char *trouble = overhead_is_on_veth(kind) ? overhead_veth_trouble() : NULL;

	return trouble != NULL ? trouble : strerror(-ret);
}

/* All that can be compared with the bare PF. */
static void
compare_all(struct overhead_stage *s, struct overhead_stage_result *result)
{
	const char *bare_left_out = s->contender[OVERHEAD_BARE].left_out;

	for (unsigned int k = 0; k < s->nb; k++)
		try_out(s, &s->contender[k]);
	keep_contenders(s, result);
	if (s->lacks_buffers)
		skip(&overhead_results, s->kind, "a PF has started without all of its buffers");
	else if (bare_left_out[0] == '\0')
		run_cases(s, result);
	else
		skip(&overhead_results, s->kind, bare_left_out);
}

static void
run_stage(struct bench *bench, enum overhead_pf kind, enum overhead_shape shape)
{
	static struct overhead_stage s;
	struct overhead_results *all = &overhead_results;
	int ret;

	s = (struct overhead_stage){.kind = kind, .shape = shape, .bench = bench, .generator = -1};
	bench_progress_stage(overhead_pfs[kind], overhead_shape_text(shape));
	ret = overhead_open(&s);
	if (ret == 0)
		compare_all(&s, &all->stage[all->nb]);
	else
		skip(all, kind, why_not_opened(kind, ret));
	all->nb += all->stage[all->nb].nb_cases > 0;
	overhead_close(&s);
}

static int
run(struct bench *bench)
{
	/* what PFs cannot do that a port above them would like them to is of no interest here */
	if (!bench->options.verbose) {
		rte_log_set_global_level(RTE_LOG_CRIT);
		overhead_veth_quiet();
	}
	overhead_results.core_per_tsc = overhead_core_per_tsc();
	overhead_wire_fill(bench->pool);
	for (unsigned int i = 0; i < OVERHEAD_MAX_STAGES && !bench_is_stopped(); i++)
		if (wants_stage(bench, i / OVERHEAD_NB_SHAPE, i % OVERHEAD_NB_SHAPE))
			run_stage(bench, i / OVERHEAD_NB_SHAPE, i % OVERHEAD_NB_SHAPE);
	return 0;
}

static void
begin(const struct bench *bench)
{
	if (wants_pf(bench, OVERHEAD_PACKET) || wants_pf(bench, OVERHEAD_XDP))
		overhead_veth_enter();
}

static const char usage[] =
	"usage: octo bench overhead [--json FILE] [--plot FILE.png] [--runs N] [--quick]\n"
	"                           [--case NAME]... [-v]\n"
	"\n"
	"What the octo layer costs per packet, over the bare PF, next to net_failsafe and every\n"
	"mode of net_bonding that forwards: in one process, in turns, in random order. With one\n"
	"PF, with a second one by which nothing comes, and with half of the packets by each.\n"
	"\n"
	"  --json FILE  write the figures to FILE as well\n"
	"  --plot FILE  draw what is added at bursts of 32; FILE ends in .png, and a .csv file\n"
	"               has the figures\n"
	"  --runs N     rounds, of which the figures are medians (default 51)\n"
	"  --quick      three short rounds: shows that it works, and measures nothing\n"
	"  --case NAME  only these PFs: net_null, net_ring, mpsim, net_af_packet or net_af_xdp;\n"
	"               only this work: rx, tx, io, macswap or touch; slices: only octo, over\n"
	"               slices of a port next to two PFs, and over net_af_xdp; mac: only octo in\n"
	"               tier mac, next to tier queue, over mpsim; may be repeated\n"
	"  -v           show what EAL and the drivers log\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if all was measured, whatever came out; 1 if not; 2 for wrong options.\n";

static const struct bench_case cases[] = {
	{.name = "net_null"},   {.name = "net_ring"}, {.name = "mpsim"},  {.name = "net_af_packet"},
	{.name = "net_af_xdp"}, {.name = "rx"},       {.name = "tx"},     {.name = "io"},
	{.name = "macswap"},    {.name = "touch"},    {.name = "slices"}, {.name = "mac"},
};

const struct bench_subject bench_overhead = {
	.name = "overhead",
	.title = "overhead",
	.usage = usage,
	.case_names = "net_null, net_ring, mpsim, net_af_packet or net_af_xdp, rx, tx, io, "
		      "macswap or touch, slices, mac",
	.letters = "Pcjnqvh",
	.runs = 51,
	.quick_runs = 3,
	.memory = 512,
	.nb_cases = RTE_DIM(cases),
	.cases = cases,
	.begin = begin,
	.run = run,
	.intro = overhead_intro,
	.report = overhead_report,
	.write = overhead_write,
	.plot = overhead_plot,
};
