/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_test.h"

#include "octo_stray.h"

/*
 * A queue as the data path polls it: strays that are due first, beginning with
 * `first`, within their quota; the home leg, which is never empty, gets the rest.
 */
struct sim {
	struct octo_stray s;
	uint32_t legs;                         /* mask of the stray legs */
	uint32_t backlog[OCTO_STRAY_MAX_LEGS]; /* packets that wait on each of them */
	uint32_t now;                          /* bursts so far */
	uint32_t last_poll[OCTO_STRAY_MAX_LEGS];
	uint32_t max_gap[OCTO_STRAY_MAX_LEGS]; /* longest time between two polls */
	uint64_t got[OCTO_STRAY_MAX_LEGS];
	uint64_t strays;
	uint64_t home;
};

static uint16_t
poll_leg(struct sim *sim, uint8_t leg, uint16_t nb, uint16_t room)
{
	const uint16_t got = RTE_MIN(sim->backlog[leg], (uint32_t)room);

	sim->backlog[leg] -= got;
	sim->got[leg] += got;
	sim->max_gap[leg] = RTE_MAX(sim->max_gap[leg], sim->now - sim->last_poll[leg]);
	sim->last_poll[leg] = sim->now;
	octo_stray_polled(&sim->s, leg, nb, got);
	return got;
}

static uint16_t
burst(struct sim *sim, uint16_t nb)
{
	const uint16_t quota = octo_stray_quota(nb);
	uint16_t taken = 0;

	sim->now++;
	if (octo_stray_tick(&sim->s, 1)) {
		for (uint8_t i = 0; i < OCTO_STRAY_MAX_LEGS && taken < quota; i++) {
			uint8_t leg = (sim->s.first + i) % OCTO_STRAY_MAX_LEGS;

			if ((sim->legs & RTE_BIT32(leg)) && octo_stray_leg_due(&sim->s, leg))
				taken += poll_leg(sim, leg, nb, quota - taken);
		}
		octo_stray_plan(&sim->s, sim->legs);
	}
	sim->strays += taken;
	sim->home += nb - taken;
	return taken;
}

static void
fill(struct sim *sim)
{
	for (int leg = 0; leg < OCTO_STRAY_MAX_LEGS; leg++)
		sim->backlog[leg] = UINT32_MAX;
}

