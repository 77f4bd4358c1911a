/* SPDX-License-Identifier: BSD-3-Clause */

/* The figures of contenders, also of those that break off while the overhead is measured. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench_overhead.h"

#define ROUNDS 3

enum { BARE = OVERHEAD_BARE, OCTO = OVERHEAD_OCTO, ONE_PF, SLICES, BARE_SLICES, NB };

static struct overhead_stage stage;
static struct overhead_rounds rounds;
static struct overhead_case result;

/* All take 10 cycles per packet, and each contender one more than the one before. */
static int
setup(void **state)
{
	*state = NULL;
	stage = (struct overhead_stage){
		.nb = NB,
		.contender = {[BARE] = {.name = "bare"},
			      [OCTO] = {.name = "octo"},
			      [ONE_PF] = {.name = "octo-one-pf"},
			      [SLICES] = {.name = "octo-slices"},
			      [BARE_SLICES] = {.name = "bare-slices"}},
	};
	rounds = (struct overhead_rounds){.nb = ROUNDS};
	result = (struct overhead_case){.rounds = 0};
	for (unsigned int k = 0; k < NB; k++)
		for (unsigned int i = 0; i < ROUNDS; i++)
			rounds.packet[k][i] = rounds.burst[k][i] = 10 + k;
	return 0;
}

/* In all rounds but the first. */
static void
break_off(unsigned int k)
{
	rounds.broken[k] = true;
	for (unsigned int i = 1; i < ROUNDS; i++)
		rounds.packet[k][i] = rounds.burst[k][i] = 0;
}

static void
assert_measured(unsigned int k, bool measured)
{
	assert_int_equal(result.of[k].measured, measured);
	assert_true(result.of[k].ratio.median == (measured ? (10.0 + k) / 10 : 0));
	assert_true(result.of[k].added.median == (measured ? k : 0));
}

static void
test_all_are_measured(void **state)
{
	*state = NULL;
	overhead_sum_up(&stage, &rounds, &result);
	assert_int_equal(result.rounds, ROUNDS);
	for (unsigned int k = 0; k < NB; k++)
		assert_measured(k, true);
	assert_true(result.empty_leg.median == -1);
	assert_true(result.slices.median == 2);
	assert_true(result.slices_own.median == -2);
}

/* What octo adds to slices less what it adds to two PFs, of the same round each. */
static void
test_octos_own_part_is_of_one_round(void **state)
{
	*state = NULL;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		rounds.packet[SLICES][i] = 100 * (i + 1);
		rounds.packet[BARE_SLICES][i] = 100 * (i + 1) - 5 - i;
	}
	overhead_sum_up(&stage, &rounds, &result);
	assert_true(result.slices_own.low == 4);
	assert_true(result.slices_own.median == 5);
	assert_true(result.slices_own.high == 6);
}

static void
test_octos_own_part_needs_bare_slices(void **state)
{
	*state = NULL;
	break_off(BARE_SLICES);
	overhead_sum_up(&stage, &rounds, &result);
	assert_true(result.slices.median == 2);
	assert_true(result.slices_own.median == 0);
}

static void
test_nothing_is_measured_without_the_bare_pf(void **state)
{
	*state = NULL;
	break_off(BARE);
	overhead_sum_up(&stage, &rounds, &result);
	for (unsigned int k = 0; k < NB; k++)
		assert_measured(k, false);
}

static void
test_others_are_measured_without_octo(void **state)
{
	*state = NULL;
	break_off(OCTO);
	overhead_sum_up(&stage, &rounds, &result);
	for (unsigned int k = 0; k < NB; k++)
		assert_measured(k, k != OCTO);
	assert_true(result.empty_leg.median == 0);
	assert_true(result.slices.median == 0);
	assert_true(result.slices_own.median == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all_are_measured, setup),
		cmocka_unit_test_setup(test_octos_own_part_is_of_one_round, setup),
		cmocka_unit_test_setup(test_octos_own_part_needs_bare_slices, setup),
		cmocka_unit_test_setup(test_nothing_is_measured_without_the_bare_pf, setup),
		cmocka_unit_test_setup(test_others_are_measured_without_octo, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
