/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_learn.h"
#include "octo_flow_rate.h"

/* Ticks between two reads of a rule's hits. */
#define READ_EVERY 8
/* A candidate's flow rate must be more than 5/4 of that of the rule it replaces. */
#define CLEARLY_NUM 5
#define CLEARLY_DEN 4
/* Rules replaced per tick: at most 1/SWAPS_PART of all, or SWAPS_MIN if that is more. */
#define SWAPS_PART 8
#define SWAPS_MIN 16
/* Rules without hit counters evicted on trial per tick: 1/TRIALS_PART of all, at least one. */
#define TRIALS_PART 256
/* A table of which more than 1/ROOM_PART is free is no longer full. */
#define ROOM_PART 16
/* Shortest and longest pause until a full table is tried again. */
#define PAUSE_MS 100u
#define MAX_PAUSE_MS 6400u
/* Rules whose hits are read again to find the one with the lowest flow rate. */
#define VICTIM_TRIES 4

/* Candidates: sets of ways; a new one replaces the least of its set. */
#define WAYS 8
#define SETS 2048

struct octo_learned {
	TAILQ_ENTRY(octo_learned) by_reading;
	TAILQ_ENTRY(octo_learned) by_rate;
	void *rule;
	uint64_t hits : 54;    /* as of the last read */
	uint64_t step : 8;     /* of the flow rate */
	uint64_t left : 1;     /* its rule is the one left of two */
	uint64_t given_up : 1; /* removed at this read */
	uint32_t sum;          /* of packets, decayed, as of the last read */
	uint32_t first;        /* tick since which it is watched */
	uint32_t read;         /* tick of the last read of its hits */
	uint32_t hit;          /* tick in which they were last found to have grown */
};

TAILQ_HEAD(octo_learned_list, octo_learned);

struct candidate {
	struct octo_tuple tuple; /* family 0: free */
	uint32_t sum;
	uint32_t first;
	uint32_t tick; /* of sum */
	bool seen;     /* more than once */
};

struct octo_learn {
	struct octo_learn_conf conf;
	const struct octo_learn_ops *ops;
	void *ctx;
	uint32_t limit;  /* rules that fit, as far as is known */
	uint32_t pause;  /* ms; from the last failure to `retry`, doubled by the next */
	uint64_t retry;  /* ms; when more rules than `limit` are tried again */
	bool broken;     /* no rule could be installed: none is tried before `retry` */
	bool full;       /* `limit` was reached: flows compete for rules */
	uint32_t tick;   /* tick to which the budgets belong */
	uint32_t swaps;  /* left in this tick */
	uint32_t trials; /* left in this tick */
	struct octo_learned_list by_reading;
	struct octo_learned_list by_rate[OCTO_FLOW_RATE_STEPS];
	uint64_t used_steps[OCTO_FLOW_RATE_STEPS / 64];
	struct candidate *candidates; /* NULL until the table is full for the first time */
	struct octo_learn_stats stats;
	struct octo_flow_rate flow_rate;
};

/* List of each step */

static void
put_on_step(struct octo_learn *l, struct octo_learned *f, uint8_t step)
{
	f->step = step;
	TAILQ_INSERT_TAIL(&l->by_rate[step], f, by_rate);
	l->used_steps[step / 64] |= RTE_BIT64(step % 64);
}

static void
take_off_step(struct octo_learn *l, struct octo_learned *f)
{
	const uint8_t step = f->step;

	TAILQ_REMOVE(&l->by_rate[step], f, by_rate);
	if (TAILQ_EMPTY(&l->by_rate[step]))
		l->used_steps[step / 64] &= ~RTE_BIT64(step % 64);
}

static struct octo_learned *
least(const struct octo_learn *l)
{
	for (unsigned int i = 0; i < RTE_DIM(l->used_steps); i++)
		if (l->used_steps[i] != 0)
			return TAILQ_FIRST(&l->by_rate[i * 64 + __builtin_ctzll(l->used_steps[i])]);
	return NULL;
}

/* Candidates */

static bool
have_candidates(struct octo_learn *l)
{
	if (l->candidates == NULL)
		l->candidates = calloc(SETS * WAYS, sizeof(*l->candidates));
	return l->candidates != NULL;
}