static void
test_quota_is_a_quarter_in_vector_steps(void **state)
{
	static const struct {
		uint16_t nb;
		uint16_t quota;
	} cases[] = {
		{0, 0},   {1, 1},    {2, 2},    {3, 3},    {4, 4},     {5, 4},
		{8, 4},   {15, 4},   {16, 4},   {31, 4},   {32, 8},    {33, 8},
		{64, 16}, {100, 24}, {128, 32}, {256, 64}, {512, 128}, {65535, 16380},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(octo_stray_quota(cases[i].nb), cases[i].quota);
}

static void
test_all_legs_are_due_at_first(void **state)
{
	struct octo_stray s = {0};

	(void)state;
	assert_true(octo_stray_tick(&s, 1));
	for (uint8_t leg = 0; leg < OCTO_STRAY_MAX_LEGS; leg++)
		assert_true(octo_stray_leg_due(&s, leg));
}

static void
test_the_rest_of_the_bursts_are_without_strays(void **state)
{
	struct octo_stray s = {0};
	uint32_t rest;

	(void)state;
	for (int i = 0; i < 8; i++) {
		octo_stray_tick(&s, 1);
		for (uint8_t leg = 0; leg < OCTO_STRAY_MAX_LEGS; leg++)
			octo_stray_polled(&s, leg, 32, 0);
		octo_stray_plan(&s, RTE_BIT32(OCTO_STRAY_MAX_LEGS) - 1);
		rest = octo_stray_rest(&s);
		/* counted at once, none is due in the last of them */
		assert_false(octo_stray_tick(&s, rest));
		assert_int_equal(octo_stray_rest(&s), 0);
		assert_true(octo_stray_tick(&s, 1));
		assert_int_equal(octo_stray_rest(&s), 0);
	}
	assert_int_equal(rest, OCTO_STRAY_MAX_INTERVAL - 1);
}

static void
test_empty_leg_backs_off_exponentially(void **state)
{
	static const uint32_t polls[] = {1, 3, 7, 15, 31, 63, 127, 191, 255};
	struct sim sim = {.legs = 0x2};
	size_t next = 0;

	(void)state;
	for (uint32_t i = 1; i <= 255; i++) {
		burst(&sim, 32);
		if (sim.last_poll[1] == i)
			assert_int_equal(polls[next++], i);
	}
	assert_int_equal(next, RTE_DIM(polls));
}

static void
test_yielding_leg_is_polled_every_burst(void **state)
{
	struct sim sim = {.legs = 0x2};

	(void)state;
	sim.backlog[1] = UINT32_MAX;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(burst(&sim, 32), 8);
}

static void
test_sparse_strays_in_small_bursts_do_not_wait(void **state)
{
	struct sim sim = {.legs = 0x2};

	(void)state;
	/* one packet of four is a quarter: nothing to make up for */
	for (int i = 0; i < 100; i++) {
		sim.backlog[1] = 1;
		assert_int_equal(burst(&sim, 4), 1);
	}
}

static void
test_leg_that_dries_up_is_looked_at_soon(void **state)
{
	struct sim sim = {.legs = 0x2};

	(void)state;
	/* four packets of a burst of four: three bursts are home's, then one poll is in vain */
	sim.backlog[1] = 4;
	for (int i = 0; i < 5; i++)
		burst(&sim, 4);
	assert_int_equal(sim.last_poll[1], 5);
	for (int i = 0; i < 2; i++)
		burst(&sim, 4);
	assert_int_equal(sim.last_poll[1], 7);
}

static void
test_leg_that_yields_again_is_polled_often_again(void **state)
{
	struct sim sim = {.legs = 0x2};

	(void)state;
	for (int i = 0; i < 1000; i++)
		burst(&sim, 32);
	sim.backlog[1] = UINT32_MAX;
	while (burst(&sim, 32) == 0)
		;
	for (int i = 0; i < 100; i++)
		assert_int_equal(burst(&sim, 32), 8);
}

static void
check_share(uint32_t legs, uint16_t nb)
{
	struct sim sim = {.legs = legs};

	for (int i = 0; i < 20000; i++) {
		fill(&sim);
		burst(&sim, nb);
	}
	/* the first burst is free, so a little more than a quarter */
	if (sim.strays * 4 > (sim.strays + sim.home) * 1.01)
		fail_msg("legs 0x%x, bursts of %u: strays took %.1f%%", legs, nb,
			 100.0 * sim.strays / (sim.strays + sim.home));
	/* and not less than an eighth, which would let them pile up needlessly */
	if (sim.strays * 8 < sim.strays + sim.home)
		fail_msg("legs 0x%x, bursts of %u: strays took only %.1f%%", legs, nb,
			 100.0 * sim.strays / (sim.strays + sim.home));
}

static void
test_strays_take_a_quarter_whatever_the_burst(void **state)
{
	static const uint32_t legs[] = {0x2, 0x1, 0x6, 0xfd, 0x7f};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(legs); i++)
		for (uint16_t nb = 1; nb <= 64; nb++)
			check_share(legs[i], nb);
}

static void
test_yielding_legs_share_evenly(void **state)
{
	(void)state;
	for (uint16_t nb = 1; nb <= 64; nb++) {
		struct sim sim = {.legs = 0x75};
		uint64_t least = UINT64_MAX, most = 0;

		for (int i = 0; i < 20000; i++) {
			fill(&sim);
			burst(&sim, nb);
		}
		for (uint8_t leg = 0; leg < OCTO_STRAY_MAX_LEGS; leg++) {
			if (!(sim.legs & RTE_BIT32(leg)))
				continue;
			least = RTE_MIN(least, sim.got[leg]);
			most = RTE_MAX(most, sim.got[leg]);
		}
		assert_true(least * 100 >= most * 98);
	}
}

static void
test_one_empty_leg_is_polled_every_64_bursts(void **state)
{
	(void)state;
	for (uint16_t nb = 1; nb <= 64; nb++) {
		struct sim sim = {.legs = 0x2};

		for (int i = 0; i < 5000; i++)
			burst(&sim, nb);
		assert_int_equal(sim.max_gap[1], OCTO_STRAY_MAX_INTERVAL);
	}
}

