/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_test.h"

#include "octo_gate.h"

#define GRACE 100
#define TIMEOUT 1000
#define DEPTH 64
#define NEW RTE_BIT32(1) /* leg that the flows come by once they are flipped */
#define OLD RTE_BIT32(0) /* leg that they came by before */
#define LIVE (NEW | OLD)
#define T0 UINT64_C(0xfffffffffffff000) /* the clock wraps in every test that takes 4096 */

static struct octo_gate
fresh(void)
{
	return (struct octo_gate){.depth = DEPTH, .grace = GRACE, .timeout = TIMEOUT};
}

static uint32_t
word_of(const struct octo_gate *g)
{
	return rte_atomic_load_explicit(&g->word, rte_memory_order_acquire);
}

/* A gate that holds these legs, as its consumer has seen at `now`. */
static struct octo_gate
held(uint32_t legs, uint64_t now)
{
	struct octo_gate g = fresh();

	octo_gate_arm(&g, legs);
	octo_gate_enter(&g, word_of(&g), now);
	return g;
}

static bool
release(struct octo_gate *g, uint64_t until, uint64_t now)
{
	return octo_gate_release(g, word_of(g), until, now);
}

static void
poll_empty(struct octo_gate *g, uint8_t leg, uint64_t now)
{
	octo_gate_polled(g, leg, now, true, 0);
}

/* Times are odd, as 0 stands for none. */
static void
assert_time(uint64_t time, uint64_t expected)
{
	assert_int_equal(time, expected | 1);
}

static void
test_nothing_is_known_at_first(void **state)
{
	const struct octo_gate g = fresh();

	(void)state;
	assert_int_equal(octo_gate_as_of(&g, OLD, T0), 0);
	assert_time(octo_gate_as_of(&g, 0, T0), T0);
}

static void
test_an_empty_ring_is_drained(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	poll_empty(&g, 0, T0);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 10), T0);
	assert_int_equal(octo_gate_as_of(&g, LIVE, T0 + 10), 0);
	poll_empty(&g, 1, T0 + 4);
	assert_time(octo_gate_as_of(&g, LIVE, T0 + 10), T0);
	poll_empty(&g, 0, T0 + 8);
	assert_time(octo_gate_as_of(&g, LIVE, T0 + 10), T0 + 4);
}

/* An empty poll makes the NIC deliver what it has: only a later one tells that it had nothing. */
static void
test_an_empty_ring_settles(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	g.settle = 20;
	poll_empty(&g, 0, T0);
	poll_empty(&g, 0, T0 + 18);
	assert_int_equal(octo_gate_as_of(&g, OLD, T0 + 18), 0);
	octo_gate_polled(&g, 0, T0 + 20, true, 4);
	/* it had something */
	assert_int_equal(octo_gate_as_of(&g, OLD, T0 + 20), 0);
	poll_empty(&g, 0, T0 + 24);
	poll_empty(&g, 0, T0 + 42);
	assert_int_equal(octo_gate_as_of(&g, OLD, T0 + 42), 0);
	poll_empty(&g, 0, T0 + 44);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 44), T0 + 24);
	/* the last of them was the first of the next wait */
	poll_empty(&g, 0, T0 + 63);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 63), T0 + 24);
	poll_empty(&g, 0, T0 + 64);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 64), T0 + 44);
}

/* A few packets at a time, so often that it is never empty for long enough. */
static void
test_a_ring_that_does_not_settle_is_drained_by_its_depth(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	g.settle = 20;
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_int_equal(octo_gate_as_of(&g, OLD, T0 + 10 * i), 0);
		octo_gate_polled(&g, 0, T0 + 10 * i, true, 1);
		poll_empty(&g, 0, T0 + 10 * i + 4);
	}
	assert_time(octo_gate_as_of(&g, OLD, T0 + 10 * DEPTH), T0);
}

/* A vector PMD has nothing for who asks for three. */
static void
test_a_ring_that_seems_empty(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	octo_gate_polled(&g, 0, T0, false, 0);
	assert_int_equal(octo_gate_as_of(&g, OLD, T0), 0);
}

static void
test_packets_say_nothing_of_the_ring(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	octo_gate_polled(&g, 0, T0, true, 8);
	assert_int_equal(octo_gate_as_of(&g, OLD, T0), 0);
}