static bool
is_less(const struct octo_learn *l, const struct candidate *a, const struct candidate *b,
	uint32_t tick)
{
	const uint32_t sum_a = octo_flow_rate_decay(&l->flow_rate, a->sum, tick - a->tick);
	const uint32_t sum_b = octo_flow_rate_decay(&l->flow_rate, b->sum, tick - b->tick);

	return sum_a < sum_b || (sum_a == sum_b && tick - a->tick > tick - b->tick);
}

static struct candidate *
set_of(const struct octo_learn *l, const struct octo_tuple *tuple)
{
	return &l->candidates[octo_tuple_hash(tuple, 0) % SETS * WAYS];
}

/* The flow's candidate, or a new one, which replaces the least of its set. */
static struct candidate *
place_of(struct octo_learn *l, const struct octo_tuple *tuple, uint32_t tick)
{
	struct candidate *set = set_of(l, tuple);
	struct candidate *c = set;

	for (unsigned int i = 0; i < WAYS; i++) {
		if (octo_tuple_equal(&set[i].tuple, tuple))
			return &set[i];
		if (c->tuple.family != 0 &&
		    (set[i].tuple.family == 0 || is_less(l, &set[i], c, tick)))
			c = &set[i];
	}
	l->stats.candidates += c->tuple.family == 0;
	*c = (struct candidate){.tuple = *tuple, .first = tick, .tick = tick};
	return c;
}

static void
drop_candidate(struct octo_learn *l, const struct octo_tuple *tuple)
{
	struct candidate *set = set_of(l, tuple);

	for (unsigned int i = 0; i < WAYS; i++) {
		if (!octo_tuple_equal(&set[i].tuple, tuple))
			continue;
		set[i].tuple.family = 0;
		l->stats.candidates--;
	}
}

/* Rules */

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_forget)
void
octo_learn_forget(struct octo_learn *l, struct octo_learned *f)
{
	TAILQ_REMOVE(&l->by_reading, f, by_reading);
	take_off_step(l, f);
	l->stats.rules--;
	free(f);
}

/* The flow stays as a candidate, and gets a rule again if its flow rate is high enough. */
static void
evict(struct octo_learn *l, struct octo_learned *f, uint32_t tick)
{
	struct octo_tuple tuple;

	l->ops->remove(l->ctx, f->rule, &tuple);
	if (have_candidates(l)) {
		struct candidate *c = place_of(l, &tuple, tick);

		c->seen = true;
		c->sum = f->sum;
		c->first = f->first;
		c->tick = tick;
	}
	octo_learn_forget(l, f);
	l->stats.evicted++;
}

static void
back_off(struct octo_learn *l, uint64_t now)
{
	l->pause = RTE_MIN(RTE_MAX(2 * l->pause, PAUSE_MS), MAX_PAUSE_MS);
	l->retry = now + l->pause;
}

static void
no_room(struct octo_learn *l, uint64_t now)
{
	l->stats.refused++;
	l->limit = l->stats.rules;
	l->full = true;
	back_off(l, now);
}

static bool
install(struct octo_learn *l, const struct octo_tuple *tuple, uint16_t queue,
	const struct octo_learned *what, uint64_t now)
{
	struct octo_learned *f = malloc(sizeof(*f));
	int ret = -ENOMEM;

	if (f != NULL) {
		*f = *what;
		ret = l->ops->install(l->ctx, tuple, queue, f, &f->rule);
	}
	if (ret != 0) {
		free(f);
		if (ret == -ENOSPC) {
			no_room(l, now);
			return false;
		}
		l->stats.failed++;
		l->broken = true;
		back_off(l, now);
		return false;
	}
	TAILQ_INSERT_TAIL(&l->by_reading, f, by_reading);
	/* its flow rate is unknown until its hits are read */
	put_on_step(l, f, OCTO_FLOW_RATE_STEPS - 1);
	l->stats.rules++;
	l->stats.installed++;
	if (l->stats.rules >= l->limit)
		l->full = true;
	return true;
}

/*
 * Read the hits of a rule and update its flow rate. Returns false if its hits are not counted:
 * then its rate stays what it was when the rule was installed.
 */
