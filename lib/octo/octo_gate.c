/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>

#include "octo_elapsed.h"
#include "octo_gate.h"

/* A time stamp that is never 0, as 0 stands for none. */
static uint64_t
stamp(uint64_t now)
{
	return now | 1;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_arm)
void
octo_gate_arm(struct octo_gate *g, uint32_t legs)
{
	uint32_t old = rte_atomic_load_explicit(&g->word, rte_memory_order_relaxed);
	uint32_t new;

	/* stored before the word: pairs with the consumer's acquire of the word */
	rte_atomic_store_explicit(&g->flipped, OCTO_GATE_UNDER_WAY, rte_memory_order_relaxed);
	do {
		new = old + OCTO_GATE_TURN + ((old & OCTO_GATE_HELD) ? 0 : OCTO_GATE_OPENING);
		new |= (legs & OCTO_GATE_HELD);
	} while (!rte_atomic_compare_exchange_weak_explicit(
		&g->word, &old, new, rte_memory_order_release, rte_memory_order_relaxed));
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_flipped)
void
octo_gate_flipped(struct octo_gate *g, uint64_t now)
{
	/* no pair: the rules are in the NIC, and only the time matters */
	rte_atomic_store_explicit(&g->flipped, stamp(now), rte_memory_order_relaxed);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_set_source)
void
octo_gate_set_source(struct octo_gate *g, bool is_source)
{
	if (is_source)
		rte_atomic_fetch_or_explicit(&g->word, OCTO_GATE_SOURCE, rte_memory_order_release);
	else
		rte_atomic_fetch_and_explicit(&g->word, ~OCTO_GATE_SOURCE,
					      rte_memory_order_release);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_forget)
void
octo_gate_forget(struct octo_gate *g, uint32_t legs)
{
	rte_atomic_fetch_and_explicit(&g->word, ~(legs & OCTO_GATE_HELD), rte_memory_order_release);
}

/* State of an earlier opening is reset. */
static void
open_gate(struct octo_gate *g, uint32_t opening, uint64_t now)
{
	g->opening = opening;
	g->opened = now;
	g->noted = 0;
	g->silent = 0;
	g->has_polled = false;
	for (unsigned int i = 0; i < OCTO_GATE_MAX_LEGS; i++)
		g->leg[i].allowed = 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_enter)
void
octo_gate_enter(struct octo_gate *g, uint32_t word, uint64_t now)
{
	/* pairs with the acquire in octo_gate_drained(): the packets were processed */
	for (unsigned int i = 0; i < OCTO_GATE_MAX_LEGS; i++)
		rte_atomic_store_explicit(&g->drained[i], g->leg[i].as_of,
					  rte_memory_order_release);
	if ((word & OCTO_GATE_HELD) && (word & OCTO_GATE_OPENINGS) != g->opening)
		open_gate(g, word & OCTO_GATE_OPENINGS, now);
}

/* What the leg had at an earlier empty poll has come by now, if that was long enough ago. */
static void
polled_empty(const struct octo_gate *g, struct octo_gate_leg *l, uint64_t began)
{
	if (l->empty == 0 || g->settle == 0)
		l->empty = stamp(began);
	/* until then packets are counted on: some may come too often for it to settle */
	if (octo_gate_before(stamp(began), l->empty + g->settle))
		return;
	l->mark = 0;
	l->as_of = l->empty;
	l->empty = stamp(began);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_polled)