static void
test_empty_leg_has_its_turn_among_yielding_ones(void **state)
{
	/* due after 64, then behind six others at four bursts each at most */
	const uint32_t bound = OCTO_STRAY_MAX_INTERVAL + 6 * 4;

	(void)state;
	for (uint16_t nb = 1; nb <= 64; nb++) {
		struct sim sim = {.legs = 0xfe};

		for (int i = 0; i < 20000; i++) {
			fill(&sim);
			sim.backlog[7] = 0;
			burst(&sim, nb);
		}
		assert_in_range(sim.max_gap[7], 1, bound);
	}
}

static void
test_home_leg_is_due_as_soon_as_it_is_a_stray(void **state)
{
	static const uint32_t bursts[] = {UINT32_MAX / 4 * 3, UINT32_MAX / 2 + 100, 1000};

	(void)state;
	/* a leg was home for so many bursts that its counter is ancient or "in the future" */
	for (size_t i = 0; i < RTE_DIM(bursts); i++) {
		struct sim sim = {.legs = 0x2};

		sim.s.now = 1;
		for (int j = 0; j < 10; j++)
			burst(&sim, 32);
		/* jump: in steps, as a poller makes them, only not that many */
		for (uint32_t left = bursts[i], step; left > 0; left -= step) {
			step = RTE_MIN(left, UINT32_MAX / 8);
			sim.s.now += step;
			sim.s.due = sim.s.now;
			burst(&sim, 32);
		}
		sim.legs = 0x1;
		sim.last_poll[0] = sim.now;
		for (int j = 0; j < OCTO_STRAY_MAX_INTERVAL; j++)
			burst(&sim, 32);
		assert_in_range(sim.max_gap[0], 1, OCTO_STRAY_MAX_INTERVAL);
		assert_int_not_equal(sim.last_poll[0], 0);
	}
}

static void
test_counter_wraps_without_a_hole(void **state)
{
	struct sim sim = {.legs = 0x6};

	(void)state;
	sim.s.now = UINT32_MAX - 500;
	octo_stray_plan(&sim.s, 0);
	for (int i = 0; i < 1000; i++) {
		sim.backlog[2] = i & 1;
		burst(&sim, 32);
	}
	assert_in_range(sim.max_gap[1], 1, OCTO_STRAY_MAX_INTERVAL + 4);
}

static void
test_idle_legs_have_their_turns(void **state)
{
	static const uint8_t want[] = {1, 4, 7, 1, 4, 7};
	struct octo_stray s = {0};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(want); i++)
		assert_int_equal(octo_stray_next_idle(&s, 1 << 1 | 1 << 4 | 1 << 7), want[i]);
	assert_int_equal(octo_stray_next_idle(&s, 1 << 2), 2);
	assert_int_equal(octo_stray_next_idle(&s, 1 << 2), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quota_is_a_quarter_in_vector_steps),
		cmocka_unit_test(test_all_legs_are_due_at_first),
		cmocka_unit_test(test_the_rest_of_the_bursts_are_without_strays),
		cmocka_unit_test(test_empty_leg_backs_off_exponentially),
		cmocka_unit_test(test_yielding_leg_is_polled_every_burst),
		cmocka_unit_test(test_sparse_strays_in_small_bursts_do_not_wait),
		cmocka_unit_test(test_leg_that_dries_up_is_looked_at_soon),
		cmocka_unit_test(test_leg_that_yields_again_is_polled_often_again),
		cmocka_unit_test(test_strays_take_a_quarter_whatever_the_burst),
		cmocka_unit_test(test_yielding_legs_share_evenly),
		cmocka_unit_test(test_one_empty_leg_is_polled_every_64_bursts),
		cmocka_unit_test(test_empty_leg_has_its_turn_among_yielding_ones),
		cmocka_unit_test(test_home_leg_is_due_as_soon_as_it_is_a_stray),
		cmocka_unit_test(test_counter_wraps_without_a_hole),
		cmocka_unit_test(test_idle_legs_have_their_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