static bool
read_hits(struct octo_learn *l, struct octo_learned *f, uint32_t tick)
{
	uint64_t hits;

	TAILQ_REMOVE(&l->by_reading, f, by_reading);
	TAILQ_INSERT_TAIL(&l->by_reading, f, by_reading);
	if (!l->ops->hits(l->ctx, f->rule, &hits)) {
		/* keep the flow rate at installation */
		f->sum = octo_flow_rate_of(&l->flow_rate, f->sum, f->read - f->first);
		f->first = tick - OCTO_FLOW_RATE_FOREVER;
		f->read = tick;
		take_off_step(l, f);
		put_on_step(l, f, octo_flow_rate_step(f->sum));
		return false;
	}
	if (hits != f->hits)
		f->hit = tick;
	f->sum = octo_flow_rate_decay(&l->flow_rate, f->sum, tick - f->read);
	/* a smaller value means that the counter was reset */
	f->sum = octo_flow_rate_add(f->sum, hits >= f->hits ? hits - f->hits : hits);
	f->hits = hits;
	f->read = tick;
	take_off_step(l, f);
	put_on_step(l, f,
		    octo_flow_rate_step(octo_flow_rate_of(&l->flow_rate, f->sum, tick - f->first)));
	return true;
}

/* The rule with the lowest flow rate, after reading hits again where they are old. */
static struct octo_learned *
find_victim(struct octo_learn *l, uint32_t tick)
{
	for (unsigned int i = 0; i < VICTIM_TRIES; i++) {
		struct octo_learned *f = least(l);
		uint8_t step;

		if (f == NULL || f->read == tick)
			return f;
		step = f->step;
		if (!read_hits(l, f, tick) || f->step <= step)
			return f;
	}
	return least(l);
}

static void
renew_budgets(struct octo_learn *l, uint32_t tick)
{
	if (l->tick == tick)
		return;
	l->tick = tick;
	l->swaps = RTE_MAX(l->stats.rules / SWAPS_PART, (uint32_t)SWAPS_MIN);
	l->trials = RTE_MAX(l->stats.rules / TRIALS_PART, 1u);
}

/* Returns whether a rule may be installed without evicting another. */
static bool
has_room(struct octo_learn *l, uint64_t now)
{
	const uint32_t max = l->conf.max_rules;

	if (l->limit < max && now >= l->retry) {
		l->limit = max;
		return l->stats.rules < max;
	}
	l->full = l->full && l->stats.rules + l->limit / ROOM_PART >= l->limit;
	return l->stats.rules < l->limit;
}

static bool
is_clearly_more(uint64_t a, uint64_t b)
{
	return a * CLEARLY_DEN > b * CLEARLY_NUM;
}

/* Returns whether the flow gets a rule; may evict another rule for it. */
static bool
deserves(struct octo_learn *l, uint32_t w, bool room, uint32_t tick)
{
	struct octo_learned *f;

	/* only its first sample is known */
	if (w == 0)
		return false;
	f = least(l);
	if (room)
		return f == NULL || octo_flow_rate_step(w) >= f->step;
	if (f == NULL || l->swaps == 0 || octo_flow_rate_step(w) < f->step)
		return false;
	l->swaps--;
	f = find_victim(l, tick);
	if (!is_clearly_more(w, octo_flow_rate_of(&l->flow_rate, f->sum, tick - f->first)))
		return false;
	evict(l, f, tick);
	return true;
}

/* Candidates compete for rules while the table is full, or nearly. */
static void
compete(struct octo_learn *l, const struct octo_tuple *tuple, uint16_t queue, uint32_t packets,
	bool room, uint64_t now)
{
	const uint32_t tick = octo_flow_rate_tick(now);
	struct octo_learned what;
	struct candidate *c;

	if (!have_candidates(l))
		return;
	c = place_of(l, tuple, tick);
	/* packets before the first sample were not observed */
	if (c->seen)
		c->sum = octo_flow_rate_add(
			octo_flow_rate_decay(&l->flow_rate, c->sum, tick - c->tick), packets);
	c->seen = true;
	c->tick = tick;
	what = (struct octo_learned){.sum = c->sum, .first = c->first, .read = tick, .hit = tick};
	if (!deserves(l, octo_flow_rate_of(&l->flow_rate, c->sum, tick - c->first), room, tick))
		return;
	if (install(l, tuple, queue, &what, now))
		drop_candidate(l, tuple);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_stray)
void
octo_learn_stray(struct octo_learn *l, const struct octo_tuple *tuple, uint16_t queue,
		 uint32_t packets, uint64_t now)
{
	const uint32_t tick = octo_flow_rate_tick(now);
	bool room;

	if (l->broken && now < l->retry)
		return;
	l->broken = false;
	renew_budgets(l, tick);
	room = has_room(l, now);
	if (room && !l->full) {
		const struct octo_learned what = {.first = tick, .read = tick, .hit = tick};

		if (install(l, tuple, queue, &what, now)) {
			l->pause = 0;
			return;
		}
	}
	compete(l, tuple, queue, packets, room, now);
}

