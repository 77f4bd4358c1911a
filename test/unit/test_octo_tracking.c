/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include "octo_tracking.h"

#define T0 UINT64_C(1000000)
#define BASE 1000

static struct octo_tracking
settled_on(int node)
{
	struct octo_tracking w = {.node = -1, .hysteresis.base = BASE};

	assert_int_equal(octo_tracking_check(&w, node, 0, T0), OCTO_TRACKING_PLAN);
	assert_int_equal(w.node, node);
	return w;
}

/* Seen there; @return how many looks it took. */
static unsigned int
looks_until_planned(struct octo_tracking *w, int node, uint64_t now)
{
	for (unsigned int looks = 1; looks < 100; looks++) {
		const enum octo_tracking_step step = octo_tracking_check(w, node, w->generation,
									 now);

		if (step == OCTO_TRACKING_PLAN)
			return looks;
		assert_int_equal(step, OCTO_TRACKING_CHECK_AGAIN);
	}
	return 0;
}

static void
test_nothing_new_is_not_looked_at_again(void **state)
{
	struct octo_tracking w = settled_on(1);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(octo_tracking_check(&w, 1, 0, T0 + i), OCTO_TRACKING_STAY);
}

static void
test_another_node_is_followed_when_that_is_sure(void **state)
{
	struct octo_tracking w = settled_on(0);

	(void)state;
	assert_int_equal(looks_until_planned(&w, 1, T0), OCTO_TRACKING_SURE);
	assert_int_equal(w.node, 1);
	assert_int_equal(octo_tracking_check(&w, 1, 0, T0), OCTO_TRACKING_STAY);
}

/* Two threads that take turns: no number of looks makes a row. */
static void
test_turns_are_not_followed(void **state)
{
	struct octo_tracking w = settled_on(0);

	(void)state;
	for (int turn = 0; turn < 10; turn++) {
		for (int i = 0; i < OCTO_TRACKING_SURE - 1; i++)
			assert_int_equal(octo_tracking_check(&w, 1, 0, T0),
					 OCTO_TRACKING_CHECK_AGAIN);
		assert_int_equal(octo_tracking_check(&w, 0, 0, T0), OCTO_TRACKING_STAY);
	}
	assert_int_equal(w.node, 0);
}

/* While it has to stay it costs no more than if nothing had happened. */
static void
test_who_has_just_gone_stays(void **state)
{
	struct octo_tracking w = settled_on(0);

	(void)state;
	octo_hysteresis_restart(&w.hysteresis, T0);
	for (uint64_t now = T0; now < T0 + BASE; now += BASE / 10)
		assert_int_equal(octo_tracking_check(&w, 1, 0, now), OCTO_TRACKING_STAY);
	assert_int_equal(looks_until_planned(&w, 1, T0 + BASE), OCTO_TRACKING_SURE);
}

/* Even of who has just gone. */
static void
test_new_pfs_are_planned_for_at_once(void **state)
{
	struct octo_tracking w = settled_on(0);

	(void)state;
	octo_hysteresis_restart(&w.hysteresis, T0);
	assert_int_equal(octo_tracking_check(&w, 0, 1, T0), OCTO_TRACKING_PLAN);
	assert_int_equal(octo_tracking_check(&w, 0, 1, T0), OCTO_TRACKING_STAY);
	assert_int_equal(octo_tracking_check(&w, 1, 2, T0), OCTO_TRACKING_PLAN);
	assert_int_equal(w.node, 1);
}

static void
test_a_plan_can_be_asked_for_again(void **state)
{
	struct octo_tracking w = settled_on(0);

	(void)state;
	octo_tracking_plan_again(&w);
	assert_int_equal(octo_tracking_check(&w, 0, 0, T0), OCTO_TRACKING_PLAN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_new_is_not_looked_at_again),
		cmocka_unit_test(test_another_node_is_followed_when_that_is_sure),
		cmocka_unit_test(test_turns_are_not_followed),
		cmocka_unit_test(test_who_has_just_gone_stays),
		cmocka_unit_test(test_new_pfs_are_planned_for_at_once),
		cmocka_unit_test(test_a_plan_can_be_asked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
