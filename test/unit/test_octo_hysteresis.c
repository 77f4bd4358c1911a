/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include "octo_tracking.h"

#define BASE 1000
#define T0 UINT64_C(0xffffffffffff8000) /* the clock wraps */

/* Go whenever that is possible, n times; @return when the last one was. */
static uint64_t
flap(struct octo_hysteresis *d, uint64_t now, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		while (!octo_hysteresis_is_over(d, now))
			now += BASE / 10;
		octo_hysteresis_restart(d, now);
	}
	return now;
}

static void
test_the_first_time_is_free(void **state)
{
	struct octo_hysteresis d = {.base = BASE};

	(void)state;
	assert_true(octo_hysteresis_is_over(&d, T0));
	octo_hysteresis_restart(&d, T0);
	assert_false(octo_hysteresis_is_over(&d, T0 - 1));
	assert_false(octo_hysteresis_is_over(&d, T0 + BASE - 1));
	assert_true(octo_hysteresis_is_over(&d, T0 + BASE));
}

static void
test_flapping_takes_ever_longer(void **state)
{
	struct octo_hysteresis d = {.base = BASE};
	uint64_t last = flap(&d, T0, 1);

	(void)state;
	for (uint64_t stay = BASE; stay < OCTO_HYSTERESIS_MAX * BASE; stay *= 2) {
		const uint64_t now = flap(&d, last, 1);

		assert_int_equal(now - last, stay);
		last = now;
	}
}

static void
test_it_does_not_stay_for_ever(void **state)
{
	struct octo_hysteresis d = {.base = BASE};
	const uint64_t last = flap(&d, T0, 50);

	(void)state;
	assert_int_equal(flap(&d, last, 1) - last, OCTO_HYSTERESIS_MAX * BASE);
}

static void
test_who_goes_now_and_then_stays_no_longer(void **state)
{
	struct octo_hysteresis d = {.base = BASE};
	uint64_t now = flap(&d, T0, 1);

	(void)state;
	for (int i = 0; i < 10; i++) {
		now += 3 * BASE;
		octo_hysteresis_restart(&d, now);
		assert_int_equal(d.length, BASE);
	}
}

static void
test_calm_returns(void **state)
{
	struct octo_hysteresis d = {.base = BASE};
	const uint64_t last = flap(&d, T0, 5);
	const uint64_t stay = d.length;

	(void)state;
	assert_int_equal(stay, 16 * BASE);
	octo_hysteresis_restart(&d, last + 8 * stay);
	assert_int_equal(d.length, BASE);
}

static void
test_without_a_base_it_may_always_go(void **state)
{
	struct octo_hysteresis d = {0};

	(void)state;
	for (uint64_t now = T0; now != T0 + 10; now++) {
		assert_true(octo_hysteresis_is_over(&d, now));
		octo_hysteresis_restart(&d, now);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_time_is_free),
		cmocka_unit_test(test_flapping_takes_ever_longer),
		cmocka_unit_test(test_it_does_not_stay_for_ever),
		cmocka_unit_test(test_who_goes_now_and_then_stays_no_longer),
		cmocka_unit_test(test_calm_returns),
		cmocka_unit_test(test_without_a_base_it_may_always_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