void
octo_gate_polled(struct octo_gate *g, uint8_t leg, uint64_t began, bool sure, uint16_t got)
{
	struct octo_gate_leg *l = &g->leg[leg];

	if (got == 0) {
		if (sure)
			polled_empty(g, l, began);
		return;
	}
	l->empty = 0;
	if (l->mark == 0) {
		l->mark = stamp(began);
		l->taken = 0;
	}
	l->taken += got;
	/* the ring is never empty: `depth` packets later all that it had are out */
	if (l->taken >= g->depth) {
		l->as_of = l->mark;
		l->mark = 0;
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_as_of)
uint64_t
octo_gate_as_of(const struct octo_gate *g, uint32_t legs, uint64_t now)
{
	uint64_t as_of = stamp(now);

	for (unsigned int i = 0; i < OCTO_GATE_MAX_LEGS; i++)
		if (legs & RTE_BIT32(i))
			as_of = octo_gate_earlier(as_of, g->leg[i].as_of);
	return as_of;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_drained)
uint64_t
octo_gate_drained(const struct octo_gate *g, uint32_t legs, uint64_t now)
{
	uint64_t until = stamp(now);

	for (unsigned int i = 0; i < OCTO_GATE_MAX_LEGS; i++)
		if (legs & RTE_BIT32(i))
			until = octo_gate_earlier(
				until,
				rte_atomic_load_explicit(&g->drained[i], rte_memory_order_acquire));
	return until;
}

/* The packets whose number octo_gate_note() has noted need not wait any longer. */
static void
end_wait(struct octo_gate *g, uint64_t now)
{
	if (g->noted == 0)
		return;
	g->counts.waits++;
	g->counts.waited_cycles += octo_elapsed(g->noted, now);
	g->noted = 0;
}

/* Stop holding. Fails if the gate was armed since the word was loaded: try in the next burst. */
static bool
let_go(struct octo_gate *g, uint32_t word, uint64_t now)
{
	/* pairs with octo_gate_is_held() */
	if (!rte_atomic_compare_exchange_strong_explicit(&g->word, &word, word & ~OCTO_GATE_HELD,
							 rte_memory_order_release,
							 rte_memory_order_relaxed))
		return false;
	g->counts.held_cycles += octo_elapsed(g->opened, now);
	end_wait(g, now);
	return true;
}

/*
 * TSC at which the flips were over, by the consumer's clock. The clock of the control side's
 * CPU may be ahead: then the flips were over at the latest when the consumer saw the stamp. If
 * the thread had no CPU since its burst began, that may be long after `now`, so the start of
 * the next burst is used.
 */
static uint64_t
flip_time(struct octo_gate *g, uint64_t flipped, uint64_t now)
{
	if (g->flip_stored != flipped) {
		g->flip_stored = flipped;
		g->flip_seen = octo_gate_before(now, flipped) ? 0 : flipped;
	} else if (g->flip_seen == 0) {
		g->flip_seen = octo_gate_earlier(flipped, stamp(now));
	}
	return g->flip_seen;
}

static bool
is_past(const struct octo_gate *g, uint64_t until, uint64_t since)
{
	return until != 0 && since != 0 && !octo_gate_before(until, since + g->grace);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_release)
bool
octo_gate_release(struct octo_gate *g, uint32_t word, uint64_t until, uint64_t now)
{
	const uint64_t flipped = rte_atomic_load_explicit(&g->flipped, rte_memory_order_relaxed);

	if (flipped == OCTO_GATE_UNDER_WAY || !is_past(g, until, flip_time(g, flipped, now)))
		return false;
	return let_go(g, word, now);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_may_merge)
bool
octo_gate_may_merge(const struct octo_gate *g, uint64_t until)
{
	return is_past(g, until, g->noted);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_note)
void
octo_gate_note(struct octo_gate *g, uint64_t now, const uint32_t *packets)
{
	g->noted = 0;
	for (unsigned int i = 0; i < OCTO_GATE_MAX_LEGS; i++) {
		g->leg[i].allowed = packets[i];
		if (packets[i] != 0)
			g->noted = stamp(now);
	}
}

static bool
has_allowance(const struct octo_gate *g)
{
	for (unsigned int i = 0; i < OCTO_GATE_MAX_LEGS; i++)
		if (g->leg[i].allowed != 0)
			return true;
	return false;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_merged)
void
octo_gate_merged(struct octo_gate *g, uint8_t leg, uint64_t began, uint16_t asked, uint16_t got)
{
	struct octo_gate_leg *l = &g->leg[leg];

	/* too few were asked of a vector PMD: the packets come with those that are noted next */
	if (got == 0 && (asked >= OCTO_GATE_SURE || asked == l->allowed))
		l->allowed = 0;
	else
		l->allowed -= got;
	octo_gate_polled(g, leg, began, false, got);
	if (!has_allowance(g))
		end_wait(g, began);
}

/* Have the flips been over for long, by the consumer's clock? */
static bool
is_stuck(const struct octo_gate *g, uint64_t now)
{
	const uint64_t flipped = rte_atomic_load_explicit(&g->flipped, rte_memory_order_relaxed);

	return flipped == g->flip_stored && g->flip_seen != 0 &&
	       octo_gate_before(g->flip_seen + g->grace + OCTO_GATE_STUCK * g->timeout, now);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_is_vain)
bool
octo_gate_is_vain(struct octo_gate *g, uint16_t source, uint32_t epoch, bool crowded, uint64_t now)
{
	if (is_stuck(g, now))
		return true;
	if (g->silent == 0 || g->waits_for != source || g->epoch != epoch) {
		g->has_polled |= g->silent != 0 && g->waits_for == source;
		g->silent = stamp(now);
		g->waits_for = source;
		g->epoch = epoch;
		return false;
	}
	if (crowded && !g->has_polled)
		return true;
	return octo_gate_before(g->silent + g->timeout, now);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_gate_time_out)
bool
octo_gate_time_out(struct octo_gate *g, uint32_t word, uint64_t now)
{
	if (!let_go(g, word, now))
		return false;
	g->counts.timeouts++;
	return true;
}