static void
test_a_busy_ring_is_drained_by_its_depth(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	for (unsigned int i = 0; i < DEPTH / 16 - 1; i++)
		octo_gate_polled(&g, 0, T0 + 10 * i, true, 16);
	assert_int_equal(octo_gate_as_of(&g, OLD, T0 + 1000), 0);
	octo_gate_polled(&g, 0, T0 + 100, true, 16);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 1000), T0);
	/* from the next mark on, and no earlier */
	for (unsigned int i = 0; i < DEPTH / 16; i++)
		octo_gate_polled(&g, 0, T0 + 200 + 10 * i, true, 16);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 1000), T0 + 200);
}

static void
test_an_empty_ring_ends_the_count(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	octo_gate_polled(&g, 0, T0, true, DEPTH - 1);
	poll_empty(&g, 0, T0 + 10);
	octo_gate_polled(&g, 0, T0 + 20, true, 1);
	assert_time(octo_gate_as_of(&g, OLD, T0 + 30), T0 + 10);
}

static void
test_held_until_the_flips_and_the_grace_are_over(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	assert_true(octo_gate_is_held(&g));
	assert_false(release(&g, T0 + 5000, T0 + 5000));
	octo_gate_flipped(&g, T0 + 6000);
	assert_false(release(&g, 0, T0 + 9000));
	assert_false(release(&g, T0 + 6000 + GRACE - 1, T0 + 9000));
	assert_true(release(&g, (T0 + 6000 + GRACE) | 1, T0 + 9000));
	assert_false(octo_gate_is_held(&g));
	assert_int_equal(g.counts.held_cycles, 9000);
	assert_int_equal(g.counts.timeouts, 0);
}

/* The clock of the CPU that flipped is ahead: when it was seen counts. */
static void
test_a_clock_that_is_ahead(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	octo_gate_flipped(&g, T0 + 1000000);
	assert_false(release(&g, T0 + 10, T0 + 10));
	assert_false(release(&g, T0 + 200 + GRACE - 2, T0 + 200));
	assert_true(release(&g, T0 + 202 + GRACE, T0 + 400));
}

/* Its thread may have had no CPU for long: that it began earlier says nothing of the flips. */
static void
test_flips_that_end_within_a_burst(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	octo_gate_flipped(&g, T0 + 1000);
	assert_false(release(&g, T0, T0));
	assert_false(release(&g, T0 + 1000 + GRACE - 2, T0 + 1000 + GRACE - 2));
	assert_true(release(&g, T0 + 1002 + GRACE, T0 + 1002 + GRACE));
}

/* An arming between the load of the word and the release is for the next burst. */
static void
test_armed_meanwhile(void **state)
{
	struct octo_gate g = held(NEW, T0);
	uint32_t word = word_of(&g);

	(void)state;
	octo_gate_flipped(&g, T0);
	octo_gate_arm(&g, NEW);
	octo_gate_flipped(&g, T0 + 500);
	assert_false(octo_gate_release(&g, word, T0 + 1000, T0 + 1000));
	assert_true(octo_gate_is_held(&g));
	assert_true(release(&g, T0 + 1000, T0 + 1000));
}

static void
test_more_flips_while_it_is_held(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	octo_gate_flipped(&g, T0);
	octo_gate_arm(&g, NEW);
	assert_false(release(&g, T0 + 1000, T0 + 1000));
	octo_gate_flipped(&g, T0 + 2000);
	assert_false(release(&g, T0 + 2000, T0 + 2000));
	assert_true(release(&g, T0 + 2002 + GRACE, T0 + 3000));
}

static void
test_a_source_stays_one(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	octo_gate_set_source(&g, true);
	octo_gate_flipped(&g, T0);
	assert_true(release(&g, T0 + 1000, T0 + 1000));
	assert_int_equal(word_of(&g) & OCTO_GATE_OPEN, OCTO_GATE_SOURCE);
	octo_gate_set_source(&g, false);
	assert_int_equal(word_of(&g) & OCTO_GATE_OPEN, 0);
}

static void
note(struct octo_gate *g, uint64_t now, uint32_t packets)
{
	uint32_t by_leg[OCTO_GATE_MAX_LEGS] = {[1] = packets};

	octo_gate_note(g, now, by_leg);
}

