/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "bench_handover.h"

/* Nothing came by the right PF for so long: not worth to wait for. */
#define LATE_S 5

/* One change of so many comes in the midst of the one before. */
#define HASTY 8

int
bench_handover_open(struct bench_handover *h, struct bench_stream *stream, uint64_t count)
{
	memset(h, 0, sizeof(*h));
	h->stream = stream;
	h->sends = bench_lane_owner(&stream->out) != BENCH_ANYBODY;
	h->lane = h->sends ? &stream->out : &stream->lane[0];
	h->wanted = count;
	/* flows send in turn, so that each sent twice */
	h->quiet = RTE_MAX(2 * stream->flows->nb, (uint32_t)BENCH_STREAM_WINDOW);
	h->interval = h->quiet;
	h->us = malloc(count * sizeof(h->us[0]));
	if (h->us == NULL) {
		fprintf(stderr, "%s: no memory for %" PRIu64 " times\n", app_name, count);
		return -ENOMEM;
	}
	return 0;
}

void
bench_handover_close(struct bench_handover *h)
{
	free(h->us);
	h->us = NULL;
}

static void
begin_change(struct bench_handover *h, uint64_t changed)
{
	h->change = changed;
	if (h->clean)
		bench_snapshot_end(&h->snapshot, &h->settled, changed);
	h->state = BENCH_CHANGED;
	h->last_stray = 0;
	h->clear = 0;
}

static void
ask(struct bench_handover *h)
{
	const uint64_t done = rte_atomic_load_explicit(&h->done, rte_memory_order_relaxed);

	h->clean = h->state == BENCH_SETTLED;
	if (done == h->wanted || bench_is_stopped()) {
		h->state = BENCH_DONE;
		rte_atomic_store_explicit(&h->over, true, rte_memory_order_relaxed);
		return;
	}
	h->state = BENCH_ASKED;
	rte_atomic_store_explicit(&h->done, done + 1, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&h->asked, true, rte_memory_order_relaxed);
}

static bool
is_hasty(struct bench_handover *h)
{
	const uint64_t done = rte_atomic_load_explicit(&h->done, rte_memory_order_relaxed);

	return done < h->wanted && bench_random_of(h->random++) % HASTY == 0;
}

static void
settle(struct bench_handover *h, uint64_t tsc)
{
	const double hz = (double)rte_get_tsc_hz();

	if (h->clean) {
		bench_snapshot_end(&h->snapshot, &h->changing, tsc);
		h->nb_settled++;
	}
	if (h->last_stray > h->change)
		h->max_s = RTE_MAX(h->max_s, (double)(h->last_stray - h->change) / hz);
	h->snapshot = (struct bench_snapshot){.since = tsc};
	h->interval = h->quiet + bench_random_of(h->random++) % h->quiet;
	h->state = BENCH_SETTLED;
}

static void
first_came(struct bench_handover *h, uint64_t tsc)
{
	/* after a change in haste, it may be one that is left of the time before */
	if (h->clean)
		h->us[h->nb_samples++] = (double)(tsc - h->change) * 1e6 / (double)rte_get_tsc_hz();
	h->state = BENCH_SETTLING;
	if (is_hasty(h))
		ask(h);
}

/* How many of them did not come, or go, by the socket that they should. */
static uint16_t
count_strays(const struct bench_burst *b, uint8_t owner)
{
	uint16_t n = 0;

	for (uint16_t i = 0; i < b->nb; i++)
		n += b->record[i].label.pf % APP_NB_WORKERS != owner;
	return n;
}

/* After a change: of the packets that came since. */
static void
follow(struct bench_handover *h, const struct bench_burst *b, uint16_t strays)
{
	if (strays > 0)
		h->last_stray = b->tsc;
	if (h->state == BENCH_CHANGED && strays < b->nb)
		first_came(h, b->tsc);
	else if (h->state == BENCH_SETTLING)
		h->clear = strays > 0 ? 0 : h->clear + b->nb;
	if (h->state == BENCH_SETTLING && h->clear >= h->quiet) {
		settle(h, b->tsc);
	} else if (b->tsc - h->change > LATE_S * rte_get_tsc_hz() && h->state != BENCH_ASKED) {
		h->late++;
		h->clean = false;
		settle(h, b->tsc);
	}
}

void
bench_handover_seen(void *arg, const struct bench_burst *b)
{
	struct bench_handover *h = arg;
	/* pairs with the release in bench_handover_turn() */
	const uint64_t changed = rte_atomic_load_explicit(&h->changed, rte_memory_order_acquire);
	const uint8_t owner = changed & 1;
	const bool is_old = b->tsc <= changed || (!h->sends && b->worker != owner);
	const uint16_t strays = count_strays(b, is_old ? !owner : owner);

	if (changed != h->change)
		begin_change(h, changed);
	h->snapshot.packets += b->nb;
	h->strays += strays;
	if (is_old)
		return;
	if (h->state == BENCH_CHANGED || h->state == BENCH_SETTLING)
		follow(h, b, strays);
	else if (h->state == BENCH_SETTLED && h->snapshot.packets >= h->interval)
		ask(h);
}

/* Who does not send receives. */
static void
give_receiving(struct bench_stream *s, uint8_t sender)
{
	for (unsigned int i = 0; i < s->nb_lanes; i++)
		if (bench_lane_owner(&s->lane[i]) == sender)
			bench_lane_give(&s->lane[i], !sender);
}

void
bench_handover_turn(void *arg, uint8_t worker)
{
	struct bench_handover *h = arg;
	const uint8_t next = !worker;

	if (h->sends && bench_lane_owner(h->lane) == worker)
		give_receiving(h->stream, worker);
	if (h->back != NULL && bench_lane_owner(h->lane) == worker &&
	    bench_lane_owner(h->back) == worker)
		bench_lane_give(h->back, next);
	if (!rte_atomic_load_explicit(&h->asked, rte_memory_order_relaxed) ||
	    bench_lane_owner(h->lane) != worker)
		return;
	rte_atomic_store_explicit(&h->asked, false, rte_memory_order_relaxed);
	/* pairs with the acquire in bench_handover_seen() */
	rte_atomic_store_explicit(&h->changed, (rte_rdtsc() & ~UINT64_C(1)) | next,
				  rte_memory_order_release);
	bench_lane_give(h->lane, next);
}

int
bench_handover_await(struct bench_handover *h)
{
	int ret = 0;

	while (ret == 0 && !rte_atomic_load_explicit(&h->over, rte_memory_order_relaxed)) {
		ret = bench_stream_watch(h->stream);
		bench_progress_part(rte_atomic_load_explicit(&h->done, rte_memory_order_relaxed),
				    h->wanted);
	}
	bench_progress_end();
	return ret;
}

void
bench_handover_result(struct bench_handover *h, struct bench_changes *c)
{
	bench_stream_result(h->stream, c);
	c->count = rte_atomic_load_explicit(&h->done, rte_memory_order_relaxed);
	c->late = h->late;
	c->strays = h->strays;
	c->p50_us = bench_percentile(h->us, h->nb_samples, 50);
	c->p99_us = bench_percentile(h->us, h->nb_samples, 99);
	c->blocked_ms = bench_blocked_ms(&h->changing, &h->settled, h->nb_settled);
	c->rate = bench_span_rate(&h->settled);
	c->seconds = h->max_s;
}