/* The rule has no hit counter: remove it on trial, as only strays show its flow's rate. */
static void
try_without(struct octo_learn *l, struct octo_learned *f, uint32_t tick)
{
	if (!l->full || l->trials == 0)
		return;
	l->trials--;
	f->sum /= 2;
	evict(l, f, tick);
}

static bool
is_idle(const struct octo_learn *l, const struct octo_learned *f, uint32_t tick)
{
	const uint64_t ms = (tick - f->hit) * (uint64_t)OCTO_FLOW_RATE_TICK_MS;

	return l->conf.idle_ms != 0 && ms >= l->conf.idle_ms;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_work)
bool
octo_learn_work(struct octo_learn *l, uint64_t now)
{
	struct octo_learned *f = TAILQ_FIRST(&l->by_reading);
	const uint32_t tick = octo_flow_rate_tick(now);
	struct octo_tuple unused;
	bool counted;

	renew_budgets(l, tick);
	if (f == NULL)
		return false;
	if (l->stats.rules > l->conf.max_rules) {
		evict(l, least(l), tick);
		return true;
	}
	if (tick - f->read < READ_EVERY)
		return false;
	counted = read_hits(l, f, tick);
	if (f->given_up || is_idle(l, f, tick)) {
		l->ops->remove(l->ctx, f->rule, &unused);
		octo_learn_forget(l, f);
		l->stats.aged++;
	} else if (!counted) {
		try_without(l, f, tick);
	}
	return true;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_make_room)
bool
octo_learn_make_room(struct octo_learn *l, uint64_t now)
{
	struct octo_learned *f = find_victim(l, octo_flow_rate_tick(now));

	if (f == NULL)
		return false;
	evict(l, f, octo_flow_rate_tick(now));
	/* the room is for the caller's rule */
	l->limit = l->stats.rules;
	l->full = true;
	l->retry = now + PAUSE_MS;
	return true;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_least)
void *
octo_learn_least(const struct octo_learn *l)
{
	const struct octo_learned *f = least(l);

	return f != NULL ? f->rule : NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_replace)
void
octo_learn_replace(struct octo_learned *f, void *rule)
{
	f->rule = rule;
	f->left = true;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_give_up)
void
octo_learn_give_up(struct octo_learned *f)
{
	f->given_up = f->left;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_refused)
void
octo_learn_refused(struct octo_learn *l, struct octo_learned *flow, uint64_t now)
{
	octo_learn_forget(l, flow);
	/* one of many that were on their way when the table became full */
	if (l->full && now < l->retry) {
		l->stats.refused++;
		l->limit = l->stats.rules;
		return;
	}
	no_room(l, now);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_forget_all)
void
octo_learn_forget_all(struct octo_learn *l)
{
	struct octo_learned *f;

	while ((f = TAILQ_FIRST(&l->by_reading)) != NULL)
		octo_learn_forget(l, f);
	free(l->candidates);
	l->candidates = NULL;
	l->stats.candidates = 0;
	octo_learn_configure(l, &l->conf);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_configure)
void
octo_learn_configure(struct octo_learn *l, const struct octo_learn_conf *conf)
{
	l->conf = *conf;
	l->limit = conf->max_rules;
	l->full = l->stats.rules >= l->limit;
	l->broken = false;
	l->pause = 0;
	l->retry = 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_stats)
void
octo_learn_stats(const struct octo_learn *l, struct octo_learn_stats *stats)
{
	*stats = l->stats;
	stats->bytes = l->stats.rules * sizeof(struct octo_learned) +
		       (l->candidates == NULL ? 0 : SETS * WAYS * sizeof(*l->candidates));
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_create)
struct octo_learn *
octo_learn_create(const struct octo_learn_conf *conf, const struct octo_learn_ops *ops, void *ctx)
{
	struct octo_learn *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->ops = ops;
	l->ctx = ctx;
	TAILQ_INIT(&l->by_reading);
	for (unsigned int i = 0; i < OCTO_FLOW_RATE_STEPS; i++)
		TAILQ_INIT(&l->by_rate[i]);
	octo_flow_rate_init(&l->flow_rate);
	octo_learn_configure(l, conf);
	return l;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_learn_free)
void
octo_learn_free(struct octo_learn *l)
{
	if (l == NULL)
		return;
	octo_learn_forget_all(l);
	free(l);
}