/* What was there when the sources were drained may be taken, however long the flips take. */
static void
test_what_came_before_may_be_taken(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	assert_false(octo_gate_may_merge(&g, T0 + 5000));
	note(&g, T0 + 10, 20);
	assert_false(octo_gate_may_merge(&g, 0));
	assert_false(octo_gate_may_merge(&g, T0 + 10 + GRACE - 1));
	assert_true(octo_gate_may_merge(&g, (T0 + 10 + GRACE) | 1));
	octo_gate_merged(&g, 1, T0 + 300, 16, 16);
	assert_int_equal(g.leg[1].allowed, 4);
	assert_true(octo_gate_may_merge(&g, T0 + 300));
	octo_gate_merged(&g, 1, T0 + 310, 4, 4);
	assert_false(octo_gate_may_merge(&g, T0 + 5000));
	assert_int_equal(g.counts.waits, 1);
	/* stamps are odd */
	assert_int_equal(g.counts.waited_cycles, 310 - 11);
}

/* Who waits is let go with all others. */
static void
test_the_wait_ends_with_the_fence(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	note(&g, T0 + 11, 20);
	octo_gate_flipped(&g, T0 + 20);
	assert_false(release(&g, T0 + 20, T0 + 30));
	assert_int_equal(g.counts.waits, 0);
	assert_true(release(&g, T0 + 1000, T0 + 1010));
	assert_int_equal(g.counts.waits, 1);
	assert_int_equal(g.counts.waited_cycles, 1010 - 11);
}

static void
test_an_empty_ring_allows_nothing(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	note(&g, T0, 0);
	assert_false(octo_gate_may_merge(&g, T0 + 5000));
}

/* A vector PMD has nothing for who may take three: they are noted again with the next. */
static void
test_too_few_to_be_taken(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	note(&g, T0, 11);
	octo_gate_merged(&g, 1, T0 + 200, 4, 0); /* there was no room for more */
	assert_int_equal(g.leg[1].allowed, 11);
	octo_gate_merged(&g, 1, T0 + 201, 11, 8);
	octo_gate_merged(&g, 1, T0 + 202, 3, 0);
	assert_false(octo_gate_may_merge(&g, T0 + 5000));
}

/* What one fence allowed is nothing to the next, however the first ended. */
static void
test_allowances_end_with_their_fence(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	note(&g, T0, 20);
	octo_gate_forget(&g, NEW);
	assert_false(octo_gate_is_held(&g));
	octo_gate_arm(&g, NEW);
	octo_gate_enter(&g, word_of(&g), T0 + 500);
	assert_false(octo_gate_may_merge(&g, T0 + 5000));
	assert_int_equal(g.leg[1].allowed, 0);
}

static void
test_allowances_survive_another_arming(void **state)
{
	struct octo_gate g = held(NEW, T0);

	(void)state;
	note(&g, T0, 20);
	octo_gate_arm(&g, NEW);
	octo_gate_enter(&g, word_of(&g), T0 + 500);
	assert_true(octo_gate_may_merge(&g, T0 + 5000));
}

/* What a burst delivers is with the application, which may still be at it. */
static void
test_drained_is_told_in_the_next_burst(void **state)
{
	struct octo_gate g = fresh();

	(void)state;
	octo_gate_set_source(&g, true);
	octo_gate_enter(&g, word_of(&g), T0);
	poll_empty(&g, 0, T0);
	assert_int_equal(octo_gate_drained(&g, OLD, T0 + 9), 0);
	octo_gate_enter(&g, word_of(&g), T0 + 10);
	assert_time(octo_gate_drained(&g, OLD, T0 + 10), T0);
	assert_int_equal(octo_gate_drained(&g, LIVE, T0 + 10), 0);
	poll_empty(&g, 1, T0 + 10);
	assert_int_equal(octo_gate_drained(&g, LIVE, T0 + 19), 0);
	octo_gate_enter(&g, word_of(&g), T0 + 20);
	assert_time(octo_gate_drained(&g, LIVE, T0 + 20), T0);
	assert_time(octo_gate_drained(&g, NEW, T0 + 20), T0 + 10);
	/* who has no leg that matters is drained */
	assert_time(octo_gate_drained(&g, 0, T0 + 20), T0 + 20);
}

static void
test_a_source_that_does_not_poll(void **state)
{
	struct octo_gate g = held(LIVE, T0);

	(void)state;
	assert_false(octo_gate_is_vain(&g, 3, 7, false, T0));
	assert_false(octo_gate_is_vain(&g, 3, 7, false, T0 + TIMEOUT));
	assert_true(octo_gate_is_vain(&g, 3, 7, false, T0 + TIMEOUT + 2));
	assert_true(octo_gate_time_out(&g, word_of(&g), T0 + TIMEOUT + 2));
	assert_false(octo_gate_is_held(&g));
	assert_int_equal(g.counts.timeouts, 1);
	assert_int_equal(g.counts.held_cycles, TIMEOUT + 2);
}

static void
test_a_source_that_polls_is_waited_for(void **state)
{
	struct octo_gate g = held(LIVE, T0);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		assert_false(octo_gate_is_vain(&g, 3, i, true, T0 + i * TIMEOUT));
	/* each source has its time */
	assert_false(octo_gate_is_vain(&g, 4, 9, false, T0 + 10 * TIMEOUT + 2));
	assert_false(octo_gate_is_vain(&g, 4, 9, true, T0 + 11 * TIMEOUT));
	assert_true(octo_gate_is_vain(&g, 4, 9, false, T0 + 11 * TIMEOUT + 4));
}

static void
test_a_full_ring_waits_for_nobody_who_was_never_there(void **state)
{
	struct octo_gate g = held(LIVE, T0);

	(void)state;
	assert_false(octo_gate_is_vain(&g, 3, 7, true, T0));
	assert_true(octo_gate_is_vain(&g, 3, 7, true, T0 + 1));
}

/* A source whose clock is another's polls for ever. */
static void
test_stuck(void **state)
{
	const uint64_t far = GRACE + OCTO_GATE_STUCK * TIMEOUT;
	struct octo_gate g = held(LIVE, T0);

	(void)state;
	assert_false(octo_gate_is_vain(&g, 3, 0, false, T0 + 2 * far)); /* the flips take long */
	octo_gate_flipped(&g, T0 + 2 * far);
	assert_false(release(&g, T0 - far, T0 + 2 * far + 2));
	assert_false(octo_gate_is_vain(&g, 3, 1, false, T0 + 3 * far));
	assert_true(octo_gate_is_vain(&g, 3, 2, false, T0 + 3 * far + 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_at_first),
		cmocka_unit_test(test_an_empty_ring_is_drained),
		cmocka_unit_test(test_an_empty_ring_settles),
		cmocka_unit_test(test_a_ring_that_does_not_settle_is_drained_by_its_depth),
		cmocka_unit_test(test_a_ring_that_seems_empty),
		cmocka_unit_test(test_packets_say_nothing_of_the_ring),
		cmocka_unit_test(test_a_busy_ring_is_drained_by_its_depth),
		cmocka_unit_test(test_an_empty_ring_ends_the_count),
		cmocka_unit_test(test_held_until_the_flips_and_the_grace_are_over),
		cmocka_unit_test(test_a_clock_that_is_ahead),
		cmocka_unit_test(test_flips_that_end_within_a_burst),
		cmocka_unit_test(test_armed_meanwhile),
		cmocka_unit_test(test_more_flips_while_it_is_held),
		cmocka_unit_test(test_a_source_stays_one),
		cmocka_unit_test(test_what_came_before_may_be_taken),
		cmocka_unit_test(test_the_wait_ends_with_the_fence),
		cmocka_unit_test(test_an_empty_ring_allows_nothing),
		cmocka_unit_test(test_too_few_to_be_taken),
		cmocka_unit_test(test_allowances_end_with_their_fence),
		cmocka_unit_test(test_allowances_survive_another_arming),
		cmocka_unit_test(test_drained_is_told_in_the_next_burst),
		cmocka_unit_test(test_a_source_that_does_not_poll),
		cmocka_unit_test(test_a_source_that_polls_is_waited_for),
		cmocka_unit_test(test_a_full_ring_waits_for_nobody_who_was_never_there),
		cmocka_unit_test(test_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
